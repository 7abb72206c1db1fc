"""Training on large text at equal merges: ``python -m benchmarks scale --limit 1000``.

The text is diverse text (:mod:`benchmarks.diverse_text`), 250 MB without ``--limit``. Two libraries
count as equal only if all their merges are equal, in order. gigabpe differs from toksmith in two
ways that the setup takes out:

- It trains on each line, with its line feed, as a text. toksmith trains on documents, and white
  space at the end of a line can be one chunk with the line feed and the start of the next line.
  Here, white space around lines and empty lines are removed. Then the chunks of the document are
  those of its lines, so both libraries read the same file in their own way.
- Its vocabulary starts with the bytes that occur, toksmith's with all 256. So the number of merges
  is given, and each library gets the vocabulary size that leads to it.

Split (GPT-2's pattern) and ties (the smallest pair, in Hugging Face's order of bytes) are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.adapters import ADAPTERS, Job, learned_tokens
from benchmarks.diverse_text import Generator
from benchmarks.rounds import run

MODEL = "byte-bpe-lines"
MERGES = 32_000
SIZE = 250_000_000


def write_lines(path: Path, blocks: Iterable[bytes]) -> Path:
    """Write the lines of a text without white space around them, and without empty lines."""
    with path.open("wb") as file:
        for lines in _whole_lines(blocks):
            kept = (line.strip() for line in lines.decode().split("\n"))
            file.write("".join(f"{line}\n" for line in kept if line).encode())
    return path


def diverse_lines(size: int, data: Path | None, folder: Path) -> Path:
    """Write a text for this benchmark from about ``size`` bytes of diverse text."""
    return write_lines(folder / "diverse.txt", Generator(data).blocks(0, size))


def scale_jobs(
    text: Path, libraries: Iterable[str], merges: int, threads: int, out: str
) -> list[Job]:
    """Return a job for each library that trains at equal merges."""
    used = bytearray(256)
    with text.open("rb") as file:
        while block := file.read(1 << 24):
            for byte in set(block):
                used[byte] = 1
    return [
        {
            "kind": "train",
            "library": library,
            "text": str(text),
            "model": MODEL,
            "split": "gpt2",
            "merges": merges,
            "bytes": sum(used),
            "threads": threads,
            "out": out,
        }
        for library in libraries
        if MODEL in ADAPTERS[library].trains
    ]


def with_equal_merges(jobs: Iterable[Job]) -> tuple[list[Job], dict[str, str]]:
    """Run each job once for its merges alone.

    Returns:
        The jobs whose merges equal those of the first one, and why each other one is left out.
    """
    first: list[bytes] = []
    equal, left_out = [], {}
    for job in jobs:
        result = run(job)
        if reason := result.get("missing"):
            left_out[job["library"]] = reason
            continue
        tokens = learned_tokens(Path(result["saved"]))
        first = first or tokens
        if tokens == first:
            equal.append(job)
            continue
        pairs = zip(first, tokens, strict=False)
        place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(first), len(tokens)))
        left_out[job["library"]] = (
            f"{len(tokens):,} merges, other ones from merge {place:,} on; {len(first):,} are wanted"
        )
    return equal, left_out


def _whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        lines, feed, rest_of_block = block.rpartition(b"\n")
        if feed:
            yield rest + lines
            rest = rest_of_block
        else:
            rest += block
    yield rest
