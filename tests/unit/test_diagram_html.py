"""Diagrams as HTML: every symbol and state is there, and everything is escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.kits.bpe import HELLO_BPE
from tests.kits.pipelines import MODELS
from toksmith.models import Unigram, WordPiece
from toksmith.pipeline import Pipeline
from toksmith.show.diagram_html import (
    diagram_html,
    diagrams_html,
    lattice_html,
    step_html,
    tree_html,
)
from toksmith.splitters import splitter
from toksmith.tokenizer import Tokenizer
from toksmith.trace.diagrams import MergeTree

HOSTILE = "<script>alert(1)</script>\"'&\u202e\x1b[1m\x00é"


class Page(HTMLParser):
    """The boxes of a fragment: the text of each, its classes and title."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.names += (dict(attrs).get("class") or "").split()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hello() -> MergeTree:
    (tree,) = Tokenizer(Pipeline(HELLO_BPE)).explain("Hello").diagrams
    assert isinstance(tree, MergeTree)
    return tree


def test_a_tree_names_every_symbol_merge_and_id() -> None:
    page = Page(tree_html(hello()))
    assert page.text == "Hellllmerge 0ellmerge 1Hellmerge 2id 258ooid 111"
    assert page.names.count("ts-node") == 8
    assert page.names.count("ts-fill") == 2
    assert {"ts-later", "ts-now"}.isdisjoint(page.names)


@pytest.mark.parametrize(
    ("step", "later", "used", "now"), [(0, 3, 0, 0), (1, 2, 2, 1), (2, 1, 4, 1), (3, 0, 6, 1)]
)
def test_stepping_moves_nothing(step: int, later: int, used: int, now: int) -> None:
    page = Page(tree_html(hello(), step))
    assert [page.names.count(f"ts-{name}") for name in ("later", "used", "now")] == [
        later, used, now,
    ]  # fmt: skip
    assert page.text == Page(tree_html(hello())).text


def test_a_step_in_words() -> None:
    assert step_html(hello(), 0) == "5 symbols to begin with"
    assert step_html(hello(), 2) == "<b>e</b> + <b>ll</b> → <b>ell</b>, merge 1, step 2 of 3"


def test_a_piece_that_is_taken_apart_is_marked() -> None:
    (tree,) = Tokenizer(MODELS["sentencepiece-bpe"]).explain("abc").diagrams
    assert Page(diagram_html(tree)).names.count("ts-apart") == 1


def test_a_lattice_has_the_two_ways_and_all_others() -> None:
    (lattice,) = Tokenizer(MODELS["unigram"]).explain("low").diagrams
    html = lattice_html(lattice)
    assert re.sub("<[^>]+>", " ", html).split() == [
        "l", "o", "w", "best", "−2", "second", "−12", "others",
        "low", "−2", "lo", "−1", "w", "−11", "l", "−10.5", "o", "−10.75",
    ]  # fmt: skip
    assert 'style="grid-row:2;grid-column:2/5"' in html
    assert Page(html).names.count("ts-second") == 2


def test_matches_show_candidates_that_are_too_long() -> None:
    tok = Tokenizer(MODELS["wordpiece"])
    page = Page(diagram_html(tok.explain("lower").diagrams[0]))
    assert page.text == "lowerplace 1lowerlowelowid 1place 2##erid 4"
    assert page.names.count("ts-tried") == 2
    unknown = Page(diagram_html(tok.explain("lowx").diagrams[0]))
    assert unknown.text.endswith("The whole is unknown: no token fits there.")


def test_many_tries_are_cut_short() -> None:
    tok = Tokenizer(Pipeline(WordPiece((b"[UNK]", b"a"), 0)))
    page = Page(diagram_html(tok.explain("a" + "b" * 40).diagrams[0]))
    assert "… 32 more …" in page.text


def test_hostile_text_is_text() -> None:
    pieces = tuple(sorted({character.encode() for character in HOSTILE}))
    scores = [-1.0] * (len(pieces) + 1)
    unigram = Unigram((b"<unk>", *pieces), scores, [2, *(1 for _ in pieces)])
    words = WordPiece((b"[UNK]", *pieces, *(b"##" + piece for piece in pieces)), 0)
    for model in (HELLO_BPE, unigram, words):
        (drawn,) = Tokenizer(Pipeline(model)).explain(HOSTILE).diagrams
        page = Page(diagram_html(drawn))
        assert set(page.tags) <= {"div", "span", "small", "p", "b", "bdi"}
        assert page.attributes <= {"class", "style", "title", "data-step", "dir"}
        assert "<U+202E>" in page.text or "<E2>" in page.text
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page.text)


def test_a_notebook_shows_each_chunk_once() -> None:
    tok = Tokenizer(Pipeline(HELLO_BPE, splitter("gpt2")))
    shown = tok.explain("Hello!Hello")._repr_html_()
    assert shown.startswith("<style>")
    assert shown.count('<div class="ts ts-diagram">') == 2
    assert "… and 1 more" in diagrams_html(tok.explain("Hello!").diagrams, most=1)
