"""Checks of the settings of components: types as tokenizers demands them."""

from __future__ import annotations

from toksmith.compat.tokenizers.callbacks import checked
from toksmith.errors import OptionError


def boolean(value: object) -> bool:
    """Return a setting that is a bool.

    Raises:
        ComponentTypeError: it has another type.
    """
    return checked(value, bool)


def optional_boolean(value: object) -> bool | None:
    """Return a setting that is a bool or ``None``.

    Raises:
        ComponentTypeError: it has another type.
    """
    return None if value is None else checked(value, bool)


def string(value: object) -> str:
    """Return a setting that is a string.

    Raises:
        ComponentTypeError: it has another type.
    """
    return checked(value, str)


def character(value: object) -> str:
    """Return a setting that is one character.

    Raises:
        ComponentTypeError: it is no string.
        OptionError: it has another length.
    """
    text = checked(value, str)
    if len(text) != 1:
        raise OptionError(f"expected a string of length 1, got {text!r:.80}")
    return text
