"""Files written here encode the same in the libraries whose formats they are.

Our side is the reference in plain Python, so that a fault of a format is not hidden by another.
There is no minbpe package; a reader and encoder of its files, written from their description,
stands in for it.
"""

from __future__ import annotations

import json
import random
from binascii import b2a_base64
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex

from tests.kits.bpe import BYTES, TEXTS, model, pipeline
from toksmith import formats
from toksmith.errors import UnsupportedError
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import encode_chunk, merge_table
from toksmith.splitters import PatternSplitter, splitter
from toksmith.stages.split_patterns import chunk_spans

tiktoken = pytest.importorskip("tiktoken")
tokenizers = pytest.importorskip("tokenizers")

SPLITS = [None, "gpt2", "gpt4", "cl100k-tiktoken", "o200k", "[a-z]+", r"\s+(?!\S)|\p{L}{2}|é"]


def encode(pipe: Pipeline, text: str) -> list[int]:
    """Encode, with the literals of all added tokens as added tokens."""
    literals = [token.content for token in pipe.framing.added_tokens]
    table = merge_table(pipe.model)
    ids: list[int] = []
    for start, end, token in pipe.framing.segments(text.encode(), literals):
        part = text.encode()[start:end]
        if token is not None:
            ids.append(token.id)
            continue
        for chunk in chunk_spans(pipe.splitter, part):
            ids += encode_chunk(pipe.model, table, part[chunk.start : chunk.end])
    return ids


