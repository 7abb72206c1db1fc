"""Runs the kernel's fuzz targets and prints a table.

    python native/tests/fuzz.py build/fuzz-native/native/tests --seconds 20

Targets that were built with libFuzzer start with seeds from texts of this repository, keep what
they find in ``corpus`` beside the targets, and count edges. A target is idle, and fails, if it ran
fewer than ``--least-inputs`` inputs, reached fewer than ``LEAST_EDGES`` edges, or found none
besides those of its seeds in an empty corpus.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
INPUTS = Path(__file__).with_name("fuzz_inputs")

LEAST_EDGES = 150
LONGEST = 512
"""Bytes of an input: small ones run faster and reach the same code."""

HEADER = b"\x01\x02\x03\x04"
"""The start of an input: the seed of the random numbers of a target."""

TEXTS = ["docs/index.md", "docs/course/data/unicode_article.txt", "README.md"]


def main() -> int:
    """Run the targets that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the targets were built")
    parser.add_argument("--seconds", type=int, default=20, help="of each target")
    parser.add_argument("--jobs", type=int, default=1, help="the number of targets at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least-inputs", type=int, default=100)
    parser.add_argument("--target", action="append", help="the name of a target, as fuzz_encode")
    given = parser.parse_args()
    names = given.target or sorted(
        path.name for path in given.folder.glob("fuzz_*") if path.is_file() and not path.suffix
    )
    if not names:
        print(f"no fuzz targets in {given.folder}", file=sys.stderr)
        return 1
    print(f"{'target':24}{'inputs':>12}{'edges':>16}{'seconds':>9}", flush=True)
    with ThreadPoolExecutor(given.jobs) as pool:
        went_well = list(pool.map(lambda name: run(name, given), names))
    bad = [name for name, well in zip(names, went_well, strict=True) if not well]
    for name in bad:
        print(f"failed: {name}", file=sys.stderr)
    return 1 if bad else 0


def run(name: str, given: argparse.Namespace) -> bool:
    """Run a target, print its line, and return whether all went well."""
    target = (given.folder / name).resolve()
    begun = time.monotonic()
    command = [target, f"-max_total_time={given.seconds}", f"-seed={given.seed}"]
    has_libfuzzer = b"libFuzzer" in target.read_bytes()
    corpus = target.parent / "corpus" / name
    is_new = not corpus.exists()
    if has_libfuzzer:
        seeds = target.parent / "seeds" / name
        write_seeds(name, seeds)
        corpus.mkdir(parents=True, exist_ok=True)
        command += [
            f"-max_len={LONGEST}",
            "-print_final_stats=1",
            "-timeout=30",
            "-rss_limit_mb=4096",
        ]
        command += [f"-artifact_prefix={target}-", corpus, seeds]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, errors="replace")
    output = ran.stdout + ran.stderr
    inputs = find(r"stat::number_of_executed_units: (\d+)|: (\d+) inputs", output)
    edges = [int(found) for found in re.findall(r" cov: (\d+)", output)]
    shown = f"{edges[0]:,}→{edges[-1]:,}" if edges else "-"
    seconds = time.monotonic() - begun
    print(f"{name:24}{inputs:12,}{shown:>16}{seconds:9.1f}", flush=True)
    if ran.returncode:
        print(output[-6000:])
        return False
    grew = not is_new or (edges and edges[-1] > edges[0])
    if inputs < given.least_inputs or (has_libfuzzer and (edges[-1] < LEAST_EDGES or not grew)):
        print(f"{name} is idle: it ran too few inputs, or reaches too little code")
        return False
    return True


def find(pattern: str, text: str) -> int:
    """Return the number that a pattern finds last, or 0."""
    numbers = [number for groups in re.findall(pattern, text) for number in groups if number]
    return int(numbers[-1]) if numbers else 0


def write_seeds(name: str, folder: Path) -> None:
    """Write the first inputs of a target."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds_of(name)):
        (folder / f"{number:03}").write_bytes(data[:LONGEST])
    for path in INPUTS.glob(f"{name}-*"):
        (folder / path.name).write_bytes(path.read_bytes())


def seeds_of(name: str) -> Iterator[bytes]:
    """Yield files for the parsers, and parts of texts for all others."""
    if name == "fuzz_ranks":
        lines = (ROOT / "src/toksmith/data/toksmith-small.tiktoken").read_bytes().splitlines(True)
        yield b"".join(lines[:20])
        yield b"".join(lines[-20:])
    elif name == "fuzz_json_model":
        yield HEADER + (
            b'{"version":"1.0","model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"\\u0120":3},'
            b'"merges":["a b",["ab","a"]]},"added_tokens":[{"id":4,"content":"<s>"}]}'
        )
        yield HEADER + b'{"model":{"type":"Unigram","vocab":[["<unk>",0],["a",-1.5],["b",-2e1]]}}'
    elif name == "fuzz_piece_file":
        pieces = [
            b"\n\x05<unk>\x15\0\0\0\0\x18\x02",
            b"\n\x03\xe2\x96\x81\x15\0\0\x80\xbf",
            b"\n\x01a",
        ]
        trainer = b"\x12\x08\x08\x01\x10\x02\x1a\x02ab"
        yield HEADER + b"".join(b"\n%c%s" % (len(piece), piece) for piece in pieces) + trainer
    elif name == "fuzz_char_map":
        yield HEADER + b"\0\4\0\0" + bytes(300)
    elif name == "fuzz_json_lines":
        yield HEADER + b'{"id": 1, "text": "low\\n\\u00e9"}\n{"text": "er", "x": [1.5e3, null]}\n'
    for path in TEXTS:
        text = (ROOT / path).read_bytes()
        for number in range(8):
            start = len(text) * number // 8
            yield bytes([number, 1, 2, 3]) + text[start : start + 40 * (number + 1)]


if __name__ == "__main__":
    sys.exit(main())
