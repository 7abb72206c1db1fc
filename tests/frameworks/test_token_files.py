"""Token files of Megatron, datatrove, dolma and OLMo-core against their own writers and readers.

dolma needs NumPy below 2 and tokenizers below 0.20, and ai2-olmo-core huggingface_hub below 1:
their tests are for environments of their own.
"""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.unit.tokenfiles.documents import lists, read, write

DOCUMENTS = [[5, 6, 0], [7, 300, 0], [0], [8, 8, 8, 8, 0], [9, 0]]
VOCABULARIES = [1000, 65_499, 65_500, 65_536, 65_537]


def files(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(folder.iterdir())}


@pytest.mark.filterwarnings("ignore")  # of megatron's imports
@pytest.mark.parametrize("vocab_size", VOCABULARIES)
def test_megatron(vocab_size: int, tmp_path: Path) -> None:
    indexed = pytest.importorskip(
        "megatron.core.datasets.indexed_dataset", reason="megatron-core is not installed"
    )
    documents: list[list[int]] = [*DOCUMENTS, [], [1, 0]]
    kind = indexed.DType.optimal_dtype(vocab_size)
    theirs = str(tmp_path / "theirs_text_document")
    builder = indexed.IndexedDatasetBuilder(theirs + ".bin", dtype=kind)
    for ids in documents:
        builder.add_document(ids, [len(ids)] if ids else [])
    builder.finalize(theirs + ".idx")

    ours = tmp_path / "ours"
    ours.mkdir()
    written = write("megatron", documents, ours, vocab_size=vocab_size)
    for suffix in (".bin", ".idx"):
        assert written["train_text_document" + suffix] == Path(theirs + suffix).read_bytes()
    for mmap in (True, False):
        found = indexed.IndexedDataset(str(ours / "train_text_document"), mmap=mmap)
        assert found.index.dtype == kind
        assert [found[n].tolist() for n in range(len(found))] == [*DOCUMENTS, [1, 0]]
        assert found.document_indices.tolist() == [0, 1, 2, 3, 4, 5, 5, 6]
    assert lists(toksmith.open_tokens(theirs)) == documents


@pytest.mark.filterwarnings("ignore")  # of megatron's imports
def test_megatron_with_several_sequences_a_document(tmp_path: Path) -> None:
    indexed = pytest.importorskip(
        "megatron.core.datasets.indexed_dataset", reason="megatron-core is not installed"
    )
    torch = pytest.importorskip("torch")
    for multimodal in (False, True):
        prefix = str(tmp_path / f"{multimodal}_text_sentence")
        builder = indexed.IndexedDatasetBuilder(prefix + ".bin", np.uint16, multimodal)
        for document in ([[5, 6], [], [7, 0]], [[8, 0]]):
            for sentence in document:
                builder.add_item(torch.tensor(sentence, dtype=torch.int64))
            builder.end_document()
        builder.finalize(prefix + ".idx")
        assert lists(toksmith.open_tokens(prefix)) == [[5, 6, 7, 0], [8, 0]]


@pytest.mark.parametrize("vocab_size", VOCABULARIES)
@pytest.mark.parametrize("size", [None, 4])
def test_datatrove(vocab_size: int, size: int | None, tmp_path: Path) -> None:
    pytest.importorskip("datatrove", reason="datatrove is not installed")
    from datatrove.pipeline.tokens import DocumentTokenizerMerger
    from datatrove.pipeline.tokens.tokenizer import TokenizedFile

    width = 4 if vocab_size > np.iinfo(np.uint16).max + 1 else 2
    file = TokenizedFile(
        str(tmp_path / "tokenized"), "00000_unshuffled.ds", tokenizer_name_or_path="gpt2",
        save_final_metadata=True, token_size=width,
    )  # fmt: skip
    for ids in DOCUMENTS:
        file.write(ids, None)
    file.close()
    merger = DocumentTokenizerMerger(
        str(tmp_path / "tokenized"), str(tmp_path / "theirs"), "train", shuffle=False,
        progress=False, **({} if size is None else {"max_tokens_per_file": size}),
    )  # fmt: skip
    merger.run()

    ours = tmp_path / "ours"
    ours.mkdir()
    write(
        "datatrove", DOCUMENTS, ours,
        vocab_size=vocab_size, shard_tokens=size, tokenizer_name="gpt2",
    )  # fmt: skip
    assert files(ours) == files(tmp_path / "theirs")
    assert lists(read("datatrove", tmp_path / "tokenized")) == DOCUMENTS


