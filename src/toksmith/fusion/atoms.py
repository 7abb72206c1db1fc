"""Atoms: classes of characters that determine between which characters a chunk may end.

The normalized form of each character starts with an *atom* and ends with one. A chunk may end
between two characters unless the last atom of the one and the first atom of the other are *joined*.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from enum import IntEnum
from itertools import chain, pairwise, product
from typing import TypeAlias

from toksmith._base.lazy import np, npt
from toksmith._base.records import dataclass, field
from toksmith.models import (
    CharacterBPE,
    LongestMatch,
    Model,
    Pieces,
    PieceType,
    SentencePieceBPE,
    Unigram,
)
from toksmith.splitters import Metaspace, Splitter
from toksmith.stages.character_classes import CODE_POINTS, code_points
from toksmith.stages.character_maps import class_table as classes_of

OPEN = 0xFFFF
"""The atom of a character that is joined to all its neighbours."""

UNKNOWN = 0
"""The atom of all characters that no token holds."""


class Unit(IntEnum):
    """The splitter's treatment of a character; ``RUN`` and above: a run of one class is a piece."""

    REMOVED = 0
    ALONE = 1
    START = 2
    SPACE = 3
    RUN = 4


AtomArray: TypeAlias = "npt.NDArray[np.uint16]"
Units: TypeAlias = "npt.NDArray[np.uint8]"


@dataclass(frozen=True)
class Atoms:
    """Characters as atoms.

    Attributes:
        joined: the joined pairs of atoms.
        atoms: the atom of each code point, shape ``(0x110000,)``.
        units: the :class:`Unit` of each code point, shape ``(0x110000,)``.
        mark: the character by which the splitter replaces a space, or ``""``.
        last: the atoms that have another value at the end of a normalized form.
    """

    joined: Set[tuple[int, int]]
    atoms: AtomArray
    units: Units
    mark: str = ""
    last: Mapping[int, int] = field(default_factory=dict)


def atoms_of(splitter: Splitter | None, model: Model, collapse: bool) -> Atoms | None:
    """Return the atoms of a splitter and a model; ``None`` if single characters do not decide.

    Args:
        splitter: cuts the text into pieces.
        model: encodes the pieces.
        collapse: whether the normalizer collapses runs of spaces.
    """
    if splitter is None or isinstance(splitter, Metaspace):
        if isinstance(model, Unigram) and not (splitter is None and model.single):
            # Scores are summed with rounding from the start of a piece, so only pieces may be cut.
            return piece_atoms(splitter, collapse) if isinstance(splitter, Metaspace) else None
        tokens = matched_tokens(model)
        if tokens is None or len(set("".join(tokens))) >= OPEN - 2:
            return None
        return vocabulary_atoms(model, tokens, splitter, collapse)
    classes = None if collapse else classes_of(splitter)
    return class_atoms(classes) if classes else None


def class_atoms(classes: bytes) -> Atoms:
    """Return each class of characters as an atom; only runs of one class are joined."""
    atoms = np.frombuffer(classes, np.uint8)
    most = int(atoms.max()) + 1
    units = np.array([Unit.REMOVED, Unit.ALONE, *range(Unit.RUN, Unit.RUN + most)], np.uint8)
    # Dropped characters are joined to the next character, which makes fewer chunks.
    joined = {(_DROPPED, other) for other in range(most)}
    joined |= {(run, run) for run in range(_ALONE + 1, most)}
    # But at the end of a normalized form, a dropped character may end a chunk.
    return Atoms(joined, atoms.astype(np.uint16), units[atoms], last={_DROPPED: _ALONE})


_DROPPED, _ALONE = 0, 1


def piece_atoms(splitter: Metaspace, collapse: bool) -> Atoms:
    """Return two atoms, the mark and all others; a cut is only allowed at the start of a piece."""
    joined = {(0, 0), (1, 0), (1, 1)}
    if not splitter.split:
        joined.add((0, 1))
    elif not collapse:
        joined.remove((1, 1))
    atoms = np.zeros(CODE_POINTS, np.uint16)
    atoms[ord(splitter.replacement)] = 1
    starts = {splitter.replacement: Unit.START} if splitter.split else {}
    return Atoms(joined, atoms, _units(starts), splitter.replacement)


def vocabulary_atoms(
    model: Model, tokens: list[str], metaspace: Metaspace | None, collapse: bool
) -> Atoms:
    """Return an atom for each character of the vocabulary; pairs inside a token are joined."""
    mark = metaspace.replacement if metaspace else ""
    starts = metaspace is not None and metaspace.split
    characters = set("".join(tokens)) | {"\u2581", " "} | set(mark)
    known = {c: 1 + place for place, c in enumerate(sorted(characters))}
    joined = {
        (known[left], known[right])
        for left, right in set(chain.from_iterable(map(pairwise, tokens)))
        if not (starts and right == mark)
    }
    unknown = characters - known_alone(model)
    atoms = np.zeros(CODE_POINTS, np.uint16)  # zeroed pages take no memory until written
    if fuses_unknown(model):
        some = {UNKNOWN, *(known[c] for c in unknown)}
        joined |= set(product(some, some))
    elif drops_unknown(model):
        atoms[:] = OPEN
        known |= dict.fromkeys(unknown, OPEN)
    atoms[code_points("".join(known))] = list(known.values())
    kinds: dict[str, Unit] = {}
    if starts:
        kinds[mark] = Unit.START
        if collapse:
            joined.add((known[mark], known[mark]))
    elif collapse:
        # A space is joined to the next character, because it may be collapsed or trimmed.
        kinds["\u2581"] = Unit.SPACE
        joined |= {(known["\u2581"], other) for other in (UNKNOWN, *known.values())}
    return Atoms({pair for pair in joined if OPEN not in pair}, atoms, _units(kinds), mark)


def _units(kinds: Mapping[str, Unit]) -> Units:
    units = np.full(CODE_POINTS, int(Unit.RUN), np.uint8)
    for character, unit in kinds.items():
        units[ord(character)] = unit
    return units


def matched_tokens(model: Model) -> list[str] | None:
    """Return the tokens that can match text; ``None`` if pairs of characters do not decide."""
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
    """Return the characters that are tokens; others may be unknown even inside longer tokens."""
    vocab = model.vocab
    if isinstance(model, Pieces):
        usable = (PieceType.NORMAL, PieceType.USER_DEFINED)
        vocab = tuple(v for v, kind in zip(vocab, model.types.tolist(), strict=True)
                      if kind in usable)  # fmt: skip
    short = (
        token.decode() for token in vocab if len(token) <= 4
    )  # UTF-8: at most 4 bytes per character
    return {token for token in short if len(token) == 1}


def fuses_unknown(model: Model) -> bool:
    """Return whether adjacent unknown characters become one token."""
    if isinstance(model, SentencePieceBPE):
        return not model.byte_fallback
    if isinstance(model, Unigram):
        return model.fuse_unk and not model.byte_fallback
    if isinstance(model, CharacterBPE) and model.byte_fallback:
        unknown = model.unk_id is not None and not model.ids.keys() >= _BYTE_TOKENS
        return model.fuse_unk and unknown
    if isinstance(model, CharacterBPE | LongestMatch):
        return model.fuse_unk and model.unk_id is not None
    return True


_BYTE_TOKENS = {b"<0x%02X>" % byte for byte in range(256)}


def drops_unknown(model: Model) -> bool:
    """Return whether the neighbours of an unknown character may merge."""
    return isinstance(model, CharacterBPE) and model.unk_id is None
