"""Running the splitters of text models: each rewrites the text, then cuts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TypeAlias

from toksmith._base.byte_alphabet import spell
from toksmith._base.checks import assert_never
from toksmith._base.lazy import np, npt
from toksmith.normalizers import ByteLevel
from toksmith.splitters import (
    BertSplitter,
    ByteSpelling,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Punctuation,
    SpelledBytes,
    Split,
    Splitter,
    SplitterSequence,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from toksmith.stages.aligned import Aligned, AnyText, Edit, apply_edits
from toksmith.stages.character_classes import (
    WHITE_SPACE,
    code_points,
    flags_of,
    paint,
    places,
    ranges,
    scripts,
    singles,
)
from toksmith.stages.normalize import find_edits
from toksmith.stages.split_behaviors import Span, find_matches, split_at_matches
from toksmith.stages.split_patterns import character_spans

Classes: TypeAlias = "npt.NDArray[np.uint8]"
"""The class of each code point: uint8, shape ``(0x110000,)``."""

REMOVED, ALONE, TEXT, OTHER = range(4)
MOST_CLASSES = 16
"""Sequences of splitters with more classes are run one splitter after the other."""


def character_classes(splitter: Splitter) -> Classes | None:
    """Return the class that a splitter gives each code point; ``None`` if it is not class-based."""
    table = class_table(splitter)
    return None if table is None else np.frombuffer(table, np.uint8)


def class_table(splitter: Splitter) -> bytes | None:
    """Return the class of each code point; ``None`` if the splitter is not class-based.

    0: it is dropped; 1: it is a chunk of its own; from 2 on: a run of one class is a chunk.

    Example:
        >>> [class_table(BertSplitter())[ord(c)] for c in "a b!"], class_table(FixedLength(3))
        ([2, 0, 2, 1], None)
    """
    match splitter:
        case BertSplitter():
            return _classify_bert_splitter(splitter)
        case Whitespace():
            return _classify_whitespace(splitter)
        case WhitespaceSplit():
            return _classify_whitespace_split(splitter)
        case Punctuation():
            return _classify_punctuation(splitter)
        case Digits():
            return _classify_digits(splitter)
        case CharacterDelimiter():
            return _classify_character_delimiter(splitter)
        case SplitterSequence():
            return _classify_sequence(splitter)
        case (
            PatternSplitter()
            | ByteSpelling()
            | FixedLength()
            | LeadingSpace()
            | Metaspace()
            | SpelledBytes()
            | Split()
            | UnicodeScripts()
        ):
            return None
        case _:
            assert_never(splitter)


@cache
def _classify_bert_splitter(splitter: BertSplitter) -> bytes:
    return paint(TEXT, (ranges("PUNCTUATION"), ALONE), (singles(WHITE_SPACE), REMOVED))


@cache
def _classify_whitespace(splitter: Whitespace) -> bytes:
    return paint(OTHER, (ranges("WORD"), TEXT), (singles(WHITE_SPACE), REMOVED))


@cache
def _classify_whitespace_split(splitter: WhitespaceSplit) -> bytes:
    return paint(TEXT, (singles(WHITE_SPACE), REMOVED))


@cache
def _classify_punctuation(splitter: Punctuation) -> bytes | None:
    kinds = {"removed": REMOVED, "isolated": ALONE, "contiguous": OTHER}
    if splitter.behavior not in kinds:  # a mark that joins its neighbour
        return None
    return paint(TEXT, (ranges("PUNCTUATION"), kinds[splitter.behavior]))


@cache
def _classify_digits(splitter: Digits) -> bytes:
    return paint(TEXT, (ranges("NUMBER"), ALONE if splitter.individual else OTHER))


@cache
def _classify_character_delimiter(splitter: CharacterDelimiter) -> bytes:
    return paint(TEXT, (singles(splitter.delimiter), REMOVED))


@lru_cache(64)
def _classify_sequence(splitter: SplitterSequence) -> bytes | None:
    """Return the classes of several splitters together; ``None`` if one of them has no classes.

    A text is cut wherever one of them cuts it, so characters are of one class if they are for each.
    """
    found: bytes | None = None
    for step in splitter.steps:
        table = class_table(step)
        if table is None:
            return None
        found = table if found is None else _both(found, table)
        if found is None:
            return None
    return found


def _both(first: bytes, second: bytes) -> bytes | None:
    """Return the classes of two splitters together; ``None`` if they are too many."""
    # All pairs at once: each is a byte of a long number, and no sum goes beyond its byte.
    pairs = int.from_bytes(first, "little") * MOST_CLASSES + int.from_bytes(second, "little")
    table = pairs.to_bytes(len(first), "little")
    number_of = bytearray(256)
    count = TEXT
    for pair in sorted(set(table)):
        classes = divmod(pair, MOST_CLASSES)
        if REMOVED in classes or ALONE in classes:
            number_of[pair] = REMOVED if REMOVED in classes else ALONE
        else:
            number_of[pair] = count
            count += 1
    return table.translate(number_of) if count <= MOST_CLASSES else None


@lru_cache(64)
def _joined_steps(steps: tuple[Splitter, ...]) -> tuple[Splitter, ...]:
    """Return steps that cut in the same places, as few as possible."""
    joined: list[Splitter] = []
    for step in steps:
        both = SplitterSequence((*joined[-1:], step))
        if joined and class_table(both) is not None:
            joined[-1] = both
        else:
            joined.append(step)
    return tuple(joined)


def class_cuts(classes: Classes, text: str) -> list[Span]:
    """Return the chunks of a text by the classes of its characters.

    Example:
        >>> class_cuts(character_classes(BertSplitter()), "go on!!")
        [(0, 2), (3, 5), (5, 6), (6, 7)]
    """
    kinds = classes[code_points(text)]
    starts = np.flatnonzero((np.diff(kinds, prepend=~kinds[:1]) != 0) | (kinds == ALONE))
    ends = np.append(starts[1:], len(kinds))
    kept = kinds[starts] != REMOVED
    return list(zip(starts[kept].tolist(), ends[kept].tolist(), strict=True))


def script_cuts(text: str) -> list[Span]:
    """Return the runs of one script; characters of any script go with the run before them.

    At the very start there is none, so such characters are lost, as in ``tokenizers``.

    Example:
        >>> script_cuts(" да no")
        [(1, 4), (4, 6)]
    """
    kinds = scripts()[code_points(text)]
    places = np.flatnonzero(kinds)
    starts = places[np.diff(kinds[places], prepend=0) != 0].tolist()
    return list(pairwise([*starts, len(text)])) if starts else []


def split_text(splitter: Splitter | None, text: AnyText, at_start: bool = True) -> list[AnyText]:
    """Return the chunks of a text.

    Args:
        splitter: how to cut; ``None`` leaves the text whole.
        text: normalized text, as a string or with the places of the original.
        at_start: whether the text is the start of its document, not a part after an added token.
            A piece of it is the start of the document where its first character is the
            original's first; a string without the places of the original is taken for it.

    Example:
        >>> from toksmith.splitters import WhitespaceSplit
        >>> split_text(SplitterSequence((WhitespaceSplit(), Metaspace())), "to be")
        ['▁to', '▁be']
    """
    return list(iter_chunks(splitter, text, at_start))


def iter_chunks(
    splitter: Splitter | None, text: AnyText, at_start: bool = True
) -> Iterator[AnyText]:
    """Yield the chunks of a text one by one; see :func:`split_text`.

    Patterns and Metaspace make no list of the chunks of a long text: Ctrl-C ends neither the
    freeing of a list of millions of objects nor a run of the garbage collector over them.
    """
    if splitter is None:
        if len(text):
            yield text
    elif len(text):
        for piece, _ in _pieces(splitter, text, at_start and _starts_original(text, 0)):
            yield piece


def marks_only_first(splitter: Splitter | None) -> bool:
    """Return whether some step puts a mark before the first piece of a document alone."""
    if isinstance(splitter, SplitterSequence):
        return any(map(marks_only_first, splitter.steps))
    return isinstance(splitter, Metaspace) and splitter.prepend == "first"


def _pieces(splitter: Splitter, text: AnyText, at_start: bool) -> Iterator[tuple[AnyText, bool]]:
    """Yield the chunks of a text, and whether each is at the start of the document."""
    if isinstance(splitter, SplitterSequence) and class_table(splitter) is None:
        parts = [(text, at_start)]
        for step in _joined_steps(splitter.steps):
            parts = [piece for part, first in parts for piece in _pieces(step, part, first)]
        yield from parts
    elif isinstance(splitter, SpelledBytes):
        for piece in _spelled_pieces(splitter, text):
            yield piece, False
    else:
        text = apply_edits(text, find_rewrites(splitter, str(text), at_start))
        for start, end in find_cuts(splitter, str(text)):
            if end > start:
                piece = text[start:end]
                yield piece, at_start and _starts_original(piece, start)


def _spelled_pieces(splitter: SpelledBytes, text: AnyText) -> list[AnyText]:
    """Return the chunks of a text whose bytes are cut; bytes beyond ASCII become surrogates."""
    edits = [
        Edit(place, place + 1, character.encode().decode("ascii", "surrogateescape"))
        for place, character in enumerate(str(text))
        if character > "\x7f" and not "\ud800" <= character <= "\udfff"
    ]
    parts = [apply_edits(text, edits) if edits else text]
    for step in splitter.steps:
        parts = [
            part[start:end]
            for part in parts
            for start, end in find_cuts(step, spell(str(part).encode("utf-8", "surrogateescape")))
            if end > start
        ]
    return parts


def _starts_original(piece: str | Aligned, start: int) -> bool:
    return piece.starts[0] == 0 if isinstance(piece, Aligned) else start == 0


def find_rewrites(splitter: Splitter, text: str, at_start: bool) -> Iterable[Edit]:
    """Return the edits that a splitter makes before it cuts."""
    match splitter:
        case ByteSpelling():
            return find_edits(ByteLevel(), text)
        case LeadingSpace():
            return [] if text.startswith(" ") else [_before_first(" ", text[0])]
        case Metaspace():
            mark = splitter.replacement
            edits = (Edit(place, place + 1, mark) for place in _places(" ", text))
            wanted = splitter.prepend == "always" or (splitter.prepend == "first" and at_start)
            if wanted and text[0] not in (" ", mark):
                return chain([_before_first(mark, text[0])], edits)
            return edits
        case (
            PatternSplitter()
            | BertSplitter()
            | CharacterDelimiter()
            | Digits()
            | FixedLength()
            | Punctuation()
            | SpelledBytes()
            | Split()
            | SplitterSequence()
            | UnicodeScripts()
            | Whitespace()
            | WhitespaceSplit()
        ):
            return []
        case _:
            assert_never(splitter)


def _places(character: str, text: str) -> Iterator[int]:
    place = text.find(character)
    while place >= 0:
        yield place
        place = text.find(character, place + 1)


def _before_first(mark: str, first: str) -> Edit:
    """Return the edit that puts a mark before a text, with the origin of its first character."""
    return Edit(0, 1, mark + first)


def find_cuts(splitter: Splitter, text: str) -> Iterable[Span]:
    """Return the start and end of each chunk of a text, in characters; some may be empty."""
    match splitter:
        case PatternSplitter():
            return character_spans(splitter, text)
        case Split():
            matches = find_matches(splitter.pattern, splitter.is_regex, text)
            return split_at_matches(matches, splitter.behavior, len(text), splitter.invert)
        case Punctuation():
            if (classes := character_classes(splitter)) is not None:
                return class_cuts(classes, text)
            marks = places(flags_of("PUNCTUATION"), text)
            return split_at_matches(
                [(place, place + 1) for place in marks], splitter.behavior, len(text)
            )
        case FixedLength():
            size = splitter.length
            return [(start, min(start + size, len(text))) for start in range(0, len(text), size)]
        case ByteSpelling() | LeadingSpace():
            return [(0, len(text))]
        case Metaspace():
            if not splitter.split:
                return [(0, len(text))]
            first = [] if text.startswith(splitter.replacement) else [0]
            return pairwise(chain(first, _places(splitter.replacement, text), [len(text)]))
        case UnicodeScripts():
            return script_cuts(text)
        case (
            BertSplitter()
            | CharacterDelimiter()
            | Digits()
            | SpelledBytes()
            | SplitterSequence()
            | Whitespace()
            | WhitespaceSplit()
        ):
            classes = character_classes(splitter)
            if classes is None:
                raise NotImplementedError(type(splitter))
            return class_cuts(classes, text)
        case _:
            assert_never(splitter)
