"""Long uncut texts, on which quadratic or deeply recursive code fails.

Times are not asserted, since machines are shared. Instead a child process has a hard limit:
quadratic work on 4 MB would take hours.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.errors import SplitError

LIMIT = 600  # seconds; a child takes about 2 on one core
MB = 1_000_000

CHILD = """
    import sys
    import numpy as np
    import toksmith

    path, split, piece, length, size = sys.argv[1:]
    text = (piece * (int(length) // len(piece.encode()))).encode()
    tokenizer = toksmith.load(path, split=split, special_tokens={})
    ids = tokenizer.encode_array(text)
    longest = max(len(tokenizer.token_bytes(i)) for i in np.unique(ids).tolist())
    assert tokenizer.decode_bytes(ids) == text, "the text came back changed"
    assert tokenizer.count(text) == len(ids), "count and encode differ"
    short = text[: int(size)].decode(errors="ignore").encode()
    print(len(ids), longest, *tokenizer.encode(short))
"""


@pytest.mark.parametrize("megabytes", [4])
@pytest.mark.parametrize("piece", ["a", " "], ids=["letter", "space"])
def test_one_character_over_and_over(
    piece: str, megabytes: int, shared: Path, tiktoken_encoding: Callable[[str], Any]
) -> None:
    tokens, longest, ids = _encode_in_child(shared, "cl100k-tiktoken", piece, megabytes * MB)
    assert ids == tiktoken_encoding("cl100k_base").encode_ordinary(piece * 1000)
    # A run takes as few tokens as its longest token allows, but for some at its ends.
    assert megabytes * MB / longest <= tokens <= megabytes * MB / longest + longest


@pytest.mark.parametrize("split", ["cl100k-tiktoken", "gpt2", "o200k", r"\p{L}+|\P{L}+"])
def test_characters_of_three_bytes_without_a_space(split: str, shared: Path) -> None:
    tokens, _, ids = _encode_in_child(shared, split, "中文漢字日本語ひらがなカタカナ", 2 * MB)
    # The run repeats after 48 bytes, and so does its encoding, but for its ends.
    per_byte = len(ids) / 1000
    assert tokens == pytest.approx(2 * MB * per_byte, rel=0.02)


def test_training_on_long_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.txt"
    path.write_bytes(b"a" * 2 * MB + b"\n" + b" " * 2 * MB + b"\n" + "中".encode() * (MB // 2))
    child = """
        import sys
        import toksmith

        tokenizer = toksmith.train(sys.argv[1], vocab_size=280, split="gpt2")
        print(*(tokenizer.token_bytes(i).hex() for i in range(256, 262)))
    """
    tokens = _run(child, str(path)).split()
    # The counts fall by half each time: a a, then aa aa; spaces, one less often, right behind.
    assert tokens[:4] == [(b"a" * 2).hex(), (b" " * 2).hex(), (b"a" * 4).hex(), (b" " * 4).hex()]


def test_a_pattern_that_explodes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toksmith.stages.split_patterns.SECONDS", 0.1)
    tokenizer = toksmith.train(texts=["aab"], vocab_size=257, split="^(?:a|aa)+$")
    text = "a" * 60 + "!"
    for call in (tokenizer.encode, tokenizer.encode_array, tokenizer.count, tokenizer.encoding):
        with pytest.raises(SplitError, match="backtracks without end"):
            call(text)
    with pytest.raises(SplitError, match="backtracks without end"):
        toksmith.train(texts=[text], vocab_size=257, split="^(?:a|aa)+$")
    assert tokenizer.decode(tokenizer.encode("aab")) == "aab"


def test_a_small_stack_is_enough(shared: Path) -> None:
    """A thread with 256 KB of stack encodes a chunk of 4 MB."""
    tokenizer = toksmith.load(
        shared / "data/vocab/cl100k_base.tiktoken", split="gpt4", special_tokens={}
    )
    text = b"ab" * (2 * MB)
    found: list[int] = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(_round_trip(tokenizer, text)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [len(text)]


def _round_trip(tokenizer: Tokenizer, text: bytes) -> int:
    assert tokenizer.decode_bytes(tokenizer.encode_array(text)) == text
    return len(text)


def _encode_in_child(shared: Path, split: str, piece: str, size: int) -> tuple[int, int, list[int]]:
    """Return how many tokens, the longest in bytes, and the ids of the first 1000 bytes."""
    path = shared / "data/vocab/cl100k_base.tiktoken"
    printed = _run(CHILD, str(path), split, piece, str(size), "1000")
    tokens, longest, *ids = map(int, printed.split())
    return tokens, longest, ids


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", dedent(program), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
