"""Splitters of text models, step by step: first what they write anew, then where they cut."""

from __future__ import annotations

from itertools import pairwise

from toksmith.arguments import assert_never
from toksmith.lazy import np
from toksmith.reference.aligned import Aligned, AnyText, Edit, changed
from toksmith.reference.character_classes import code_points, flags_of
from toksmith.reference.matching import Span, find_matches, split
from toksmith.reference.pre_tokenizing_classes import character_classes, class_cuts, script_cuts
from toksmith.reference.splitting import character_spans
from toksmith.splitters import (
    BertSplitter,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Punctuation,
    Split,
    Splitter,
    SplitterSequence,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)


def pieces(splitter: Splitter | None, text: AnyText, at_start: bool = True) -> list[AnyText]:
    """Return the chunks of a text.

    Args:
        splitter: how to cut; ``None`` leaves the text whole.
        text: normalized text, as a string or with the places of the original.
        at_start: whether the text is the start of its document, and not behind an added token.
            A piece of it is the start of the document where its first character stands for the
            original's first; a string without the places of the original is taken for it.

    Example:
        >>> from toksmith.splitters import WhitespaceSplit
        >>> pieces(SplitterSequence((WhitespaceSplit(), Metaspace())), "to be")
        ['▁to', '▁be']
    """
    if not len(text):
        return []
    if splitter is None:
        return [text]
    at_start = at_start and _starts_original(text, 0)
    return [piece for piece, _ in _pieces(splitter, text, at_start)]


def marks_only_first(splitter: Splitter | None) -> bool:
    """Return whether some step puts a mark before the first piece of a document alone."""
    if isinstance(splitter, SplitterSequence):
        return any(map(marks_only_first, splitter.steps))
    return isinstance(splitter, Metaspace) and splitter.prepend == "first"


def _pieces(splitter: Splitter, text: AnyText, at_start: bool) -> list[tuple[AnyText, bool]]:
    """Return the chunks of a text, and whether each is at the start of the document."""
    if isinstance(splitter, SplitterSequence):
        parts = [(text, at_start)]
        for step in splitter.steps:
            parts = [piece for part, first in parts for piece in _pieces(step, part, first)]
        return parts
    text = changed(text, rewriting(splitter, str(text), at_start))
    spans = cuts(splitter, str(text))
    found = [(start, text[start:end]) for start, end in spans if end > start]
    return [(piece, at_start and _starts_original(piece, start)) for start, piece in found]


def _starts_original(piece: str | Aligned, start: int) -> bool:
    return piece.starts[0] == 0 if isinstance(piece, Aligned) else start == 0


def rewriting(splitter: Splitter, text: str, at_start: bool) -> list[Edit]:
    """Return what a splitter writes anew before it cuts."""
    match splitter:
        case LeadingSpace():
            return [] if text.startswith(" ") else [_before_first(" ", text[0])]
        case Metaspace():
            mark = splitter.replacement
            edits = [Edit(place, place + 1, mark) for place in _places(" ", text)]
            wanted = splitter.prepend == "always" or (splitter.prepend == "first" and at_start)
            if wanted and text[0] not in (" ", mark):
                edits.insert(0, _before_first(mark, text[0]))
            return edits
        case (
            PatternSplitter()
            | BertSplitter()
            | CharacterDelimiter()
            | Digits()
            | FixedLength()
            | Punctuation()
            | Split()
            | SplitterSequence()
            | UnicodeScripts()
            | Whitespace()
            | WhitespaceSplit()
        ):
            return []
        case _:
            assert_never(splitter)


def _places(character: str, text: str) -> list[int]:
    places: list[int] = np.flatnonzero(code_points(text) == ord(character)).tolist()
    return places


def _before_first(mark: str, first: str) -> Edit:
    """Return the edit that puts a mark before a text; it stands for the first character too."""
    return Edit(0, 1, mark + first)


def cuts(splitter: Splitter, text: str) -> list[Span]:
    """Return where each chunk of a text starts and ends, in characters; some may be empty."""
    match splitter:
        case PatternSplitter():
            return character_spans(splitter, text)
        case Split():
            matches = find_matches(splitter.pattern, splitter.is_regex, text)
            return split(matches, splitter.behavior, len(text), splitter.invert)
        case Punctuation():
            if (classes := character_classes(splitter)) is not None:
                return class_cuts(classes, text)
            marks = flags_of("PUNCTUATION")[code_points(text)].nonzero()[0].tolist()
            return split([(place, place + 1) for place in marks], splitter.behavior, len(text))
        case FixedLength():
            size = splitter.length
            return [(start, min(start + size, len(text))) for start in range(0, len(text), size)]
        case LeadingSpace():
            return [(0, len(text))]
        case Metaspace():
            if not splitter.split:
                return [(0, len(text))]
            starts = {0, *_places(splitter.replacement, text)}
            return list(pairwise([*sorted(starts), len(text)]))
        case UnicodeScripts():
            return script_cuts(text)
        case (
            BertSplitter()
            | CharacterDelimiter()
            | Digits()
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
