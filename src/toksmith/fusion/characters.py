"""The normalized form of single characters, and which of them depend on their neighbours."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence, Set
from enum import IntFlag
from typing import Literal, Protocol, TypeAlias

from toksmith._base import lazy
from toksmith._base.records import replace
from toksmith.fusion import Unfused, symbol_takes_prefix
from toksmith.normalizers import (
    SEVERAL_SPACES,
    Lowercase,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePieceNormalizer,
    Step,
    Strip,
    UnicodeForm,
)
from toksmith.stages.aligned import Aligned, Edit
from toksmith.stages.character_classes import WHITE_SPACE
from toksmith.stages.character_maps import is_context_free, map_characters
from toksmith.stages.charsmap import character_map
from toksmith.stages.normalize import normalize

INVALID = "\udfff"
"""Replaces a byte of invalid UTF-8."""


class Context(IntFlag):
    """The neighbours on which the normalized form of a character depends.

    A character that ``JOINS`` depends on the one before it if that one ``TAKES`` and both together
    have less than six bytes.
    """

    FREE = 0
    BOUND = 1
    JOINS = 2
    TAKES = 4


Origins: TypeAlias = Literal["own", "shifted", "up-to-next"]


class Characters(Protocol):
    """A normalizer, character by character.

    Attributes:
        inside: the normalizer for a chunk inside a text.
        sentinel: a character to put before such a chunk, so that the chunk is not at the start of
            a text, or ``""``; the normalizer leaves it unchanged.
        prefix_space: whether the normalizer puts a space before a text.
        strip: whether it removes white space at the start of a text.
        collapse: whether it collapses runs of spaces.
        space: what it writes for a space.
        trim: whether it removes spaces at the end of a text.
        origins: the origin of a normalized character in the text: ``"own"``, the characters that
            produced it; ``"shifted"``, the same unless the first character of the text is removed;
            ``"up-to-next"``, all characters up to the origin of the next one.
        firsts: the first characters of the keys of its compiled maps.
        sees_replaced: whether invalid UTF-8 reaches it as U+FFFD.
    """

    inside: Normalizer
    sentinel: str
    prefix_space: bool
    strip: bool
    collapse: bool
    space: str
    trim: bool
    origins: Origins
    firsts: Set[str]
    sees_replaced: bool

    def leaves(self, start: int, end: int) -> bool:
        """Return whether the code points ``[start, end)`` never change, with any neighbours."""

    def map(self, characters: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return the normalized form and the :class:`Context` of each character."""

    def sees_space(self, text: str) -> bool:
        """Return whether the leading space of a text may change the characters after it."""

    def align(self, text: Aligned, prefixed: bool) -> Aligned:
        """Return a chunk normalized, with the space before it if ``prefixed``; tracks origins."""


def characters_of(
    normalizer: Normalizer, mark: str = "", words: bool = False, keeps_bytes: bool = False
) -> Characters:
    """Return a normalizer character by character.

    Args:
        normalizer: its steps.
        mark: the character that the splitter writes for each space, or ``""``.
        words: whether the splitter drops all white space.
        keeps_bytes: whether invalid UTF-8 keeps its bytes, as in a model of bytes.

    Raises:
        Unfused: it needs the whole text.
    """
    if len(normalizer) == 1 and isinstance(normalizer[0], SentencePieceNormalizer):
        step = normalizer[0]
        # Its treatment of the ends of a text can only be derived from a chunk if a space is added
        # first and spaces are collapsed afterwards.
        extra = step.remove_extra_whitespaces
        if step.whitespace_as_suffix or extra > (step.add_dummy_prefix and step.escape_whitespaces):
            raise Unfused("SentencePieceNormalizer with these options changes the ends of a text")
        if symbol_takes_prefix(step):
            raise Unfused("a user-defined symbol starts with a space")
        return SentencePieceCharacters(step)
    inside = without_prefix_space(normalizer)
    if inside is None:
        raise Unfused("Prepend with these steps around it")
    prefix_space = len(inside) < len(normalizer)
    if words:
        inside = _without_space_steps(inside)
    collapse = bool(inside) and not words and _makes_one_space(inside[-1], mark)
    mapped = inside[:-1] if collapse else inside
    strip = False
    trim = collapse and bool(mark and mapped) and isinstance(mapped[-1], Strip)
    if trim:
        *before, ends = mapped
        assert isinstance(ends, Strip)
        mapped, strip, trim = tuple(before), ends.left, ends.right
        # Inside a text, a chunk may start with spaces but not end with one.
        inside = (*mapped, Strip(left=False, right=trim), inside[-1])
    for each in mapped:
        if not (isinstance(each, Precompiled) or is_context_free((each,))):
            raise Unfused(f"{each!r:.60} looks beyond single characters")
    found = MappedCharacters(inside, mapped, collapse, prefix_space, strip, trim)
    found.sees_replaced = not keeps_bytes
    return found


