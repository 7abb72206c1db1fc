"""Reading and writing .tiktoken files."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from tests.kits.bpe import BYTES, model, pipeline, plain_token, with_whole
from toksmith import formats
from toksmith.errors import FormatError, OptionError, SplitError, UnsupportedError
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, splitter


def ranks(*more: bytes) -> list[str]:
    return [
        f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate((*BYTES, *more))
    ]


def written(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "a.tiktoken"
    path.write_text("\n".join(lines) + "\n", newline="")
    return path


def test_read_by_hand(tmp_path: Path) -> None:
    path = written(tmp_path, ranks(b"ab", b"abc", b"xyz"))
    pipe = formats.read(path, split="gpt2", special_tokens={"<|end|>": 300})
    assert pipe.model.vocab == (*BYTES, b"ab", b"abc", b"xyz")
    assert pipe.model.merges.tolist() == [[97, 98, 256], [256, 99, 257]]
    assert pipe.model.whole_chunk_first
    assert pipe.splitter == splitter("gpt2")
    assert pipe.framing == Framing.of({"<|end|>": 300})


@pytest.mark.parametrize("split", [None, "gpt2", "cl100k-tiktoken", "o200k", "[a-z]+"])
def test_round_trip_with_its_sidecar(tmp_path: Path, split: str | None) -> None:
    formats.write(pipeline(split), tmp_path / "a.tiktoken")
    assert formats.read(tmp_path / "a.tiktoken") == with_whole(pipeline(split))
    held = json.loads((tmp_path / "a.tiktoken.json").read_text())
    assert held["version"] == 1
    assert held["special_tokens"] == {"<|end|>": 266, "<|pad|>": 300}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tiktoken", "a.tiktoken.json"]


def test_arguments_override_the_sidecar_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    formats.write(pipeline("gpt2"), path)
    assert formats.read(path, split=None).splitter is None
    assert formats.read(path, split="o200k").framing == pipeline().framing
    given = formats.read(path, special_tokens={"<x>": 400})
    assert given.framing == Framing.of({"<x>": 400})
    assert given.splitter == splitter("gpt2")
    assert formats.read(path, special_tokens={}).framing == Framing()


@pytest.mark.parametrize("special", [None, {"<|end|>": 300}])
def test_never_guessed(tmp_path: Path, special: dict[str, int] | None) -> None:
    with pytest.raises(FormatError, match=r"give split= .* and special_tokens="):
        formats.read(written(tmp_path, ranks()), special_tokens=special)


def test_gaps_are_dropped_as_in_tiktoken(tmp_path: Path) -> None:
    pipe = formats.read(written(tmp_path, ranks()), split="[a-z]+")
    assert pipe.splitter == PatternSplitter("[a-z]+", gaps="drop")


@pytest.mark.parametrize("change", ["\r\n", "blank lines", "no last line end", "unordered"])
def test_harmless_variants(tmp_path: Path, change: str) -> None:
    lines = ranks(b"ab", b"abc")
    path = written(tmp_path, lines)
    expected = formats.read(path, split=None)
    if change == "\r\n":
        path.write_text("\r\n".join(lines), newline="")
    elif change == "blank lines":
        path.write_text("\n\n".join(lines) + "\n\n\n", newline="")
    elif change == "no last line end":
        path.write_text("\n".join(lines), newline="")
    else:
        path.write_text("\n".join(reversed(lines)), newline="")
    assert formats.read(path, split=None) == expected


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([*ranks(), "YWI= 5"], "line 257 repeats rank 5 of line 6"),
        ([*ranks(), "YQ== 256"], "line 257 repeats token b'a' of line 98"),
        (ranks()[1:], "1 of the 256 single bytes have no id (0x00)"),
        (["YWI= 0"], "256 of the 256 single bytes have no id"),
        ([*ranks(), "YWI="], "line 257 is b'YWI='"),
        ([*ranks(), "YWI= 256 257"], "line 257 is"),
        ([*ranks(), "YWI= -1"], "line 257 is"),
        ([*ranks(), "YWI= 2.5"], "line 257 is"),
        ([*ranks(), "YWI= 1_0"], "line 257 is"),
        ([*ranks(), "YW! 256"], "line 257 is"),
        ([*ranks(), "Y 256"], "line 257 is"),
        ([*ranks(), "YQ==YQ== 256"], "line 257 is"),
        ([*ranks(), "== 256"], "line 257 is"),
        ([*ranks(), "YWI= 99999999"], "an id is an integer in 0..16777215"),
        ([*ranks(), "YWI= " + "9" * 6000], "line 257 is"),
        ([*ranks(), "YWI=", "256"], "line 257 is"),
    ],
)
def test_bad_files(tmp_path: Path, lines: list[str], reason: str) -> None:
    path = written(tmp_path, lines)
    with pytest.raises(FormatError) as caught:
        formats.read(path, format="tiktoken", split=None)
    assert caught.value.path == str(path)
    assert reason in caught.value.reason


def test_id_clash_of_specials(tmp_path: Path) -> None:
    path = written(tmp_path, ranks(b"ab"))
    with pytest.raises(FormatError, match="which the model's vocabulary gives to b'ab'"):
        formats.read(path, split=None, special_tokens={"<|end|>": 256})


def test_bad_arguments(tmp_path: Path) -> None:
    path = written(tmp_path, ranks(b"ab"))
    with pytest.raises(SplitError, match="is not a regular expression"):
        formats.read(path, split="[a")
    with pytest.raises(OptionError, match="use a str and an int"):
        formats.read(path, split=None, special_tokens={"<|end|>": "300"})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("change", "error", "reason"),
    [
        ({"format": "other"}, FormatError, "format is 'other'"),
        ({"version": 2}, UnsupportedError, "version 2 is not supported"),
        ({"pattern": 5}, FormatError, "pattern is 5"),
        ({"pattern": "[a"}, FormatError, "is not a regular expression"),
        ({"special_tokens": []}, FormatError, r"special_tokens is \[\]"),
        ({"special_tokens": {"<a>": True}}, FormatError, "token '<a>' has id True"),
        ({"special_tokens": {"<a>": 1.5}}, FormatError, "token '<a>' has id 1.5"),
        ({"special_tokens": {"<a>": -1}}, FormatError, "token '<a>' has id -1"),
        ({"special_tokens": {"<a>": 400, "<b>": 400}}, FormatError, "share id 400"),
        ({"special_tokens": {"\ud800": 400}}, FormatError, "surrogates not allowed"),
    ],
)
def test_bad_sidecars(
    tmp_path: Path, change: dict[str, object], error: type[Exception], reason: str
) -> None:
    path = tmp_path / "a.tiktoken"
    formats.write(pipeline(), path)
    beside = tmp_path / "a.tiktoken.json"
    beside.write_text(json.dumps(json.loads(beside.read_text()) | change))
    with pytest.raises(error, match=reason) as caught:
        formats.read(path)
    assert "a.tiktoken" in str(caught.value)


@pytest.mark.parametrize(
    ("pipe", "reason"),
    [
        (pipeline(framing=plain_token("x", 400)), "no special token"),
        (pipeline(framing=Framing(suffix=(1,))), "template"),
        (pipeline(PatternSplitter("a?")), "can match the empty string"),
        (
            Pipeline(BPE((*BYTES, b"ab", b"xyz"), np.array([[97, 98, 256]], np.uint32))),
            "never produces id 257",
        ),
        (
            Pipeline(BPE((*BYTES, b"a"), np.empty((0, 3), np.uint32))),
            "ids 97 and 256 are both b'a'",
        ),
        (
            Pipeline(
                BPE((*BYTES, b"ab", b"bc"), np.array([[98, 99, 257], [97, 98, 256]], np.uint32))
            ),
            "merge (97, 98) -> 256 where this model has merge (98, 99) -> 257",
        ),
        (
            Pipeline(BPE((*BYTES, b"ab"), np.empty((0, 3), np.uint32), whole_chunk_first=True)),
            "merge (97, 98) -> 256 where this model has no merge",
        ),
        (Pipeline(model(((b"b", b"c"), (b"a", b"b"), (b"ab", b"c")))), "(97, 256) -> 258 where"),
    ],
)
def test_pipelines_that_the_format_cannot_hold(tmp_path: Path, pipe: Pipeline, reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        formats.write(pipe, tmp_path / "a.tiktoken")
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []
