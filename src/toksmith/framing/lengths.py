"""Truncation and padding: they bring texts of different lengths to one length."""

from __future__ import annotations

from typing import Literal

from toksmith._base.checks import whole
from toksmith._base.records import dataclass
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError

Direction = Literal["left", "right"]
Strategy = Literal["longest_first", "only_first", "only_second"]


@short_repr
@dataclass(frozen=True)
class Truncation:
    """The way a text that is too long is cut.

    Attributes:
        max_length: the maximum number of tokens of a row, template included.
        stride: the number of tokens that each additional row repeats from the row before it.
        strategy: which of two texts is cut: ``longest_first`` (both down to half, if need be),
            ``only_first`` or ``only_second``.
        direction: at which end tokens go first.

    Raises:
        OptionError: a number is negative, or a setting has another value.

    Example:
        >>> Truncation(512, stride=64)
        Truncation(max_length=512, stride=64, strategy='longest_first', direction='right')
    """

    max_length: int
    stride: int = 0
    strategy: Strategy = "longest_first"
    direction: Direction = "right"

    def __post_init__(self) -> None:
        whole("max_length", self.max_length, least=0)
        whole("stride", self.stride, least=0)
        _one_of("strategy", self.strategy, "longest_first", "only_first", "only_second")
        _one_of("direction", self.direction, "left", "right")


@short_repr
@dataclass(frozen=True)
class Padding:
    """The way rows that are too short are padded.

    Attributes:
        length: the row length in tokens; ``None`` for that of the longest row.
        direction: the end at which padding is added.
        multiple_of: the length is rounded up to a multiple of this.
        id: the id of the padding token; ``None`` for the tokenizer's own, else 0.
        type_id: its type.
        token: how files spell it.

    Raises:
        OptionError: a number is negative, or ``direction`` is neither end.

    Example:
        >>> Padding(multiple_of=8).target(13), Padding(length=64).target(13)
        (16, 64)
    """

    length: int | None = None
    direction: Direction = "right"
    multiple_of: int | None = None
    id: int | None = None
    type_id: int = 0
    token: str = "[PAD]"

    def __post_init__(self) -> None:
        if self.length is not None:
            whole("length", self.length, least=0)
        if self.multiple_of is not None:
            whole("multiple_of", self.multiple_of, least=0)
        _one_of("direction", self.direction, "left", "right")

    def target(self, longest: int) -> int:
        """Return the common length of all rows, given the length of the longest.

        Args:
            longest: the number of tokens of the longest row.

        Returns:
            The number of tokens that every row gets.

        Raises:
            OptionError: the length is fixed, and that row is longer.

        Example:
            >>> Padding(multiple_of=8).target(13)
            16
        """
        size = longest if self.length is None else self.length
        if self.multiple_of:
            size = -(-size // self.multiple_of) * self.multiple_of
        if longest > size:
            raise OptionError(
                f"a row has {longest} tokens, but padding makes rows of {size}: give max_length"
            )
        return size


def _one_of(name: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise OptionError(f"{name} is {value!r}: use {' or '.join(map(repr, allowed))}")
