"""The Unigram model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import exp
from pathlib import Path
from typing import Any, ClassVar

from toksmith.compat.tokenizers.checks import (
    arguments,
    boolean,
    optional,
    real,
    sequence,
    string,
    unsigned,
)
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.models.base import RANDOM, Model, listed
from toksmith.errors import OptionError, UnsupportedError
from toksmith.formats.huggingface import models as reading
from toksmith.formats.huggingface.entries import Entry
from toksmith.reference import Token as ChunkToken
from toksmith.reference import unigram, unigram_sampling
from toksmith.reference.chunk_models import ChunkModel


class Unigram(Model, type="Unigram"):
    """Unigram: the most probable pieces of a word.

    Args:
        vocab: each piece with its score; its id is its place.
        unk_id: the id of the unknown piece.
        byte_fallback: replace unknown characters by the pieces ``<0x00>`` … of their bytes.
        alpha: draw each segmentation with a probability proportional to ``exp(alpha * score)``.
            ``None`` or 0: the best one.
        nbest_size: draw from this many of the best segmentations. ``None`` or 0: from all.

    Raises:
        OptionError: an ``unk_id`` without a vocabulary.
        TokenizersError: there is no piece of that id.

    Example:
        >>> model = Unigram([("<unk>", 0.0), ("lo", -1.0), ("w", -2.0)], unk_id=0)
        >>> [token.value for token in model.tokenize("low!")]
        ['lo', 'w', '!']
    """

    _defaults: ClassVar[dict[str, Any]] = {"unk_id": None, "vocab": [], "byte_fallback": False}
    _missing = "Encountered an unknown token but `unk_id` is missing"
    _alpha: float | None
    _nbest_size: int | None

    @arguments(
        unk_id=optional(unsigned),
        byte_fallback=optional(boolean),
        alpha=optional(real),
        nbest_size=optional(unsigned),
    )
    def __init__(
        self,
        vocab: list[tuple[str, float]] | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        if vocab is None and unk_id is not None:
            raise OptionError("`vocab` and `unk_id` must be both specified")
        self._alpha, self._nbest_size = alpha, nbest_size
        if vocab is None:
            self._start(unk_id=0, vocab=[("<unk>", 0.0)], byte_fallback=False)
        else:
            self._start(
                unk_id=unk_id,
                vocab=[*map(_scored, sequence(vocab))],
                byte_fallback=bool(byte_fallback),
            )
        self._check()

    def _read(self, spec: Mapping[str, Any]) -> None:
        self._alpha = self._nbest_size = None
        pieces = [(piece, float(score)) for piece, score in spec.get("vocab", [])]
        self._start(
            unk_id=spec.get("unk_id"),
            vocab=pieces,
            byte_fallback=bool(spec.get("byte_fallback", False)),
        )
        self._check()

    @property
    def alpha(self) -> float | None:
        """The temperature of sampling."""
        return self._alpha

    @alpha.setter
    def alpha(self, value: float | None) -> None:
        self._alpha = optional(real)(value)
        self._changed()

    @property
    def nbest_size(self) -> int | None:
        """The number of segmentations to sample from."""
        return self._nbest_size

    @nbest_size.setter
    def nbest_size(self, value: int | None) -> None:
        self._nbest_size = optional(unsigned)(value)
        self._changed()

    def _check(self) -> None:
        unk_id, pieces = self._spec["unk_id"], self._spec["vocab"]
        if unk_id is not None and not pieces:
            raise TokenizersError(
                "Error while loading Unigram: The vocabulary is empty but at least <unk> is needed"
            )
        if unk_id is not None and unk_id >= len(pieces):
            raise TokenizersError(
                "Error while loading Unigram: The `unk_id` is larger than vocabulary size"
            )

    @property
    def vocab(self) -> dict[str, int]:
        """The id of each piece; do not change it."""
        found: dict[str, int] = self._of_version(
            "vocab", lambda: {piece: i for i, (piece, _) in enumerate(self._spec["vocab"])}
        )
        return found

    @property
    def unk_id(self) -> int | None:
        """The id of the unknown piece."""
        held: int | None = self._spec["unk_id"]
        return held

    def _value(self, token_id: int, data: bytes) -> str:
        """Return the spelling of a piece; that of the unknown one is its text."""
        return data.decode() if token_id == self.unk_id else self.spellings[token_id]

    def _runner(self) -> Callable[[bytes], Iterable[Any]]:
        try:
            return super()._runner()
        except UnsupportedError:
            pass
        # Only some bytes have a piece: an unknown text has them all, or is unknown.
        plain = listed({**self.spec(), "byte_fallback": False})
        run = self._run_by(reading.read(Entry(Path("model"), "model", plain), [], False))

        def with_bytes(data: bytes) -> Iterable[Any]:
            for each in run(data):
                names = [f"<0x{byte:02X}>" for byte in data[each.start : each.end]]
                found = [self.vocab[name] for name in names if name in self.vocab]
                if each.id != self.unk_id or len(found) < len(names):
                    yield each
                else:
                    yield from (each._replace(id=token_id) for token_id in found)

        return with_bytes

    def is_random(self) -> bool:
        """Whether a word has other tokens at each call: there is an ``alpha``."""
        return bool(self._alpha)

    def _run_by(self, model: Any) -> ChunkModel:
        alpha, size = self._alpha, self._nbest_size
        if not alpha:
            return super()._run_by(model)
        lattice = unigram.Lattice(model)
        if not size:
            return lambda word: unigram_sampling.sample(lattice, word, alpha, RANDOM)

        def draw(word: bytes) -> list[ChunkToken]:
            found = unigram_sampling.nbest(lattice, word, size)
            weights = [exp(alpha * (score - found[0][1])) for _, score in found]
            return RANDOM.choices([tokens for tokens, _ in found], weights)[0]

        return draw

    def _files(self) -> dict[str, str]:
        content = json.dumps(self.spec(), ensure_ascii=False, indent=2)
        return {"unigram.json": content}


def _scored(piece: Any) -> tuple[str, float]:
    if not isinstance(piece, tuple) or len(piece) != 2:
        raise ComponentTypeError(f"expected a tuple of a piece and its score, got {piece!r:.80}")
    return string(piece[0]), real(piece[1])
