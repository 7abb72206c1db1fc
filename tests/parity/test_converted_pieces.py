"""SentencePiece models written as tokenizer.json: `tokenizers` makes the same tokens."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_texts
from toksmith import Tokenizer
from toksmith.engine import compile as compile_pipeline
from toksmith.engine.fused import FusedEncoder
from toksmith.errors import UnsupportedError
from toksmith.formats.sentencepiece_pipeline import protected_symbols, sentencepiece_pipeline
from toksmith.framing import AddedToken, Framing
from toksmith.models import PieceType, SentencePieceBPE, Unigram
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline

tokenizers = pytest.importorskip("tokenizers")

NAMES = ("llama2", "spm_toy400_bpe", "english8k_unigram", "spm_test_unigram")


@pytest.fixture(scope="module", params=NAMES)
def pair(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, Any]:
    """A model without its map of characters, and tokenizers' reading of what we write of it."""
    pipeline = toksmith.load(shared / f"data/vocab/{request.param}.model").pipeline
    steps = tuple(
        replace(step, charsmap=b"") if isinstance(step, SentencePieceNormalizer) else step
        for step in pipeline.normalizer
    )
    ours = Tokenizer(replace(pipeline, normalizer=steps))
    path = tmp_path_factory.mktemp("converted") / "tokenizer.json"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "in a tokenizer.json, every piece of a Unigram")
        ours.save(path)
    return ours, tokenizers.Tokenizer.from_file(str(path))


def check(pair: tuple[Tokenizer, Any], texts: list[str]) -> None:
    ours, theirs = pair
    found = ours.encode_batch(texts, special="encode").to_lists()
    expected = theirs.encode_batch(texts, add_special_tokens=False)
    for text, ids, other in zip(texts, found, expected, strict=True):
        if ids != other.ids:
            assert isinstance(ours.pipeline.model, Unigram), repr(text)
            # SentencePiece sums up in float32: in a long text it takes a way that is as good but
            # for the last digits of the sum.
            total = score(ours, ids)
            assert 0 <= score(ours, other.ids) - total < abs(total) * 2**-22, repr(text)


def score(tokenizer: Tokenizer, ids: list[int]) -> float:
    """Return the sum of scores; the unknown ones are as many in all ways."""
    assert isinstance(tokenizer.pipeline.model, Unigram)
    return float(tokenizer.pipeline.model.scores[ids].sum())


@pytest.mark.parametrize("name", ["english", "code", "multilingual", "cjk"])
def test_corpus(name: str, pair: tuple[Tokenizer, Any], corpus: Callable[..., bytes]) -> None:
    data = corpus(f"{name}.txt", 150_000, start=6_000_003).decode()
    check(pair, data.split("<|endoftext|>"))


def test_random_strings(pair: tuple[Tokenizer, Any]) -> None:
    check(pair, random_texts(61, 1500))


RUNS = [letter * size for letter in "\n\t" for size in range(1, 6)]
MARKS = ["\u2581" * size for size in range(2, 6)]
NAMED = ["<sep>", "<sep><sep>", "[x]"]


def pipeline_of_runs(user_defined: list[str], **more: PieceType) -> Pipeline:
    """Pieces in the layout of Gemma's: words, and runs of white space that are user-defined."""
    words = [a + b for a in "ab\u2581" for b in "ab\u2581" if a + b != "\u2581\u2581"]
    normal = [*words, "aba", "\u2581ab", "a", "b", "\u2581", "<", "s", "e", "p", ">", "<s"]
    names = ["<unk>", *normal, *user_defined]
    kinds = [PieceType.UNKNOWN, *[PieceType.NORMAL] * len(normal)]
    kinds += [more.get("kind", PieceType.USER_DEFINED)] * len(user_defined)
    scores = [0.0, *[-float(i) for i, _ in enumerate(normal)], *[-1000.0] * len(user_defined)]
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    model = SentencePieceBPE(
        tuple(name.encode() for name in names + byte_pieces),
        scores + [0.0] * 256,
        [*kinds, *[PieceType.BYTE] * 256],
        byte_fallback=True,
    )
    normalizer = SentencePieceNormalizer(
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        protected=protected_symbols(model),
    )
    return sentencepiece_pipeline(model, normalizer)


