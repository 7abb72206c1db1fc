"""The tokenizer_config.json written for transformers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.framing import AddedToken, Framing, Padding, Template, Truncation


def held(folder: Path, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / name).read_text())
    return found


def test_a_trained_tokenizer(tmp_path: Path) -> None:
    special = ["<|endoftext|>", "<pad>", "<|tool|>"]
    tok = toksmith.train(texts=["low lower"], vocab_size=262, special_tokens=special)
    tok.save(tmp_path / "mytok")
    known = {"eos_token": "<|endoftext|>", "pad_token": "<pad>"}
    assert held(tmp_path / "mytok", "special_tokens_map.json") == known
    assert held(tmp_path / "mytok", "tokenizer_config.json") == {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        **known,
    }
    again = toksmith.load(tmp_path / "mytok")
    text = "lower<|endoftext|> 5 öl"
    assert again.encode(text, special="encode") == tok.encode(text, special="encode")
    assert again.special_tokens == tok.special_tokens


def test_roles_of_the_pipeline_come_before_the_literals(tmp_path: Path) -> None:
    pipeline = toksmith.train(texts=["low"], vocab_size=256).pipeline
    names = ["<s>", "</s>", "<go>", "<stop>", "<fill>"]
    framing = Framing(
        tuple(AddedToken(name, 256 + place) for place, name in enumerate(names)),
        template=Template.around((258,), (259,)),
        padding=Padding(id=260, token="<fill>", direction="left"),
        truncation=Truncation(128, direction="left"),
    )
    Tokenizer(replace(pipeline, framing=framing)).save(tmp_path / "folder")
    assert held(tmp_path / "folder", "tokenizer_config.json") == {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        "model_max_length": 128,
        "truncation_side": "left",
        "padding_side": "left",
        "bos_token": "<go>",
        "eos_token": "<stop>",
        "pad_token": "<fill>",
    }


def test_bert(tmp_path: Path) -> None:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (tmp_path / "vocab.txt").write_text("\n".join([*special, "a", "b", ""]))
    tok = toksmith.load(tmp_path / "vocab.txt")
    tok.save(tmp_path / "folder/")
    assert held(tmp_path / "folder", "special_tokens_map.json") == {
        "unk_token": "[UNK]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
    }
    assert toksmith.load(tmp_path / "folder").encode("a b", add_special_tokens=True) == [2, 5, 6, 3]


def test_roles_of_a_sentencepiece_model(tmp_path: Path) -> None:
    tok = toksmith.train(
        texts=["low lower lowest"],
        model="sentencepiece-bpe",
        vocab_size=14,
        normalization_rule_name="identity",
        bos_piece="<start>",
    )
    tok.save(tmp_path / "folder")
    assert held(tmp_path / "folder", "special_tokens_map.json") == {
        "bos_token": "<start>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
    }


def test_transformers_reads_it(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tok = toksmith.train(
        texts=["low lower"], vocab_size=262, special_tokens=["<|endoftext|>", "<pad>"]
    )
    tok.save(tmp_path / "mytok")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "mytok")
    assert theirs.encode("lower, öl") == tok.encode("lower, öl")
    assert (theirs.eos_token_id, theirs.pad_token_id) == (260, 261)
    assert theirs.decode(theirs.encode("it 's low .")) == "it 's low ."
