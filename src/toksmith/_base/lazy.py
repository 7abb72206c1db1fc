"""Lazy modules, names and patterns: they are imported or compiled at their first use.

Most tokenizers are loaded, and texts encoded to lists, without any of them. Type checkers see the
real modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from toksmith.errors import MissingExtraError

__all__ = [
    "callables",
    "describe_failure",
    "extra",
    "hashlib",
    "import_cause",
    "import_error",
    "importing",
    "is_missing",
    "json",
    "load",
    "module",
    "names",
    "np",
    "npt",
    "numbers",
    "pattern",
    "regex",
    "unicodedata",
]


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Run the handler of Ctrl-C or SIGTERM at the end of the block if the signal comes in it.

    The C code of NumPy clears some exceptions that are raised during its import, so Ctrl-C could
    be lost; and after an import that ended halfway, NumPy cannot be imported again.
    """
    import signal  # most calls do not need it

    handlers: dict[int, Any] = {}
    received: list[tuple[Any, ...]] = []
    try:
        for number in (int(signal.SIGINT), int(signal.SIGTERM)):
            handler = signal.getsignal(number)
            if callable(handler):  # not where it is ignored, or handled outside Python
                signal.signal(number, lambda *given: received.append(given))
                handlers[number] = handler
    except ValueError:  # not the main thread: no handler runs here
        handlers.clear()
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if received:
            handlers[received[-1][0]](*received[-1])


class _Later:
    """A proxy of the object that a function makes; its first attribute access calls it."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> object:
        return self._make()

    def __getattr__(self, name: str) -> object:
        found = getattr(self._made, name)
        setattr(self, name, found)  # from now on it is found here
        return found


def load(name: str) -> Any:
    """Import and return a module; Ctrl-C or SIGTERM during the import is handled after it."""
    with _interrupts_deferred():
        return _import(name)


def _import(name: str) -> Any:
    """Import and return a module; an error has one line, whereas NumPy's is a page of advice."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise
    except ImportError as wrong:
        raise ImportError(describe_failure(name, wrong), name=name) from wrong


def module(name: str) -> Any:
    """Return a proxy of a module, which is imported at its first attribute access."""
    return _Later(lambda: import_module(name))


class _ExtensionLater(_Later):
    """A proxy of a module with C code. Some of its attributes import more, such as np.random."""

    def __getattr__(self, name: str) -> object:
        with _interrupts_deferred():
            return super().__getattr__(name)


class _CalledLater(_Later):
    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._made(*args, **named)  # type: ignore[operator]


def callables(package: str, name: str, held: str) -> tuple[Any, ...]:
    """Return proxies of classes and functions, whose module is imported when one is called.

    Args:
        package: the package of the module.
        name: the name of the module.
        held: the names of the classes and functions, with spaces between.
    """

    def find(each: str) -> object:
        return getattr(import_module(f"{package}.{name}"), each)

    return tuple(_CalledLater(partial(find, each)) for each in held.split())


def extra(name: str, of: str) -> Any:
    """Import and return a module of an optional package.

    Args:
        name: of the module.
        of: toksmith's extra that installs it.

    Raises:
        MissingExtraError: it is not installed, or cannot be imported.
    """
    with importing(name, f"{name.partition('.')[0]} is not installed: pip install toksmith[{of}]"):
        return load(name)


@contextmanager
def importing(name: str, missing: str) -> Iterator[None]:
    """Raise MissingExtraError if the block cannot import an optional package.

    Args:
        name: of the package, or of a module in it.
        missing: the message if it is not installed. A package that is installed may fail, too,
            for example if there is too little memory for its libraries.
    """
    try:
        yield
    except MissingExtraError:
        raise
    except (ImportError, OSError) as wrong:
        raise import_error(name, wrong, missing) from wrong


def import_error(name: str, wrong: Exception, missing: str) -> MissingExtraError:
    """Return the error for a package that is missing, or cannot be imported.

    Args:
        name: of the package, or of a module in it.
        wrong: what importing it raised.
        missing: the message if it, or a package that holds it, is missing.

    Example:
        >>> import_error("torch", ModuleNotFoundError(name="torch"), "install torch")
        MissingExtraError('install torch')
    """
    is_absent = isinstance(wrong, ModuleNotFoundError) and f"{name}.".startswith(f"{wrong.name}.")
    return MissingExtraError(missing if is_absent else describe_failure(name, wrong))


def is_missing(error: MissingExtraError) -> bool:
    """Return whether the package is not installed, so that a fallback without it is sound."""
    return isinstance(error.__cause__, ModuleNotFoundError)


def import_cause(wrong: Exception) -> Exception:
    """Return the error that made an import fail; some packages wrap it in a page of advice."""
    while isinstance(wrong.__cause__, ImportError | OSError):
        wrong = wrong.__cause__
    return wrong


def describe_failure(name: str, wrong: Exception) -> str:
    """Return a message of one line for a package that is installed and cannot be imported."""
    cause = import_cause(wrong)
    reason = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
    return (
        f"importing {name.partition('.')[0]} failed ({reason}): reinstall it, or let the process "
        "use more memory"
    )


if TYPE_CHECKING:
    import hashlib
    import json
    import numbers
    import unicodedata

    import numpy as np
    import numpy.typing as npt
    import regex
else:
    hashlib, json, numbers, unicodedata = map(module, ("hashlib", "json", "numbers", "unicodedata"))
    np, npt, regex = (
        _ExtensionLater(partial(_import, name)) for name in ("numpy", "numpy.typing", "regex")
    )


def names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return a package's ``__getattr__``, which takes names from modules when they are asked for.

    Args:
        package: its name.
        modules: in which module of the package each name is.
    """

    def find(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, found)  # from now on it is found there
        return found

    return find


def pattern(text: str) -> regex.Pattern[str]:
    r"""Return a pattern of the ``regex`` package, compiled when a method of it is called.

    Example:
        >>> pattern(r"(?i)\p{Lu}").match("a").span()
        (0, 1)
    """
    return cast("regex.Pattern[str]", _Later(lambda: regex.compile(text)))
