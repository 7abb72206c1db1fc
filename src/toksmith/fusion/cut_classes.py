"""Cut classes: classes of characters that determine between which characters a chunk may end.

The normalized form of each character starts with a *cut class* and ends with one. A chunk may end
between two characters unless the last cut class of the one and the first of the other are
*inseparable*.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Set
from enum import IntEnum
from itertools import product, repeat
from typing import TYPE_CHECKING, TypeAlias

from toksmith._base.records import dataclass, field, replace
from toksmith.fusion import Unfused
from toksmith.models import (
    CharacterBPE,
    LongestMatch,
    Model,
    Pieces,
    PieceType,
    SentencePieceBPE,
    Unigram,
)
from toksmith.splitters import (
    ByteSpelling,
    Metaspace,
    PatternSplitter,
    Splitter,
    SplitterSequence,
    WhitespaceSplit,
)
from toksmith.stages.character_classes import WHITE_SPACE
from toksmith.stages.split_classes import ALONE, MOST_CLASSES, REMOVED, TEXT
from toksmith.stages.split_classes import class_table as classes_of

if TYPE_CHECKING:
    from toksmith.fusion.pattern_units import PatternUnits

OPEN = 0xFFFF
"""The cut class of a character that is inseparable from all its neighbours."""

UNKNOWN = 0
"""The cut class of all characters that no token holds."""


class Unit(IntEnum):
    """The splitter's treatment of a character; ``RUN`` and above: a run of one class is a piece."""

    REMOVED = 0
    ALONE = 1
    START = 2
    SPACE = 3
    RUN = 4


Codes: TypeAlias = Iterable[int]

FindNeighbours: TypeAlias = Callable[[tuple[bytes, ...]], "tuple[str, str] | None"]
"""Returns the characters of tokens, and all pairs of characters that are side by side in a token,
one pair after the other; ``None`` if a token is invalid UTF-8."""


@dataclass(frozen=True)
class CutClasses:
    """The cut class and the unit of each character.

    Attributes:
        inseparable: the pairs of cut classes between which a chunk must not end.
        class_of: returns the cut class of each code point.
        unit_of: returns the :class:`Unit` of each code point.
        mark: the character by which the splitter replaces a space, or ``""``.
        spaces: the characters of a normalized text that it replaces.
        last: the cut classes that have another value at the end of a normalized form.
        bound: the cut classes of characters whose chunks depend on their neighbours.
        spelled: whether the splitter spells each byte of a piece as a character.
    """

    inseparable: Set[tuple[int, int]]
    class_of: Callable[[Codes], Iterable[int]]
    unit_of: Callable[[Codes], Iterable[int]]
    mark: str = ""
    spaces: str = " "
    last: Mapping[int, int] = field(default_factory=dict)
    bound: Set[int] = frozenset()
    spelled: bool = False

    def seen(self, codes: Codes) -> tuple[array[int], bytes]:
        """Return the cut class (uint16) and the :class:`Unit` of each code point."""
        codes = [*codes]
        return array("H", self.class_of(codes)), bytes(self.unit_of(codes))


def cut_classes_of(
    splitter: Splitter | None, model: Model, collapse: str, find_neighbours: FindNeighbours
) -> CutClasses:
    """Return the cut classes of a splitter and a model.

    Args:
        splitter: cuts the text into pieces.
        model: encodes the pieces.
        collapse: the character of which the normalizer collapses runs, or ``""``.
        find_neighbours: see :func:`~toksmith.fusion.rules.find_rules`.

    Raises:
        Unfused: single characters do not decide.
    """
    if splitter is None or isinstance(splitter, Metaspace):
        if isinstance(model, Unigram) and not (splitter is None and model.single):
            # Scores are summed with rounding from the start of a piece, so only pieces may be cut.
            if not isinstance(splitter, Metaspace):
                raise Unfused("a Unigram model of tokenizer.json needs a pre-tokenizer")
            return cut_classes_of_pieces(splitter, bool(collapse))
        tokens = matched_tokens(model)
        if tokens is None:
            raise Unfused(f"a {type(model).__name__} model with these options needs a splitter")
        found = find_neighbours(tokens)
        if found is None:
            raise Unfused("a token is invalid UTF-8")
        if len(found[0]) >= OPEN - 2:
            raise Unfused("the vocabulary holds too many characters")
        return cut_classes_of_vocabulary(model, *found, splitter, collapse)
    if (metaspace := metaspace_of_words(splitter)) is not None:
        return cut_classes_of_words(metaspace.replacement)
    if collapse:
        raise Unfused(f"collapsing spaces before {type(splitter).__name__}")
    if (classes := classes_of(splitter)) is not None:
        return cut_classes_of_runs(classes)
    if (units := pattern_units_of(splitter)) is not None:
        return cut_classes_of_pattern(units, spells_bytes(splitter))
    raise Unfused(f"{splitter!r:.60} looks beyond single characters")


def metaspace_of_words(splitter: Splitter | None) -> Metaspace | None:
    """Return the second step of a splitter that drops white space and marks each word.

    Example:
        >>> metaspace_of_words(SplitterSequence((WhitespaceSplit(), Metaspace())))
        Metaspace(replacement='▁', prepend='always', split=True)
    """
    if not isinstance(splitter, SplitterSequence) or len(splitter.steps) != 2:
        return None
    first, second = splitter.steps
    if not isinstance(first, WhitespaceSplit) or not isinstance(second, Metaspace):
        return None
    return second if second.prepend == "always" else None


def cut_classes_of_words(mark: str) -> CutClasses:
    """Return two cut classes, white space and all else; words start with white space, as a mark.

    A mark of the text itself is seen as white space, so it must be context-sensitive.
    """
    return replace(
        _two_cut_classes(mark, {mark: Unit.START}, {(0, 0), (1, 0), (1, 1)}), spaces=WHITE_SPACE
    )


