"""SentencePiece's normalizer, against the output of sentencepiece 0.2.3."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toksmith.normalizers import Precompiled, SentencePieceNormalizer
from toksmith.stages.aligned import Aligned
from toksmith.stages.charsmap_building import compile_charsmap
from toksmith.stages.normalize import normalize

CHARSMAP = compile_charsmap({
    "x": "", "y": " ", "z": "  a ", "ab": "b a", "q": "  ", "é": "e\u0301c", "㍿": "株式会社",
    "\ufffd": " ",
})  # fmt: skip
KEEP = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}


def run(text: str, **options: object) -> Aligned:
    step = SentencePieceNormalizer(CHARSMAP, **options)  # type: ignore[arg-type]
    aligned = normalize((step,), Aligned.of(text))
    assert normalize((step,), text) == aligned.text
    return aligned


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("   ", ""),
        ("a", "▁a"),
        ("  a  b ", "▁a▁b"),
        ("ab", "▁b▁a"),
        ("z z", "▁a▁a"),
        ("ay yb", "▁a▁b"),
        ("x", ""),  # the dummy space is at the end, too
        ("x a", "▁a"),
        ("a▁▁", "▁a"),
        ("▁▁a", "▁▁▁a"),
        ("é x ", "▁e\u0301c"),
        ("\udcff\ufffd\udcfe", "▁\ufffd▁\ufffd"),  # the map sees the U+FFFD of the text alone
    ],
)
def test_spaces_and_the_map(text: str, wanted: str) -> None:
    assert run(text).text == wanted


def test_options() -> None:
    assert run(" a  ", **KEEP).text == "▁a▁▁"
    assert run(" az ", **KEEP).text == "▁a▁▁a▁▁"
    assert run(" a ", add_dummy_prefix=False).text == "a"
    assert run(" a ", remove_extra_whitespaces=False).text == "▁▁a▁"
    assert run("a  b", escape_whitespaces=False).text == " a b"
    assert run(" a ", whitespace_as_suffix=True).text == "a▁"
    assert run("x", whitespace_as_suffix=True).text == "▁"
    assert run("  ", whitespace_as_suffix=True).text == ""


def test_protected_symbols_pass_the_longest_first() -> None:
    assert run("abab", protected=("abab", "ab")).text == "▁abab"
    assert run("aby", protected=("abab", "ab")).text == "▁ab"
    assert run("é㍿", protected=("㍿",)).text == "▁e\u0301c㍿"
    # Their spaces are as others.
    assert run("a  b", protected=("  ",)).text == "▁a▁▁b"
    assert run(" a", protected=(" a",)).text == "▁a"


def test_places() -> None:
    # A replacement of several characters ends with the last; what is dropped is its forerunner's.
    aligned = run("a㍿xx b")
    assert aligned.text == "▁a株式会社▁b"
    assert aligned.starts == [0, 0, 1, 1, 1, 1, 6, 7]
    assert aligned.ends == [0, 1, 1, 1, 1, 6, 7, 8]
    # Spaces at the ends are nobody's; those that are left out belong to the one before them.
    aligned = run("  xa   b  ")
    assert aligned.text == "▁a▁b"
    assert aligned.starts == [2, 3, 4, 7]
    assert aligned.ends == [3, 4, 7, 8]
    aligned = run("a x ", whitespace_as_suffix=True)
    assert (aligned.text, aligned.starts, aligned.ends) == ("a▁", [0, 1], [1, 1])


@given(st.text("  aby\tzxq▁é㍿"), st.booleans(), st.booleans(), st.booleans())
def test_places_tile_the_text(text: str, dummy: bool, remove: bool, suffix: bool) -> None:
    aligned = run(
        text,
        add_dummy_prefix=dummy,
        remove_extra_whitespaces=remove,
        whitespace_as_suffix=suffix,
        protected=("yz", " a"),
    )
    assert aligned.starts[1:] == aligned.ends[:-1]
    assert aligned.starts == sorted(aligned.starts)
    assert aligned.ends[-1:] <= [len(text.encode())]


def test_precompiled_takes_small_clusters_whole_by_their_first_key() -> None:
    step = Precompiled(
        compile_charsmap({"\r": " ", "e\u0301": "é", "か\u3099": "が", "½": "1⁄2", "x": ""})
    )
    assert normalize((step,), "\r\na") == " a"
    assert normalize((step,), "e\u0301") == "é"
    assert normalize((step,), "か\u3099") == "か\u3099"  # six bytes
    assert normalize((step,), "½\u094d") == "1⁄2"  # the key is its start
    assert normalize((step,), "½\u094dन") == "1⁄2न"
    assert normalize((step,), "x\u0301\u0301\u0301") == "\u0301\u0301\u0301"


def test_places_of_precompiled_are_those_of_tokenizers() -> None:
    step = Precompiled(compile_charsmap({"e\u0301": "é", "½": "1⁄2", "x": ""}))
    aligned = normalize((step,), Aligned.of("e\u0301½ax"))
    assert aligned.text == "é1⁄2a"
    assert list(zip(aligned.starts, aligned.ends, strict=True)) == [
        (0, 1), (3, 5), (3, 5), (3, 5), (5, 6),
    ]  # fmt: skip
    # What is dropped first of all is forgotten: the rest stands for the characters before it.
    aligned = normalize((step,), Aligned.of("xab"))
    assert (aligned.text, aligned.starts) == ("ab", [0, 1])
