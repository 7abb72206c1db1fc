"""The layout of rows of model inputs: what the engine needs to cut, frame and join tokens."""

from __future__ import annotations

from toksmith._base.records import dataclass
from toksmith.framing.lengths import Truncation
from toksmith.framing.template import Part, TextPart, TokenPart


@dataclass(frozen=True)
class RowLayout:
    """The parts of a row, and how its texts are cut.

    Attributes:
        parts: the texts and the template's tokens, in order.
        truncation: the maximum length of a row; ``None`` for no limit.
        overflow: whether tokens that are cut off form further rows.

    Example:
        >>> layout = RowLayout((TokenPart(101), TextPart("A"), TokenPart(102)))
        >>> layout.added, layout.sequence
        (2, (-1, 0, -1))
    """

    parts: tuple[Part, ...]
    truncation: Truncation | None = None
    overflow: bool = False

    @property
    def added(self) -> int:
        """The number of the template's tokens in a row.

        Example:
            >>> RowLayout((TextPart("A"), TokenPart(102))).added
            1
        """
        return sum(isinstance(part, TokenPart) for part in self.parts)

    @property
    def sequence(self) -> tuple[int, ...]:
        """The text of each part, 0 or 1; -1 for the template.

        Example:
            >>> RowLayout((TextPart("A"), TextPart("B"))).sequence
            (0, 1)
        """
        return tuple(
            "AB".index(part.which) if isinstance(part, TextPart) else -1 for part in self.parts
        )
