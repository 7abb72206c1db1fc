"""Training SentencePiece's BPE: its options, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith.errors import OptionError, TrainingError, UnsupportedError
from toksmith.models import PieceType, SentencePieceBPE
from toksmith.normalizers import SentencePieceNormalizer

TEXT = "the cat sat on the mat\nthe other cat sat there\n\nno cat at all\n"
pytestmark = pytest.mark.filterwarnings("ignore:the text yields only")

PLAIN: dict[str, Any] = {
    "model": "sentencepiece-bpe",
    "normalization_rule_name": "identity",
    "character_coverage": 1.0,
    "hard_vocab_limit": False,
    "progress": False,
}


def train(text: str = TEXT, vocab_size: int = 24, **options: Any) -> toksmith.Tokenizer:
    return toksmith.train(texts=[text], vocab_size=vocab_size, **PLAIN | options)


def pieces(tok: toksmith.Tokenizer) -> list[str]:
    return [piece.decode() for piece in tok.pipeline.model.vocab]


def learned(*args: Any, **options: Any) -> set[str]:
    model = train(*args, **options).pipeline.model
    assert isinstance(model, SentencePieceBPE)
    return {model.vocab[i].decode() for i in model.of_type(PieceType.NORMAL)}


def test_the_seeds_toy(shared: Path) -> None:
    seed = json.loads((shared / "data/golden/seeds.json").read_bytes())["sentencepiece_toy"]
    tok = toksmith.train(
        shared / "data/golden" / seed["corpus"], model="sentencepiece-bpe", **seed["options"]
    )
    assert tok.vocab_size == 400
    encoding = tok.encoding("hello 안녕하세요")
    assert [token.decode() for token in encoding.tokens] == seed["pieces"]
    assert encoding.ids == seed["encode"]["hello 안녕하세요"]


@pytest.mark.parametrize(
    ("options", "bos", "eos", "pad"),
    [
        ({}, 1, 2, None),
        ({"bos_piece": "[B]", "eos_piece": "[E]", "pad_id": 3}, 1, 2, 3),
        ({"bos_id": -1, "eos_id": 0, "unk_id": 1}, None, 0, None),
        ({"user_defined_symbols": "</s>", "control_symbols": "<pad>"}, 1, None, 3),
    ],
)
def test_a_saved_model_is_loaded_unchanged(
    options: dict[str, Any], bos: int | None, eos: int | None, pad: int | None, tmp_path: Path
) -> None:
    tok = train(**options)
    model = tok.pipeline.model
    assert isinstance(model, SentencePieceBPE)
    assert (model.bos_id, model.eos_id, model.pad_id) == (bos, eos, pad)
    assert tok.encode("cat", add_special_tokens=True)[:1] == ([bos] if bos else tok.encode("cat"))
    tok.save(tmp_path / "a.model")
    assert toksmith.load(tmp_path / "a.model").pipeline == tok.pipeline


def test_pieces_scores_and_types() -> None:
    tok = train()
    model = tok.pipeline.model
    assert isinstance(model, SentencePieceBPE)
    assert pieces(tok) == [
        "<unk>", "<s>", "</s>",
        "at", "he", "the", "▁the", "▁c", "▁cat", "▁o", "▁s", "▁sat",
        "▁", "t", "a", "e", "h", "c", "o", "l", "n", "r", "s", "m",
    ]  # fmt: skip
    assert model.scores[3:].tolist() == [-float(i) for i in range(len(model.vocab) - 3)]
    assert model.types[:4].tolist() == [2, 3, 3, 1]


def test_the_record() -> None:
    record = train().training
    assert record is not None
    assert (record.model, record.documents, record.bytes) == ("sentencepiece-bpe", 1, len(TEXT))
    assert record.merges == len(record.counts) == len(record.tokens_after)
    assert record.tokens == record.tokens_after[-1]
    assert record.options["character_coverage"] == 1.0


def test_the_pipeline_encodes_and_decodes() -> None:
    tok = train(vocab_size=40)
    assert tok.decode(tok.encode("the cat")) == "the cat"
    assert tok.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert isinstance(tok.pipeline.normalizer[0], SentencePieceNormalizer)


class TestVocabulary:
    def test_ids_of_meta_pieces(self) -> None:
        tok = train(unk_id=3, bos_id=-1, eos_id=0, pad_id=1, pad_piece="[PAD]")
        assert pieces(tok)[:2] + pieces(tok)[3:4] == ["</s>", "[PAD]", "<unk>"]
        assert "<s>" not in pieces(tok)

    def test_symbols_fill_the_free_ids(self) -> None:
        tok = train(control_symbols="<a>,<b>", user_defined_symbols=["cat"], unk_id=1, bos_id=4)
        assert pieces(tok)[:6] == ["<a>", "<unk>", "</s>", "<b>", "<s>", "cat"]
        assert tok.pipeline.model.types[:6].tolist() == [3, 2, 3, 3, 3, 4]  # type: ignore[union-attr]

    def test_user_defined_symbols_are_never_learned_from(self) -> None:
        assert "▁cat" in learned(vocab_size=60)
        found = learned("cat cat cat hat", 60, user_defined_symbols=["cat"])
        assert "c" not in found
        assert "▁hat" in found

    def test_a_symbol_may_be_a_meta_piece(self) -> None:
        tok = train(user_defined_symbols=["<s>"])
        assert tok.pipeline.model.types[1] == PieceType.USER_DEFINED  # type: ignore[union-attr]

    def test_bytes(self) -> None:
        tok = train(vocab_size=300, byte_fallback=True)
        assert pieces(tok)[3:5] + pieces(tok)[258:259] == ["<0x00>", "<0x01>", "<0xFF>"]
        assert tok.decode(tok.encode("é")) == "é"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"unk_id": 1}, "id 1"),
            ({"bos_piece": "<unk>"}, "'<unk>'"),
            ({"control_symbols": ["<a>", "<a>"]}, "'<a>' is defined twice"),
            ({"user_defined_symbols": ["<unk>"]}, "'<unk>' is defined twice"),
            ({"pad_id": 1000}, "id 1000"),
            ({"vocab_size": 3}, "vocab_size is 3"),
            ({"vocab_size": 10}, "characters of the alphabet"),
            ({"unk_id": -1}, "unknown piece"),
        ],
    )
    def test_invalid_options(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(OptionError, match=message):
            train(**options)

    def test_hard_vocab_limit(self) -> None:
        with pytest.raises(TrainingError, match="set it to") as error:
            train(vocab_size=1000, hard_vocab_limit=True)
        most = int(str(error.value).split("set it to ")[1].split()[0])
        assert train(vocab_size=most, hard_vocab_limit=True).vocab_size == most
        with pytest.warns(UserWarning, match="the text yields only"):
            tok = toksmith.train(texts=[TEXT], vocab_size=1000, **PLAIN)
        assert tok.vocab_size == most


class TestAlphabet:
    def test_coverage(self) -> None:
        rare = "a" * 999 + "z"
        assert "z" in learned(rare, 10)
        assert "z" not in learned(rare, 10, character_coverage=0.99)

    def test_required_chars(self) -> None:
        rare = "a" * 999 + "z"
        assert "z" in learned(rare, 10, character_coverage=0.99, required_chars="z")
        assert "q" in learned(rare, 10, required_chars="q")

    def test_unknown_characters_end_words(self) -> None:
        text = "abxab " * 200 + "é"
        assert not any("é" in piece for piece in learned(text, 30, character_coverage=0.99))


class TestShape:
    @pytest.mark.parametrize(
        ("options", "piece", "held"),
        [
            ({}, "▁12", True),
            ({"split_digits": True}, "12", False),
            ({"split_digits": True}, "▁1", False),
            ({}, "1a", False),
            ({"split_by_number": False}, "1a", True),
            ({"split_by_unicode_script": False}, "aя", True),
            ({}, "aя", False),
            ({"max_sentencepiece_length": 2}, "▁12", False),
            ({"split_by_whitespace": False}, "▁12▁12", True),
            ({"split_by_whitespace": False}, "12▁", False),
            ({"treat_whitespace_as_suffix": True}, "12▁", True),
            ({"treat_whitespace_as_suffix": True}, "▁12", False),
            ({"remove_extra_whitespaces": False}, "▁▁", False),
            (
                {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
                "▁▁",
                True,
            ),
            ({"add_dummy_prefix": False}, "12", True),
            ({"pretokenization_delimiter": "x"}, "xy", False),
            ({}, "xy", True),
        ],
    )
    def test_pieces(self, options: dict[str, Any], piece: str, held: bool) -> None:
        text = "12 12 12 a1a1a1 aяaяaя 12    a    a    a xyxyxy"
        assert (piece in learned(text, 200, **options)) is held


class TestSentences:
    def test_long_lines_are_skipped_and_counted(self) -> None:
        with pytest.warns(UserWarning, match="1 lines of more than 12 bytes"):
            tok = train("aaa bbb\n" + "c" * 13, max_sentence_length=12)
        assert tok.training is not None
        assert tok.training.skipped == {"too_long": 1}
        assert "c" not in pieces(tok)

    def test_the_default_length(self) -> None:
        train("a" * 4192)
        with pytest.warns(UserWarning, match=r"4,192 bytes"):
            train("ab\n" + "a" * 4193)

    def test_reserved_lines_are_skipped(self) -> None:
        tok = train("aaa bbb\ncc\u2585cc")
        assert tok.training is not None
        assert tok.training.skipped == {"reserved": 1}
        assert "c" not in pieces(tok)

    def test_tsv(self, tmp_path: Path) -> None:
        tsv = tmp_path / "counts.tsv"
        tsv.write_bytes(b"the cat\t3\nthe mat\t1\n")
        tok = toksmith.train(tsv, vocab_size=20, input_format="tsv", **PLAIN)
        lines = "the cat\n" * 3 + "the mat"
        assert pieces(tok) == pieces(train(lines, 20))
        counts = toksmith.Counts.of({b"the cat": 3, b"the mat": 1})
        assert pieces(toksmith.train(counts=counts, vocab_size=20, **PLAIN)) == pieces(tok)

    @pytest.mark.parametrize("line", ["the cat", "a\tb", "a\t0", "a\t-1", "a\t1\t2"])
    def test_wrong_tsv(self, line: str) -> None:
        with pytest.raises(OptionError, match="a tab and its count"):
            train(line, input_format="tsv")

    def test_first_sentences(self) -> None:
        options = {"input_sentence_size": 2, "shuffle_input_sentence": False}
        assert pieces(train(**options)) == pieces(train("\n".join(TEXT.splitlines()[:2])))

    def test_drawn_sentences(self) -> None:
        text = "\n".join(f"{chr(97 + i)}{chr(97 + i)}" for i in range(26))
        drawn = [learned(text, 40, input_sentence_size=5, random_seed=seed) for seed in range(20)]
        assert drawn[0] == learned(text, 40, input_sentence_size=5)
        singles = [len({piece[-1] for piece in found} - {"▁"}) for found in drawn]
        assert singles == [5] * 20
        assert len(set(map(frozenset, drawn))) > 10
        assert len(set.union(*drawn)) > 20

    def test_files_texts_and_threads_give_the_same(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes(TEXT.encode())
        (tmp_path / "b.txt").write_bytes(b"more text here")
        expected = pieces(toksmith.train(texts=[TEXT, "more text here"], vocab_size=30, **PLAIN))
        for threads in (1, 2, 3):
            tok = toksmith.train(tmp_path, vocab_size=30, threads=threads, **PLAIN)
            assert pieces(tok) == expected

    def test_no_text(self) -> None:
        for text in ("", "\n\n"):
            with pytest.raises(TrainingError, match="no text"):
                train(text)

    def test_invalid_utf8(self) -> None:
        tok = toksmith.train(texts=[b"ab\xffab\xff"], vocab_size=9, **PLAIN)
        assert "\ufffd" in pieces(tok)


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("input", "the files of the text are the first"),
            ("model_prefix", "Tokenizer.save"),
            ("num_threads", "threads="),
            ("accept_language", "only stores it"),
            ("minloglevel", "progress="),
            ("enable_differential_privacy", "noise"),
            ("self_test_sample_size", "verify"),
            ("split", "no option of model 'sentencepiece-bpe', which has model_type"),
            ("ties", "no option of model"),
        ],
    )
    def test_refused_by_name(self, name: str, reason: str) -> None:
        with pytest.raises(OptionError, match=f"^{name}=.*{reason}"):
            train(**{name: 1})

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("character_coverage", 0.5),
            ("max_sentencepiece_length", 513),
            ("max_sentencepiece_length", 0),
            ("max_sentence_length", 9),
            ("input_sentence_size", -1),
            ("shrinking_factor", 1.0),
            ("num_sub_iterations", 11),
            ("input_format", "csv"),
            ("normalization_rule_name", "nfc"),
            ("model_type", "unigram"),
            ("use_all_vocab", True),
            ("escape_whitespaces", False),
            ("control_symbols", ["a", 3]),
            ("user_defined_symbols", ["a", ""]),
        ],
    )
    def test_out_of_range(self, name: str, value: Any) -> None:
        with pytest.raises(OptionError, match=name):
            train(**{name: value})

    def test_vocab_size_may_be_left_out(self) -> None:
        with pytest.raises(TrainingError, match="vocab_size is 8,000"):
            toksmith.train(texts=[TEXT], model="sentencepiece-bpe", progress=False)

    def test_rules_from_a_file(self, tmp_path: Path) -> None:
        rules = tmp_path / "rules.tsv"
        rules.write_bytes(b"63 61\t78\n")  # ca -> x
        tok = train(normalization_rule_tsv=str(rules))
        assert "▁xt" in pieces(tok)
        with pytest.raises(toksmith.errors.FormatError, match="normalization_rule_tsv"):
            train(normalization_rule_tsv=str(tmp_path / "none"))

    def test_counts_are_64_bit(self) -> None:
        counts = toksmith.Counts.of({b"ab": 2**40, b"cd": 1})
        tok = toksmith.train(counts=counts, vocab_size=9, **PLAIN | {"character_coverage": 0.99})
        assert tok.training is not None
        assert tok.training.counts.dtype == np.uint64
        assert tok.training.counts.tolist()[0] == 2**40


def test_a_folder_that_cannot_hold_the_normalizer_names_the_file_that_can(tmp_path: Path) -> None:
    tok = toksmith.train(
        texts=["a cat sat on a mat"] * 20, model="sentencepiece-bpe", vocab_size=16
    )
    with pytest.raises(UnsupportedError, match=r'maps characters .*: save\("x\.model"\)$'):
        tok.save(tmp_path / "folder")
    tok.save(tmp_path / "x.model")
