"""``toksmith.verify`` with the libraries that tokenizers come from, and its built-in texts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import toksmith
from tests.kits.bpe import pipeline
from toksmith import Tokenizer
from toksmith.errors import MissingExtraError, OptionError, UnsupportedError
from toksmith.measure.against import LibraryDifference, Original, shortened
from toksmith.measure.hard_texts import hard_texts, is_unassigned, random_strings
from toksmith.measure.peers import LIBRARIES, load_peer

SHARED = [
    ("gpt2_tokenizer.json", "tokenizers"),
    ("gpt2_tokenizer.json", "tiktoken"),
    ("bert_uncased_tokenizer.json", "tokenizers"),
    ("spm_toy400_bpe.model", "sentencepiece"),
    ("spm_toy400_bpe.model", "tokenizers"),
]
FEW = Tokenizer(pipeline())


@pytest.mark.parametrize(("name", "library"), SHARED)
def test_published_files(shared: Path, name: str, library: str) -> None:
    pytest.importorskip(library)
    assert toksmith.verify(shared / "data/vocab" / name, against=library) is None


@pytest.mark.parametrize("library", ["tokenizers", "tiktoken"])
def test_a_tokenizer_that_was_never_saved(library: str) -> None:
    pytest.importorskip(library)
    assert toksmith.verify(FEW, against=library) is None


def test_a_difference_of_a_library() -> None:
    pytest.importorskip("tiktoken")
    original = Original("tiktoken", FEW, FEW)
    original._tokenizer = FEW.with_special_tokens({"<|other|>": 400})
    text = "a the <|other|> then"
    assert [place for place, _ in original.differing(["the", text, "then", text])] == [1, 3]
    found = original.first_difference(["the", text])
    assert found == LibraryDifference(
        library=original.library,
        text=text,
        part="<|other|>",
        special="encode",
        add_special_tokens=False,
        place=0,
        left_ids=[400],
        right_ids=FEW.encode("<|other|>"),
        left_tokens=["<|other|>"],
        right_tokens=FEW.encoding("<|other|>").strings,
        unassigned="",
    )


def test_characters_of_other_unicode_versions_are_named() -> None:
    pytest.importorskip("tiktoken")
    original = Original("tiktoken", FEW, FEW)
    original._tokenizer = FEW.with_special_tokens({"\U0001247a": 400})
    found = original.first_difference(["a \U0001247a b"])
    assert found is not None
    assert found.unassigned == "\U0001247a"
    assert (is_unassigned("\U0001247a"), is_unassigned("\U00016ec1"), is_unassigned("a")) == (
        True,
        True,
        False,
    )


def test_libraries_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, library in LIBRARIES.items():
        monkeypatch.setitem(sys.modules, library.module, None)
        with pytest.raises(MissingExtraError, match=f"pip install {library.package}$"):
            toksmith.verify(FEW, against=name)


def test_arguments() -> None:
    with pytest.raises(OptionError, match="give either b or against="):
        toksmith.verify(FEW)
    with pytest.raises(OptionError, match="give either b or against="):
        toksmith.verify(FEW, FEW, against="tiktoken")
    with pytest.raises(OptionError, match="with a library, only ids are compared"):
        toksmith.verify(FEW, against="tiktoken", by="spans")
    with pytest.raises(OptionError, match="against is 'sacremoses': use one of transformers, tok"):
        toksmith.verify(FEW, against="sacremoses")


def test_a_tokenizer_that_the_library_cannot_hold(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    pieces = toksmith.train(texts=["low lower"], model="unigram", vocab_size=8)
    with pytest.raises(UnsupportedError, match="tiktoken holds byte-level BPE"):
        toksmith.verify(pieces, against="tiktoken")
    damaged = tmp_path / "tokenizer.json"
    FEW.save(damaged)
    damaged.write_text(damaged.read_text().replace('"ByteLevel"', '"BytesLevel"'))
    with pytest.raises(UnsupportedError, match=r"tokenizers cannot load .*tokenizer\.json: "):
        load_peer("tokenizers", FEW, damaged)


def test_a_text_on_which_the_library_fails(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    toksmith.train(texts=["low"], model="word", vocab_size=2, unk_token="?").save(path)
    path.write_text(path.read_text().replace('"unk_token":"?"', '"unk_token":"gone"'))
    tok = toksmith.train(texts=["low"], model="word", vocab_size=2, unk_token="?")
    original = Original("tokenizers", tok, tok)
    original._peer = load_peer("tokenizers", tok, path)
    with pytest.raises(UnsupportedError, match=r"^tokenizers [0-9.]+ fails on a text: "):
        original.first_difference(["high"])


def test_two_tokenizers() -> None:
    other = FEW.with_split("gpt4")
    assert toksmith.verify(FEW, FEW) is None
    found = toksmith.verify(FEW, FEW.with_special_tokens({"<x>": 400}), special="encode")
    assert found is not None
    assert "<x>" in found.text
    assert toksmith.verify(FEW, other, texts=["the then"]) is None


def test_hard_texts_are_the_same_each_time() -> None:
    texts = hard_texts(["<|end|>"], count=300)
    assert texts == hard_texts(["<|end|>"], count=300)
    assert len(texts) == len(set(texts))
    assert random_strings((), 50) != random_strings((), 50, seed=1)
    joined = "".join(texts)
    assert {"it's", "it'ſ", "\r\n\r\n\r\n", "x86", "a" * 3_000, "<|END|>"} <= set(texts)
    assert sum(map(is_unassigned, set(joined))) == 4  # noncharacters, and one reserved for good


def test_a_short_part_of_a_text_is_found() -> None:
    assert shortened("x" * 300 + "ab" + "y" * 300, lambda part: "ab" in part) == "ab"
    assert shortened("", bool) == ""
