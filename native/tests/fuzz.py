"""Runs the kernel's fuzz targets and prints a table.

    python native/tests/fuzz.py build/fuzz-native/native/tests --seconds 20

Targets that were built with libFuzzer start with seeds from texts of this repository, keep what
they find in ``corpus`` beside the targets, and count edges: those of the seeds, and those at the
end. A target is idle, and fails, if it ran fewer than ``LEAST_INPUTS`` inputs, reached fewer than
``LEAST_EDGES`` edges, or found none besides those of its seeds in an empty corpus.

Inputs that fail are kept in ``failures``, without libFuzzer as ``TARGET.input`` beside the targets.
``--seeds FOLDER`` writes the seeds instead, as an OSS-Fuzz build has them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[2]
INPUTS = Path(__file__).with_name("fuzz_inputs")

LEAST_INPUTS = 20
LEAST_EDGES = 150
LONGEST = 544
"""Bytes of an input: small ones run faster and reach the same code."""

LONGER = {"fuzz_char_map": 16384}
"""A compiled map has a kilobyte for each node with children."""

TEXTS = ["docs/index.md", "docs/course/data/unicode_article.txt", "README.md"]


def main() -> int:
    """Run the targets that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the targets were built")
    parser.add_argument("--seconds", type=int, default=20, help="of each target")
    parser.add_argument("--jobs", type=int, default=1, help="the number of targets at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", help="the name of a target, as fuzz_encode")
    parser.add_argument("--seeds", type=Path, help="write the seeds to this folder, and end")
    given = parser.parse_args()
    names = given.target or sorted(
        path.name for path in given.folder.glob("fuzz_*") if path.is_file() and not path.suffix
    )
    if not names:
        print(f"no fuzz targets in {given.folder}", file=sys.stderr)
        return 1
    if given.seeds:
        for name in names:
            pack_seeds(name, given.seeds)
        return 0
    print(f"{'target':24}{'inputs':>12}{'edges':>16}{'seconds':>9}{'a CPU second':>14}", flush=True)
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
    command: list[str | Path] = [target, f"-max_total_time={given.seconds}", f"-seed={given.seed}"]
    has_libfuzzer = b"libFuzzer" in target.read_bytes()
    corpus = target.parent / "corpus" / name
    is_new = not corpus.exists()
    if has_libfuzzer:
        seeds = target.parent / "seeds" / name
        write_seeds(name, seeds)
        corpus.mkdir(parents=True, exist_ok=True)
        command += [
            f"-max_len={LONGER.get(name, LONGEST)}",
            "-print_final_stats=1",
            "-timeout=30",
            "-rss_limit_mb=4096",
        ]
        failures = target.parent / "failures"
        failures.mkdir(exist_ok=True)
        command += [f"-artifact_prefix={failures}/{name}-", corpus, seeds]
    status, output, cpu_seconds = measure(command)
    inputs = find(r"stat::number_of_executed_units: (\d+)|: (\d+) inputs", output)
    edges = [int(found) for found in re.findall(r" cov: (\d+)", output)]
    shown = f"{edges[0]:,}→{edges[-1]:,}" if edges else "-"
    seconds = time.monotonic() - begun
    speed = inputs / max(cpu_seconds, 0.01)
    print(f"{name:24}{inputs:12,}{shown:>16}{seconds:9.1f}{speed:14,.0f}", flush=True)
    if status:
        print(output[-6000:])
        return False
    grew = not is_new or (edges and edges[-1] > edges[0])
    reached = edges[-1] if edges else 0
    if inputs < LEAST_INPUTS or (has_libfuzzer and (reached < LEAST_EDGES or not grew)):
        print(f"{name} is idle: it ran too few inputs, or reaches too little code")
        return False
    return True


def measure(command: list[str | Path]) -> tuple[int, str, float]:
    """Run a command. Return its status, its output, and the processor time in seconds."""
    # Whole stacks of allocations and a long queue of freed memory take long. To have them, run a
    # failing input by hand.
    settings = {"ASAN_OPTIONS": "malloc_context_size=2:quarantine_size_mb=16", **os.environ}
    with TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=settings)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return process.returncode, text, used.ru_utime + used.ru_stime


def find(pattern: str, text: str) -> int:
    """Return the number that a pattern finds last, or 0."""
    numbers = [number for groups in re.findall(pattern, text) for number in groups if number]
    return int(numbers[-1]) if numbers else 0


