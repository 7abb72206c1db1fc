"""Reprs of dataclasses and named tuples that fit one line, however much a value holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields
from typing import Any, TypeVar

from toksmith._base.visible import count_of

MOST = 200
"""Characters of the longest repr."""

_MOST_OF_FIELD, _MOST_ITEMS, _MOST_OF_TEXT = 70, 12, 40

Class = TypeVar("Class", bound=type)


def short_repr(kind: Class) -> Class:
    """Give a dataclass or a named tuple a repr of one line: what is long is replaced by its size.

    Example:
        >>> from dataclasses import dataclass
        >>> @short_repr
        ... @dataclass
        ... class Vocabulary:
        ...     tokens: tuple[bytes, ...]
        ...     unk_id: int | None = None
        >>> Vocabulary((b"a", b"b")), Vocabulary((b"a",) * 32_000, 3)
        (Vocabulary(tokens=(b'a', b'b'), unk_id=None), Vocabulary(tokens=<32,000 items>, unk_id=3))
    """
    kind.__repr__ = _repr  # type: ignore[assignment]
    return kind


def _repr(self: Any) -> str:
    line = f"{type(self).__name__}("
    names = getattr(self, "_fields", None)  # of a NamedTuple
    shown = names or [each.name for each in fields(self) if each.repr]
    for place, name in enumerate(shown):
        held = getattr(self, "__dict__", {})
        value = held[name] if name in held else getattr(self, name)  # merges are found later
        part = f"{', ' if place else ''}{name}={brief(value)}"
        if len(line) + len(part) > MOST - len(", …)"):
            return f"{line}{', ' if place else ''}…)"
        line += part
    return f"{line})"


def brief(value: object) -> str:
    """Return a short form of a value on one line: its repr, or what it is and its size.

    Example:
        >>> brief("low"), brief("low" * 100), brief([1, 2]), brief(list(range(1000)))
        ("'low'", "<300 characters: 'lowlowlowlowlowlowlow…'>", '[1, 2]', '<1,000 items>')
    """
    if isinstance(value, str | bytes | bytearray):
        return _text(value)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"<{getattr(value, 'dtype', 'array')} array of shape {shape}>"
    is_many = isinstance(value, Sequence | Mapping | Set)
    if is_many and len(value) > _MOST_ITEMS:  # type: ignore[arg-type]
        return f"<{len(value):,} items>"  # type: ignore[arg-type]
    if callable(value) and not isinstance(value, type):
        return "<not computed yet>"
    shown = " ".join(repr(value).split("\n"))
    if len(shown) <= _MOST_OF_FIELD:
        return shown
    if is_many:
        return f"<{count_of(len(value), 'item')}>"  # type: ignore[arg-type]
    return f"{type(value).__name__}(…)"


def _text(text: str | bytes | bytearray) -> str:
    if len(text) <= _MOST_OF_TEXT and len(shown := repr(text)) <= _MOST_OF_FIELD:
        return shown
    unit = "character" if isinstance(text, str) else "byte"
    start = repr(text[:21])[:-1]
    return f"<{count_of(len(text), unit)}: {start[:40]}…{repr(text[:1])[-1]}>"
