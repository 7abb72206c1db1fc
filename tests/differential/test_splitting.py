"""The kernel's chunks against the reference's.

Chunks show in the tokens of a vocabulary that holds all of the reference's chunks and no merge:
a chunk of the kernel that is not one of the reference's falls apart into bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from tests import strategies
from tests.kits.bpe import BYTES
from toksmith import engine
from toksmith.engine.counting import ChunkCounter
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import FAMILIES, PatternSplitter, splitter
from toksmith.splitters.names import listed_patterns, name_of
from toksmith.stages.split_patterns import chunk_spans

OTHER_PATTERNS = [r"\w+|\s", r"(?i)[a-zé]+", r"\p{Han}|[^\p{Han}]+", r".{1,3}", r"(?r)\S+"]
LISTED = [
    pytest.param(splitter(name), id=name)
    for name in dict.fromkeys(map(name_of, listed_patterns().values()))
    if name not in FAMILIES
]
SPLITTERS = [
    *(pytest.param(splitter(name), id=name) for name in FAMILIES),
    *(pytest.param(PatternSplitter(pattern, "keep"), id=pattern) for pattern in OTHER_PATTERNS),
    *(
        pytest.param(PatternSplitter(pattern, "drop"), id=f"{pattern} drop")
        for pattern in OTHER_PATTERNS
    ),
]


def check(split: PatternSplitter, texts: list[bytes], threads: int = 1) -> None:
    expected = [[text[a:b] for a, b in chunk_spans(split, text)] for text in texts]
    longer = sorted({chunk for chunks in expected for chunk in chunks if len(chunk) > 1})
    model = BPE((*BYTES, *longer), np.zeros((0, 3), np.uint32), whole_chunk_first=True)
    encoder = engine.compile(Pipeline(model, split))
    for text, chunks in zip(texts, expected, strict=True):
        found = [model.vocab[token] for token in encoder.encode_list(text, threads)]
        assert found == chunks, text


@pytest.mark.parametrize("split", LISTED)
def test_the_listed_patterns(split: PatternSplitter) -> None:
    check(split, [text.encode() for text in strategies.random_texts(7, 300)])
    check(split, strategies.random_byte_texts(8, 300), threads=2)


@pytest.mark.parametrize(
    ("name", "far"),
    [
        ("deepseek-llm", ["€" + " \u2003" * 9, "中" + "\u2003 " * 6, "½" + " \u2003" * 30 + "9"]),
        ("chameleon", ["\r IMGIMGABCDZ", "\u2003 IMGIMGABCDE", "\r IMGIMGIMGIMGAZ\r IMGIMGAZ"]),
    ],
)
def test_sequences_whose_ends_stay_open_for_long(name: str, far: list[str]) -> None:
    rng = random.Random(name)
    texts = []
    for text in strategies.random_byte_texts(9, 300):
        pieces = [text, *(each.encode() for each in rng.choices(["ab 1", "\n", *far], k=6)), text]
        rng.shuffle(pieces)
        texts.append(b"".join(pieces))
    split = splitter(name)
    check(split, texts)
    check(split, [b" ".join(texts), b"\xff\n".join(texts)], threads=3)


@pytest.mark.parametrize("split", SPLITTERS)
def test_random_strings(split: PatternSplitter) -> None:
    check(split, [text.encode() for text in strategies.random_texts(3, 2000)])


@pytest.mark.parametrize("split", SPLITTERS)
def test_long_random_strings(split: PatternSplitter) -> None:
    check(split, [text.encode() for text in strategies.random_texts(4, 20, pieces=600)])


@pytest.mark.parametrize("split", SPLITTERS)
def test_random_bytes(split: PatternSplitter) -> None:
    check(split, strategies.random_byte_texts(5, 2000))


@pytest.mark.parametrize("split", SPLITTERS)
def test_every_character_between_two_letters(split: PatternSplitter) -> None:
    points = [
        *range(0x3000),
        *range(0xA000, 0xB000),
        *range(0xF900, 0x12000, 3),
        *range(0x1D400, 0x20000, 5),
    ]
    check(split, ["".join(f"a{chr(point)}b {chr(point)}" for point in points).encode()])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["english", "code", "multilingual", "cjk"])
def test_corpora(family: str, name: str, corpus: Callable[..., bytes]) -> None:
    text = corpus(f"{name}.txt", 60_000, start=1_000_003)
    for threads in (1, 2, 3):
        check(splitter(family), [text], threads)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_document_is_cut_only_between_chunks(family: str) -> None:
    """Where a thread's piece may end: both sides alone have the chunks of the whole."""
    split = splitter(family)
    cutter = ChunkCounter(split, 1)
    texts = [text.encode() for text in strategies.random_texts(14, 300)]
    for text in [*texts, *strategies.random_byte_texts(15, 300)]:
        chunks = chunk_spans(split, text)
        for cut in {cutter.cut(text, start, len(text)) for start in range(len(text) + 1)}:
            left = chunk_spans(split, text[:cut])
            right = chunk_spans(split, text[cut:])
            assert left + [(a + cut, b + cut) for a, b in right] == chunks, (text, cut)
