"""Facts about normalizer and splitter that let the kernel run them fused with the model."""

from __future__ import annotations


class Unfused(Exception):  # noqa: N818
    """The kernel cannot run the stages of a pipeline; the message says why."""


class AmbiguousSpace(Exception):  # noqa: N818
    """The pieces of a chunk depend on whether its leading space is the text's own."""
