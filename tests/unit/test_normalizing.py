"""Normalizers: the texts and the source spans they return, by hand."""

from __future__ import annotations

import unicodedata

import pytest
import regex

from toksmith.errors import SplitError
from toksmith.normalizers import (
    Bert,
    Lowercase,
    Nmt,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from toksmith.stages.aligned import Aligned
from toksmith.stages.normalize import normalize
from toksmith.stages.normalize_forms import _NEWER, acting_backwards

ACUTE, DOT = "\u0301", "\u0323"
NFC, NFD = (UnicodeForm("NFC"),), (UnicodeForm("NFD"),)
NFKC, NFKD = (UnicodeForm("NFKC"),), (UnicodeForm("NFKD"),)


@pytest.mark.parametrize(
    ("steps", "text", "expected"),
    [
        (NFC, "e" + ACUTE, "\u00e9"),
        (NFC, "\u212b", "\u00c5"),
        (NFC, "a" + ACUTE + DOT, "\u1ea1" + ACUTE),  # the dot belongs first
        (NFC, "\u0958", "\u0915\u093c"),  # never composed
        (NFC, "\u1112\u1161\u11ab", "한"),
        (NFD, "한é", "\u1112\u1161\u11abe" + ACUTE),
        (NFKC, "ﬁ①ｶﾞ", "fi1ガ"),
        (NFKC, "ㄱㅏ", "가"),
        (NFKD, "½", "1\u20442"),
        (NFC, "\U00011935\U00011930", "\U00011935\U00011930"),  # of Unicode 13
        ((Lowercase(),), "ΑΣ İ Ǆ", "ας".replace("ς", "σ") + " i\u0307 ǆ"),
        ((StripAccents(),), "e" + ACUTE + "é\u0903", "eé"),
        ((Nmt(),), "a\x01\tb\u200bc\ufeff\u3000", "a b c \u3000"),
        ((Strip(),), "\u3000 a b\n", "a b"),
        ((Strip(),), "\x1c", "\x1c"),  # white space to Python alone
        ((Strip(right=False),), "  ", ""),
        ((Prepend("_"),), "", ""),
        ((Replace("a.", "x"),), "a.ab", "xab"),
        ((Replace("a.", "$0", True),), "a.ab", "$0$0"),
        ((Replace("^", "> ", True),), "a\nb", "> a\nb"),
        ((Bert(),), "Éa\x00 中\tb", "ea  中  b"),
        ((Bert(strip_accents=False),), "É", "é"),
        ((Bert(lowercase=False),), "É", "É"),
        ((Bert(lowercase=False, strip_accents=True),), "É", "E"),
        ((Bert(handle_chinese_chars=False),), "中", "中"),
        ((Bert(clean_text=False),), "\x00\ufffd", "\x00\ufffd"),
    ],
)
def test_normalizers(steps: Normalizer, text: str, expected: str) -> None:
    assert normalize(steps, text) == expected
    assert normalize(steps, Aligned.of(text)).text == expected


@pytest.mark.parametrize(
    ("steps", "text", "spans"),
    [
        (NFC, "e" + ACUTE + "x", [(0, 1), (3, 4)]),  # a composed character is its first
        (NFD, "éx", [(0, 2), (0, 2), (2, 3)]),
        (NFD, "a" + ACUTE + DOT, [(0, 1), (1, 3), (3, 5)]),  # a mark is where it goes
        ((Lowercase(),), "aİb", [(0, 1), (1, 3), (1, 3), (3, 4)]),
        ((Prepend("ab"),), "éx", [(0, 2), (0, 2), (0, 2), (2, 3)]),
        ((Replace("--", "+-"),), "a--b", [(0, 1), (2, 3), (2, 3), (3, 4)]),
        ((Replace("(?=b)", "+", True),), "ab", [(0, 1), (0, 1), (1, 2)]),
        ((Strip(),), "  a ", [(2, 3)]),
        ((Bert(),), "A中", [(0, 1), (1, 4), (1, 4), (1, 4)]),
        ((Replace("b", "ß"), UnicodeForm("NFD"), Prepend("x")), "b", [(0, 1), (0, 1)]),
    ],
)
def test_spans_of_normalized_characters(
    steps: Normalizer, text: str, spans: list[tuple[int, int]]
) -> None:
    aligned = normalize(steps, Aligned.of(text))
    assert list(zip(aligned.starts, aligned.ends, strict=True)) == spans


def test_a_surrogate_passes() -> None:
    for steps in (NFC, NFD, (Bert(),), (Lowercase(), StripAccents(), Nmt())):
        assert normalize(steps, "\udc80") == "\udc80"


def test_patterns_are_checked() -> None:
    with pytest.raises(SplitError, match="not a regular expression"):
        Replace("(", "x", is_regex=True)
    assert Replace("(", "x").pattern == "("


def test_the_characters_that_act_on_the_one_before_them() -> None:
    """Those whose first part has a combining class, or composes with a part before it."""
    points = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    characters = "".join(map(chr, points))
    fields = {c: unicodedata.decomposition(c).split() for c in characters}
    seconds = {
        chr(int(parts[1], 16))
        for c, parts in fields.items()
        if len(parts) == 2 and "<" not in parts[0] and unicodedata.normalize("NFC", c) == c
    }
    seconds |= set(map(chr, [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]))
    newer = set(regex.findall(f"[{_NEWER}]", characters))
    expected = {
        c
        for c in characters
        for form in ("NFD", "NFKD")
        if unicodedata.combining(first := unicodedata.normalize(form, c)[0]) or first in seconds
    }
    found = acting_backwards(characters)
    assert expected - newer <= found
    # Others are newer than Python's tables.
    assert {unicodedata.category(c) for c in found - expected} <= {"Cn"}
