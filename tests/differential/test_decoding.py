"""The kernel's decoder against the reference's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from toksmith.engine.kernel import KernelDecoder
from toksmith.engine.stepwise import ReferenceDecoder
from toksmith.errors import UnknownTokenError

PIECES = [b"", b"a", b"the ", "é".encode(), "中文".encode(), "😀".encode(), b"\x80", b"\xe4\xb8"]


def vocabulary(seed: int, pieces: Sequence[bytes]) -> list[bytes]:
    """Tokens of all lengths around those that are copied at once."""
    random = np.random.default_rng(seed)
    return [
        b"".join(pieces[i] for i in random.integers(0, len(pieces), size)) * int(random.integers(4))
        for size in random.integers(0, 6, 300)
    ]


def outcome(decoder: Any, call: str, *arguments: Any) -> object:
    try:
        return getattr(decoder, call)(*arguments)
    except (UnknownTokenError, UnicodeDecodeError) as wrong:
        return type(wrong), str(wrong)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("some_are_known", [False, True])
def test_same_as_the_reference(seed: int, some_are_known: bool) -> None:
    tokens = vocabulary(seed, PIECES)
    known = np.random.default_rng(seed).random(len(tokens)) < 0.9 if some_are_known else None
    decoders = KernelDecoder(tokens, known), ReferenceDecoder(tokens, known)
    random = np.random.default_rng(seed)
    has_token = np.array([bool(token) for token in tokens]) if known is None else known
    for count in (0, 1, 2, 50, 700):
        for ids in (
            random.choice(np.flatnonzero(has_token), count),
            random.integers(0, len(tokens), count),
            random.integers(0, len(tokens) + 1, count),
        ):
            array = ids.astype(np.uint32)
            calls: list[tuple[Any, ...]] = [("check", array, 1), ("decode", array, 1)]
            calls += [
                ("decode_text", array, errors, 1, before)
                for errors in ("strict", "replace", "surrogateescape", "ignore")
                for before in (b"", b"x", "é".encode(), b"\xe4")
            ]
            for call in calls:
                assert outcome(decoders[0], *call) == outcome(decoders[1], *call), call


@pytest.mark.parametrize("pieces", [PIECES[1:3], PIECES[1:4], PIECES[1:5], PIECES[1:6], PIECES])
def test_any_number_of_threads(pieces: list[bytes]) -> None:
    tokens = [token for token in vocabulary(1, pieces) if token]
    decoder = KernelDecoder(tokens)
    ids = np.random.default_rng(2).integers(0, len(tokens), 300_000).astype(np.uint32)
    data = b"".join([tokens[i] for i in ids.tolist()])
    for threads in (1, 2, 3, 7):
        assert decoder.decode(ids, threads) == data
        text = decoder.decode_text(ids, "replace", threads, b"\xc3")
        assert text == (b"\xc3" + data).decode("utf-8", "replace")
    for place in (0, 150_000, 299_999):
        wrong = ids.copy()
        wrong[place] = len(tokens)
        with pytest.raises(UnknownTokenError, match=f"at position {place} "):
            decoder.decode_text(wrong, "replace", 3)
