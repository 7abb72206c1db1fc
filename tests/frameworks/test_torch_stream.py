"""A stream of ids in PyTorch's DataLoader, with and without workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import toksmith
from toksmith.token_stream import TokenStream

torch = pytest.importorskip("torch", reason="torch is not installed")

TEXTS = [f"It was the best of times {number}" for number in range(40)]


class Tokens(torch.utils.data.IterableDataset):  # type: ignore[misc, name-defined]
    def __init__(self, stream: TokenStream) -> None:
        self.stream = stream

    def __iter__(self) -> Iterator[Any]:
        return iter(self.stream)


def test_batches_of_blocks() -> None:
    stream = TokenStream("toksmith-small", TEXTS, block=8)
    batches = list(torch.utils.data.DataLoader(Tokens(stream), batch_size=4))
    assert {batch.dtype for batch in batches} == {torch.int64}
    rows = torch.cat(batches).tolist()
    ids = toksmith.get("toksmith-small").encode_batch(TEXTS).ids.tolist()
    assert rows == [ids[start : start + 8] for start in range(0, len(ids) - 7, 8)]


def test_workers_share_the_documents() -> None:
    loader = torch.utils.data.DataLoader(
        Tokens(TokenStream("toksmith-small", TEXTS)),
        batch_size=None,
        num_workers=2,
        multiprocessing_context="fork",
    )
    rows = [row.tolist() for row in loader]
    assert sorted(rows) == sorted(toksmith.get("toksmith-small").encode_batch(TEXTS).to_lists())
