"""A file of ranks read by the kernel, against the same file read line by line."""

from __future__ import annotations

import random
from base64 import b64encode
from pathlib import Path

from toksmith._base import files
from toksmith.engine.portable import read_ranks
from toksmith.errors import FormatError
from toksmith.formats import tiktoken

PATH = Path("a.tiktoken")


def line_by_line(data: bytes) -> tuple[bytes, ...] | None:
    """Return the tokens by rank; ``None`` where something is wrong."""
    try:
        return files.vocab_by_id(PATH, tiktoken.parse(PATH, data))
    except FormatError:
        return None


def random_file(rng: random.Random) -> bytes:
    tokens = {rng.randbytes(rng.choice([1, 2, 3, 4, 5, 40])) for _ in range(rng.randint(0, 12))}
    ranks = list(range(len(tokens)))
    if rng.random() < 0.5:
        ranks = rng.sample(range(100), len(tokens))
    lines = [b64encode(token) + b" %d" % rank for token, rank in zip(tokens, ranks, strict=True)]
    return rng.choice([b"\n", b"\r\n", b"\n\n"]).join(lines) + rng.choice([b"", b"\n", b"\r\n"])


def test_files_without_a_fault() -> None:
    rng = random.Random(1)
    for _ in range(1000):
        data = random_file(rng)
        assert read_ranks(data, 99) == line_by_line(data), data


def test_files_with_a_changed_byte() -> None:
    rng = random.Random(2)
    refused = 0
    for _ in range(20_000):
        data = bytearray(random_file(rng))
        place = rng.randrange(len(data) + 1)
        data[place : place + rng.randint(0, 1)] = bytes([rng.choice(b"=Q \r\n0z+/-_\0\xff")])
        found = read_ranks(bytes(data), files.MAX_ID)
        refused += found is None
        # What the kernel refuses, as too odd, may still be right.
        assert found is None or found == line_by_line(bytes(data)), bytes(data)
    assert 0.1 < refused / 20_000 < 0.9


def test_the_highest_rank() -> None:
    assert read_ranks(b"YQ== 5", 5) == (b"",) * 5 + (b"a",)
    assert read_ranks(b"YQ== 5", 4) is None
