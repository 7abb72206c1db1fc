"""SentencePiece's files against sentencepiece itself: encoding and decoding."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer

spm = pytest.importorskip("sentencepiece")
spm.SetMinLogLevel(3)

SHARED = ("llama2", "spm_test_unigram", "english8k_unigram", "spm_toy400_bpe")
VARIANTS: dict[str, dict[str, Any]] = {
    "bpe-identity": {"model_type": "bpe", "normalization_rule_name": "identity"},
    "bpe-bytes": {"model_type": "bpe", "byte_fallback": True, "split_digits": True},
    "unigram-bytes": {"byte_fallback": True, "normalization_rule_name": "nfkc"},
    "unigram-folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix-bpe": {"treat_whitespace_as_suffix": True, "model_type": "bpe"},
    "no-dummy": {"add_dummy_prefix": False},
    "spaces-kept": {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    "bare": {
        "add_dummy_prefix": False, "remove_extra_whitespaces": False, "model_type": "bpe",
        "normalization_rule_name": "identity", "byte_fallback": True,
    },
    "symbols": {
        "user_defined_symbols": ["<sep>", "the", "ﬁ", "株式", "株", " b", "<u>"],
        "control_symbols": ["<ctl>", "[X]"], "pad_id": 3, "unk_surface": "??",
        "bos_piece": "[B]", "eos_piece": "[E]",
    },
    "symbols-bpe": {
        "user_defined_symbols": ["<sep>", "the", "  ", "▁▁"], "model_type": "bpe",
        "remove_extra_whitespaces": False, "unk_id": 5, "bos_id": -1, "eos_id": 0,
    },
    "char": {"model_type": "char"},
    "char-bytes": {"model_type": "char", "byte_fallback": True, "user_defined_symbols": ["the"]},
}  # fmt: skip
TRAINING = (
    """the cat and the dog and the bird 株式会社 of the house 123 456
a low lower lowest new newer newest wide wider widest é ﬁne ｶﾞ 한국어 <u> b\tc
It was the best of times, it was the worst of times, it was the age of wisdom
"""
    * 20
)

ALPHABET = [
    *"   abcdefghijklmnopABC.,!?0123456789", "▁", "▁▁", "\n", "\t", "é", "e\u0301", "ﬁ", "株", "㍿",
    "한", "국", "ㄱ", "ᄀ", "ᅡ", "か", "\u3099", "\u3000", "\u200b", "\ufeff", "\ufffd", "😀", "½",
    "<s>", "<0x0A>", "</s>", "<sep>", "<u>", "<unk>", "[B]", "ｱ", "ﾞ", "\x01", "the ", " of", "\xa0",
]  # fmt: skip


def texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(ALPHABET, k=rng.randrange(30))) for _ in range(count)]


@pytest.fixture(scope="module")
def variant(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``variant(name)``: the file of a small model that sentencepiece trains."""
    folder = tmp_path_factory.mktemp("models")

    def train(name: str) -> Path:
        path = folder / f"{name}.model"
        if not path.exists():
            model = io.BytesIO()
            spm.SentencePieceTrainer.train(
                sentence_iterator=iter(TRAINING.splitlines()), model_writer=model, num_threads=1,
                **{"vocab_size": 400, "hard_vocab_limit": False} | VARIANTS[name],
            )  # fmt: skip
            path.write_bytes(model.getvalue())
        return path

    return train


def compare(theirs: Any, ours: Tokenizer, texts: list[str] | list[bytes]) -> None:
    """Compare ids, pieces and places.

    Of the byte pieces of a character sentencepiece gives the last one all of it; ours say it each.
    """
    for text in texts:
        wanted = theirs.encode_as_proto(text).pieces
        encoding = ours.encoding(text)
        assert encoding.ids == [piece.id for piece in wanted], text
        assert ours.encode(text) == encoding.ids, text
        for piece, token, span in zip(wanted, encoding.tokens, encoding.byte_spans, strict=True):
            if not theirs.is_byte(piece.id):
                assert tuple(span) == (piece.begin, piece.end), (text, piece)
            if not theirs.is_unknown(piece.id):
                assert token.decode() == piece.piece


