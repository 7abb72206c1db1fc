"""toksmith.compat.tokenizers.tools against tokenizers.tools: the same elements of HTML."""

from __future__ import annotations

import sys
import types
from html.parser import HTMLParser
from typing import Any

import pytest
import tokenizers as theirs
import tokenizers.tools as their_tools

from toksmith.compat import tokenizers as ours
from toksmith.compat.tokenizers import tools as our_tools
from toksmith.errors import ToksmithError


class Spans(HTMLParser):
    """Collects the spans of a page with their attributes, and the texts in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Any] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "span":
            self.found.append(sorted(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag == "span":
            self.found.append("end")

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1] != "end" and self.get_starttag_text() is not None:
            self.found.append(data)


def tokenizer(lib: Any) -> Any:
    ids = {"low": 0, "er": 1, "<UNK>": 2, "a": 3, "&": 4}
    tok = lib.Tokenizer(lib.models.WordPiece({**ids, "##er": 5}, unk_token="<UNK>"))
    tok.pre_tokenizer = lib.pre_tokenizers.Whitespace()
    return tok


def byte_level(lib: Any) -> Any:
    alphabet = sorted(lib.pre_tokenizers.ByteLevel.alphabet())
    tok = lib.Tokenizer(lib.models.BPE({each: i for i, each in enumerate(alphabet)}, []))
    tok.pre_tokenizer = lib.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tok


@pytest.mark.parametrize("make", [tokenizer, byte_level])
@pytest.mark.parametrize("text", ["lower a low", "x  é日 &a <b>", "a", "  lower  ", "new\nlow"])
@pytest.mark.parametrize(
    "annotations",
    [None, [], [(0, 1, "first")], [(0, 3, "one"), (1, 5, "two"), (3, 4, "one")], [(2, 4, "b")]],
)
def test_the_elements(make: Any, text: str, annotations: Any) -> None:
    pages = []
    for lib, tools in ((ours, our_tools), (theirs, their_tools)):
        held = annotations and [
            tools.Annotation(start, min(end, len(text)), label) for start, end, label in annotations
        ]
        visualizer = tools.EncodingVisualizer(make(lib), default_to_notebook=False)
        pages.append(Spans(visualizer(text, held)).found)
    assert pages[0] == pages[1]
    assert "".join(each for each in pages[0] if isinstance(each, str) and each != "end") == text


def test_converted_annotations_and_colors() -> None:
    pages = []
    labels = [{"from": 0, "to": 3, "is": "noun"}, {"from": 4, "to": 5, "is": "verb"}]
    for lib, tools in ((ours, our_tools), (theirs, their_tools)):
        visualizer = tools.EncodingVisualizer(
            tokenizer(lib),
            default_to_notebook=False,
            annotation_converter=lambda each, tools=tools: tools.Annotation(
                each["from"], each["to"], each["is"]
            ),
        )
        pages.append(Spans(visualizer("low a", labels)).found)
    assert pages[0] == pages[1]
    for count in (0, 1, 3, 20):
        mine, peer = (
            tools.EncodingVisualizer.calculate_label_colors(
                [tools.Annotation(0, 1, f"label {i}") for i in range(count)]
            )
            for tools in (our_tools, their_tools)
        )
        assert mine == peer


def test_a_page_is_whole_and_escapes_labels() -> None:
    visualizer = our_tools.EncodingVisualizer(tokenizer(ours), default_to_notebook=False)
    page = visualizer("low", [our_tools.Annotation(0, 9, '"<i>')])
    assert page is not None
    assert page.startswith("<html>")
    assert ".odd-token" in page
    assert 'data-label="&quot;&lt;i&gt;"' in page
    assert "<span" not in (visualizer("") or "")


def test_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ImportError, match="default_to_notebook=False") as missing:
        our_tools.EncodingVisualizer(tokenizer(ours))
    assert isinstance(missing.value, ToksmithError)
    shown: list[str] = []
    fake: Any = types.ModuleType("IPython.display")
    fake.HTML, fake.display = str, shown.append
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    visualizer = our_tools.EncodingVisualizer(tokenizer(ours))
    assert visualizer("low") is None
    assert shown == [visualizer("low", default_to_notebook=False)]