def cut_classes_of_runs(classes: bytes) -> CutClasses:
    """Return each class of a splitter as a cut class; only runs of one class are inseparable."""
    runs = [run for run in range(TEXT, MOST_CLASSES) if run in classes]
    kinds = bytes([Unit.REMOVED, Unit.ALONE, *(Unit.RUN + run - TEXT for run in runs)])
    # Dropped characters are inseparable from the next character, which makes fewer chunks.
    inseparable = {(REMOVED, other) for other in (REMOVED, ALONE, *runs)}
    inseparable |= {(run, run) for run in runs}
    # But at the end of a normalized form, a dropped character may end a chunk.
    return CutClasses(
        inseparable,
        lambda codes: map(classes.__getitem__, codes),
        lambda codes: (kinds[classes[code]] for code in codes),
        last={REMOVED: ALONE},
    )


def pattern_units_of(splitter: Splitter | None) -> PatternUnits | None:
    """Return the classes of a splitter that begins with a pattern; ``None`` for another one.

    Raises:
        Unfused: single characters do not decide.
    """
    first = splitter.steps[0] if isinstance(splitter, SplitterSequence) else splitter
    if splitter is None or not isinstance(first, PatternSplitter):
        return None
    from toksmith.fusion.pattern_units import find_pattern_units  # needs the compiler

    return find_pattern_units(splitter)


def spells_bytes(splitter: Splitter) -> bool:
    """Return whether a splitter ends with the spelling of bytes."""
    return isinstance(splitter, SplitterSequence) and isinstance(splitter.steps[-1], ByteSpelling)


def cut_classes_of_pattern(units: PatternUnits, spelled: bool) -> CutClasses:
    """Return each class of a pattern as a cut class, in the runs that it makes."""
    count = units.classes.count
    kinds = [int(Unit.RUN) + run for run in units.runs]
    for kind in units.alone:
        kinds[kind] = Unit.ALONE
    for kind in units.dropped:
        kinds[kind] = Unit.REMOVED
    starts, classes = units.classes.starts, units.classes.classes

    def class_of(codes: Codes) -> Iterable[int]:
        return (classes[bisect_right(starts, code) - 1] for code in codes)

    # As in cut_classes_of_runs.
    inseparable = units.inseparable | set(product(units.dropped, range(count)))
    return CutClasses(
        inseparable,
        class_of,
        lambda codes: (kinds[each] for each in class_of(codes)),
        last=dict.fromkeys(units.dropped, count),
        bound=units.bound,
        spelled=spelled,
    )


def cut_classes_of_pieces(splitter: Metaspace, collapse: bool) -> CutClasses:
    """Return two cut classes, the mark and all others; only the start of a piece may be cut."""
    inseparable = {(0, 0), (1, 0), (1, 1)}
    if not splitter.split:
        inseparable.add((0, 1))
    elif not collapse:
        inseparable.remove((1, 1))
    kind = Unit.START if splitter.split else Unit.SPACE
    starts = {splitter.replacement: kind} if splitter.split or collapse else {}
    return _two_cut_classes(splitter.replacement, starts, inseparable)


def _two_cut_classes(
    mark: str, kinds: Mapping[str, Unit], inseparable: Set[tuple[int, int]]
) -> CutClasses:
    return CutClasses(inseparable, _looked_up({ord(mark): 1}, 0), _units(kinds), mark)


def cut_classes_of_vocabulary(
    model: Model, held: str, neighbours: str, metaspace: Metaspace | None, collapse: str
) -> CutClasses:
    """Return a cut class for each character of the vocabulary; a token holds inseparable pairs."""
    mark = metaspace.replacement if metaspace else ""
    starts = metaspace is not None and metaspace.split
    characters = set(held) | {"\u2581", " "} | set(mark)
    known = {c: 1 + place for place, c in enumerate(sorted(characters))}
    inseparable = {
        (known[left], known[right])
        for left, right in zip(neighbours[::2], neighbours[1::2], strict=True)
        if not (starts and right == mark)
    }
    unknown = characters - known_alone(model)
    other = UNKNOWN  # the cut class of characters that no token holds
    if fuses_unknown(model):
        some = {UNKNOWN, *(known[c] for c in unknown)}
        inseparable |= set(product(some, some))
    elif drops_unknown(model):
        other = OPEN
        known |= dict.fromkeys(unknown, OPEN)
    kinds: dict[str, Unit] = {}
    if starts:
        kinds[mark] = Unit.START
    elif collapse:
        kinds[mark or collapse] = Unit.SPACE
    if collapse:
        # A space is inseparable from the next character, because it may be collapsed or trimmed.
        space = mark or collapse
        inseparable |= {(known[space], other) for other in (UNKNOWN, *known.values())}
    by_code = {ord(character): cut_class for character, cut_class in known.items()}
    inseparable = {pair for pair in inseparable if OPEN not in pair}
    return CutClasses(inseparable, _looked_up(by_code, other), _units(kinds), mark)


def _units(kinds: Mapping[str, Unit]) -> Callable[[Codes], Iterable[int]]:
    return _looked_up({ord(character): int(unit) for character, unit in kinds.items()}, Unit.RUN)


def _looked_up(by_code: Mapping[int, int], other: int) -> Callable[[Codes], Iterable[int]]:
    """Return a function that looks up several code points at once, without a call for each."""
    return lambda codes: map(by_code.get, codes, repeat(int(other)))


def matched_tokens(model: Model) -> tuple[bytes, ...] | None:
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
    return vocab


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
