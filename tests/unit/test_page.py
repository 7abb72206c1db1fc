"""The page of a text, and diagrams in the terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tests.kits.bpe import HELLO_BPE
from tests.kits.pipelines import MODELS, plain_sentencepiece
from tests.unit.test_diagram_html import HOSTILE, Page
from toksmith.framing import Framing
from toksmith.models import SentencePieceBPE
from toksmith.pipeline import Pipeline
from toksmith.show import diagram_choice
from toksmith.show.diagram_choice import choose_diagrams
from toksmith.show.diagram_terminal import diagram_view
from toksmith.show.text_page import text_page
from toksmith.splitters import splitter
from toksmith.tokenizer import Tokenizer
from toksmith.trace.diagrams import MergeTree

TOK = Tokenizer(Pipeline(HELLO_BPE, splitter("gpt2"), Framing.of({"<s>": 300})))


class TestPictures:
    def test_each_chunk_once_with_all_its_places(self) -> None:
        text = "Hello!Hello<s>ell"
        drawn, are_all = choose_diagrams(TOK, text, TOK.encoding(text, special="encode"), "encode")
        assert are_all
        assert [(p.diagram.text, p.tokens) for p in drawn] == [
            (b"Hello", ((0, 2), (3, 5))), (b"ell", ((6, 7),)),
        ]  # fmt: skip

    def test_the_template_is_stepped_over(self) -> None:
        tok = Tokenizer(
            Pipeline(HELLO_BPE, framing=Framing.of({"<s>": 300}).__class__(
                TOK.pipeline.framing.added_tokens, prefix=(300,)
            ))
        )  # fmt: skip
        drawn, _ = choose_diagrams(tok, "Hell", tok.encoding("Hell", add_special_tokens=True))
        assert [p.tokens for p in drawn] == [((1, 2),)]

    def test_long_texts_have_the_trees_of_their_tokens(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(diagram_choice, "LONGEST_TEXT", 8)
        drawn, are_all = choose_diagrams(TOK, "Hello Hell", TOK.encoding("Hello Hell"))
        assert are_all
        assert [(p.diagram.text, p.tokens) for p in drawn] == [(b"Hell", ((0, 1), (3, 4)))]

    def test_some_are_left_out(self) -> None:
        text = "Hello ell"
        drawn, are_all = choose_diagrams(TOK, text, TOK.encoding(text), most=1)
        assert (len(drawn), are_all) == (1, False)
        page = text_page(TOK.encoding(text), drawn, title="x", all_drawn=are_all)
        assert "Those of later stretches are left out." in page

    def test_a_text_without_chunks_falls_into_words(self) -> None:
        tok = Tokenizer(plain_sentencepiece(SentencePieceBPE))
        text = "low lower  low"
        drawn, _ = choose_diagrams(tok, text, tok.encoding(text))
        assert [p.diagram.text.decode() for p in drawn] == ["▁low", "▁lower"]
        assert [len(p.tokens) for p in drawn] == [2, 1]
        for picture in drawn:
            tree = picture.diagram
            assert isinstance(tree, MergeTree)
            assert [tree.nodes[root].token for root in tree.roots] == list(tree.tokens)
            assert [tree.at(tree.merges)] == [list(tree.roots)]


class TestPage:
    def page(self, text: str) -> str:
        encoding = TOK.encoding(text, special="encode")
        drawn, are_all = choose_diagrams(TOK, text, encoding, "encode")
        return text_page(encoding, drawn, title="<b>my tokenizer</b>", all_drawn=are_all)

    def test_the_page_loads_nothing_from_outside(self) -> None:
        page = self.page("Hello<s>" + HOSTILE)
        assert "default-src 'none'" in page
        assert not re.search(r"(?:src|href|url|@import)\s*[=(]\s*[\"']?(?!#)[\w/]", page)
        assert page.count("<script>") == 1
        assert "alert(1)" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)

    def test_tokens_ids_and_links(self) -> None:
        page = self.page("Hello")
        assert '<a href="#d1" class="t ts-fill ts-c0" title="id 258, characters 0–4' in page
        assert '<span class="ts-token">Hell</span><i>258</i></a>' in page
        assert '<details id="d1" open>' in page
        assert "<b>2</b> tokens · <b>5</b> characters · <b>5</b> bytes" in page
        assert "&lt;b&gt;my tokenizer&lt;/b&gt;" in page
        assert "<li><b>l</b> + <b>l</b> → <b>ll</b>, merge 0, step 1 of 3</li>" in page

    def test_it_is_well_formed_whatever_the_text(self) -> None:
        page = self.page(f"{HOSTILE}\n\t Hello <s>").replace("<br>", "")
        body = page[page.index("<main>") : page.index("</main>")]
        parsed = Page(re.sub("<input[^>]*>", "", body) + "</main>")
        assert "<E2>" in parsed.text
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", parsed.text)

    def test_nothing(self) -> None:
        assert "<b>0</b> tokens" in self.page("")

    def test_limit(self) -> None:
        page = text_page(TOK.encoding("abcdef"), title="x", limit=2)
        assert page.count('class="t ') == 2
        assert "… and 4 more tokens" in page
        assert "<script" not in page


def shown(kind: str, text: str) -> list[str]:
    (drawn,) = Tokenizer(MODELS[kind]).explain(text).diagrams
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(diagram_view(drawn, colour=False))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return [line.rstrip() for line in lines]


class TestTerminal:
    def test_merges(self) -> None:
        assert shown("sentencepiece-bpe", "abclo") == [
            "ab  id 18  score -6, step 2",
            "├── a",
            "└── b",
            "c  id 5",
            "lo  id 14  score -1, step 1",
            "├── l",
            "└── o",
            "abc  score -5, step 3, taken apart again",
        ]

    def test_lattice(self) -> None:
        assert shown("unigram", "low") == [
            "low",
            "└── best     -2  low -2",
            "    second  -12  lo -1  w -11",
            "    others       l -10.5  o -10.75",
        ]

    def test_matches(self) -> None:
        assert shown("wordpiece", "lowerx") == [
            "lowerx",
            "├── low  id 1  not lowerx, lower, lowe",
            "├── ##er  id 4  not ##erx",
            "├── x  is unknown",
            "└── unknown as a whole: nothing fits",
        ]
