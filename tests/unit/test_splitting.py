"""Boundaries of chunks, against literals written by hand."""

from __future__ import annotations

import pytest
import regex

from toksmith.errors import SplitError
from toksmith.splitters import FAMILIES, PatternSplitter, splitter
from toksmith.stages import split_patterns
from toksmith.stages.split_patterns import chunk_spans


def chunks(split: PatternSplitter | None, text: str | bytes) -> list[bytes]:
    data = text.encode() if isinstance(text, str) else text
    return [data[start:end] for start, end in chunk_spans(split, data)]


def words(name: str, text: str) -> list[str]:
    return [chunk.decode() for chunk in chunks(splitter(name), text)]


def test_gpt2_seeds() -> None:
    assert words("gpt2", "Hello!      How're ya doin'? 123 456 789") == [
        "Hello", "!", "     ", " How", "'re", " ya", " doin", "'?", " 123", " 456", " 789",
    ]  # fmt: skip
    assert words("gpt2", "Hello've world123 how's are you!!!?") == [
        "Hello", "'ve", " world", "123", " how", "'s", " are", " you", "!!!?",
    ]  # fmt: skip


def test_cl100k() -> None:
    text = "HELLO'S 12345 (x)\n\n  y"
    assert words("gpt4", text) == [
        "HELLO", "'S", " ", "123", "45", " (", "x", ")\n\n", " ", " y",
    ]  # fmt: skip


def test_o200k() -> None:
    text = "don't parseHTML /path/\n e\u0301"
    assert words("o200k", text) == ["don't", " parse", "HTML", " /", "path", "/\n", " e\u0301"]


def test_white_space_at_the_end_differs_between_the_two_cl100k() -> None:
    assert words("cl100k-tiktoken", "a\n  ") == ["a", "\n  "]
    assert words("cl100k", "a\n  ") == ["a", "\n", "  "]


def test_long_s_is_a_contraction_where_case_does_not_count() -> None:
    assert words("gpt4", "it'ſ") == ["it", "'ſ"]
    assert words("gpt2", "it'ſ") == ["it", "'", "ſ"]


def test_classes_are_those_of_unicode_16() -> None:
    # U+10D50 is a letter since Unicode 16.0; U+FAE9..., U+1CEC0 and U+323B0 came after it.
    assert words("gpt2", "a\U00010d50") == ["a\U00010d50"]
    assert words("gpt2", "a\U000323b0") == ["a", "\U000323b0"]


def test_no_splitter_leaves_one_chunk() -> None:
    assert chunks(None, "a b") == [b"a b"]
    assert chunks(None, "") == chunks(splitter("gpt2"), "") == []


def test_bytes_that_are_no_text_are_characters_of_no_class() -> None:
    broken = b"a\xff\xe2\x82b \x80"
    assert chunks(splitter("gpt2"), broken) == [b"a", b"\xff\xe2\x82", b"b", b" \x80"]
    assert chunks(PatternSplitter("[a-z]+"), b"\xed\xa0\x80ab\xc3") == [
        b"\xed\xa0\x80",
        b"ab",
        b"\xc3",
    ]


def test_gaps() -> None:
    keep, drop = PatternSplitter("[a-zé]+"), PatternSplitter("[a-zé]+", "drop")
    kept = [chunk.decode() for chunk in chunks(keep, "ü1aé,,b!")]
    assert kept == ["ü1", "aé", ",,", "b", "!"]
    assert chunks(drop, "ü1aé,,b!") == ["aé".encode(), b"b"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("x*", [b"aa", b"xx", b"b"]),  # empty matches are none
        ("(a)(a)|(x)", [b"aa", b"x", b"x", b"b"]),  # groups do not matter
        ("(?r)xx|a", [b"a", b"a", b"xx", b"b"]),  # searched from the end
        (r"a\Kax", [b"a", b"ax", b"xb"]),  # a match may start late
        ("$^", [b"aaxxb"]),
    ],
)
def test_odd_patterns(pattern: str, expected: list[bytes]) -> None:
    assert chunks(PatternSplitter(pattern), "aaxxb") == expected


def test_an_exploding_pattern_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_patterns, "SECONDS", 0.1)
    with pytest.raises(SplitError, match=r"\(\?:a\|aa\)\+\$.*backtracks without end.*possessive"):
        chunk_spans(PatternSplitter("^(?:a|aa)+$"), b"a" * 60 + b"!")


@pytest.mark.parametrize("family", FAMILIES)
def test_families_cover_every_byte(family: str) -> None:
    every = bytes(range(256)) + "".join(map(chr, range(0, 0xD800, 7))).encode()
    assert b"".join(chunks(splitter(family), every)) == every


def test_white_space_is_unicodes() -> None:
    pytest.importorskip("unicodedata2")
    from tools.make_unicode_tables import WHITE_SPACE

    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    found = regex.finditer(r"\s", split_patterns.stand_ins(r"\s", everything))
    assert {ord(everything[match.start()]) for match in found} == WHITE_SPACE


def test_the_tables_are_what_the_generator_writes() -> None:
    pytest.importorskip("unicodedata2")
    from tools import make_unicode_tables as tables

    assert tables.KERNEL.read_text() == tables.kernel_table()


def test_counts_inside_each_other_multiply() -> None:
    side_by_side = r"\s{512}(?!\S)|\s{256}(?!\S)|\s{128}|[({]{64}|x{3,}|."
    found = chunks(PatternSplitter(side_by_side), " " * 300 + "xxxx")
    assert found == [b" " * 256, *[b" "] * 44, b"xxxx"]
    for pattern in ("(a{1000}){1000}", "((?:ab){100}[)]{900}){1000}", "a{99999}b{99999}"):
        with pytest.raises(SplitError, match="counts too far"):
            PatternSplitter(pattern)
