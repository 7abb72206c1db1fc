"""megatron.core with toksmith's tokenizer against megatron.core with its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith.compat.megatron import TextTokenizer

pytest.importorskip("megatron.core", reason="megatron-core is not installed")
pytest.importorskip("transformers")

import megatron.core.tokenizers.text.libraries as libraries
from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
from megatron.core.datasets.indexed_dataset import DType, IndexedDatasetBuilder
from megatron.core.tokenizers import MegatronTokenizer

STOCK = libraries.HuggingFaceTokenizer
TEXTS = [
    "It was the best of times",
    "",
    "né ☃ 😀 <|endoftext|> 1234",
    " low  lower\n",
    "a <|image|> b",
]
ATTRIBUTES = (
    *("pad", "eod", "bos", "eos", "unk", "mask", "cls", "sep", "pad_id", "bos_id", "eos_id"),
    *("unk_id", "mask_id", "cls_id", "sep_id", "vocab_size", "vocab", "unique_identifiers"),
    *("additional_special_tokens_ids", "vocab_file", "merges_file", "chat_template"),
)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    toksmith.get("toksmith-small").save(f"{tmp_path / 'model'}/")
    config = tmp_path / "model" / "tokenizer_config.json"
    settings = json.loads(config.read_text())
    settings |= {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>"}
    config.write_text(json.dumps(settings))
    return str(tmp_path / "model")


def build(monkeypatch: pytest.MonkeyPatch, library: type, path: str, **options: Any) -> Any:
    monkeypatch.setattr(libraries, "HuggingFaceTokenizer", library)
    metadata = {"library": "huggingface", "model_type": "gpt"}
    return MegatronTokenizer.from_pretrained(path, metadata, **options)


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("special", [[], ["<|image|>"]])
def test_megatron_finds_the_same(
    monkeypatch: pytest.MonkeyPatch, folder: str, framed: bool, special: list[str]
) -> None:
    options = {"include_special_tokens": framed, "additional_special_tokens": special}
    ours = build(monkeypatch, TextTokenizer, folder, **options)
    theirs = build(monkeypatch, STOCK, folder, **options)
    for name in ATTRIBUTES:
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.inv_vocab == theirs.inv_vocab
    for name in ("eos_token", "mask_token", "additional_special_tokens", "original_vocab_size"):
        assert getattr(ours._tokenizer, name) == getattr(theirs._tokenizer, name), name
    for text in TEXTS:
        ids = theirs.tokenize(text)
        assert ours.tokenize(text) == ids
        assert ours._tokenizer.ids_to_text(ids, True) == theirs._tokenizer.ids_to_text(ids, True)
        tokens = theirs._tokenizer.text_to_tokens(text)
        assert ours._tokenizer.text_to_tokens(text) == tokens
        assert ours._tokenizer.tokens_to_ids(tokens) == theirs._tokenizer.tokens_to_ids(tokens)
        assert ours._tokenizer.tokens_to_text(tokens) == theirs._tokenizer.tokens_to_text(tokens)


def test_a_data_set_for_gpt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tok = build(monkeypatch, TextTokenizer, "toksmith-small", include_special_tokens=False)
    documents = [[*tok.tokenize(f"It was the best of times, {n} times. " * 8), tok.eod]
                 for n in range(40)]  # fmt: skip
    writer = IndexedDatasetBuilder(f"{tmp_path}/t.bin", dtype=DType.optimal_dtype(tok.vocab_size))
    for ids in documents:
        writer.add_document(np.array(ids), [len(ids)])
    writer.finalize(f"{tmp_path}/t.idx")
    config = GPTDatasetConfig(
        random_seed=1,
        sequence_length=64,
        blend=([f"{tmp_path}/t"], None),
        split="80,10,10",
        path_to_cache=f"{tmp_path}/cache",
        tokenizer=tok,
        reset_position_ids=False,
        reset_attention_mask=False,
        eod_mask_loss=True,
        create_attention_mask=False,
    )
    sizes = [20, 2, 2]
    found, *_ = BlendedMegatronDatasetBuilder(GPTDataset, sizes, lambda: True, config).build()
    again, *_ = BlendedMegatronDatasetBuilder(GPTDataset, sizes, lambda: True, config).build()
    flat = [i for ids in documents for i in ids]
    for n in range(20):
        tokens, mask = found[n]["tokens"].tolist(), found[n]["loss_mask"].tolist()
        assert again[n]["tokens"].tolist() == tokens  # from the cache
        assert len(tokens) == 64
        assert {*tokens} <= {*flat}
        assert [i == tok.eod for i in tokens] == [not kept for kept in mask]
        assert "times" in tok.detokenize(tokens)
