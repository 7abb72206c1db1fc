"""tokenizers' ``Encoding``: the tokens of a text, or of two, and where they come from."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from toksmith.compat.tokenizers.callbacks import checked
from toksmith.compat.tokenizers.checks import (
    an_id,
    arguments,
    boolean,
    instance,
    sequence_of,
    string,
    unsigned,
)
from toksmith.compat.tokenizers.component import compact_json
from toksmith.compat.tokenizers.failures import TokenizersError
from toksmith.errors import OptionError, warn

_COLUMNS = (
    *("ids", "type_ids", "tokens", "words", "offsets", "special_tokens_mask", "attention_mask"),
)


class Encoding:
    """The tokens of a text or a pair of texts, in columns.

    Example:
        >>> encoding = Encoding()
        >>> len(encoding), encoding.ids, encoding.n_sequences
        (0, [], 1)
    """

    def __init__(self) -> None:
        self._start(0, lambda name: [], {})

    def _start(
        self, size: int, make: Callable[[str], list[Any]], columns: dict[str, list[Any]]
    ) -> None:
        self._size, self._make, self._columns = size, make, columns
        self._overflowing: list[Encoding] | Callable[[], list[Encoding]] = []
        self._places: dict[int, tuple[int, int]] | Callable[[], dict[int, tuple[int, int]]] = {}

    @classmethod
    def of(cls, ids: list[int], make: Callable[[str], list[Any]], type_id: int = 0) -> Encoding:
        """Return the encoding of tokens of a text.

        Args:
            ids: the id of each token.
            make: returns the tokens, the offsets or the words, by the name of the column. It runs
                at the first use.
            type_id: the type of the tokens.
        """
        made, size = cls.__new__(cls), len(ids)
        made._start(
            size,
            make,
            {
                "ids": ids,
                "type_ids": [type_id] * size,
                "special_tokens_mask": [0] * size,
                "attention_mask": [1] * size,
            },
        )
        return made

    @classmethod
    def special(cls, ids: list[int], tokens: list[str], type_id: int) -> Encoding:
        """Return the encoding of special tokens that come from no text."""
        made, size = cls.of([*ids], lambda name: [], type_id), len(ids)
        made._columns |= {
            "tokens": [*tokens],
            "words": [None] * size,
            "offsets": [(0, 0)] * size,
            "special_tokens_mask": [1] * size,
        }
        return made

    @classmethod
    def later(
        cls,
        size: int,
        make: Callable[[str], list[Any]],
        places: Callable[[], dict[int, tuple[int, int]]],
        overflowing: Callable[[], list[Encoding]] | None,
    ) -> Encoding:
        """Return an encoding whose columns are made at their first use.

        Args:
            size: the number of tokens.
            make: returns a column by its name.
            places: returns the tokens of each text.
            overflowing: returns what was cut off.
        """
        made = cls.__new__(cls)
        made._start(size, make, {})
        made._places = places
        made._overflowing = overflowing or []
        return made

    def _column(self, name: str) -> list[Any]:
        found = self._columns.get(name)
        if found is None:
            found = self._columns.setdefault(name, self._make(name))
        return found

    @property
    def _ranges(self) -> dict[int, tuple[int, int]]:
        """The tokens of each text; empty: all are of the first."""
        if callable(self._places):
            self._places = self._places()
        return self._places

    @_ranges.setter
    def _ranges(self, places: dict[int, tuple[int, int]]) -> None:
        self._places = places

    @property
    def ids(self) -> list[int]:
        """The id of each token."""
        return [*self._column("ids")]

    @property
    def type_ids(self) -> list[int]:
        """The type of each token, such as 1 for the second text."""
        return [*self._column("type_ids")]

    @property
    def tokens(self) -> list[str]:
        """Each token as it is spelled."""
        return [*self._column("tokens")]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The characters of its text that each token covers."""
        return [*self._column("offsets")]

    @property
    def word_ids(self) -> list[int | None]:
        """The index of each token's word; ``None`` for tokens of the template and padding."""
        return [*self._column("words")]

    @property
    def words(self) -> list[int | None]:
        """The same as ``word_ids``, with a DeprecationWarning."""
        warnings.warn(
            "Encoding.words is deprecated: use Encoding.word_ids", DeprecationWarning, stacklevel=2
        )
        return self.word_ids

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens of the template and padding."""
        return [*self._column("special_tokens_mask")]

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding."""
        return [*self._column("attention_mask")]

    @property
    def overflowing(self) -> list[Encoding]:
        """What was cut off, as further encodings."""
        if callable(self._overflowing):
            self._overflowing = self._overflowing()
        return [*self._overflowing]

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self._ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text of each token, 0 or 1; ``None`` for tokens of the template."""
        found: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, end = self._range(sequence)
            found[start:end] = [sequence] * (end - start)
        return found

    def __len__(self) -> int:
        return self._size

    def _range(self, sequence: int) -> tuple[int, int]:
        """Return the first token of a text, and the one after the last."""
        return self._ranges.get(sequence, (0, len(self)))

    @arguments(sequence_id=unsigned)
    def set_sequence_id(self, sequence_id: int) -> None:
        """Let all tokens belong to one text.

        Args:
            sequence_id: the index of the text.
        """
        self._ranges[sequence_id] = (0, len(self))

    @arguments(token_index=unsigned)
    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the text of a token, or ``None``.

        Args:
            token_index: the index of the token.
        """
        if token_index > len(self):
            return None
        if not self._ranges:
            return 0
        for sequence, (start, end) in self._ranges.items():
            if start <= token_index < end:
                return sequence
        return None

    @arguments(token_index=unsigned)
    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Return the characters of a token, or ``None`` for one of the template.

        Args:
            token_index: the index of the token.
        """
        offsets: tuple[int, int] | None = self._of_token("offsets", token_index)
        return offsets

    @arguments(token_index=unsigned)
    def token_to_word(self, token_index: int) -> int | None:
        """Return the word of a token, or ``None``.

        Args:
            token_index: the index of the token.
        """
        word: int | None = self._of_token("words", token_index)
        return word

    def _of_token(self, column: str, token: int) -> Any:
        if self.token_to_sequence(token) is None or token >= len(self):
            return None
        return self._column(column)[token]

    @arguments(char_pos=unsigned, sequence_index=unsigned)
    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the token that covers a character, or ``None``.

        Args:
            char_pos: the index of the character.
            sequence_index: the index of its text.
        """
        first, last = self._range(sequence_index)
        for place, (start, end) in enumerate(self._column("offsets")[first:last], first):
            if start <= char_pos < end:
                return place
        return None

    @arguments(char_pos=unsigned, sequence_index=unsigned)
    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the word that covers a character, or ``None``.

        Args:
            char_pos: the index of the character.
            sequence_index: the index of its text.
        """
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    @arguments(word_index=an_id, sequence_index=unsigned)
    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the first token of a word, and the one after its last; ``None`` if it has none.

        Args:
            word_index: the index of the word.
            sequence_index: the index of its text.
        """
        first, last = self._range(sequence_index)
        words = self._column("words")[first:last]
        places = [place for place, word in enumerate(words, first) if word == word_index]
        return (places[0], places[-1] + 1) if places else None

    @arguments(word_index=an_id, sequence_index=unsigned)
    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the characters of a word, or ``None``.

        Args:
            word_index: the index of the word.
            sequence_index: the index of its text.
        """
        found = self.word_to_tokens(word_index, sequence_index)
        if found is None:
            return None
        offsets = self._column("offsets")
        return offsets[found[0]][0], offsets[found[1] - 1][1]

    @arguments(length=unsigned, direction=string, pad_id=an_id, pad_type_id=an_id, pad_token=string)
    def pad(
        self,
        length: int,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        **unknown: Any,
    ) -> None:
        """Fill up to a length.

        Args:
            length: the number of tokens.
            direction: the side, ``"right"`` or ``"left"``.
            pad_id: the id of the padding token.
            pad_type_id: its type.
            pad_token: its spelling.
            unknown: other options, which are ignored with a warning.

        Raises:
            OptionError: the direction is another one.
        """
        for name in unknown:
            warn(f"pad has no option {name!r}: it is ignored")
        side(direction, "Unknown `direction`: `{}`. Use one of `left` or `right`")
        options = {
            "direction": direction,
            "pad_id": pad_id,
            "pad_type_id": pad_type_id,
            "pad_token": pad_token,
        }
        self._overflowing = _padded(self._overflowing, length, options)
        size = length - len(self)
        if size <= 0:
            return
        filling = {
            "ids": pad_id,
            "type_ids": pad_type_id,
            "tokens": pad_token,
            "words": None,
            "offsets": (0, 0),
            "special_tokens_mask": 1,
            "attention_mask": 0,
        }

        def fill(column: list[Any], value: object) -> list[Any]:
            added = [value] * size
            return added + column if direction == "left" else column + added

        before = self._copy()
        self._columns, self._size = {}, length
        self._make = lambda name: fill(before._column(name), filling[name])
        if direction == "left":
            self._places = {key: (a + size, b + size) for key, (a, b) in before._ranges.items()}

    @arguments(max_length=unsigned, stride=unsigned, direction=string)
    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Cut to a length; what is cut off is in ``overflowing``.

        Args:
            max_length: the number of tokens.
            stride: the number of tokens that each further encoding repeats.
            direction: the side that is cut, ``"right"`` or ``"left"``.

        Raises:
            OptionError: the direction is another one, or the stride is not below ``max_length``.
        """
        side(direction, "Invalid truncation direction value : {}")
        size = len(self)
        if max_length >= size:
            return
        if max_length == 0:
            whole = self._copy()
            self.__init__()  # type: ignore[misc]
            self._overflowing = [whole]
            return
        if stride >= max_length:
            raise OptionError(
                f"`stride` must be strictly less than `max_len={max_length}` (note that `max_len` "
                "may be shorter than the max length of the original model, as it subtracts the "
                "number of special characters"
            )
        parts = [self._part(*each) for each in _windows(size, max_length, stride, direction)]
        self.__dict__.update(parts[0].__dict__)
        self._overflowing = parts[1:]

    def _part(self, start: int, end: int) -> Encoding:
        """Return the tokens of a range, without overflow and without the ranges of sequences."""
        made, whole = Encoding(), self._copy()
        made._start(end - start, lambda name: whole._column(name)[start:end], {})
        return made

    def _copy(self) -> Encoding:
        made = Encoding.__new__(Encoding)
        made.__dict__.update(self.__dict__)
        made._columns = dict(self._columns)
        if not callable(self._places):
            made._places = dict(self._places)
        return made

    @staticmethod
    @arguments(growing_offsets=boolean)
    def merge(encodings: Iterable[Encoding], growing_offsets: bool = True) -> Encoding:
        """Return several encodings as one, with all combinations of what overflows.

        Args:
            encodings: the encodings.
            growing_offsets: let the offsets of each start where those of the one before end.
        """
        made = Encoding()
        for each in sequence_of(instance(Encoding))(encodings):
            made = made._merged(each, growing_offsets)
        return made

    def _merged(self, other: Encoding, growing: bool) -> Encoding:
        ours, its = self.overflowing, other.overflowing
        overflowing = [
            one._merged(another, growing)
            for one in ours
            for another in [other, *(each for each in its)]
        ]
        overflowing += [self._alone()._merged(each, growing) for each in its]
        if not len(self) and not self._ranges and not overflowing:
            made = other._copy()
            made._overflowing = []
            return made
        before = len(self)
        shift = self._column("offsets")[-1][1] if growing and before else 0
        one, another = self._copy(), other._copy()
        made = Encoding()
        made._start(
            before + len(other),
            lambda name: _joined(name, one._column(name), another._column(name), shift),
            {},
        )
        made._ranges = self._ranges | {
            key: (start + before, end + before) for key, (start, end) in other._ranges.items()
        }
        made._overflowing = overflowing
        return made

    def _alone(self) -> Encoding:
        made = self._copy()
        made._overflowing = []
        return made

    def __getstate__(self) -> bytes:
        return compact_json(self._state()).encode()

    def _state(self) -> dict[str, Any]:
        return {
            **{name: self._column(name) for name in _COLUMNS},
            "overflowing": [each._state() for each in self.overflowing],
            "sequence_ranges": {
                str(key): {"start": start, "end": end} for key, (start, end) in self._ranges.items()
            },
        }

    def __setstate__(self, state: bytes) -> None:
        checked(state, bytes)
        try:
            self._restore(json.loads(state))
        except (ValueError, KeyError, TypeError) as wrong:
            raise TokenizersError(
                f"Error while attempting to unpickle Encoding: {wrong}"
            ) from wrong

    def _restore(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._columns = {name: state[name] for name in _COLUMNS}
        self._size = len(state["ids"])
        self._columns["offsets"] = [*map(tuple, state["offsets"])]
        self._overflowing = []
        for each in state["overflowing"]:
            made = Encoding()
            made._restore(each)
            self._overflowing.append(made)
        ranges = state["sequence_ranges"].items()
        self._places = {int(key): (span["start"], span["end"]) for key, span in ranges}

    def __repr__(self) -> str:
        return (
            f"Encoding(num_tokens={len(self)}, attributes=[ids, type_ids, tokens, offsets, "
            "attention_mask, special_tokens_mask, overflowing])"
        )


def side(direction: str, message: str) -> None:
    """Check a direction.

    Raises:
        OptionError: it is neither ``"left"`` nor ``"right"``.
    """
    if direction not in ("left", "right"):
        raise OptionError(message.format(direction))


def _padded(
    encodings: list[Encoding] | Callable[[], list[Encoding]], length: int, options: dict[str, Any]
) -> list[Encoding] | Callable[[], list[Encoding]]:
    """Pad encodings, at once or when they are made."""

    def pad(found: list[Encoding]) -> list[Encoding]:
        for each in found:
            each.pad(length, **options)
        return found

    return (lambda: pad(encodings())) if callable(encodings) else pad(encodings)


def _windows(size: int, length: int, stride: int, direction: str) -> list[tuple[int, int]]:
    """Return the range of each window of some tokens."""
    found = []
    step = length - stride
    if direction == "right":
        for start in range(0, size, step):
            found.append((start, min(start + length, size)))
            if start + length >= size:
                break
    else:
        for end in range(size, 0, -step):
            found.append((max(end - length, 0), end))
            if end <= length:
                break
    return found


def _joined(name: str, left: list[Any], right: list[Any], shift: int) -> list[Any]:
    if name == "offsets" and shift:
        right = [(start + shift, end + shift) for start, end in right]
    return left + right
