"""Facts about normalizer and splitter that let the kernel run them fused with the model."""

from __future__ import annotations

from toksmith.normalizers import SentencePieceNormalizer


class Unfused(Exception):  # noqa: N818
    """The kernel cannot run the stages of a pipeline; the message says why."""


class AmbiguousSpace(Exception):  # noqa: N818
    """The kernel cannot know the pieces of a chunk, or their places.

    They depend on whether its leading space is the text's own.
    """


def symbol_takes_prefix(step: SentencePieceNormalizer) -> bool:
    """Return whether the space put before a text may become part of a user-defined symbol."""
    return step.add_dummy_prefix and any(
        len(symbol) > 1 and symbol[0] == " " for symbol in step.protected
    )
