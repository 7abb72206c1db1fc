"""The requests of the page that shows a text by one to four tokenizers, side by side."""

from __future__ import annotations

from typing import Any

from toksmith._base.visible import visible_start
from toksmith.errors import OptionError, ToksmithError
from toksmith.explorer.excerpts import (
    Excerpt,
    ExcerptTokens,
    cut_excerpt,
    encode_excerpt,
    parse_special,
)
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields, Reply
from toksmith.explorer.texts import KeptText, Texts
from toksmith.explorer.token_html import text_html
from toksmith.measure.comparison_tables import differing_tokens
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special

MOST = 4
"""The largest number of tokenizers side by side."""


class TextPage:
    """The requests of the page.

    Args:
        loaded: the tokenizers.
        texts: the texts that were sent once.
    """

    def __init__(self, loaded: LoadedTokenizers, texts: Texts) -> None:
        self._loaded = loaded
        self._texts = texts

    def kept(self, fields: Fields) -> Reply:
        """Return what the page shows of a kept text."""
        return text_card(self._texts[fields.text("file")])

    def tokens(self, fields: Fields) -> Reply:
        """Return the tokens of the excerpt of a text that is shown, by each tokenizer."""
        text, keys = self._texts.of(fields), fields.texts("tokenizers")
        if len(keys) > MOST:
            raise OptionError(f"at most {MOST} tokenizers are shown side by side: choose fewer")
        special = parse_special(fields.text("special", "text"))
        excerpt = cut_excerpt(text, fields.number("start"))
        found = [self._shown(key, excerpt, special, fields.flag("template")) for key in keys]
        return {
            "start": excerpt.start,
            "end": excerpt.end,
            "characters": len(text),
            "bytes": len(text.encode()),
            "panels": self._panels(keys, found, excerpt),
        }

    def _shown(
        self, key: str, excerpt: Excerpt, special: Special, template: bool
    ) -> ExcerptTokens | ToksmithError:
        try:
            return encode_excerpt(self._loaded[key].tokenizer, excerpt, special, template)
        except ToksmithError as wrong:
            return wrong

    def _panels(
        self, keys: list[str], found: list[ExcerptTokens | ToksmithError], excerpt: Excerpt
    ) -> list[Reply]:
        shown = [each.encoding for each in found if isinstance(each, ExcerptTokens)]
        marks = iter(differing_tokens(shown))
        size = len(excerpt.text.encode())
        panels: list[Reply] = []
        for key, each in zip(keys, found, strict=True):
            if isinstance(each, ToksmithError):
                panels.append({"key": key, "error": str(each)})
                continue
            differs = next(marks)
            panels.append(
                {
                    "key": key,
                    "kind": describe_kind(self._loaded[key].tokenizer),
                    "total": each.total,
                    "first": each.first,
                    "ratio": round(size / each.total, 2) if each.total else 0,
                    "differing": sum(differs),
                    "text": text_html(each, differs),
                    "ids": each.encoding.ids,
                    "spelled": [visible_start(token) for token in each.encoding.tokens],
                }
            )
        return panels


def text_card(kept: KeptText) -> Reply:
    """Return what the page shows of a kept text in place of the text area."""
    return {
        "key": kept.key,
        "name": kept.name,
        "characters": len(kept.text),
        "bytes": kept.bytes,
        "invalid": kept.invalid,
    }


def describe_kind(tok: Tokenizer) -> str:
    """Return the kind and size of a tokenizer in a few words."""
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
