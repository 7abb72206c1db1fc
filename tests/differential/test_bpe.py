"""The kernel's tokens against the reference's: random texts, corpora, instruction sets, threads."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests import engines, strategies
from tests.differential.worker import PARTS
from tests.engines import assert_same_places
from tests.kits.bpe import random_bpe, random_ranks
from toksmith import engine
from toksmith._base.arrays import IdArray
from toksmith.engine import portable
from toksmith.engine.kernel import instruction_set
from toksmith.engine.stepwise import ReferenceEncoder
from toksmith.errors import EngineError
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import recover_merges
from toksmith.results import Batch
from toksmith.splitters import FAMILIES, splitter

ROOT = Path(__file__).resolve().parents[2]


@cache
def trained(family: str, ties: str = "first-seen") -> Pipeline:
    """A vocabulary of random texts, so that random texts have merges."""
    texts = strategies.random_texts(21, 3000)
    return engines.train("kernel", texts, 256 + 600, family, ties=ties)


@cache
def random_documents() -> list[bytes]:
    texts = [text.encode() for text in strategies.random_texts(6, 1500)]
    long = [text.encode() for text in strategies.random_texts(7, 3, pieces=2000)]
    return [*texts, *long, *strategies.random_byte_texts(8, 1500), b"", b"a" * 500, b" " * 500]


def check(pipeline: Pipeline, documents: list[bytes], expected: Batch | None = None) -> None:
    kernel = engine.compile(pipeline)
    expected = expected or ReferenceEncoder(pipeline).encode_texts(documents)
    for threads in (1, 2, 3):
        batch = kernel.encode_texts(documents, threads)
        if batch != expected:
            for document, found, ids in zip(documents, batch, expected, strict=True):
                assert found.tolist() == ids.tolist(), document
        assert batch == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_random_texts(family: str) -> None:
    check(trained(family), random_documents(), reference_results(family)[0])


@pytest.mark.parametrize("pattern", [None, r"\w+|\W", r"[^ ]+"])
def test_other_splitters(pattern: str | None) -> None:
    pipeline = Pipeline(trained("gpt2").model, splitter(pattern, "drop"))
    check(pipeline, random_documents()[:1500:3] + random_documents()[-500:])


@pytest.mark.parametrize("name", ["english", "code", "multilingual", "cjk"])
def test_corpora(
    name: str, corpus: Callable[..., bytes], published: Callable[[str], Pipeline]
) -> None:
    pipeline = published("gpt2")
    text = corpus(f"{name}.txt", 200_000, start=2_000_003)
    expected = ReferenceEncoder(pipeline).encode_list(text)
    kernel = engine.compile(pipeline)
    for threads in (1, 2, 3):
        assert kernel.encode_list(text, threads) == expected
        assert kernel.count(text, threads) == len(expected)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["english", "code", "multilingual", "cjk"])
def test_long_documents_on_many_threads(
    name: str, family: str, corpus: Callable[..., bytes]
) -> None:
    kernel = engine.compile(trained(family))
    text = corpus(f"{name}.txt", 2_000_000, start=4_000_003)
    one = kernel.encode(text, 1)
    assert np.array_equal(kernel.encode(text, 2), one)
    assert np.array_equal(kernel.encode(text, 3), one)
    assert kernel.count(text, 3) == len(one)
    string = text.decode(errors="ignore")
    one = kernel.encode(string.encode(), 1)
    for threads in (1, 2):
        assert np.array_equal(kernel.encode(string, threads), one)


@pytest.mark.parametrize("family", FAMILIES)
def test_long_random_documents_on_many_threads(family: str) -> None:
    kernel = engine.compile(trained(family))
    text = long_random_document()
    one = kernel.encode(text, 1)
    assert np.array_equal(kernel.encode(text, 2), one)
    assert np.array_equal(kernel.encode(text, 3), one)


@cache
def long_random_document() -> bytes:
    text = b"".join(random.Random(13).choices(random_documents(), k=35_000))
    assert len(text) > 2_000_000
    return text


def test_starts() -> None:
    for pattern in ("gpt4", r"[a-z]+", None):
        pipeline = Pipeline(trained("gpt2").model, splitter(pattern, "drop"))
        kernel, reference = engine.compile(pipeline), ReferenceEncoder(pipeline)
        documents = random_documents()[:3000:10]
        expected = reference.encode_with_spans(documents)
        for threads in (1, 3):
            assert_same_places(kernel.encode_with_spans(documents, threads), expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_slices(threads: int) -> None:
    rng = random.Random(9)
    text = b"".join(random_documents()[:300])
    cuts = sorted(rng.choices(range(len(text) + 1), k=200))
    bounds = np.array(list(zip(cuts[::2], cuts[1::2], strict=True)), np.int64)
    for pattern in ("gpt2", r"\w+"):
        pipeline = Pipeline(trained("gpt2").model, splitter(pattern))
        found = engine.compile(pipeline).encode_slices(text, bounds, threads)
        assert found == ReferenceEncoder(pipeline).encode_slices(text, bounds)


def test_unordered_merges() -> None:
    """Merges in any order, whose parts may come later, with the whole chunk first or not."""
    for seed in range(60):
        rng = random.Random(seed)
        pipeline = Pipeline(random_bpe(rng), splitter(rng.choice(["gpt2", None])))
        texts = ["".join(rng.choices("abc ", k=rng.randint(0, 40))) for _ in range(40)]
        check(pipeline, [text.encode() for text in texts])


@pytest.mark.parametrize("family", FAMILIES)
def test_whole_tokens_that_no_merges_make(family: str) -> None:
    """They are one token as a chunk, and none inside a longer one, wherever that may be cut."""
    letters = [*"你好世界中国アイжé가", " ", "a", "\u0301"]
    for seed in range(30):
        rng = random.Random(seed)
        made = random_bpe(rng, letters, tokens=12)
        words = {"".join(rng.choices(letters, k=rng.randint(1, 4))).encode() for _ in range(12)}
        vocab = (*made.vocab, *sorted(words - {*made.vocab}))
        pipeline = Pipeline(BPE(vocab, made.merges, whole_chunk_first=True), splitter(family))
        texts = ["".join(rng.choices(letters, k=rng.randint(0, 60))) for _ in range(60)]
        alone = [f"{left}{word.decode()}{right}" for word in words
                 for left in ("", " ", "你", "人") for right in ("", ".", "好", "人")]  # fmt: skip
        check(pipeline, [text.encode() for text in [*texts, *alone]])


def test_recovered_merges() -> None:
    for seed in range(100):
        vocab = random_ranks(random.Random(seed))
        assert portable.recover_merges(vocab).tolist() == recover_merges(vocab).tolist(), seed


def test_recovered_merges_of_gpt2(published: Callable[[str], Pipeline]) -> None:
    model = published("gpt2").model
    found = portable.recover_merges(model.vocab)
    assert np.array_equal(found, model.merges)
    assert len(found) == 50_000


@pytest.mark.parametrize("isa", ["scalar", "avx2", "avx512", "neon"])
def test_instruction_sets(isa: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKSMITH_ISA", isa)
    try:
        instruction_set()
    except EngineError as missing:
        pytest.skip(str(missing))
    families = ("gpt2", "cl100k", "o200k")
    given, out = tmp_path / "given", tmp_path / "out.npz"
    pipelines = {family: trained(family) for family in families}
    given.write_bytes(pickle.dumps((random_documents(), pipelines)))
    command = [sys.executable, "-m", "tests.differential.worker", given, out]
    subprocess.run(command, check=True, cwd=ROOT)
    with np.load(out) as found:
        for family in families:
            expected, whole = reference_results(family)
            for threads in (1, 2, 3):
                ids, offsets, one = (found[f"{family} {part} {threads}"] for part in PARTS)
                assert Batch(ids, offsets) == expected, (family, threads)
                assert np.array_equal(one, whole), (family, threads)


@cache
def reference_results(family: str) -> tuple[Batch, IdArray]:
    reference = ReferenceEncoder(trained(family))
    documents = random_documents()
    return reference.encode_texts(documents), reference.encode(b"".join(documents))


def test_unknown_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKSMITH_ISA", "mmx")
    with pytest.raises(EngineError, match="mmx"):
        instruction_set()
