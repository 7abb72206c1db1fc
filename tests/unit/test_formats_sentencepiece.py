"""SentencePiece's .model and .vocab."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.kits.bpe import pipeline as byte_level
from tests.kits.sentencepiece import CHARSMAP, PIECES, sentencepiece
from toksmith import Tokenizer, formats, load
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.sentencepiece_proto import model_class
from toksmith.framing import AddedToken, Framing
from toksmith.models import SentencePieceBPE, Unigram
from toksmith.normalizers import Lowercase, SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter
from toksmith.stages.charsmap_building import compile_charsmap

VARIANTS: dict[str, dict[str, Any]] = {
    "bpe": {},
    "unigram": {"kind": Unigram},
    "bytes": {"byte_fallback": True},
    "suffix": {"whitespace_as_suffix": True, "name": "user_defined"},
    "plain": {
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "escape_whitespaces": False,
        "charsmap": b"",
    },
    "surface": {"unk_surface": "<?>", "denormalizer": compile_charsmap({"a": "b"})},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_written_files_are_read_back(tmp_path: Path, name: str) -> None:
    pipe = sentencepiece(**VARIANTS[name])
    formats.write(pipe, tmp_path / "a.model")
    assert formats.FORMATS["sentencepiece"].recognise(tmp_path / "a.model")
    assert formats.read(tmp_path / "a.model") == pipe
    again = formats.read(tmp_path / "a.model")
    formats.write(again, tmp_path / "b.model")
    assert (tmp_path / "b.model").read_bytes() == (tmp_path / "a.model").read_bytes()


def test_the_bytes_of_a_file(tmp_path: Path) -> None:
    """A file by hand: fields of sentencepiece_model.proto, and what is not given."""
    unknown = b"\x0a\x0e" + b"\x0a\x05<unk>" + b"\x15\0\0\0\0" + b"\x18\x02"
    bos = b"\x0a\x07" + b"\x0a\x03<s>" + b"\x18\x03"
    space = b"\x0a\x0a" + b"\x0a\x03\xe2\x96\x81" + b"\x15\0\0\x80\xbf"
    # A BPE model; test data and an unknown field, which are skipped.
    data = unknown + bos + space + b"\x12\x02\x18\x02" + b"\x22\x00" + b"\x7a\x01x"
    (tmp_path / "hand").write_bytes(data)
    pipe = formats.read(tmp_path / "hand")
    model = pipe.model
    assert isinstance(model, SentencePieceBPE)
    assert model.vocab == (b"<unk>", b"<s>", "▁".encode())
    assert model.scores.tolist() == [0, 0, -1]
    assert model.types.tolist() == [2, 3, 1]
    assert (model.unk_id, model.bos_id, model.eos_id, model.pad_id) == (0, 1, None, None)
    assert pipe.normalizer == (SentencePieceNormalizer(),)
    assert pipe.framing == Framing((AddedToken("<unk>", 0), AddedToken("<s>", 1)), prefix=(1,))


def test_a_tokenizer_of_a_file(tmp_path: Path) -> None:
    Tokenizer(sentencepiece()).save(tmp_path / "a.model")
    tok = load(tmp_path / "a.model")
    encoding = tok.encoding("Ａｂ ㍿\x01<u>e\u0301 a")
    assert [token.decode() for token in encoding.tokens] == [
        "▁a", "<unk>", "▁a", "▁", "b", "<u>", "é", "▁a",
    ]  # fmt: skip
    assert [encoding.text[start:end] for start, end in encoding.spans] == [
        "Ａ", "ｂ", " ", "", "㍿\x01", "<u>", "e\u0301", " a",
    ]  # fmt: skip
    assert tok.decode(encoding.ids) == "a ⁇  a b<u>é a"
    assert tok.encode("a", add_special_tokens=True) == [1, *tok.encode("a")]
    assert tok.encode("<s>a", special="encode") == [1, *tok.encode("a")]
    assert tok.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}


def test_vocab(tmp_path: Path) -> None:
    formats.write(sentencepiece(), tmp_path / "a.model")
    text = (tmp_path / "a.vocab").read_text(encoding="utf-8")
    assert text.splitlines()[:6] == [
        "<unk>\t0",
        "<s>\t0",
        "</s>\t0",
        "<u>\t0",
        "off\t-4.25",
        "▁a\t-1",
    ]
    formats.write(sentencepiece(), tmp_path / "b.vocab")
    assert (tmp_path / "b.vocab").read_bytes() == (tmp_path / "a.vocab").read_bytes()
    assert not (tmp_path / "b.model").exists()
    with pytest.raises(UnsupportedError, match="neither the types of pieces nor a normalizer"):
        formats.read(tmp_path / "a.vocab")


def test_a_model_suffix_goes_by_the_kind_of_model(tmp_path: Path) -> None:
    formats.write(byte_level(), tmp_path / "a.model")
    assert (tmp_path / "a.model").read_bytes().startswith(b"minbpe v1")
    formats.write(sentencepiece(), tmp_path / "b.model")
    assert (tmp_path / "b.model").read_bytes().startswith(b"\x0a\x0e\x0a\x05<unk>")
    with pytest.raises(UnsupportedError, match="BPE and Unigram, not byte-level BPE"):
        formats.write(byte_level(), tmp_path / "c.model", format="sentencepiece")


def edited(path: Path, edit: Any) -> Path:
    formats.write(sentencepiece(byte_fallback=True), path)
    proto = model_class().FromString(path.read_bytes())
    edit(proto)
    path.write_bytes(proto.SerializeToString())
    return path


DAMAGE: dict[str, tuple[Any, str]] = {
    "no pieces": (lambda p: p.ClearField("pieces"), "holds no pieces"),
    "an empty piece": (lambda p: setattr(p.pieces[7], "piece", b""), "piece 7 is empty"),
    "a piece twice": (lambda p: setattr(p.pieces[7], "piece", b"b"), "'b' occurs twice"),
    "no UTF-8": (lambda p: setattr(p.pieces[7], "piece", b"\xff"), "invalid start byte"),
    "a type": (lambda p: setattr(p.pieces[7], "type", 9), "piece 7 has type 9, not 1 to 6"),
    "a score": (lambda p: setattr(p.pieces[7], "score", float("inf")), "piece 7 has no finite"),
    "NaN": (lambda p: setattr(p.pieces[7], "score", float("nan")), "piece 7 has no finite score"),
    "no unknown": (lambda p: setattr(p.pieces[0], "type", 1), "0 pieces have type UNKNOWN"),
    "two unknown": (lambda p: setattr(p.pieces[7], "type", 2), "2 pieces have type UNKNOWN"),
    "a byte gone": (lambda p: p.pieces.pop(), "255 pieces have type BYTE"),
    "no byte": (lambda p: setattr(p.pieces[7], "type", 6), "257 pieces have type BYTE"),
    "bytes without": (
        lambda p: setattr(p.trainer_spec, "byte_fallback", False), "none without",
    ),
    "a model type": (lambda p: setattr(p.trainer_spec, "model_type", 7), "model_type is 7"),
    "a charsmap": (
        lambda p: setattr(p.normalizer_spec, "precompiled_charsmap", CHARSMAP[:900]), "a trie of",
    ),
    "a denormalizer": (
        lambda p: p.denormalizer_spec.MergeFromString(
            b"\x12\x01x\x18\x00\x20\x00\x28\x00"
        ), "a trie of",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
def test_damage(tmp_path: Path, what: str) -> None:
    edit, wanted = DAMAGE[what]
    with pytest.raises(FormatError, match=wanted):
        formats.read(edited(tmp_path / "a.model", edit), "sentencepiece")


def test_unreadable_files(tmp_path: Path) -> None:
    path = edited(tmp_path / "a.model", lambda p: setattr(p.trainer_spec, "model_type", 3))
    with pytest.raises(UnsupportedError, match="a word model"):
        formats.read(path)
    path = edited(path, lambda p: setattr(p.denormalizer_spec, "precompiled_charsmap", CHARSMAP))
    with pytest.raises(UnsupportedError, match="the denormalizer adds, drops or escapes spaces"):
        formats.read(path)


def test_no_protobuf(tmp_path: Path) -> None:
    (tmp_path / "a.model").write_bytes(b"\x0a\xff\xff")
    with pytest.raises(FormatError, match="not the protobuf of a SentencePiece model"):
        formats.read(tmp_path / "a.model", "sentencepiece")
    with pytest.raises(FormatError, match="none of the known formats"):
        formats.read(tmp_path / "a.model")


def test_a_character_model_is_bpe(tmp_path: Path) -> None:
    path = edited(tmp_path / "a.model", lambda p: setattr(p.trainer_spec, "model_type", 4))
    assert formats.read(path) == sentencepiece(byte_fallback=True)


PIPE = sentencepiece()
UNIGRAM = sentencepiece(Unigram)


@pytest.mark.parametrize(
    ("pipe", "wanted"),
    [
        (replace(PIPE, normalizer=()), "only holds SentencePiece's normalizer"),
        (replace(PIPE, normalizer=(Lowercase(),)), "only holds SentencePiece's normalizer"),
        (replace(PIPE, normalizer=(*PIPE.normalizer, Lowercase())), "only holds SentencePiece's"),
        (sentencepiece(protected=()), "can only protect user-defined pieces"),
        (replace(PIPE, splitter=PatternSplitter("a+")), "cannot hold a splitter"),
        (replace(PIPE, decoder=None), "only holds SentencePiece's decoder"),
        (
            replace(PIPE, decoder=sentencepiece(add_dummy_prefix=False).decoder),
            "has the decoder of the normalizer",
        ),
        (replace(PIPE, framing=Framing()), "has no added tokens"),
        (
            replace(PIPE, framing=Framing(PIPE.framing.added_tokens, prefix=(1,), suffix=(2,))),
            "no template but its bos piece",
        ),
        (replace(UNIGRAM, model=replace(UNIGRAM.model, single=False)), "in float32"),
        (replace(UNIGRAM, model=replace(UNIGRAM.model, fuse_unk=False)), "fuses unknown"),
        (replace(PIPE, model=replace(PIPE.model, unk_id=None)), "needs an unknown piece"),
        (
            replace(PIPE, model=replace(PIPE.model, scores=np.full(len(PIECES), 0.1))),
            "stores scores in float32",
        ),
    ],
)
def test_pipelines_that_the_format_cannot_hold(tmp_path: Path, pipe: Pipeline, wanted: str) -> None:
    with pytest.raises(UnsupportedError, match=wanted):
        formats.write(pipe, tmp_path / "a.model")
    assert list(tmp_path.iterdir()) == []


def test_no_template_is_as_good_as_the_bos_piece(tmp_path: Path) -> None:
    formats.write(replace(PIPE, framing=Framing(PIPE.framing.added_tokens)), tmp_path / "a.model")
    assert formats.read(tmp_path / "a.model") == PIPE


def test_the_space_before_an_unknown_first_piece_outlives_conversion(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = toksmith.train(
            texts=["a cat </s> sat on a mat"] * 20,
            model="sentencepiece-unigram",
            vocab_size=18,
            normalization_rule_name="identity",
            hard_vocab_limit=False,
        )
    with pytest.warns(UserWarning, match=r"also special tokens .*'</s>' \(id 2\)\): such text"):
        tok.save(tmp_path / "u.json")
    again = toksmith.load(tmp_path / "u.json")
    assert tok.decode([0]) == again.decode([0]) == " ⁇ "
    for ids in ([], [0, 0], [3, 0], [1, 0], [1, 3], [3, 3], [0, 3, 5]):
        assert again.decode(ids) == tok.decode(ids), ids


def test_control_characters_that_text_files_cannot_hold(tmp_path: Path) -> None:
    for literal in ("x\0y", "x\ny", "x\ry", "x\x85y", "x\u2028y", " x"):
        tok = toksmith.train(texts=["low"], vocab_size=257, special_tokens=[literal])
        with pytest.raises(UnsupportedError, match="minbpe"):
            tok.save(tmp_path / "a.model")
        for name in ("a.json", "a.tiktoken"):
            tok.save(tmp_path / name)
            again = toksmith.load(tmp_path / name)
            assert again.special_tokens == {literal: 256}
            assert again.encode(f"l{literal}", special="encode") == [108, 256]
