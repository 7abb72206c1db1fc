"""Speed of writing token files: ``python -m benchmarks.token_files CORPUS.jsonl --ranks FILE``.

Each way runs in a process of its own, all of them in turn, and the wall time of the process's work
counts (after imports and loading the tokenizer). All get the same JSON Lines and as many threads as
the machine has cores:

- ``tokenize``: ``toksmith.tokenize_corpus`` to Megatron's files;
- ``encode_file``: ``Tokenizer.encode_file``, ids in memory;
- ``gigatoken``: gigatoken over the same file, ids to a ``.bin``;
- ``datatrove``: datatrove's tokenizer pipeline, on the first megabytes only, one task a core.

The number of tokens, end-of-text ids left out, must be the same for all before a time counts.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import toksmith

Work = Callable[[], int]
"""Does the work, and returns the number of tokens."""

WAYS = ("tokenize", "encode_file", "gigatoken", "datatrove")
SLOW = {"datatrove"}
EOS = 100_257


def tokenizer(ranks: Path) -> toksmith.Tokenizer:
    """Return cl100k's tokenizer."""
    return toksmith.load(ranks, split="cl100k", special_tokens={"<|endoftext|>": EOS})


def tokenize(corpus: Path, ranks: Path, folder: Path) -> Work:
    """Write Megatron's files."""
    tok = tokenizer(ranks)

    def work() -> int:
        done = toksmith.tokenize_corpus(
            corpus, tokenizer=tok, format="megatron", output=folder / "tokens", progress=False
        )
        return done.tokens - done.documents

    return work


def encode_file(corpus: Path, ranks: Path, folder: Path) -> Work:
    """Encode to memory."""
    tok = tokenizer(ranks)
    return lambda: len(tok.encode_file(corpus).ids)


def gigatoken(corpus: Path, ranks: Path, folder: Path) -> Work:
    """Encode with gigatoken, and write the ids."""
    import gigatoken as giga

    tok = giga.Tokenizer.from_tiktoken(ranks, "gpt4", {})
    source = giga.JsonlFileSource([str(corpus)], field="text")

    def work() -> int:
        import awkward

        ids = awkward.to_numpy(awkward.flatten(tok.encode_files(source)))
        with (folder / "giga.bin").open("wb") as file:
            np.asarray(ids, np.int32).tofile(file)
        return len(ids)

    return work


def datatrove(corpus: Path, ranks: Path, folder: Path) -> Work:
    """Run datatrove's pipeline."""
    import os

    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer

    tok = folder / "tokenizer.json"
    # With special tokens, tokenizers would find them in the text; toksmith only does so if asked.
    toksmith.load(ranks, split="cl100k", special_tokens={}).save(tok)
    cores = len(os.sched_getaffinity(0))
    parts = folder / "parts"
    parts.mkdir()
    lines = corpus.read_bytes().splitlines(keepends=True)
    for number in range(cores):
        (parts / f"{number}.jsonl").write_bytes(b"".join(lines[number::cores]))

    def work() -> int:
        LocalPipelineExecutor(
            [
                JsonlReader(str(parts)),
                DocumentTokenizer(
                    str(folder / "out"), tokenizer_name_or_path=str(tok), eos_token=None,
                    shuffle_documents=False,
                ),
            ],
            tasks=cores, workers=cores, logging_dir=str(folder / "logs"),
        ).run()  # fmt: skip
        return sum(path.stat().st_size for path in (folder / "out").glob("*.ds")) // 4

    return work


def measure(way: str, corpus: Path, ranks: Path) -> None:
    """Do one way's work, and print its figures as JSON."""
    with TemporaryDirectory(dir=corpus.parent) as folder:
        work = globals()[way](corpus, ranks, Path(folder))
        start, used = time.perf_counter(), time.process_time()
        tokens = work()
        figures = {
            "tokens": tokens,
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - used,
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
    print(json.dumps(figures))


def main() -> None:
    """Run all ways in turn, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--ranks", type=Path, required=True, help="cl100k_base.tiktoken")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--slow-bytes", type=int, default=20_000_000)
    parser.add_argument("--worker", choices=WAYS)
    options = parser.parse_args()
    if options.worker:
        measure(options.worker, options.corpus, options.ranks)
        return
    with TemporaryDirectory(dir=options.corpus.parent) as folder:
        head = Path(folder, "head.jsonl")
        with options.corpus.open("rb") as file:
            head.write_bytes(file.read(options.slow_bytes).rpartition(b"\n")[0] + b"\n")
        found: dict[str, list[dict[str, float]]] = {way: [] for way in options.ways}
        for number in range(options.rounds):
            for way in options.ways:
                corpus = head if way in SLOW else options.corpus
                command = [*(sys.executable, "-m", __spec__.name, str(corpus), "--worker", way)]
                ran = subprocess.run(
                    [*command, "--ranks", str(options.ranks)], capture_output=True, text=True
                )
                if ran.returncode:
                    print(ran.stderr[-2000:])
                    raise SystemExit(f"{way} failed")
                found[way].append(json.loads(ran.stdout.splitlines()[-1]))
                print(f"round {number + 1}: {way} {found[way][-1]['seconds']:.2f} s", flush=True)
        tok = tokenizer(options.ranks)
        wanted = {True: len(tok.encode_file(head).ids), False: found["tokenize"][0]["tokens"]}
        for way, runs in found.items():
            size = (head if way in SLOW else options.corpus).stat().st_size
            equal = all(run["tokens"] == wanted[way in SLOW] for run in runs)
            seconds = sorted(run["seconds"] for run in runs)[len(runs) // 2]
            peak = max(run["peak"] for run in runs) / 1e6
            print(
                f"{way:12} {size / seconds / 1e6:8.1f} MB/s, peak {peak:,.0f} MB"
                + ("" if equal else f"; OTHER TOKENS: {runs[0]['tokens']:,}")
            )


if __name__ == "__main__":
    main()
