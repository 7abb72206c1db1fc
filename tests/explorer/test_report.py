"""The report of a comparison in a browser: it loads nothing, runs no input, and is readable."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import toksmith
from tests.explorer.browser import DESKTOP, PHONE, Browser, missing

pytestmark = pytest.mark.skipif(missing() != "", reason=missing() or "all is here")

EVIL = "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
TEXTS = {
    "English": ["The quick brown fox jumps over the lazy dog.", "low lower lowest 1234"],
    "한국어": ["만나서 반가워요.", "궁금한 것이 있으시면 무엇이든 물어보세요."],
    "العربية": ["السلام عليكم ورحمة الله", "مرحبا بالعالم 123"],
    "日本語": ["東京特許許可局", "こんにちは世界。"],
    EVIL: ["</style></title></main>" + EVIL, "&lt;b&gt; \u202eesrever \x00\x1b[31m"],
    "a_file_of_a_long_name_that_somebody_gave_it_without_a_thought_2026.final.txt": ["a", "b"],
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("report")
    every = [text for texts in TEXTS.values() for text in texts]
    tokenizers = {
        "small": toksmith.train(texts=every * 3, vocab_size=300),
        EVIL: toksmith.train(texts=every * 3, vocab_size=400, split="o200k"),
        "a-tokenizer-of-some-lab-with-a-very-long-name-v3.1-instruct": toksmith.train(
            texts=every * 3, model="wordpiece", vocab_size=200
        ),
    }
    page = folder / "report.html"
    toksmith.compare(tokenizers, texts=TEXTS, speed=False).to_html(page)
    found = Browser(page.as_uri(), folder / "profile")
    try:
        yield found
    finally:
        found.driver.quit()


@pytest.mark.parametrize(
    ("scheme", "size"),
    [("light", DESKTOP), ("dark", DESKTOP), ("dark", PHONE)],
    ids=["light", "dark", "phone"],
)
def test_it_can_be_read(browser: Browser, scheme: str, size: tuple[int, int, int, bool]) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.size(size)
    browser.requests()
    browser.open()
    for summary in browser.all("#tokens summary")[1:]:
        summary.click()
    height = browser.run("return document.documentElement.scrollHeight")
    browser.size((size[0], height, size[2], size[3]))
    browser.picture(f"report-{scheme}-{'phone' if size[3] else 'desktop'}")
    # The page is as wide as the screen: what is wider scrolls in its own box.
    assert browser.run("return document.documentElement.scrollWidth") <= size[0]
    colours = browser.run(
        "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
    )
    ink, paper = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert (ink < paper) == (scheme == "light")
    # Bars are as long as their figures are large, and tokens have letters that can be seen.
    widths = browser.run(
        "return [...document.querySelectorAll('.ts-bars')].map(figure =>"
        " [...figure.querySelectorAll('.ts-bar')].map(bar =>"
        " [bar.querySelector('i').offsetWidth, parseFloat(bar.innerText)]))"
    )
    for figure in widths:
        drawn = [(width, value) for width, value in figure if value is not None and width > 2]
        longest, most = max(drawn)
        near = 4 + longest / 50  # the figures are rounded
        wrong = [bar for bar in drawn if abs(bar[0] - longest * bar[1] / most) > near]
        assert wrong == [], (longest, most)
    low = browser.run(_CONTRAST)
    assert low == [], low


_CONTRAST = """
const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(
  c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
const paper = element => {
  for (; element; element = element.parentElement) {
    const colour = numbers(getComputedStyle(element).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const low = [];
for (const element of document.querySelectorAll("main *")) {
  if (element.closest("s, svg") || ![...element.childNodes].some(
    node => node.nodeType === 3 && node.data.trim())) continue;
  const ink = light(numbers(getComputedStyle(element).color)), ground = light(paper(element));
  const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  if (ratio < 4.5) low.push([element.className, element.textContent.slice(0, 20), ratio]);
}
return low;
"""


def test_the_page_loads_nothing_and_runs_no_injected_code(browser: Browser) -> None:
    browser.requests()
    browser.complaints()
    browser.open()
    assert {address.partition("?")[0] for address in browser.requests()} == {browser.address}
    assert browser.complaints() == []
    assert browser.run("return window.hacked") is None
    assert EVIL in "".join(browser.texts("h1"))
    assert browser.texts("main script, main img") == []


def test_right_to_left_text_runs_from_right_to_left(browser: Browser) -> None:
    browser.size(DESKTOP)
    browser.open()
    for summary in browser.all("#tokens summary")[1:]:
        summary.click()
    lines = browser.run(
        "return [...document.querySelectorAll('.ts-tokens > div')].map(line => [line.innerText,"
        " getComputedStyle(line).direction,"
        " [...line.querySelectorAll('.whole, .ts-token')].filter(t => !t.closest('.bytes'))"
        " .map(t => t.getBoundingClientRect())"
        " .filter((t, i, all) => Math.abs(t.top - all[0].top) < 12)"  # the first row of the line
        " .map(t => t.right)])"
    )
    arabic = [line for line in lines if re.search("[\u0600-\u06ff]", line[0])]
    assert len(arabic) >= 3
    for text, direction, places in arabic:
        assert direction == "rtl", text
        assert places[0] > places[-1], text
    english = [line for line in lines if line[0].startswith("The")]
    for text, direction, places in english:
        assert direction == "ltr", text
        assert places[0] < places[-1], text
    # Labels read from left to right in either.
    labels = browser.run(
        "return [...document.querySelectorAll('.ts-tokens bdi')].map(label => "
        "[label.innerText[0], label.innerText.at(-1), getComputedStyle(label).direction])"
    )
    assert {tuple(label) for label in labels} == {("<", ">", "ltr")}


def test_arabic_letters_of_two_tokens_are_joined(browser: Browser) -> None:
    """A word is as wide in tokens as it is in one: an isolated or padded token would be wider."""
    browser.open()
    widths = browser.run(
        "const line = document.createElement('div'); line.className = 'ts-tokens';"
        "line.dir = 'auto'; document.querySelector('main').append(line);"
        "const width = html => { line.innerHTML = `<b>${html}</b>`;"
        " line.firstChild.style.fontWeight = 400;"
        " return line.firstChild.getBoundingClientRect().width; };"
        "const token = text =>"
        " `<span class='ts-token ts-same0' style='font-family: sans-serif'>${text}</span>`;"
        "return [width(token('السلام')), width(token('الس') + token('لام')),"
        " width('<bdi>' + token('الس') + '</bdi><bdi>' + token('لام') + '</bdi>')];"
    )
    whole, joined, apart = widths
    assert abs(whole - joined) < 0.5
    assert abs(whole - apart) > 0.5


@pytest.mark.parametrize("size", [DESKTOP, (420, 900, 1, False)], ids=["desktop", "420"])
def test_how_it_was_measured_can_be_read(
    browser: Browser, size: tuple[int, int, int, bool]
) -> None:
    browser.size(size)
    browser.open()
    browser.picture(f"report-sources-{size[0]}")
    table = browser.run(
        "const table = document.querySelector('.ts-sources');"
        "const box = table.getBoundingClientRect();"
        "return {right: box.right, scroll: table.scrollWidth - table.clientWidth,"
        " cells: [...table.querySelectorAll('tbody td')].filter(c => c.innerText)"
        ".map(c => [getComputedStyle(c).textAlign, c.scrollWidth > c.clientWidth + 1,"
        " c.getBoundingClientRect().right])}"
    )
    assert table["right"] <= size[0]
    assert table["scroll"] == 0
    assert len(table["cells"]) > 30
    for align, is_cut, right in table["cells"]:
        assert (align, is_cut) == ("start", False)
        assert right <= size[0]


def test_a_shadow_shows_that_a_table_can_be_scrolled(browser: Browser) -> None:
    browser.size((420, 900, 1, False))
    browser.open()
    wide, drawn = browser.run(
        "const box = document.querySelector('#figures .ts-wide'), style = getComputedStyle(box);"
        "return [box.scrollWidth > box.clientWidth,"
        " [style.backgroundImage.split('linear-gradient').length - 1, style.backgroundAttachment]]"
    )
    assert wide
    assert drawn == [2, "local, scroll"]  # the first one scrolls along, and ends up over the second
