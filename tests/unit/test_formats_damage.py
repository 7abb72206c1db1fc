"""Damaged files: hundreds of each kind, from fixed seeds. Whatever happens is a typed error."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats_kit import pipeline
from toksmith import formats
from toksmith.errors import FormatError, UnsupportedError
from toksmith.framing import AddedToken, Framing
from toksmith.pipeline import Pipeline

ROUNDS = 400
HOSTILE = [
    *(b"\0", b"\xff\xfe", b"\xc3", b"\n", b"\r\n", b" ", b"", b"=", b'"', b"\\", b"\\ud800"),
    *(b"-1", b"1.5", b"1e999", b"9" * 30, b"9" * 5000, b"null", b"true", b"[]", b"{}", b"NaN"),
    *(b"[" * 5000, b"(" * 500, b'{"a":' * 3000, "\u2028é".encode(), b"(?i", b"[[", b"a{9999999}"),
]


def flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 3, 20])):
        data[rng.randrange(len(data))] = rng.randrange(256)


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def drop(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice([1, 5, 50, 500])]


def insert(data: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.choice(HOSTILE)


def replace_word(data: bytearray, rng: random.Random) -> None:
    words = bytes(data).replace(b"\n", b" \n ").split(b" ")
    words[rng.randrange(len(words))] = rng.choice(HOSTILE)
    data[:] = b" ".join(words)


def repeat(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.choice([1, 10, 100])]


def swap_values(data: bytearray, rng: random.Random) -> None:
    """Another value in JSON, another word elsewhere."""
    separator = b"," if data[:1] == b"{" else b"\n"
    parts = bytes(data).split(separator)
    one, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    if rng.random() < 0.5 and b":" in parts[one]:
        parts[one] = parts[one].split(b":")[0] + b":" + rng.choice(HOSTILE)
    else:
        parts[one] = parts[other]
    data[:] = separator.join(parts)


DAMAGE: list[Callable[[bytearray, random.Random], None]] = [
    *(flip, cut, drop, insert, replace_word, repeat, swap_values, swap_values)
]


def outcome(path: Path, given: str | None) -> str | None:
    """Return the message of the error; ``None`` where the file can still be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of regex, about damaged patterns
            formats.read(path, given)
    except (FormatError, UnsupportedError) as wrong:
        return str(wrong)
    return None


FRAMING = Framing((AddedToken("<|end|>", 266), AddedToken("<|pad|>", 267)))
TEMPLATED = Framing(FRAMING.added_tokens, prefix=(266,), suffix=(267,))


@pytest.mark.parametrize(
    ("target", "name", "pipe"),
    [
        ("a.model", "a.model", pipeline("[a-z]+|[^a-z]", framing=FRAMING)),
        ("a.tiktoken", "a.tiktoken", pipeline(None, framing=FRAMING)),
        ("a.tiktoken", "a.tiktoken.json", pipeline("[a-z]+", framing=FRAMING)),
        ("folder", "folder/encoder.json", pipeline(framing=FRAMING)),
        ("folder", "folder/vocab.bpe", pipeline(framing=FRAMING)),
        ("a.json", "a.json", pipeline("[a-z]+", framing=TEMPLATED)),
    ],
)
def test_damage(tmp_path: Path, target: str, name: str, pipe: Pipeline) -> None:
    formats.write(pipe, tmp_path / target)
    chosen = {"folder": "gpt2", "a.json": "huggingface", "a.model": "minbpe"}.get(
        target, "tiktoken"
    )
    sound = (tmp_path / name).read_bytes()
    rng = random.Random(f"damage {name}")
    refused = 0
    for _ in range(ROUNDS):
        data = bytearray(sound)
        rng.choice(DAMAGE)(data, rng)
        (tmp_path / name).write_bytes(data)
        for given in (None, chosen):
            message = outcome(tmp_path / target, given)
            refused += message is not None
            assert message is None or str(tmp_path) in message
    assert refused > ROUNDS // 2  # the damage is real


def test_every_truncation(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    formats.write(pipeline(), path)
    sound = path.read_bytes()
    for end in range(0, len(sound) - 2, 37):  # the last bytes are the brace and a line end
        path.write_bytes(sound[:end])
        with pytest.raises(FormatError):
            formats.read(path)
