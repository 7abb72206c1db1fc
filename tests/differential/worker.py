"""Encode fixed texts on the instruction set that TOKSMITH_ISA names; run as a process of its own.

python -m tests.differential.worker texts.npz pipeline.pickle out.npz
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import numpy as np

from toksmith import engine
from toksmith.engine.kernel import instruction_set


def main(texts: Path, pipeline: Path, out: Path) -> None:
    if instruction_set() != os.environ["TOKSMITH_ISA"]:
        raise SystemExit("another instruction set runs than was asked for")
    documents = pickle.loads(texts.read_bytes())
    encoder = engine.compile(pickle.loads(pipeline.read_bytes()))
    batches = {}
    for threads in (1, 2, 3):
        batch = encoder.encode_texts(documents, threads)
        batches[f"ids{threads}"], batches[f"offsets{threads}"] = batch.ids, batch.offsets
        whole = encoder.encode(b"".join(documents), threads)
        batches[f"whole{threads}"] = whole
    np.savez(out, **batches)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
