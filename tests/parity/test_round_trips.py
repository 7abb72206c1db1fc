"""Published files in every format that holds them: the same ids there, on real text."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import toksmith
from toksmith import formats
from toksmith.errors import UnsupportedError
from toksmith.measure.verify import find_differing, first_difference, same_vocabulary

SEPARATOR = "<|endoftext|>"
MOST = 60_000
"""Characters of text of each kind."""

HOLDING = {
    "llama2.model": ("sentencepiece", "huggingface"),
    "spm_toy400_bpe.model": ("sentencepiece", "huggingface"),
    "spm_test_unigram.model": ("sentencepiece",),
    "english8k_unigram.model": ("sentencepiece",),
    "bert_uncased_tokenizer.json": ("huggingface", "wordpiece"),
    "bert_uncased_vocab.txt": ("huggingface", "wordpiece"),
    "t5_envit5_tokenizer.json": ("huggingface",),
    "gpt2_tokenizer.json": ("huggingface", "tiktoken", "gpt2"),
}
FORMATS = tuple(formats.WRITTEN)


@pytest.fixture(scope="module")
def texts(shared: Path) -> list[str]:
    """Documents of each corpus, and random strings of what is special somewhere."""
    found = []
    for name in ("english", "code", "multilingual", "cjk"):
        with (shared / "data/corpus" / f"{name}.txt").open(encoding="utf-8") as file:
            found += file.read(MOST).split(SEPARATOR)
    rng = random.Random("round trips")
    parts = [
        "low",
        " ",
        "  ",
        "\u2581",
        "\n",
        "\t",
        "é",
        "e\u0301",
        "日本",
        "ａ",
        "##",
        "\u3000",
        ".",
    ]
    found += ["".join(rng.choices(parts, k=rng.randrange(10))) for _ in range(500)]
    return found


@pytest.mark.parametrize("name", HOLDING)
def test_published_files(shared: Path, tmp_path: Path, texts: list[str], name: str) -> None:
    tok = toksmith.load(shared / "data/vocab" / name)
    for form in FORMATS:
        target = tmp_path / form
        if form not in HOLDING[name]:
            with pytest.raises(UnsupportedError):
                tok.save(target, format=form)
            continue
        tok.save(target, format=form)
        again = toksmith.load(target, format=form)
        assert same_vocabulary(tok, again)
        assert first_difference(tok, again, "\n".join(texts[:3]), by="ids") is None
        assert find_differing(tok, again, texts, by="ids") == []
        assert find_differing(tok, again, texts[::10], by="ids", add_special_tokens=True) == []


@pytest.mark.parametrize("name", ["llama2.model", "spm_toy400_bpe.model"])
def test_tokenizers_and_sentencepiece_agree_on_converted_files(
    shared: Path, tmp_path: Path, texts: list[str], name: str
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    sentencepiece = pytest.importorskip("sentencepiece")
    toksmith.load(shared / "data/vocab" / name).save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    own = sentencepiece.SentencePieceProcessor(model_file=str(shared / "data/vocab" / name))
    for text in (text for text in texts if "\0" not in text):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert ids == own.encode(text)
        assert theirs.decode(ids) == own.decode(ids)
