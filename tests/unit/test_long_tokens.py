"""Views show the start of a token of a megabyte, and say how much is left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.kits.long_tokens import SIZE, long_tokens
from toksmith import Counts
from toksmith._base.visible import cut, hex_start, visible_start
from toksmith.segment.spans import Spans
from toksmith.show.cards import counts_card, merges_card
from toksmith.show.diagram_choice import choose_diagrams
from toksmith.show.notebook import encoding_html
from toksmith.show.segments import spans_html
from toksmith.show.terminal import encoding_table, encoding_text, render_plain
from toksmith.show.text_page import text_page

TOK, LONGEST = long_tokens()
TEXT = "x" * SIZE + " " * SIZE + "xx"
ENCODING = TOK.encoding(TEXT)

VIEWS: dict[str, Callable[[], str]] = {
    "notebook": lambda: encoding_html(ENCODING),
    "terminal": lambda: render_plain(encoding_text(ENCODING)),
    "table": lambda: render_plain(encoding_table(ENCODING)),
    "page": lambda: text_page(ENCODING, [], title="long"),
    "merges": lambda: str(TOK.merge_table[:20]),
    "merges of a notebook": lambda: str(merges_card(TOK.merge_table[15:])),
    "counts": lambda: str(counts_card(Counts.from_texts(["x" * SIZE]))),
    "pieces of a text": lambda: spans_html(Spans(TEXT, np.array([0, len(TEXT)]))),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_cut_long_tokens(name: str) -> None:
    shown = VIEWS[name]()
    assert " more byte" in shown.replace("\u00a0", " ")
    assert len(shown) < 100_000


def test_long_tokens_have_no_diagram() -> None:
    drawn, are_all = choose_diagrams(TOK, TEXT, ENCODING)
    assert [placed.diagram.text for placed in drawn] == [b"xx"]
    assert not are_all


def test_cut() -> None:
    assert cut("aéé".encode(), 4) == ("aé".encode(), "… 2 more bytes")
    assert cut(b"\x80" * 9, 5) == (b"\x80" * 2, "… 7 more bytes")
    assert cut(b"low", 0) == (b"", "… 3 more bytes")
    assert visible_start(b"low low", 4) == "low·… 3 more bytes"
    assert hex_start(b"\x00\xff", 1) == "00 … 1 more byte"
