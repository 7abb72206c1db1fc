"""tokenizers' pre-tokenizers: components that cut a normalized text into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toksmith._base.byte_alphabet import spell
from toksmith.compat.tokenizers.callbacks import checked, wrapping
from toksmith.compat.tokenizers.checks import boolean, character, metaspace_scheme, unsigned
from toksmith.compat.tokenizers.component import Component, Members, setting
from toksmith.compat.tokenizers.failures import TokenizersError
from toksmith.compat.tokenizers.pattern import BEHAVIORS, Pattern, behavior_of, spec_of
from toksmith.compat.tokenizers.pre_tokenized_string import Offsets, PreTokenizedString
from toksmith.errors import OptionError
from toksmith.formats.huggingface import splitters as entries
from toksmith.formats.huggingface.entries import Entry
from toksmith.splitters import Splitter, SplitterSequence
from toksmith.stages.aligned import Aligned
from toksmith.stages.split_classes import split_text


class PreTokenizer(Component):
    """The base of all pre-tokenizers; :meth:`custom` makes one from an object of the caller's."""

    _custom: Any = None
    _compiled: tuple[int, tuple[Splitter, ...]] | None = None

    def __init__(self) -> None:
        self._check_is_a_kind()
        self._start()

    @staticmethod
    def custom(pretok: Any) -> PreTokenizer:
        """Return a pre-tokenizer that calls an object of the caller's.

        Args:
            pretok: an object with ``pre_tokenize(pretok)``, which changes a
                :class:`~toksmith.compat.tokenizers.PreTokenizedString` and does not keep it.

        Example:
            >>> class Halves:
            ...     def pre_tokenize(self, pretok):
            ...         pretok.split(self.cut)
            ...     def cut(self, place, text):
            ...         middle = len(text.normalized) // 2
            ...         return [text[:middle], text[middle:]]
            >>> PreTokenizer.custom(Halves()).pre_tokenize_str("onetwo")
            [('one', (0, 3)), ('two', (3, 6))]
        """
        made = PreTokenizer.__new__(PreTokenizer)
        made._custom = pretok
        return made

    def is_custom(self) -> bool:
        """Whether this pre-tokenizer, or a member of it, is an object of the caller's."""
        return self._custom is not None

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        """Cut the splits of a text that have no tokens.

        Args:
            pretok: the text.

        Raises:
            TokenizersError: the object of the caller's raised an error.
        """
        checked(pretok, PreTokenizedString)
        if self._custom is None:
            for step in self._steps():
                pretok._cut(step)
        else:
            with wrapping(), pretok._lent() as lent:
                self._custom.pre_tokenize(lent)

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, Offsets]]:
        """Return the words of a text, and their offsets in characters.

        Args:
            sequence: the text.

        Example:
            >>> Whitespace().pre_tokenize_str("Hey you!")
            [('Hey', (0, 3)), ('you', (4, 7)), ('!', (7, 8))]
        """
        if self.is_custom():
            pretok = PreTokenizedString(sequence)
            self.pre_tokenize(pretok)
            return [(text, offsets) for text, offsets, _ in pretok.get_splits()]
        steps = self._steps()
        size = len(checked(sequence, str))
        if not steps:
            return [(sequence, (0, size))]
        text = Aligned(sequence, [*range(size)], [*range(1, size + 1)])  # in characters
        words = split_text(SplitterSequence(steps), text)
        return [(word.text, (word.starts[0], word.ends[-1])) for word in words]

    def _steps(self) -> tuple[Splitter, ...]:
        """Return the steps that run."""
        version = self.version()
        if self._compiled is None or self._compiled[0] != version:
            entry = Entry(Path("tokenizer.json"), "pre_tokenizer", self.spec())
            read = entries.read(entry, byte_level=False)
            steps = read.steps if isinstance(read, SplitterSequence) else (read,) if read else ()
            self._compiled = version, steps
        return self._compiled[1]


class BertPreTokenizer(PreTokenizer, type="BertPreTokenizer"):
    """Cuts at white space, and on both sides of each punctuation mark."""


class Whitespace(PreTokenizer, type="Whitespace"):
    r"""Cuts out runs of word characters, and of what is neither word nor space."""


class WhitespaceSplit(PreTokenizer, type="WhitespaceSplit"):
    """Cuts at white space."""


