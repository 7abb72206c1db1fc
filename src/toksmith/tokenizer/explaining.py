"""The methods of a tokenizer that say why."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from toksmith._base.checks import whole
from toksmith._base.text import Text, refuse_list
from toksmith.pipeline import Pipeline
from toksmith.tokenizer.encode import Special

if TYPE_CHECKING:
    from toksmith.trace.explain import Explainer, Explanation


class Explaining:
    """The methods of a tokenizer that say why."""

    pipeline: Pipeline

    def token_id(self, token: str | bytes) -> int:
        """Return the id of a token."""
        raise NotImplementedError

    def explain(self, text: Text, *, special: Special = "text") -> Explanation:
        """Return every chunk of a text and every merge inside it; print it to read it.

        ``.diagrams`` is the same as data to draw: a tree of merges, a lattice, or the longest
        matches of each chunk.

        Args:
            text: a string or bytes.
            special: see :meth:`Tokenizer.encode`; ``"raise"`` is as ``"text"``.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abab"], vocab_size=257)
            >>> print(tok.explain("ab"))
            'ab': 2 bytes, 1 chunk, 1 token
            <BLANKLINE>
            chunk 1: 'ab'
                a b
                ab    a + b, merge 0
              = ab 256
        """
        refuse_list(text, "for a list of texts, call explain for each of them")
        return self._explainer.text(text, special)

    def explain_token(self, token: int | str | bytes) -> Explanation:
        """Return how a token of the vocabulary comes about, or that it cannot (``.reached``).

        Its bytes go to the model as they are; what normalizer and splitter do to them is left out.

        Args:
            token: an id, or the token itself.

        Raises:
            UnknownTokenError: there is no such token.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["abcabc"], vocab_size=258)
            >>> tok.explain_token(257).diagrams[0].nodes[-1]
            Node(token=b'abc', id=257, parts=(3, 2), rank=1)
        """
        if isinstance(token, str | bytes):
            return self._explainer.token(self.token_id(token))
        return self._explainer.token(whole("token", token, least=0))

    @cached_property
    def _explainer(self) -> Explainer:
        from toksmith.trace.explain import Explainer

        return Explainer(self.pipeline)
