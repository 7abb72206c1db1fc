"""Checks of what callers hand over, before any work is done with it."""

from __future__ import annotations

from operator import index

from toksmith.errors import OptionError

_MOST = 2**63 - 1


def whole(name: str, value: object, least: int, otherwise: str = "") -> int:
    """Return an argument that must be a whole number.

    Args:
        name: of the argument.
        value: what was given; NumPy's integers are fine.
        least: the smallest that will do.
        otherwise: what else will do, for the message.

    Raises:
        OptionError: it is no whole number, or out of range.

    Example:
        >>> whole("max_tokens", 3, least=0)
        3
    """
    try:
        number = index(value)  # type: ignore[arg-type]  # that is what is being found out
    except TypeError:
        raise OptionError(
            f"{name} is {value!r:.80}: use a whole number{otherwise}, not {_kind(value)}"
        ) from None
    if not least <= number <= _MOST:
        most = "" if number < least else f" and {_MOST} or less"
        raise OptionError(f"{name} is {number}: use {least} or more{most}{otherwise}")
    return number


def literal(name: str, value: object) -> bytes:
    r"""Return the UTF-8 of an argument that must be a string of characters, and not empty.

    Raises:
        OptionError: it is not.

    Example:
        >>> literal("separator", "\n")
        b'\n'
    """
    if not isinstance(value, str):
        raise OptionError(f"{name} is {value!r:.80}: use a str, not {_kind(value)}")
    if not value:
        raise OptionError(f"{name} is an empty string")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise OptionError(
            f"{name} is {value!a:.80}: it holds half of a surrogate pair, which no text holds"
        ) from None


def _kind(value: object) -> str:
    return type(value).__name__