class UnicodeScripts(PreTokenizer, type="UnicodeScripts"):
    """Cuts where the script changes."""


class ByteLevel(PreTokenizer, type="ByteLevel"):
    """Cuts as GPT-2 does, and spells the bytes of each word in its printable alphabet.

    Args:
        add_prefix_space: put a space before a text that starts with none.
        trim_offsets: whether offsets leave spaces out, if this is the post-processor too.
        use_regex: whether to cut at all.

    Example:
        >>> ByteLevel().pre_tokenize_str("hey you")
        [('Ġhey', (0, 3)), ('Ġyou', (3, 7))]
    """

    _defaults = {  # noqa: RUF012
        "add_prefix_space": True,
        "trim_offsets": True,
        "use_regex": True,
    }
    add_prefix_space = setting("add_prefix_space", "Whether a space is put before.", boolean)
    trim_offsets = setting("trim_offsets", "Whether offsets leave spaces out.", boolean)
    use_regex = setting("use_regex", "Whether the text is cut.", boolean)

    def __init__(
        self,
        add_prefix_space: bool = True,
        trim_offsets: bool = True,
        use_regex: bool = True,
        **_kwargs: object,
    ) -> None:
        self._start(
            add_prefix_space=boolean(add_prefix_space),
            trim_offsets=boolean(trim_offsets),
            use_regex=boolean(use_regex),
        )

    @staticmethod
    def alphabet() -> list[str]:
        """Return the 256 characters that spell the bytes.

        Example:
            >>> len(ByteLevel.alphabet()), "Ġ" in ByteLevel.alphabet()
            (256, True)
        """
        return list(spell(bytes(range(256))))


_WORDS = {name: name.title().replace("_", "") for name in BEHAVIORS}
"""What becomes of a match, by tokenizers' name: the name in tokenizer.json."""


def _behavior(name: str) -> str:
    behavior_of(name)
    return _WORDS[name]


def _behavior_setting() -> Any:
    """Return the property of what becomes of a match."""

    def get(self: Component) -> str:
        return str(self._spec["behavior"]).lower()

    def put(self: Component, name: str) -> None:
        self._set("behavior", _behavior(name))

    return property(get, put, None, "What becomes of a match, in lower case without underscores.")


class Split(PreTokenizer, type="Split"):
    r"""Cuts at the matches of a pattern.

    Args:
        pattern: a string, or a :class:`~toksmith.compat.tokenizers.Regex`.
        behavior: what becomes of a match: ``removed``, ``isolated``, ``merged_with_previous``,
            ``merged_with_next`` or ``contiguous``.
        invert: what is between the matches counts as the matches.

    Example:
        >>> from toksmith.compat.tokenizers import Regex
        >>> Split(Regex(r"\d"), "isolated").pre_tokenize_str("in 84")
        [('in ', (0, 3)), ('8', (3, 4)), ('4', (4, 5))]
    """

    _words = frozenset({"behavior"})
    _defaults = {  # noqa: RUF012
        "pattern": {"String": " "},
        "behavior": "Removed",
        "invert": False,
    }
    behavior = _behavior_setting()
    invert = setting("invert", "Whether the text between matches counts as matches.", boolean)

    def __init__(self, pattern: Pattern, behavior: str, invert: bool = False) -> None:
        self._start(pattern=spec_of(pattern), behavior=_behavior(behavior), invert=boolean(invert))

    @property
    def pattern(self) -> Pattern:
        """The pattern, which tokenizers does not show."""
        raise TokenizersError("Cannot get pattern: tokenizers does not show it; use repr()")

    @pattern.setter
    def pattern(self, pattern: Pattern) -> None:
        spec_of(pattern)
        raise TokenizersError("Cannot set pattern, please instantiate a new split pattern instead")


class Punctuation(PreTokenizer, type="Punctuation"):
    """Cuts at punctuation marks.

    Args:
        behavior: what becomes of a mark, as for :class:`Split`.

    Example:
        >>> Punctuation("merged_with_previous").pre_tokenize_str("Oh, no.")
        [('Oh,', (0, 3)), (' no.', (3, 7))]
    """

    _words = frozenset({"behavior"})
    _defaults = {"behavior": "Isolated"}  # noqa: RUF012
    behavior = _behavior_setting()

    def __init__(self, behavior: str = "isolated") -> None:
        self._start(behavior=_behavior(behavior))


