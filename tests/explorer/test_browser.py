"""The explorer as a person uses it, in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

import toksmith
from tests.explorer.browser import DESKTOP, PHONE, Browser, missing, running
from tests.kits.bpe import BYTES
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer

pytestmark = pytest.mark.skipif(missing() != "", reason=missing() or "all is here")

TEXT = (
    "low lower lowest newest widest wider\nThe quick brown fox jumps over the lazy dog.\n"
    "만나서 반가워요 東京特許許可局 مرحبا بالعالم naïve 👩‍👩‍👧‍👦 1234 def f(x): return x\n"
)
HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=2>",
    '"><svg onload=window.hacked=3>',
    "'onpointerover='window.hacked=4'",
    "</span></div></textarea><h1>",
    "\u202eesrever\u202c",
    "\u2066\u2069\u200f",
    "\x00\x07\x1b[31m\x7f",
    "&lt;b&gt;&amp;",
    "javascript:alert(1)",
    "`${window.hacked=5}`",
    "\ufeff\u200b\u200d",
    "A" * 3000,
    "\u0301" * 40,
    "﷽",
]


def hostile_tokenizer() -> Tokenizer:
    """Return a tokenizer with hostile tokens, special ones and others."""
    tokens = [token.encode() for token in HOSTILE]
    vocab = (*BYTES, *tokens)
    special = {f"<script>{token}": len(vocab) + i for i, token in enumerate(HOSTILE)}
    return Tokenizer(
        Pipeline(BPE(vocab, [], whole_chunk_first=True), None, framing=Framing.of(special))
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explorer")
    (folder / "small.txt").write_text(TEXT * 30, "utf-8")
    (folder / "texts").mkdir()
    (folder / "<b>odd & name.txt").write_text("low lower lowest " * 9)
    trained: dict[str, dict[str, Any]] = {
        "small": {"vocab_size": 330},
        "wide": {"vocab_size": 390, "split": "o200k", "special_tokens": ["<|end|>"]},
        "pieces": {"model": "sentencepiece-bpe", "vocab_size": 160, "character_coverage": 1.0},
        "lattice": {"model": "unigram", "vocab_size": 88},
        "words": {"model": "wordpiece", "vocab_size": 150},
    }
    for name, options in trained.items():
        tok = toksmith.train(texts=[TEXT * 5], **options)
        tok.save(folder / (f"{name}.model" if name == "pieces" else f"{name}.json"))
    hostile_tokenizer().save(folder / "hostile.json", format="huggingface")
    return folder


@pytest.fixture(scope="session")
def explorer(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    names = [
        "small.json",
        "wide.json",
        "pieces.model",
        "lattice.json",
        "words.json",
        "hostile.json",
    ]
    with running(*names, folder=folder) as address:
        browser = Browser(address, tmp_path_factory.mktemp("profile"))
        try:
            yield browser
        finally:
            browser.driver.quit()


@pytest.fixture
def browser(explorer: Browser) -> Iterator[Browser]:
    """The browser; whatever a test does, nothing is asked of others, and nothing goes wrong."""
    explorer.size(DESKTOP)
    explorer.requests()
    explorer.complaints()
    yield explorer
    fields = explorer.requests()
    assert fields
    ours = (explorer.address, "data:", f"blob:{explorer.address}")
    assert [url for url in fields if not url.startswith(ours)] == []
    refusals = ("the server responded with a status of 400",)
    assert [c for c in explorer.complaints() if not any(each in c for each in refusals)] == []
    assert explorer.run("return window.hacked") is None


def total(browser: Browser, panel: int = 0) -> str:
    counts = browser.texts(".panel .count")
    return counts[panel] if len(counts) > panel else ""


def shows(browser: Browser, panel: int, tokens: list[str]) -> None:
    """Wait until a panel shows these tokens."""
    selector = f".panel:nth-child({panel + 1}) .t"
    browser.until(lambda: browser.texts(selector) == tokens, f"the tokens {tokens}")


def test_typing_shows_tokens_at_once(browser: Browser) -> None:
    browser.open(t="small.json", text="")
    field = browser.one("#text")
    field.click()
    field.send_keys("low lowest")
    tok = toksmith.train(texts=[TEXT * 5], vocab_size=330)
    encoding = tok.encoding("low lowest")
    shows(browser, 0, [token.decode().replace(" ", "·") for token in encoding.tokens])
    ids = browser.run("return [...document.querySelectorAll('.t')].map(t => t.dataset.id)")
    assert ids == [str(i) for i in encoding.ids]
    assert total(browser) == str(len(encoding))
    assert browser.one("#size").text == "10 characters · 10 bytes"


def test_labels_of_bytes_are_not_mirrored_in_a_line_from_right_to_left(browser: Browser) -> None:
    browser.open(t="pieces.model", text="مرحبا\u200b")
    browser.until(lambda: browser.all(".panel .tokens bdi"), "a label")
    labels = browser.run(
        "return [...document.querySelectorAll('.panel .tokens bdi')].map(label => {"
        " const left = place => { const range = document.createRange();"
        "  range.setStart(label.firstChild, place); range.setEnd(label.firstChild, place + 1);"
        "  return range.getBoundingClientRect().left; };"
        " return [label.innerText, left(0) < left(1), left(6) < left(7)]; })"
    )
    assert labels == [["<U+200B>", True, True]]


def test_pointing_links_panels_and_names_the_id(browser: Browser) -> None:
    browser.open(t=["small.json", "words.json"], text="lowest newest")
    browser.until(lambda: len(browser.all(".panel")) == 2 and browser.all(".t"), "two panels")
    first, second = browser.all(".panel")
    token = first.find_elements("css selector", ".t")[0]
    browser.point_at(token)
    assert browser.texts(".panel:first-child .lit") == [token.text]
    assert second.find_elements("css selector", ".t.touched")
    said = first.find_element("css selector", "footer").text
    assert said.startswith("1 of")
    assert said.endswith(f"id {token.get_attribute('data-id')}")
    tokens = second.find_elements("css selector", ".t")
    browser.point_at(tokens[-1])
    assert "lit" in tokens[-1].get_attribute("class")
    assert "lit" not in token.get_attribute("class")


def test_differing_spans_are_marked(browser: Browser) -> None:
    browser.open(t=["small.json", "bytes"], text="a low")
    browser.until(lambda: browser.all(".t"), "tokens")
    assert browser.texts(".panel:first-child .t.differs") == ["·low"]
    assert browser.texts(".panel:last-child .t.differs") == ["·", "l", "o", "w"]
    assert "1 differ" in browser.one(".panel:first-child .stats").text


def test_clicking_a_token_and_stepping_through_its_merges(browser: Browser) -> None:
    browser.open(t="small.json", text="the lowest")
    browser.until(lambda: browser.all(".t"), "tokens")
    tokens = browser.all(".t")
    longest = max(tokens, key=lambda token: len(token.text))
    name = longest.text
    longest.click()
    stepper = browser.one("#details .ts-figure")
    steps = len(browser.all("#details .ts-figure ol > li")) - 1
    assert steps >= 2
    assert name.replace("·", "") in browser.one(".bigtoken").text
    assert browser.one(".facts").text.startswith("id")
    hidden = [len(browser.all("#details .ts-later"))]
    for _ in range(steps):
        browser.keys("\ue012")  # left
        hidden.append(len(browser.all("#details .ts-later")))
    assert hidden == sorted(set(hidden))
    assert stepper.get_attribute("data-at") == "0"
    assert "to begin with" in browser.one("#details output").text
    browser.one("[data-go=on]").click()
    assert "step 1 of" in browser.one("#details output").text
    assert len(browser.all("#details .ts-now")) == 1
    browser.keys("\ue00c")  # escape
    assert not browser.one("#details").is_displayed()


@pytest.mark.parametrize(("name", "drawn"), [("lattice", ".ts-grid"), ("words", ".ts-tried")])
def test_lattices_and_matches(browser: Browser, name: str, drawn: str) -> None:
    browser.open(t=f"{name}.json", text="jumps lowest")
    browser.one(".t").click()
    assert browser.one(f"#details {drawn}")
    assert "in the text" in browser.one(".origin h3").text


def test_by_keys_alone(browser: Browser) -> None:
    browser.open(t="small.json", text="low lower")
    browser.until(lambda: browser.all(".t"), "tokens")
    for _ in range(40):
        browser.keys("\ue004")  # tab
        if "tokens" in (browser.driver.switch_to.active_element.get_attribute("class") or ""):
            break
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.run(outline) == "solid"
    browser.keys("\ue014", "\ue014", "\ue007")  # right, right, enter
    browser.one("#details .facts")
    assert browser.texts(".t.lit") == browser.texts(".t.picked") == [browser.texts(".t")[1]]
    browser.keys("\ue00c")
    assert "tokens" in browser.driver.switch_to.active_element.get_attribute("class")


def test_link_carries_the_state(browser: Browser) -> None:
    browser.open(t=["wide.json", "pieces.model"], text="x")
    browser.until(lambda: browser.all(".t"), "tokens")
    browser.write("low <|end|> 東京 &?#%")
    browser.one("#special").click()
    browser.until(lambda: "<|end|>" in browser.texts(".panel:first-child .t.special"), "it")
    before = browser.texts(".t")
    browser.driver.refresh()
    browser.until(lambda: browser.texts(".t") == before, "the same tokens")
    assert browser.run("return document.getElementById('text').value") == "low <|end|> 東京 &?#%"
    assert browser.texts(".panel h2") == ["wide.json", "pieces.model"]


def test_choosing_tokenizers(browser: Browser) -> None:
    browser.open(t="small.json", text="low")
    browser.until(lambda: browser.all(".t"), "tokens")
    add = (
        "const add = document.getElementById('add'); add.value = arguments[0];"
        "add.dispatchEvent(new Event('change'))"
    )
    for count, name in enumerate(["wide.json", "words.json", "bytes"], 2):
        browser.run(add, name)
        browser.until(lambda count=count: len(browser.all(".panel")) == count, "one more")
    assert not browser.one("#add").is_enabled()
    browser.one(".chip button").click()
    browser.until(lambda: len(browser.all(".panel")) == 3, "one less")
    assert browser.texts(".panel h2") == ["wide.json", "words.json", "bytes"]


def test_opening_a_file(browser: Browser, folder: Path) -> None:
    browser.open(t="bytes", text="low")
    browser.until(lambda: browser.all(".t"), "tokens")
    browser.one("#open").send_keys(str(folder / "lattice.json"))
    browser.until(lambda: "lattice.json-2" in browser.texts(".panel h2"), "the opened one")
    browser.one("#open").send_keys(str(folder / "small.txt"))
    browser.until(lambda: "small.txt" in browser.one("#open-error").text, "a word about it")


def test_a_megabyte_stays_usable(browser: Browser) -> None:
    browser.open(t=["small.json", "words.json"], text="")
    browser.until(lambda: browser.all(".panel"), "panels")
    line = "The quick brown fox jumps over the lazy dog, 東京 and naïve 1234.\n"
    text = "".join(f"{i} {line}" for i in range(14_000))
    assert len(text) > 950_000
    started = time.monotonic()
    browser.write(text)
    browser.until(lambda: f"of {len(text):,}" in browser.one("#where").text, "the whole", 30)
    assert time.monotonic() - started < 30
    assert len(browser.all(".t")) < 12_000
    tok = toksmith.train(texts=[TEXT * 5], vocab_size=330)
    assert total(browser) == f"{tok.count(text):,}"
    started = time.monotonic()
    browser.one("#later").click()
    browser.until(lambda: not browser.one("#where").text.startswith("1–"), "the next part")
    browser.run(
        "const place = document.getElementById('place'); place.value = 500000;"
        "place.dispatchEvent(new Event('input'))"
    )
    browser.until(lambda: browser.one("#where").text.startswith(("499,", "500,")), "the middle")
    assert time.monotonic() - started < 30
    # It is kept out of the text area, also after a reload, and its tokens have their details.
    assert browser.run("return document.getElementById('text').value") == ""
    assert not browser.one("#text").is_displayed()
    assert browser.one("#file-name").text == "Text"
    where = browser.one("#where").text
    browser.driver.refresh()
    browser.until(lambda: browser.one("#where").text == where, "the same part")
    browser.until(lambda: browser.all(".t"), "tokens")
    browser.all(".t")[0].click()
    assert "in the text" in browser.one("#details .origin h3").text
    browser.one("#file-close").click()
    browser.until(lambda: total(browser) == "0", "no text")
    assert browser.one("#text").is_displayed()


def test_searching_a_vocabulary(browser: Browser) -> None:
    browser.open("vocabulary", t="wide.json")
    browser.until(lambda: browser.all("#spacer .row"), "rows")
    assert "390 tokens" in browser.one("#found").text

    def search(how: str, query: str) -> list[str]:
        before = browser.one("#found").get_attribute("data-round")
        browser.run(
            "document.getElementById('how').value = arguments[0];"
            "const q = document.getElementById('query'); q.value = arguments[1];"
            "q.dispatchEvent(new Event('input'))",
            how,
            query,
        )
        found = browser.one("#found")
        browser.until(lambda: found.get_attribute("data-round") != before, "an answer")
        return browser.texts("#spacer .row .w")

    assert all("low" in token for token in search("text", "low"))
    assert search("id", "97") == ["a"]
    assert search("bytes", "e6 9d b1") == [t for t in search("regex", "東") if "東" in t]
    assert search("regex", "^(low|wid)$")
    search("regex", "(")
    assert "regular expression is wrong" in browser.one("#found").text
    search("regex", "x")
    search("text", "")
    browser.run("document.getElementById('scroller').focus()")
    browser.keys("\ue010")  # end: the last row comes into view
    browser.until(lambda: "<|end|>" in browser.texts("#spacer .row .w"), "the last token")
    browser.keys("\ue007")
    browser.until(lambda: "special token" in browser.one("#details-body").text, "its details")
    assert "token=389" in browser.driver.current_url
    browser.driver.refresh()
    browser.until(lambda: "special token" in browser.one("#details-body").text, "them again")


def test_training_on_a_small_file(browser: Browser, folder: Path) -> None:
    browser.open("train")
    box = browser.one("#entries input[value='small.txt']")
    assert "<b>odd & name.txt" in browser.texts(".entry .name")
    box.click()
    assert "1 file" in browser.one("#picked").text
    size = browser.one("#size")
    size.clear()
    size.send_keys("300")
    browser.one("#start").click()
    browser.until(lambda: "Trained: bpe-300" in browser.one("#status").text, "the end", 60)
    assert browser.one("#result svg").is_displayed()
    assert len(browser.all("#merges li")) == 44
    browser.picture("train-desktop-light")
    path = browser.one("#path")
    path.clear()
    path.send_keys("texts/new.json")
    browser.one("#save").click()
    browser.until(lambda: "Saved" in browser.one("#note").text, "a word about it")
    browser.one("#save").click()
    browser.until(lambda: "exists already" in browser.one("#save-error").text, "the reason")
    saved = toksmith.load(folder / "texts/new.json")
    assert saved.vocab_size == 300
    browser.one("#see").click()
    browser.until(lambda: browser.texts(".panel h2") == ["bpe-300"] and browser.all(".t"), "it")
    browser.write("lowest")
    shows(browser, 0, [token.decode() for token in saved.encoding("lowest").tokens])


def test_training_pasted_text_with_options_and_mistakes(browser: Browser) -> None:
    browser.open("train", model="sentencepiece-bpe", size="9")
    browser.one("#entries input")
    browser.one("input[value=text] + span").click()
    browser.one("#pasted").send_keys("low lower lowest newest")
    browser.one("#more summary").click()
    browser.one("[name=character_coverage]").send_keys("1.0")
    browser.one("#start").click()
    browser.until(lambda: "failed" in browser.one("#status").text, "the end", 60)
    assert "vocab_size" in browser.one("#stage").text
    size = browser.one("#size")
    size.clear()
    size.send_keys("16")
    browser.one("#start").click()
    browser.until(lambda: "sentencepiece-bpe-16" in browser.one("#status").text, "the end", 60)


def test_comparing(browser: Browser) -> None:
    browser.open("compare", t=["small.json", "words.json"], file="small.txt")
    browser.until(lambda: "1 file" in browser.one("#picked").text, "the file of the link")
    assert len(browser.all("#tokenizers input:checked")) == 2
    browser.one("#start").click()
    browser.until(lambda: browser.one("#status").text == "Compared", "the end", 60)
    assert "bytes a token" in browser.one("#report table").text
    assert browser.all("#report svg")
    assert "small.json" in browser.one("#report h1").text
    for name, size, theme in (("desktop-light", DESKTOP, "light"), ("phone-dark", PHONE, "dark")):
        browser.size(size)
        browser.run(
            "document.documentElement.dataset.theme = arguments[0];"
            "document.documentElement.className = `body--${arguments[0]}`;"
            "scrollTo(0, document.getElementById('running').offsetTop - 70)",
            theme,
        )
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        browser.picture(f"compare-{name}")
    browser.one("#keep [data-form=csv]").click()


@pytest.mark.parametrize("page", ["text", "vocabulary"])
def test_hostile_texts_do_no_harm(browser: Browser, page: str) -> None:
    text = "".join(f"<script>{token}" for token in HOSTILE)
    if page == "text":
        browser.open(t=["hostile.json", "wide.json"], text=text, special="1")
        browser.until(lambda: len(browser.all(".panel")) == 2 and browser.all(".t"), "tokens")
        browser.write(f"{text}<script>window.hacked=7</script>")
        browser.until(lambda: "window.hacked=7" in browser.texts(".panel .tokens")[0], "all of it")
        shown = browser.texts(".panel:first-child .t.special")
        assert "<script><script>window.hacked=1</script>" in shown
        assert "<script><U+202E>esrever<U+202C>" in shown
        for token in browser.all(".panel:first-child .t")[:3]:
            browser.point_at(token)
        browser.run("document.querySelector('.t').click()")
    else:
        browser.open("vocabulary", t="hostile.json", sort="longest")
        browser.until(lambda: browser.all("#spacer .row .w"), "rows")
        browser.one("#spacer .row").click()
    browser.one("#details .facts")
    raw = browser.run("return document.body.textContent")
    assert not any(mark in raw.replace(text, "") for mark in "\u202e\u2066\u200f\x07\x1b\u200b")
    inside = ".panels script, .panels img, .panels h1, .panels svg, #spacer script, #spacer img"
    assert browser.all(f"{inside}, #spacer svg, #details-body script, #details-body img") == []
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("device", "size"), [("desktop", DESKTOP), ("phone", PHONE)])
def test_pages_have_their_pictures(
    browser: Browser, theme: str, device: str, size: tuple[int, int, int, bool]
) -> None:
    browser.size(size)
    pages = {
        "text": {"t": ["small.json", "lattice.json"], "text": TEXT},
        "vocabulary": {"t": "wide.json", "sort": "longest"},
        "train": {},
    }
    for name, query in pages.items():
        browser.open("" if name == "text" else name, **query, theme=theme)  # type: ignore[arg-type]
        browser.until(lambda: browser.all(".t, #spacer .row, #entries li"), "the page")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.run("return getComputedStyle(document.documentElement).colorScheme") == theme
        browser.picture(f"{name}-{device}-{theme}")
        tokens_of_rows = (
            "return [...document.querySelectorAll('.row .sym')].map(e => e.getClientRects().length)"
        )
        assert set(browser.run(tokens_of_rows)) <= {1}, "a token is broken into lines"
    browser.open(t="small.json", text="the lowest", theme=theme)
    browser.until(lambda: browser.all(".t"), "tokens")
    browser.all(".t")[-1].click()
    browser.one("#details .ts-figure")
    browser.picture(f"details-{device}-{theme}")


def test_dark_and_light(browser: Browser) -> None:
    browser.open()
    scheme = "return getComputedStyle(document.documentElement).colorScheme"
    before = browser.run(scheme)
    browser.one("#theme").click()
    after = browser.run(scheme)
    assert {before, after} == {"light", "dark"}
    browser.driver.refresh()
    assert browser.run(scheme) == after
    browser.run("localStorage.clear()")


MIXED = "مرحبا hello world\nनमस्ते 👋🏽🇰🇷 \ufffd"


def places(browser: Browser, selector: str) -> list[tuple[str, float, float]]:
    """Return the text, left end and top of the elements that fit."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(e => {"
        " const box = e.getBoundingClientRect(); return [e.textContent, box.left, box.top]; })"
    )
    return [(text, left, top) for text, left, top in browser.run(script, selector)]


