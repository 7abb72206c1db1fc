"""The tokenizers of the explorer, by key; each is loaded at its first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeAlias

from toksmith.errors import OptionError
from toksmith.explorer.vocabulary import Vocabulary
from toksmith.formats import published
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer

Loader: TypeAlias = Callable[[], Tokenizer]

BYTES = "bytes"
"""The key of the tokenizer that is always listed: each byte is a token."""


@dataclass
class LazyTokenizer:
    """A tokenizer that is loaded at its first use.

    Attributes:
        key: its name in links.
        name: its name on pages.
        loader: returns the tokenizer.
        is_given: whether the user named it; pages begin with such tokenizers.
    """

    key: str
    name: str
    loader: Loader
    is_given: bool = True
    _made: Tokenizer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer; raises the errors of loading."""
        with self._lock:
            if self._made is None:
                self._made = self.loader()
            return self._made

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its searchable vocabulary."""
        return Vocabulary(self.tokenizer)


class LoadedTokenizers:
    """Tokenizers in the order in which they were added; bytes come last.

    Example:
        >>> loaded = LoadedTokenizers()
        >>> loaded.add("mine", raw_bytes)
        'mine'
        >>> loaded.add("mine", raw_bytes)
        'mine-2'
        >>> [entry.name for entry in loaded.entries()]
        ['mine', 'mine-2', 'bytes']
    """

    def __init__(self) -> None:
        self._entries: dict[str, LazyTokenizer] = {}
        self._bytes = LazyTokenizer(BYTES, BYTES, raw_bytes, is_given=False)

    def add(self, name: str, loader: Loader, is_given: bool = True) -> str:
        """Add a tokenizer, and return its key: the name, with a number if it is taken."""
        key, number = name, 1
        while key in self._entries or key == BYTES:
            number += 1
            key = f"{name}-{number}"
        self._entries[key] = LazyTokenizer(key, key, loader, is_given)
        return key

    def put(self, name: str, tok: Tokenizer) -> str:
        """Add a tokenizer that is loaded already, and return its key."""
        return self.add(name, lambda: tok)

    def add_published(self) -> None:
        """Add the published encodings that are cached on this machine."""
        for name in published.at_hand():
            if name not in self._entries:
                self.add(name, partial(_published, name), is_given=False)

    def entries(self) -> list[LazyTokenizer]:
        """Return all tokenizers."""
        return [*self._entries.values(), self._bytes]

    def __getitem__(self, key: str) -> LazyTokenizer:
        entry = self._bytes if key == BYTES else self._entries.get(key)
        if entry is None:
            raise OptionError(
                f"unknown tokenizer {key!r}: start the explorer with it, or open its file"
            )
        return entry


def _published(name: str) -> Tokenizer:
    return Tokenizer(published.fetch(name, download=False))


def raw_bytes() -> Tokenizer:
    """Return the tokenizer whose tokens are the 256 bytes.

    Example:
        >>> raw_bytes().encode("é")
        [195, 169]
    """
    vocab = tuple(bytes([byte]) for byte in range(256))
    return Tokenizer(Pipeline(BPE(vocab, []), name=BYTES))
