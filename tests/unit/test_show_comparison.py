"""Views of a comparison: nothing is hidden, executed, or loaded from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import toksmith
from toksmith.measure import Comparison
from toksmith.show.comparison import comparison_view, side_by_side
from toksmith.show.terminal import render_plain

EVIL = "<script>alert('x')</script><img src=x onerror=alert(1)>"
TEXT = "</style></title><b>&amp; low\x1b[31m \u202eevil\x00\n" + EVIL


class Elements(HTMLParser):
    """Notes all elements, what they ask for, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.asked: list[str] = []
        self.handlers: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.asked += [
            f"{tag} {name}={value}"
            for name, value in attrs
            if name in {"src", "href", "srcset", "data", "action", "xlink:href", "background"}
        ]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    low = toksmith.train(texts=[TEXT * 3], vocab_size=270, special_tokens=["<i>"])
    pieces = toksmith.train(texts=["low lower lowest"] * 9, model="wordpiece", vocab_size=20)
    return toksmith.compare(
        {EVIL: low, "pieces": pieces},
        texts={EVIL: TEXT, "עברית": "שלום עולם", "a" * 200: ["low", "lower"]},
        speed=False,
    )


@pytest.mark.parametrize("view", ["page", "notebook"])
def test_html_is_safe(hostile: Comparison, view: str) -> None:
    written = hostile.to_html() if view == "page" else hostile._repr_html_()
    found = Elements(written)
    assert found.tags.isdisjoint({"script", "img", "link", "iframe", "b>", "object", "i>"})
    assert (found.asked, found.handlers) == ([], [])
    assert "alert('x')" in found.text
    assert not re.search(r"url\(|@import|javascript:", written)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", written)


def test_report_holds_everything(hostile: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    hostile.to_html(path)
    page = path.read_text("utf-8")
    assert page == hostile.to_html()
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    found = Elements(page)
    assert {"svg", "table", "details", "figure"} <= found.tags
    for name in ("fertility", "Rényi efficiency", "Gini across texts", "2306.16842", "עברית"):
        assert name in found.text
    # A row of the table has the figures that the comparison holds.
    (total,) = [each for each in hostile.total if each.tokenizer == "pieces"]
    row = re.search(r">tokens&nbsp;<span [^>]*>↓</span></th>(.*?)</tr>", page)
    assert row is not None
    assert f"{total.tokens:,}</td>" in row[1]


def test_one_text_shows_its_tokens() -> None:
    low = toksmith.train(texts=["low lower lowest"], vocab_size=258)
    plain_bytes = toksmith.train(texts=["low"], vocab_size=256)
    found = toksmith.compare({"low": low, "bytes": plain_bytes}, texts="new low", speed=False)
    shown = str(found)
    assert shown.splitlines()[0].split() == ["low:", "5", "tokens", "bytes:", "7", "tokens"]
    assert shown.splitlines()[1].split() == ["n│e│w│·│⟦low⟧", "n│e│w│·│⟦l⟧│⟦o⟧│⟦w⟧"]
    assert ["tokens", "↓", "5", "7"] in [line.split() for line in shown.splitlines()]
    assert found._repr_html_().count("ts-same") >= 8


def test_narrow_terminals_show_one_below_the_other() -> None:
    low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
    plain_bytes = toksmith.train(texts=["low"], vocab_size=256)
    encodings = {"low": low.encoding("low\nlow"), "bytes": plain_bytes.encoding("low\nlow")}
    shown = render_plain(side_by_side(encodings, colour=False, width=60), 60)
    assert shown.splitlines() == [
        "low: 3 tokens",
        "⟦low⟧│↵",
        "⟦low⟧",
        "",
        "bytes: 7 tokens",
        "⟦l⟧│⟦o⟧│⟦w⟧│↵",
        "⟦l⟧│⟦o⟧│⟦w⟧",
    ]
    wide = render_plain(side_by_side(encodings, colour=False, width=100), 100)
    assert [line.split() for line in wide.splitlines()[1:]] == [
        ["⟦low⟧│↵", "⟦l⟧│⟦o⟧│⟦w⟧│↵"],
        ["⟦low⟧", "⟦l⟧│⟦o⟧│⟦w⟧"],
    ]


def test_terminal_is_safe(hostile: Comparison) -> None:
    shown = render_plain(comparison_view(hostile, colour=False), 120)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", shown)
    assert "Gini across texts" in shown
    assert "all texts" in shown
