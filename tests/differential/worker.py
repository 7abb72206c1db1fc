"""Encode fixed texts on the instruction set that TOKSMITH_ISA names; run as a process of its own.

python -m tests.differential.worker given.pickle out.npz
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import numpy as np

from toksmith import engine
from toksmith.engine.kernel import instruction_set

PARTS = ("ids", "offsets", "whole")
"""What is found of each pipeline: a batch of the texts, and the ids of the joined texts."""


def main(given: Path, out: Path) -> None:
    if instruction_set() != os.environ["TOKSMITH_ISA"]:
        raise SystemExit("another instruction set runs than was asked for")
    documents, pipelines = pickle.loads(given.read_bytes())
    found = {}
    for name, pipeline in pipelines.items():
        encoder = engine.compile(pipeline)
        for threads in (1, 2, 3):
            batch = encoder.encode_texts(documents, threads)
            whole = encoder.encode(b"".join(documents), threads)
            for part, each in zip(PARTS, (batch.ids, batch.offsets, whole), strict=True):
                found[f"{name} {part} {threads}"] = each
    np.savez(out, **found)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
