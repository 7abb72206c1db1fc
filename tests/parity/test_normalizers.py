"""Normalizers against those of `tokenizers`: their text and its origins."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import unicodedata2

from tests import strategies
from toksmith._base.text import characters
from toksmith.normalizers import (
    Bert,
    ByteLevel,
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
from toksmith.stages.character_maps import is_context_free, map_characters
from toksmith.stages.normalize import normalize

peer = pytest.importorskip("tokenizers")
theirs = peer.normalizers

BERTS = [
    (f"bert-{number}", (Bert(*options),), theirs.BertNormalizer(*options))
    for number, options in enumerate(
        product((True, False), (True, False), (True, False, None), (True, False))
    )
]
ALL: list[tuple[str, Normalizer, Any]] = [
    *((form, (UnicodeForm(form),), getattr(theirs, form)()) for form in ("NFC", "NFD")),
    *((form, (UnicodeForm(form),), getattr(theirs, form)()) for form in ("NFKC", "NFKD")),
    ("lowercase", (Lowercase(),), theirs.Lowercase()),
    ("strip-accents", (StripAccents(),), theirs.StripAccents()),
    ("nmt", (Nmt(),), theirs.Nmt()),
    ("byte-level", (ByteLevel(),), theirs.ByteLevel()),
    (
        "byte-level-last",
        (UnicodeForm("NFC"), ByteLevel()),
        theirs.Sequence([theirs.NFC(), theirs.ByteLevel()]),
    ),
    *BERTS,
    ("strip", (Strip(),), theirs.Strip()),
    ("strip-left", (Strip(right=False),), theirs.Strip(True, False)),
    ("strip-right", (Strip(left=False),), theirs.Strip(False, True)),
    ("prepend", (Prepend("\u2581"),), theirs.Prepend("\u2581")),
    ("prepend-more", (Prepend("xyz"),), theirs.Prepend("xyz")),
    ("replace", (Replace(" ", "\u2581"),), theirs.Replace(" ", "\u2581")),
    ("replace-by-more", (Replace("'s", "<'s>"),), theirs.Replace("'s", "<'s>")),
    ("replace-runs", (Replace(r"\s+", " ", True),), theirs.Replace(peer.Regex(r"\s+"), " ")),
    ("replace-nothing", (Replace("a*", "-", True),), theirs.Replace(peer.Regex("a*"), "-")),
    (
        "sequence",
        (UnicodeForm("NFKD"), StripAccents(), Strip(), UnicodeForm("NFC"), Lowercase()),
        theirs.Sequence(
            [theirs.NFKD(), theirs.StripAccents(), theirs.Strip(), theirs.NFC(), theirs.Lowercase()]
        ),
    ),
]
EACH = pytest.mark.parametrize(("ours", "their"), [pytest.param(*n[1:], id=n[0]) for n in ALL])
BY_CHARACTER = [*ALL[:9], BERTS[0], BERTS[-1], ("strip", (Strip(),), theirs.Strip())]

CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
JAMO = list(map(chr, [*range(0x1100, 0x1200), *range(0x3131, 0x3190), *range(0xFF66, 0xFFDD)]))


@cache
def tried() -> list[str]:
    """Return all characters, but of the planes with none or private ones alone a few."""
    return [c for c in CHARACTERS if ord(c) < 0x40000 or 0xE <= ord(c) >> 16 < 0xF or is_few(c)]


def is_few(character: str) -> bool:
    """Return whether a character is one in 61, or near the end of a plane."""
    return ord(character) % 61 == 0 or (ord(character) + 16) % 0x10000 < 32


@cache
def marks() -> list[str]:
    return [c for c in CHARACTERS if unicodedata2.combining(c)]


@cache
def composed() -> list[str]:
    return [c for c in CHARACTERS if unicodedata2.decomposition(c)]


def marked_texts(seed: int, count: int) -> list[str]:
    """Return texts that are full of what the forms work on."""
    rng = random.Random(seed)
    accents = list("\u0301\u0323\u0302\u0308")
    kinds = (marks(), marks(), composed(), JAMO, JAMO, list("aeo "), accents)
    return [
        "".join(rng.choice(rng.choice(kinds)) for _ in range(rng.randint(1, 10)))
        for _ in range(count)
    ]


def places(ours: Normalizer, text: str) -> list[tuple[int, int]]:
    """Return the characters of a text that each normalized character stands for."""
    aligned = normalize(ours, Aligned.of(text))
    spans = np.array([aligned.starts, aligned.ends], np.int64).T.reshape(-1, 2)
    found: list[list[int]] = characters(text, spans)[1].tolist()
    return [(start, end) for start, end in found]


def single_characters(their: Any) -> Any:
    """Return a tokenizer whose tokens are the characters of normalized text."""
    tokenizer = peer.Tokenizer(peer.models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.normalizer = their
    tokenizer.pre_tokenizer = peer.pre_tokenizers.FixedLength(1)
    return tokenizer


@pytest.mark.parametrize(("ours", "their"), [pytest.param(*n[1:], id=n[0]) for n in BY_CHARACTER])
@pytest.mark.parametrize("beside", ["a", " "])
def test_every_character(ours: Normalizer, their: Any, beside: str) -> None:
    for start in range(0, len(tried()), 8192):
        text = beside.join(["", *tried()[start : start + 8192], ""])
        if normalize(ours, text) != their.normalize_str(text):
            for character in tried()[start : start + 8192]:
                short = beside + character + beside
                assert normalize(ours, short) == their.normalize_str(short), hex(ord(character))
            raise AssertionError(start)


@EACH
def test_texts_and_where_they_came_from(ours: Normalizer, their: Any) -> None:
    tokenizer = single_characters(their)
    for text in strategies.random_texts(3, 150) + marked_texts(4, 250) + ["", " ", "\n \t"]:
        new = normalize(ours, text)
        assert new == their.normalize_str(text), ascii(text)
        assert normalize(ours, Aligned.of(text)).text == new
        assert places(ours, text) == tokenizer.encode(text).offsets, ascii(text)


@EACH
@pytest.mark.parametrize("name", ["english.txt", "code.txt", "cjk.txt", "multilingual.txt"])
def test_corpora(ours: Normalizer, their: Any, name: str, corpus: Callable[..., bytes]) -> None:
    text = corpus(name, 60_000, 1_000_000).decode()
    assert normalize(ours, text) == their.normalize_str(text)
    assert places(ours, text[:3000]) == single_characters(their).encode(text[:3000]).offsets


@pytest.mark.parametrize(
    "ours",
    [
        (Bert(),),
        (Bert(lowercase=False, strip_accents=True),),
        (Lowercase(), UnicodeForm("NFC")),
        (UnicodeForm("NFKC"), Lowercase()),
        (UnicodeForm("NFD"), StripAccents()),
        (Nmt(), Replace(" ", "\u2581")),
    ],
)
def test_single_characters_tell(ours: Normalizer) -> None:
    assert is_context_free(ours)
    rng = random.Random(5)
    drawn = rng.sample(CHARACTERS[:0x3400], 4000) + rng.sample(composed(), 500) + marks()
    _, bound = map_characters(ours, drawn)
    free = [character for character, known in zip(drawn, bound, strict=True) if not known]
    assert len(free) > 4000
    mapped = {character: map_characters(ours, [character])[0][0] for character in free}
    assert map_characters(ours, free)[0] == [mapped[character] for character in free]
    for _ in range(100):
        text = "".join(rng.choices(free, k=100))
        assert normalize(ours, text) == "".join(mapped[character] for character in text)