def with_raw_runs() -> Pipeline:
    """The same from a GGUF file: the runs are added tokens, and merges could make them too."""
    runs = [*RUNS, *[" " * len(marks) for marks in MARKS], *NAMED]
    pipe = pipeline_of_runs(runs, kind=PieceType.NORMAL)
    model = pipe.model
    assert isinstance(model, SentencePieceBPE)
    added = [AddedToken(run, model.ids[run.encode()], special=False) for run in runs]
    return replace(pipe, framing=Framing((*pipe.framing.added_tokens, *added)))


@pytest.mark.parametrize(
    "pipe",
    [
        pipeline_of_runs([*RUNS, *MARKS, *NAMED]),
        pipeline_of_runs([*RUNS, *MARKS, "a\u2581\u2581", "bb\u2581"]),
        pipeline_of_runs(NAMED),
        with_raw_runs(),
    ],
    ids=["runs", "overlapping", "named", "raw runs"],
)
def test_user_defined_pieces(pipe: Pipeline, tmp_path: Path) -> None:
    """They become added tokens, and the text between them merges as before."""
    ours = Tokenizer(pipe)
    ours.save(tmp_path / "tokenizer.json")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = toksmith.load(tmp_path / "tokenizer.json")
    rng = random.Random(46)
    parts = [" ", " ", "\n", "\t", "\u2581", "a", "b", "<sep>", "<s", "[x]", "\u00e9", "\r"]
    texts = ["".join(rng.choices(parts, k=rng.randint(1, 24))) for _ in range(1500)]
    check((ours, other), [*texts, *random_texts(62, 200)])
    for text in texts[:500]:
        ids = ours.encode(text)
        assert again.encode(text) == ids
        assert again.decode(ids) == ours.decode(ids) == other.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize(
    ("pieces", "changes"),
    [
        (["<sep>"], {"add_dummy_prefix": True}),  # no ▁ after the piece
        (["<sep>"], {"remove_extra_whitespaces": True}),
        (["a b"], {}),  # found in the text, but not where it says a▁b
    ],
)
def test_user_defined_pieces_that_it_cannot_hold(
    pieces: list[str], changes: dict[str, bool], tmp_path: Path
) -> None:
    pipe = pipeline_of_runs(pieces)
    step = pipe.normalizer[0]
    assert isinstance(step, SentencePieceNormalizer)
    pipe = replace(pipe, normalizer=(replace(step, **changes),))
    with pytest.raises(UnsupportedError, match=r"which leaves .* unchanged"):
        Tokenizer(pipe).save(tmp_path / "tokenizer.json")


REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
PREPEND = {"type": "Prepend", "prepend": "\u2581"}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "split": False}
SPELLINGS = {
    "legacy": ({"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, None),
    "replaced first": ({"type": "Sequence", "normalizers": [REPLACE, PREPEND]}, None),
    "without a mark": (REPLACE, None),
    **{
        scheme: (None, METASPACE | {"prepend_scheme": scheme})
        for scheme in ("first", "always", "never")
    },
}


@pytest.fixture(scope="module")
def llama(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Llama 2 as tokenizer.json; with every pair that makes a piece, as transformers writes it."""
    pipeline = toksmith.load(shared / "data/vocab/llama2.model").pipeline
    path = tmp_path_factory.mktemp("llama") / "tokenizer.json"
    Tokenizer(pipeline).save(path)
    held: dict[str, Any] = json.loads(path.read_text())
    vocab = held["model"]["vocab"]
    held["model"]["merges"] = [
        [piece[:place], piece[place:]]
        for piece in vocab  # by id, and so by score
        for place in range(1, len(piece))
        if piece[:place] in vocab and piece[place:] in vocab
    ]
    return held


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_llama_run_in_the_kernel(
    spelling: str, llama: dict[str, Any], tmp_path: Path, corpus: Callable[..., bytes]
) -> None:
    normalizer, pre_tokenizer = SPELLINGS[spelling]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(llama | {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer}))
    ours = toksmith.load(path)
    assert isinstance(compile_pipeline(ours.pipeline), FusedEncoder)
    names = ("english", "code", "multilingual", "cjk")
    texts = [corpus(f"{name}.txt", 50_000, start=1_000_003).decode() for name in names]
    special = ["", " ", "  a", "<s>a b</s> c", "\u2581", "a\u2581 b"]
    check(
        (ours, tokenizers.Tokenizer.from_file(str(path))),
        [*texts, *special, *random_texts(62, 300)],
    )
