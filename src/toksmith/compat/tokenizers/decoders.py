"""tokenizers' decoders: they turn the tokens of a text into text again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from toksmith.compat.tokenizers.component import Component, Members, setting
from toksmith.compat.tokenizers.decode_stream import DecodeStream
from toksmith.compat.tokenizers.pattern import Pattern, spec_of
from toksmith.decoders import Step
from toksmith.errors import OptionError
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

    @staticmethod
    def custom(decoder: Any) -> Decoder:
        """Return a decoder that calls an object.

        Args:
            decoder: has ``decode(tokens) -> str``, or ``decode_chain(tokens) -> list[str]``.
        """
        return _Custom(decoder)

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

    def __init__(self, pattern: Pattern, content: str) -> None:
        self._start(pattern=spec_of(pattern), content=content)


class WordPiece(Decoder, type="WordPiece"):
    """Puts spaces between words, and joins tokens that continue a word.

    Args:
        prefix: the mark of a token that continues a word.
        cleanup: take spaces before punctuation out.
    """

    _defaults: ClassVar[dict[str, Any]] = {"prefix": "##", "cleanup": True}
    prefix = setting("prefix")
    cleanup = setting("cleanup")

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._start(prefix=prefix, cleanup=cleanup)


class ByteFallback(Decoder, type="ByteFallback"):
    """``<0x0A>`` and its like become bytes."""

    def __init__(self) -> None:
        self._start()


class Fuse(Decoder, type="Fuse"):
    """All tokens become one."""

    def __init__(self) -> None:
        self._start()


class Strip(Decoder, type="Strip"):
    """Takes a character off both ends of each token.

    Args:
        content: the character.
        left: how often at most at the start.
        right: how often at most at the end.
    """

    _defaults: ClassVar[dict[str, Any]] = {"content": " ", "start": 0, "stop": 0}
    content = setting("content")
    start = setting("start")
    stop = setting("stop")

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
    split = setting("split")

    def __init__(
        self, replacement: str = "▁", prepend_scheme: str = "always", split: bool = True
    ) -> None:
        self._start(
            replacement=_one_character(replacement),
            prepend_scheme=_scheme(prepend_scheme),
            split=split,
        )

    @property
    def replacement(self) -> str:
        """The mark."""
        held: str = self._spec["replacement"]
        return held

    @replacement.setter
    def replacement(self, value: str) -> None:
        self._set("replacement", _one_character(value))

    @property
    def prepend_scheme(self) -> str:
        """Which texts have a mark at the start."""
        held: str = self._spec["prepend_scheme"]
        return held

    @prepend_scheme.setter
    def prepend_scheme(self, value: str) -> None:
        self._set("prepend_scheme", _scheme(value))


class BPEDecoder(Decoder, type="BPEDecoder"):
    """The mark of a word's end becomes a space.

    Args:
        suffix: the mark.
    """

    _defaults: ClassVar[dict[str, Any]] = {"suffix": "</w>"}
    suffix = setting("suffix")

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
    pad_token = setting("pad_token")
    word_delimiter_token = setting("word_delimiter_token")
    cleanup = setting("cleanup")

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

    def __init__(self, decoders: Iterable[Decoder] = ()) -> None:
        self._fill(decoders)

    def _chain(self, tokens: list[str]) -> list[str]:
        for each in self._members:
            tokens = each._chain(tokens)
        return tokens


def _one_character(value: str) -> str:
    if len(value) != 1:
        raise OptionError(f"expected a string of length 1, not {value!r}")
    return value


def _scheme(value: str) -> str:
    if value not in ("first", "never", "always"):
        raise OptionError(
            f"{value} is an unknown variant, should be one of ['first', 'never', 'always']"
        )
    return value
