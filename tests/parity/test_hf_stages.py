"""Normalizers and pre-tokenizers of a tokenizer.json against those of `tokenizers`."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import regex
import unicodedata2

import toksmith
from tests import strategies
from tests.parity.test_normalizers import ALL, tried
from tests.parity.test_pre_tokenizers import OF_BYTES, OF_TEXT, theirs
from toksmith.formats.huggingface import normalizers, splitters
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.huggingface.patterns import from_oniguruma, to_oniguruma
from toksmith.normalizers import Normalizer
from toksmith.splitters import PatternSplitter, Split, Splitter, SplitterSequence
from toksmith.stages.split_classes import split_text

peer = pytest.importorskip("tokenizers")


@cache
def assigned() -> str:
    return "".join(c for c in tried() if unicodedata2.category(c) != "Cn")


def entry(value: Any) -> Entry:
    return Entry(Path("tokenizer.json"), "here", value)


@pytest.mark.parametrize(("ours", "their"), [pytest.param(*n[1:], id=n[0]) for n in ALL])
def test_normalizers(ours: Normalizer, their: Any) -> None:
    held = json.loads(their.__getstate__())
    assert normalizers.write(ours) == held
    assert normalizers.read(entry(held)) == ours


@pytest.mark.parametrize(
    ("ours", "their", "byte_level"),
    [(*pair, False) for pair in OF_TEXT] + [(*pair, True) for pair in OF_BYTES],
    ids=repr,
)
def test_pre_tokenizers(ours: Splitter, their: Any, byte_level: bool) -> None:
    held = json.loads(their.__getstate__())
    assert splitters.write(ours, byte_level) == held
    assert splitters.is_byte_level(entry(held)) == byte_level
    read = splitters.read(entry(held), byte_level)
    steps = ours.steps if isinstance(ours, SplitterSequence) else (ours,)
    read_steps = read.steps if isinstance(read, SplitterSequence) else (read,)
    pairs = list(zip(steps, read_steps, strict=True))
    if any(isinstance(a, Split) and isinstance(b, PatternSplitter) for a, b in pairs):
        assert all(a == b for a, b in pairs if not isinstance(a, Split))
        for text in ("", "a b", " Ab's  aé", "aaXa\n"):
            assert split_text(read, text) == split_text(ours, text)
    else:
        assert read == ours
    assert read is not None
    assert splitters.read(entry(splitters.write(read, byte_level)), byte_level) == read


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            r"\w",
            r"\W",
            r"[\w]",
            r"[^\w]",
            r"\h",
            r"\H",
            r"\d",
            r"\D",
            r"\s",
            r"\S",
            "[a[bc]]",
            ".",
        ),
        *(r"\p{L}", r"\p{Lu}", r"\p{Lt}", r"\p{Lm}", r"\p{M}", r"\p{N}", r"\p{Nd}", r"\p{P}"),
        *(r"\p{S}", r"\p{Z}", r"\p{Alphabetic}", r"\p{Han}", r"\p{Punct}", r"\P{L}", r"[^\p{L}]"),
    ],
)
def test_classes_of_oniguruma(pattern: str) -> None:
    ours = from_oniguruma(pattern)
    assert ours is not None
    found = theirs.Split(peer.Regex(pattern), "removed", invert=True).pre_tokenize_str(assigned())
    assert "".join(piece for piece, _ in found) == "".join(regex.findall(ours, assigned()))


@pytest.mark.parametrize("pattern", ["^", "$", r"\A", r"\z", r"\Z", r"\b", r"\B"])
@pytest.mark.parametrize("around", ["%s", "%sa", r"\s%s", "(?:%s|a)b"])
def test_anchors_of_oniguruma(pattern: str, around: str) -> None:
    ours = from_oniguruma(around % pattern)
    assert ours is not None
    their = theirs.Split(peer.Regex(around % pattern), "isolated")
    for size in range(5):
        for letters in product("a\nb\u00b2 ", repeat=size):
            text = "".join(letters)
            expected = [piece for piece, _ in their.pre_tokenize_str(text)]
            assert split_text(Split(ours), text) == expected, ascii(text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s+$",
        "^a",
        "a$|b",
        r"\b2",
        r"\B1",
        r"\w+",
        r"\W",
        r"\d{1,2}(?=(?:\d{2})*\b)",
        r"a\Z",
        r"\Aa",
    ],
)
def test_patterns_for_oniguruma(pattern: str) -> None:
    spelled = to_oniguruma(pattern)
    assert spelled is not None
    their = theirs.Split(peer.Regex(spelled), "isolated")
    for size in range(6):
        for letters in product("a1\n\u00b2 " if size < 5 else "1\n ", repeat=size):
            text = "".join(letters)
            expected = [piece for piece, _ in their.pre_tokenize_str(text)]
            assert split_text(Split(pattern), text) == expected, ascii(text)


@pytest.mark.parametrize(
    "pattern", ["]", "a]", "[a]]", r"\[[^\]]+]|a", "(?<=])a", "(?:a|])+", "]{2}", r"[\]]b]?"]
)
def test_brackets_that_close_nothing(pattern: str) -> None:
    ours = from_oniguruma(pattern)
    assert ours is not None
    their = theirs.Split(peer.Regex(pattern), "isolated")
    for size in range(5):
        for letters in product("a]b[", repeat=size):
            text = "".join(letters)
            expected = [piece for piece, _ in their.pre_tokenize_str(text)]
            assert split_text(Split(ours), text) == expected, text


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
SPELLED = BYTES | {"use_regex": False}
PREFIXED = BYTES | {"add_prefix_space": True}
DIGITS = {"type": "Digits", "individual_digits": True}


def split(pattern: str) -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


@pytest.mark.parametrize(
    ("normalizer", "steps"),
    [
        ([{"type": "NFC"}], [PREFIXED]),
        ([{"type": "NFKC"}, {"type": "Lowercase"}], [DIGITS, PREFIXED]),
        (  # cut at lines, words, punctuation, white space at the end, ideographs and digits
            [{"type": "Prepend", "prepend": "é"}],
            [
                split(r"[\r\n]"),
                split(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺ]+"),
                split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"),
                split(r"\s+$"),
                split(r"[一-龥ࠀ-一가-퟿]+"),
                DIGITS,
                SPELLED,
            ],
        ),
        ([], [split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), SPELLED]),
        ([], [{"type": "Punctuation", "behavior": "Contiguous"}, {"type": "Whitespace"}, PREFIXED]),
    ],
)
def test_byte_level_pipelines(
    normalizer: list[Any], steps: list[Any], shared: Path, tmp_path: Path
) -> None:
    held = json.loads((shared / "data/vocab/gpt2_tokenizer.json").read_text())
    held |= {
        "normalizer": {"type": "Sequence", "normalizers": normalizer},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "post_processor": None,
        "added_tokens": [],
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(held))
    their = peer.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ours = toksmith.load(tmp_path)
    ours.save(tmp_path / "again.json", format="huggingface")
    again = peer.Tokenizer.from_file(str(tmp_path / "again.json"))
    for text in strategies.random_texts(11, 120):
        expected = their.encode(text)
        encoding = ours.encoding(text)
        assert list(encoding.ids) == ours.encode(text) == expected.ids
        assert [tuple(span) for span in encoding.spans] == expected.offsets
        assert again.encode(text).ids == expected.ids