@pytest.mark.parametrize("with_ids", [True, False], ids=["ids", "no ids"])
def test_right_to_left_text_runs_from_right_to_left(browser: Browser, with_ids: bool) -> None:
    browser.open(t="bytes", text="")
    browser.run("localStorage.setItem('ids', arguments[0])", "1" if with_ids else "0")
    browser.open(t="toksmith-small", text="مرحبا بالعالم one two three مرحبا\nhello")
    browser.until(lambda: browser.all(".t"), "tokens")
    lines = browser.run("return [...document.querySelectorAll('.tokens > div')].map(e => e.dir)")
    assert lines == ["rtl", "ltr"]
    lefts = {text: left for text, left, _ in places(browser, ".tokens > div:first-child .t")}
    assert lefts["·one"] < lefts["·two"] < lefts["·three"]
    whole = places(browser, ".tokens > div:first-child .t")
    assert whole[0][1] > lefts["·three"] > whole[-1][1]
    browser.run("localStorage.removeItem('ids')")


def test_arabic_letters_of_two_tokens_are_joined_without_ids(browser: Browser) -> None:
    browser.open(t="bytes", text="x")
    browser.until(lambda: browser.all(".t"), "tokens")
    whole, joined, apart = browser.run(
        "document.getElementById('panels').classList.remove('with-ids');"
        "const line = document.querySelector('.tokens > div'); line.dir = 'rtl';"
        "line.style.fontFamily = 'sans-serif';"
        "const width = html => { line.innerHTML = `<b style='font-weight:400'>${html}</b>`;"
        " return line.firstChild.getBoundingClientRect().width; };"
        "const token = text => `<span class='t c0'>${text}</span>`;"
        "return [width(token('السلام')), width(token('الس') + token('لام')),"
        " width('<bdi>الس</bdi><bdi>لام</bdi>')];"
    )
    assert abs(whole - joined) < 0.5
    assert abs(whole - apart) > 0.5


