"""The characters that a byte range touches, against a check of each character."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from toksmith._base.text import characters, utf8

ANY = st.text(st.characters()) | st.text("aé€😀\ud83d\ude00") | st.binary() | st.text("ab")


def sizes_of(text: str | bytes) -> list[tuple[int, int]]:
    """How many bytes, and characters of the string, stand for each character."""
    if isinstance(text, bytes):
        decoded = text.decode("utf-8", "surrogateescape")
        return [(1 if c >= "\ud800" and c < "\ue000" else len(c.encode()), 1) for c in decoded]
    sizes = []
    rest = text
    while rest:
        width = 2 if "\ud800" <= rest[0] < "\udc00" and "\udc00" <= rest[1:2] < "\ue000" else 1
        sizes.append((len(utf8(rest[:width])), width))
        rest = rest[width:]
    return sizes


@given(ANY, st.data())
def test_characters_that_bytes_touch(text: str | bytes, data: st.DataObject) -> None:
    owners = [
        (start, start + width)
        for start, (size, width) in zip(
            np.cumsum([0, *(width for _, width in sizes_of(text))]).tolist(),
            sizes_of(text),
            strict=False,
        )
        for _ in range(size)
    ]
    total = len(utf8(text))
    assert len(owners) == total
    places = st.integers(0, total)
    bounds = data.draw(st.lists(st.tuples(places, places).map(sorted), max_size=8))
    string, spans = characters(text, np.array(bounds, np.int64).reshape(-1, 2))
    after = owners[-1][1] if owners else 0
    expected = []
    for start, end in bounds:
        first = owners[start][0] if start < total else after
        expected.append([first, first if start == end else owners[end - 1][1]])
    assert spans.tolist() == expected
    assert len(string) == (len(text) if isinstance(text, str) else after)
