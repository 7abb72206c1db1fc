"""Reading and writing Mistral's tekken.json files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kits.bpe import BYTES, pipeline, tekken
from toksmith import formats
from toksmith.errors import FormatError, UnsupportedError
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer


def read(tmp_path: Path, held: object, format: str | None = None) -> Pipeline:  # noqa: A002
    path = tmp_path / "file"
    path.write_text(json.dumps(held))
    return formats.read(path, format)


def test_read_by_hand(tmp_path: Path) -> None:
    pipe = read(tmp_path, tekken())
    assert pipe.model.vocab == (b"", b"", b"", *BYTES, b"ab", b"abab")
    assert pipe.model.merges.tolist() == [[100, 101, 259], [259, 259, 260]]
    assert pipe.framing.special_tokens == {"<unk>": 0, "<s>": 1, "<SPECIAL_2>": 2}
    tok = Tokenizer(pipe)
    assert tok.encode("abab!", add_special_tokens=True) == [1, 260, 36]
    assert tok.encode("<s>", special="encode") == [1]
    assert tok.decode([1, 260]) == "<s>abab"


def test_directory(tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_text(json.dumps(tekken()))
    assert formats.read(tmp_path) == read(tmp_path, tekken())


@pytest.mark.parametrize("version", ["v3", "v7"])
def test_special_tokens_that_older_files_do_not_name(tmp_path: Path, version: str) -> None:
    held = tekken(version=version) | {"special_tokens": None}
    assert read(tmp_path, held).framing.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    held["config"] |= {"default_num_special_tokens": 22, "default_vocab_size": 22 + 256}
    names = list(read(tmp_path, held).framing.special_tokens)
    assert names[3:5] == ["[INST]", "[/INST]"]
    assert names[18:] == ["[/SYSTEM_PROMPT]", "[TOOL_CONTENT]", "<SPECIAL_20>", "<SPECIAL_21>"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop("config"), "config is null, not a JSON object"),
        (lambda t: t["config"].pop("pattern"), "config.pattern is null, not a string"),
        (lambda t: t["config"].update(pattern="("), "not a regular expression"),
        (lambda t: t["config"].update(default_vocab_size=300), "needs 297 tokens that are not"),
        (lambda t: t["config"].update(default_vocab_size=1), "needs -2 tokens"),
        (lambda t: t["config"].update(default_vocab_size=100), "97 tokens are in use"),
        (lambda t: t["config"].update(default_num_special_tokens="3"), "num_special_tokens is"),
        (lambda t: t["special_tokens"][1].update(rank=3), "special_tokens[1].rank is 3, not"),
        (lambda t: t.update(special_tokens=None), "a file of version v11 must list them"),
        (lambda t: t["special_tokens"][1].update(rank=0), "special_tokens[1].rank is 0"),
        (lambda t: t.update(special_tokens=[{"rank": 0}]), "special_tokens[0].token_str is null"),
        (lambda t: t["vocab"][256].update(rank=5), 'vocab[256] is {"rank":5'),
        (lambda t: t["vocab"][256].update(token_bytes="a"), "not rank and token_bytes in"),
        (lambda t: t["vocab"][256].update(token_bytes=""), "not rank and token_bytes in"),
        (lambda t: t["vocab"][256].update(token_bytes=7), "not rank and token_bytes in"),
        (lambda t: t["vocab"][65].update(token_bytes="Qg=="), "not the byte 0x41"),
        (lambda t: t["vocab"][257].update(token_bytes="YWI="), "repeats token b'ab' of vocab[256]"),
        (lambda t: t.update(vocab={}), "vocab is {}, not a list"),
        (lambda t: t["vocab"].insert(0, 7), "vocab[0] is 7"),
    ],
)
def test_bad_files(tmp_path: Path, change: Callable[[dict[str, Any]], object], reason: str) -> None:
    held = tekken()
    change(held)
    with pytest.raises(FormatError) as caught:
        read(tmp_path, held, "tekken")
    assert reason in caught.value.reason


def test_it_is_a_format_to_read(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"tekken\.json cannot be written"):
        formats.write(pipeline(), tmp_path / "tekken.json", "tekken")
    assert list(tmp_path.iterdir()) == []