class MinBPE:
    """Reads a ``.model`` file and encodes, as its description says: strip, split, count on."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8") as file:
            assert file.readline().strip() == "minbpe v1"
            self.pattern = file.readline().strip()
            self.special = {}
            for _ in range(int(file.readline().strip())):
                content, token_id = file.readline().strip().split()
                self.special[content] = int(token_id)
            pairs = [tuple(map(int, line.split())) for line in file]
        self.merges = {pair: 256 + place for place, pair in enumerate(pairs)}
        self.vocab = {byte: bytes([byte]) for byte in range(256)}
        for (left, right), token_id in self.merges.items():
            self.vocab[token_id] = self.vocab[left] + self.vocab[right]

    def encode(self, text: str) -> list[int]:
        ids = []
        cut = "(" + "|".join(map(regex.escape, self.special)) + ")" if self.special else r"(?!)"
        for part in regex.split(cut, text):
            if part in self.special:
                ids.append(self.special[part])
                continue
            chunks = regex.findall(self.pattern, part) if self.pattern else [part]
            for chunk in chunks:
                ids += self._merge(list(chunk.encode()))
        return ids

    def _merge(self, ids: list[int]) -> list[int]:
        while len(ids) > 1:
            pair = min(pairwise(ids), key=lambda p: self.merges.get(p, 1e9))
            if pair not in self.merges:
                break
            place, merged = 0, []
            while place < len(ids):
                met = tuple(ids[place : place + 2]) == pair
                merged.append(self.merges[pair] if met else ids[place])
                place += 2 if met else 1
            ids = merged
        return ids


@pytest.mark.parametrize("split", SPLITS)
def test_minbpe(tmp_path: Path, split: str | None) -> None:
    pipe = pipeline(split)
    formats.write(pipe, tmp_path / "a.model")
    theirs = MinBPE(tmp_path / "a.model")
    assert theirs.special == pipe.framing.special_tokens
    assert list(theirs.vocab.values()) == list(pipe.model.vocab)
    for text in TEXTS:
        assert theirs.encode(text) == encode(pipe, text)


def tiktoken_of(path: Path) -> Any:
    from tiktoken.load import load_tiktoken_bpe

    held = json.loads(path.with_name(path.name + ".json").read_text())
    return tiktoken.Encoding(
        "written",
        pat_str=r"[\s\S]+" if held["pattern"] is None else held["pattern"],
        mergeable_ranks=load_tiktoken_bpe(str(path)),
        special_tokens=held["special_tokens"],
    )


@pytest.mark.parametrize("split", SPLITS)
def test_tiktoken(tmp_path: Path, split: str | None) -> None:
    pipe = pipeline(split)
    formats.write(pipe, tmp_path / "a.tiktoken")
    theirs = tiktoken_of(tmp_path / "a.tiktoken")
    for text in TEXTS:
        assert theirs.encode(text, allowed_special="all") == encode(pipe, text)
    assert theirs.decode_bytes([265, 300]) == b"\x00\xff<|pad|>"


def shuffled_ranks(rng: random.Random) -> tuple[bytes, ...]:
    """A vocabulary that nobody trained: short strings of three letters in any order."""
    tokens = {bytes(rng.choices(b"abc", k=rng.randint(2, 5))) for _ in range(rng.randint(3, 14))}
    return (*BYTES, *rng.sample(sorted(tokens), len(tokens)))


def test_random_ranks_encode_as_in_tiktoken(tmp_path: Path) -> None:
    rng = random.Random("ranks")
    path = tmp_path / "a.tiktoken"
    for _ in range(150):
        ranks = {token: rank for rank, token in enumerate(shuffled_ranks(rng))}
        path.write_bytes(
            b"".join(b2a_base64(t, newline=False) + b" %d\n" % r for t, r in ranks.items())
        )
        theirs = tiktoken.Encoding(
            "any", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={}
        )
        pipe = formats.read(path, split=None)
        for _ in range(20):
            text = "".join(rng.choices("abc", k=rng.randint(1, 12)))
            assert encode(pipe, text) == theirs.encode(text), (list(ranks)[256:], text)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("whole", [False, True])
def test_tokenizers(tmp_path: Path, split: str | None, whole: bool) -> None:
    pipe = pipeline(split, whole=whole)
    formats.write(pipe, tmp_path / "a.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    for text in TEXTS:
        assert theirs.encode(text, add_special_tokens=False).ids == encode(pipe, text)
        assert theirs.decode(theirs.encode(text).ids, skip_special_tokens=False) == text
    assert theirs.token_to_id("<|pad|>") == 300


def test_tokenizers_drops_gaps(tmp_path: Path) -> None:
    pipe = pipeline(PatternSplitter("[a-z]+", gaps="drop"))
    formats.write(pipe, tmp_path / "a.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    for text in TEXTS:
        assert theirs.encode(text).ids == encode(pipe, text)


def test_tokenizers_takes_whole_chunks(tmp_path: Path) -> None:
    merges = model(((b"b", b"c"), (b"a", b"b"), (b"ab", b"c")), whole=True)
    formats.write(Pipeline(merges, splitter("gpt2")), tmp_path / "a.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    assert theirs.encode("abc abc").ids == [258, 32, 97, 256]
    assert encode(Pipeline(merges, splitter("gpt2")), "abc abc") == [258, 32, 97, 256]


def test_tokenizers_framing(tmp_path: Path) -> None:
    added = (AddedToken("<s>", 270), AddedToken("the", 257, False), AddedToken("終", 400))
    pipe = pipeline(framing=Framing(added, prefix=(270, 400), suffix=(257,)))
    formats.write(pipe, tmp_path / "a.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    for text in (*TEXTS, "the終<s> the"):
        ids = encode(pipe, text)
        assert theirs.encode(text, add_special_tokens=False).ids == ids
        assert theirs.encode(text).ids == [270, 400, *ids, 257]
    theirs.save(str(tmp_path / "b.json"))
    assert formats.read(tmp_path / "b.json") == pipe


def test_gpt2(tmp_path: Path) -> None:
    pipe = pipeline("gpt2", {"<|end|>": 266})
    formats.write(pipe, tmp_path / "folder", "gpt2")
    encoder, merges = tmp_path / "folder/encoder.json", tmp_path / "folder/vocab.bpe"
    theirs = tokenizers.ByteLevelBPETokenizer.from_file(str(encoder), str(merges))
    theirs.add_special_tokens(["<|end|>"])
    for text in TEXTS:
        assert theirs.encode(text).ids == encode(pipe, text)


def test_gpt2_files_are_read_by_tiktoken(shared: Path, tmp_path: Path) -> None:
    from tiktoken.load import data_gym_to_mergeable_bpe_ranks

    pipe = formats.read(shared / "data/vocab/gpt2_tokenizer.json")
    formats.write(pipe, tmp_path / "folder", "gpt2")
    ranks = data_gym_to_mergeable_bpe_ranks(
        str(tmp_path / "folder/vocab.bpe"), str(tmp_path / "folder/encoder.json")
    )
    assert ranks == pipe.model.ids


@pytest.mark.parametrize("to", ["a.tiktoken", "a.json", "folder"])
def test_gpt2_through_every_format(shared: Path, tmp_path: Path, to: str) -> None:
    pipe = formats.read(shared / "data/vocab/gpt2_encoder.json")
    formats.write(pipe, tmp_path / to)
    again = formats.read(tmp_path / to)
    assert (again.model.vocab, again.framing, again.splitter) == (
        pipe.model.vocab,
        pipe.framing,
        pipe.splitter,
    )
    assert np.array_equal(again.model.merges, pipe.model.merges)
    if to == "a.json":
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / to))
    elif to == "folder":
        return
    else:
        theirs = tiktoken_of(tmp_path / to)
    encode_there: Callable[[str], Any] = theirs.encode
    for text in TEXTS:
        found = encode_there(text)
        assert (found if isinstance(found, list) else found.ids) == encode(pipe, text)


def test_gpt2_has_no_minbpe_form(shared: Path, tmp_path: Path) -> None:
    pipe = formats.read(shared / "data/vocab/gpt2_encoder.json")
    with pytest.raises(UnsupportedError, match="byte 0x00 has id 188"):
        formats.write(pipe, tmp_path / "a.model")


def test_equal_bytes_in_minbpe(tmp_path: Path) -> None:
    vocab = (*BYTES, b"aa", b"aaa", b"aaa")
    merges = np.array([[97, 97, 256], [256, 97, 257], [97, 256, 258]], np.uint32)
    pipe = Pipeline(BPE(vocab, merges))
    formats.write(pipe, tmp_path / "a.model")
    for text in ("a" * size for size in range(9)):
        assert MinBPE(tmp_path / "a.model").encode(text) == encode(pipe, text)


@pytest.mark.parametrize(
    ("name", "split"),
    [("gpt2", "gpt2"), ("cl100k_base", "cl100k-tiktoken"), ("o200k_base", "o200k")],
)
def test_published_ranks_in_tokenizers(
    shared: Path,
    tmp_path: Path,
    corpus: Callable[..., bytes],
    tiktoken_encoding: Callable[[str], Any],
    name: str,
    split: str,
) -> None:
    """tiktoken's own encodings, converted: the patterns mean the same in another engine."""
    specials = tiktoken_encoding(name)._special_tokens
    path = shared / f"data/vocab/{name}.tiktoken"
    formats.write(formats.read(path, split=split, special_tokens=specials), tmp_path / "a.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    texts = [corpus(f"{part}.txt", 40_000).decode() for part in ("code", "multilingual", "cjk")]
    for text in (*texts, *TEXTS, "a\n  ", "IT'S it'ſ 1234567 １２３４\r\n\r\n  x"):
        expected = tiktoken_encoding(name).encode(text, allowed_special="all")
        assert theirs.encode(text).ids == expected
