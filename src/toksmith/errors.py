"""Every error that toksmith raises on purpose.

    ToksmithError
    ├── OptionError          an argument that cannot be (also a ValueError)
    │   └── SplitError       a split pattern that is wrong, or that takes too long
    ├── FormatError          a file that is not what it should be (also a ValueError)
    ├── UnsupportedError     a file, or a target format, needs what cannot be expressed
    ├── UnknownNameError     no tokenizer of that name (also a KeyError)
    ├── UnknownTokenError    no such id or token in the vocabulary (also a KeyError)
    ├── SpecialTokenError    text holds a special token where it may not (also a ValueError)
    ├── DownloadError        a published vocabulary could not be had, or is not the right one
    ├── TrainingError        nothing to train on
    ├── EngineError          no such engine or instruction set on this machine
    └── MissingExtraError    an optional package is not installed (also an ImportError)

Each message says what was wrong, where, and what to do. An argument of a wrong type is an
:class:`OptionError` too, so catch that and not :class:`TypeError`, which is for wrong signatures
alone. :func:`warn` is for what is worth knowing and stops nothing.
"""

from __future__ import annotations

import os
import sys
import warnings
from os import PathLike, fspath
from pathlib import Path

_PACKAGE = str(Path(__file__).parent) + os.sep


class ToksmithError(Exception):
    """The base of all errors of this package."""

    def __str__(self) -> str:
        # KeyError would show its message quoted.
        return str(self.args[0]) if self.args else ""


class OptionError(ToksmithError, ValueError):
    """An argument is out of range, of the wrong kind, or at odds with another."""


class SplitError(OptionError):
    """A split pattern does not compile, or backtracks without end on this text."""


class FormatError(ToksmithError, ValueError):
    """A file is not what it should be.

    Attributes:
        path: the file.
        reason: what is wrong with it, and what would be right.
    """

    def __init__(self, path: str | PathLike[str], reason: str) -> None:
        self.path = fspath(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, str]]:
        return type(self), (self.path, self.reason)


class UnsupportedError(ToksmithError):
    """The request cannot be expressed here, or in the target format."""


class UnknownNameError(ToksmithError, KeyError):
    """No published tokenizer has this name."""


class UnknownTokenError(ToksmithError, KeyError):
    """The vocabulary has no such id or token."""


class SpecialTokenError(ToksmithError, ValueError):
    """The text holds a special token's literal and ``special="raise"`` was asked for."""


class DownloadError(ToksmithError):
    """A published file could not be downloaded, or its checksum is wrong."""


class TrainingError(ToksmithError, ValueError):
    """The training text holds nothing to learn from."""


class EngineError(ToksmithError, ValueError):
    """No such engine or instruction set, or this machine does not have it."""


class MissingExtraError(ToksmithError, ImportError):
    """An optional package is missing; the message says how to install it."""


def warn(message: str) -> None:
    """Issue a ``UserWarning`` that points at the line outside of this package that led to it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
