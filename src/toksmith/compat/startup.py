"""Activates :mod:`toksmith.compat.transformers` when a program imports transformers.

``toksmith.pth``, which is installed beside the package, calls :func:`install` at the start of the
interpreter if the environment variable ``TOKSMITH_TRANSFORMERS`` is set. This module imports
nothing of toksmith before transformers' tokenizers are imported.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

# Not imported from typing, collections.abc or warnings: this runs at the start of the interpreter.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MODULES = {
    "transformers.tokenization_utils_tokenizers",  # the class of fast tokenizers, transformers 5
    "transformers.tokenization_utils_fast",  # the same, transformers 4
    "transformers.models.gpt2.tokenization_gpt2",  # slow tokenizers that toksmith runs
    "transformers.models.bert.tokenization_bert",
}
"""The modules whose import activates toksmith."""


def install() -> None:
    """Wait for transformers' tokenizers, and activate toksmith when they are imported."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


class Finder:
    """A finder that finds nothing itself; it adds a step to the loading of :data:`MODULES`."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the usual spec of one of :data:`MODULES`, else ``None``."""
        if name not in MODULES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _activate()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _activate() -> None:
    """Activate toksmith; a failure is a warning, so that the program runs as without toksmith."""
    try:
        from toksmith.compat.transformers import activate

        activate()
    except Exception as wrong:
        import warnings

        warnings.warn(
            f"TOKSMITH_TRANSFORMERS is set, but transformers runs without toksmith: {wrong!r}",
            RuntimeWarning,
            stacklevel=2,
        )
