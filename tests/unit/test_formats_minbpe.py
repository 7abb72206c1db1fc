"""Reading and writing minbpe's .model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.kits.bpe import BYTES, model, pipeline, plain_token
from toksmith import formats
from toksmith.errors import FormatError, UnsupportedError
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter

GOOD = "minbpe v1\n[a-z]+\n1\n<|end|> 258\n97 98\n256 99\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    return path


def test_read_by_hand(tmp_path: Path) -> None:
    pipe = formats.read(written(tmp_path, GOOD))
    assert pipe.model.vocab[256:] == (b"ab", b"abc")
    assert pipe.model.merges.tolist() == [[97, 98, 256], [256, 99, 257]]
    assert pipe.splitter == PatternSplitter("[a-z]+", gaps="drop")
    assert pipe.framing.special_tokens == {"<|end|>": 258}


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_ends(tmp_path: Path, ending: str) -> None:
    assert formats.read(written(tmp_path, GOOD.replace("\n", ending))) == formats.read(
        written(tmp_path, GOOD)
    )


def test_write_by_hand(tmp_path: Path) -> None:
    pairs = ((b"a", b"b"), (b"\n", b" "), (b"\xe2", b"\x80"))
    pipe = pipeline(None, {"<|end|>": 259}, pairs=pairs)
    formats.write(pipe, tmp_path / "tok.model")
    assert (tmp_path / "tok.model").read_text() == (
        "minbpe v1\n\n1\n<|end|> 259\n97 98\n10 32\n226 128\n"
    )
    shown = (tmp_path / "tok.vocab").read_text().split("\n")
    assert shown[10] == "[\\u000a] 10"
    assert shown[256:] == [
        "[a][b] -> [ab] 256",
        "[\\u000a][ ] -> [\\u000a ] 257",
        "[�][�] -> [�] 258",
        "[<|end|>] 259",
        "",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tok.model", "tok.vocab"]


@pytest.mark.parametrize(
    "split", [None, "gpt2", "gpt4", "cl100k-tiktoken", "o200k", r"\w+|\s", "a|b "]
)
def test_round_trip(tmp_path: Path, split: str | None) -> None:
    formats.write(pipeline(split), tmp_path / "a.model")
    assert formats.read(tmp_path / "a.model") == pipeline(split)


def test_equal_bytes_under_two_ids(tmp_path: Path) -> None:
    vocab = (*BYTES, b"aa", b"aaa", b"aaa")
    merges = np.array([[97, 97, 256], [256, 97, 257], [97, 256, 258]], np.uint32)
    pipe = Pipeline(BPE(vocab, merges))
    formats.write(pipe, tmp_path / "a.model")
    assert formats.read(tmp_path / "a.model") == pipe


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("minbpe v1", "ends after line 1"),
        ("minbpe v1\n\n", "ends after line 2"),
        ("minbpe v1\n[a\n0\n", "is not a regular expression"),
        ("minbpe v1\n\nmany\n", "line 3 is 'many'"),
        ("minbpe v1\n\n-1\n", "line 3 is '-1'"),
        ("minbpe v1\n\n2\n<a> 256\n", "in the middle of 2 special tokens"),
        ("minbpe v1\n\n1\n<a>\n", "line 4 is '<a>'"),
        ("minbpe v1\n\n1\n<a> x\n", "line 4: special token '<a>' has id 'x'"),
        ("minbpe v1\n\n1\n<a> 99999999\n", "line 4: special token"),
        ("minbpe v1\n\n1\n<a> 97\n", "'<a>' has id 97, which the model's vocabulary gives to b'a'"),
        ("minbpe v1\n\n2\n<a> 256\n<b> 256\n", "share id 256"),
        ("minbpe v1\n\n2\n<a> 256\n<a> 257\n", "'<a>' occurs twice"),
        ("minbpe v1\n\n0\n97 98\n97 98\n", "merge 1 (97, 98) repeats merge 0"),
        ("minbpe v1\n\n0\n97 256\n", "line 4 merges 97 and 256 into 256"),
        ("minbpe v1\n\n0\n97\n", "line 4 is '97'"),
        ("minbpe v1\n\n0\n97 1_0\n", "line 4 is '97 1_0'"),
        ("minbpe v1\n\n0\n97 98\n\n97 99\n", "line 5 is ''"),
        ("minbpe v1\n\n0\n97 ٩٨\n", "line 4 is"),
        ("minbpe v1\n\n0\n97 98" + "9" * 5000 + "\n", "line 4 is"),
        ("minbpe v1\n\n0\n97 97\n" + "".join(f"{i} {i}\n" for i in range(256, 300)), "bytes"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, reason: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        formats.read(path)
    assert caught.value.path == str(path)
    assert reason in caught.value.reason


def test_wrong_magic(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="line 1 is 'minbpe v2'"):
        formats.read(written(tmp_path, "minbpe v2\n\n0\n"), format="minbpe")


def shuffled() -> BPE:
    vocab = (*reversed(BYTES), b"ab")
    return BPE(vocab, np.array([[158, 157, 256]], np.uint32))


def late() -> BPE:
    return BPE((*BYTES, b"", b"ab"), np.array([[97, 98, 257]], np.uint32))


def unmade() -> BPE:
    return BPE((*BYTES, b"ab", b"xyz"), np.array([[97, 98, 256]], np.uint32))


def whole() -> BPE:
    # bc comes first, so that merging never makes abc of "abc".
    pairs = ((b"b", b"c"), (b"a", b"b"), (b"ab", b"c"))
    return model(pairs, whole=True)


@pytest.mark.parametrize(
    ("pipe", "reason"),
    [
        (pipeline(special={"<a b>": 400}), "cuts the line at white space"),
        (pipeline(special={"\u2003": 400}), "cuts the line at white space"),
        (pipeline(PatternSplitter("a|b ", "drop")), "one stripped line"),
        (pipeline(PatternSplitter(" a|b", "drop")), "one stripped line"),
        (pipeline(PatternSplitter("a|\n|b", "drop")), "one stripped line"),
        (pipeline(PatternSplitter("a*")), "can match the empty string"),
        (pipeline(framing=plain_token("x", 400)), "no special token"),
        (pipeline(framing=Framing(prefix=(1,))), "template"),
        (Pipeline(shuffled()), "ids 0..255"),
        (Pipeline(late()), "merge 0 (97, 98) gives id 257"),
        (Pipeline(unmade()), "no merge produces"),
        (Pipeline(whole()), "this model encodes it to id"),
    ],
)
def test_pipelines_that_the_format_cannot_hold(tmp_path: Path, pipe: Pipeline, reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        formats.write(pipe, tmp_path / "a.model")
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_whole_chunks_that_merging_makes_anyway(tmp_path: Path) -> None:
    formats.write(pipeline(whole=True), tmp_path / "a.model")
    assert formats.read(tmp_path / "a.model") == pipeline()
