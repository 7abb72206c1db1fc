"""tokenizers' normalizers: components that rewrite a text before it is cut."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toksmith.compat.tokenizers.callbacks import checked, wrapping
from toksmith.compat.tokenizers.checks import boolean, optional, sequence_of, string, unsigned
from toksmith.compat.tokenizers.component import Component, Members, setting
from toksmith.compat.tokenizers.failures import (
    ComponentOverflowError,
    TokenizersError,
)
from toksmith.compat.tokenizers.normalized_string import NormalizedString
from toksmith.compat.tokenizers.pattern import Pattern, spec_of
from toksmith.errors import OptionError
from toksmith.formats.huggingface import normalizers as entries
from toksmith.formats.huggingface.entries import Entry
from toksmith.normalizers import Normalizer as Steps
from toksmith.stages.charsmap import character_map
from toksmith.stages.normalize import normalize


class Normalizer(Component):
    """The base of all normalizers; :meth:`custom` makes one from an object of the caller's."""

    _custom: Any = None
    _compiled: tuple[int, Steps] | None = None

    def __init__(self) -> None:
        self._check_is_a_kind()
        self._start()

    @staticmethod
    def custom(normalizer: Any) -> Normalizer:
        """Return a normalizer that calls an object of the caller's.

        Args:
            normalizer: an object with ``normalize(normalized)``, which changes a
                :class:`~toksmith.compat.tokenizers.NormalizedString` and does not keep it.

        Example:
            >>> class Shout:
            ...     def normalize(self, normalized):
            ...         normalized.uppercase()
            >>> Normalizer.custom(Shout()).normalize_str("hey")
            'HEY'
        """
        made = Normalizer.__new__(Normalizer)
        made._custom = normalizer
        return made

    def is_custom(self) -> bool:
        """Whether this normalizer, or a member of it, is an object of the caller's."""
        return self._custom is not None

    def normalize(self, normalized: NormalizedString) -> None:
        """Normalize a text in place, and keep its alignment.

        Args:
            normalized: the text.

        Raises:
            TokenizersError: the object of the caller's raised an error.
        """
        checked(normalized, NormalizedString)
        if self._custom is None:
            normalized._run(self._steps())
        else:
            with wrapping(), normalized._lent() as lent:
                self._custom.normalize(lent)

    def normalize_str(self, sequence: str) -> str:
        """Return a text normalized.

        Args:
            sequence: the text.

        Example:
            >>> NFKC().normalize_str("ﬁne №1")
            'fine No1'
        """
        if self.is_custom():
            normalized = NormalizedString(sequence)
            self.normalize(normalized)
            return normalized.normalized
        return normalize(self._steps(), checked(sequence, str))

    def _steps(self) -> Steps:
        """Return the steps that run."""
        version = self.version()
        if self._compiled is None or self._compiled[0] != version:
            entry = Entry(Path("tokenizer.json"), "normalizer", self.spec())
            self._compiled = version, entries.read(entry)
        return self._compiled[1]


