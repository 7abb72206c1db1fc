"""Checks of arguments, before any work is done with them."""

from __future__ import annotations

import re
from math import nan, prod
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NoReturn

from toksmith._base.lazy import np, numbers, regex
from toksmith.errors import OptionError, SplitError

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
        index: the value between the brackets.
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


def file_path(path: object) -> Path:
    """Return an argument that must be the path of a file or directory.

    Raises:
        OptionError: it is empty, or neither a str nor a path of characters.

    Example:
        >>> file_path("a.json").suffix
        '.json'
    """
    if not isinstance(path, str | PathLike) or not isinstance(fspath(path), str):
        raise OptionError(
            f"the path is {path!r:.80}: use a str or a pathlib.Path, not {_kind(path)}"
        )
    if not fspath(path):
        raise OptionError("the path is empty: give the name of a file or directory")
    return Path(path)


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


def ratio(part: float, whole: float) -> float:
    """Return ``part / whole``; ``nan`` for a whole of 0.

    Raises:
        OptionError: one of them is not a number.

    Example:
        >>> ratio(3, 4)
        0.75
    """
    for number in (part, whole):
        if not isinstance(number, numbers.Real):
            raise OptionError(f"a ratio of {number!r:.80}: use numbers, not {_kind(number)}")
    return float(part / whole) if whole else nan


def vector(name: str, values: object, dtype: type[np.generic]) -> np.ndarray[Any, Any]:
    """Return an argument that must be a list or one-dimensional array of numbers.

    Raises:
        OptionError: it is not.

    Example:
        >>> import numpy as np
        >>> vector("frequencies", [3, 4], np.int64)
        array([3, 4])
    """
    try:
        array = np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError) as wrong:
        raise OptionError(
            f"{name} is {values!r:.80}: use a list or an array of numbers ({wrong!s:.80})"
        ) from wrong
    if array.ndim != 1:
        raise OptionError(f"{name} has {array.ndim} dimensions: use a list of numbers")
    return array


def _kind(value: object) -> str:
    return type(value).__name__


def assert_never(value: NoReturn) -> NoReturn:
    """Mark a place that no value reaches: the last case of a ``match`` on a closed union.

    A type checker reports a member of the union that has no case. (``typing`` has this function
    from Python 3.11 on.)
    """
    raise AssertionError(f"no case for {value!r:.80}")


_MOST_COPIES = 100_000
_PATTERN_PART = re.compile(
    r"""(?xs)
    \\ . | \[ \^? \]? (?: \\ . | [^\]\\] )* \]
    | (?P<open> \( ) | (?P<close> \) ) | \{ (?P<count> [0-9]+ ) (?: ,[0-9]* )? \} | ."""
)


def _copies(pattern: str) -> int:
    """Return how many characters and sets a pattern has once its counts are written out.

    Counts inside each other multiply, those side by side add up.
    """
    if "(?V1)" in pattern:  # sets may be nested
        return prod(max(int(count[:9]), 1) for count in re.findall(r"\{([0-9]+)", pattern))
    sums, last = [0], 0  # of each open group; of the part that a count would repeat
    for part in _PATTERN_PART.finditer(pattern):
        if part["open"]:
            sums.append(0)
            last = 0
        elif part["count"]:
            more = last * max(int(part["count"][:9]) - 1, 0)
            sums[-1] += more
            last += more
        else:
            last = sums.pop() if part["close"] and len(sums) > 1 else 1
            sums[-1] += last
    return sum(sums)


def check_pattern(pattern: str) -> None:
    """Check that a pattern compiles, and does not take the memory of the machine to do so.

    Raises:
        SplitError: it does not.
    """
    if _copies(pattern) > _MOST_COPIES:
        raise SplitError(
            f"split pattern {pattern!r:.80} counts too far: {{n}} is compiled as n "
            f"copies, and {_MOST_COPIES:,} in all are the most"
        )
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as wrong:
        raise SplitError(
            f"split pattern {pattern!r:.80} is not a regular expression: {wrong}"
        ) from wrong
