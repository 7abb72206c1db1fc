"""Model options written as ``NAME=VALUE``, parsed by the types of their fields.

The options are the fields of a dataclass, each with its help text in its metadata, so the command
line and the explorer show exactly the options of a trainer.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from toksmith.errors import OptionError

_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")
_MARKUP = re.compile(r"``(.*?)``|:\w+:`~?(.*?)`")


class Described(NamedTuple):
    """An option: its name, the type of its values, its default as written, its help text."""

    name: str
    kind: str
    default: str
    meaning: str


def parse_options(options: type, given: Iterable[str]) -> dict[str, Any]:
    """Return the values of options given as ``NAME=VALUE``.

    A list is written with commas (as CSV, so a comma can be quoted), or with one option per item.

    Args:
        options: a dataclass whose fields are the options.
        given: the ``NAME=VALUE`` arguments; ``-`` in a name means ``_``.

    Raises:
        OptionError: an option is unknown, or its value has a wrong type.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Options:
        ...     byte_fallback: bool = False
        ...     control_symbols: tuple[str, ...] = ()
        >>> parse_options(Options, ["byte-fallback=true", "control_symbols=<a>,<b>"])
        {'byte_fallback': True, 'control_symbols': ['<a>', '<b>']}
    """
    kinds = get_type_hints(options)
    known = [field.name for field in fields(options)]
    values: dict[str, Any] = {}
    for word in given:
        name, equals, text = word.partition("=")
        name = name.replace("-", "_")
        if not equals:
            raise OptionError(
                f"--option {word!r:.80} has no value: write NAME=VALUE, such as "
                f"--option {known[0] if known else 'name'}=…"
            )
        if name not in known:
            values[name] = text  # options_of reports unknown options
            continue
        value = _value(name, text, kinds[name])
        if name in values and not isinstance(value, list):
            raise OptionError(f"--option {name} is given twice")
        values[name] = [*values[name], *value] if name in values else value
    return values


def describe_options(options: type) -> list[Described]:
    """Return all options with their help, in order."""
    kinds = get_type_hints(options)
    return [
        Described(
            field.name,
            _kind(kinds[field.name]),
            _written(field.default),
            _MARKUP.sub(r"\1\2", field.metadata.get("help", "")),
        )
        for field in fields(options)
    ]


def _value(name: str, text: str, kind: Any) -> Any:
    """Parse a value of a type."""
    if get_origin(kind) in (Union, UnionType):
        kinds = get_args(kind)
        if NoneType in kinds and text.lower() == "none":
            return None
        for each in (each for each in kinds if each is not NoneType and each is not str):
            with suppress(OptionError):
                return _value(name, text, each)
        if str in kinds:
            return text
    elif _is_list(kind):
        return next(csv.reader([text]), [])
    elif get_origin(kind) is Literal:
        if text in get_args(kind):
            return text
    elif kind is bool:
        if text.lower() in (*_TRUE, *_FALSE):
            return text.lower() in _TRUE
    elif kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    elif kind is str:
        return text
    raise OptionError(f"--option {name}={text[:40]!r}: use {_kind(kind)}")


def _is_list(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _kind(kind: Any) -> str:
    """Return a description of the values of a type, such as "a whole number"."""
    if get_origin(kind) in (Union, UnionType):
        kinds = [_kind(each) for each in get_args(kind) if each is not NoneType]
        return " or ".join([*kinds, *["none"] * (NoneType in get_args(kind))])
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    if _is_list(kind):
        return "text,text,…"
    words: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number"}
    return words.get(kind, "text")


def _written(value: Any) -> str:
    """Return a default as written on the command line."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(value)
    return str(value)
