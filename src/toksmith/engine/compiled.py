"""The compiled module, or a stand-in whose every use is an error.

Modules that only work with the compiled module import ``_kernel`` from here, so that a package
without it can be imported, and says what is missing when it is needed. Modules with a fallback in
Python read :data:`is_missing`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

from toksmith.errors import EngineError, warn


class _Absent:
    """Stands for a compiled module that cannot be imported."""

    def __init__(self, why: str) -> None:
        self._why = why

    def __getattr__(self, name: str) -> NoReturn:
        if "interpreter" in self._why:  # Python's own message, or that of the module
            raise EngineError(
                "toksmith runs in Python's main interpreter only, not in a sub-interpreter: use "
                "threads or processes"
            )
        raise EngineError(
            f"the compiled module of toksmith cannot be imported ({self._why}): install a wheel "
            "for this Python and platform, or build one with a C++20 compiler. Without it, "
            "toksmith encodes and decodes slowly (TOKSMITH_ENGINE=reference), and trains only "
            'model="bpe" on bytes'
        )


if TYPE_CHECKING:
    from toksmith import _kernel
else:
    try:
        from toksmith import _kernel
    except ImportError as wrong:
        _kernel = _Absent(str(wrong))

__all__ = ["_kernel", "can_do_without", "instruction_set", "is_missing"]

is_missing: bool = isinstance(_kernel, _Absent)
"""Whether the compiled module cannot be imported."""

_warned = False


def _is_installed() -> bool:
    """Return whether there is a file of the compiled module; one that cannot be loaded counts."""
    from importlib.util import find_spec

    try:
        return find_spec("toksmith._kernel") is not None
    except ImportError:
        return False


def can_do_without() -> bool:
    """Return whether the reference engine takes over: nobody installed a compiled module.

    A module that is there and cannot be loaded is a damaged installation, and remains an error.
    The first call that returns ``True`` warns.
    """
    global _warned
    if not is_missing or _is_installed():
        return False
    if not _warned:
        _warned = True
        warn(
            "toksmith has no compiled module for this Python, so the reference engine runs, "
            "hundreds of times slower: install a wheel for this platform, or build one "
            "(pip install --no-binary toksmith toksmith). With TOKSMITH_ENGINE=reference there is "
            "no warning"
        )
    return True


def instruction_set() -> str:
    """Return the instruction set that a tokenizer created now would run on.

    Raises:
        EngineError: ``TOKSMITH_ISA`` is unknown, or this machine lacks it.
    """
    try:
        return _kernel.instruction_set(os.environ.get("TOKSMITH_ISA", ""))
    except ValueError as wrong:
        raise EngineError(f"TOKSMITH_ISA: {wrong}") from None
