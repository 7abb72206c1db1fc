"""Checks of what callers hand over, before any work is done with it."""

from __future__ import annotations

from operator import index
from typing import NoReturn

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


def flag(name: str, value: object) -> bool:
    """Return an argument that must be ``True`` or ``False``.

    Raises:
        OptionError: it is something else; a string such as ``"no"`` would count as true.

    Example:
        >>> flag("overflow", True)
        True
    """
    if value is True or value is False:
        return value
    if getattr(getattr(value, "dtype", None), "kind", "") == "b" and not getattr(value, "ndim", 1):
        return bool(value)  # NumPy's
    raise OptionError(f"{name} is {value!r:.80}: use True or False, not {_kind(value)}")


def check_index(index: object, item: str, whole_name: str) -> None:
    """Check the type of an index of a sequence; whether it is in range, the sequence finds out.

    Args:
        index: what stands between the brackets.
        item: what the sequence holds, such as ``"document"``.
        whole_name: the sequence, such as ``"a batch of 3"``.

    Raises:
        OptionError: it is neither a whole number nor a slice.

    Example:
        >>> check_index(2, "document", "a batch of 3")
    """
    if not hasattr(index, "__index__") and not isinstance(index, slice):
        raise OptionError(
            f"{item} {index!r:.80} of {whole_name}: use a whole number or a slice, not "
            f"{_kind(index)}"
        )


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


def assert_never(value: NoReturn) -> NoReturn:
    """Mark a place that no value reaches: the last case of a ``match`` on a closed union.

    A type checker reports a member of the union that has no case. (``typing`` has this function
    from Python 3.11 on.)
    """
    raise AssertionError(f"no case for {value!r:.80}")
