"""Which tokenizer classes of transformers are read, and that their ids are those of transformers.

tests/data/transformers-classes.json holds the classes of transformers 5.24, and its ids for folders
with a vocabulary and the name of the class alone: of one text, of the pair ("a", "a"), and of the
BOS, EOS, PAD and UNK tokens. ALBERT's are those of 4.57, because 5.24 fails on such a folder. Where
transformers is installed, it encodes more texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.kits.model_folders import FOLDERS, write_folder
from toksmith import Tokenizer
from toksmith.errors import UnsupportedError
from toksmith.formats.huggingface.classes import ALIASES, ANY_FILE, CLASSES
from toksmith.formats.huggingface.unread_classes import UNREAD

HELD = json.loads((Path(__file__).parents[1] / "data/transformers-classes.json").read_text())
TEXTS = (
    *("Hello, world!", "  two  spaces and\ttab\n\nnewline ", "", " \u3000x\u00a0y", "a" * 150),
    *(
        "naïve café ﬁ ½ Straße 日本語 中文 한국어",
        "``quotes'' 12345.67 don't",
        "\u2581\u2581a \u2581b",
    ),
    *("emoji 😀👩\u200d👩 \u0301a\u0300", "<s> jumped </s>[CLS] over<|endoftext|> it [MASK] x"),
)
WITHOUT_TRANSFORMERS = "needs the package transformers, of version 5"


def ids(tok: Tokenizer, text: str, pair: str | None = None, framed: bool = True) -> list[int]:
    return tok.encode(text, pair=pair, special="encode", add_special_tokens=framed)


def roles(tok: Any) -> list[int | None]:
    return [tok.bos_token_id, tok.eos_token_id, tok.pad_token_id, tok.unk_token_id]


@pytest.fixture(scope="module")
def transformers() -> Any:
    found = pytest.importorskip("transformers", reason=WITHOUT_TRANSFORMERS)
    if not found.__version__.startswith("5."):
        pytest.skip(WITHOUT_TRANSFORMERS)
    found.logging.set_verbosity_error()
    return found


def test_every_class_is_read_or_has_a_reason() -> None:
    read = {*CLASSES, *ALIASES, *ANY_FILE}
    assert not read & UNREAD.keys()
    assert {name.removesuffix("Fast") for name in HELD["classes"]} <= read | UNREAD.keys()
    assert all(len(reason) > 10 for reason in UNREAD.values())


def test_every_class_that_is_read_has_known_ids() -> None:
    # Those of LayoutLM and UDOP take words with boxes, not texts.
    without = {"LayoutLMv2", "LayoutLMv3", "LayoutXLM", "Udop", "Qwen3_5"}
    assert HELD["known"].keys() == FOLDERS.keys()
    assert {name.removesuffix("Tokenizer") for name in CLASSES} - without <= FOLDERS.keys()


@pytest.mark.parametrize("name", sorted(UNREAD))
def test_a_class_that_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    with pytest.raises(UnsupportedError, match=f"{name} cannot be read: "):
        toksmith.load(tmp_path)


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_known_ids(shared: Path, tmp_path: Path, name: str) -> None:
    folder = write_folder(name, shared / "data/vocab", tmp_path / "folder")
    tok = toksmith.load(folder)
    known = HELD["known"][name]
    assert ids(tok, HELD["text"]) == known["ids"]
    assert ids(tok, "a", "a") == known["pair"]
    assert roles(tok) == known["roles"]
    if name == "FNet":
        return  # tokenizer.json has no equivalent of its normalizer
    tok.save(tmp_path / "saved")
    again = toksmith.load(tmp_path / "saved")
    assert again.pipeline.settings == tok.pipeline.settings
    assert ids(again, HELD["text"]) == known["ids"]
    assert ids(again, "a", "a") == known["pair"]


@pytest.mark.parametrize("name", sorted(FOLDERS.keys() - {"Albert"}))
def test_ids_are_those_of_transformers(
    shared: Path, tmp_path: Path, transformers: Any, name: str
) -> None:
    folder = write_folder(name, shared / "data/vocab", tmp_path / "folder")
    tok, theirs = toksmith.load(folder), transformers.AutoTokenizer.from_pretrained(folder)
    peers = [theirs]
    if name != "FNet":
        tok.save(tmp_path / "saved")
        peers.append(transformers.AutoTokenizer.from_pretrained(tmp_path / "saved"))
    for peer in peers:
        assert roles(peer) == roles(tok)
        for text in TEXTS:
            for framed in (False, True):
                expected = peer(text, add_special_tokens=framed).input_ids
                assert ids(tok, text, framed=framed) == expected, (text, framed)
        assert ids(tok, "one two", "three") == peer("one two", "three").input_ids


@pytest.mark.parametrize("name", ["GPT2", "Bert", "Llama", "T5", "XLMRoberta", "Roberta"])
def test_folders_that_transformers_saves(
    shared: Path, tmp_path: Path, transformers: Any, name: str
) -> None:
    config = {"model_max_length": 99, "padding_side": "left", "chat_template": "{{ messages }}"}
    folder = write_folder(name, shared / "data/vocab", tmp_path / "folder", **config)
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    theirs.add_tokens(["<tool>", transformers.AddedToken("<end>", special=True)])
    theirs.save_pretrained(tmp_path / "theirs")
    tok = toksmith.load(tmp_path / "theirs")
    assert (tok.model_max_length, tok.chat_template) == (99, "{{ messages }}")
    assert tok.pipeline.settings.padding_side == "left"
    assert roles(tok) == roles(theirs)
    for text in (*TEXTS, "a<tool> b<end>c"):
        assert ids(tok, text) == theirs(text).input_ids, text


def test_the_installed_classes_are_known(transformers: Any) -> None:
    mapping = transformers.models.auto.tokenization_auto.TOKENIZER_MAPPING_NAMES
    names = {name.removesuffix("Fast") for name in mapping.values() if name}
    assert names <= {*CLASSES, *ALIASES, *ANY_FILE, *UNREAD}
