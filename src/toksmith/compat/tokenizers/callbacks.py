"""Calls of functions that a caller wrote: custom components, and what they pass on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.errors import ToksmithError

AnyT = TypeVar("AnyT")


def check_callable(func: object, name: str, signature: str) -> None:
    """Check that an argument can be called.

    Raises:
        ComponentTypeError: it cannot.
    """
    if not callable(func):
        raise ComponentTypeError(
            f"`{name}` expect a callable with the signature: `{signature}`; it got {func!r:.80}"
        )


def checked(value: object, kind: type[AnyT]) -> AnyT:
    """Return a value of a type.

    Raises:
        ComponentTypeError: it has another type.
    """
    if not isinstance(value, kind):
        raise ComponentTypeError(
            f"{type(value).__name__!r} object is not an instance of {kind.__name__!r}: "
            f"{value!r:.80}"
        )
    return value


@contextmanager
def wrapping() -> Iterator[None]:
    """Name the type of an error of a caller's function in the message, as tokenizers does.

    Raises:
        TokenizersError: the function raised something else; the cause is that error.
    """
    try:
        yield
    except ToksmithError:
        raise
    except Exception as wrong:
        raise TokenizersError(f"{type(wrong).__name__}: {wrong}") from wrong
