"""tokenizers' ``NormalizedString``: a text that is rewritten and keeps its alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeAlias

from toksmith.compat.tokenizers.callbacks import check_callable, checked
from toksmith.compat.tokenizers.checks import arguments, string
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.pattern import Pattern, Regex, behavior_of, literal
from toksmith.errors import OptionError
from toksmith.normalizers import (
    Lowercase,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    UnicodeForm,
)
from toksmith.splitters import ByteSpelling, LeadingSpace, Metaspace, Splitter
from toksmith.stages.aligned import Aligned, Edit
from toksmith.stages.character_classes import lower_case
from toksmith.stages.normalize import normalize
from toksmith.stages.split_behaviors import Span, find_matches, split_at_matches
from toksmith.stages.split_classes import find_cuts, find_rewrites

Range: TypeAlias = "int | tuple[int, int] | slice"
"""A place, or a range, of the characters of a normalized text."""


class NormalizedString:
    """A text before and after normalization, and which part of one became which of the other.

    Args:
        sequence: the text.

    Raises:
        ComponentTypeError: it is no string.

    Example:
        >>> text = NormalizedString("  Ça va")
        >>> text.strip()
        >>> text.lowercase()
        >>> text
        NormalizedString(original="  Ça va", normalized="ça va")
        >>> text[:2].original, text[3:].original
        ('Ça', 'va')
    """

    __slots__ = ("_source", "_span", "_text")

    _source: bytes
    """The whole text at the start, as UTF-8: that of which all slices are parts."""
    _span: Span
    """The original of this text, in bytes of the source."""
    _text: Aligned
    """The normalized text, with the origins of its characters in the source."""

    def __init__(self, sequence: str) -> None:
        self._source = checked(sequence, str).encode()
        self._span = (0, len(self._source))
        self._text = Aligned.of(sequence)

    @property
    def normalized(self) -> str:
        """The text after normalization."""
        return self._text.text

    @property
    def original(self) -> str:
        """The text before normalization."""
        start, end = self._span
        return self._source[start:end].decode()

    def nfd(self) -> None:
        """Bring the text into Unicode's form NFD."""
        self._run((UnicodeForm("NFD"),))

    def nfkd(self) -> None:
        """Bring the text into Unicode's form NFKD."""
        self._run((UnicodeForm("NFKD"),))

    def nfc(self) -> None:
        """Bring the text into Unicode's form NFC."""
        self._run((UnicodeForm("NFC"),))

    def nfkc(self) -> None:
        """Bring the text into Unicode's form NFKC."""
        self._run((UnicodeForm("NFKC"),))

    def lowercase(self) -> None:
        """Lower-case each character by itself."""
        self._run((Lowercase(),))

    def uppercase(self) -> None:
        """Upper-case each character by itself."""
        self._replace_characters(_upper)

    @arguments(s=string)
    def prepend(self, s: str) -> None:
        """Put a string before a text that is not empty, with the origin of the first character."""
        self._run((Prepend(s),))

    @arguments(s=string)
    def append(self, s: str) -> None:
        """Put a string after a text, with the origin of the last character."""
        size = len(self._text)
        if size:
            self._edit([Edit(size - 1, size, self._text.text[-1] + s)])
        else:
            place = [self._span[0]] * len(s)
            self._text = Aligned(s, place, place)

    def lstrip(self) -> None:
        """Remove white space at the start."""
        self._run((Strip(right=False),))

    def rstrip(self) -> None:
        """Remove white space at the end."""
        self._run((Strip(left=False),))

    def strip(self) -> None:
        """Remove white space at both ends."""
        self._run((Strip(),))

    def clear(self) -> None:
        """Remove all characters."""
        self._edit([Edit(0, len(self._text), "")])

    def filter(self, func: Callable[[str], bool]) -> None:
        """Remove the characters for which a function returns false."""
        check_callable(func, "filter", "fn(char) -> bool")
        self._replace_characters(lambda character: character if func(character) else "")

    def for_each(self, func: Callable[[str], object]) -> None:
        """Call a function with each character."""
        check_callable(func, "for_each", "fn(char)")
        for character in self._text.text:
            func(character)

    def map(self, func: Callable[[str], str]) -> None:
        """Replace each character by the one that a function returns."""
        check_callable(func, "map", "fn(char) -> char")

        def replaced(character: str) -> str:
            new = func(character)
            if not isinstance(new, str) or not new:
                raise ComponentTypeError(
                    "`map` expect a callable with the signature: `fn(char) -> char`; "
                    f"for {character!r} it returned {new!r:.80}"
                )
            return new[0]

        self._replace_characters(replaced)

    @arguments(content=string)
    def replace(self, pattern: Pattern, content: str) -> None:
        """Replace each match of a pattern by a string, literally.

        Args:
            pattern: a string, or a :class:`~toksmith.compat.tokenizers.Regex`.
            content: the replacement.
        """
        if isinstance(pattern, Regex):
            self._run((Replace(pattern.translated, content, is_regex=True),))
        elif literal(pattern):
            self._run((Replace(pattern, content),))

    def split(self, pattern: Pattern, behavior: str) -> list[NormalizedString]:
        """Return the parts between the matches of a pattern, as slices.

        Args:
            pattern: a string, or a :class:`~toksmith.compat.tokenizers.Regex`.
            behavior: what becomes of a match: ``removed``, ``isolated``,
                ``merged_with_previous``, ``merged_with_next`` or ``contiguous``.

        Example:
            >>> text = NormalizedString("The-final--countdown")
            >>> [part.normalized for part in text.split("-", "merged_with_next")]
            ['The', '-final', '-', '-countdown']
        """
        ours = behavior_of(behavior)
        text = self._text.text
        if isinstance(pattern, Regex):
            matches = find_matches(pattern.translated, True, text)
        else:
            matches = find_matches(pattern, False, text) if literal(pattern) else []
        parts = split_at_matches(matches, ours, len(text)) if text else [(0, 0)]
        return [self._part(start, end) for start, end in parts]

    def slice(self, range: Range) -> NormalizedString | None:
        """Return a part of the text, and of the original that it came from.

        Args:
            range: a place, a start and an end, or a slice, in characters of the normalized text.

        Returns:
            The part; ``None`` if the text has no such characters.

        Raises:
            OptionError: a place counted from the end is before the start.
        """
        start, end = self._bounds(range)
        size = len(self._text)
        if start > end or (start >= size and end > 0):
            return None
        return self._part(start, min(end, size))

    def __getitem__(self, range: Range) -> NormalizedString | None:
        return self.slice(range)

    def _bounds(self, range: Range) -> Span:
        size = len(self._text)
        if isinstance(range, slice):
            return range.indices(size)[:2]
        if isinstance(range, tuple):
            if len(range) == 2 and all(isinstance(each, int) and each >= 0 for each in range):
                return range
        elif isinstance(range, int) and abs(range) < 2**63:
            if -range > size:
                raise OptionError(f"{-range} is bigger than max len {size}")
            start = range + size if range < 0 else range
            return start, start + 1
        raise ComponentTypeError(f"range is {range!r:.80}: give an int, a slice, or two ints")

    def _part(self, start: int, end: int) -> NormalizedString:
        """Return the part between two places in characters."""
        text = self._text[start:end]
        if start < end:
            return self._of(text, (text.starts[0], text.ends[-1]))
        place = self._span[0] + len(self._text.text[:start].encode())
        return self._of(text, (place, place))

    def _of(self, text: Aligned, span: Span) -> NormalizedString:
        """Return a part of the same source."""
        made = NormalizedString.__new__(NormalizedString)
        made._source, made._span, made._text = self._source, span, text
        return made

    def _run(self, normalizer: Normalizer) -> None:
        self._text = normalize(normalizer, self._text)

    def _cut(self, step: Splitter) -> list[NormalizedString]:
        """Rewrite the text as a splitter does before it cuts, and return the parts."""
        if not self._text.text:
            return []
        self._edit(find_rewrites(step, self._text.text, at_start=self._span[0] == 0))
        if isinstance(step, (ByteSpelling, LeadingSpace)) or (
            isinstance(step, Metaspace) and not step.split
        ):
            return [self]  # as a whole: with the spaces of the original that were stripped
        cuts = find_cuts(step, self._text.text)
        return [self._part(start, end) for start, end in cuts if start < end]

    def _edit(self, edits: Iterable[Edit]) -> None:
        self._text = self._text.apply_edits(edits)

    def _replace_characters(self, new: Callable[[str], str]) -> None:
        pairs = ((place, old, new(old)) for place, old in enumerate(self._text.text))
        self._edit([Edit(place, place + 1, made) for place, old, made in pairs if made != old])

    @contextmanager
    def _lent(self) -> Iterator[NormalizedString]:
        """Give a caller's function an object that changes this one, until it returns."""
        lent = self._of(self._text, self._span)
        try:
            yield lent
            self._text = lent._text
        finally:
            del lent._text, lent._span

    def __getattr__(self, name: str) -> object:
        if name in ("_text", "_span"):
            raise TokenizersError(
                "Cannot use a NormalizedStringRefMut outside `normalize`: the object is valid "
                "until the function returns; keep str() of it"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f'NormalizedString(original="{self.original}", normalized="{self.normalized}")'

    def __str__(self) -> str:
        return self.normalized


def _upper(character: str) -> str:
    upper = character.upper()
    return _newer_capitals().get(character, upper) if upper == character else upper


@cache
def _newer_capitals() -> dict[str, str]:
    """Return the capitals of letters that Python's Unicode may be too old for."""
    letters: dict[str, str] = {}
    twice: set[str] = set()
    for capital, small in lower_case().items():
        if small in letters:
            twice.add(small)
        letters[small] = capital
    return {small: capital for small, capital in letters.items() if small not in twice}
