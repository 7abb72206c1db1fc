"""Behaviour shared by all formats: recognition, dispatch, files, patterns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import regex

from tests.kits.bpe import pipeline, with_whole
from toksmith import formats
from toksmith._base import files
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.formats.gap_patterns import cover_gaps, uncover_gaps
from toksmith.formats.huggingface.patterns import from_oniguruma, to_oniguruma
from toksmith.splitters import FAMILIES, PatternSplitter

TARGETS = {"minbpe": "a.model", "tiktoken": "a.tiktoken", "huggingface": "a.json", "gpt2": "folder"}


@pytest.mark.parametrize("name", list(TARGETS))
def test_recognised_by_the_content_alone(tmp_path: Path, name: str) -> None:
    formats.write(pipeline(), tmp_path / TARGETS[name])
    expected = with_whole(pipeline()) if name == "tiktoken" else pipeline()
    assert formats.read(tmp_path / TARGETS[name]) == expected
    if name != "gpt2":
        (tmp_path / TARGETS[name]).rename(tmp_path / "name.xyz")
        said = {"split": "gpt2", "special_tokens": dict(pipeline().framing.special_tokens)}
        given = said if name == "tiktoken" else {}
        assert formats.read(tmp_path / "name.xyz", **given) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("name", list(TARGETS))
def test_a_named_format_is_written_under_any_name(tmp_path: Path, name: str) -> None:
    formats.write(pipeline(), str(tmp_path / "name.xyz"), format=name)
    assert [n for n, f in formats.FORMATS.items() if f.recognise(tmp_path / "name.xyz")] == [name]


FOLDER = ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"]


@pytest.mark.parametrize("format_name", [None, "huggingface"])
@pytest.mark.parametrize("name", ["plain", "some.folder", "ends.in/", "deep/er"])
def test_directories_in_hugging_face_form(
    tmp_path: Path, name: str, format_name: str | None
) -> None:
    (tmp_path / "some.folder").mkdir()
    formats.write(pipeline(), f"{tmp_path}/{name}", format_name)
    assert sorted(path.name for path in (tmp_path / name).iterdir()) == FOLDER
    assert formats.read(tmp_path / name) == pipeline()


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    for path in (tmp_path / ("x" * 5000), tmp_path / f"{'x' * 5000}.json"):
        with pytest.raises(OptionError, match="cannot be used: File name too long"):
            formats.write(pipeline(), path)
        with pytest.raises(OptionError, match="cannot be used: File name too long"):
            formats.read(path)
    for name in ("a\0b", "a\0b.json"):
        with pytest.raises(OptionError, match="embedded null"):
            formats.write(pipeline(), tmp_path / name)


def test_directories_in_other_forms(tmp_path: Path) -> None:
    formats.write(pipeline("gpt2"), f"{tmp_path}/a/", "gpt2")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["encoder.json", "vocab.bpe"]
    for name in ("minbpe", "tiktoken", "sentencepiece"):
        with pytest.raises(OptionError, match=f"a directory, but a {name} tokenizer is a file"):
            formats.write(pipeline(), f"{tmp_path}/b/", name)
    (tmp_path / "c").touch()
    with pytest.raises(OptionError, match="c is no directory: there is a file of this name"):
        formats.write(pipeline(), tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


def test_links_that_lead_to_no_directory(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("gone")
    (tmp_path / "b").symlink_to("b")
    for name, reason in (
        ("a", "a is no directory: it is a symbolic link to gone, which does not exist; give"),
        (
            "a/sub",
            "sub is no directory: .*a is a symbolic link to gone, which does not exist; give",
        ),
        ("b", "b is no directory: it is a symbolic link that leads nowhere: "),
        ("b/sub", "sub is no directory: .*b is a symbolic link that leads nowhere: "),
    ):
        with pytest.raises(OptionError, match=reason):
            formats.write(pipeline(), tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("path", [None, 5, b"a.json", ["a.json"]])
def test_a_value_that_is_not_a_path(path: object) -> None:
    with pytest.raises(OptionError, match=r"use a str or a pathlib\.Path, not "):
        formats.write(pipeline(), path)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"use a str or a pathlib\.Path, not "):
        formats.read(path)  # type: ignore[arg-type]


def test_unknown_names_list_the_known_ones(tmp_path: Path) -> None:
    every = ", ".join(formats.FORMATS)
    with pytest.raises(OptionError, match=f"unknown format 'bpe': use {every}"):
        formats.read(tmp_path / "a", format="bpe")
    written = ", ".join(name for name in formats.FORMATS if name not in ("gguf", "tekken"))
    with pytest.raises(OptionError, match=f"unknown format 'bpe': use {written}$"):
        formats.write(pipeline(), tmp_path / "a", format="bpe")
    suffixes = r"end it with \.model, \.tiktoken, \.json, \.txt, \.vocab \(.*one of "
    with pytest.raises(OptionError, match=f"determines no format.*{suffixes}{written}$"):
        formats.write(pipeline(), tmp_path / "a.JSON")


@pytest.mark.parametrize("given", [{"split": None}, {"special_tokens": {}}])
def test_only_tiktoken_takes_a_split_and_special_tokens(
    tmp_path: Path, given: dict[str, object]
) -> None:
    for name in formats.FORMATS.keys() - {"tiktoken", "gguf"}:
        with pytest.raises(
            OptionError, match=f"is a {name} file, which has its own split and special tokens"
        ):
            formats.read(tmp_path / "a", name, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [None, *TARGETS])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file"),
        (b"", "the file is empty"),
        (b"\0\1\2\xff" * 50, ""),
        (b"\x89PNG\r\n\x1a\n\0\0", ""),
        (b"hello, world\n", ""),
        (b"{", ""),
        (b"[]", ""),
        (b"{}", ""),
        (b"null", ""),
        ("minbpe v1\n\nü".encode("latin-1"), ""),
    ],
)
def test_wrong_kinds(tmp_path: Path, name: str | None, content: bytes | None, reason: str) -> None:
    path = tmp_path / "a_encoder.json"
    (tmp_path / "a_vocab.bpe").write_bytes(b"#version: 0.2\n")
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        formats.read(path, name)
    assert reason in caught.value.reason
    assert caught.value.path.startswith(str(tmp_path / "a_"))


@pytest.mark.parametrize("name", [None, *TARGETS])
def test_an_empty_directory(tmp_path: Path, name: str | None) -> None:
    with pytest.raises(FormatError) as caught:
        formats.read(tmp_path, name)
    assert str(tmp_path) in str(caught.value)


def test_text_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo \xe9\n")
    with pytest.raises(FormatError, match=r"line 2 is not UTF-8 text \(byte 0xE9\)"):
        files.read_text(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"one\0")
    with pytest.raises(FormatError, match="binary"):
        files.read_text(tmp_path / "a")
    with pytest.raises(FormatError, match="directory"):
        files.read_text(tmp_path)


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    files.write_text(path, "old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OptionError, match="a cannot be written: No space left on device"):
        files.write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be written: No such file or directory"):
        formats.write(pipeline(), tmp_path / "no/a.model")


LINES = ["", "abc 12  x\n", "--a--", "..", "aXb\nXX", "\n\n", "a1b2", "日本a語", "can't (a) b"]


@pytest.mark.parametrize(
    "pattern",
    [
        *("[a-z]+", "a|b ", r"\s+(?!\S)|\s", r"(?i:x)b?", r"(?<=a)b", r"^a|b$", r"\bX", r"[]^a]+"),
        *(r"a(?=\))|\)", "(?i)x", r"\p{L}{2}", "(?>a+)b", "#a", r"(?:a|\[)+"),
    ],
)
def test_a_pattern_that_covers_its_gaps(pattern: str) -> None:
    kept = PatternSplitter(pattern)
    over = cover_gaps(kept)
    assert uncover_gaps(over) == kept
    for text in LINES:
        expected, end = [], 0
        for match in regex.finditer(pattern, text):
            expected += [text[end : match.start()], match.group()]
            end = match.end()
        expected.append(text[end:])
        assert regex.findall(over, text) == [part for part in expected if part]


@pytest.mark.parametrize(
    "pattern",
    [
        *("a*", "", "(?=a)", "(?!a)|b", r"\b", "^|a", "a{0,2}", r"(?:(?<=a)|b)", "(?=(?:a|[)])b)"),
        *("(a)", "(?P<x>a)", "(?x)a # b", "(?r)a", r"\Ga", r"(?|a|b)", "(?(?=a)b|c)", "(?R)?a"),
    ],
)
def test_patterns_whose_gaps_cannot_be_covered(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="write it so that it matches all text"):
        cover_gaps(PatternSplitter(pattern))
    assert cover_gaps(PatternSplitter(pattern, gaps="drop")) == pattern
    assert uncover_gaps(pattern) == PatternSplitter(pattern, gaps="drop")


@pytest.mark.parametrize("family", list(FAMILIES))
def test_families_have_no_gaps(family: str) -> None:
    for spelling in (FAMILIES[family].pattern, *FAMILIES[family].spellings):
        assert cover_gaps(PatternSplitter(spelling)) == spelling
        assert uncover_gaps(spelling) == PatternSplitter(spelling)


def test_patterns_for_another_engine() -> None:
    for family in FAMILIES.values():
        theirs = to_oniguruma(family.pattern)
        assert theirs is not None
        assert "3}+" not in theirs
        assert from_oniguruma(theirs) == family.pattern
    agreed = [r"[^\s\p{L}\p{N}]++[\r\n]*", r"\s+(?!\S)|.{1,3}", "(?i:'s|'t)", r"(?<=a)b??", "a{2}"]
    assert [to_oniguruma(pattern) for pattern in agreed] == agreed
    for pattern in (
        *("a{2}?", "(?i:ss)", "(?i)[ß]", r"(?i)[\p{Lu}]", r"\p{Word}", r"\p{XDigit}", "^*"),
        *(r"(a)\1", "[a&&b]", r"\X", "(?m:.)", "(?<n>a)", "[]a]", "a{,3}", "[a[^-b]]", "[^]a]"),
        *("[a-[b]]", "[[b]-a]", "[a[-b]]", "[a[[b]]]", r"[\w-]", "[a-[:^alpha:]]", "[a[]]"),
    ):
        assert to_oniguruma(pattern) is None
        assert from_oniguruma(pattern) is None
    for pattern in (
        *(r"\w", r"[\w]", r"\h", r"\bX", "^a", "a$", "[a[bc]]", r"\Z", r"\z", r"\A", r"[\W]"),
        *(r"\R", "[[:alpha:]]"),
    ):
        assert to_oniguruma(pattern) != pattern or pattern == r"\A"
        ours = from_oniguruma(pattern)
        assert ours not in (None, pattern)
        assert from_oniguruma(to_oniguruma(ours) or "") == ours
