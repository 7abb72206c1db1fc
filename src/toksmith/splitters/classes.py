"""Splitters by a pattern, or by classes of characters: the pre-tokenizers of tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from toksmith._base.checks import check_pattern
from toksmith._base.records import dataclass
from toksmith._base.visible import short_repr
from toksmith.errors import SplitError
from toksmith.splitters.names import Family, family_by_spelling, patterns_of
from toksmith.splitters.recognition import family_of

if TYPE_CHECKING:
    from toksmith.splitters import Splitter


@short_repr
@dataclass(frozen=True)
class Metaspace:
    """Write a mark for each space, and start a chunk at each mark (``Metaspace``).

    Attributes:
        replacement: the mark, one character.
        prepend: whether a text that does not start with the mark gets one: ``always``, ``never``,
            or ``first`` (only at the start of the whole text, not after an added token).
        split: whether chunks start at the marks; otherwise the text stays whole.

    Raises:
        SplitError: the mark is not one character.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(Metaspace(), "to be")
        ['▁to', '▁be']
    """

    replacement: str = "\u2581"
    prepend: Literal["always", "first", "never"] = "always"
    split: bool = True

    def __post_init__(self) -> None:
        if len(self.replacement) != 1:
            raise SplitError(f"replacement is {self.replacement!r:.40}; wanted: one character")


@short_repr
@dataclass(frozen=True)
class LeadingSpace:
    """Put a space before each piece that starts with none (``add_prefix_space``).

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(LeadingSpace(), "to be")
        [' to be']
    """


@short_repr
@dataclass(frozen=True)
class ByteSpelling:
    """Spell the bytes of each piece in GPT-2's printable alphabet, for a model of characters.

    A tokenizer.json with ``ByteLevel`` before a model that is not byte-level BPE is read so.
    Byte-level BPE takes the bytes themselves.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(ByteSpelling(), "au café")
        ['auĠcafÃ©']
    """


Behavior = Literal["removed", "isolated", "merged-with-previous", "merged-with-next", "contiguous"]
"""The treatment of a match: it is removed, is a separate chunk, or joins the chunk before or after
it; ``contiguous``: adjacent matches form one separate chunk."""


@short_repr
@dataclass(frozen=True)
class BertSplitter:
    """Drop white space; each punctuation mark is a chunk (``BertPreTokenizer``).

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(BertSplitter(), "Don't stop.")
        ['Don', "'", 't', 'stop', '.']
    """


@short_repr
@dataclass(frozen=True)
class Whitespace:
    r"""Chunks are runs of word characters, and of what is neither: ``\w+|[^\w\s]+``.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(Whitespace(), "It costs $3.50!")
        ['It', 'costs', '$', '3', '.', '50', '!']
    """


@short_repr
@dataclass(frozen=True)
class WhitespaceSplit:
    """Chunks are the text between white space.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(WhitespaceSplit(), "It costs $3.50!")
        ['It', 'costs', '$3.50!']
    """


@short_repr
@dataclass(frozen=True)
class Punctuation:
    """Cut at punctuation (ASCII's, and Unicode's category P).

    Attributes:
        behavior: what becomes of a punctuation mark.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(Punctuation("merged-with-previous"), "Oh, no.")
        ['Oh,', ' no.']
    """

    behavior: Behavior = "isolated"


@short_repr
@dataclass(frozen=True)
class Digits:
    """Cut at numbers (Unicode's category N): each digit apart, or runs of them.

    Attributes:
        individual: whether each digit is a chunk of its own; otherwise a run of digits is one.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(Digits(), "in 1984"), split_text(Digits(individual=True), "in 1984")
        (['in ', '1984'], ['in ', '1', '9', '8', '4'])
    """

    individual: bool = False


@short_repr
@dataclass(frozen=True)
class CharacterDelimiter:
    """Cut at one character, and drop it (``CharDelimiterSplit``).

    Attributes:
        delimiter: the character.

    Raises:
        SplitError: it is not one character.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(CharacterDelimiter("-"), "a-b--c")
        ['a', 'b', 'c']
    """

    delimiter: str

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1:
            raise SplitError(f"delimiter is {self.delimiter!r:.40}; wanted: one character")


@short_repr
@dataclass(frozen=True)
class UnicodeScripts:
    """Cut where the script changes (Hiragana, Katakana and ー count as Han).

    Spaces and unassigned characters go with any script; before the first of one they are lost,
    as in ``tokenizers``.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(UnicodeScripts(), "東京タワーTokyo")
        ['東京タワー', 'Tokyo']
    """


@short_repr
@dataclass(frozen=True)
class FixedLength:
    """Chunks of a fixed number of characters.

    Attributes:
        length: the number of characters of a chunk; the last one may be shorter.

    Raises:
        SplitError: the length is below 1.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(FixedLength(4), "tokenization")
        ['toke', 'niza', 'tion']
    """

    length: int = 5

    def __post_init__(self) -> None:
        if self.length < 1:
            raise SplitError(f"length is {self.length}; wanted: 1 or more")


@short_repr
@dataclass(frozen=True)
class Split:
    r"""Cut at the matches of a pattern (``Split`` of tokenizer.json).

    Attributes:
        pattern: a regular expression of the ``regex`` package, or a literal.
        behavior: what becomes of the matches.
        invert: the matches are the text *between* the cuts.
        is_regex: which of the two the pattern is.

    Raises:
        SplitError: the pattern does not compile.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(Split(r"\d+", "removed"), "a1b22c")
        ['a', 'b', 'c']
    """

    pattern: str
    behavior: Behavior = "isolated"
    invert: bool = False
    is_regex: bool = True

    def __post_init__(self) -> None:
        if self.is_regex:
            check_pattern(self.pattern)


@short_repr
@dataclass(frozen=True)
class SpelledBytes:
    """Cut the bytes of each piece, spelled in GPT-2's printable alphabet.

    A tokenizer.json with pre-tokenizers after ``ByteLevel``, such as Falcon's, is read so. A cut
    may be inside a character: ``ò`` is spelled ``Ã²``, and ``²`` is a number.

    Attributes:
        steps: the splitters, in order.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(SpelledBytes((Digits(),)), "in 1984")
        ['in ', '1984']
    """

    steps: tuple[Splitter, ...]


@short_repr
@dataclass(frozen=True)
class SplitterSequence:
    """Each splitter cuts the pieces that the one before it left.

    Attributes:
        steps: the splitters, in order.

    Example:
        >>> from toksmith.stages.split_classes import split_text
        >>> split_text(SplitterSequence((WhitespaceSplit(), Digits(individual=True))), "in 1984")
        ['in', '1', '9', '8', '4']
    """

    steps: tuple[Splitter, ...]


@short_repr
@dataclass(frozen=True)
class PatternSplitter:
    r"""Cut the text into the matches of a pattern, in the syntax of the ``regex`` package.

    Attributes:
        pattern: the pattern. Its character classes are those of Unicode 16.0, as in tiktoken and
            tokenizers, if the compiler knows it (:mod:`toksmith.splitters.compiler`); those of
            any other pattern are the installed ``regex`` package's.
        gaps: what becomes of text that no match covers: ``"keep"`` makes each gap a chunk of its
            own, ``"drop"`` leaves it out, as tiktoken and minbpe do.
        then: further patterns. Each cuts the chunks of the one before it into its matches and the
            gaps between; where there are any, an empty match is a cut too.

    Raises:
        SplitError: the pattern does not compile, or ``gaps`` is another word.

    Example:
        >>> PatternSplitter(r"[a-z]+|\d").family is None
        True
    """

    pattern: str
    gaps: Literal["keep", "drop"] = "keep"
    then: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.gaps not in ("keep", "drop"):
            raise SplitError(f"gaps is {self.gaps!r:.80}: use 'keep' or 'drop'")
        if self.then and self.gaps == "drop":
            raise SplitError("several patterns always keep the gaps: leave gaps= out")
        for pattern in self.patterns:
            if family_by_spelling(pattern) is None:
                check_pattern(pattern)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The pattern, and those that follow it.

        Example:
            >>> PatternSplitter("[0-9]", then=("[a-z]+", " ")).patterns
            ('[0-9]', '[a-z]+', ' ')
        """
        return (self.pattern, *self.then)

    @property
    def family(self) -> Family | None:
        """The published family that makes the same chunks of every text, if there is one.

        Example:
            >>> splitter("o200k").family.name
            'o200k'
        """
        return None if self.then else family_of(self.pattern, self.gaps)


def splitter(
    split: str | None,
    gaps: Literal["keep", "drop"] = "keep",
    *,
    also: Sequence[str] = (),
) -> PatternSplitter | None:
    r"""Return the splitter of a split that a user named or wrote.

    Args:
        split: a name of :data:`~toksmith.splitters.NAMES`, in any case, such as ``"gpt4"`` or
            ``"words"`` (words and white space, as ``str.split`` sees them), a name of llama.cpp
            such as ``"deepseek-v3"``, a regular expression, or ``None`` or ``"none"`` for no
            splitting.
        gaps: see :class:`PatternSplitter`.
        also: further names that the caller accepts, for the message.

    Raises:
        SplitError: the pattern does not compile, or is a bare word that is no name.

    Example:
        >>> splitter("gpt4").family.name, splitter("Llama3") == splitter("gpt4")
        ('cl100k', True)
    """
    if split is None:
        return None
    if not isinstance(split, str):
        raise SplitError(f"split is {split!r:.80}: use None, a name or a pattern, as a str")
    if not split:
        raise SplitError("split is an empty string: use None for no split, a name or a pattern")
    patterns = patterns_of(split, also)
    if not patterns:
        return None
    first, *then = patterns
    return PatternSplitter(first, gaps, tuple(then))