def test_datatrove_without_a_name_or_documents(tmp_path: Path) -> None:
    pytest.importorskip("datatrove", reason="datatrove is not installed")
    from datatrove.pipeline.tokens.tokenizer import TokenizedFile

    file = TokenizedFile(str(tmp_path), "a.ds", save_final_metadata=True, token_size=4)
    file.write([70_000], None)
    file.close()
    TokenizedFile(str(tmp_path), "b.ds", save_final_metadata=True, token_size=4).close()
    found = read("datatrove", tmp_path)
    assert (lists(found), found.metadata) == ([[70_000]], {})


@pytest.mark.parametrize("count", [*range(1, 12), 99, 999, 1000, 9995, 9994, 99_950, 999_499])
@pytest.mark.parametrize("factor", [1, 1000, 10**6, 10**9, 10**12])
def test_numbers_of_datatrove_in_words(count: int, factor: int) -> None:
    humanize = pytest.importorskip("humanize", reason="humanize is not installed")
    from toksmith.tokenfiles.formats.datatrove import in_words

    for value in (count * factor - 1, count * factor):
        assert in_words(value) == humanize.metric(value, unit="T")


@pytest.mark.parametrize("vocab_size", [1000, 70_000])
def test_datasets_of_datatrove(vocab_size: int, tmp_path: Path) -> None:
    pytest.importorskip("datatrove", reason="datatrove is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    from datatrove.utils.dataset import DatatroveFolderDataset

    write("datatrove", DOCUMENTS, tmp_path, vocab_size=vocab_size)
    dataset = DatatroveFolderDataset(
        str(tmp_path), 6, filename_pattern="*.ds", token_size=4 if vocab_size > 65_536 else 2,
        return_positions=True,
    )  # fmt: skip
    windows = [dataset[n] for n in range(len(dataset))]
    assert [each["input_ids"].tolist() for each in windows] == [
        [5, 6, 0, 7, 300, 0, 0],
        [8, 8, 8, 8, 0, 9, 0],
    ]
    assert [each["positions"].tolist() for each in windows] == [
        [0, 1, 2, 0, 1, 2, 0],
        [0, 1, 2, 3, 4, 0, 1],
    ]


@pytest.mark.filterwarnings("ignore")  # of dolma's imports
@pytest.mark.parametrize("vocab_size", [200, 1000, 70_000])
@pytest.mark.parametrize("size", [6, 1000])
def test_dolma(vocab_size: int, size: int, tmp_path: Path) -> None:
    writers = pytest.importorskip("dolma.tokenizer.memmap_writer", reason="dolma is not installed")
    from dolma.tokenizer.data_types import TokenizerOutput

    documents = [[id % vocab_size for id in ids] for ids in DOCUMENTS]  # noqa: A001
    ours = tmp_path / "ours"
    ours.mkdir()
    written = write("dolma", documents, ours, vocab_size=vocab_size, shard_tokens=size)
    kind = {200: np.uint8, 1000: np.uint16, 70_000: np.uint32}[vocab_size]
    left = [
        TokenizerOutput.from_tokens(str(n), "train", n + 1, ids) for n, ids in enumerate(documents)
    ]
    for number in range(len(written) // 2):
        path = tmp_path / f"train-{number:05d}"
        with writers.MemmapWriter(str(path), np.dtype(kind), max_tokens=size) as writer:
            left = writer.write_many(left)
        assert written[f"{path.name}.npy"] == path.with_suffix(".npy").read_bytes()
        rows = gzip.decompress(path.with_suffix(".csv.gz").read_bytes())
        assert gzip.decompress(written[f"{path.name}.csv.gz"]) == rows
    assert left == []
    assert lists(read("dolma", tmp_path)) == lists(read("dolma", ours)) == documents


@pytest.mark.filterwarnings("ignore")  # of OLMo-core's imports
def test_olmo_core(tmp_path: Path) -> None:
    utils = pytest.importorskip("olmo_core.data.utils", reason="OLMo-core is not installed")
    write("dolma", DOCUMENTS, tmp_path)
    path = tmp_path / "train-00000.npy"
    for options in ({}, {"dtype": np.uint16}, {"dtype": np.uint16, "eos_token_id": 0}):
        bounds = list(utils.iter_document_indices(path, **options))
        found = [utils.load_array_slice(path, *each, np.uint16).tolist() for each in bounds]
        assert found == DOCUMENTS
    (tmp_path / "train-00000.csv.gz").unlink()
    utils.write_document_indices(path, dtype=np.uint16, eos_token_id=0)
    assert lists(read("dolma", tmp_path, eos=None)) == DOCUMENTS


@pytest.mark.filterwarnings("ignore")  # of OLMo-core's imports
@pytest.mark.parametrize("vocab_size", [2, 256, 257, 65_536, 65_537])
def test_types_of_olmo_core(vocab_size: int, tmp_path: Path) -> None:
    datasets = pytest.importorskip("olmo_core.data", reason="OLMo-core is not installed")
    tokenizer = datasets.TokenizerConfig(vocab_size=vocab_size, eos_token_id=0, pad_token_id=0)
    config = datasets.NumpyFSLDatasetConfig(
        tokenizer=tokenizer, paths=[], sequence_length=8, work_dir=str(tmp_path)
    )
    from toksmith.tokenfiles.formats import format_of

    assert config.get_dtype() == format_of("dolma").dtype(vocab_size)


@pytest.mark.filterwarnings("ignore")  # of OLMo-core's imports
@pytest.mark.parametrize("vocab_size", [200, 1000, 70_000])
def test_datasets_of_olmo_core(vocab_size: int, tmp_path: Path) -> None:
    olmo = pytest.importorskip("olmo_core.data", reason="OLMo-core is not installed")
    documents = [[id % vocab_size for id in ids] for ids in DOCUMENTS]  # noqa: A001
    files = tmp_path / "files"
    files.mkdir()
    write("dolma", documents, files, vocab_size=vocab_size, shard_tokens=8)
    paths = sorted(map(str, files.glob("*.npy")))
    assert len(paths) == 2
    options: dict[str, Any] = {
        "paths": paths,
        "tokenizer": olmo.TokenizerConfig(vocab_size=vocab_size, eos_token_id=0, pad_token_id=1),
        "work_dir": str(tmp_path / "work"),
    }
    found = olmo.NumpyFSLDatasetConfig(sequence_length=2, **options).build()
    flat = [[*documents[0], *documents[1], *documents[2]], [*documents[3], *documents[4]]]
    windows = [ids[start : start + 2] for ids in flat for start in range(0, len(ids) - 1, 2)]
    assert [found[n]["input_ids"].tolist() for n in range(len(found))] == windows
    found = olmo.NumpyPaddedFSLDatasetConfig(sequence_length=6, **options).build()
    found.prepare()
    rows = [ids + [1] * (6 - len(ids)) for ids in documents]
    assert [found[n]["input_ids"].tolist() for n in range(len(found))] == rows


def test_lines_of_nanogpt(tmp_path: Path) -> None:
    """Its prepare.py at character level, and the lines of train.py and sample.py that read."""
    text = "low lower\nlowest ☃"
    chars = sorted(set(text))
    stoi = {character: number for number, character in enumerate(chars)}
    meta = {"vocab_size": len(chars), "itos": dict(enumerate(chars)), "stoi": stoi}
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    np.array([stoi[character] for character in text], dtype=np.uint16).tofile(theirs / "train.bin")
    (theirs / "meta.pkl").write_bytes(pickle.dumps(meta, 4))
    tokens = toksmith.open_tokens(theirs)
    assert (tokens.ids(0, 1).tolist(), tokens.metadata) == ([stoi[each] for each in text], meta)

    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    tok = toksmith.train(texts=[text], model="char")
    ours = tmp_path / "ours"
    toksmith.tokenize_corpus(
        tmp_path / "a.txt", tokenizer=tok, format="nanogpt", eos=False, output=ours, progress=False
    )
    data = np.memmap(ours / "train.bin", dtype=np.uint16, mode="r")
    found = pickle.loads((ours / "meta.pkl").read_bytes())
    assert found["vocab_size"] == tok.vocab_size
    assert [found["stoi"][each] for each in text] == data.tolist() == tok.encode(text)
    assert "".join(found["itos"][number] for number in data.tolist()) == text
    assert (ours / "meta.pkl").read_bytes() == pickle.dumps(found, 4)


def test_lines_of_llmc(tmp_path: Path) -> None:
    """The lines of fineweb.py that cut documents into shards, and those that read a shard."""
    documents = [[0, *ids[:-1]] for ids in DOCUMENTS]
    size = 4
    written = write("llmc", documents, tmp_path, shard_tokens=size)
    stream: list[int] = []
    shards = []
    for tokens in documents:
        stream += tokens
        while len(stream) >= size:
            shards.append(stream[:size])
            stream = stream[size:]
    shards += [stream] if stream else []
    for number, (name, content) in enumerate(written.items()):
        assert name == f"train_{number:06d}.bin"
        header = np.frombuffer(content, dtype="<i4", count=256)
        assert (header[0], header[1], header[3:].any()) == (20240520, 1, False)
        assert len(content) == 256 * 4 + 2 * header[2]
        ids: Any = np.frombuffer(content, dtype=np.uint16, offset=1024)
        assert ids.tolist() == shards[number]
    assert len(written) == len(shards)
