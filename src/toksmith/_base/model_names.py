"""The published encoding that each language model uses, by the model's name."""

from __future__ import annotations

import re
from collections.abc import Iterable

MODELS: dict[str, tuple[str, ...]] = {
    "o200k_base": ("gpt-5", "gpt-4.1", "gpt-4o", "o4-mini", "o3", "o1"),
    "cl100k_base": (
        *("gpt-4", "gpt-3.5-turbo", "gpt-3.5", "gpt-35-turbo"),
        *("text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"),
        *("davinci-002", "babbage-002"),
    ),
    "p50k_base": (
        *("text-davinci-003", "text-davinci-002", "code-davinci-002", "code-davinci-001"),
        *("code-cushman-002", "code-cushman-001", "davinci-codex", "cushman-codex"),
    ),
    "p50k_edit": ("text-davinci-edit-001", "code-davinci-edit-001"),
    "r50k_base": (
        *("text-davinci-001", "text-curie-001", "text-babbage-001", "text-ada-001"),
        *("davinci", "curie", "babbage", "ada"),
        *(f"text-similarity-{size}-001" for size in ("davinci", "curie", "babbage", "ada")),
        *(f"text-search-{size}-doc-001" for size in ("davinci", "curie", "babbage", "ada")),
        *(f"code-search-{size}-code-001" for size in ("babbage", "ada")),
    ),
    "gpt2": ("gpt-2",),
}
"""The models of each encoding; those that people mean most often come first."""

PREFIXES: dict[str, tuple[str, ...]] = {
    "o200k_base": (
        *("gpt-5", "gpt-4.5-", "gpt-4.1-", "gpt-4o-", "chatgpt-4o-", "o4-mini-", "o3-", "o1-"),
        "ft:gpt-4o",
    ),
    "o200k_harmony": ("gpt-oss-",),
    "cl100k_base": (
        *("gpt-4-", "gpt-3.5-turbo-", "gpt-35-turbo-"),
        *("ft:gpt-4", "ft:gpt-3.5-turbo", "ft:davinci-002", "ft:babbage-002"),
    ),
}
"""Starts of names, for the many dated and fine-tuned versions; a longer one counts first."""

_ENCODING_OF = {model: name for name, models in MODELS.items() for model in models}
_BY_PREFIX = sorted(
    ((prefix, name) for name, prefixes in PREFIXES.items() for prefix in prefixes),
    key=lambda item: -len(item[0]),
)


def encoding_of_model(name: str) -> str | None:
    """Return the name of the encoding that a model uses; ``None`` for an unknown model.

    Example:
        >>> encoding_of_model("gpt-4o-2024-08-06"), encoding_of_model("ft:gpt-4:mine")
        ('o200k_base', 'cl100k_base')
    """
    if name in _ENCODING_OF:
        return _ENCODING_OF[name]
    return next((found for prefix, found in _BY_PREFIX if name.startswith(prefix)), None)


def nearest(name: str, encodings: Iterable[str]) -> list[str]:
    """Return known names that a wrong one may have meant, at most four.

    Version numbers tell names apart better than letters do: a name of another version is never
    near, unless the wrong name is its beginning.

    Example:
        >>> nearest("gpt5", ["gpt2"]), nearest("gpt4o", []), nearest("llama3", ["gpt2"])
        (['gpt-5'], ['gpt-4o'], [])
    """
    from difflib import SequenceMatcher

    key, version = _key(name), _version(name)
    if not key:
        return []
    alike, starting, close = [], [], []
    for known in (*encodings, *_ENCODING_OF):
        other = _key(known)
        if other == key:
            alike.append(known)
        elif other.startswith(key):
            starting.append(known)
        elif (
            _version(known) == version
            and (ratio := SequenceMatcher(None, key, other).ratio()) >= 0.8
        ):
            close.append((-ratio, known))
    return (alike or starting or [known for _, known in sorted(close)])[:4]


def _key(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _version(name: str) -> list[str]:
    return re.findall(r"[0-9]+", name)
