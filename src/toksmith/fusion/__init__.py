"""Facts about normalizer and splitter that let the kernel run them fused with the model."""

from __future__ import annotations


class AmbiguousSpace(Exception):  # noqa: N818
    """The pieces of a chunk depend on whether its leading space is the text's own."""
