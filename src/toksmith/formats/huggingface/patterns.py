"""Patterns of a tokenizer.json: a literal, or a regular expression of Oniguruma's."""

from __future__ import annotations

from typing import Any

from toksmith.errors import UnsupportedError
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.huggingface.regex_dialect import from_oniguruma, to_oniguruma


def read(entry: Entry) -> tuple[str, bool]:
    """Return a pattern, and whether it is a regular expression (of the ``regex`` package).

    Raises:
        UnsupportedError: it is empty, or may mean something else here.
    """
    entry.only("Regex", "String")
    if len(entry.value) != 1:
        raise entry.refusal()
    is_regex = "Regex" in entry.value
    pattern = from_oniguruma(entry.text("Regex")) if is_regex else entry.text("String")
    if not pattern:
        raise entry.refusal()
    return pattern, is_regex


def write(pattern: str, is_regex: bool) -> dict[str, Any]:
    """Return the entry of a pattern.

    Raises:
        UnsupportedError: ``tokenizers`` may read the regular expression otherwise.
    """
    if not is_regex:
        return {"String": pattern}
    if not (theirs := to_oniguruma(pattern)):
        raise UnsupportedError(
            f"huggingface runs patterns with another engine, which may read {pattern!r} "
            r"otherwise; of anchors, \w, \b, flags, nested sets and possessive intervals it can "
            "hold none"
        )
    return {"Regex": theirs}
