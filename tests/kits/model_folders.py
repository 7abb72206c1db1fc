"""Folders of transformers' tokenizer classes, made of the shared vocabularies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import toksmith

Write = Callable[[Path, Path], None]
"""Writes the vocabulary of a class into a folder, from the folder of the shared vocabularies."""

_ROBERTA = ("<s>", "<pad>", "</s>", "<unk>")
_FUNNEL = ("<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>")


def _pair(first: tuple[str, ...] = (), last: tuple[str, ...] = ("<|endoftext|>",)) -> Write:
    """Return the writer of GPT-2's vocabulary between other tokens."""

    def write(shared: Path, folder: Path) -> None:
        ids = json.loads((shared / "gpt2_encoder.json").read_text())
        del ids["<|endoftext|>"]
        tokens = [*first, *sorted(ids, key=ids.__getitem__), *last]
        (folder / "vocab.json").write_text(json.dumps({t: i for i, t in enumerate(tokens)}))
        shutil.copyfile(shared / "gpt2_vocab.bpe", folder / "merges.txt")

    return write


def _clip(shared: Path, folder: Path) -> None:
    """Write a vocabulary of spelled bytes, each also at the end of a word, and of a few words."""
    pairs = "t h,th e</w>,w o,r d,wo rd,n a,word s</w>,1 2</w>,Ã ¯,na Ã¯,' s</w>"
    merges = [pair.split(" ") for pair in pairs.split(",")]
    letters = list(json.loads((shared / "gpt2_encoder.json").read_text()))[:256]
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), *map("".join, merges)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({t: i for i, t in enumerate(tokens)}))
    lines = ["#version: 0.2", *map(" ".join, merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n")


def _words(*last: str) -> Write:
    """Return the writer of BERT's vocabulary before other tokens."""

    def write(shared: Path, folder: Path) -> None:
        tokens = (shared / "bert_uncased_vocab.txt").read_text()
        (folder / "vocab.txt").write_text(tokens + "".join(f"{token}\n" for token in last))

    return write


def _model(name: str, source: str) -> Write:
    """Return the writer of a SentencePiece model under another name."""

    def write(shared: Path, folder: Path) -> None:
        shutil.copyfile(shared / source, folder / name)

    return write


def _nothing(shared: Path, folder: Path) -> None:
    """Write no vocabulary: the ids are bytes."""


def _pegasus(shared: Path, folder: Path) -> None:
    """Write a model whose unknown piece is the third, as in Pegasus."""
    toksmith.train(
        texts=["hello world, it's the 1st of the word list: low lower lowest"] * 9,
        model="sentencepiece-unigram",
        vocab_size=30,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        normalization_rule_name="identity",
    ).save(folder / "spiece.model")


_roberta = _pair(_ROBERTA, ("<mask>",))
_whisper = _pair((), ("<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"))
_unigram, _llama = "english8k_unigram.model", "llama2.model"

FOLDERS: dict[str, Write] = {
    **dict.fromkeys(("GPT2", "GPTNeoX", "Cohere", "Qwen2"), _pair()),
    **dict.fromkeys(("Roberta", "Bart", "Blenderbot", "Deberta", "LED", "Mvp"), _roberta),
    **dict.fromkeys(("Herbert", "OpenAIGPT"), _roberta),
    "Whisper": _whisper,
    "CLIP": _clip,
    **dict.fromkeys(("Bert", "DPRQuestionEncoder", "Lxmert", "MobileBert"), _words()),
    "Funnel": _words(*_FUNNEL),
    "MPNet": _words("<s>", "</s>", "<pad>", "<mask>"),
    "Splinter": _words("[QUESTION]"),
    **{
        name: _model(file, _unigram)
        for name, file in {
            "Albert": "spiece.model",
            "Barthez": "sentencepiece.bpe.model",
            "BigBird": "spiece.model",
            "Camembert": "sentencepiece.bpe.model",
            "DebertaV2": "spm.model",
            "FNet": "spiece.model",
            "MBart": "sentencepiece.bpe.model",
            "MBart50": "sentencepiece.bpe.model",
            "RemBert": "sentencepiece.model",
            "T5": "spiece.model",
            "VideoPrism": "spiece.model",
            "XLMRoberta": "sentencepiece.bpe.model",
            "XLNet": "spiece.model",
        }.items()
    },
    **dict.fromkeys(("ByT5", "Perceiver"), _nothing),
    "Pegasus": _pegasus,
    **dict.fromkeys(
        ("Llama", "CodeLlama", "Gemma", "Siglip2", "Parakeet", "PreTrained"),
        _model("tokenizer.model", _llama),
    ),
    "Reformer": _model("spiece.model", _llama),
}
"""The writer of the vocabulary of each class, by its name without "Tokenizer"."""


def write_folder(name: str, shared: Path, folder: Path, **config: object) -> Path:
    """Write a folder without tokenizer.json, and return it.

    Args:
        name: a key of ``FOLDERS``.
        shared: the folder of the shared vocabularies.
        folder: the folder to make.
        config: entries of tokenizer_config.json besides the class.
    """
    folder.mkdir(parents=True, exist_ok=True)
    FOLDERS[name](shared, folder)
    held = {"tokenizer_class": f"{name}Tokenizer"} | config
    (folder / "tokenizer_config.json").write_text(json.dumps(held))
    return folder
