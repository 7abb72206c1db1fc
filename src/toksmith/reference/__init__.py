"""Every algorithm in plain Python: to read, to test the kernel against, and to trace.

Read in this order:

1. :mod:`~toksmith.reference.bpe_training`: where a vocabulary comes from.
2. :mod:`~toksmith.reference.bpe`: how it turns a chunk into tokens, and tokens into bytes.
3. :mod:`~toksmith.reference.splitting`: where chunks come from.
4. :mod:`~toksmith.reference.encoder`: the three together.
5. :mod:`~toksmith.reference.trace`: the same, writing down every step.

Nothing here is meant to be fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toksmith import lazy

if TYPE_CHECKING:
    from toksmith.reference.bpe import decode, encode_chunk, merge_table, recover_merges
    from toksmith.reference.bpe_training import TrainingStep, training_steps
    from toksmith.reference.encoder import ReferenceDecoder, ReferenceEncoder
    from toksmith.reference.splitting import chunk_spans
    from toksmith.reference.trace import Explanation, explain

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
