"""A SHA-256 of JSON entries among these entries, for files whose container has no checksum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toksmith._base.lazy import hashlib, json

_KEY = "sha256"


def seal(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return entries with their SHA-256, to be written as JSON.

    Example:
        >>> seal({"documents": 3})["sha256"][:12]
        'f206de7744f6'
    """
    return {**entries, _KEY: _digest(entries)}


def is_sealed(held: Mapping[str, Any]) -> bool:
    """Return whether entries that were read are those that were sealed.

    Example:
        >>> held = seal({"documents": 3})
        >>> is_sealed(held), is_sealed({**held, "documents": 2}), is_sealed({"documents": 3})
        (True, False, False)
    """
    entries = {name: value for name, value in held.items() if name != _KEY}
    return held.get(_KEY) == _digest(entries)


def _digest(entries: Mapping[str, Any]) -> str:
    canonical = json.dumps(entries, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
