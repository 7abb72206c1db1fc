"""Normalizers as frozen data: they change a text before it is cut into chunks.

The code that runs them is in :mod:`toksmith.stages.normalize`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from toksmith._base.checks import check_pattern
from toksmith._base.records import dataclass, field
from toksmith._base.visible import short_repr

SEVERAL_SPACES = " {2,}"
"""The pattern of :class:`Replace` that most SentencePiece models have in a tokenizer.json.

It is known to compile, so loading such a file does not import the ``regex`` package.
"""


@short_repr
@dataclass(frozen=True)
class SentencePieceNormalizer:
    """SentencePiece's normalizer: ``NormalizerSpec``, and the trainer's options that affect it.

    Attributes:
        charsmap: the compiled map (``precompiled_charsmap``); empty for none. The longest entry
            that starts at a character replaces it, from left to right.
        add_dummy_prefix: put one space before the text.
        remove_extra_whitespaces: drop spaces at the ends, and make one of several.
        escape_whitespaces: write U+2581 (▁) for each space.
        whitespace_as_suffix: the dummy space comes after the text, not before it.
        protected: user-defined symbols, which stay unchanged; the longest first.
        name: the rule's name (``nmt_nfkc`` …), for the file alone.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((SentencePieceNormalizer(),), " to  be ")
        '▁to▁be'
    """

    charsmap: bytes = field(default=b"", repr=False)
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    whitespace_as_suffix: bool = False
    protected: tuple[str, ...] = ()
    name: str = ""


@short_repr
@dataclass(frozen=True)
class Replace:
    r"""Replace each match.

    Attributes:
        pattern: a regular expression of the ``regex`` package, or a literal.
        content: its replacement, literally.
        is_regex: which of the two the pattern is.

    Raises:
        SplitError: the pattern does not compile.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((Replace(r"\d", "0", is_regex=True),), "in 1984")
        'in 0000'
    """

    pattern: str
    content: str
    is_regex: bool = False

    def __post_init__(self) -> None:
        if self.is_regex and self.pattern != SEVERAL_SPACES:
            check_pattern(self.pattern)


@short_repr
@dataclass(frozen=True)
class Strip:
    """Remove white space at the ends.

    Attributes:
        left: whether to remove it at the start.
        right: whether to remove it at the end.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((Strip(right=False),), "  to be ")
        'to be '
    """

    left: bool = True
    right: bool = True


@short_repr
@dataclass(frozen=True)
class Prepend:
    """Put a text before every text that is not empty.

    Attributes:
        prefix: the text to put there.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((Prepend("▁"),), "to be")
        '▁to be'
    """

    prefix: str


@short_repr
@dataclass(frozen=True)
class Precompiled:
    """``Precompiled`` of tokenizer.json: the map is tried on grapheme clusters, then characters.

    Attributes:
        charsmap: the map as SentencePiece writes it (``precompiled_charsmap``).

    Example:
        >>> from toksmith.stages.charsmap_rules import charsmap_of
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((Precompiled(charsmap_of("nfkc")),), "ﬁne №1")
        'fine No1'
    """

    charsmap: bytes = field(repr=False)


@short_repr
@dataclass(frozen=True)
class Nmt:
    r"""Remove control characters; make white space and zero-width characters U+0020 (``Nmt``).

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((Nmt(),), "zero\u200bwidth\tand\x07bell")
        'zero width andbell'
    """


@short_repr
@dataclass(frozen=True)
class Lowercase:
    """Lower-case each character by itself (so a final sigma is σ, as in ``tokenizers``).

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((Lowercase(),), "ΟΔΟΣ")
        'οδοσ'
    """


@short_repr
@dataclass(frozen=True)
class StripAccents:
    """Remove the combining marks of the text (category M); decompose nothing.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((StripAccents(),), "é"), normalize((UnicodeForm("NFD"), StripAccents()), "é")
        ('é', 'e')
    """


@short_repr
@dataclass(frozen=True)
class UnicodeForm:
    """One of Unicode's four normalization forms.

    Attributes:
        form: ``"NFC"``, ``"NFD"``, ``"NFKC"`` or ``"NFKD"``.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((UnicodeForm("NFKC"),), "ﬁve ½ km²")
        'five 1⁄2 km2'
    """

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]


@short_repr
@dataclass(frozen=True)
class Bert:
    """BERT's normalizer (``BertNormalizer`` of tokenizer.json).

    Attributes:
        clean_text: remove control characters and U+FFFD; make all white space U+0020.
        handle_chinese_chars: put a space on either side of each CJK ideograph.
        strip_accents: decompose (NFD) and remove non-spacing marks; ``None``: as ``lowercase``.
        lowercase: lower-case each character by itself.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((Bert(),), "Ça va, 東京?")
        'ca va,  東  京 ?'
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    @property
    def strips_accents(self) -> bool:
        """Whether accents go, ``None`` resolved.

        Example:
            >>> Bert(lowercase=False).strips_accents, Bert(strip_accents=True).strips_accents
            (False, True)
        """
        return self.lowercase if self.strip_accents is None else self.strip_accents


@short_repr
@dataclass(frozen=True)
class ByteLevel:
    """Spell the bytes of the text in GPT-2's printable alphabet (``ByteLevel`` as a normalizer).

    For models of text whose tokens are spelled so. Models of bytes need no such step.

    Example:
        >>> from toksmith.stages.normalize import normalize
        >>> normalize((ByteLevel(),), "caf\u00e9 au")
        'cafÃ©Ġau'
    """


Step: TypeAlias = (
    Bert
    | ByteLevel
    | UnicodeForm
    | Lowercase
    | StripAccents
    | Nmt
    | Precompiled
    | Prepend
    | Replace
    | Strip
    | SentencePieceNormalizer
)
"""One normalizer."""

Normalizer: TypeAlias = tuple[Step, ...]
"""Normalizers one after the other; ``()`` leaves a text as it is."""

__all__ = [
    "Bert",
    "ByteLevel",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePieceNormalizer",
    "Step",
    "Strip",
    "StripAccents",
    "UnicodeForm",
]