def test_characters_are_drawn_whole_over_the_tokens_that_share_them(browser: Browser) -> None:
    browser.open(t="toksmith-small", text="a 👋🏽🇰🇷 \ufffdb")
    browser.until(lambda: browser.all(".t"), "tokens")
    drawn = browser.texts(".whole .characters")
    assert drawn == ["👋🏽", "🇰🇷", "\ufffd"]
    for group in browser.run(
        "return [...document.querySelectorAll('.whole')].map(whole => {"
        " const above = whole.querySelector('.characters').getBoundingClientRect().bottom;"
        " return [above, ...[...whole.querySelectorAll('.t')].map(t => "
        "  [t.textContent, t.getBoundingClientRect().top, getComputedStyle(t).fontSize])]; })"
    ):
        above, *tokens = group
        assert len(tokens) > 1
        assert all(text[0] == "<" and top >= above for text, top, _ in tokens)
        assert {size for _, _, size in tokens} == {"11px"}


def test_ids_have_a_switch_that_is_remembered(browser: Browser) -> None:
    browser.open(t="small.json", text="low lower")
    browser.run("localStorage.removeItem('ids')")
    browser.driver.refresh()
    browser.until(lambda: browser.all(".t"), "tokens")
    shown = "return getComputedStyle(document.querySelector('.t'), '::after').content"
    first = browser.all(".t")[0].get_attribute("data-id")
    assert browser.run(shown) == f'"{first}"'
    browser.one("#ids").click()
    assert browser.run(shown) == "none"
    browser.driver.refresh()
    browser.until(lambda: browser.all(".t"), "tokens")
    assert browser.run(shown) == "none"
    browser.one("#ids").click()
    assert browser.run(shown) == f'"{first}"'


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_tokens_and_borders_of_fields(browser: Browser, theme: str) -> None:
    ground = "const rgb = c => c.match(/[\\d.]+/g).map(Number);"
    light = (
        "const light = c => rgb(c).slice(0, 3).map(v => v / 255).map("
        "v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4"
        ").reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);"
        "const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);"
        " return (x + 0.05) / (y + 0.05); };"
    )
    for page, fields in (
        ("", "select, textarea, button.quiet:not(.icon)"),
        ("vocabulary", "select, input"),
        ("train", "select, input[type=text], input[type=number], .files, textarea, .button.quiet"),
    ):
        browser.open(page, t="small.json", theme=theme)
        browser.until(lambda: browser.all(".t, #spacer .row, #entries li"), "the page")
        low = browser.run(
            f"{ground}{light} const card = getComputedStyle(document.querySelector('.card'));"
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetWidth > 1)"
            ".map(e => e.matches('.writing textarea') ? e.closest('.writing') : e)"
            ".map(e => [e.id || e.className, getComputedStyle(e).borderTopColor])"
            ".map(([name, edge]) => [name, ratio(edge, card.backgroundColor)])"
            ".filter(([name, found]) => found < 3)",
            fields,
        )
        assert low == [], page
    browser.open(t="small.json", text="low lower <|end|> مرحبا", theme=theme)
    browser.until(lambda: len(browser.all(".t")) > 4, "tokens")
    contrasts, fills = browser.run(
        f"{ground}{light} const styles = [...document.querySelectorAll('.t')].map("
        "e => getComputedStyle(e)); return [styles.map(s => ratio(s.color, s.backgroundColor)),"
        " styles.map(s => light(s.backgroundColor))]"
    )
    assert min(contrasts) > 6
    assert max(fills) < 0.2 if theme == "dark" else min(fills) > 0.3
    browser.run("document.getElementById('ids').checked || document.getElementById('ids').click()")
    boxes = browser.run(
        "return [...document.querySelectorAll('.tokens > div:first-child > .t')].map("
        "e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right])"
    )
    assert boxes[1][0] - boxes[0][1] >= 2
    browser.one("#ids").click()
    assert browser.run("return getComputedStyle(document.querySelector('.t')).boxShadow").endswith(
        "-2px 0px 0px 0px inset"
    )
    browser.one("#ids").click()


