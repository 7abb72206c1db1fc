"""The methods of a tokenizer that give other segmentations than the best."""

from __future__ import annotations

from toksmith.arguments import whole
from toksmith.encoding import Special
from toksmith.pipeline import Pipeline
from toksmith.text import Text
from toksmith.types import IdArray


class Sampling:
    """The methods of a tokenizer that give other segmentations than the best."""

    pipeline: Pipeline

    def _framed(self, ids: IdArray) -> IdArray:
        """Return ids with the template's own around them."""
        raise NotImplementedError

    def sample(
        self,
        text: Text,
        *,
        seed: int | None = None,
        alpha: float | None = None,
        nbest_size: int = -1,
        dropout: float | None = None,
        special: Special = "text",
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Return the ids of a segmentation that is drawn by chance (subword regularization).

        Args:
            text: a string or bytes.
            seed: the same one gives the same ids; ``None`` takes another each time.
            alpha: for Unigram: a segmentation is drawn with a probability proportional to
                ``exp(alpha * score)``; 0 draws all alike, 1 (the default) as the model says.
            nbest_size: for Unigram: draw from this many of the best; negative draws from all.
            dropout: for BPE: the chance that a merge is left out.
            special: see :meth:`encode`.
            add_special_tokens: put the template's own ids around the text.

        Raises:
            UnsupportedError: the model has only one segmentation of a text.
            OptionError: an argument is out of range, or for another kind of model.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> tok.sample("ab", dropout=0), tok.sample("ab", dropout=1)
            ([256], [97, 98])
        """
        from toksmith.segmentations import draw

        ids = draw(
            self.pipeline,
            text,
            special,
            seed=None if seed is None else whole("seed", seed, least=-(2**63)),
            alpha=alpha,
            nbest_size=whole("nbest_size", nbest_size, least=-(2**63)),
            dropout=dropout,
        )
        drawn: list[int] = (self._framed(ids) if add_special_tokens else ids).tolist()
        return drawn

    def nbest(
        self,
        text: Text,
        size: int,
        *,
        special: Special = "text",
        add_special_tokens: bool = False,
    ) -> list[tuple[list[int], float]]:
        """Return the ids of the best segmentations with their scores, the best first.

        Args:
            text: a string or bytes.
            size: how many, up to 1,024; there may be fewer.
            special: see :meth:`encode`.
            add_special_tokens: put the template's own ids around the text.

        Raises:
            UnsupportedError: the model does not score segmentations; only Unigram does.
            OptionError: ``size`` is out of range.
        """
        from toksmith.segmentations import best

        found = best(self.pipeline, text, whole("size", size, least=1), special)
        return [
            ((self._framed(ids) if add_special_tokens else ids).tolist(), score)
            for ids, score in found
        ]
