"""How a splitter and a model see the characters of normalized text: what is closed, what is open.

Every character of a text ends with an *atom* and starts with one: those of the characters that
the normalizer makes of it. Where a pair of atoms is not joined, a chunk may end.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence, Set
from enum import IntEnum
from itertools import accumulate, chain, pairwise, product, repeat
from typing import Protocol

from toksmith.models import (
    CharacterBPE,
    LongestMatch,
    Model,
    Pieces,
    PieceType,
    SentencePieceBPE,
    Unigram,
)
from toksmith.reference.character_maps import classes as classes_of
from toksmith.splitters import Metaspace, Splitter

OPEN = 0xFFFF
"""The atom of a character beside which nothing is cut."""

UNKNOWN = 0
"""The atom of all characters that no token holds."""


class Unit(IntEnum):
    """What the splitter makes of a character; ``RUN`` and above: a run of one class is a piece."""

    REMOVED = 0
    ALONE = 1
    START = 2
    SPACE = 3
    RUN = 4


class Atoms(Protocol):
    """Characters as atoms.

    Attributes:
        joined: the pairs of atoms that are not parted.
        mark: what the splitter writes for a space, if anything.
    """

    joined: Set[tuple[int, int]]
    mark: str

    def of(self, text: str, sizes: Sequence[int]) -> tuple[array[int], bytes]:
        """Return the atom (uint16) and the :class:`Unit` of each character of a text.

        Args:
            text: what some characters become, end to end, as the splitter writes it.
            sizes: how many characters each of them becomes.
        """


def atoms_of(splitter: Splitter | None, model: Model, collapse: bool) -> Atoms | None:
    """Return the atoms of a splitter and a model; ``None`` where single characters do not tell.

    Args:
        splitter: what cuts the text.
        model: what encodes the pieces.
        collapse: the normalizer makes one space of several.
    """
    if splitter is None or isinstance(splitter, Metaspace):
        if isinstance(model, Unigram) and not (splitter is None and model.single):
            # Sums are rounded from the start of each piece: only between pieces may one cut.
            return PieceAtoms(splitter, collapse) if isinstance(splitter, Metaspace) else None
        tokens = matched_tokens(model)
        if tokens is None or len(set("".join(tokens))) >= OPEN - 2:
            return None
        return VocabularyAtoms(model, tokens, splitter, collapse)
    classes = None if collapse else classes_of(splitter)
    return ClassAtoms(classes) if classes else None


class ClassAtoms:
    """Each class of characters is an atom; only inside a run of one class is nothing parted."""

    mark: str = ""

    def __init__(self, classes: bytes) -> None:
        self._classes = classes
        # What is dropped stays with what follows it: that makes fewer chunks.
        self.joined: Set[tuple[int, int]] = {(_DROPPED, other) for other in range(_MOST_CLASSES)}
        self.joined |= {(run, run) for run in range(_ALONE + 1, _MOST_CLASSES)}

    def of(self, text: str, sizes: Sequence[int]) -> tuple[array[int], bytes]:
        """Return the classes, and what they do to pieces."""
        classes = bytes(map(self._classes.__getitem__, map(ord, text)))
        atoms = array("H", list(classes))
        if _DROPPED in classes:
            for size, end in zip(sizes, accumulate(sizes), strict=True):
                if size > 1 and classes[end - 1] == _DROPPED:
                    atoms[end - 1] = _ALONE  # it ends what a character becomes, and may end a chunk
        return atoms, classes.translate(_UNITS)


_DROPPED, _ALONE = 0, 1
_MOST_CLASSES = 250
_UNITS = bytes([Unit.REMOVED, Unit.ALONE, *range(Unit.RUN, 256)]).ljust(256, b"\xff")


class PieceAtoms:
    """Nothing is parted but where the splitter starts a piece."""

    def __init__(self, splitter: Metaspace, collapse: bool) -> None:
        self.mark = splitter.replacement
        self._mark_unit = Unit.START if splitter.split else Unit.RUN
        self.joined: Set[tuple[int, int]] = {(0, 0), (1, 0), (1, 1)}
        if not splitter.split:
            self.joined |= {(0, 1)}
        elif not collapse:
            self.joined -= {(1, 1)}

    def of(self, text: str, sizes: Sequence[int]) -> tuple[array[int], bytes]:
        """Return whether each character is a mark, and what it does to pieces."""
        marks = [character == self.mark for character in text]
        return array("H", marks), bytes([self._mark_unit if mark else Unit.RUN for mark in marks])


class VocabularyAtoms:
    """Each character that a token holds is an atom; neighbours inside tokens are joined."""

    def __init__(
        self, model: Model, tokens: list[str], metaspace: Metaspace | None, collapse: bool
    ) -> None:
        self.mark = metaspace.replacement if metaspace else ""
        starts = metaspace is not None and metaspace.split
        characters = set("".join(tokens)) | {"\u2581", " "} | set(self.mark)
        atoms = {c: 1 + place for place, c in enumerate(sorted(characters))}
        joined = {
            (atoms[left], atoms[right])
            for left, right in set(chain.from_iterable(map(pairwise, tokens)))
            if not (starts and right == self.mark)
        }
        unknown = characters - known_alone(model)
        self._unknown = UNKNOWN
        if fuses_unknown(model):
            some = {UNKNOWN, *(atoms[c] for c in unknown)}
            joined |= set(product(some, some))
        elif drops_unknown(model):
            self._unknown = OPEN
            atoms |= dict.fromkeys(unknown, OPEN)
        self._kinds: dict[str, Unit] = {}
        if starts:
            self._kinds[self.mark] = Unit.START
            if collapse:
                joined.add((atoms[self.mark], atoms[self.mark]))
        elif collapse:
            # Behind a space nothing is parted: it may be the first of several, or the last of all.
            self._kinds["\u2581"] = Unit.SPACE
            joined |= {(atoms["\u2581"], other) for other in (UNKNOWN, *atoms.values())}
        self._atoms = {ord(c): atom for c, atom in atoms.items()}
        self.joined: Set[tuple[int, int]] = {pair for pair in joined if OPEN not in pair}

    def of(self, text: str, sizes: Sequence[int]) -> tuple[array[int], bytes]:
        """Return the atoms of the characters, and what they do to pieces."""
        # Numbers are hashed far sooner than characters, and an array is made of a list three times
        # as fast as of what is yet to be counted.
        codes = array("I", text.encode("utf-32", "surrogatepass")[4:])  # behind the byte order
        atoms = array("H", list(map(self._atoms.get, codes, repeat(self._unknown))))
        if any(mark in text for mark in self._kinds):
            return atoms, bytes(map(self._kinds.get, text, repeat(Unit.RUN)))
        return atoms, bytes([Unit.RUN]) * len(text)


def matched_tokens(model: Model) -> list[str] | None:
    """Return the tokens that are found in text; ``None`` where neighbours do not decide that."""
    vocab = model.vocab
    if isinstance(model, Pieces):
        never = (PieceType.UNKNOWN, PieceType.CONTROL, PieceType.BYTE)
        vocab = tuple(v for v, kind in zip(vocab, model.types.tolist(), strict=True)
                      if kind not in never)  # fmt: skip
    elif isinstance(model, CharacterBPE):
        if model.continuing_prefix or model.word_suffix or model.whole_chunk_first:
            return None
    elif not isinstance(model, LongestMatch):
        return None
    try:
        return [token.decode() for token in vocab]
    except UnicodeDecodeError:
        return None


def known_alone(model: Model) -> set[str]:
    """Return the characters that are tokens; others may be unknown, even where tokens hold them."""
    vocab = model.vocab
    if isinstance(model, Pieces):
        usable = (PieceType.NORMAL, PieceType.USER_DEFINED)
        vocab = tuple(v for v, kind in zip(vocab, model.types.tolist(), strict=True)
                      if kind in usable)  # fmt: skip
    short = (token.decode() for token in vocab if len(token) <= 4)  # the most bytes of a character
    return {token for token in short if len(token) == 1}


def fuses_unknown(model: Model) -> bool:
    """Return whether unknown characters side by side become one token."""
    if isinstance(model, SentencePieceBPE):
        return not model.byte_fallback
    if isinstance(model, Unigram):
        return model.fuse_unk and not model.byte_fallback
    if isinstance(model, CharacterBPE | LongestMatch):
        return model.fuse_unk and model.unk_id is not None
    return True


def drops_unknown(model: Model) -> bool:
    """Return whether what stands around an unknown character may merge."""
    return isinstance(model, CharacterBPE) and model.unk_id is None