@pytest.mark.parametrize("size", [(1400, 900, 1, False), (420, 900, 1, True)], ids=["1400", "420"])
def test_a_token_and_its_tree_are_in_view(
    browser: Browser, size: tuple[int, int, int, bool]
) -> None:
    browser.size(size)
    browser.open(t="small.json", text="fox " * 150 + "the quick brown lowest newest")
    browser.until(lambda: len(browser.all(".t")) > 150, "tokens")
    browser.run("[...document.querySelectorAll('.t')].at(-1).click()")
    browser.one("#details .ts-chosen")
    token, sheet, header, tree, chosen, room = browser.run(
        "const box = s => { const b = document.querySelector(s).getBoundingClientRect();"
        " return [b.left, b.top, b.right, b.bottom]; };"
        "return [box('.t.picked'), box('#details'), box('.top'), box('.origin .ts-tree'),"
        " box('.ts-chosen'), box('.origin .ts-diagram')]"
    )
    assert header[3] <= token[1]
    assert token[3] <= sheet[1] or token[2] <= sheet[0]
    assert room[0] <= tree[0]
    assert tree[2] <= room[2]
    assert room[0] <= chosen[0] < chosen[2] <= room[2]
    ink = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    same = {browser.run(ink, each) for each in (".t.picked", ".bigtoken", ".ts-chosen")}
    assert len(same) == 1