class BertNormalizer(Normalizer, type="BertNormalizer"):
    """BERT's normalizer.

    Args:
        clean_text: remove control characters, and make all white space U+0020.
        handle_chinese_chars: put spaces around CJK ideographs.
        strip_accents: remove accents; ``None``: as ``lowercase``.
        lowercase: lower-case the text.

    Example:
        >>> BertNormalizer().normalize_str("Ça va, 東京?")
        'ca va,  東  京 ?'
    """

    _defaults = {  # noqa: RUF012
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    clean_text = setting("clean_text", "Whether control characters are removed.", boolean)
    handle_chinese_chars = setting(
        "handle_chinese_chars", "Whether ideographs get spaces around them.", boolean
    )
    strip_accents = setting("strip_accents", "Whether accents are removed.", optional(boolean))
    lowercase = setting("lowercase", "Whether the text is lower-cased.", boolean)

    def __init__(
        self,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
    ) -> None:
        self._start(
            clean_text=boolean(clean_text),
            handle_chinese_chars=boolean(handle_chinese_chars),
            strip_accents=optional(boolean)(strip_accents),
            lowercase=boolean(lowercase),
        )


class NFD(Normalizer, type="NFD"):
    """Unicode's canonical decomposition."""


class NFKD(Normalizer, type="NFKD"):
    """Unicode's compatibility decomposition."""


class NFC(Normalizer, type="NFC"):
    """Unicode's canonical composition."""


class NFKC(Normalizer, type="NFKC"):
    """Unicode's compatibility decomposition and canonical composition."""


class Lowercase(Normalizer, type="Lowercase"):
    """Lower-cases each character by itself."""


class StripAccents(Normalizer, type="StripAccents"):
    """Removes combining marks; decompose the text before."""


class Nmt(Normalizer, type="Nmt"):
    """Removes control characters, and makes white space of all kinds U+0020."""


class ByteLevel(Normalizer, type="ByteLevel"):
    """Spells the bytes of a text in GPT-2's printable alphabet.

    Example:
        >>> ByteLevel().normalize_str("caf\u00e9 au")
        'cafÃ©Ġau'
    """


class Strip(Normalizer, type="Strip"):
    """Removes white space at the ends.

    Args:
        left: whether to do so at the start.
        right: whether to do so at the end.

    Example:
        >>> Strip(right=False).normalize_str("  hey ")
        'hey '
    """

    _defaults = {"strip_left": True, "strip_right": True}  # noqa: RUF012
    left = setting("strip_left", "Whether white space goes at the start.", boolean)
    right = setting("strip_right", "Whether white space goes at the end.", boolean)

    def __init__(self, left: bool = True, right: bool = True) -> None:
        self._start(strip_left=boolean(left), strip_right=boolean(right))


class Prepend(Normalizer, type="Prepend"):
    """Puts a string before every text that is not empty.

    Args:
        prepend: the string.

    Example:
        >>> Prepend("_").normalize_str("hey")
        '_hey'
    """

    _defaults = {"prepend": "\u2581"}  # noqa: RUF012
    prepend = setting("prepend", "The string.", string)

    def __init__(self, prepend: str = "\u2581") -> None:
        self._start(prepend=string(prepend))


class Replace(Normalizer, type="Replace"):
    r"""Replaces each match of a pattern.

    Args:
        pattern: a string, or a :class:`~toksmith.compat.tokenizers.Regex`.
        content: the replacement, literally.

    Example:
        >>> from toksmith.compat.tokenizers import Regex
        >>> Replace(Regex(r"\s+"), " ").normalize_str("to   be")
        'to be'
    """

    _defaults = {"pattern": {"String": " "}, "content": ""}  # noqa: RUF012
    content = setting("content", "The replacement.", string)

    def __init__(self, pattern: Pattern, content: str) -> None:
        self._start(pattern=spec_of(pattern), content=string(content))

    @property
    def pattern(self) -> Pattern:
        """The pattern, which tokenizers does not show."""
        raise TokenizersError("Cannot get pattern: tokenizers does not show it; use repr()")

    @pattern.setter
    def pattern(self, pattern: Pattern) -> None:
        spec_of(pattern)
        raise TokenizersError(
            "Cannot set pattern, please instantiate a new replace pattern instead"
        )


class Precompiled(Normalizer, type="Precompiled"):
    """SentencePiece's compiled map of characters.

    Args:
        precompiled_charsmap: the map, as in a ``.model`` file.

    Raises:
        TokenizersError: it is damaged or empty.

    Example:
        >>> from toksmith.stages.charsmap_rules import charsmap_of
        >>> Precompiled(charsmap_of("nfkc")).normalize_str("ﬁne №1")
        'fine No1'
    """

    _defaults = {"precompiled_charsmap": ""}  # noqa: RUF012

    def __init__(self, precompiled_charsmap: bytes) -> None:
        charsmap = _charsmap(precompiled_charsmap)
        try:
            if not charsmap:
                raise OptionError("it is empty")
            character_map(charsmap)
        except OptionError as wrong:
            raise TokenizersError(
                "Error while attempting to build Precompiled normalizer: "
                f"Cannot parse precompiled_charsmap: {wrong}"
            ) from wrong
        self._start(precompiled_charsmap=base64.b64encode(charsmap).decode("ascii"))


def _charsmap(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return bytes(sequence_of(unsigned)(value))
    except ValueError as wrong:
        raise ComponentOverflowError(f"a byte is too large: {wrong}") from wrong


class Sequence(Members[Normalizer], Normalizer, type="Sequence"):
    """Normalizers one after the other.

    Args:
        normalizers: the normalizers. A ``Sequence`` among them is replaced by its members.

    Example:
        >>> both = Sequence([NFD(), StripAccents()])
        >>> both.normalize_str("Déjà"), both[0]
        ('Deja', NFD())
    """

    _key = "normalizers"
    _member = Normalizer

    def __init__(self, normalizers: Iterable[Normalizer]) -> None:
        self._fill_flat(normalizers)

    def normalize(self, normalized: NormalizedString) -> None:
        """Normalize a text in place, and keep its alignment."""
        for each in self._members:
            each.normalize(normalized)


NORMALIZERS = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}
"""Unicode's forms by their names."""


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """Return a normalizer of one of Unicode's forms.

    Args:
        normalizer: ``nfc``, ``nfd``, ``nfkc`` or ``nfkd``.

    Raises:
        OptionError: there is no such form.

    Example:
        >>> unicode_normalizer_from_str("nfc")
        NFC()
    """
    if normalizer not in NORMALIZERS:
        raise OptionError(
            f"{normalizer} is not a known unicode normalizer. "
            f"Available are {', '.join(NORMALIZERS)}"
        )
    return NORMALIZERS[normalizer]()
