"""Vocabularies without some bytes, tokens of no bytes, dropout: as in tokenizers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.engines import assert_same_places
from tests.kits.bpe import BYTES
from toksmith import engine
from toksmith._base.byte_alphabet import spell
from toksmith.errors import FormatError, UnsupportedError

peer = pytest.importorskip("tokenizers")

PARTS = ["a", "b", "c", " ", "x", "é", "‼", "\n", "xx", "ab"]


def tokenizer_json(
    missing: set[int], unk: bool = False, fuse: bool = False, ignore_merges: bool = False
) -> dict[str, Any]:
    """A tokenizer.json without the missing bytes, and with two tokens outside of the alphabet."""
    tokens = [spell(byte) for byte in BYTES if byte[0] not in missing]
    tokens += ["ab", "Ġab", "Ã©", "abc", "‼", "\u200d", *(["<unk>"] if unk else [])]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    return {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": byte_level | {"use_regex": True},
        "decoder": byte_level | {"use_regex": True},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>" if unk else None,
            "fuse_unk": fuse,
            "ignore_merges": ignore_merges,
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": ["a b", "Ġ ab", *(["Ã ©"] if not missing & {0xC3, 0xA9} else []), "ab c"],
        },
    }


@pytest.mark.parametrize("ignore_merges", [False, True])
@pytest.mark.parametrize(("unk", "fuse"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("missing", [{0xC0, 0xFF}, {0x78, 0xA9, 0x0A}, {0xC3, 0xE2, 0x78}])
def test_missing_bytes(
    tmp_path: Path, missing: set[int], unk: bool, fuse: bool, ignore_merges: bool
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json(missing, unk, fuse, ignore_merges)))
    tok, theirs = toksmith.load(path), peer.Tokenizer.from_file(str(path))
    assert tok.pipeline.model.missing_bytes == bytes(sorted(missing))
    rng = random.Random(7)
    texts = ["".join(rng.choices(PARTS, k=rng.randrange(14))) for _ in range(300)]
    expected = [theirs.encode(text) for text in texts]
    assert tok.encode_batch(texts).to_lists() == [each.ids for each in expected]
    for text, each in zip(texts, expected, strict=True):
        assert tok.encode(text) == tok.encode_array(text).tolist() == each.ids
        assert tok.count(text) == len(each.ids)
        if unk:  # tokenizers shifts the offsets after bytes that were left out
            assert list(map(tuple, tok.encoding(text).spans.tolist())) == each.offsets
        assert tok.decode(each.ids) == theirs.decode(each.ids, skip_special_tokens=False)
    tok.save(tmp_path / "again.json")
    again = peer.Tokenizer.from_file(str(tmp_path / "again.json"))
    assert [again.encode(text).ids for text in texts] == [each.ids for each in expected]


def test_added_tokens_above_the_vocabulary(tmp_path: Path) -> None:
    held = tokenizer_json({0x78, 0xFF})
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "special": True}
    held["added_tokens"] = [
        {"id": 260, "content": "<|a|>", "normalized": False} | plain,
        {"id": 261, "content": "<|b|>", "normalized": True} | plain,
    ]
    held["normalizer"] = {"type": "NFC"}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(held))
    tok, theirs = toksmith.load(path), peer.Tokenizer.from_file(str(path))
    for text in ("ab<|a|>xab<|b|>x", "<|b|>", "xx<|a|>", "ab"):
        assert tok.encode(text, special="encode") == theirs.encode(text).ids


def test_the_reference_agrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json({0x78, 0xA9}, unk=True, fuse=True)))
    pipeline = toksmith.load(path).pipeline
    kernel = engine.compile(pipeline)
    monkeypatch.setenv("TOKSMITH_ENGINE", "reference")
    reference = engine.compile(pipeline)
    for text in ("", "xab x", "axb éé c", b"ab\xa9\xa9x\xff"):
        found = kernel.encode_with_spans([text, text], 1)
        expected = reference.encode_with_spans([text, text], 1)
        assert found.ids.tolist() == kernel.encode(text, 1).tolist() * 2
        assert_same_places(found, expected)


def test_tokens_outside_of_the_alphabet(tmp_path: Path) -> None:
    held = tokenizer_json(set())
    held["model"]["vocab"]["âĢ¼"] = len(held["model"]["vocab"])  # the bytes of ‼
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(held))
    tok, theirs = toksmith.load(path), peer.Tokenizer.from_file(str(path))
    outside = held["model"]["vocab"]["‼"]
    assert tok.encode("‼a") == theirs.encode("‼a").ids == [0xE2, 0x80, 0xBC, 97]
    assert tok.decode([outside, 97]) == theirs.decode([outside, 97]) == "‼a"
    tok.save(tmp_path / "again.json")
    assert toksmith.load(tmp_path / "again.json") == tok
    again = json.loads((tmp_path / "again.json").read_text())
    assert again["model"]["vocab"]["‼"] == outside


def test_other_formats_need_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json({0xC0, 0xFF})))
    tok = toksmith.load(path)
    for name in ("a.tiktoken", "a.model"):
        with pytest.raises(UnsupportedError, match=r"needs an id for each of the 256 bytes"):
            tok.save(tmp_path / name)
    with pytest.raises(UnsupportedError, match="training cannot go on"):
        toksmith.train(texts=["abab"], vocab_size=400, continue_from=tok)


@pytest.mark.parametrize(
    "cut",
    [None, {"type": "Split", "pattern": {"String": "Ġ"}, "behavior": "MergedWithNext",
            "invert": False}],
    ids=["whole", "split"],
)  # fmt: skip
def test_byte_level_as_normalizer(tmp_path: Path, cut: dict[str, Any] | None) -> None:
    held = tokenizer_json({0x78}) | {"normalizer": {"type": "ByteLevel"}, "pre_tokenizer": cut}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(held))
    tok, theirs = toksmith.load(path), peer.Tokenizer.from_file(str(path))
    rng = random.Random(8)
    for _ in range(300):
        text = "".join(rng.choices(PARTS, k=rng.randrange(14)))
        expected = theirs.encode(text)
        assert tok.encode(text) == expected.ids, text
        if "x" not in text:  # tokenizers shifts the offsets after characters that were left out
            assert list(map(tuple, tok.encoding(text).spans.tolist())) == expected.offsets
        assert tok.decode(expected.ids) == theirs.decode(expected.ids)
    tok.save(tmp_path / "again.json")
    assert toksmith.load(tmp_path / "again.json") == tok


@pytest.mark.parametrize("pre_tokenizer", ["bytes", "characters"])
def test_dropout_of_a_file(tmp_path: Path, pre_tokenizer: str) -> None:
    held = tokenizer_json(set())
    if pre_tokenizer == "characters":
        held["pre_tokenizer"] = None
    path = tmp_path / "tokenizer.json"
    held["model"]["dropout"] = 1.0  # skips all merges, so that the ids of tokenizers are certain
    path.write_text(json.dumps(held))
    with pytest.warns(UserWarning, match=r"model.dropout is 1.0.*use sample\(\) for random"):
        tok = toksmith.load(path)
    theirs = peer.Tokenizer.from_file(str(path))
    assert tok.sample("abab") == theirs.encode("abab").ids == [97, 98] * 2
    assert tok.encode("abab") == [256, 256]
    tok.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["model"]["dropout"] == 1.0
    held["model"]["dropout"] = 1.5
    path.write_text(json.dumps(held))
    with (
        pytest.warns(UserWarning, match=r"model.dropout is 1\.5"),
        pytest.raises(FormatError, match=r"dropout is 1\.5: use a probability"),
    ):
        toksmith.load(path)
    held["model"]["dropout"] = "much"
    path.write_text(json.dumps(held))
    with pytest.raises(UnsupportedError, match=r'model.dropout "much"'):
        toksmith.load(path)
