"""The spelling of unknown pieces: the normalized text that they cover."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

from toksmith._base.records import replace
from toksmith.compat.sentencepiece.normalized_text import normalize_text
from toksmith.compat.sentencepiece.segmentation_batch import SegmentedTexts
from toksmith.formats.sentencepiece_pipeline import protected_symbols
from toksmith.models import Pieces
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.stages.charsmap import character_map
from toksmith.tokenizer import Tokenizer

_LONGEST_KEY = 400
"""The most bytes that the normalizer replaces as one."""


class UnknownPieces:
    """Spells the unknown pieces of a model.

    Args:
        pipeline: the model's.
        step: its normalizer.
    """

    def __init__(self, pipeline: Pipeline, step: SentencePieceNormalizer) -> None:
        self._pipeline = pipeline
        self._map = character_map(step.charsmap)
        self._step = step
        plain = SentencePieceNormalizer(step.charsmap, False, False, False)
        self._normalize = lru_cache(4096)(lambda surface: normalize_text(plain, surface).encode())

    def spell(self, found: SegmentedTexts) -> None:
        """Replace the unknown pieces of texts by the normalized text that they cover."""
        done = 0  # the end of the last text that was normalized as a whole
        rows = found.offsets.searchsorted(found.unknown, "right") - 1
        for place, row in zip(found.unknown, rows.tolist(), strict=True):
            if place < done:
                continue
            begin, end = int(found.begins[place]), int(found.ends[place])
            covered = self._normalized_alone(found.texts[row], begin, end)
            if covered is None:
                start, done = found.offsets[row : row + 2].tolist()
                found.pieces[start:done] = self._pieces_of(
                    found.texts[row], found.pieces[start:done]
                )
            else:
                found.pieces[place] = covered

    def _normalized_alone(self, text: bytes, begin: int, end: int) -> bytes | None:
        """Return the normalized text of a piece by its surface alone, ``None`` if that is unsure.

        If the normalizer replaces something by several characters, two pieces may share it.
        """
        if begin == end or self._becomes_several(text, begin) or self._becomes_several(text, end):
            return None
        found = self._normalize(text[begin:end])
        return None if b" " in found else found

    def _becomes_several(self, text: bytes, place: int) -> bool:
        """Return whether the normalizer makes several characters of what starts at a place."""
        string = text[place : place + _LONGEST_KEY].decode("utf-8", "surrogateescape")
        found = self._map.longest(string) if string else None
        return found is not None and len(found[1]) > 1

    def _pieces_of(self, text: bytes, pieces: Sequence[bytes]) -> list[bytes]:
        """Return the pieces of a text, after normalizing it once more."""
        normalized = normalize_text(self._step, text).encode()
        found = self._bare._encoder.locate([normalized], "text", 1)
        unk_id = self._pieces.unk_id
        return [
            normalized[start:end] if token_id == unk_id else piece
            for piece, token_id, (start, end) in zip(
                pieces, found.ids.tolist(), found.byte_spans.tolist(), strict=True
            )
        ]

    @property
    def _pieces(self) -> Pieces:
        model = self._pipeline.model
        assert isinstance(model, Pieces)
        return model

    @cached_property
    def _bare(self) -> Tokenizer:
        """The model for texts that are normalized already."""
        step = SentencePieceNormalizer(
            b"", False, False, False, protected=protected_symbols(self._pieces)
        )
        return Tokenizer(replace(self._pipeline, normalizer=(step,)))
