"""Added tokens that are looked for in the normalized text."""

from __future__ import annotations

from collections.abc import Iterator

from toksmith._base.lazy import np
from toksmith._base.text import byte_sizes
from toksmith.errors import UnsupportedError
from toksmith.framing import AddedToken
from toksmith.framing.added import find
from toksmith.pipeline import Pipeline
from toksmith.stages.normalize import normalize


class NormalizedTokens:
    """The added tokens of a pipeline, by what their literals become when they are normalized.

    Args:
        pipeline: whose normalizer and added tokens.

    Raises:
        UnsupportedError: nothing is left of a literal.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._tokens: list[tuple[str, AddedToken]] = []
        # Where two become the same, special tokens come first.
        for token in sorted(pipeline.framing.added_tokens, key=lambda token: not token.special):
            if not (pipeline.normalizer and token.normalized):
                continue
            content = normalize(pipeline.normalizer, token.content)
            if not content:
                raise UnsupportedError(
                    f"nothing is left of the added token {token.content!r} when it is normalized"
                )
            self._tokens.append((content, token))

    def find(
        self, text: str, literals: frozenset[str]
    ) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Cut a normalized text at the tokens with these literals.

        Yields:
            ``(start, end, token)`` in characters; ``token`` is ``None`` for the text between.
        """
        if not literals:
            yield 0, len(text), None
            return
        wanted: dict[str, AddedToken] = {}
        for content, token in self._tokens:
            if token.content in literals:
                wanted.setdefault(content, token)
        ends = np.cumsum(byte_sizes(text))  # in bytes, of each character
        for start, end, found in find(
            text.encode("utf-8", "surrogateescape"), frozenset(wanted), wanted
        ):
            first, last = np.searchsorted(ends, [start, end], side="right").tolist()
            yield first, last, found
