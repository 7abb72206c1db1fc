"""tokenizers' decoders: they turn the tokens of a text into text again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from toksmith.compat.tokenizers.checks import (
    arguments,
    boolean,
    character,
    metaspace_scheme,
    sequence_of,
    string,
    unsigned,
)
from toksmith.compat.tokenizers.component import Component, Members, setting
from toksmith.compat.tokenizers.decode_stream import DecodeStream
from toksmith.compat.tokenizers.pattern import Pattern, spec_of
from toksmith.decoders import Step
from toksmith.formats.huggingface import decoders as reading
from toksmith.formats.huggingface.entries import Entry
from toksmith.models import WordLevel
from toksmith.stages.decode import decode_step

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "DecodeStream",
    "Decoder",
    "Fuse",
    "Metaspace",
    "Replace",
    "Sequence",
    "Strip",
    "WordPiece",
]

_NO_MODEL = WordLevel(())


class Decoder(Component):
    """The base of decoders."""

    def __init__(self) -> None:
        self._check_is_a_kind()
        self._start()

    @staticmethod
    def custom(decoder: Any) -> Decoder:
        """Return a decoder that calls an object.

        Args:
            decoder: has ``decode(tokens) -> str``, or ``decode_chain(tokens) -> list[str]``.
        """
        return _Custom(decoder)

    @arguments(tokens=sequence_of(string))
    def decode(self, tokens: Iterable[str]) -> str:
        """Return the text of tokens.

        Args:
            tokens: each as the vocabulary spells it.
        """
        return "".join(self._chain([*tokens]))

    def _chain(self, tokens: list[str]) -> list[str]:
        """Return the tokens that this step makes of tokens."""
        for step in self._steps():
            tokens = decode_step(step, tokens, _NO_MODEL)
        return tokens

    def _steps(self) -> tuple[Step, ...]:
        cached: tuple[int, tuple[Step, ...]] | None = self.__dict__.get("_cached")
        if cached is None or cached[0] != self.version():
            entry = Entry(Path("decoder"), "decoder", self.spec())
            cached = self.__dict__["_cached"] = self.version(), reading.read(entry, False) or ()
        return cached[1]


class _Custom(Decoder):
    """A decoder of the caller's."""

    def __init__(self, decoder: Any) -> None:
        self._object = decoder

    def is_custom(self) -> bool:
        return True

    def decode(self, tokens: Iterable[str]) -> str:
        if not hasattr(self._object, "decode"):
            return super().decode(tokens)
        text: str = self._object.decode([*tokens])
        return text

    def _chain(self, tokens: list[str]) -> list[str]:
        found: list[str] = self._object.decode_chain(tokens)
        return found


class ByteLevel(Decoder, type="ByteLevel"):
    """GPT-2's printable alphabet becomes bytes again."""

    _defaults: ClassVar[dict[str, Any]] = {
        "add_prefix_space": True,
        "trim_offsets": True,
        "use_regex": True,
    }

    def __init__(self, **_unused: Any) -> None:
        self._start()


class Replace(Decoder, type="Replace"):
    """Replaces a text or a pattern in each token.

    Args:
        pattern: a string, or a ``Regex``.
        content: the text that replaces it.
    """

    _defaults: ClassVar[dict[str, Any]] = {"pattern": None, "content": ""}

    @arguments(content=string)
    def __init__(self, pattern: Pattern, content: str) -> None:
        self._start(pattern=spec_of(pattern), content=content)


class WordPiece(Decoder, type="WordPiece"):
    """Puts spaces between words, and joins tokens that continue a word.

    Args:
        prefix: the mark of a token that continues a word.
        cleanup: take spaces before punctuation out.
    """

    _defaults: ClassVar[dict[str, Any]] = {"prefix": "##", "cleanup": True}
    prefix = setting("prefix", "The mark.", string)
    cleanup = setting("cleanup", "Whether spaces before punctuation go.", boolean)

    @arguments(prefix=string, cleanup=boolean)
    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._start(prefix=prefix, cleanup=cleanup)


class ByteFallback(Decoder, type="ByteFallback"):
    """``<0x0A>`` and its like become bytes."""


class Fuse(Decoder, type="Fuse"):
    """All tokens become one."""


class Strip(Decoder, type="Strip"):
    """Takes a character off both ends of each token.

    Args:
        content: the character.
        left: how often at most at the start.
        right: how often at most at the end.
    """

    _defaults: ClassVar[dict[str, Any]] = {"content": " ", "start": 0, "stop": 0}
    content = setting("content", "The character.", character)
    start = setting("start", "How often it goes at the start.", unsigned)
    stop = setting("stop", "How often it goes at the end.", unsigned)

    @arguments(content=character, left=unsigned, right=unsigned)
    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        self._start(content=content, start=left, stop=right)


class Metaspace(Decoder, type="Metaspace"):
    """The mark ▁ becomes a space.

    Args:
        replacement: the mark, one character.
        prepend_scheme: ``"always"``, ``"first"`` or ``"never"``: unless it is the last, the first
            token loses its mark.
        split: kept for tokenizer.json.
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": True,
    }
    _words = frozenset({"prepend_scheme"})
    replacement = setting("replacement", "The mark.", character)
    prepend_scheme = setting(
        "prepend_scheme", "Which texts have a mark at the start.", metaspace_scheme
    )
    split = setting("split", "Kept for tokenizer.json.", boolean)

    @arguments(replacement=character, prepend_scheme=metaspace_scheme, split=boolean)
    def __init__(
        self, replacement: str = "▁", prepend_scheme: str = "always", split: bool = True
    ) -> None:
        self._start(replacement=replacement, prepend_scheme=prepend_scheme, split=split)


class BPEDecoder(Decoder, type="BPEDecoder"):
    """The mark of a word's end becomes a space.

    Args:
        suffix: the mark.
    """

    _defaults: ClassVar[dict[str, Any]] = {"suffix": "</w>"}
    suffix = setting("suffix", "The mark.", string)

    @arguments(suffix=string)
    def __init__(self, suffix: str = "</w>") -> None:
        self._start(suffix=suffix)


class CTC(Decoder, type="CTC"):
    """Leaves out repeated tokens and blanks (connectionist temporal classification).

    Args:
        pad_token: the blank.
        word_delimiter_token: the token that becomes a space.
        cleanup: take spaces before punctuation out.
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "pad_token": "<pad>",
        "word_delimiter_token": "|",
        "cleanup": True,
    }
    pad_token = setting("pad_token", "The blank.", string)
    word_delimiter_token = setting(
        "word_delimiter_token", "The token that becomes a space.", string
    )
    cleanup = setting("cleanup", "Whether spaces before punctuation go.", boolean)

    @arguments(pad_token=string, word_delimiter_token=string, cleanup=boolean)
    def __init__(
        self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True
    ) -> None:
        self._start(pad_token=pad_token, word_delimiter_token=word_delimiter_token, cleanup=cleanup)


class Sequence(Members[Decoder], Decoder, type="Sequence"):
    """Decoders one after the other.

    Args:
        decoders: the decoders.
    """

    _key = "decoders"
    _member = Decoder

    def __init__(self, decoders: list[Decoder]) -> None:
        self._fill_given(decoders)

    def _chain(self, tokens: list[str]) -> list[str]:
        for each in self._members:
            tokens = each._chain(tokens)
        return tokens
