"""A tokenizer against the library that it comes from: the texts that differ, and the first one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from toksmith._base.text import Text, string, utf8
from toksmith._base.visible import visible
from toksmith.errors import UnsupportedError
from toksmith.formats import hub
from toksmith.loading import AnyTokenizer
from toksmith.measure.hard_texts import is_unassigned
from toksmith.measure.peers import Mode, Peer, load_peer, version_of
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special

_BATCH = 1_000
"""The number of texts that are encoded at a time."""
_TRIES = 500
"""The number of parts of a differing text that are tried, to find a short one."""


@dataclass(frozen=True)
class LibraryDifference:
    """The first difference between a tokenizer and the library that it comes from.

    Attributes:
        library: the package with its version.
        text: the text that was encoded.
        part: the shortest part of it that was found to differ; the ids are those of this part.
        special: the treatment of special tokens in the text; see :meth:`Tokenizer.encode`.
        add_special_tokens: whether the ids of the template were added.
        place: the number of equal ids before the first difference.
        left_ids: toksmith's ids.
        right_ids: the library's ids.
        left_tokens: toksmith's tokens, printable.
        right_tokens: the library's tokens, as it spells them.
        unassigned: the first character of the part that Unicode 16.0 does not assign, or ``""``.
            toksmith follows 16.0; a library that follows another version may split there.

    Example:
        >>> from dataclasses import fields
        >>> [each.name for each in fields(LibraryDifference)][:3]
        ['library', 'text', 'part']
    """

    library: str
    text: str
    part: str
    special: Special
    add_special_tokens: bool
    place: int
    left_ids: list[int]
    right_ids: list[int]
    left_tokens: list[str]
    right_tokens: list[str]
    unassigned: str


def _path_of(source: AnyTokenizer) -> Path | None:
    """Return the path that a tokenizer was loaded from; ``None`` if there is none."""
    if not isinstance(source, str | PathLike):
        return None
    if os.path.lexists(source):
        return Path(source)
    return hub.find(source) if isinstance(source, str) and hub.is_name(source) else None


class Original:
    """A tokenizer beside its original library.

    Args:
        library: a name of :data:`toksmith.measure.peers.LIBRARIES`.
        tokenizer: the tokenizer.
        source: what it was loaded from; a path is given to the library if it reads the format.

    Raises:
        OptionError: there is no such library.
        MissingExtraError: the library is not installed.
        UnsupportedError: the library cannot hold the tokenizer.
    """

    def __init__(self, library: str, tokenizer: Tokenizer, source: AnyTokenizer) -> None:
        self._tokenizer = tokenizer
        self._peer: Peer = load_peer(library, tokenizer, _path_of(source))
        self.library = version_of(library)

    def first_difference(self, texts: Sequence[Text]) -> LibraryDifference | None:
        """Return the first difference in some texts, ``None`` if there is none."""
        found = next(self.differing(texts), None)
        return found and self.describe(texts[found[0]], found[1])

    def differing(self, texts: Sequence[Text]) -> Iterator[tuple[int, Mode]]:
        """Yield the place of each text that differs, and the first mode in which it does."""
        for start in range(0, len(texts), _BATCH):
            some = [self._readable(text) for text in texts[start : start + _BATCH]]
            found: dict[int, Mode] = {}
            for mode in self._peer.modes:
                ours, theirs = self._ours(some, mode), self._theirs(some, mode)
                for place, (one, other) in enumerate(zip(ours, theirs, strict=True), start):
                    if one != other:
                        found.setdefault(place, mode)
            yield from sorted(found.items())

    def describe(self, text: Text, mode: Mode) -> LibraryDifference:
        """Return the difference that a text makes, of a short part of it."""

        def differs(part: str) -> bool:
            return self._ours([part], mode) != self._theirs([part], mode)

        whole = self._readable(text)
        part = shortened(whole, differs)
        (left,), (right,) = self._ours([part], mode), self._theirs([part], mode)
        unequal = (i for i, pair in enumerate(zip(left, right)) if pair[0] != pair[1])  # noqa: B905
        return LibraryDifference(
            library=self.library,
            text=whole,
            part=part,
            special=mode.special,
            add_special_tokens=mode.add_special_tokens,
            place=next(unequal, min(len(left), len(right))),
            left_ids=left,
            right_ids=right,
            left_tokens=[visible(self._tokenizer.token_bytes(each)) for each in left],
            right_tokens=[self._peer.token(each) for each in right],
            unassigned=next(filter(is_unassigned, part), ""),
        )

    def _readable(self, text: Text) -> str:
        """Return a text as the library takes it: most take no halves of surrogate pairs."""
        return string(text if self._peer.takes_surrogates else utf8(text))

    def _theirs(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        try:
            return self._peer.encode(texts, mode)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as wrong:  # a panic of a library in Rust is no Exception
            raise UnsupportedError(
                f"{self.library} fails on a text: {type(wrong).__name__}: {wrong}; give other texts"
            ) from wrong

    def _ours(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        return self._tokenizer.encode_batch(
            texts, special=mode.special, add_special_tokens=mode.add_special_tokens, threads=1
        ).to_lists()


def shortened(text: str, differs: Callable[[str], bool]) -> str:
    """Return a short part of a differing text that differs too, made by leaving out stretches.

    Args:
        text: the text.
        differs: whether a text differs.

    Example:
        >>> shortened("one two three", lambda part: "w" in part and "t" in part)
        'tw'
    """
    tries = iter(range(_TRIES))
    length = len(text)
    while length := length // 2:
        start = 0
        while start < len(text):
            if next(tries, None) is None:
                return text
            part = text[:start] + text[start + length :]
            if part != text and differs(part):
                text = part
            else:
                start += length
    return text
