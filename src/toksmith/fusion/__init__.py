"""Facts about normalizer and splitter that let the kernel run them fused with the model."""

from __future__ import annotations

from toksmith.normalizers import SentencePieceNormalizer


class Unfused(Exception):  # noqa: N818
    """The kernel cannot run the stages of a pipeline; the message says why."""


class Undecided(Exception):  # noqa: N818
    """The kernel cannot decide what the stages make of a text, so they run in Python.

    The leading space of a chunk may be the text's own or the one put before it, the first character
    of the text may be dropped, or the origins of a chunk with invalid bytes are wanted.
    """


def symbol_takes_prefix(step: SentencePieceNormalizer) -> bool:
    """Return whether the space put before a text may become part of a user-defined symbol."""
    return step.add_dummy_prefix and any(
        len(symbol) > 1 and symbol[0] == " " for symbol in step.protected
    )
