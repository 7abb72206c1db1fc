"""The one rule for how a token's bytes are shown; every view, trace and progress bar uses it.

Reprs of dataclasses and named tuples fit one line, however much a value holds. The module imports
nothing of toksmith but lazy modules, so that all rooms may use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TypeVar

from toksmith._base.lazy import unicodedata
from toksmith._base.records import fields

SPACE, LINE_BREAK, TAB = "·", "↵", "→"

_MARKS = {" ": SPACE, "\n": LINE_BREAK, "\t": TAB}
# Printable to Python, but with nothing to see: fillers, joiners, variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_BROKEN = re.compile("[\udc80-\udcff]+")
# Letters, digits and ASCII signs, which are shown as they are; without the fillers among letters.
_PLAIN = re.compile("(?:[^\\W\u115f\u1160\u3164\uffa0]|[!-~])+")

LONGEST = 1_000
"""Bytes of a token that a view shows; a training on one long word makes tokens of megabytes."""

LONGEST_IN_LIST = 120
"""The same for a token in a list or a table."""


def visible(token: bytes) -> str:
    r"""Show bytes on one line, whatever they are.

    - A space is ``·``, a line break ``↵``, a tab ``→``. These three characters themselves are
      shown by their number, so that a dot is always a space.
    - Other characters that cannot be seen (controls, bidirectional and zero-width marks, other
      white space, unassigned ones) are shown by their number: ``<U+200B>``.
    - Invalid UTF-8, such as a part of a character, are shown in hex: ``<E2 82>``.
    - A combining mark with nothing before it is shown on ``◌``.

    What comes out has no control character in it: it is safe to print.

    Example:
        >>> print(visible(" naïve\n".encode()), visible(b"\xe2\x82!"), visible(b"\x1b[1m"))
        ·naïve↵ <E2 82>! <U+001B>[1m
    """
    if token.isalnum() and token.isascii():
        return token.decode()
    return "".join(text for text, _ in visible_parts(token))


def visible_parts(token: bytes) -> Iterator[tuple[str, bool]]:
    r"""Yield what :func:`visible` shows, part by part, and whether each part is a label.

    A label is a number in angle brackets (``<E2 82>``, ``<U+200B>``). It reads from left to right
    wherever it is, so a view of right-to-left text has to isolate it.

    Example:
        >>> list(visible_parts("low\n".encode() + b"\xd7"))
        [('low↵', False), ('<D7>', True)]
    """
    text = token.decode("utf-8", "surrogateescape")
    plain: list[str] = []
    for part, is_label in _parts(text):
        if not is_label:
            plain.append(part)
            continue
        if plain:
            yield "".join(plain), False
            plain = []
        yield part, True
    if plain:
        yield "".join(plain), False


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    done = 0
    for broken in _BROKEN.finditer(text):
        yield from _characters(text[done : broken.start()])
        raw = broken.group().encode("utf-8", "surrogateescape")
        yield f"<{raw.hex(' ').upper()}>", True
        done = broken.end()
    yield from _characters(text[done:])


def cut(token: bytes, most: int = LONGEST) -> tuple[bytes, str]:
    """Return the start of a token, of whole characters, and how much is left out, in words.

    Args:
        token: the token.
        most: the size of its start in bytes.

    Example:
        >>> cut(b"low"), cut(b"lowest", 4)
        ((b'low', ''), (b'lowe', '… 2 more bytes'))
    """
    if len(token) <= most:
        return token, ""
    end = most
    while end > max(most - 3, 0) and token[end] & 0xC0 == 0x80:
        end -= 1
    return token[:end], f"… {count_of(len(token) - end, 'more byte')}"


def visible_start(token: bytes, most: int = LONGEST) -> str:
    """Return what :func:`visible` shows of the start of a token, and how much is left out.

    Example:
        >>> visible_start(b"low lower", 4)
        'low·… 5 more bytes'
    """
    start, rest = cut(token, most)
    return visible(start) + rest


def hex_start(token: bytes, most: int = LONGEST) -> str:
    """Return the start of a token in hex, and how much is left out.

    Example:
        >>> hex_start(b"low", 2)
        '6C 6F … 1 more byte'
    """
    start, rest = token[:most], len(token) - most
    shown = start.hex(" ").upper()
    return f"{shown} … {count_of(rest, 'more byte')}" if rest > 0 else shown


def visible_name(name: str) -> str:
    r"""Show a name of a tokenizer, text or file on one line; its spaces stay spaces.

    Example:
        >>> print(visible_name("my model"), visible_name("x\ny"))
        my model x↵y
    """
    return visible(name.encode("utf-8", "surrogatepass")).replace(SPACE, " ")


def shorten(text: str, limit: int) -> str:
    """Return a text of at most this many characters; a longer one ends in ``…``.

    Example:
        >>> shorten("low", 3), shorten("lowest", 3)
        ('low', 'lo…')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def count_of(number: int, unit: str) -> str:
    """Return a number with its unit, in the singular for one.

    Example:
        >>> count_of(1, "token"), count_of(2000, "token"), count_of(2, "entry")
        ('1 token', '2,000 tokens', '2 entries')
    """
    if number != 1:
        unit = f"{unit[:-1]}ies" if unit.endswith("ry") else f"{unit}s"
    return f"{number:,} {unit}"


def _characters(text: str) -> Iterator[tuple[str, bool]]:
    done = 0
    has_base = False
    for plain in _PLAIN.finditer(text):
        yield from _others(text[done : plain.start()], has_base)
        yield plain.group(), False
        done, has_base = plain.end(), True
    yield from _others(text[done:], has_base)


def _others(text: str, has_base: bool) -> Iterator[tuple[str, bool]]:
    """Yield characters that may need a mark, after one that combining marks can stand on or not."""
    for character in text:
        if mark := _mark(character):
            yield mark, len(mark) > 1
            has_base = False
        elif not has_base and unicodedata.category(character).startswith("M"):
            yield "◌" + character, False
            has_base = True
        else:
            yield character, False
            has_base = True


def _mark(character: str) -> str | None:
    """Return the replacement of a character that cannot be shown as it is."""
    if mark := _MARKS.get(character):
        return mark
    if character in _MARKS.values() or not character.isprintable() or _INVISIBLE.match(character):
        return f"<U+{ord(character):04X}>"
    return None


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
