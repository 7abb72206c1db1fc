"""Models of SentencePiece's own trainer, with the options of real models, read by the module."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np
import pytest

import toksmith.compat.sentencepiece as ours
from tests.compat.sentencepiece_models import LINES, texts
from toksmith.compat.sentencepiece import sentencepiece_pb2
from toksmith.engine import portable

theirs = pytest.importorskip("sentencepiece")

FEATURES: dict[str, dict[str, Any]] = {
    "spaces": {
        "remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True,
        "user_defined_symbols": ["▁▁", "▁▁▁", "\n", "\t", "<x>"], "byte_fallback": True,
    },
    "symbols": {"user_defined_symbols": ["  ", " ", "a b", "é", "\t", "<0x41>"]},
    "symbols-without-removal": {
        "user_defined_symbols": ["  ", " \t"], "remove_extra_whitespaces": False,
    },
    "suffix": {"treat_whitespace_as_suffix": True, "byte_fallback": True},
    "digits": {"split_digits": True, "normalization_rule_name": "nmt_nfkc_cf"},
    "required": {"required_chars": "喵q", "character_coverage": 0.98},
    "ids": {"pad_id": 0, "unk_id": 3, "bos_id": 1, "eos_id": 2, "unk_surface": "¿"},
    "phrases": {"split_by_whitespace": False, "control_symbols": ["the dog"]},
}  # fmt: skip

HARD = [
    *texts(30, seed=4), "\x01\x02", "▁▁", "   a", " \ta", "a  b   ", "a b", "喵zz zz q", "<0x41>",
    "\ufeff\u3000 x \xa0", "①② ３.１4",
]  # fmt: skip


@cache
def model_proto(kind: str, feature: str) -> bytes:
    model = io.BytesIO()
    theirs.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 3), model_writer=model, model_type=kind, minloglevel=3,
        vocab_size=360, hard_vocab_limit=False, **FEATURES[feature],
    )  # fmt: skip
    return model.getvalue()


CHOSEN = [(kind, feature) for kind in ("unigram", "bpe") for feature in FEATURES]
CHOSEN += [(kind, feature) for kind in ("char", "word") for feature in ("suffix", "required")]


@pytest.fixture(params=CHOSEN, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """Their processor and ours, of the same model."""
    data = model_proto(*request.param)
    return (
        theirs.SentencePieceProcessor(model_proto=data),
        ours.SentencePieceProcessor(model_proto=data),
    )


def test_encode_and_decode(pair: tuple[Any, Any]) -> None:
    peer, mine = pair
    data = [text.encode() for text in HARD] + [b"a\xffb", b"\xe3\x81", b"the \xf0\x9f fox"]
    ids = list(range(len(peer)))
    assert mine.get_score(ids) == peer.get_score(ids)
    for given in (HARD, data):
        for form in (int, bytes, "serialized_proto", "offset_mapping"):
            assert mine.encode(given, form) == peer.encode(given, return_type=form)
    rows = peer.encode(HARD)
    pieces = peer.encode(HARD, return_type=str)
    for form in (str, bytes, "serialized_proto", "offset_mapping"):
        assert mine.decode(rows, form) == peer.decode(rows, return_type=form)
        assert mine.decode(pieces, form) == peer.decode(pieces, return_type=form)


def test_normalize(pair: tuple[Any, Any]) -> None:
    peer, mine = pair
    data = [text.encode() for text in HARD]
    for given in (HARD, data):
        assert mine.normalize(given) == peer.normalize(given)
        assert mine.normalize(given, True) == peer.normalize(given, with_offsets=True)


def test_messages_are_those_of_the_fallback_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    long = ["é" * 200 + " the dog " * 2000, "", "喵" * 3]
    for kind in ("unigram", "bpe"):
        model = ours.SentencePieceProcessor(model_proto=model_proto(kind, "spaces"))
        found = model.encode([*HARD, *long], "serialized_proto")
        with monkeypatch.context() as without:
            without.setattr(portable, "is_missing", True)
            assert model.encode([*HARD, *long], "serialized_proto") == found


def test_the_kernel_refuses_places_outside_of_texts() -> None:
    good: dict[str, Any] = {
        "texts": [b"ab"], "offsets": [0, 1], "ids": [3], "begins": [0], "ends": [2],
        "silent": [False], "pieces": [b"ab"],
    }  # fmt: skip
    kinds = {"ids": np.uint32, "silent": np.bool_}

    def call(**changes: Any) -> Any:
        given = {
            name: value if name in ("texts", "pieces") else np.array(value, kinds.get(name, "i8"))
            for name, value in {**good, **changes}.items()
        }
        return portable.serialize_segmentations(**given)

    message = sentencepiece_pb2.SentencePieceText.FromString(call()[0])
    assert message.pieces[0].surface == message.text == "ab"
    for wrong in (
        {"ends": [3]}, {"begins": [-1]}, {"begins": [2], "ends": [1]}, {"offsets": [0, 2]},
        {"offsets": [1, 0]}, {"offsets": [0]}, {"pieces": []}, {"silent": []},
        {"ends": [3], "silent": [True]},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"must|outside"):
            call(**wrong)
    with pytest.raises(TypeError):
        call(pieces=["ab"])