def write_seeds(name: str, folder: Path) -> None:
    """Write the first inputs of a target."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, data in seeds_of(name).items():
        (folder / seed).write_bytes(data)


def pack_seeds(name: str, folder: Path) -> None:
    """Write the first inputs of a target, and its options, as an OSS-Fuzz build has them."""
    with zipfile.ZipFile(folder / f"{name}_seed_corpus.zip", "w", zipfile.ZIP_DEFLATED) as seeds:
        for seed, data in seeds_of(name).items():
            seeds.writestr(seed, data)
    longest = LONGER.get(name, LONGEST)
    (folder / f"{name}.options").write_text(f"[libfuzzer]\nmax_len = {longest}\n")


def seeds_of(name: str) -> dict[str, bytes]:
    """Return files for the parsers, parts of texts for all, and inputs that once failed."""
    seeds = list(FILES.get(name, list)())
    for path in TEXTS:
        text = (ROOT / path).read_bytes()
        for number in range(8):
            start = len(text) * number // 8
            seeds.append(text[start : start + 60 * (number + 1)])
    if "FuzzInput" in INPUTS.with_name(f"{name}.cpp").read_text(encoding="utf-8"):
        # The header of a FuzzInput, 32 bytes: a seed, and the first random numbers.
        seeds = [sha256(bytes([number])).digest() + data for number, data in enumerate(seeds)]
    found = {f"{number:03}": data for number, data in enumerate(seeds)}
    return found | {path.name: path.read_bytes() for path in INPUTS.glob(f"{name}-*")}


def vocabularies() -> list[bytes]:
    """Return parts of a .tiktoken file."""
    lines = (ROOT / "src/toksmith/data/toksmith-small.tiktoken").read_bytes().splitlines(True)
    return [b"".join(lines[:20]), b"".join(lines[-20:]), b"".join(lines[256:280])]


def tokenizer_files() -> list[bytes]:
    """Return small tokenizer.json files of each model."""
    bpe = {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2, "\u0120": 3, "\u0120ab": 4},
        "merges": ["a b", ["\u0120", "ab"]],
    }
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["\u2581a", -1.5e1]]}
    wordpiece = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "##\u00e9": 1}}
    added = [{"id": 5, "content": "<s>", "special": True, "lstrip": False}]
    files = []
    for model in (bpe, unigram, wordpiece):
        file = {"version": "1.0", "added_tokens": added, "normalizer": None, "model": model}
        files += [json.dumps(file).encode(), json.dumps(file, ensure_ascii=False).encode()]
        files.append(json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode())
    return files


def piece_files() -> list[bytes]:
    """Return a SentencePiece model with pieces of all types."""

    def message(field: int, content: bytes) -> bytes:
        return bytes([field << 3 | 2, len(content)]) + content

    def piece(text: str, score: float, kind: int) -> bytes:
        content = message(1, text.encode()) + b"\x15" + struct.pack("<f", score)
        return message(1, content + bytes([0x18, kind]))

    pieces = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("<0x0A>", 0, 6)
    pieces += piece("\u2581", -2.5, 1) + piece("<mask>", 0, 4) + piece("ab", -3, 5)
    trainer = message(2, b"\x08\x01\x10\x02\x1a\x02ab")
    normalizer = message(3, message(1, b"nfkc") + b"\x18\x01")
    return [pieces + trainer + normalizer, trainer + message(1, message(1, b"a")) + pieces]


def character_maps() -> list[bytes]:
    """Return compiled maps of characters, in the layout of SentencePiece."""
    return [
        compiled_map({b"A": b"a"}),
        compiled_map({"\u00e9".encode(): b"e", "e\u0301".encode(): b"\xc3\xa9"}),
        compiled_map({"\uff21".encode(): b"A", "\ufb01".encode(): b"fi", b"\xc2\xad": b""}),
    ]


def compiled_map(replacements: dict[bytes, bytes]) -> bytes:
    """Return a trie of units of 32 bits, with a block of 256 for the children of each node.

    The child of a node is at its base, exclusive-or the byte of the edge; a leaf is at the base.
    """
    has_leaf, is_leaf = 1 << 8, 1 << 31
    units, texts = [0] * 256, b""
    blocks: dict[bytes, int] = {}
    places = {b"": 0}

    def base_of(prefix: bytes) -> int:
        if prefix not in blocks:
            blocks[prefix] = len(units)
            units.extend([0] * 256)
            units[places[prefix]] |= (places[prefix] ^ blocks[prefix]) << 10
        return blocks[prefix]

    for key, text in sorted(replacements.items()):
        for end in range(1, len(key) + 1):
            if key[:end] not in places:
                places[key[:end]] = base_of(key[: end - 1]) ^ key[end - 1]
                units[places[key[:end]]] |= key[end - 1]
        leaf = base_of(key)
        units[places[key]] |= has_leaf
        units[leaf] = is_leaf | len(texts)
        texts += text + b"\0"
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + texts


def json_lines() -> list[bytes]:
    """Return lines of JSON, with and without escapes."""
    text = (ROOT / TEXTS[1]).read_text(encoding="utf-8")
    rows = [{"id": start, "text": text[start : start + 50]} for start in range(0, 3000, 600)]
    return [
        b'{"id": 1, "text": "low\\n\\u00e9"}\n{"text": "er", "x": [1.5e3, null]}\n',
        "\n".join(json.dumps(row) for row in rows[:2]).encode(),
        "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode(),
    ]


FILES = {
    "fuzz_ranks": vocabularies,
    "fuzz_json_model": tokenizer_files,
    "fuzz_piece_file": piece_files,
    "fuzz_char_map": character_maps,
    "fuzz_json_lines": json_lines,
}


if __name__ == "__main__":
    sys.exit(main())
