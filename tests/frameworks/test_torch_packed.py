"""Packed token files in PyTorch's DataLoader: workers, batches, and states."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toksmith.errors import OptionError
from toksmith.tokenfiles import PackedRows, RowOrder, pack
from toksmith.tokenfiles.token_files import RawPart, TokenFiles

torch = pytest.importorskip("torch", reason="torch is not installed")

from toksmith.tokenfiles.packing.torch_data import (  # noqa: E402
    PackedDataset,
    PackedStream,
    flatten,
    pad,
)

stateful = pytest.mark.filterwarnings("ignore:.*set_vital.*deprecated:UserWarning")
"""torchdata calls what newer versions of PyTorch warn of."""

LENGTHS = [3, 9, 2, 4, 6, 1, 5, 8, 2, 2]


@pytest.fixture
def rows(tmp_path: Path) -> PackedRows:
    np.arange(100, 100 + sum(LENGTHS), dtype=np.uint16).tofile(tmp_path / "a.bin")
    part = RawPart(tmp_path / "a.bin", np.dtype("uint16"), np.array(LENGTHS, np.int64))
    tokens = TokenFiles(tmp_path, "raw", np.dtype("uint16"), [part])
    pack(tokens, length=6).save(tmp_path / "a.pack")
    return tokens.packed(tmp_path / "a.pack")


def ids(items: Iterable[Any]) -> list[list[int]]:
    return [item["input_ids"].tolist() for item in items]


def test_items(rows: PackedRows) -> None:
    data = PackedDataset(rows)
    assert len(data) == len(rows)
    for number, row in enumerate(rows):
        item = data[number]
        assert {name: str(each.dtype) for name, each in item.items()} == {
            "input_ids": "torch.int64", "position_ids": "torch.int64",
            "cu_seqlens": "torch.int32", "documents": "torch.int64",
        }  # fmt: skip
        assert item["input_ids"].tolist() == row.ids.tolist()
        assert item["position_ids"].tolist() == row.positions.tolist()
        assert item["cu_seqlens"].tolist() == row.cu_seqlens.tolist()
        assert item["documents"].tolist() == row.documents.tolist()
    with pytest.raises(OptionError, match="use what open_tokens"):
        PackedDataset([1])  # type: ignore[arg-type]


def test_a_flat_batch() -> None:
    one = {
        "input_ids": torch.tensor([5, 6, 7]), "position_ids": torch.tensor([0, 1, 0]),
        "cu_seqlens": torch.tensor([0, 2, 3], dtype=torch.int32),
    }  # fmt: skip
    two = {
        "input_ids": torch.tensor([8, 9]), "position_ids": torch.tensor([0, 1]),
        "cu_seqlens": torch.tensor([0, 2], dtype=torch.int32),
    }  # fmt: skip
    batch = flatten([one, two])
    assert batch["input_ids"].tolist() == [[5, 6, 7, 8, 9]]
    assert batch["position_ids"].tolist() == [[0, 1, 0, 0, 1]]
    assert batch["labels"].tolist() == [[-100, 6, -100, -100, 9]]
    assert batch["cu_seqlens"].tolist() == [0, 2, 3, 5]
    assert batch["cu_seqlens"].dtype == torch.int32
    assert batch["max_seqlen"] == 2
    padded = pad([one, two], length=4, pad_id=1)
    assert {name: each.tolist() for name, each in padded.items()} == {
        "input_ids": [[5, 6, 7, 1], [8, 9, 1, 1]],
        "position_ids": [[0, 1, 0, 0], [0, 1, 0, 0]],
        "piece_ids": [[1, 1, 2, 0], [1, 1, 0, 0]],
        "labels": [[-100, 6, -100, -100], [-100, 9, -100, -100]],
    }
    with pytest.raises(OptionError, match="length is 2, and a row has 3 tokens"):
        pad([one], length=2)


def test_workers_share_the_rows(rows: PackedRows) -> None:
    wanted = sorted(row.ids.tolist() for row in rows)
    found = []
    for rank in range(2):
        loader = torch.utils.data.DataLoader(
            PackedStream(rows, seed=1, rank=rank, world_size=2), batch_size=2, num_workers=2,
            collate_fn=list, multiprocessing_context="fork",
        )  # fmt: skip
        for batch in loader:
            found += ids(batch)
    assert sorted(found) == wanted


def test_a_shuffled_dataset(rows: PackedRows) -> None:
    order = RowOrder(len(rows), seed=3)
    loader = torch.utils.data.DataLoader(
        PackedDataset(rows), batch_size=3, sampler=order, collate_fn=partial(pad, length=6)
    )
    assert len(loader) == -(-len(rows) // 3)
    first, second = list(loader), list(loader)
    wanted = [rows[number].ids.tolist() for number in RowOrder(len(rows), seed=3)]
    held = []
    for batch in first:
        sizes = (batch["piece_ids"] > 0).sum(1).tolist()
        padded = batch["input_ids"].tolist()
        held += [row[:size] for row, size in zip(padded, sizes, strict=True)]
    assert held == wanted
    assert ids(first) != ids(second)


def test_a_stream_goes_on_where_it_stopped(rows: PackedRows) -> None:
    stream = PackedStream(rows, seed=2)
    wanted = ids(stream)
    again = PackedStream(rows, seed=2)
    items = iter(again)
    left = ids(next(items) for _ in range(3))
    state = again.state_dict()
    assert state == {"epoch": 0, "row": 3, "shares": 1}
    resumed = PackedStream(rows, seed=2)
    resumed.load_state_dict(state)
    assert left + ids(resumed) == wanted
    resumed.set_epoch(0)
    assert ids(resumed) == wanted


def test_a_stream_can_be_pickled(rows: PackedRows) -> None:
    stream = PackedStream(rows, seed=2)
    wanted = ids(PackedStream(rows, seed=2))
    next(iter(stream))
    again = pickle.loads(pickle.dumps(stream))  # as for a worker that is a new process
    assert ids(again) == wanted[1:]
    assert again.state_dict() == {"epoch": 1, "row": 0, "shares": 1}


@stateful
@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_stateful_loader_goes_on_where_it_stopped(rows: PackedRows, num_workers: int) -> None:
    torchdata = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed"
    )

    def made(epoch: int = 0) -> Any:
        stream = PackedStream(rows, seed=2)
        stream.set_epoch(epoch)
        return torchdata.StatefulDataLoader(
            stream, batch_size=2, num_workers=num_workers, collate_fn=list
        )

    wanted = [ids(batch) for batch in made()]
    following = [ids(batch) for batch in made(1)]
    for done in (1, len(wanted) - 1):
        loader = made()
        batches = iter(loader)
        left = [ids(next(batches)) for _ in range(done)]
        state = loader.state_dict()
        del batches
        resumed = made()
        resumed.load_state_dict(state)
        assert left + [ids(batch) for batch in resumed] == wanted
        resumed.dataset.set_epoch(1)
        assert [ids(batch) for batch in resumed] == following
    loader = made()
    assert len(list(loader)) == len(wanted)
    resumed = made(1)  # from a state at the end of an epoch
    resumed.load_state_dict(loader.state_dict())
    assert [ids(batch) for batch in resumed] == following


@stateful
@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_stateful_loader_with_a_sampler(rows: PackedRows, num_workers: int) -> None:
    torchdata = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed"
    )

    def made() -> Any:
        return torchdata.StatefulDataLoader(
            PackedDataset(rows), batch_size=2, num_workers=num_workers, collate_fn=list,
            sampler=RowOrder(len(rows), seed=2),
        )  # fmt: skip

    wanted = [ids(batch) for batch in made()]
    loader = made()
    batches = iter(loader)
    left = [ids(next(batches)) for _ in range(2)]
    state = loader.state_dict()
    resumed = made()
    resumed.load_state_dict(state)
    assert left + [ids(batch) for batch in resumed] == wanted


def test_a_model_of_transformers_keeps_documents_apart(rows: PackedRows) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=200, hidden_size=16, intermediate_size=16, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2,
    )  # fmt: skip
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    data = PackedDataset(rows)
    batch = flatten([data[number] for number in range(4)])
    names = ("input_ids", "position_ids", "labels")
    with torch.no_grad():
        logits = model(**{name: batch[name] for name in names}, use_cache=False).logits
        bounds = batch["cu_seqlens"].tolist()
        assert len(bounds) > 5
        for start, end in pairwise(bounds):
            alone = model(input_ids=batch["input_ids"][:, start:end]).logits
            assert torch.allclose(logits[:, start:end], alone, atol=1e-5)
