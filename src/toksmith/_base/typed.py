"""Checks that values read from JSON have the types that their classes declare."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def check_type(value: object, hint: Any, name: str) -> None:
    """Check a value and all that it holds.

    Args:
        value: a number, a string, a tuple, a mapping, a dataclass or a NamedTuple.
        hint: its type.
        name: its name, for the error.

    Raises:
        TypeError: it has another type; the message names the part.

    Example:
        >>> check_type((1, 2), tuple[int, ...], "numbers")
        >>> check_type((1, "2"), tuple[int, ...], "numbers")
        Traceback (most recent call last):
        TypeError: numbers[1] is '2': int expected
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        is_right = any(_has_type(value, each) for each in inner)
    elif origin is Literal:
        is_right = isinstance(value, str) and value in inner
    elif origin is tuple:
        if not isinstance(value, tuple):
            is_right = False
        else:
            several = inner[:1] * len(value) if inner[1:] == (...,) else inner
            is_right = len(several) == len(value)
            for number, (item, each) in enumerate(zip(value, several, strict=False)):
                check_type(item, each, f"{name}[{number}]")
    elif origin is Mapping:
        is_right = isinstance(value, Mapping)
        for key, item in value.items() if isinstance(value, Mapping) else ():
            check_type(key, inner[0], f"a name in {name}")
            check_type(item, inner[1], f"{name}.{key}")
    elif hint in (int, float):
        is_right = isinstance(value, int if hint is int else int | float)
        is_right = is_right and not isinstance(value, bool)
    elif hint in (None, NoneType):
        is_right = value is None
    else:
        is_right = isinstance(value, hint)
        if is_right and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
            for field, each in get_type_hints(hint).items():
                check_type(getattr(value, field), each, f"{name}.{field}")
    if not is_right:
        shown = getattr(hint, "__name__", None) if origin is None else None
        raise TypeError(f"{name} is {value!r:.40}: {shown or hint} expected")


def _has_type(value: object, hint: Any) -> bool:
    try:
        check_type(value, hint, "")
    except TypeError:
        return False
    return True
