"""The kernel reads JSON Lines to the documents and errors of Python's parsers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toksmith.corpus.blocks import Damage
from toksmith.corpus.jsonl import jsonl_blocks
from toksmith.engine import portable

pytest.importorskip("toksmith._kernel")

PATH = Path("a.jsonl")

ODD = [
    b'{"text": "a", "text": "b"}',
    b'{"text": "\\ud83d\\ude00 \\u00e9\\u0000\\/\\b"}',
    b'{"text": "\\ud83d"}',
    b'{"text": "a", "x": "\\udc00"}',
    b'{"text": "a", "x": NaN}',
    b'{"text": "a", "x": -Infinity}',
    b'{"text": "a", "x": 1e999, "y": 01}',
    b'{"text": "a", "x": [1e999, -0.5E-3, 12345678901234567890123]}',
    b'{"text": "a", "x": ' + b"1" * 5000 + b"}",
    b'{"text": "a", "x": ' + b"[" * 500 + b"]" * 500 + b"}",
    b'{"text": "a", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}",
    b'{"te\\u0078t": "a"}',
    b'{"x": {"text": "a"}}',
    b'{"text": {"text": "a"}}',
    b'{"text": null}',
    b'{"text": 1}',
    b'{"text": ["a"]}',
    b'{"text": "a"} {"text": "b"}',
    b'{"text": "a"},',
    b'{"text": "a",}',
    b'{"text" "a"}',
    b'{"text": "a\tb"}',
    b'{"text": "a\x00"}',
    b'{"text": "\\x"}',
    b'{"text": "\\u12"}',
    b'{"text": "\\u+123"}',
    b'{"text": "a\\',
    b'{"text": "\xff"}',
    b'{"text": "a", "\xed\xa0\x80": 1}',
    b'{"text": "a", "x": tru}',
    b'{"text": "a", "x": true, "y": null, "z": [false, {}, {"a": []}, "\\n"]}',
    b'{"text": "a", "x": [1 2]}',
    b'{"text": "a", "x": [1,]}',
    b'{"text": "a", "x": {1: 2}}',
    b'{"text": "a", "x": 1.}',
    b'{"text": "a", "x": .5}',
    b'{"text": "a", "x": -}',
    b'{"text": "a", "x": 1e}',
    b'{"text": "a", "x": +1}',
    b'{"": "", "text": ""}',
    b"{}",
    b"[]",
    b'"text"',
    b"\xc2\xa0",
    b"\x0b \x0c",
    b" \t ",
    b"\xef\xbb\xbf{}",
    b"",
]


def found(data: bytes) -> tuple[list[bytes], int, list[Damage]]:
    """Return the documents, the number of nulls, and the damaged lines."""
    documents: list[bytes] = []
    damaged: list[Damage] = []
    nulls = 0
    for block in jsonl_blocks(PATH, iter([(data, len(data))]), "text", skips=True):
        documents += [bytes(block.data[start:end]) for start, end in block.bounds.tolist()]  # type: ignore[arg-type]
        assert block.documents == len(block.bounds)
        nulls += block.nulls
        damaged += block.damaged
    return documents, nulls, damaged


def check(data: bytes) -> None:
    by_kernel = found(data)
    try:
        portable.is_missing = True
        by_python = found(data)
    finally:
        portable.is_missing = False
    assert by_kernel == by_python


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)
lines = st.builds(
    lambda others, text, is_ascii, indent: json.dumps(
        {**others, "text": text}, ensure_ascii=is_ascii, separators=(indent + ",", ":" + indent)
    ).encode("utf-8", "surrogatepass"),
    st.dictionaries(st.text(max_size=4), values, max_size=3),
    st.text(max_size=30) | values,
    st.booleans(),
    st.sampled_from(["", " "]),
)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_odd_lines(ending: bytes) -> None:
    check(ending.join(ODD))
    for line in ODD:
        check(b'{"text": "before"}' + ending + line + ending + b'{"text": "after"}')


@settings(max_examples=60, deadline=None)
@given(several=st.lists(lines | st.sampled_from(ODD), max_size=5))
def test_lines(several: list[bytes]) -> None:
    check(b"\n".join(several))


@settings(max_examples=100, deadline=None)
@given(line=lines, place=st.integers(0, 200), byte=st.binary(max_size=2), cut=st.integers(0, 2))
@example(line=b'{"text": "a"}', place=12, byte=b"", cut=1)
def test_damaged_lines(line: bytes, place: int, byte: bytes, cut: int) -> None:
    place = min(place, len(line))
    check(line[:place] + byte + line[place + cut :])


def test_the_kernel_reads_usual_lines() -> None:
    data = (
        b'{"id": 7, "text": "a\\u00e9\xc3\xa9", "meta": {"score": 0.98, "tags": ["x", null]}}\n' * 3
    )
    read = portable.read_json_lines(data, b"text")
    assert len(read.refused) == 0
    assert read.data == "aéé".encode() * 3
    assert (read.ends.tolist(), read.lines) == ([5, 10, 15], 3)
