"""The module against the installed SentencePiece, call by call, on the same models."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith.compat.sentencepiece as ours
from tests.compat.sentencepiece_models import OPTIONS, PARTS, model_proto, texts
from toksmith.compat.sentencepiece import sentencepiece_model_pb2, sentencepiece_pb2
from toksmith.errors import ToksmithError

theirs = pytest.importorskip("sentencepiece")

SHARED_MODELS = [
    "llama2.model", "english8k_unigram.model", "spm_test_unigram.model", "spm_toy400_bpe.model",
]  # fmt: skip
FORMS = (int, str, bytes, "serialized_proto", "offset_mapping")


@pytest.fixture(scope="module", params=[*OPTIONS, *SHARED_MODELS])
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """Their processor and ours, of the same model."""
    if request.param in OPTIONS:
        data = model_proto(request.param)
    else:
        shared: Path = request.getfixturevalue("shared")
        data = (shared / "data/vocab" / request.param).read_bytes()
    peer, mine = theirs.SentencePieceProcessor(), ours.SentencePieceProcessor()
    assert peer.LoadFromSerializedProto(data) is mine.LoadFromSerializedProto(data) is True
    return peer, mine


def agree(peer: Callable[..., Any], mine: Callable[..., Any], inputs: list[Any]) -> None:
    for each in inputs:
        assert mine(each) == peer(each), each


@pytest.mark.parametrize("form", FORMS)
def test_encode(pair: tuple[Any, Any], form: Any) -> None:
    peer, mine = pair
    given = texts()
    assert mine.encode(given, form) == peer.encode(given, out_type=form)
    assert mine.encode(given[5], return_type=form) == peer.encode(given[5], return_type=form)
    data = [text.encode() for text in given[:40]] + [b"a\xffb \xe5\x90", b"\xff"]
    assert mine.encode(data, form, num_threads=2) == peer.encode(data, return_type=form)


def test_encode_to_arrays_and_messages(pair: tuple[Any, Any]) -> None:
    peer, mine = pair
    given = texts(40)
    for array, expected in zip(
        mine.encode(given, "numpy"), peer.encode(given, out_type="numpy"), strict=True
    ):
        assert array.dtype == expected.dtype == np.int32
        np.testing.assert_array_equal(array, expected)
    for message, expected in zip(
        mine.encode(given, "proto"), peer.encode(given, return_type="proto"), strict=True
    ):
        assert isinstance(message, sentencepiece_pb2.SentencePieceText)
        assert message.SerializeToString() == expected.SerializeToString()


@pytest.mark.parametrize("form", [int, str, bytes])
def test_marks(pair: tuple[Any, Any], form: Any) -> None:
    peer, mine = pair
    given = texts(60)
    options = [{"reverse": True}, {"emit_unk_piece": True}, {"add_eos": True}]
    if peer.bos_id() >= 0:
        options += [{"add_bos": True}, {"add_bos": True, "add_eos": True, "reverse": True}]
    for chosen in options:
        assert mine.encode(given, form, **chosen) == peer.encode(given, return_type=form, **chosen)


@pytest.mark.parametrize("form", [str, bytes, "serialized_proto", "offset_mapping"])
def test_decode(pair: tuple[Any, Any], form: Any) -> None:
    peer, mine = pair
    rng = random.Random(2)
    ids = [[rng.randrange(len(peer)) for _ in range(rng.randrange(9))] for _ in range(300)]
    ids += peer.encode(texts(100))
    pieces = peer.encode(texts(100), return_type=str)
    free = [[rng.choice([*PARTS, "▁", "▁the", "<0x41>"]) for _ in range(5)] for _ in range(200)]
    for rows in (
        ids,
        pieces,
        free,
        [[], pieces[4]],
        [np.array(ids[0], np.int32), np.array(ids[1], np.int64)],
    ):
        assert mine.decode(rows, form) == peer.decode(rows, return_type=form)
    for one in (5, "▁the", "zz", [], "", None, np.array([5, 6]), np.array([[5, 6], [7, 8]])):
        assert mine.decode(one, form) == peer.decode(one, return_type=form)


def test_one_at_a_time(pair: tuple[Any, Any]) -> None:
    peer, mine = pair
    rng = random.Random(3)
    for text in texts(40):
        ids = peer.encode(text)
        pieces = peer.encode(text, return_type=str)
        assert mine.encode(text) == ids
        assert mine.encode(text, str) == mine.encode_as_pieces(text) == pieces
        assert mine.encode(text, str, reverse=True, add_eos=True) == peer.encode(
            text, return_type=str, reverse=True, add_eos=True
        )
        for row in (ids, pieces, rng.sample(range(len(peer)), 6), [1, 5, 5], [0, 2]):
            assert mine.decode(row) == peer.decode(row)


def test_vocabulary(pair: tuple[Any, Any]) -> None:
    peer, mine = pair
    ids = list(range(len(peer)))
    assert len(mine) == mine.vocab_size() == mine.piece_size() == mine.GetPieceSize() == len(ids)
    for name in ("IdToPiece", "GetScore", "IsUnknown", "IsControl", "IsUnused", "IsByte"):
        assert getattr(mine, name)(ids) == getattr(peer, name)(ids)
        assert getattr(mine, name)(5) == getattr(peer, name)(5)
        for wrong in (-1, len(ids), [0, len(ids)]):
            with pytest.raises(IndexError):
                getattr(mine, name)(wrong)
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        assert getattr(mine, name)() == getattr(peer, name)()
    pieces = [*peer.IdToPiece(ids), "zz", "", "<s>"]
    assert mine.piece_to_id(pieces) == peer.piece_to_id(pieces)
    assert mine["zz"] == peer["zz"]
    for wrong in (123, [123], ["a", 123]):
        with pytest.raises(TypeError):
            mine.piece_to_id(wrong)


def test_normalize(pair: tuple[Any, Any]) -> None:
    peer, mine = pair
    given = [text for text in texts() if peer.normalize(text)]
    assert mine.normalize(given) == peer.normalize(given)
    assert mine.normalize(given, with_offsets=True) == peer.normalize(given, with_offsets=True)
    data = [text.encode() for text in given] + [b"a\xffb"]
    assert mine.normalize(data, with_offsets=True) == peer.normalize(data, with_offsets=True)
    for empty in ("", b""):
        assert mine.normalize(empty, True) == peer.normalize(empty, with_offsets=True)


def test_nbest(pair: tuple[Any, Any]) -> None:
    peer, mine = pair
    if not mine._model.is_unigram:
        with pytest.raises(RuntimeError, match="NBestEncode"):
            mine.nbest_encode("the dog", nbest_size=3)
        return
    for text in texts(25):
        found = mine.nbest_encode(text, "proto", nbest_size=5)
        expected = peer.nbest_encode(text, return_type="proto", nbest_size=5)
        assert [way.score for way in found.nbests] == pytest.approx(
            [way.score for way in expected.nbests], abs=1e-3
        )
        # The order of segmentations with equal scores differs.
        ways = {way.SerializeToString() for way in expected.nbests[:-1]}
        scores = [round(way.score, 3) for way in expected.nbests]
        if len(set(scores)) == len(scores):
            for way, wanted in zip(found.nbests, expected.nbests, strict=True):
                assert way.pieces == wanted.pieces or str(way.pieces) == str(wanted.pieces)
            assert len(ways) == len(scores) - 1
        assert mine.decode(mine.nbest_encode(text, nbest_size=5)) == peer.decode(
            peer.nbest_encode(text, nbest_size=5)
        )


def test_wrong_arguments() -> None:
    mine = ours.SentencePieceProcessor(model_proto=model_proto("unigram"))
    peer = theirs.SentencePieceProcessor(model_proto=model_proto("unigram"))
    suffix = ours.SentencePieceProcessor(model_proto=model_proto("suffix"))
    wrong: list[Callable[[Any], Any]] = [
        lambda sp: sp.encode("a", return_type="list"),
        lambda sp: sp.encode("a", return_type=int, out_type=int),
        lambda sp: sp.encode("a", return_type="proto", add_bos=True),
        lambda sp: sp.encode("a", return_type="offset_mapping", reverse=True),
        lambda sp: sp.encode("a", return_type=str, return_bytes=True),
        lambda sp: sp.encode("a", enable_sampling=True, nbest_size=1),
        lambda sp: sp.encode("a", enable_sampling=True, nbest_size=513),
        lambda sp: sp.encode("a", num_threads="2"),
        lambda sp: sp.encode(5),
        lambda sp: sp.encode(["a", 5]),
        lambda sp: sp.parallel_encode("a", chunk_len=0),
        lambda sp: sp.decode([5], return_type="numpy"),
        lambda sp: sp.decode([10_000]),
        lambda sp: sp.decode([[1, -1]]),
        lambda sp: sp.decode(np.array([1.5])),
        lambda sp: sp.load("missing.model"),
        lambda sp: sp.load(),
        lambda sp: sp.load_from_serialized_proto(b"no model"),
        lambda sp: type(sp).from_file("a", model_proto=b"b"),
        lambda sp: type(sp)().encode("a"),
        lambda sp: sp.decode([[3, 4], ["a"]]),
        lambda sp: sp.decode([["a"], [3]]),
        lambda sp: sp.decode(["a", 3]),
        lambda sp: sp.decode([3, "a"]),
        lambda sp: sp.decode_pieces_as_proto([3, "a"]),
        lambda sp: sp.decode({}),
        lambda sp: sp.decode(2**33),
        lambda sp: sp.id_to_piece(2**33),
        lambda sp: sp.id_to_piece({}),
        lambda sp: sp.is_byte(iter([3])),
        lambda sp: type(sp)().id_to_piece(3),
        lambda sp: type(sp)().id_to_piece([3]),
        lambda sp: type(sp)().is_control(3),
        lambda sp: type(sp)().decode([3]),
        lambda sp: sp.encode("a", add_bos="yes"),
        lambda sp: sp.encode("a", add_eos=[1]),
        lambda sp: sp.encode("a", reverse=int),
        lambda sp: sp.encode("a", enable_sampling="no"),
        lambda sp: sp.encode("a", enable_sampling=True, nbest_size="3", alpha=0.1),
        lambda sp: sp.encode("a", nbest_size=1.5),
        lambda sp: sp.encode("a", alpha="0.1"),
        lambda sp: sp.encode(["a"], thread_pool=2),
        lambda sp: sp.encode(["a"], num_threads=2**33),
        lambda sp: sp.nbest_encode("a", nbest_size=2**33),
        lambda sp: sp.load(b"missing.model"),
    ]
    for call in wrong:
        with pytest.raises((ValueError, TypeError, RuntimeError, IndexError)) as expected:
            call(peer)
        with pytest.raises(expected.type) as found:
            call(mine)
        assert isinstance(found.value, ToksmithError)
    for old in (RuntimeError, ValueError):  # 0.2.1 and 0.2.3
        with pytest.raises(old, match="no bos piece"):
            suffix.encode("a", add_bos=True)
    with pytest.raises(OSError, match=r"missing\.model"):
        mine.load("missing.model")
    with pytest.raises(IndexError, match="no model is loaded: call load"):
        ours.SentencePieceProcessor().id_to_piece(3)
    with pytest.raises(TypeError, match="there are both ids and pieces"):
        mine.decode([[3, 4], ["a"]])


def test_pieces_that_are_bytes_become_bytes() -> None:
    mine = ours.SentencePieceProcessor(model_proto=model_proto("unigram"))
    peer = theirs.SentencePieceProcessor(model_proto=model_proto("unigram"))
    for pieces in (b"x", [b"x", "y"], ["y", b"x"], [[b"x"], [b"the", b"e"]], [["y"], [b"x"]], []):
        assert mine.decode(pieces) == peer.decode(pieces)
        assert mine.decode(pieces, out_type=bytes) == peer.decode(pieces, out_type=bytes)


def test_loading_and_pickling(tmp_path: Path) -> None:
    data = model_proto("bpe")
    path = tmp_path / "m.model"
    path.write_bytes(data)
    message = sentencepiece_model_pb2.ModelProto.FromString(data)
    made = [
        ours.SentencePieceProcessor(str(path)), ours.SentencePieceProcessor(path),
        ours.SentencePieceProcessor(model_proto=message),
        ours.SentencePieceProcessor.from_file(path), ours.SentencePieceProcessor.from_proto(data),
    ]  # fmt: skip
    for each in made:
        assert each.encode("the dog") == made[0].encode("the dog")
        assert each.serialized_model_proto() == message.SerializeToString()
    marked = ours.SentencePieceProcessor(data and path, add_bos=True, out_type=str)
    marked.decode([5])  # makes the decoder, which cannot be pickled
    for again in (pickle.loads(pickle.dumps(marked)), copy.deepcopy(marked)):
        assert (
            again.encode("the dog")
            == marked.encode("the dog")
            == ["<s>", *made[0].encode("the dog", str)]
        )
    old = ours.SentencePieceProcessor.__new__(ours.SentencePieceProcessor)
    old.__setstate__(data)  # a pickle of SentencePiece's holds the model alone
    assert old.encode("the dog") == made[0].encode("the dog")


def test_messages_have_the_fields_of_sentencepiece() -> None:
    from google.protobuf import descriptor_pb2
    from sentencepiece import sentencepiece_model_pb2 as their_model
    from sentencepiece import sentencepiece_pb2 as their_text

    def fields(descriptor: Any, scope: str = "") -> dict[str, tuple[Any, ...]]:
        held = descriptor_pb2.DescriptorProto()
        descriptor.CopyToProto(held)
        return {
            f"{scope}{f.name}": (f.number, f.type, f.label, f.type_name, known.default_value)
            for f, known in zip(held.field, descriptor.fields, strict=True)
            if f.name != "self_test_data"  # which 0.2.1 has
        } | {
            name: rest
            for nested in descriptor.nested_types
            for name, rest in fields(nested, f"{nested.name}.").items()
        }  # fmt: skip

    for mine, peer in (
        (sentencepiece_model_pb2.ModelProto, their_model.ModelProto),
        (sentencepiece_model_pb2.TrainerSpec, their_model.TrainerSpec),
        (sentencepiece_model_pb2.NormalizerSpec, their_model.NormalizerSpec),
        (sentencepiece_pb2.SentencePieceText, their_text.SentencePieceText),
        (sentencepiece_pb2.NBestSentencePieceText, their_text.NBestSentencePieceText),
    ):
        assert fields(mine.DESCRIPTOR) == fields(peer.DESCRIPTOR)
    assert sentencepiece_model_pb2.ModelProto.SentencePiece.USER_DEFINED == 4
    assert sentencepiece_model_pb2.TrainerSpec.BPE == 2


def test_names_of_both_versions() -> None:
    for kind in ("SentencePieceProcessor", "SentencePieceTrainer", "SentencePieceNormalizer"):
        public = {name for name in dir(getattr(theirs, kind)) if not name.startswith("_")}
        assert public <= set(dir(getattr(ours, kind)))
    public = {name for name in dir(theirs) if not name.startswith("_")}
    assert public - set(dir(ours)) <= {"csv", "importlib", "io", "os", "sys"}  # its imports
    # Those of 0.2.1 that 0.2.3 dropped.
    for name in (
        "SampleEncodeAndScoreAsImmutableProto", "sample_encode_and_score_as_pieces",
        "CalculateEntropy", "calculate_entropy", "OverrideNormalizerSpec", "SetVocabulary",
        "reset_vocabulary", "load_vocabulary", "SetEncodeExtraOptions", "EncodeAsImmutableProto",
        "nbest_encode_as_immutable_proto", "DecodePiecesAsSerializedProto",
        "decode_ids_as_immutable_proto",
        "SampleEncodeAsSerializedProto", "Tokenize", "detokenize",
    ):  # fmt: skip
        assert hasattr(ours.SentencePieceProcessor, name)
