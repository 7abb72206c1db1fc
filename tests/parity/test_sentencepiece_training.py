"""Pieces against those that SentencePiece's own trainer learns from the same lines."""

from __future__ import annotations

import io
import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toksmith

sentencepiece = pytest.importorskip("sentencepiece")

OPTIONS: list[dict[str, Any]] = [
    {},
    {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    {"normalization_rule_name": "nfkc_cf", "character_coverage": 1.0},
    {"byte_fallback": True, "split_digits": True, "character_coverage": 0.99},
    {"split_by_unicode_script": False, "split_by_number": False, "max_sentencepiece_length": 5},
    {"treat_whitespace_as_suffix": True},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    {"split_by_whitespace": False, "max_sentence_length": 200},
    {"user_defined_symbols": ["the", "<x>"], "control_symbols": ["<c>"], "pad_id": 3},
    {"add_dummy_prefix": False, "required_chars": "§", "unk_id": 5, "bos_id": -1},
]


def theirs(path: Path, vocab_size: int, **options: Any) -> Any:
    """Return what SentencePiece learns."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        input=str(path), model_writer=model, vocab_size=vocab_size, minloglevel=2, num_threads=1,
        **{"model_type": "bpe"} | options,
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def rows(model: Any) -> list[tuple[str, float]]:
    return [(model.id_to_piece(i), model.get_score(i)) for i in range(model.get_piece_size())]


def ours(path: Path, vocab_size: int, **options: Any) -> toksmith.Tokenizer:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*lines of more than|the text yields only")
        return toksmith.train(path, model="sentencepiece-bpe", vocab_size=vocab_size, **options)


@pytest.fixture
def lines(corpus: Callable[..., bytes], tmp_path: Path) -> Callable[[str, int], Path]:
    """Return a function that writes the start of a corpus to a file."""

    def write(name: str, size: int) -> Path:
        path = tmp_path / name
        path.write_bytes(corpus(name, size))
        return path

    return write


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_bpe_pieces_are_the_same(options: dict[str, Any], lines: Callable[..., Path]) -> None:
    for name, size, vocab_size in (("multilingual.txt", 150_000, 2500), ("code.txt", 60_000, 1500)):
        path = lines(name, size)
        tok = ours(path, vocab_size, **options)
        model = tok.pipeline.model
        found = zip((piece.decode() for piece in model.vocab), model.scores, strict=True)  # type: ignore[union-attr]
        assert list(found) == rows(theirs(path, vocab_size, **options))


def test_bpe_pieces_of_english(lines: Callable[..., Path]) -> None:
    path = lines("english.txt", 2_000_000)
    model = ours(path, 4000).pipeline.model
    assert [piece.decode() for piece in model.vocab] == [p for p, _ in rows(theirs(path, 4000))]


def test_runs_and_ties(tmp_path: Path) -> None:
    """Few letters: overlaps and ties everywhere."""
    path = tmp_path / "runs.txt"
    for seed in range(12):
        rng = random.Random(seed)
        letters = rng.choice(["ab ", "aab ", "abc ", "aя ", "a1 ", "カな漢 "])
        text = "\n".join("".join(rng.choices(letters, k=40)) for _ in range(20))
        path.write_text(text, "utf-8")
        options = {"hard_vocab_limit": False, "normalization_rule_name": "identity"}
        tok = ours(path, 60, **options)
        assert tok.training is not None
        learned = [piece.decode() for piece in tok.pipeline.model.vocab][: 3 + tok.training.merges]
        # Where no pair is left, SentencePiece goes on with pieces that no longer stand in the text.
        assert learned == [piece for piece, _ in rows(theirs(path, 60, **options))][: len(learned)]


def test_tsv(tmp_path: Path, corpus: Callable[..., bytes]) -> None:
    path = tmp_path / "counts.tsv"
    words = corpus("english.txt", 40_000).decode("utf-8", "ignore").split()
    rng = random.Random(3)
    path.write_text("".join(f"{word}\t{rng.randint(1, 50)}\n" for word in words), "utf-8")
    model = ours(path, 1000, input_format="tsv").pipeline.model
    expected = rows(theirs(path, 1000, input_format="tsv"))
    assert [piece.decode() for piece in model.vocab] == [piece for piece, _ in expected]


def test_our_file_loads_there_and_encodes_the_same(
    lines: Callable[..., Path], tmp_path: Path, corpus: Callable[..., bytes]
) -> None:
    tok = ours(lines("multilingual.txt", 200_000), 3000, byte_fallback=True)
    tok.save(tmp_path / "our.model")
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "our.model"))
    text = corpus("multilingual.txt", 200_000).decode("utf-8", "ignore")
    for line in text.split("\n"):
        assert tok.encode(line) == model.encode(line)
    loaded = toksmith.load(tmp_path / "our.model")
    assert loaded.encode(text) == tok.encode(text)


def test_our_file_has_the_roles_of_theirs(lines: Callable[..., Path], tmp_path: Path) -> None:
    path = lines("english.txt", 50_000)
    variants: list[dict[str, Any]] = [
        {}, {"bos_piece": "[B]", "eos_piece": "[E]", "pad_id": 3}, {"bos_id": -1},
    ]  # fmt: skip
    for options in variants:
        tok = ours(path, 400, **options)
        tok.save(tmp_path / "our.model")
        found = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "our.model"))
        wanted = theirs(path, 400, **options)
        for role in ("unk_id", "bos_id", "eos_id", "pad_id"):
            assert getattr(found, role)() == getattr(wanted, role)(), (role, options)
        framed = wanted.encode("the cat", add_bos=wanted.bos_id() >= 0)
        assert tok.encode("the cat", add_special_tokens=True) == framed


def test_the_seeds_toy(shared: Path) -> None:
    """Our pieces are SentencePiece's own, not only on the greeting."""
    seed = json.loads((shared / "data/golden/seeds.json").read_bytes())["sentencepiece_toy"]
    path = shared / "data/golden" / seed["corpus"]
    model = toksmith.train(path, model="sentencepiece-bpe", **seed["options"]).pipeline.model
    options = {k: v for k, v in seed["options"].items() if k != "vocab_size"}
    options["input_sentence_size"] = 0  # all; so large a reservoir only shuffles
    assert [piece.decode() for piece in model.vocab] == [
        piece for piece, _ in rows(theirs(path, 400, **options))
    ]
