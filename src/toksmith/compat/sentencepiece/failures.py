"""The errors of this module: toksmith's, and of the kinds that SentencePiece raises.

SentencePiece 0.2.1 raises RuntimeError, and 0.2.3 ValueError, for the same mistake; both catch
these errors.
"""

from __future__ import annotations

from toksmith.errors import ToksmithError


class SentencePieceError(ToksmithError, RuntimeError, ValueError):
    """An argument or a model that cannot be used."""


class PieceTypeError(ToksmithError, TypeError, RuntimeError, ValueError):
    """An argument of a wrong type."""


class PieceIndexError(ToksmithError, IndexError):
    """An id that is no piece."""


class NotLoadedError(SentencePieceError, IndexError):
    """A call before a model is loaded; SentencePiece takes every id for one that is no piece."""


class MissingFileError(SentencePieceError, OSError):
    """A file that cannot be read."""
