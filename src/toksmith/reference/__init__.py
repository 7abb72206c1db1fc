"""Every algorithm in plain Python: to read, to test the kernel against, and to trace.

Read in this order:

1. :mod:`~toksmith.reference.minimal`: byte pair encoding on one page.
2. :mod:`~toksmith.reference.bpe_training`: the same with ties, counts and minimum frequencies.
3. :mod:`~toksmith.reference.bpe`: how a list of merges turns a chunk into tokens.
4. :mod:`~toksmith.reference.wordpiece`: the longest piece that fits (BERT), and its training.
5. :mod:`~toksmith.reference.unigram`: the most probable pieces, and how probabilities are learned.
6. :mod:`~toksmith.reference.sentencepiece_bpe`: BPE over characters, as SentencePiece does it.

Nothing here is meant to be fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toksmith._base import lazy

if TYPE_CHECKING:
    from toksmith.engine.stepwise import ReferenceDecoder, ReferenceEncoder
    from toksmith.reference.bpe import decode, encode_chunk, merge_table, recover_merges
    from toksmith.reference.bpe_training import TrainingStep, training_steps
    from toksmith.stages.split_patterns import chunk_spans
    from toksmith.trace.explain import Explanation, explain

__all__ = [
    "Explanation",
    "ReferenceDecoder",
    "ReferenceEncoder",
    "TrainingStep",
    "chunk_spans",
    "decode",
    "encode_chunk",
    "explain",
    "merge_table",
    "recover_merges",
    "training_steps",
]

__getattr__ = lazy.names(
    __name__,
    {
        "Explanation": "trace",
        "ReferenceDecoder": "encoder",
        "ReferenceEncoder": "encoder",
        "TrainingStep": "bpe_training",
        "chunk_spans": "splitting",
        "decode": "bpe",
        "encode_chunk": "bpe",
        "explain": "trace",
        "merge_table": "bpe",
        "recover_merges": "bpe",
        "training_steps": "bpe_training",
    },
)