def test_the_token_column_has_the_room(browser: Browser) -> None:
    for size, least in (((1400, 900, 1, False), 300), ((420, 900, 1, True), 180)):
        browser.size(size)
        browser.open("vocabulary", t="wide.json", sort="longest")
        browser.until(lambda: browser.all("#spacer .row .w"), "rows")
        width = "return document.querySelector('#spacer .row .w').clientWidth"
        assert browser.run(width) >= least
        heads, cells = (
            [place[1] for place in places(browser, f"{row} > span:is(.w, .r)")]
            for row in (".row.head", "#row-0")
        )
        assert heads == cells
    # The sheet of the details does not cover the row.
    browser.run("document.getElementById('row-9').click()")
    browser.one("#details .facts")
    browser.until(
        lambda: browser.run(
            "return document.getElementById('row-9').getBoundingClientRect().bottom <="
            " document.getElementById('details').getBoundingClientRect().top"
        ),
        "the row",
    )
    colours = {
        browser.run(
            "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor", each
        )
        for each in ("#row-9 .sym", ".bigtoken", ".ts-chosen")
    }
    assert len(colours) == 1
    browser.size((1400, 900, 1, False))
    browser.open("vocabulary", t="wide.json", token="380")
    browser.one("#details .facts")
    browser.until(lambda: browser.one("#row-380").get_attribute("aria-selected") == "true", "it")
    browser.until(lambda: browser.run(width) >= 300, "room beside the details")