class CharDelimiterSplit(PreTokenizer, type="CharDelimiterSplit"):
    """Cuts at one character, and drops it.

    Args:
        delimiter: the character.

    Example:
        >>> CharDelimiterSplit("-").pre_tokenize_str("a-b")
        [('a', (0, 1)), ('b', (2, 3))]
    """

    _defaults = {"delimiter": " "}  # noqa: RUF012
    delimiter = setting("delimiter", "The character.", character)

    def __init__(self, delimiter: str) -> None:
        self._start(delimiter=character(delimiter))


class Digits(PreTokenizer, type="Digits"):
    """Cuts at numbers.

    Args:
        individual_digits: whether each digit is a word of its own.

    Example:
        >>> Digits(individual_digits=True).pre_tokenize_str("in 84")
        [('in ', (0, 3)), ('8', (3, 4)), ('4', (4, 5))]
    """

    _defaults = {"individual_digits": False}  # noqa: RUF012
    individual_digits = setting("individual_digits", "Whether digits are cut apart.", boolean)

    def __init__(self, individual_digits: bool = False) -> None:
        self._start(individual_digits=boolean(individual_digits))


def _length(value: int) -> int:
    if unsigned(value) < 1:
        raise OptionError(f"length is {value}: give 1 or more")
    return value


class FixedLength(PreTokenizer, type="FixedLength"):
    """Cuts after each fixed number of characters.

    Args:
        length: the number.

    Raises:
        OptionError: it is below 1.

    Example:
        >>> FixedLength(3).pre_tokenize_str("ATCCT")
        [('ATC', (0, 3)), ('CT', (3, 5))]
    """

    _defaults = {"length": 5}  # noqa: RUF012
    length = setting("length", "The number of characters.", _length)

    def __init__(self, length: int = 5) -> None:
        self._start(length=_length(length))


class Metaspace(PreTokenizer, type="Metaspace"):
    """Writes a mark for each space, and cuts before each mark.

    Args:
        replacement: the mark.
        prepend_scheme: whether a text that starts with no mark gets one: ``always``, ``never``,
            or ``first`` (at the start of the text alone).
        split: whether to cut.

    Example:
        >>> Metaspace().pre_tokenize_str("hey you")
        [('▁hey', (0, 3)), ('▁you', (3, 7))]
    """

    _words = frozenset({"prepend_scheme"})
    _defaults = {  # noqa: RUF012
        "replacement": "\u2581",
        "prepend_scheme": "always",
        "split": True,
    }
    replacement = setting("replacement", "The mark.", character)
    prepend_scheme = setting(
        "prepend_scheme", "Which texts get a mark before them.", metaspace_scheme
    )
    split = setting("split", "Whether the text is cut.", boolean)

    def __init__(
        self, replacement: str = "\u2581", prepend_scheme: str = "always", split: bool = True
    ) -> None:
        self._start(
            replacement=character(replacement),
            prepend_scheme=metaspace_scheme(prepend_scheme),
            split=boolean(split),
        )

    def _read(self, spec: Mapping[str, Any]) -> None:
        if spec.get("add_prefix_space") is False:  # of older files
            if spec.get("prepend_scheme", "never") != "never":
                raise TokenizersError("add_prefix_space does not match declared prepend_scheme")
            spec = {**spec, "prepend_scheme": "never"}
        super()._read(spec)


class Sequence(Members[PreTokenizer], PreTokenizer, type="Sequence"):
    """Pre-tokenizers one after the other.

    Args:
        pretokenizers: the pre-tokenizers. A ``Sequence`` among them is replaced by its members.

    Example:
        >>> both = Sequence([WhitespaceSplit(), Punctuation()])
        >>> both.pre_tokenize_str("Hey!"), both[0]
        ([('Hey', (0, 3)), ('!', (3, 4))], WhitespaceSplit())
    """

    _key = "pretokenizers"
    _member = PreTokenizer

    def __init__(self, pretokenizers: Iterable[PreTokenizer]) -> None:
        self._fill_flat(pretokenizers)

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        """Cut the splits of a text that have no tokens."""
        for each in self._members:
            each.pre_tokenize(pretok)

    def _steps(self) -> tuple[Splitter, ...]:
        return tuple(step for each in self._members for step in each._steps())
