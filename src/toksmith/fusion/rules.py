"""The rules that the kernel needs to run a pipeline with all its stages fused.

The kernel contains no normalization or splitting rules of text models. When it first meets a block
of 64 characters, it calls :attr:`FusionRules.describe_block` for three facts about each: its
normalized form, whether that depends on its neighbours, and the *cut classes* with which it begins
and ends, which determine where a text may be cut into chunks. A chunk in which neighbours matter
goes to :attr:`FusionRules.run_stages`. Both run the stages in Python, so each rule is written once;
and since chunks are cached, neither runs often.

**Why cutting is exact.** A cut between two characters changes nothing if no stage looks across
it: no replacement of the normalizer, no piece of the splitter, no token of the model. A token
crosses the cut only if an entry of the vocabulary contains the two characters side by side. Such
pairs are *inseparable*, and all others are boundaries: merges on both sides are independent, every
path through a lattice passes through the boundary, and a longest match ends at it. Also inseparable
are characters that fuse (unknown characters), collapse (spaces), or are rewritten together.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from itertools import accumulate, chain, repeat
from typing import Literal, TypeAlias

from toksmith._base.byte_alphabet import spell
from toksmith._base.records import dataclass, replace
from toksmith._base.text import without_surrogates
from toksmith.errors import UnsupportedError
from toksmith.fusion import Undecided, Unfused
from toksmith.fusion.characters import INVALID, Characters, Context, Origins, characters_of
from toksmith.fusion.cut_classes import (
    OPEN,
    CutClasses,
    FindNeighbours,
    Unit,
    cut_classes_of,
    metaspace_of_words,
    pattern_units_of,
)
from toksmith.models import CharacterBPE, Model, is_of_bytes
from toksmith.normalizers import (
    Bert,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Replace,
    Step,
    Strip,
    StripAccents,
    UnicodeForm,
)
from toksmith.pipeline import Pipeline
from toksmith.splitters import Metaspace, PatternSplitter, Split, Splitter
from toksmith.stages.aligned import Aligned
from toksmith.stages.character_classes import WHITE_SPACE
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import split_text

CHARACTERS_A_BLOCK = 64

Seen: TypeAlias = "tuple[array[int], bytes]"
"""Characters as splitter and model see them: the cut class of each, and its
:class:`~toksmith.fusion.cut_classes.Unit`."""

RewrittenBlock: TypeAlias = "tuple[Seen, bytes, array[int], bytes]"
"""A block that is rewritten: the normalized characters of all its characters as :data:`Seen` and as
UTF-8, the number of normalized characters of each (uint16), and the
:class:`~toksmith.fusion.characters.Context` of each."""

Block: TypeAlias = "Seen | RewrittenBlock"
"""A block of 64 characters; only :data:`Seen` if all are unchanged and independent."""


@dataclass(frozen=True)
class FusionRules:
    """Facts about normalizer and splitter that the kernel cannot derive itself.

    Attributes:
        describe_block: returns the :data:`Block` of a number.
        inseparable: uint16, the two cut classes of each inseparable pair.
        prefix_space: whether a space is put before a text.
        first_only: whether only the start of a document gets this space, not a text after an
            added token.
        collapse: whether runs of spaces become one space.
        trim: whether spaces at the end of a text are removed.
        origins: see :class:`~toksmith.fusion.characters.Characters`.
        space_precedes_piece: whether each piece starts with a space that stands for the dropped
            white space before it, and that has the origin of the next character.
        run_stages: returns the pieces of a chunk as UTF-8, from the stages in Python. Raises
            :class:`~toksmith.fusion.Undecided` if they depend on where its leading space comes
            from.
        locate_stages: returns the same with the start and end of the origin of each character of a
            piece, in bytes of the chunk. Its second argument: whether the first byte of the chunk
            is the space put before the text.
        keeps_start: returns whether the space is put before a text that starts with a character,
            which holds if the normalizer keeps the character; ``None``: before all texts.
    """

    describe_block: Callable[[int], Block]
    inseparable: array[int]
    prefix_space: Literal["none", "always", "unless-space"]
    first_only: bool
    collapse: bool
    trim: bool
    origins: Origins
    space_precedes_piece: bool
    run_stages: Callable[[bytes], list[bytes]]
    locate_stages: Callable[[bytes, bool], list[tuple[bytes, list[int], list[int]]]]
    keeps_start: Callable[[str], bool] | None = None


def find_rules(pipeline: Pipeline, find_neighbours: FindNeighbours) -> FusionRules:
    """Return the rules of a pipeline.

    Args:
        pipeline: the pipeline.
        find_neighbours: the kernel's search for characters that are side by side in a token.

    Raises:
        Unfused: the kernel cannot run it fused; the message says why.
    """
    splitter = pipeline.splitter
    if never_splits(splitter, pipeline.normalizer) or _splits_no_token(splitter, pipeline.model):
        splitter = None
    of_words = metaspace_of_words(splitter)
    metaspace = splitter if isinstance(splitter, Metaspace) else of_words
    mark = metaspace.replacement if metaspace else ""
    units = pattern_units_of(splitter)
    drops_spaces = of_words is not None or (units is not None and units.drops_white_space)
    of_bytes = is_of_bytes(pipeline.model)
    characters = characters_of(pipeline.normalizer, mark, drops_spaces, keeps_bytes=of_bytes)
    collapse = characters.space if characters.collapse else ""
    cut_classes = cut_classes_of(splitter, pipeline.model, collapse, find_neighbours)
    prefix_space: Literal["none", "always", "unless-space"] = (
        "always" if characters.prefix_space else "none"
    )
    first_only = False
    keeps_start: Callable[[str], bool] | None = None
    if characters.prefix_space and metaspace:
        raise Unfused("both Prepend and Metaspace put a mark before a text")
    if metaspace and metaspace.prepend != "never":
        prefix_space, first_only = "unless-space", metaspace.prepend == "first"
        if first_only:
            if not all(map(_keeps_or_drops, pipeline.normalizer)):
                raise Unfused("whether the first piece gets a mark depends on the whole text")
            if not all(map(_keeps_start, pipeline.normalizer)):
                keeps_start = lru_cache(65_536)(partial(_is_first, pipeline.normalizer))
    if characters.strip:
        if prefix_space != "unless-space" or first_only or not characters.trim:
            raise Unfused("Strip at the start of a text whose first piece gets no mark")
        prefix_space = "always"  # the spaces of the text collapse into it
    if prefix_space != "none" and not _is_kept(" ", characters, splitter):
        raise Unfused("the normalizer changes the space before a text")
    if isinstance(splitter, Metaspace):
        splitter = replace(splitter, prepend="never")  # the prefix space is part of the chunk

    def run_stages(chunk: bytes) -> list[bytes]:
        text = characters.sentinel + chunk.decode("utf-8", "surrogateescape")
        if characters.sees_replaced:
            text = without_surrogates(text)
        own = normalize(characters.inside, text)
        if metaspace and characters.sees_space(text):
            put = text[:1] + normalize(characters.inside, text[1:])
            if put != own:
                raise Undecided
        if characters.strip and own[:1] == " " and own.lstrip(" ")[:1] in (mark, *WHITE_SPACE):
            raise Undecided  # at the start of a text, the spaces would be removed
        text = own.removeprefix(characters.sentinel)
        pieces = split_text(splitter, text, at_start=False)
        return [piece.encode("utf-8", "surrogateescape") for piece in pieces]

    def locate_stages(chunk: bytes, prefixed: bool) -> list[tuple[bytes, list[int], list[int]]]:
        before = int(prefixed)  # bytes that the text does not hold
        string = chunk[before:].decode("utf-8", "surrogateescape")
        text = Aligned.of(string, before)
        if of_bytes and without_surrogates(string) != string:
            raise Undecided  # an invalid byte is how the kernel marks a space put before
        if characters.sees_replaced:
            text = Aligned(without_surrogates(string), text.starts, text.ends)
        pieces = split_text(splitter, characters.align(text, prefixed), at_start=False)
        found = [
            (piece.text.encode("utf-8", "surrogateescape"), piece.starts, piece.ends)
            for piece in pieces
        ]
        if [piece for piece, _, _ in found] != run_stages(chunk):
            raise Undecided
        return found

    return FusionRules(
        describe_block=lambda block: _describe_block(block, characters, cut_classes),
        inseparable=array("H", chain.from_iterable(sorted(cut_classes.inseparable))),
        prefix_space=prefix_space,
        first_only=first_only,
        collapse=characters.collapse or of_words is not None,
        trim=characters.trim or of_words is not None,
        origins=characters.origins,
        space_precedes_piece=of_words is not None,
        run_stages=run_stages,
        locate_stages=locate_stages,
        keeps_start=keeps_start,
    )


def never_splits(splitter: Splitter | None, normalizer: Normalizer) -> bool:
    """Return whether a splitter looks for a string of which the normalizer leaves nothing.

    Gemma splits at spaces, all of which its normalizer has replaced by marks.

    Example:
        >>> never_splits(Split(" ", is_regex=False), (Replace(" ", "_"),))
        True
    """
    if not isinstance(splitter, Split) or splitter.is_regex or splitter.invert or not normalizer:
        return False
    last = normalizer[-1]
    if not isinstance(last, Replace) or last.is_regex or len(last.pattern) != 1:
        return False
    return last.pattern in splitter.pattern and last.pattern not in last.content


def _splits_no_token(splitter: Splitter | None, model: Model) -> bool:
    """Return whether a splitter only cuts around runs of line breaks, which no token does.

    Gemma 4 splits so. A line is a long chunk, and seldom in the cache.
    """
    match splitter:
        case PatternSplitter(pattern, "keep", ()):
            pass
        case Split(pattern, "isolated") if splitter.is_regex:
            pass
        case _:
            return False
    if not isinstance(model, CharacterBPE) or b"\n" not in model.vocab:
        return False
    if any(b"\n" in token and token.strip(b"\n") for token in model.vocab):
        return False
    from toksmith.splitters.compiler import compile_pattern

    with suppress(UnsupportedError):
        return compile_pattern(pattern) in map(compile_pattern, _LINES)
    return False


_LINES = (r"\n+", r"[^\n]+", r"[^\n]+|\n+")
"""Patterns whose matches, and the gaps between, are runs of line breaks and all else."""


def _keeps_start(step: Step) -> bool:
    """Return whether the result of a step always starts with the first character of its text."""
    return isinstance(step, UnicodeForm | Lowercase) or (
        isinstance(step, Replace) and bool(step.content)
    )


def _keeps_or_drops(step: Step) -> bool:
    """Return whether the first character of a text alone decides if a step drops it."""
    return _keeps_start(step) or isinstance(step, Bert | Nmt | Precompiled | Strip | StripAccents)


def _is_first(normalizer: Normalizer, character: str) -> bool:
    """Return whether a normalized text that started with a character still starts with it."""
    left = normalize(normalizer, Aligned.of(character + "x"))
    return bool(left.starts) and left.starts[0] == 0


def _is_kept(space: str, characters: Characters, splitter: Splitter | None) -> bool:
    """Return whether a leading space is still a space after normalizing, whatever follows it."""
    written = {space}
    if not metaspace_of_words(splitter):
        written |= {"\u2581", splitter.replacement if isinstance(splitter, Metaspace) else space}
    return space not in characters.firsts and characters.map([space])[0][0] in written


def _describe_block(block: int, characters: Characters, cut_classes: CutClasses) -> Block:
    start, end = block * CHARACTERS_A_BLOCK, (block + 1) * CHARACTERS_A_BLOCK
    words = cut_classes.spaces != " "
    marks = cut_classes.mark + (cut_classes.spaces if words else "")
    marked = any(start <= ord(mark) < end for mark in marks)
    if (
        not marked
        and not (cut_classes.spelled or cut_classes.bound)
        and characters.leaves(start, end)
    ):
        return cut_classes.seen(range(start, end))
    surrogates = 0xD800 <= start < 0xE000
    becomes, contexts = characters.map(
        [INVALID if surrogates else chr(c) for c in range(start, end)]
    )
    text = "".join(becomes)
    if (characters.collapse or words) and cut_classes.mark and cut_classes.mark in text:
        # Where spaces are counted, a mark in the text itself is not one.
        for place, new in enumerate(becomes):
            if cut_classes.mark in new:
                contexts[place] |= Context.BOUND
    if (
        words
        and start == 0
        and becomes[13] != "\r"
        and {*becomes[10:14:3]} <= {*cut_classes.spaces}
    ):
        contexts[13] = Context.FREE  # a line break of two characters is white space in any case
    if cut_classes.mark:
        text = text.translate(dict.fromkeys(map(ord, cut_classes.spaces), cut_classes.mark))
    sizes = array("H", list(map(len, becomes)))
    seen, units = cut_classes.seen(map(ord, text))
    if cut_classes.last:
        for size, place in zip(sizes, accumulate(sizes), strict=True):
            if size > 1:
                seen[place - 1] = cut_classes.last.get(seen[place - 1], seen[place - 1])
    if surrogates and not characters.sees_replaced:
        seen = array("H", [OPEN] * len(seen))
    if cut_classes.spelled or cut_classes.bound:
        return _describe_bytes(text, seen, units, sizes, contexts, cut_classes)
    return (seen, units), text.encode(), sizes, bytes(contexts)


def _describe_bytes(
    text: str,
    seen: array[int],
    units: bytes,
    sizes: array[int],
    contexts: list[int],
    cut_classes: CutClasses,
) -> RewrittenBlock:
    """Return a block whose bytes are spelled as characters, each with the cut class of its own."""
    lengths = [len(character.encode()) if cut_classes.spelled else 1 for character in text]
    ends = [*accumulate(sizes)]
    for place, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        whole = range(end - size, end)
        # Each character of a piece that stands alone would be a piece.
        if any(seen[at] in cut_classes.bound or (units[at] == Unit.ALONE and lengths[at] > 1)
               for at in whole):  # fmt: skip
            contexts[place] |= Context.BOUND
        sizes[place] = sum(lengths[at] for at in whole)
    spelled = spell(text.encode()) if cut_classes.spelled else text
    repeated = array("H", chain.from_iterable(map(repeat, seen, lengths)))
    return (
        (repeated, bytes(chain.from_iterable(map(repeat, units, lengths)))),
        spelled.encode(),
        sizes,
        bytes(contexts),
    )