def test_a_text_file_can_be_opened(browser: Browser, tmp_path: Path) -> None:
    browser.open(t="small.json", text="x")
    browser.until(lambda: browser.all(".t"), "tokens")
    (tmp_path / "poem.txt").write_text("low lower", "utf-8")
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG\0\0" * 50_000)
    (tmp_path / "large.txt").write_bytes("low مرحبا\n".encode() * 30_000 + b"\xff\xfe")
    browser.one("#text-file").send_keys(str(tmp_path / "poem.txt"))
    browser.until(lambda: "".join(browser.texts(".t")) == "low·lower", "its tokens")
    assert browser.run("return document.getElementById('text').value") == "low lower"
    browser.one("#text-file").send_keys(str(tmp_path / "picture.txt"))
    browser.until(lambda: "is not text" in browser.one("#text-error").text, "the reason")
    browser.one("#text-file").send_keys(str(tmp_path / "large.txt"))
    browser.until(lambda: browser.one("#file").is_displayed(), "the card")
    assert browser.one("#file-name").text == "large.txt"
    assert browser.one("#file-said").text.startswith("2 bytes are invalid UTF-8")
    browser.until(lambda: "of 300,002" in browser.one("#where").text, "the pager")
    assert browser.one("#text-error").text == ""
    assert "file=text-" in browser.driver.current_url


