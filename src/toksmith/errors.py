"""Every error that toksmith raises on purpose.

    ToksmithError
    ├── OptionError          an argument has a wrong type or value (also a ValueError)
    │   └── SplitError       a split pattern is invalid, or takes too long
    ├── FormatError          a file is damaged or of an unexpected kind (also a ValueError)
    ├── UnsupportedError     toksmith or the target format lacks a feature that is needed
    ├── UnknownNameError     no tokenizer of that name (also a KeyError)
    ├── UnknownTokenError    no such id or token in the vocabulary (also a KeyError)
    ├── SpecialTokenError    a text holds a special token and special="raise" (also a ValueError)
    ├── DownloadError        a download failed, or has a wrong checksum
    ├── TrainingError        the training text is empty (also a ValueError)
    ├── EngineError          this machine has no such engine (also a ValueError)
    └── MissingExtraError    an optional package cannot be imported (also an ImportError)

Each message says what was wrong, where, and what to do. An argument of a wrong type raises
:class:`OptionError`, not :class:`TypeError`; only a call that does not fit the signature raises
:class:`TypeError`. :func:`warn` reports problems that do not stop a call.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from os import PathLike, fspath
from pathlib import Path

__all__ = [
    "DownloadError",
    "EngineError",
    "FormatError",
    "MissingExtraError",
    "OptionError",
    "SpecialTokenError",
    "SplitError",
    "ToksmithError",
    "TrainingError",
    "UnknownNameError",
    "UnknownTokenError",
    "UnsupportedError",
]

_PACKAGE = str(Path(__file__).parent) + os.sep


class ToksmithError(Exception):
    """The base of all errors of this package.

    Example:
        >>> import toksmith
        >>> toksmith.load("missing.json")
        Traceback (most recent call last):
        toksmith.errors.FormatError: missing.json: ...
    """

    def __str__(self) -> str:
        # KeyError would show its message quoted.
        return str(self.args[0]) if self.args else ""


class OptionError(ToksmithError, ValueError):
    """An argument is out of range, of a wrong type, or in conflict with another argument.

    Example:
        >>> import toksmith
        >>> toksmith.train(texts="low low", vocab_size=-1)
        Traceback (most recent call last):
        toksmith.errors.OptionError: vocab_size is -1...
    """


class SplitError(OptionError):
    """A split pattern does not compile, or backtracks without end on this text.

    Example:
        >>> import toksmith
        >>> toksmith.split("text", "(")
        Traceback (most recent call last):
        toksmith.errors.SplitError: ...
    """


class FormatError(ToksmithError, ValueError):
    """A file is damaged, unreadable, or not of the expected format.

    Attributes:
        path: the file.
        reason: what is wrong with the file, and what to do.

    Example:
        >>> import toksmith
        >>> toksmith.load("missing.json")
        Traceback (most recent call last):
        toksmith.errors.FormatError: missing.json: ...
    """

    def __init__(self, path: str | PathLike[str], reason: str) -> None:
        self.path = fspath(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, str]]:
        return type(self), (self.path, self.reason)


class UnsupportedError(ToksmithError):
    """toksmith, or the target format, does not support the request.

    Example:
        >>> import toksmith
        >>> toksmith.train(texts="a", model="char").save("a.tiktoken")
        Traceback (most recent call last):
        toksmith.errors.UnsupportedError: ...
    """


class UnknownNameError(ToksmithError, KeyError):
    """No published tokenizer has this name.

    Example:
        >>> import toksmith
        >>> toksmith.get("gpt-99")
        Traceback (most recent call last):
        toksmith.errors.UnknownNameError: ...
    """


class UnknownTokenError(ToksmithError, KeyError):
    """The vocabulary has no such id or token.

    Example:
        >>> import toksmith
        >>> toksmith.get("toksmith-small").token_text(99999)
        Traceback (most recent call last):
        toksmith.errors.UnknownTokenError: ...
    """


class SpecialTokenError(ToksmithError, ValueError):
    """The text holds a special token's literal, and the call has ``special="raise"``.

    Example:
        >>> import toksmith
        >>> toksmith.get("toksmith-small").encode("<|endoftext|>", special="raise")
        Traceback (most recent call last):
        toksmith.errors.SpecialTokenError: the text holds the special token '<|endoftext|>' ...
    """


class DownloadError(ToksmithError):
    """A published file could not be downloaded, or its checksum is wrong.

    Example:
        >>> issubclass(DownloadError, ToksmithError)  # without a network, get("gpt2") raises it
        True
    """


class TrainingError(ToksmithError, ValueError):
    """The training text is empty, or too small to learn from.

    Example:
        >>> import toksmith
        >>> toksmith.train(texts=[], vocab_size=300)
        Traceback (most recent call last):
        toksmith.errors.TrainingError: ...
    """


class EngineError(ToksmithError, ValueError):
    """The engine or instruction set is unknown, or this machine does not support it.

    Example:
        >>> issubclass(EngineError, ToksmithError)  # TOKSMITH_ENGINE=abacus raises it
        True
    """


class MissingExtraError(ToksmithError, ImportError):
    """An optional package is missing or cannot be imported; the message says what to do.

    Example:
        >>> issubclass(MissingExtraError, ImportError)  # toksmith.words without the extra "segment"
        True
    """


def warn(message: str) -> None:
    """Issue a ``UserWarning`` that points at the caller's line, outside of this package."""
    frame, level = sys._getframe(1), 2
    own = (_PACKAGE, contextlib.__file__)  # a with block in this package may be in between
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
