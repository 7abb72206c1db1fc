"""The page of a text: its tokens by one to four tokenizers, side by side."""

from __future__ import annotations

from typing import Any

from toksmith.errors import OptionError, ToksmithError
from toksmith.explorer.excerpts import Shown, Stretch, shown_tokens, special_of, stretch_at
from toksmith.explorer.loaded import Shelf
from toksmith.explorer.requests import Answer, Asked
from toksmith.explorer.token_html import ids_html, text_html
from toksmith.measure.agreement import differing_tokens
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special

MOST = 4
"""Tokenizers side by side."""


class TextPage:
    """What the page asks.

    Args:
        shelf: the tokenizers.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def tokens(self, asked: Asked) -> Answer:
        """Return the tokens of the stretch of a text that is shown, by each tokenizer."""
        text, keys = asked.text("text"), asked.texts("tokenizers")
        if len(keys) > MOST:
            raise OptionError(f"{MOST} tokenizers are shown side by side, and no more")
        special = special_of(asked.text("special", "text"))
        stretch = stretch_at(text, asked.number("start"))
        found = [self._shown(key, stretch, special, asked.flag("template")) for key in keys]
        return {
            "start": stretch.start,
            "end": stretch.end,
            "characters": len(text),
            "bytes": len(text.encode()),
            "panels": self._panels(keys, found, stretch),
        }

    def _shown(
        self, key: str, stretch: Stretch, special: Special, template: bool
    ) -> Shown | ToksmithError:
        try:
            return shown_tokens(self._shelf[key].tokenizer, stretch, special, template)
        except ToksmithError as wrong:
            return wrong

    def _panels(
        self, keys: list[str], found: list[Shown | ToksmithError], stretch: Stretch
    ) -> list[Answer]:
        shown = [each.encoding for each in found if isinstance(each, Shown)]
        marks = iter(differing_tokens(shown))
        size = len(stretch.text.encode())
        panels: list[Answer] = []
        for key, each in zip(keys, found, strict=True):
            if isinstance(each, ToksmithError):
                panels.append({"key": key, "error": str(each)})
                continue
            differs = next(marks)
            panels.append(
                {
                    "key": key,
                    "kind": kind_of(self._shelf[key].tokenizer),
                    "total": each.total,
                    "first": each.first,
                    "ratio": round(size / each.total, 2) if each.total else 0,
                    "differing": sum(differs),
                    "text": text_html(each, differs),
                    "ids": ids_html(each, differs),
                    "values": each.encoding.ids,
                }
            )
        return panels


def kind_of(tok: Tokenizer) -> str:
    """Return what a tokenizer is, in a few words."""
    model: Any = tok.pipeline.model
    names = {
        "BPE": "byte-level BPE",
        "CharacterBPE": "BPE on characters",
        "SentencePieceBPE": "SentencePiece BPE",
        "WordLevel": "words",
        "LongestMatch": "longest match",
    }
    name = type(model).__name__
    return f"{names.get(name, name)}, {tok.vocab_size:,} ids"
