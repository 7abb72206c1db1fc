"""Words, graphemes and sentences against Unicode's conformance files and the golden rules."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import regex

from toksmith import graphemes, sentences, words
from toksmith.segment import SentenceRules, Spans
from toksmith.segment.icu import boundaries, cutter
from toksmith.segment.words import find_boundaries

pytest.importorskip("icu4py")
sentencex = pytest.importorskip("sentencex")

# What ICU, of a later Unicode, rightly gives other than UnicodeData 15.0: since then U+2701 (upper
# blade scissors) is no emoji any more (no Extended_Pictographic), so that WB3c and GB11 do not join
# a zero width joiner with it.
CHANGED = {
    "WordBreakTest-15.0.0.txt": {
        "÷ 2701 × 200D × 2701 ÷": [(0, 2), (2, 3)],
        "÷ 0061 × 200D × 2701 ÷": [(0, 2), (2, 3)],
    },
    "GraphemeBreakTest-15.0.0.txt": {"÷ 2701 × 200D × 2701 ÷": [(0, 2), (2, 3)]},
    "SentenceBreakTest-15.0.0.txt": {},
}
LANGUAGES = {
    "arabic": "ar", "chinese": "zh", "deutsch": "de", "english": "en", "french": "fr",
    "hindi": "hi", "japanese": "ja", "russian": "ru", "spanish": "es",
}  # fmt: skip


def words_by_arithmetic(text: str) -> Spans:
    cut = find_boundaries(cutter("Word"))
    return Spans(text, boundaries(text, cut))


def uax29_sentences(text: str) -> Spans:
    return sentences(text, rules="uax29")


def cases(lines: list[str]) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """Yield each case of a file: as it stands there, its text, its spans."""
    for line in lines:
        case = line.partition("#")[0].strip()
        if case:
            pieces = [
                "".join(chr(int(code, 16)) for code in piece.split() if code != "×")
                for piece in case.strip("÷").split("÷")
            ]
            ends = [sum(map(len, pieces[: i + 1])) for i in range(len(pieces))]
            yield case, "".join(pieces), list(zip([0, *ends], ends, strict=False))


def different(lines: list[str], segment: Callable[[str], Spans]) -> dict[str, object]:
    """Return our spans of each case where they are not the file's."""
    found = [(case, segment(text), spans) for case, text, spans in cases(lines)]
    assert len(found) == int(lines[-3].removeprefix("# Lines: "))
    return {case: list(ours) for case, ours, spans in found if ours != spans}


SEGMENTS = [
    ("WordBreakTest", words),
    ("WordBreakTest", words_by_arithmetic),
    ("GraphemeBreakTest", graphemes),
    ("SentenceBreakTest", uax29_sentences),
]


@pytest.mark.parametrize(("name", "segment"), SEGMENTS)
def test_conformance(name: str, segment: Callable[[str], Spans]) -> None:
    """All cases of ICU 78's own version of Unicode."""
    file = Path(__file__).parents[1] / f"data/unicode-17.0/{name}.txt.gz"
    lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    assert different(lines, segment) == {}


@pytest.mark.parametrize(("name", "segment"), SEGMENTS)
def test_conformance_then(shared: Path, name: str, segment: Callable[[str], Spans]) -> None:
    """All cases of an earlier version but those that Unicode has changed since."""
    lines = (shared / f"data/unicode/{name}.txt").read_text(encoding="utf-8").splitlines()
    assert different(lines, segment) == CHANGED.get(lines[0].strip("# "), {})


@pytest.mark.parametrize(("rules", "expected"), [("sentencex", 92), ("uax29", 61)])
def test_golden_rules(shared: Path, rules: SentenceRules, expected: int) -> None:
    golden = json.loads((shared / "data/sentences/golden_rules.json").read_text(encoding="utf-8"))
    assert set(golden) <= set(LANGUAGES)
    assert sum(map(len, golden.values())) == 108
    ours = theirs = 0
    for name, language in LANGUAGES.items():
        for case in golden[name]:
            text, wanted = case["text"], case["sentences"]
            found = sentences(text, rules, language)
            assert "".join(found.pieces) == text
            ours += stripped(found.pieces) == wanted
            theirs += stripped(sentencex.segment(language, text)) == wanted
    assert ours == expected
    assert rules != "sentencex" or ours >= theirs


def stripped(pieces: list[str]) -> list[str]:
    return [piece.strip() for piece in pieces if piece.strip()]


@pytest.mark.parametrize("name", ["english", "code", "multilingual", "cjk"])
def test_corpora(corpus: Callable[..., bytes], name: str) -> None:
    """Words by arithmetic are ICU's own, sentences sentencex's, graphemes those of `regex`."""
    text = corpus(f"{name}.txt", 400_000, 3_000_000).decode().partition("\n")[2]
    by_icu = words(text, "root")
    assert words(text) == by_icu
    assert "".join(by_icu.pieces) == text
    assert graphemes(text).pieces == regex.findall(r"\X", text)
    found = sentences(text)
    assert "".join(found.pieces) == text
    # sentencex drops a paragraph break at times; what it keeps is compared.
    ours = [piece.strip() for piece in found.pieces]
    theirs = stripped(sentencex.segment("en", text))
    assert sum(a != b for a, b in zip(ours, theirs, strict=False)) == 0
    assert len(ours) == len(theirs)
