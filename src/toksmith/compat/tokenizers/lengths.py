"""The truncation and padding of a tokenizer: arguments, dictionaries, and tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toksmith.compat.tokenizers.checks import an_id, named, optional, string, unsigned
from toksmith.compat.tokenizers.encoding import Encoding, side
from toksmith.compat.tokenizers.failures import TokenizersError
from toksmith.errors import OptionError

_STRATEGIES = {
    "longest_first": "LongestFirst",
    "only_first": "OnlyFirst",
    "only_second": "OnlySecond",
}
_SPELLED = {spelled: name for name, spelled in _STRATEGIES.items()}


NO_SECOND = TokenizersError("Truncation error: Second sequence not provided")
TOO_SHORT = TokenizersError(
    "Truncation error: Sequence to truncate too short to respect the provided max_length"
)


class Truncation(NamedTuple):
    """How encodings are cut; the fields are the arguments of ``enable_truncation``."""

    max_length: int = 512
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    def checked(self) -> Truncation:
        """Return these settings.

        Raises:
            ComponentTypeError: one has a wrong type.
            ComponentOverflowError: a number is negative or too large.
            OptionError: one has another value than it may have.
        """
        for name in ("max_length", "stride"):
            named(name, unsigned, getattr(self, name))
        for name in ("strategy", "direction"):
            named(name, string, getattr(self, name))
        if self.strategy not in _STRATEGIES:
            raise OptionError(
                f"Unknown `strategy`: `{self.strategy}`. Use one of `longest_first`, `only_first`, "
                "or `only_second`"
            )
        side(self.direction, "Unknown `direction`: `{}`. Use one of `left` or `right`.")
        return self

    def spec(self) -> dict[str, Any]:
        """Return the entry of tokenizer.json."""
        return {
            "direction": self.direction.capitalize(),
            "max_length": self.max_length,
            "strategy": _STRATEGIES[self.strategy],
            "stride": self.stride,
        }

    def __str__(self) -> str:
        return (
            f"TruncationParams(direction={self.direction.capitalize()}, "
            f"max_length={self.max_length}, strategy={_STRATEGIES[self.strategy]}, "
            f"stride={self.stride})"
        )

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Truncation:
        """Return the settings of an entry of tokenizer.json."""
        return cls(
            spec["max_length"],
            spec.get("stride", 0),
            _SPELLED[spec.get("strategy", "LongestFirst")],
            spec.get("direction", "Right").lower(),
        )

    def cut(self, text: Encoding, pair: Encoding | None) -> None:
        """Cut a text, or two, to the length.

        Raises:
            TokenizersError: the text that is cut is missing, or too short.
        """
        if self.max_length == 0:
            for each in (text, pair):
                if each is not None:
                    each.truncate(0, self.stride, self.direction)
            return
        size, pair_size = len(text), 0 if pair is None else len(pair)
        surplus = size + pair_size - self.max_length
        if surplus <= 0:
            return
        if self.strategy == "longest_first":
            if pair is None:
                text.truncate(self.max_length, self.stride, self.direction)
                return
            sizes = _longest_first(size, pair_size, self.max_length)
            text.truncate(sizes[0], self.stride, self.direction)
            pair.truncate(sizes[1], self.stride, self.direction)
            return
        target = text if self.strategy == "only_first" else pair
        if target is None:
            raise NO_SECOND
        if len(target) <= surplus:
            raise TOO_SHORT
        target.truncate(len(target) - surplus, self.stride, self.direction)


class Padding(NamedTuple):
    """How encodings are filled; the fields are the arguments of ``enable_padding``."""

    length: int | None = None
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_token: str = "[PAD]"
    pad_type_id: int = 0
    direction: str = "right"

    def checked(self) -> Padding:
        """Return these settings.

        Raises:
            ComponentTypeError: one has a wrong type.
            ComponentOverflowError: a number is negative or too large.
            OptionError: the direction is no direction.
        """
        for name in ("length", "pad_to_multiple_of"):
            named(name, optional(unsigned), getattr(self, name))
        for name in ("pad_id", "pad_type_id"):
            named(name, an_id, getattr(self, name))
        for name in ("pad_token", "direction"):
            named(name, string, getattr(self, name))
        side(self.direction, "Unknown `direction`: `{}`. Use one of `left` or `right`")
        return self

    def spec(self) -> dict[str, Any]:
        """Return the entry of tokenizer.json."""
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": self.direction.capitalize(),
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }

    def __str__(self) -> str:
        strategy = "BatchLongest" if self.length is None else f"Fixed({self.length})"
        return (
            f"PaddingParams(strategy={strategy}, direction={self.direction.capitalize()}, "
            f"pad_to_multiple_of={self.pad_to_multiple_of}, pad_id={self.pad_id}, "
            f'pad_type_id={self.pad_type_id}, pad_token="{self.pad_token}")'
        )

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Padding:
        """Return the settings of an entry of tokenizer.json."""
        strategy = spec.get("strategy")
        return cls(
            strategy["Fixed"] if isinstance(strategy, Mapping) else None,
            spec.get("pad_to_multiple_of"),
            spec.get("pad_id", 0),
            spec.get("pad_token", "[PAD]"),
            spec.get("pad_type_id", 0),
            spec.get("direction", "Right").lower(),
        )

    def fill(self, encodings: Sequence[Encoding]) -> None:
        """Fill encodings to one length."""
        if not encodings:
            return
        length = max(map(len, encodings)) if self.length is None else self.length
        multiple = self.pad_to_multiple_of
        if multiple and length % multiple:
            length += multiple - length % multiple
        for each in encodings:
            each.pad(
                length,
                direction=self.direction,
                pad_id=self.pad_id,
                pad_type_id=self.pad_type_id,
                pad_token=self.pad_token,
            )


def _longest_first(size: int, pair_size: int, length: int) -> tuple[int, int]:
    """Return the lengths to which two texts are cut: the longer one loses more."""
    short, long = sorted((size, pair_size))
    long = short if short > length else max(short, length - short)
    if short + long > length:
        short = length // 2
        long = short + length % 2
    return (long, short) if size > pair_size else (short, long)
