"""Decoders as frozen data: they turn the tokens of text models into text again.

Byte-level models need none: their tokens are the bytes of the text. The code that runs them is in
:mod:`toksmith.stages.decode`.
"""

from __future__ import annotations

from typing import TypeAlias

from toksmith._base.records import dataclass, field
from toksmith._base.visible import short_repr
from toksmith.normalizers import Replace


@short_repr
@dataclass(frozen=True)
class SentencePieceDecoder:
    """SentencePiece's decoding.

    Control pieces become nothing, the unknown piece its surface, consecutive byte pieces
    the characters they make (U+FFFD for each byte that makes none), and ▁ a space; the dummy
    space is taken off again.

    Attributes:
        unk_surface: what an unknown piece decodes to.
        add_dummy_prefix: the normalizer put a space at the start (or the end).
        remove_extra_whitespaces: the normalizer dropped spaces at the start.
        whitespace_as_suffix: the dummy space follows the text.
        charsmap: SentencePiece's denormalizer, applied at the end; empty for none.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel(("▁to".encode(), "▁be".encode()))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(SentencePieceDecoder(),))).decode([0, 1])
        'to be'
    """

    unk_surface: str = " \u2047 "
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    whitespace_as_suffix: bool = False
    charsmap: bytes = field(default=b"", repr=False)


@short_repr
@dataclass(frozen=True)
class Fuse:
    """All tokens become one.

    Attributes:
        separator: the text between them.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel((b"to", b"be"))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(Fuse(" "),))).decode([0, 1])
        'to be'
    """

    separator: str = ""


@short_repr
@dataclass(frozen=True)
class Strip:
    """Take a character off both ends of each token.

    Attributes:
        content: the character.
        start: how often at most at the start.
        stop: how often at most at the end.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel((b"_to_", b"_be"))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(Strip("_", start=1),))).decode([0, 1])
        'to_be'
    """

    content: str = " "
    start: int = 0
    stop: int = 0


@short_repr
@dataclass(frozen=True)
class BPEDecoder:
    """The mark of a word's end becomes a space, and nothing in the last token.

    Attributes:
        suffix: the mark.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel((b"low", b"er</w>", b"est</w>"))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(BPEDecoder(),))).decode([0, 1, 0, 2])
        'lower lowest'
    """

    suffix: str = "</w>"


@short_repr
@dataclass(frozen=True)
class MetaspaceDecoder:
    """The mark becomes a space.

    Attributes:
        replacement: the mark, one character.
        strip: the marks of the first token become nothing: the text was given one.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel(("▁to".encode(), "▁be".encode()))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(MetaspaceDecoder(),))).decode([0, 1])
        'to be'
    """

    replacement: str = "\u2581"
    strip: bool = True


@short_repr
@dataclass(frozen=True)
class WordPieceDecoder:
    """A space before each token but the first, unless it has the prefix, which goes.

    Attributes:
        prefix: what marks a token that continues a word.
        cleanup: take spaces before punctuation and in contractions out, token by token (English).

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel((b"play", b"##ing", b"!"))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(WordPieceDecoder(),))).decode([0, 1, 2])
        'playing!'
    """

    prefix: str = "##"
    cleanup: bool = True


@short_repr
@dataclass(frozen=True)
class CTC:
    """Connectionist temporal classification (Graves et al. 2006): repeats and blanks go.

    Attributes:
        pad_token: the blank, removed everywhere.
        word_delimiter_token: what becomes a space (with ``cleanup``).
        cleanup: take the spaces before punctuation and in contractions out, as
            :class:`~toksmith.decoders.WordPieceDecoder` does.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel((b"<pad>", b"|", b"o", b"n"))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(CTC(),))).decode([2, 2, 3, 1, 2, 0, 2])
        'on oo'
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True


@short_repr
@dataclass(frozen=True)
class ByteFallback:
    """``<0x0A>`` and its like, side by side, become the characters that their bytes make.

    Where they make none, each becomes U+FFFD.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel((b"<0xC3>", b"<0xA9>", b"t"))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(ByteFallback(),))).decode([0, 1, 2, 0, 1])
        'été'
    """


@short_repr
@dataclass(frozen=True)
class ByteLevelDecoder:
    """GPT-2's printable alphabet becomes the bytes again (``ByteLevel`` of tokenizer.json).

    For models of text whose tokens are spelled so; byte-level models hold bytes and need no
    decoder. A token with another character in it is left as it is.

    Example:
        >>> from toksmith import Tokenizer, models, pipeline
        >>> model = models.WordLevel((b"caf", "Ã©".encode(), "Ġau".encode()))
        >>> Tokenizer(pipeline.Pipeline(model, decoder=(ByteLevelDecoder(),))).decode([0, 1, 2])
        'café au'
    """


Step: TypeAlias = (
    BPEDecoder
    | ByteFallback
    | ByteLevelDecoder
    | CTC
    | Fuse
    | MetaspaceDecoder
    | Replace
    | SentencePieceDecoder
    | Strip
    | WordPieceDecoder
)
"""One step, from a list of tokens to another."""

Decoder: TypeAlias = tuple[Step, ...]
"""Steps one after the other; the tokens that come out are joined."""

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevelDecoder",
    "Decoder",
    "Fuse",
    "MetaspaceDecoder",
    "Replace",
    "SentencePieceDecoder",
    "Step",
    "Strip",
    "WordPieceDecoder",
]
