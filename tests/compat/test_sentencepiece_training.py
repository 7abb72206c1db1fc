"""The module's trainer and normalizer against the installed SentencePiece."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import toksmith.compat.sentencepiece as ours
from tests.compat.sentencepiece_models import LINES, texts
from toksmith.compat.sentencepiece import sentencepiece_model_pb2
from toksmith.errors import ToksmithError

theirs = pytest.importorskip("sentencepiece")

SENTENCES = LINES * 4


def trained(module: Any, **options: Any) -> bytes:
    model = io.BytesIO()
    module.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=model, minloglevel=2, **options
    )
    return model.getvalue()


def pieces(module: Any, data: bytes) -> list[tuple[str, float]]:
    model = module.SentencePieceProcessor(model_proto=data)
    ids = list(range(len(model)))
    return list(zip(model.id_to_piece(ids), model.get_score(ids), strict=True))


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 30},
        {"vocab_size": 24, "user_defined_symbols": ["22", "<x>", "low"], "pad_id": 3},
        {"vocab_size": 28, "character_coverage": 0.98, "normalization_rule_name": "identity"},
    ],
)
def test_same_pieces(kind: str, options: dict[str, Any]) -> None:
    if kind in ("unigram", "bpe"):
        options = options | {"vocab_size": options["vocab_size"] + 50}
    chosen = {"model_type": kind, "hard_vocab_limit": False, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, peer = trained(ours, **chosen), trained(theirs, **chosen)
    found, expected = pieces(ours, mine), pieces(theirs, peer)
    if kind == "unigram":  # seeds of equal frequency differ
        assert len({piece for piece, _ in found} & {piece for piece, _ in expected}) >= (
            0.8 * len(expected)
        )
    else:
        assert [piece for piece, _ in found] == [piece for piece, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    assert pieces(theirs, mine) == found
    given = texts(60)
    read_by_both = theirs.SentencePieceProcessor(model_proto=mine)
    again = ours.SentencePieceProcessor(model_proto=mine)
    for form in (int, str, "serialized_proto"):
        assert again.encode(given, form) == read_by_both.encode(given, return_type=form)
    assert again.decode(again.encode(given)) == read_by_both.decode(read_by_both.encode(given))
    trainer = sentencepiece_model_pb2.ModelProto.FromString(mine).trainer_spec
    wanted = sentencepiece_model_pb2.ModelProto.FromString(peer).trainer_spec
    assert trainer.model_type == wanted.model_type
    assert trainer.vocab_size == len(found)
    assert kind == "unigram" or trainer.vocab_size == wanted.vocab_size
    assert list(trainer.user_defined_symbols) == list(wanted.user_defined_symbols)


def test_files_and_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("\n".join(SENTENCES), "utf-8")
    log = io.StringIO()
    ours.SentencePieceTrainer.Train(
        "--input=a.txt --model_prefix=m --vocab_size=80 --model_type=bpe", logstream=log
    )
    data = Path("m.model").read_bytes()
    assert "80 pieces" in log.getvalue()
    expected = [f"{piece}\t{score:g}" for piece, score in pieces(theirs, data)]
    assert Path("m.vocab").read_text("utf-8").splitlines() == expected
    options = {"input": ["a.txt"], "vocab_size": "80", "model_type": "bpe", "model_prefix": "n"}
    ours.SentencePieceTrainer.train(**options, vocabulary_output_piece_score=False)
    assert pieces(ours, Path("n.model").read_bytes()) == pieces(ours, data)
    assert Path("n.vocab").read_text("utf-8").splitlines() == [
        row.split("\t")[0] for row in expected
    ]
    as_bytes = io.BytesIO()
    ours.SentencePieceTrainer.train(
        sentence_iterator=(f"{line}\r\n".encode() for line in SENTENCES),
        model_writer=as_bytes, vocab_size=80, model_type="bpe",
    )  # fmt: skip
    assert pieces(ours, as_bytes.getvalue()) == pieces(ours, data)
    spec = sentencepiece_model_pb2.ModelProto.FromString(data).trainer_spec
    assert (list(spec.input), spec.model_prefix) == (["a.txt"], "m")


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"input": "missing.txt"}, OSError),
        ({"color": "red"}, OSError),
        ({"vocab_size": "many"}, ValueError),
        ({"num_threads": 0}, RuntimeError),
        ({"sentence_iterator": iter([1])}, ValueError),
        ({"sentence_iterator": 5}, TypeError),
        ({"sentence_iterator": iter(["a"]), "input": "a.txt"}, RuntimeError),
        ({"hard_vocab_limit": "perhaps"}, ValueError),
        ({"model_type": "words"}, RuntimeError),
        ({"vocab_size": 9000}, RuntimeError),
        ({"enable_differential_privacy": True}, RuntimeError),
        ({"model_prefix": None}, RuntimeError),
        ({"pretokenizer": str.split}, RuntimeError),
        ({"pretokenizer": lambda text: [text[:-1]]}, ValueError),
        ({"pretokenizer": lambda text: [text, 1]}, RuntimeError),
        ({"pretokenizer": list, "pretokenization_delimiter": "|"}, ValueError),
        ({"pretokenizer": list, "model_type": "word"}, ValueError),
    ],
)
def test_wrong_options(options: dict[str, Any], kind: type[Exception]) -> None:
    given = {"model_prefix": "m", **options}
    if "input" not in options:
        given.setdefault("sentence_iterator", iter(SENTENCES))
    with pytest.raises(kind) as found:
        ours.SentencePieceTrainer.train(**given)
    assert isinstance(found.value, ToksmithError)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_training_with_a_pretokenizer(kind: str, tmp_path: Path) -> None:
    letters = re.compile("\u2581?[aeiou]+|\u2581?[^aeiou\u2581]+|\u2581")
    given = {
        "model_type": kind, "vocab_size": 55, "pretokenizer": letters.findall,
        "hard_vocab_limit": False,
    }  # fmt: skip
    data = trained(ours, **given)
    found, expected = pieces(ours, data), pieces(theirs, trained(theirs, **given))
    for piece, _ in found[3:]:
        assert letters.fullmatch(piece), piece
    same = {piece for piece, _ in found} & {piece for piece, _ in expected}
    assert len(same) >= (0.8 if kind == "unigram" else 0.95) * len(expected)
    model = ours.SentencePieceProcessor(model_proto=data)
    assert model.normalize("  ﬁ  x ") == "▁fi▁x"
    assert model.decode(model.encode("the dog")) == "the dog"
    path = tmp_path / "a.txt"
    path.write_text("\n".join(SENTENCES), "utf-8")
    writer = io.BytesIO()
    ours.SentencePieceTrainer.train(input=path, model_writer=writer, **given)
    assert pieces(ours, writer.getvalue()) == found
    short = trained(
        ours, **given | {"pretokenizer": lambda text: [text[:9]], "vocab_size": 40},
        allow_inconsistent_pretokenization=True,
    )  # fmt: skip
    assert "z" not in [piece for piece, _ in pieces(ours, short)]


def test_training_with_a_normalizer() -> None:
    rules = [("fox", "cat"), ("é", "e")]
    normalizer = ours.SentencePieceNormalizer(
        norm_map=rules, add_dummy_prefix=False, escape_whitespaces=True
    )
    model = ours.SentencePieceProcessor(
        model_proto=trained(ours, vocab_size=80, normalizer=normalizer)
    )
    assert model.normalize("a fox é") == "a▁cat▁e"
    with pytest.raises(ValueError, match="add_dummy_prefix"):
        trained(ours, vocab_size=80, normalizer=normalizer, add_dummy_prefix=True)


RAW = {"add_dummy_prefix": False, "escape_whitespaces": False, "remove_extra_whitespaces": False}


@pytest.mark.parametrize("switches", [RAW, {**RAW, "remove_extra_whitespaces": True},
                                      dict.fromkeys(RAW, True)])  # fmt: skip
@pytest.mark.parametrize("source", ["identity", "nfkc_cf", "nmt_nfkc", "tsv", "map"])
def test_normalizer(source: str, switches: dict[str, bool], tmp_path: Path) -> None:
    (tmp_path / "rules.tsv").write_text("41\t42\n66 6F 78\t63\n")
    given: dict[str, Any] = {
        "tsv": {"rule_tsv": str(tmp_path / "rules.tsv")},
        "map": {"norm_map": [("fox", "cat"), ("é", "e")]},
    }.get(source, {"rule_name": source})
    peer = theirs.SentencePieceNormalizer(**given, **switches)
    mine = ours.SentencePieceNormalizer(**given, **switches)
    inputs = [text for text in texts(100) if peer.normalize(text)]
    assert mine.normalize(inputs) == peer.normalize(inputs)
    assert mine.normalize(inputs, with_offsets=True) == peer.normalize(inputs, with_offsets=True)
    data = [text.encode() for text in inputs]
    assert mine.normalize(data, with_offsets=True) == peer.normalize(data, with_offsets=True)
    if source in ("tsv", "map"):
        assert mine.decompile() == peer.decompile()
    again = ours.SentencePieceNormalizer(
        normalizer_spec=peer.serialized_normalizer_spec(), **dict.fromkeys(RAW)
    )
    assert again.normalize(inputs) == peer.normalize(inputs)
    from_model = theirs.SentencePieceNormalizer(model_proto=mine.serialized_model_proto())
    assert from_model.normalize(inputs) == peer.normalize(inputs)


@pytest.mark.parametrize(
    "options",
    [{}, {"rule_name": "nfc"}, {"model_file": "missing.model"}, {"model_proto": b"none"},
     *({"norm_map": [pair]} for pair in [("", "a"), ("a", "a"), (b"\xff", "a"), ("a", b"\xff")]),
     {"norm_map": [("a", "b"), ("a", "c")]}],
)  # fmt: skip
def test_wrong_normalizers(options: dict[str, Any]) -> None:
    for module in (theirs, ours):
        with pytest.raises((ValueError, RuntimeError)):
            module.SentencePieceNormalizer(**options)
