"""Which strings may be pieces: our rules against those of SentencePiece's trainer."""

from __future__ import annotations

import io
from itertools import product

import pytest

from toksmith.reference.piece_rules import SPACE, PieceRules

spm = pytest.importorskip("sentencepiece")

# ▁ and Latin, Cyrillic, digits, other numbers, a combining mark, Japanese, common characters; the
# last is younger than Unicode 9.0.
CHARACTERS = "▁aя1２٣²Ⅷ\u0301カー。.ἀ\ua7ba"
LONGER = ["aя1", "a1я", "1aя", "▁a1", "a▁1", "a▁я", "a▁a", "a▁▁", "▁▁a", "▁▁▁", "a\u0301я",
          "\u0301aя", "1\u0301a", "a1\u0301я", "\u0301\u0301a", "a\u0301\u0301", "▁\u0301a",
          "漢カー", "漢カa"]  # fmt: skip


def is_learned(word: str, options: dict[str, bool]) -> bool:
    out = io.BytesIO()
    spm.SentencePieceTrainer.Train(
        sentence_iterator=iter([f"{word.replace(SPACE, ' ')}\t1000"]),
        model_writer=out,
        input_format="tsv",
        model_type="bpe",
        vocab_size=50,
        hard_vocab_limit=False,
        character_coverage=1.0,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        minloglevel=2,
        num_threads=1,
        **options,
    )
    processor = spm.SentencePieceProcessor(model_proto=out.getvalue())
    return processor.PieceToId(word) != processor.unk_id()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"split_by_number": False},
        {"split_digits": True},
        {"split_digits": True, "split_by_number": False},
        {"split_by_whitespace": False},
        {"treat_whitespace_as_suffix": True},
        {"treat_whitespace_as_suffix": True, "split_by_whitespace": False},
        {"allow_whitespace_only_pieces": True},
        {"allow_whitespace_only_pieces": True, "split_by_whitespace": False},
    ],
    ids=str,
)
def test_rules(options: dict[str, bool]) -> None:
    rules = PieceRules(**options)
    words = [*map("".join, product(CHARACTERS, repeat=2)), *LONGER]
    assert [w for w in words if is_learned(w, options)] == [w for w in words if rules.allow(w)]