def without_prefix_space(normalizer: Normalizer) -> Normalizer | None:
    """Return the steps without the one that puts a space, or the mark of a space, before a text.

    Before all steps, a space does the same. ``None`` if it may do something else.

    Example:
        >>> from toksmith.normalizers import Prepend
        >>> without_prefix_space((Prepend("▁"), Replace(" ", "▁")))
        (Replace(pattern=' ', content='▁', is_regex=False),)
    """
    places = [place for place, step in enumerate(normalizer) if isinstance(step, Prepend)]
    if not places:
        return normalizer
    place = places[0]
    step, before, after = normalizer[place], normalizer[:place], normalizer[place + 1 :]
    inside = (*before, *after)
    # No step may see the space together with the text after it.
    alone = all(isinstance(each, Lowercase | UnicodeForm) or _maps_one(each) for each in inside)
    # Nothing is put before an empty text, so no text may become empty; and the space has the origin
    # of the first character, which must stay.
    keeps = all(each.content for each in inside if isinstance(each, Replace))
    if (
        not isinstance(step, Prepend)
        or step.prefix not in (" ", "\u2581")
        or not alone
        or not keeps
    ):
        return None
    return inside if normalize(inside, " ") == normalize(after, step.prefix) else None


def _without_space_steps(normalizer: Normalizer) -> Normalizer:
    r"""Return the steps without those that change only white space, where no later step sees it.

    Example:
        >>> _without_space_steps((Replace(r"\s+", " ", is_regex=True), Lowercase()))
        (Lowercase(),)
    """
    kept: list[Step] = []
    blind = True  # the steps from here on leave white space as it is
    for step in reversed(normalizer):
        space_only = isinstance(step, Strip) or _makes_one_space(step, "", any_space=True)
        if not (blind and space_only):
            kept.append(step)
            blind = blind and isinstance(step, Lowercase | UnicodeForm)
    return tuple(reversed(kept))


def _maps_one(step: Step) -> bool:
    return isinstance(step, Replace) and not step.is_regex and len(step.pattern) == 1


def _makes_one_space(step: Step, mark: str, any_space: bool = False) -> bool:
    """Return whether a step collapses runs of spaces, to a space or to what replaces each space.

    ``any_space``: or runs of any white space.
    """
    if not isinstance(step, Replace) or not step.is_regex:
        return False
    patterns = (SEVERAL_SPACES, r"\s+") if any_space else (SEVERAL_SPACES,)
    return step.pattern in patterns and step.content in (" ", mark or " ")


