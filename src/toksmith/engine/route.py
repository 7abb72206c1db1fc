"""Which parts of a pipeline run in the kernel, and why others do not."""

from __future__ import annotations

from toksmith.engine import Encoder
from toksmith.errors import UnsupportedError
from toksmith.fusion import Unfused
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, Splitter


def route_of(pipeline: Pipeline, encoder: Encoder) -> str:
    """Return a line that says where the stages of a pipeline run.

    Args:
        pipeline: the pipeline.
        encoder: what :func:`toksmith.engine.compile` made of it.

    Example:
        >>> from toksmith.engine import compile
        >>> from toksmith.splitters import splitter
        >>> model = BPE(tuple(bytes([byte]) for byte in range(256)), [])
        >>> for split in ("gpt2", "tekken", r"(?=ab)a|."):
        ...     pipeline = Pipeline(model, splitter(split))
        ...     print(route_of(pipeline, compile(pipeline)))
        kernel, with gpt2's scanner
        kernel, with tables made of its split pattern
        splitter in Python, model in the kernel: split pattern '(?=ab)a|.' has no automaton: ...
    """
    from toksmith.engine.fused import FusedEncoder, rules_of
    from toksmith.engine.leading import LeadingEncoder, without_space_first
    from toksmith.engine.stepwise import ReferenceEncoder, StepwiseEncoder

    if isinstance(encoder, ReferenceEncoder):
        return "all in Python"
    if isinstance(encoder, LeadingEncoder) and isinstance(pipeline.model, BPE):
        return route_of(without_space_first(pipeline), encoder.inner)
    if isinstance(encoder, FusedEncoder | LeadingEncoder):
        return "kernel, normalizer and splitter included"
    if not isinstance(pipeline.model, BPE):
        steps = [*pipeline.normalizer, *([pipeline.splitter] if pipeline.splitter else [])]
        names = ", ".join(type(step).__name__ for step in steps)
        try:
            rules_of(pipeline)
        except Unfused as why:
            names += f" ({why})"
        return f"model in the kernel; in Python before it: {names}"
    if (reason := _refusal_of(pipeline.splitter)) is not None:
        return f"splitter in Python, model in the kernel: {reason}"
    where = f"kernel, {_scanner(pipeline.splitter)}"
    if isinstance(encoder, StepwiseEncoder):
        return f"normalizer in Python, then {where}"
    return f"{where} and its normalizer" if pipeline.normalizer else where


def _scanner(splitter: Splitter | None) -> str:
    if splitter is None:
        return "without a split"
    if isinstance(splitter, PatternSplitter) and splitter.family:
        return f"with {splitter.family.name}'s scanner"
    return "with tables made of its split pattern"


def _refusal_of(splitter: Splitter | None) -> str | None:
    """Return why the kernel cannot run a splitter; ``None`` if it can."""
    from toksmith.engine.split_tables import kernel_splitter

    try:
        kernel_splitter(splitter)
    except UnsupportedError as refused:
        return str(refused)
    return None
