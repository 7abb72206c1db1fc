"""Tokenizer files whose steps multiply: what they can make of a text is bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import toksmith
from tests.kits.pipelines import PIPELINES
from toksmith import decoders, normalizers
from toksmith.errors import FormatError
from toksmith.formats.growth import growth
from toksmith.models import WordLevel
from toksmith.stages.charsmap_building import compile_charsmap
from toksmith.stages.decode import run_decoder
from toksmith.stages.normalize import normalize
from toksmith.tokenizer.decode_table import DecodeTable

WORDS = ("?", "a", "b", "aaaa")
FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "special": False}


def content(**entries: Any) -> bytes:
    """Return a tokenizer.json."""
    model = {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(WORDS)}}
    entries = {"added_tokens": [], "model": model | {"unk_token": "?"}} | entries
    return json.dumps({"version": "1.0"} | entries).encode()


def sequence(kind: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", kind: list(steps)}


def replaced(old: str, new: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


DOUBLED = replaced("a", "aa")
BYTES = {
    "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False,
}  # fmt: skip
DIGITS = {"type": "Digits", "individual_digits": True}
TEXT, MARK = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "x", "type_id": 0}}


def padding(**entries: Any) -> dict[str, Any]:
    plain = {"direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "?"}
    return plain | {"strategy": "BatchLongest", "pad_to_multiple_of": None} | entries


def template(single: list[Any], pair: list[Any] | None = None) -> dict[str, Any]:
    special = {"x": {"id": "x", "ids": [1] * 1000, "tokens": ["a"] * 1000}}
    return {
        "type": "TemplateProcessing", "single": single, "pair": pair or [TEXT],
        "special_tokens": special,
    }  # fmt: skip


def normalized(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"normalizer": sequence("normalizers", *steps)}


def decoded(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"decoder": sequence("decoders", *steps)}


def cut(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"pre_tokenizer": sequence("pretokenizers", *steps)}


BOMBS: dict[str, tuple[dict[str, Any], str]] = {
    "doubling": (
        normalized(*[DOUBLED] * 24),
        "the normalizer can make a text 16,777,216 times as long; at most 4,096 times is read",
    ),
    "doubling without end": (normalized(*[DOUBLED] * 2000), "normalizer can .* inf times"),
    "by a regular expression": (normalized(*[replaced("[ab]", "ab", "Regex")] * 24), "normalizer"),
    "at each place": (normalized(*[replaced("(?=a)|b", "b", "Regex")] * 24), "normalizer"),
    "in turn": (normalized(*[replaced("a", "bb"), replaced("b", "aa")] * 12), "normalizer"),
    "by one step": (normalized(replaced("a", "b" * 5000)), "normalizer can .* 5,000 times"),
    "a long start": (normalized({"type": "Prepend", "prepend": "b" * 5000}), "normalizer"),
    "a start that grows": (
        normalized({"type": "Prepend", "prepend": "a"}, *[DOUBLED] * 24), "normalizer",
    ),
    "spelled bytes": (normalized(*[{"type": "ByteLevel"}] * 24), "normalizer"),
    "spelled chunks": (cut(*[BYTES] * 24), "the pre-tokenizer can make a text"),
    "tokens": (decoded(*[DOUBLED] * 24), "the decoder can make a text 16,777,216 times"),
    "a suffix everywhere": (
        decoded(*[{"type": "BPEDecoder", "suffix": ""}] * 24), "the decoder can",
    ),
    "long literals": (
        normalized(*[DOUBLED] * 12) | {"added_tokens": [
            {"id": 4, "content": "a" * 4000, "normalized": True} | FLAGS,
        ]}, "4,000 characters of normalized added tokens",
    ),
    "many splits": (cut(*[DIGITS] * 400), "pre_tokenizer has more than 32 pre-tokenizers"),
    "ids around a text": (
        {"post_processor": template([MARK] * 20 + [TEXT])},
        "post_processor.single is too long: .* 16,384 ids",
    ),
    "ids around a pair": (
        {"post_processor": template([TEXT], [TEXT] + [MARK] * 20)}, "post_processor.pair is too",
    ),
    "a text many times": (
        {"post_processor": template([TEXT] * 1000)}, "post_processor.single is too long",
    ),
    "wide rows": (
        {"padding": padding(strategy={"Fixed": 1 << 23})}, "padding.strategy.Fixed is 8388608",
    ),
    "wide steps": (
        {"padding": padding(pad_to_multiple_of=1 << 23)}, "padding.pad_to_multiple_of is 8388608",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_steps_that_multiply_are_refused(tmp_path: Path, name: str) -> None:
    entries, reason = BOMBS[name]
    path = tmp_path / "a.json"
    path.write_bytes(content(**entries))
    with pytest.raises(FormatError, match=reason) as caught:
        toksmith.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    with pytest.raises(FormatError, match=reason):
        toksmith.loads(path.read_bytes())


@pytest.mark.parametrize(
    "entries",
    [
        normalized(*[DOUBLED] * 12),
        normalized(*[replaced(chr(code), f" {chr(code)} ") for code in range(0x4E00, 0x4F00)]),
        normalized(replaced(" {2,}", " ", "Regex"), *[replaced(r"\d+", "0", "Regex")] * 20),
        normalized({"type": "NFKD"}, {"type": "Lowercase"}, {"type": "NFKC"}),
        decoded(*[DOUBLED] * 12),
        decoded(*[{"type": "WordPiece", "prefix": "##", "cleanup": True}] * 20),
        {"post_processor": template([MARK] * 10 + [TEXT] * 2)},
        {"padding": padding(strategy={"Fixed": 1 << 13})},
    ],
    ids=range(8),
)
def test_long_results_within_the_limits_are_made(entries: dict[str, Any]) -> None:
    tok = toksmith.loads(content(**entries))
    assert tok.encode("a b 一 12")
    assert tok.decode([1, 2, 3]) == run_decoder(tok.pipeline.decoder, ["a", "b", "aaaa"], MODEL)


def test_a_decoder_that_lengthens_tokens_has_no_table() -> None:
    tokens = ["a" * 100] * 300
    for steps in ((decoders.Replace("a", "a" * 4000),), (decoders.Strip("a"),) * 100):
        table = DecodeTable(steps, tokens, MODEL)
        assert table._engine is None
        assert table.decode(np.array([0])) == run_decoder(steps, tokens[:1], MODEL)


def test_kits_stay_far_below_the_limits() -> None:
    for name, pipe in PIPELINES.items():
        for steps in (pipe.normalizer, pipe.decoder or ()):
            assert growth(steps) <= 100, name


# No text gets longer than the bound.

MODEL = WordLevel(tuple(word.encode() for word in WORDS), unk_id=0)
CHARSMAP = compile_charsmap({"a": "bbb", "ab": "é", "é": "aaaaa"})
SHORT = st.text("ab ▁éİ", max_size=3)
STEPS = st.one_of(
    st.builds(normalizers.Replace, SHORT.filter(bool), SHORT),
    st.builds(
        normalizers.Replace,
        st.sampled_from(["[ab]", "a*", r"\b", "a|(?=b)", " {2,}", r"a\Kb*"]),
        SHORT,
        st.just(True),
    ),
    st.builds(normalizers.Prepend, SHORT),
)
NORMALIZERS = st.one_of(
    STEPS,
    st.builds(normalizers.UnicodeForm, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"])),
    st.builds(normalizers.Bert, st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    st.sampled_from(
        [
            *(normalizers.Lowercase(), normalizers.Nmt(), normalizers.ByteLevel()),
            *(normalizers.Strip(), normalizers.StripAccents(), normalizers.Precompiled(CHARSMAP)),
            normalizers.SentencePieceNormalizer(CHARSMAP, protected=("b",)),
            normalizers.SentencePieceNormalizer(remove_extra_whitespaces=False),
        ]
    ),
)
DECODERS = st.one_of(
    STEPS.filter(lambda step: isinstance(step, normalizers.Replace)),
    st.builds(decoders.Fuse, SHORT),
    st.builds(decoders.BPEDecoder, SHORT),
    st.builds(decoders.CTC, SHORT, SHORT, st.booleans()),
    st.builds(decoders.WordPieceDecoder, SHORT, st.booleans()),
    st.builds(decoders.SentencePieceDecoder, SHORT, charsmap=st.sampled_from([b"", CHARSMAP])),
    st.sampled_from(
        [
            *(decoders.Strip("a", 1, 1), decoders.MetaspaceDecoder("▁"), decoders.ByteFallback()),
            decoders.ByteLevelDecoder(),
        ]
    ),
)
TEXTS = st.text("ab▁éİΣ一\u0301\ufdfa\u1faf\ufb2d\x85 .", max_size=5)


@given(st.lists(NORMALIZERS, max_size=4), TEXTS)
@example([normalizers.UnicodeForm("NFKD")], "\ufdfa")
@example([normalizers.Replace("", "ab", True)], "aa")
@settings(max_examples=60, deadline=None)
def test_growth_bounds_normalizers(steps: list[normalizers.Step], text: str) -> None:
    assert len(normalize(tuple(steps), text)) <= (len(text) + 1) * growth(steps)


@given(st.lists(DECODERS, max_size=4), st.lists(st.sampled_from([*WORDS, "▁a", "é", ""])))
@settings(max_examples=60, deadline=None)
def test_growth_bounds_decoders(steps: list[decoders.Step], tokens: list[str]) -> None:
    size = sum(map(len, tokens)) + len(tokens) + 1
    assert len(run_decoder(tuple(steps), tokens, MODEL)) <= size * growth(steps)
