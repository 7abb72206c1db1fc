"""Vocabulary files that the kernel reads, against the readers in Python."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import _kernel, formats
from toksmith.engine import portable
from toksmith.errors import ToksmithError
from toksmith.formats import sentencepiece_proto as proto
from toksmith.stages import charsmap as charsmap_module
from toksmith.stages.charsmap import CharacterMap
from toksmith.stages.charsmap_building import compile_charsmap

TEXTS = ['low lower lowest é 中 😀 \\ " \u2028', "a cat sat on a mat, and low it sat"] * 4


def _content(model: str, **options: Any) -> dict[str, Any]:
    tok = toksmith.train(texts=TEXTS, model=model, **options)
    (data,) = formats.contents(tok.pipeline, "a.json", "huggingface").values()
    content: dict[str, Any] = json.loads(data)
    return content


@pytest.fixture(scope="module")
def contents() -> dict[str, dict[str, Any]]:
    found = {
        "bytes": _content("bpe", vocab_size=270, split="gpt2", special_tokens=["<|end|>"]),
        "words": _content("wordpiece", vocab_size=45),
    }
    tokens = ["<unk>", *"abc", "é", "ab", "abc", "\U0001f600"]
    found["characters"] = found["words"] | {
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "added_tokens": [],
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "vocab": {token: place for place, token in enumerate(tokens)},
            "merges": [["a", "b"], ["ab", "c"]],
        },
    }
    found["pieces"] = found["characters"] | {
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [[token, -place * 0.5] for place, token in enumerate(tokens)],
        }
    }
    return found


def _read(path: Path, monkeypatch: pytest.MonkeyPatch, *, kernel: bool) -> object:
    """Return the pipeline of a file, or the message for what is wrong with it."""
    with monkeypatch.context() as patch:
        if not kernel:
            patch.setattr(portable, "read_token_ids", lambda data: None)
            patch.setattr(portable, "read_pieces", lambda data: None)
        try:
            return formats.read(path)
        except ToksmithError as wrong:
            return f"{type(wrong).__name__}: {wrong}"


def _mutated(content: dict[str, Any], rng: random.Random) -> bytes:
    """Return a file with a changed vocabulary, merge or byte."""
    content = json.loads(json.dumps(content))
    model = content["model"]
    kind = rng.randrange(8)
    vocab = model["vocab"]
    if isinstance(vocab, dict):
        key = rng.choice(list(vocab))
        if kind == 0:
            vocab[key] = rng.choice([-1, 2**24, 1.5, None, "1", True, 7, 300])
        elif kind == 1:
            vocab[rng.choice(["", "new", "a b", "\ud800", "\x00", "Ġé", "😀"])] = len(vocab)
        elif kind == 2:
            del vocab[key]
        elif kind == 3:
            model["vocab"] = dict(rng.sample(sorted(vocab.items()), len(vocab)))
    elif kind < 4:
        place = rng.randrange(len(vocab))
        vocab[place] = rng.choice([["a", 1], ["x", None], ["x"], [1, 2], vocab[0], ["y", 1e400]])
    if kind == 4 and model.get("merges"):
        model["merges"].append(rng.choice([model["merges"][0], "a  b", "zz zz", ["a"], "ab", 3]))
    if kind == 5:
        model["merges" if rng.random() < 0.5 else "vocab"] = rng.choice([[], {}, None, "a"])
    data = bytearray(json.dumps(content, ensure_ascii=rng.random() < 0.5).encode("utf-8", "ignore")
                     if kind != 1 else json.dumps(content).encode())  # fmt: skip
    if kind == 6:
        data[rng.randrange(len(data))] = rng.choice(b'"\\{}[],:x0\xff')
    elif kind == 7:
        place = data.find(b'"vocab"') + rng.randrange(60)
        data[place:place] = rng.choice([b" ", b"\n\t", b"1", b"0", b"\\u00e9", b"\\ud83d", b"\x01"])
    return bytes(data)


@pytest.mark.parametrize("kind", ["bytes", "words", "characters", "pieces"])
def test_json_like_the_plain_reader(
    kind: str,
    contents: dict[str, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(contents[kind]))
    assert portable.read_token_ids(path.read_bytes()) is not None
    assert _read(path, monkeypatch, kernel=True) == _read(path, monkeypatch, kernel=False)
    rng = random.Random(kind)
    results = set()
    for _ in range(150):
        path.write_bytes(_mutated(contents[kind], rng))
        found = _read(path, monkeypatch, kernel=True)
        assert found == _read(path, monkeypatch, kernel=False), path.read_bytes()
        results.add(type(found))
    assert len(results) == 2  # some files were read, some were not


def test_pieces_like_protobuf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.model"
    options: dict[str, Any] = {"vocab_size": 38}
    tok = toksmith.train(texts=TEXTS, model="sentencepiece-unigram", **options)
    tok.save(path)
    whole = path.read_bytes()
    assert portable.read_pieces(whole) is not None
    assert formats.read(path) == tok.pipeline
    rng = random.Random(1)
    results = set()
    for _ in range(300):
        data = bytearray(whole)
        place = rng.randrange(len(data)) if rng.random() < 0.5 else rng.randrange(600)
        data[place] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        found = _read(path, monkeypatch, kernel=True)
        assert found == _read(path, monkeypatch, kernel=False), (place, data[place])
        results.add(type(found))
    assert len(results) == 2


def test_specs_like_protobuf() -> None:
    message = proto.model_class()()
    message.trainer_spec.model_type = 2
    message.trainer_spec.pad_id = -1
    message.trainer_spec.character_coverage = 0.5
    message.trainer_spec.control_symbols.extend([b"<a>", b"<b>"])
    message.normalizer_spec.add_dummy_prefix = False
    specs = proto.read_specs(message.SerializeToString())
    assert specs is not None
    for name in ("trainer_spec", "normalizer_spec", "denormalizer_spec"):
        held, expected = vars(getattr(specs, name)), getattr(message, name)
        for field, value in held.items():
            wanted = getattr(expected, field)
            assert value == (list(wanted) if isinstance(value, list) else wanted), field
    assert proto.read_specs(message.SerializeToString() * 2) is None
    assert proto.read_specs(message.SerializeToString()[:-1]) is None


def _first_characters(charsmap: bytes) -> frozenset[str] | None:
    try:
        return CharacterMap(charsmap).first_characters
    except ToksmithError:
        return None


def test_character_maps_like_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charsmap_module, "read_first_characters", lambda charsmap: None)
    whole = compile_charsmap({"a": "b", "ab": "c", "é": "e", "e\u0301": "é", "中": "", "x😀": "  "})
    rng = random.Random(2)
    results = set()
    size = int.from_bytes(whole[:4], "little")
    used = [place for place in range(len(whole)) if whole[place] or place >= size]
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2])):
            data[rng.choice(used)] ^= 1 << rng.randrange(8)
        found = portable.is_character_map(bytes(data))
        firsts = _first_characters(bytes(data))
        assert found == (firsts is not None), bytes(data).hex()
        read = _kernel.first_characters(bytes(data))
        assert (None if read is None else frozenset(read)) == firsts, bytes(data).hex()
        results.add(found)
    assert results == {True, False}
    assert portable.is_character_map(b"")
    assert not portable.is_character_map(whole[:-1])


def test_neighbours_like_python() -> None:
    rng = random.Random(3)
    letters = "abcé▁中\U0001f600\u0301 "
    for _ in range(100):
        tokens = ["".join(rng.choices(letters, k=rng.randrange(5))) for _ in range(30)]
        found = _kernel.neighbours(tuple(token.encode() for token in tokens))
        assert found is not None
        characters, pairs = found
        assert characters == "".join(sorted(set("".join(tokens))))
        expected = {token[i : i + 2] for token in tokens for i in range(len(token) - 1)}
        assert [pairs[i : i + 2] for i in range(0, len(pairs), 2)] == sorted(expected)
    assert _kernel.neighbours((b"ab", b"\xe4\xb8")) is None
    assert _kernel.neighbours((b"\xed\xa0\x80",)) is None
    assert _kernel.neighbours(()) == ("", "")
