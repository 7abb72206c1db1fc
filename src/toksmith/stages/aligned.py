"""A text in the pipeline, with the position in the original text of each of its characters.

A normalizer is written as *edits*: ranges of a text and their replacements. One set of edits serves
two uses: :func:`apply_edits` on a string returns the new text, and on an :class:`Aligned` it also
tracks origins, so that spans always refer to the original text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from toksmith._base.lazy import np
from toksmith._base.records import dataclass
from toksmith._base.text import byte_sizes

_BLOCK = 1 << 17
"""Parts of a text that are joined at once: Ctrl-C does not end ``str.join``."""


class Edit(NamedTuple):
    """Characters ``[start, end)`` of a text become ``new``; edits come in order and do not overlap.

    Attributes:
        start: the start of the range.
        end: the end of the range; ``start`` for an insertion.
        new: the replacement.
    """

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Aligned:
    """A text with the origin of each character: its bytes in the original text.

    Attributes:
        text: the characters.
        starts: the start of the origin of each, in bytes.
        ends: the end of the origin of each.

    Example:
        >>> Aligned.of("aé").apply_edits([Edit(1, 2, "e'")])
        Aligned(text="ae'", starts=[0, 1, 1], ends=[1, 3, 3])
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str, offset: int = 0) -> Aligned:
        """Return an unchanged text, which starts at byte ``offset`` of the original.

        A surrogate is one byte of invalid UTF-8 (``surrogateescape``).
        """
        ends = np.cumsum(byte_sizes(text)) + offset
        places = [offset, *ends.tolist()]
        return cls(text, places[:-1], places[1:])

    def __len__(self) -> int:
        return len(self.text)

    def __str__(self) -> str:
        return self.text

    def __getitem__(self, span: slice) -> Aligned:
        return Aligned(self.text[span], self.starts[span], self.ends[span])

    def __add__(self, other: Aligned) -> Aligned:
        return Aligned(self.text + other.text, self.starts + other.starts, self.ends + other.ends)

    def apply_edits(self, edits: Iterable[Edit]) -> Aligned:
        """Apply edits, and return the new text.

        The replacement of a range has the origin of the whole range. An insertion has an empty
        origin, at the start of the character after it.
        """
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for start, end, new in edits:
            text += [self.text[done:start], new]
            starts += self.starts[done:start]
            ends += self.ends[done:start]
            if end > start:
                first, last = self.starts[start], self.ends[end - 1]
            else:
                first = self.starts[start] if start < len(self.starts) else self._end
                last = first
            starts += [first] * len(new)
            ends += [last] * len(new)
            done = end
        text.append(self.text[done:])
        return Aligned("".join(text), starts + self.starts[done:], ends + self.ends[done:])

    @property
    def _end(self) -> int:
        return self.ends[-1] if self.ends else 0


AnyText = TypeVar("AnyText", str, Aligned)
"""A string, or an ``Aligned``, which also tracks positions in the original."""


def apply_edits(text: AnyText, edits: Iterable[Edit]) -> AnyText:
    """Apply edits, and return the new text.

    Example:
        >>> apply_edits("abc", [Edit(1, 2, "xyz")])
        'axyzc'
    """
    if not isinstance(text, str):
        return text.apply_edits(edits)
    blocks: list[str] = []
    parts: list[str] = []
    done = 0
    for start, end, new in edits:
        parts += [text[done:start], new]
        done = end
        if len(parts) > _BLOCK:
            blocks.append("".join(parts))
            parts.clear()
    return "".join([*blocks, *parts, text[done:]])
