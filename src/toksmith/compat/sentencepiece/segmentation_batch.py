"""The segmentations of many texts, in arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from toksmith._base.arrays import IdArray, OffsetArray
from toksmith._base.lazy import np, npt
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.engine import portable


class SegmentedTexts(NamedTuple):
    """The pieces of texts, text after text; see :class:`Segmentation` for the attributes of pieces.

    Attributes:
        texts: the texts, as UTF-8.
        offsets: text ``i`` has the pieces from ``offsets[i]`` to ``offsets[i + 1]``.
        ids: uint32.
        pieces: the pieces as UTF-8.
        begins: int64, in bytes.
        ends: int64, in bytes.
        silent: bool.
        unknown: the places of the unknown pieces.
    """

    texts: list[bytes]
    offsets: OffsetArray
    ids: IdArray
    pieces: list[bytes]
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    silent: npt.NDArray[np.bool_]
    unknown: list[int]

    def rows(self) -> list[Segmentation]:
        """Return the segmentation of each text."""
        ids, begins, ends, silent = (
            each.tolist() for each in (self.ids, self.begins, self.ends, self.silent)
        )
        return [
            Segmentation(
                text,
                ids[start:end],
                self.pieces[start:end],
                begins[start:end],
                ends[start:end],
                silent[start:end],
            )
            for text, (start, end) in zip(self.texts, pairwise(self.offsets.tolist()), strict=True)
        ]

    def serialize(self) -> list[bytes]:
        """Return the message ``SentencePieceText`` of each text; its places are in bytes."""
        found = portable.serialize_segmentations(
            self.texts, self.offsets, self.ids, self.begins, self.ends, self.silent, self.pieces
        )
        return [row.serialize() for row in self.rows()] if found is None else found
