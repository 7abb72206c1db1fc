"""Checks of arguments and settings: types and ranges as tokenizers demands them.

Each check returns the value, or raises an error of the type that tokenizers raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from operator import index
from typing import Any, ParamSpec, TypeAlias, TypeVar

from toksmith.compat.tokenizers.callbacks import checked
from toksmith.compat.tokenizers.failures import ComponentOverflowError, ComponentTypeError
from toksmith.errors import OptionError, ToksmithError

Check: TypeAlias = Callable[[Any], Any]
P = ParamSpec("P")
R = TypeVar("R")


def arguments(**checks: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that checks arguments of a function before it runs.

    Args:
        checks: the check of each argument, by its name.

    Example:
        >>> @arguments(size=unsigned)
        ... def repeat(size: int) -> str:
        ...     return "a" * size
        >>> repeat(-1)
        Traceback (most recent call last):
        toksmith.compat.tokenizers.failures.ComponentOverflowError: ...
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        positions = [
            (names.index(name) if name in names else len(names), name, check)
            for name, check in checks.items()
        ]

        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            size, name = len(args), ""
            try:
                for place, name, check in positions:
                    if place < size:
                        check(args[place])
                    elif name in kwargs:
                        check(kwargs[name])
            except ToksmithError as wrong:
                raise type(wrong)(f"argument '{name}': {wrong}") from None
            return function(*args, **kwargs)

        return run

    return decorate


def named(name: str, check: Check, value: Any) -> Any:
    """Return a checked value; an error names the argument."""
    try:
        return check(value)
    except ToksmithError as wrong:
        raise type(wrong)(f"argument '{name}': {wrong}") from None


def boolean(value: Any) -> bool:
    """Return a value that is a bool, or NumPy's.

    Raises:
        ComponentTypeError: it has another type.
    """
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    return checked(value, bool)


def string(value: object) -> str:
    """Return a value that is a string.

    Raises:
        ComponentTypeError: it has another type.
    """
    return checked(value, str)


def character(value: object) -> str:
    """Return a value that is one character.

    Raises:
        ComponentTypeError: it is no string.
        OptionError: it has another length.
    """
    text = checked(value, str)
    if len(text) != 1:
        raise OptionError(f"expected a string of length 1, got {text!r:.80}")
    return text


def metaspace_scheme(value: object) -> str:
    """Return a value that names the texts to which ``Metaspace`` gives a mark.

    Raises:
        ComponentTypeError: it is no string.
        OptionError: there is no such name.
    """
    schemes = ["first", "never", "always"]
    scheme = checked(value, str)
    if scheme not in schemes:
        raise OptionError(f"{scheme} is an unknown variant, should be one of {schemes}")
    return scheme


def unsigned(value: Any) -> int:
    """Return a value that is an integer from 0 to 2**64 - 1.

    Raises:
        ComponentTypeError: it is no integer.
        ComponentOverflowError: it is out of range.
    """
    return _integer(value, 64)


def an_id(value: Any) -> int:
    """Return a value that is an integer from 0 to 2**32 - 1.

    Raises:
        ComponentTypeError: it is no integer.
        ComponentOverflowError: it is out of range.
    """
    return _integer(value, 32)


def _integer(value: Any, bits: int) -> int:
    try:
        number = index(value)
    except TypeError:
        raise ComponentTypeError(
            f"{type(value).__name__!r} object cannot be interpreted as an integer: {value!r:.80}"
        ) from None
    if not 0 <= number < 1 << bits:
        raise ComponentOverflowError(f"{number} is out of range: give 0 to 2**{bits} - 1")
    return number


def real(value: Any) -> float:
    """Return a value that is a number.

    Raises:
        ComponentTypeError: it has another type.
        ComponentOverflowError: it is an integer too large for a float.
    """
    if isinstance(value, str | bytes):
        raise ComponentTypeError(f"must be real number, not {type(value).__name__}: {value!r:.80}")
    try:
        return float(value)
    except TypeError as wrong:
        raise ComponentTypeError(
            f"must be real number, not {type(value).__name__}: {value!r:.80}"
        ) from wrong
    except OverflowError as wrong:
        raise ComponentOverflowError(str(wrong)) from wrong


def optional(check: Check) -> Check:
    """Return a check that lets ``None`` pass."""
    return lambda value: None if value is None else check(value)


def instance(kind: type) -> Check:
    """Return a check that a value is an object of a class."""
    return lambda value: checked(value, kind)


def sequence_of(check: Check) -> Check:
    """Return a check that a value is a sequence but no string, and of each member."""
    return lambda value: [check(each) for each in sequence(value)]


def sequence(value: Any) -> Any:
    """Return a value that has a length and places, and is neither a string nor a mapping.

    Raises:
        ComponentTypeError: it is something else.
    """
    if isinstance(value, str):
        raise ComponentTypeError(f"Can't extract `str` to `Vec`: give a list, such as [{value!r}]")
    if not isinstance(value, Sequence) and (
        isinstance(value, Mapping) or not hasattr(value, "__getitem__")
    ):
        raise ComponentTypeError(
            f"{type(value).__name__!r} object is not an instance of 'Sequence': {value!r:.80}"
        )
    return value


def token_with_id(value: Any) -> tuple[str, int]:
    """Return a value that is a tuple of a token and its id.

    Raises:
        ComponentTypeError: it is something else.
        ComponentOverflowError: the id is out of range.
    """
    if len(checked(value, tuple)) != 2:
        raise ComponentTypeError(f"expected a tuple of a token and its id, got {value!r:.80}")
    return string(value[0]), an_id(value[1])
