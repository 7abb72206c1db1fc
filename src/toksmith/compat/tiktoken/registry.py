"""Encodings by name: the published ones, and those of plugins in ``tiktoken_ext``."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from toksmith.compat.tiktoken.core import REGISTERED, Encoding, find_registered
from toksmith.formats import published

NAMES = (
    *("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"),
    "o200k_harmony",
)
"""The published encodings that tiktoken lists; ``toksmith-small`` is found too."""

_OWN_PLUGIN = "tiktoken_ext.openai_public"
"""tiktoken's module of the published encodings, which are toksmith's here."""

_lock = threading.RLock()
ENCODINGS = REGISTERED
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] | None = None
"""The functions that return the arguments of an encoding, by name; ``None`` before first use."""


def _published(name: str) -> dict[str, Any]:
    encoding = Encoding.of(name, published.fetch(name))
    return {
        "name": name,
        "pat_str": encoding._pat_str,
        "mergeable_ranks": encoding._mergeable_ranks,
        "special_tokens": encoding._special_tokens,
    }


@lru_cache
def _available_plugin_modules() -> list[str]:
    try:
        import tiktoken_ext
    except ImportError:
        return []
    prefix = tiktoken_ext.__name__ + "."
    return [module.name for module in pkgutil.iter_modules(tiktoken_ext.__path__, prefix)]


def _find_constructors() -> dict[str, Callable[[], dict[str, Any]]]:
    global ENCODING_CONSTRUCTORS
    with _lock:
        if ENCODING_CONSTRUCTORS is None:
            constructors: dict[str, Callable[[], dict[str, Any]]] = {
                name: partial(_published, name) for name in NAMES
            }
            for module in _available_plugin_modules():
                if module == _OWN_PLUGIN:
                    continue
                plugin = importlib.import_module(module)
                if not hasattr(plugin, "ENCODING_CONSTRUCTORS"):
                    raise ValueError(
                        f"tiktoken plugin {module} does not define ENCODING_CONSTRUCTORS"
                    )
                for name, constructor in plugin.ENCODING_CONSTRUCTORS.items():
                    if name in constructors:
                        raise ValueError(
                            f"Duplicate encoding name {name} in tiktoken plugin {module}"
                        )
                    constructors[name] = constructor
            ENCODING_CONSTRUCTORS = constructors
        return ENCODING_CONSTRUCTORS


def get_encoding(encoding_name: str) -> Encoding:
    """Return an encoding by its name; the same object each time.

    Args:
        encoding_name: a name of :func:`list_encoding_names`, or ``"toksmith-small"``.

    Raises:
        ValueError: there is no such encoding.
        toksmith.errors.DownloadError: its file is in no cache and cannot be downloaded.

    Example:
        >>> get_encoding("toksmith-small") is get_encoding("toksmith-small")
        True
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    if encoding_name in ENCODINGS:
        return ENCODINGS[encoding_name]
    with _lock:
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = _make(encoding_name)
        return ENCODINGS[encoding_name]


find_registered.append(get_encoding)


def _make(name: str) -> Encoding:
    constructor = _find_constructors().get(name)
    is_published = isinstance(constructor, partial) and constructor.func is _published
    if is_published or (constructor is None and name in published.ENCODINGS):
        return Encoding.of(name, published.fetch(name))
    if constructor is None:
        raise ValueError(
            f"Unknown encoding {name}.\n"
            f"Plugins found: {_available_plugin_modules()}\n"
            f"Known names: {', '.join(_find_constructors())}"
        )
    return Encoding(**constructor())


def list_encoding_names() -> list[str]:
    """Return the names of the published encodings and of those of plugins.

    Example:
        >>> "cl100k_base" in list_encoding_names()
        True
    """
    return list(_find_constructors())
