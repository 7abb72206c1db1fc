"""tokenizers' ``tools``: the tokens of a text as HTML, with labels of the caller's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape
from importlib import import_module
from itertools import groupby
from typing import Any

from toksmith._base.lazy import importing

__all__ = ["Annotation", "EncodingVisualizer"]

_STYLES = """
.tokenized-text { font: 14px/2 sans-serif; padding: 1em; white-space: pre-wrap; }
.token { border-radius: 3px; padding: 2px 0; }
.even-token { background: #dceefb; }
.odd-token { background: #fdebc8; }
.multi-token { border-bottom: 2px solid #888; }
.non-token { background: #f0f0f0; }
.special-token { outline: 1px solid #c33; }
.special-token::before { content: attr(data-stok) " "; font-size: 70%; color: #c33; }
.annotation { border-bottom: 3px solid currentcolor; padding-bottom: 3px; }
.annotation::before { content: attr(data-label) " "; font-size: 70%; font-weight: bold; }
"""


class Annotation:
    """A label of some characters of a text.

    Args:
        start: the first character.
        end: the character after the last.
        label: the label.
    """

    def __init__(self, start: int, end: int, label: str) -> None:
        self.start, self.end, self.label = start, end, label


class EncodingVisualizer:
    """Shows the tokens of texts as HTML: each in the colour opposite to its neighbour's.

    Args:
        tokenizer: has ``encode(text)``, which returns an encoding with ``token_to_chars``.
        default_to_notebook: show the HTML in a notebook, rather than returning it.
        annotation_converter: a function that returns the :class:`Annotation` of each annotation
            of a call.

    Raises:
        MissingExtraError: ``default_to_notebook`` is set, and IPython is not installed.

    Example:
        >>> from toksmith.compat.tokenizers import Tokenizer, models, pre_tokenizers
        >>> tokenizer = Tokenizer(models.WordLevel({"low": 0, "<unk>": 1}))
        >>> tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> page = EncodingVisualizer(tokenizer, default_to_notebook=False)("low you")
        >>> page[page.index("<span") : page.index("</span>")]
        '<span class="token even-token">low'
    """

    unk_token_regex = re.compile("unk|oov", re.IGNORECASE)
    """Finds the tokens that are shown as special."""

    def __init__(
        self,
        tokenizer: Any,
        default_to_notebook: bool = True,
        annotation_converter: Callable[[Any], Annotation] | None = None,
    ) -> None:
        if default_to_notebook:
            _notebook()
        self.tokenizer = tokenizer
        self.default_to_notebook = default_to_notebook
        self.annotation_converter = annotation_converter

    def __call__(
        self,
        text: str,
        annotations: Iterable[Any] | None = None,
        default_to_notebook: bool | None = None,
    ) -> str | None:
        """Show the tokens of a text.

        Args:
            text: the text.
            annotations: labels of parts of it; where they overlap, the last one counts.
            default_to_notebook: see the class.

        Returns:
            A page of HTML; ``None`` if it is shown in a notebook.

        Raises:
            MissingExtraError: it is to be shown in a notebook, and IPython is not installed.
        """
        in_notebook = self.default_to_notebook
        if default_to_notebook is not None:
            in_notebook = default_to_notebook
        display = _notebook() if in_notebook else None
        labels = [*(annotations or ())]
        if self.annotation_converter is not None:
            labels = [self.annotation_converter(each) for each in labels]
        page = _page(self._spans(text, labels))
        if display is None:
            return page
        display.display(display.HTML(page))
        return None

    @staticmethod
    def calculate_label_colors(annotations: Iterable[Annotation]) -> dict[str, str]:
        """Return a colour of CSS for each label, the hues at equal distances.

        Args:
            annotations: the labels.

        Example:
            >>> EncodingVisualizer.calculate_label_colors([Annotation(0, 1, "noun")])
            {'noun': 'hsl(10,32%,64%)'}
        """
        labels = sorted({each.label for each in annotations})
        step = max(255 // max(len(labels), 1), 20)
        return {label: f"hsl({10 + place * step},32%,64%)" for place, label in enumerate(labels)}

    def _spans(self, text: str, annotations: list[Annotation]) -> str:
        """Return the elements of the runs of characters that have one token and one label."""
        encoding = self.tokenizer.encode(text)
        tokens: list[list[int]] = [[] for _ in text]
        for token in range(len(encoding.tokens)):
            for place in range(*(encoding.token_to_chars(token) or (0, 0))):
                tokens[place].append(token)
        labels: list[int | None] = [None] * len(text)
        for number, annotation in enumerate(annotations):
            for place in range(annotation.start, min(annotation.end, len(text))):
                labels[place] = number
        colors = self.calculate_label_colors(annotations)
        found = []
        for which, places in groupby(range(len(text)), labels.__getitem__):
            if which is not None:
                label = annotations[which].label
                found.append(
                    f'<span class="annotation" style="color:{colors[label]}" '
                    f'data-label="{escape(str(label))}">'
                )
            for _, run in groupby(places, lambda place: tokens[place][:1]):
                first, *others = run
                last = others[-1] if others else first
                held = [encoding.tokens[token] for token in tokens[first]]
                found.append(self._span(text[first : last + 1], tokens[first], held))
            if which is not None:
                found.append("</span>")
        return "".join(found)

    def _span(self, text: str, tokens: list[int], spelled: list[str]) -> str:
        """Return the element of some characters."""
        classes, data = ["non-token"], ""
        if tokens:
            classes = ["token"]
            if len(tokens) > 1:
                classes.append("multi-token")
            classes.append("odd-token" if tokens[0] % 2 else "even-token")
            if self.unk_token_regex.search(spelled[0]):
                classes.append("special-token")
                data = f' data-stok="{escape(spelled[0])}"'
        return f'<span class="{" ".join(classes)}"{data}>{escape(text)}</span>'


def _page(spans: str) -> str:
    return (
        f"<html>\n<head>\n<style>{_STYLES}</style>\n</head>\n<body>\n"
        f'<div class="tokenized-text" dir="auto">{spans}</div>\n</body>\n</html>\n'
    )


def _notebook() -> Any:
    """Return the module that shows HTML in a notebook."""
    message = (
        "IPython, which shows HTML in a notebook, is not installed: install it, or use "
        "default_to_notebook=False to get the HTML"
    )
    with importing("IPython.display", message):
        return import_module("IPython.display")