def compare_decoding(theirs: Any, ours: Tokenizer, count: int) -> None:
    rng = random.Random(5)
    every = range(theirs.get_piece_size())
    groups = [
        every,
        [i for i in every if theirs.is_control(i) or theirs.is_unknown(i)],
        [i for i in every if theirs.is_byte(i)],
        [i for i in every if theirs.id_to_piece(i).startswith("▁")],
        [i for i in every if not theirs.id_to_piece(i).strip("▁")],
    ]
    groups = [group for group in groups if group]
    for _ in range(count):
        ids = [rng.choice(rng.choice(groups)) for _ in range(rng.randrange(1, 9))]
        assert ours.decode(ids) == theirs.decode(ids), ids


@pytest.mark.parametrize("engine", ["reference", "kernel"])
@pytest.mark.parametrize("name", VARIANTS)
def test_small_models(
    variant: Callable[[str], Path], name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKSMITH_ENGINE", engine)
    theirs = spm.SentencePieceProcessor(model_file=str(variant(name)))
    ours = toksmith.load(variant(name))
    compare(theirs, ours, texts(250, seed=1))
    compare(theirs, ours, [text.encode()[1:] + b"\xff\xe3" for text in texts(60, seed=2)])
    compare_decoding(theirs, ours, 300)
    for text in texts(60, seed=3):
        assert ours.decode(ours.encode(text)) == theirs.decode(theirs.encode(text))


@pytest.mark.parametrize("name", VARIANTS)
def test_sentencepiece_reads_the_files_we_write(
    variant: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    theirs = spm.SentencePieceProcessor(model_file=str(variant(name)))
    ours = toksmith.load(variant(name))
    ours.save(tmp_path / "a.model")
    again = spm.SentencePieceProcessor(model_file=str(tmp_path / "a.model"))
    for text in texts(200, seed=4):
        assert again.encode(text) == theirs.encode(text)
        assert again.decode(again.encode(text)) == theirs.decode(theirs.encode(text))
    for role in ("unk_id", "bos_id", "eos_id", "pad_id"):
        assert getattr(again, role)() == getattr(theirs, role)()
    assert toksmith.load(tmp_path / "a.model").pipeline == ours.pipeline


def test_our_vocab_is_theirs(variant: Callable[[str], Path], tmp_path: Path) -> None:
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINING.splitlines()), model_prefix=str(tmp_path / "theirs"),
        vocab_size=200, hard_vocab_limit=False,
    )  # fmt: skip
    toksmith.load(tmp_path / "theirs.model").save(tmp_path / "ours.model")
    assert (tmp_path / "ours.vocab").read_bytes() == (tmp_path / "theirs.vocab").read_bytes()


@pytest.mark.parametrize("engine", ["reference", "kernel"])
@pytest.mark.parametrize("name", SHARED)
def test_published_models(
    shared: Path,
    corpus: Callable[..., bytes],
    name: str,
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOKSMITH_ENGINE", engine)
    path = shared / f"data/vocab/{name}.model"
    theirs = spm.SentencePieceProcessor(model_file=str(path))
    ours = toksmith.load(path)
    compare(theirs, ours, texts(300, seed=6))
    for file in ("english", "code", "multilingual", "cjk"):
        size = 300_000 if engine == "kernel" else 20_000
        data = corpus(f"{file}.txt", size, start=1_000_000).decode()
        documents = data.split("<|endoftext|>")
        if engine == "reference":  # which takes the square of a text's length
            documents = [line[:300] for document in documents for line in document.split("\n")]
        compare(theirs, ours, documents)
    compare_decoding(theirs, ours, 500)
    ours.save(tmp_path / "a.model")
    again = spm.SentencePieceProcessor(model_file=str(tmp_path / "a.model"))
    for text in texts(200, seed=7):
        assert again.encode(text) == theirs.encode(text)
