"""Every format with every kind of pipeline: it is read back unchanged, or writing it is refused.

The table is written by hand: it says what is to be, and why not.
"""

from __future__ import annotations

import warnings
from itertools import permutations
from pathlib import Path

import pytest

from tests.kits.pipelines import PIPELINES, TEXTS
from toksmith import formats
from toksmith.errors import UnsupportedError
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer

HELD = ""
FORMATS = tuple(formats.FORMATS)
NOT_BYTES = "holds byte-level BPE, but this model is"
NOT_PIECES = "sentencepiece holds SentencePiece's BPE and Unigram, not"
NOT_WORDPIECE = "wordpiece holds WordPiece models, but this one is"
READ_ONLY = {"tekken": "tekken.json cannot be written", "gguf": "GGUF files cannot be written"}
BYTE_LEVEL = {"sentencepiece": NOT_PIECES, "wordpiece": NOT_WORDPIECE, **READ_ONLY}
TEXT = {
    **dict.fromkeys(("minbpe", "tiktoken", "gpt2"), NOT_BYTES),
    **BYTE_LEVEL,
}
OWN_MAP = "huggingface has no equivalent of this normalizer, which maps characters"
TABLE: dict[str, dict[str, str]] = {
    "bpe": BYTE_LEVEL,
    "bpe of another pattern": {**BYTE_LEVEL, "gpt2": "gpt2 files imply GPT-2's split"},
    "bpe with a template": {
        **BYTE_LEVEL,
        "minbpe": r"minbpe cannot hold a template \(ids \[266\] before",
        "tiktoken": r"tiktoken cannot hold a template",
        "gpt2": "gpt2 files imply GPT-2's split",
    },
    "sentencepiece-bpe": {**TEXT, "huggingface": OWN_MAP, "sentencepiece": HELD},
    "sentencepiece-unigram": {**TEXT, "huggingface": OWN_MAP, "sentencepiece": HELD},
    "plain sentencepiece-bpe": {**TEXT, "sentencepiece": HELD},
    "plain sentencepiece-unigram": {**TEXT, "sentencepiece": HELD},
    "tokenizers' unigram": {**TEXT, "sentencepiece": "adds scores in float32"},
    "wordpiece": {**TEXT, "wordpiece": HELD},
    "character-bpe": TEXT,
    "word": TEXT,
    "char": TEXT,
    "all stages": TEXT,
    "longest-match": {**TEXT, "huggingface": "no longest-match model"},
}
"""Why a format does not hold a pipeline, of those that do not."""

HOLDING = [
    (kind, name) for kind, reasons in TABLE.items() for name in FORMATS if not reasons.get(name)
]
REFUSED = [
    (kind, name, reason)
    for kind, reasons in TABLE.items()
    for name, reason in reasons.items()
    if reason
]
MORE_TEXTS = (*TEXTS, "The low  lower, ab1 e\u0301", " ", "\u2581", "日本low")
LITERALS = "<|end|>a<s>[CLS]</s> low"
"""Special tokens; what they are as text is for ``tokenizers`` no question, it always finds them."""


def test_the_table_is_about_all_of_them() -> None:
    assert {name for reasons in TABLE.values() for name in reasons} <= set(FORMATS)
    assert TABLE.keys() == PIPELINES.keys()


def target(folder: Path, name: str) -> Path:
    """A path that would not tell the format, so that its content has to."""
    return folder / f"of {name}"


def round_trip(pipe: Pipeline, folder: Path, name: str) -> Pipeline:
    path = target(folder, name)
    with warnings.catch_warnings():
        # A tokenizer.json finds special tokens in plain text; test_formats_sentencepiece has more.
        warnings.filterwarnings("ignore", "in a tokenizer.json, every piece of a Unigram model")
        formats.write(pipe, path, name)
    by_name, by_content = formats.read(path, name), formats.read(path)
    assert by_name == by_content
    return by_name


def same(one: Pipeline, other: Pipeline) -> None:
    """Both make the same of all texts: ids, tokens, and the text again."""
    left, right = Tokenizer(one), Tokenizer(other)
    assert left.special_tokens == right.special_tokens
    for text in (*MORE_TEXTS, LITERALS):
        for framed in (False, True):
            expected, found = (
                tok.encoding(text, special="encode", add_special_tokens=framed)
                for tok in (left, right)
            )
            assert (found.ids, found.tokens) == (expected.ids, expected.tokens), text
        if text != LITERALS:
            assert left.encode(text) == right.encode(text), text
        ids = left.encode(text, special="encode")
        # tokenizers strips the space of an unknown first piece as well: there are no steps for it.
        decoded = [tok.decode(ids).lstrip(" ") for tok in (left, right)]
        assert decoded[0] == decoded[1], text


@pytest.mark.parametrize(("kind", "name"), HOLDING)
def test_formats_restore_the_pipelines_they_hold(tmp_path: Path, kind: str, name: str) -> None:
    same(PIPELINES[kind], round_trip(PIPELINES[kind], tmp_path, name))


@pytest.mark.parametrize("kind", TABLE)
def test_from_any_format_to_any_other(tmp_path: Path, kind: str) -> None:
    holding = [name for held, name in HOLDING if held == kind]
    for first, second in permutations(holding, 2):
        read = round_trip(PIPELINES[kind], tmp_path, first)
        (tmp_path / first).mkdir(exist_ok=True)
        if (first, second) == ("huggingface", "sentencepiece"):
            # What tokenizers keeps of SentencePiece's models are merges, steps, and float64.
            with pytest.raises(UnsupportedError, match=r"^sentencepiece "):
                round_trip(read, tmp_path / first, second)
            continue
        again = round_trip(read, tmp_path / first, second)
        same(PIPELINES[kind], again)


@pytest.mark.parametrize(("kind", "name", "reason"), REFUSED)
def test_formats_refuse_other_pipelines(tmp_path: Path, kind: str, name: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        formats.write(PIPELINES[kind], target(tmp_path, name), name)
    assert list(tmp_path.iterdir()) == []