def test_a_large_text_can_be_pasted_or_dropped(browser: Browser) -> None:
    browser.open(t="small.json", text="ab")
    browser.until(lambda: browser.all(".t"), "tokens")
    is_prevented = browser.run(
        "const field = document.getElementById('text'); field.setSelectionRange(1, 1);"
        "const data = new DataTransfer(); data.setData('text/plain', 'low '.repeat(60_000));"
        "const given = {clipboardData: data, cancelable: true, bubbles: true};"
        "const event = new ClipboardEvent('paste', given);"
        "field.dispatchEvent(event); return event.defaultPrevented"
    )
    assert is_prevented
    browser.until(lambda: "of 240,002" in browser.one("#where").text, "the text")
    assert browser.one("#file-name").text == "Pasted text"
    assert browser.texts(".t")[0] == "a"
    browser.one("#file-close").click()
    browser.run(
        "const data = new DataTransfer(); data.items.add(new File(['low'], 'low.txt'));"
        "const given = {dataTransfer: data, cancelable: true, bubbles: true};"
        "document.getElementById('text').dispatchEvent(new DragEvent('drop', given))"
    )
    shows(browser, 0, ["low"])


def test_keys_are_listed(browser: Browser) -> None:
    browser.open(t="small.json", text="low")
    browser.until(lambda: browser.all(".t"), "tokens")
    browser.one("#text").send_keys("?")
    shows(browser, 0, ["low", "?"])
    assert not browser.one("#keys").is_displayed()
    browser.all(".t")[0].click()
    browser.one("#details .facts")
    browser.keys("?")
    assert browser.one("#keys").is_displayed()
    assert "closes the details" in browser.one("#keys").text
    browser.keys("\ue00c")  # escape closes the list only
    assert not browser.one("#keys").is_displayed()
    assert browser.one("#details").is_displayed()
    browser.one("#show-keys").click()
    browser.one("#keys button").click()
    assert not browser.one("#keys").is_displayed()


@pytest.mark.parametrize("width", [320, 360, 420])
def test_keys_are_listed_on_a_phone(browser: Browser, width: int) -> None:
    browser.size((width, 844, 2, True))
    browser.open(t="small.json", text="low")
    browser.until(lambda: browser.all(".t"), "tokens")
    right = "return document.querySelector('#theme').getBoundingClientRect().right"
    assert browser.run(right) <= width
    browser.picture(f"keys-{width}")
    browser.one("#show-keys").click()
    assert browser.one("#keys").is_displayed()
    browser.one("#keys button").click()


def test_a_missing_page_has_a_way_back(browser: Browser) -> None:
    browser.open("no/such/page")
    browser.complaints()  # Chromium reports the 404
    assert "no such page" in browser.one("h1").text
    browser.one("main a.button").click()
    browser.until(lambda: browser.all(".t"), "the page of a text")


