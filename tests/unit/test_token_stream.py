"""Streams of ids: blocks, documents, shards, and places to go on from."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith.errors import OptionError
from toksmith.token_stream import TokenStream

TEXTS = ["It was the best", "", "of times", "it was the worst of times, " * 3, "x", "", "low"] * 4


@pytest.fixture(scope="module")
def tok() -> toksmith.Tokenizer:
    return toksmith.get("toksmith-small").with_template(eos="<|endoftext|>")


def lists(stream: TokenStream) -> list[list[int]]:
    return [ids.tolist() for ids in stream]


def blocks(tok: toksmith.Tokenizer, texts: list[str], size: int) -> list[list[int]]:
    ids = tok.encode_batch(texts, add_special_tokens=True).ids.tolist()
    return [ids[start : start + size] for start in range(0, len(ids) - size + 1, size)]


def test_documents(tok: toksmith.Tokenizer) -> None:
    want = [tok.encode(text, add_special_tokens=True) for text in TEXTS]
    assert lists(TokenStream(tok, TEXTS)) == want
    bare = TokenStream("toksmith-small", TEXTS, add_special_tokens=False, batch_size=3)
    assert lists(bare) == [row[:-1] for row in want]
    assert next(iter(TokenStream(tok, TEXTS))).dtype == np.int64


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_blocks(tok: toksmith.Tokenizer, size: int, batch_size: int) -> None:
    stream = TokenStream(tok, TEXTS, block=size, batch_size=batch_size)
    assert lists(stream) == blocks(tok, TEXTS, size)
    assert lists(stream) == blocks(tok, TEXTS, size), "a second epoch is the same"


def generated() -> Iterator[str]:
    yield from TEXTS


@pytest.mark.parametrize("texts", [TEXTS, tuple(TEXTS), np.array(TEXTS), generated])
def test_processes_share_the_documents(tok: toksmith.Tokenizer, texts: Any) -> None:
    for rank in range(3):
        stream = TokenStream(tok, texts, rank=rank, world_size=3, block=5, batch_size=2)
        assert lists(stream) == blocks(tok, TEXTS[rank::3], 5)


def test_workers_share_the_documents_of_their_process(
    tok: toksmith.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = SimpleNamespace(id=0, num_workers=2)
    torch = SimpleNamespace(get_worker_info=lambda: info)
    monkeypatch.setitem(sys.modules, "torch.utils.data", torch)
    found = []
    for rank in range(2):
        for info.id in range(2):
            found += lists(TokenStream(tok, TEXTS, rank=rank, world_size=2))
    assert sorted(found) == sorted(lists_of_all(tok))
    info.id = 1
    assert lists(TokenStream(tok, TEXTS, rank=1, world_size=2)) == lists_of_all(tok)[3::4]
    torch.get_worker_info = lambda: None
    assert lists(TokenStream(tok, TEXTS)) == lists_of_all(tok)


def test_a_process_has_the_same_documents_with_any_number_of_workers(
    tok: toksmith.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = SimpleNamespace(id=0, num_workers=2)
    torch = SimpleNamespace(get_worker_info=lambda: info)
    monkeypatch.setitem(sys.modules, "torch.utils.data", torch)
    texts = [str(number) for number in range(11)]
    found = []
    for worker in range(2):
        info.id = worker
        found += map(tok.decode, TokenStream("toksmith-small", texts, rank=1, world_size=2))
    assert sorted(found) == sorted(texts[1::2])


def lists_of_all(tok: toksmith.Tokenizer) -> list[list[int]]:
    return [tok.encode(text, add_special_tokens=True) for text in TEXTS]


@pytest.mark.parametrize("size", [None, 1, 3, 8, 40])
@pytest.mark.parametrize("batch_size", [2, 1000])
@pytest.mark.parametrize("add_special_tokens", [True, False])
def test_a_stream_goes_on_where_it_stopped(
    tok: toksmith.Tokenizer, size: int | None, batch_size: int, add_special_tokens: bool
) -> None:
    def made() -> TokenStream:
        return TokenStream(
            tok, TEXTS, block=size, batch_size=batch_size, rank=1, world_size=2,
            add_special_tokens=add_special_tokens,
        )  # fmt: skip

    whole = lists(made())
    states = [made().state_dict()]
    stream = made()
    states += [stream.state_dict() for _ in stream]
    assert len(states) == len(whole) + 1
    assert stream.state_dict() == {"document": 0, "offset": 0}
    for done, state in enumerate(states):
        again = made()
        again.load_state_dict(pickle.loads(pickle.dumps(state)))
        assert again.state_dict() == state
        assert lists(again) == whole[done:]


def test_a_stream_that_is_left_goes_on_and_can_be_pickled(tok: toksmith.Tokenizer) -> None:
    stream = TokenStream(tok, TEXTS, block=5)
    first = next(iter(stream)).tolist()
    copied = pickle.loads(pickle.dumps(stream))
    assert [first, *lists(copied)] == [first, *lists(stream)] == blocks(tok, TEXTS, 5)


def test_columns_are_documents(tok: toksmith.Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.chunked_array([TEXTS[:3], TEXTS[3:]])
    assert lists(TokenStream(tok, column, block=4, batch_size=2)) == blocks(tok, TEXTS, 4)
    with pytest.raises(OptionError, match=r"texts\[1\] is null"):
        list(TokenStream(tok, pa.array(["a", None])))


def test_special_tokens_in_texts(tok: toksmith.Tokenizer) -> None:
    stream = TokenStream(tok, ["a<|pad|>"], special="encode")
    assert lists(stream) == [[97, 16383, 16382]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block": 0}, "block is 0"),
        ({"rank": 2, "world_size": 2}, "rank is 2: it must be less than"),
        ({"world_size": 0}, "world_size is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"texts": "one text"}, "texts is str: give a list"),
        ({"texts": iter(["a"])}, "since a stream is read more than once"),
    ],
)
def test_wrong_arguments(tok: toksmith.Tokenizer, options: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        TokenStream(**{"tokenizer": tok, "texts": TEXTS, **options})


@pytest.mark.parametrize("state", [{"document": 1}, None, 5, "document", [("document", 1)], {1: 1}])
def test_a_state_of_something_else(tok: toksmith.Tokenizer, state: Any) -> None:
    with pytest.raises(OptionError, match=r"use what state_dict\(\) returned"):
        TokenStream(tok, TEXTS).load_state_dict(state)
