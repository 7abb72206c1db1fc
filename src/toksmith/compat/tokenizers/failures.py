"""The errors of this module: toksmith's, and of the kinds that tokenizers raises."""

from __future__ import annotations

from toksmith.errors import ToksmithError


class TokenizersError(ToksmithError):
    """A component or a file that cannot be used; tokenizers raises a plain Exception."""


class ComponentTypeError(ToksmithError, TypeError):
    """An argument of a wrong type."""


class ComponentIndexError(ToksmithError, IndexError):
    """A place that a ``Sequence`` does not have."""


class ComponentOverflowError(ToksmithError, OverflowError):
    """An integer that is negative or too large."""