def test_a_first_start_shows_the_built_in_tokenizer(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with running(folder=tmp_path) as address:
        browser = Browser(address, tmp_path_factory.mktemp("first"))
        try:
            browser.open()
            browser.until(lambda: browser.all(".t"), "tokens")
            assert browser.texts(".panel h2") == ["toksmith-small"]
            assert "toksmith explore gpt2" in browser.one("#welcome").text
            browser.picture("first-start")
            browser.one("#welcome-close").click()
            browser.open()
            browser.until(lambda: browser.all(".t"), "tokens")
            assert not browser.one("#welcome").is_displayed()
        finally:
            browser.driver.quit()


def test_errors_stand_below_their_fields(browser: Browser) -> None:
    for page in ("train", "compare"):
        browser.open(page, t="small.json")
        browser.one("#entries input")
        browser.one("#start").click()
        assert browser.one("#choice-error").text == "Choose a file first, or paste a text."
        last = browser.one("#upload-label").rect
        assert 0 < browser.one("#choice-error").rect["y"] - last["y"] < 80
        assert browser.one("#note").text == ""
        browser.one("#entries input[value='small.txt']").click()
        assert browser.one("#choice-error").text == ""
    browser.one("#tokenizers input:checked").click()
    browser.one("#start").click()
    assert browser.one("#tokenizers-error").text == "Choose a tokenizer first."


def test_the_form_is_the_same_after_a_reload(browser: Browser) -> None:
    browser.open("train")
    browser.one("#entries input[value='small.txt']").click()
    size = browser.one("#size")
    size.clear()
    size.send_keys("345\t")
    browser.one("#more summary").click()
    choose = (
        "const field = document.querySelector(`[name=${arguments[0]}]`);"
        "field.value = arguments[1]; field.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    browser.run(choose, "ties", "smallest-pair")
    browser.driver.refresh()
    browser.until(lambda: browser.one("#picked").text.startswith("1 file"), "the file")
    assert browser.one("#size").get_attribute("value") == "345"
    assert browser.run("return document.querySelector('[name=ties]').value") == "smallest-pair"
    assert browser.run("return document.querySelector('[name=split]').tagName") == "SELECT"
    # Another value than those of the list.
    browser.run(
        "const field = document.querySelector('[name=split]'); field.value = field.options["
        "field.options.length - 1].value; field.dispatchEvent(new Event('change'))"
    )
    field = browser.one("input[name=split]")
    assert field.get_attribute("placeholder") == "a regular expression"
    field.send_keys("a|b\t")
    browser.driver.refresh()
    field = browser.one("input[name=split]")
    assert field.get_attribute("value") == "a|b"


def test_a_comparison_can_be_read_and_copied(browser: Browser) -> None:
    browser.size((1400, 900, 1, False))
    names = ["small.json", "wide.json", "words.json", "lattice.json"]
    browser.open("compare", t=names, file=["small.txt", "<b>odd & name.txt"])
    browser.until(lambda: "2 files" in browser.one("#picked").text, "the files")
    browser.one("#start").click()
    browser.until(lambda: len(browser.all("#report h1 .ts-name")) == 4, "the end", 60)
    assert not browser.one("#form").is_displayed()
    assert "4 tokenizers · 2 files" in browser.one("#choice-said").text
    figures, rest = (
        browser.run(
            "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", s
        )
        for s in ("#figures", ".rest")
    )
    assert figures["right"] <= rest["left"]
    assert figures["top"] == rest["top"]
    # All columns are in sight, and stay there.
    cut = "const box = document.querySelector('#figures .ts-wide'); "
    assert browser.run(f"{cut}return box.scrollWidth - box.clientWidth") <= 1
    browser.run("scrollTo(0, 1500)")
    top = "return document.getElementById('figures').getBoundingClientRect().top"
    assert 50 <= browser.run(top) <= 60
    columns = places(browser, "#tokens details[open] .ts-column")
    assert len({left for _, left, _ in columns}) == len({at for _, _, at in columns}) == 2
    assert "fertility\u00a0↓" in browser.texts("#figures tbody th")
    arrow = browser.one("#figures tbody th span[role=img]")
    assert arrow.get_attribute("aria-label") in ("higher is better", "lower is better")
    browser.driver.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    for form, start in (("markdown", "| "), ("latex", "\\begin{tabular}")):
        browser.run("scrollTo(0, 0); document.getElementById('note').textContent = ''")
        browser.one(f"#keep [data-copy={form}]").click()
        browser.until(lambda: "copied" in browser.one("#note").text, "the copy")
        copied = browser.driver.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0], e => arguments[0](String(e)))"
        )
        assert start in copied
        assert "small.json" in copied.replace("\\", "")


def test_a_late_answer_about_an_older_comparison_is_left_out(browser: Browser) -> None:
    browser.open("compare", t=["small.json"], file="small.txt")
    browser.until(lambda: "1 file" in browser.one("#picked").text, "the file")
    browser.one("#start").click()
    browser.until(lambda: len(browser.all("#report h1 .ts-name")) == 1, "the end", 60)
    late = (
        "const ask = window.fetch; let isFirst = true;"
        "window.fetch = async (address, ...rest) => { const found = await ask(address, ...rest);"
        " if (isFirst && address === '/ask/comparing') { isFirst = false;"
        "  await new Promise(done => { window.let_go = done; });"
        "  setTimeout(() => { window.was_late = true; }, 50); }"
        " return found; };"
    )
    command = "Page.addScriptToEvaluateOnNewDocument"
    added = browser.driver.execute_cdp_cmd(command, {"source": late})
    browser.open("compare", t=["small.json", "wide.json"], file="small.txt")
    browser.until(lambda: "1 file" in browser.one("#picked").text, "the file")
    browser.until(lambda: browser.run("return !!window.let_go"), "the late answer")
    browser.one("#start").click()
    browser.until(lambda: browser.one("#status").text == "Measuring", "the start")
    browser.run("window.let_go()")
    browser.until(lambda: browser.run("return window.was_late"), "the late answer")
    browser.until(lambda: len(browser.all("#report h1 .ts-name")) == 2, "the end", 60)
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