class MappedCharacters:
    """Steps that map single characters, optionally followed by collapsing of spaces.

    Args:
        normalizer: all of these steps.
        mapped: the steps that map single characters.
        collapse: whether the last step collapses spaces.
        prefix_space: whether a space is put before a text.
        strip: whether white space is removed at the start of a text.
        trim: whether it is removed at the end.
    """

    sentinel = ""
    space = " "
    sees_replaced = True

    def __init__(
        self,
        normalizer: Normalizer,
        mapped: Normalizer,
        collapse: bool,
        prefix_space: bool,
        strip: bool = False,
        trim: bool = False,
    ) -> None:
        self.inside = normalizer
        self.prefix_space = prefix_space
        self.strip = strip
        self.collapse = collapse
        self.trim = trim
        self._mapped = mapped
        maps = [character_map(step.charsmap) for step in mapped if isinstance(step, Precompiled)]
        self.firsts: Set[str] = frozenset().union(*(each.first_characters for each in maps))
        self._clusters = bool(maps)
        # Clusters of the text itself are known only if a map comes first.
        self._only_map = len(mapped) == 1 and bool(maps)
        self._first_map = len(maps) == 1 and isinstance(mapped[0], Precompiled)
        self._seen = sorted(map(ord, self.firsts)) if self._only_map else []
        self.origins: Origins = "shifted" if maps else "own"

    def leaves(self, start: int, end: int) -> bool:
        """Return whether a map, if it is the only step, has no key for any of the characters."""
        if not self._only_map or 0xD800 <= start < 0xE000 or start < 0x80:
            return False
        if bisect_left(self._seen, start) < bisect_left(self._seen, end):
            return False
        text = "".join(map(chr, range(start, end)))
        return not _JOINS.search(text) and not (self.trim and any(c in text for c in WHITE_SPACE))

    def map(self, characters: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return the new form and the :class:`Context` of each character."""
        given = ["\ufffd" if c == INVALID else c for c in characters]
        becomes, bound = map_characters(self._mapped, given)
        if not self.sees_replaced:
            bound = [each or c == INVALID for each, c in zip(bound, characters, strict=True)]
        contexts: list[int] = [Context.BOUND if each else Context.FREE for each in bound]
        if self._clusters:
            text = "".join(given)
            joining = set() if text.isascii() else set(_JOINS.findall(text))
            leading = {"\r"} if text.isascii() else set(_LEADS.findall(text))
            for place, character in enumerate(given):
                # A cluster is left to the other rules if no key starts with its first character.
                is_key = character in self.firsts or not self._first_map
                if character in joining:
                    contexts[place] |= Context.JOINS if self._first_map else Context.BOUND
                if is_key:
                    contexts[place] |= Context.BOUND if character in leading else Context.TAKES
        if self.collapse:
            others = WHITE_SPACE.replace(" ", "") if self.trim else ""
            for place, new in enumerate(becomes):
                if (" " in new and new != " ") or not set(others).isdisjoint(new):
                    contexts[place] |= Context.BOUND
        return becomes, contexts

    def align(self, text: Aligned, prefixed: bool) -> Aligned:
        """Return a chunk normalized, with the space before it if ``prefixed``; tracks origins."""
        if self._clusters:  # a compiled map treats the start of a text differently
            mark = next(c for c in _PRIVATE if c not in self.firsts)
            found = normalize(self.inside, Aligned(mark, [0], [0]) + text)[1:]
        else:
            found = normalize(self.inside, text)
        # The space has the origin of the first character.
        return (
            found.apply_edits([Edit(0, 1, " " + found.text[0])])
            if prefixed and found.text
            else found
        )

    def sees_space(self, text: str) -> bool:
        """Return whether the space forms a grapheme cluster with the next character."""
        return self._clusters and text[:1] == " " and _JOINS.match(text, 1) is not None


# Characters that form one cluster with the character before them, and with the one after them.
_JOINS = lazy.pattern(r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=V}\p{GCB=T}\p{GCB=RI}]")
_LEADS = lazy.pattern(r"[\p{GCB=Prepend}\r]")


class SentencePieceCharacters:
    """SentencePiece's normalizer."""

    origins: Origins = "up-to-next"
    sees_replaced = False
    strip = False

    def __init__(self, step: SentencePieceNormalizer) -> None:
        self._step = step
        self.inside: Normalizer = (replace(step, add_dummy_prefix=False),)
        self.prefix_space = step.add_dummy_prefix
        self.collapse = self.trim = step.remove_extra_whitespaces
        self._map = character_map(step.charsmap)
        self._alone = {symbol for symbol in step.protected if len(symbol) == 1}
        self.space = "\u2581" if step.escape_whitespaces else " "
        self.firsts: Set[str] = self._map.first_characters
        # Characters that are rewritten together with the character before them, and first
        # characters of protected symbols. A symbol without a character that may change is the
        # same with and without protection.
        changing = {*self.firsts, " ", "\u2581"}
        self._depends = set(self._map.later_characters)
        self._depends |= {
            symbol[0]
            for symbol in step.protected
            if len(symbol) > 1 and not changing.isdisjoint(symbol)
        }
        if self.collapse:  # collapsing applies to the mapped characters
            self._depends.add(self.space)
        self._changed = self.firsts | {" ", INVALID}
        self._seen = sorted(map(ord, self._changed | self._depends))
        used = self._depends | self.firsts | self._alone
        self.sentinel = next(c for c in _PRIVATE if c not in used)

    def leaves(self, start: int, end: int) -> bool:
        """Return whether no character of the range changes or depends on neighbours."""
        return bisect_left(self._seen, start) == bisect_left(self._seen, end)

    def map(self, characters: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return the new form and the :class:`Context` of each character."""
        changed, depending, space = self._changed, self._depends, self.space
        becomes = [self._single(c) if c in changed else c for c in characters]
        bound = [
            c in depending or (self.collapse and space in new and new != space)
            for c, new in zip(characters, becomes, strict=True)
        ]
        return becomes, [Context.BOUND if each else Context.FREE for each in bound]

    def align(self, text: Aligned, prefixed: bool) -> Aligned:
        """Return a chunk normalized, with the space before it if ``prefixed``; tracks origins."""
        if prefixed:
            return normalize((self._step,), text)
        before = Aligned(self.sentinel, [0], [0])
        return normalize(self.inside, before + text)[1:]

    def sees_space(self, text: str) -> bool:
        """Return ``False``: no key starts with a space and another character."""
        return False

    def _single(self, character: str) -> str:
        if character == INVALID:
            return "\ufffd"
        if character in self._alone:
            return character.replace(" ", self.space)
        found = self._map.longest(character)
        return (found[1] if found else character).replace(" ", self.space)


_PRIVATE = [chr(code) for code in range(0xE000, 0xF900)]
