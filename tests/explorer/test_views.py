"""The page about one text, and the views of terminals and notebooks, in a real browser."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

import toksmith
from tests.explorer.browser import DESKTOP, PHONE, Browser, missing
from tests.explorer.test_browser import HOSTILE, TEXT, hostile_tokenizer
from tests.kits.bpe import HELLO_BPE
from toksmith.pipeline import Pipeline
from toksmith.show.audit import audit_view
from toksmith.show.diagram_choice import choose_diagrams
from toksmith.show.diagram_terminal import diagram_view
from toksmith.show.terminal import encoding_table, encoding_text
from toksmith.show.text_page import text_page
from toksmith.splitters import splitter
from toksmith.tokenizer import Tokenizer

pytestmark = pytest.mark.skipif(missing() != "", reason=missing() or "all is here")

HELLO = Tokenizer(Pipeline(HELLO_BPE, splitter("gpt2")))
KINDS = {
    "merges": {"vocab_size": 390, "split": "o200k", "special_tokens": ["<|end|>"]},
    "pieces": {"model": "sentencepiece-bpe", "vocab_size": 160, "character_coverage": 1.0},
    "lattice": {"model": "unigram", "vocab_size": 88},
    "words": {"model": "wordpiece", "vocab_size": 150},
}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser("", tmp_path_factory.mktemp("profile"))
    yield browser
    browser.driver.quit()


@pytest.fixture
def browser(chromium: Browser, tmp_path: Path) -> Iterator[Browser]:
    """The browser, on a folder; whatever a page holds, it asks for nothing, and nothing fails."""
    chromium.size(DESKTOP)
    chromium.requests()
    chromium.complaints()
    chromium.address = tmp_path.as_uri()
    yield chromium
    fields = chromium.requests()
    assert fields
    assert [url for url in fields if not url.startswith((chromium.address, "data:"))] == []
    assert chromium.complaints() == []
    assert chromium.run("return window.hacked") is None


def show(browser: Browser, tmp_path: Path, html: str, scheme: str = "light") -> None:
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    (tmp_path / "page.html").write_text(html, "utf-8")
    browser.open("/page.html")


def page_of(tok: Tokenizer, text: str, title: str = "tokenizer") -> str:
    encoding = tok.encoding(text, special="encode")
    drawn, are_all = choose_diagrams(tok, text, encoding, "encode")
    return text_page(encoding, drawn, title=title, all_drawn=are_all)


def states(browser: Browser) -> list[int]:
    names = ("later", "used", "now")
    return [len(browser.all(f".ts-figure .ts-{name}")) for name in names]


def test_stepping_through_a_tree(browser: Browser, tmp_path: Path) -> None:
    show(browser, tmp_path, page_of(HELLO, "Hello"))
    assert browser.one("output").text == "H + ell → Hell, merge 2, step 3 of 3"
    back, on = browser.one('[data-go="back"]'), browser.one('[data-go="on"]')
    assert (back.is_enabled(), on.is_enabled()) == (True, False)
    boxes = "return [...document.querySelectorAll('.ts-box')].map(e => e.offsetLeft + e.offsetTop)"
    before = browser.run(boxes)
    back.click()
    assert browser.one("output").text == "e + ll → ell, merge 1, step 2 of 3"
    assert states(browser) == [1, 4, 1]
    assert not browser.all(".ts-later > .ts-box")[0].is_displayed()
    browser.keys("\ue012")  # the arrow to the left
    assert states(browser) == [2, 2, 1]
    browser.keys("\ue011")  # home
    assert browser.one("output").text == "5 symbols to begin with"
    assert states(browser) == [3, 0, 0]
    assert (back.is_enabled(), on.is_enabled()) == (False, True)
    on.click()
    browser.keys("\ue010")  # end
    assert states(browser) == [0, 6, 1]
    assert browser.run(boxes) == before  # nothing has moved


def test_keys_go_on_where_a_button_can_go_no_further(browser: Browser, tmp_path: Path) -> None:
    show(browser, tmp_path, page_of(HELLO, "Hello"))
    browser.one('[data-go="first"]').click()
    assert browser.one("output").text == "5 symbols to begin with"
    browser.keys("\ue014")  # the arrow to the right
    assert browser.one("output").text == "l + l → ll, merge 0, step 1 of 3"


def test_a_token_leads_to_its_tree(browser: Browser, tmp_path: Path) -> None:
    show(browser, tmp_path, page_of(HELLO, "Hello " + "Hell " * 3 + "ell ellx ll llx"))
    closed = browser.all("details:not([open])")
    assert closed
    token = browser.all("a.t")[-1]
    token.click()
    opened = browser.one("details:target")
    assert opened.get_attribute("open") is not None
    assert token.get_attribute("href").endswith("#" + opened.get_attribute("id"))
    ids = browser.one(".t i")
    assert ids.is_displayed()
    browser.one("label[for=ids]").click()
    assert not ids.is_displayed()


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_all_models(kind: str, browser: Browser, tmp_path: Path) -> None:
    tok = toksmith.train(texts=[TEXT * 5], **KINDS[kind])
    text = TEXT + "Unaffable <|end|> lowest_low"
    for scheme in ("light", "dark"):
        show(browser, tmp_path, page_of(tok, text, f"{kind} <b>"), scheme)
        assert browser.one("h1").text == f"{kind} <b>"
        assert len(browser.all(".t")) == len(tok.encode(text, special="encode"))
        assert browser.all("details .ts-diagram")
        browser.picture(f"inspect-{kind}-{scheme}")
    browser.size(PHONE)
    browser.picture(f"inspect-{kind}-phone")
    # What is wide scrolls in its own box, and the page does not.
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")


def test_a_hostile_text_does_no_harm(browser: Browser, tmp_path: Path) -> None:
    tok = hostile_tokenizer()
    show(browser, tmp_path, page_of(tok, "\n".join(HOSTILE), HOSTILE[0]))
    assert len(browser.all(".t")) == len(tok.encode("\n".join(HOSTILE), special="encode"))
    assert browser.all("main script, main img, main svg, main textarea") == []
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")
    browser.picture("inspect-hostile")


def test_notebooks_and_terminals(browser: Browser, tmp_path: Path) -> None:
    tok = toksmith.train(texts=[TEXT * 5], **KINDS["merges"])
    encoding = tok.encoding(TEXT + "<|end|>", special="encode")
    notebook = f"{encoding._repr_html_()}<hr>{tok.explain('lowest')._repr_html_()}"
    for scheme, ground in (("true", "#fff"), ("false", "#111")):
        body = f'<body data-jp-theme-light="{scheme}" style="background:{ground};color:#888">'
        show(browser, tmp_path, f"<!doctype html><meta charset=utf-8>{body}{notebook}")
        ink = browser.run("return getComputedStyle(document.querySelector('.ts')).color")
        assert (sum(map(int, ink[4:-1].split(","))) > 384) == (scheme == "false")
        browser.picture(f"notebook-{'light' if scheme == 'true' else 'dark'}")
    console = Console(
        record=True, width=100, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(encoding_text(encoding, width=100))
    console.print(encoding_table(encoding[:12]))
    console.print(diagram_view(tok.explain("lowest").diagrams[0]))
    console.print(audit_view(toksmith.audit(tok), examples=2))
    show(browser, tmp_path, console.export_html())
    assert "near-duplicates" in browser.one("pre").text
    browser.picture("terminal")
