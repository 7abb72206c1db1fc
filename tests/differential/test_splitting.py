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
from tests.kits import bpe
from tests.kits.bpe import BYTES
from toksmith import engine
from toksmith.engine.counting import ChunkCounter
from toksmith.engine.kernel import KernelEncoder
from toksmith.engine.portable import recover_merges
from toksmith.engine.split_tables import kernel_splitter, splitter_for
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


def check(split: PatternSplitter, texts: list[bytes], threads: tuple[int, ...] = (1,)) -> None:
    expected = [[text[a:b] for a, b in chunk_spans(split, text)] for text in texts]
    longer = sorted({chunk for chunks in expected for chunk in chunks if len(chunk) > 1})
    model = BPE((*BYTES, *longer), np.zeros((0, 3), np.uint32), whole_chunk_first=True)
    encoder = engine.compile(Pipeline(model, split))
    for text, chunks in zip(texts, expected, strict=True):
        for count in threads:
            found = [model.vocab[token] for token in encoder.encode_list(text, count)]
            assert found == chunks, (text, count)


@pytest.mark.parametrize("split", LISTED)
def test_the_listed_patterns(split: PatternSplitter) -> None:
    check(split, [text.encode() for text in strategies.random_texts(7, 300)])
    check(split, strategies.random_byte_texts(8, 300), threads=(2,))


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
    check(split, [b" ".join(texts), b"\xff\n".join(texts)], threads=(3,))


def test_phrases_are_cut_into_words_without_a_change_of_ids() -> None:
    split = splitter("exaone-moe")
    pairs = (*bpe.PAIRS, (b"h", b"e"), (b"e", b"r"), (b" ", b"o"), (b"n", b"'"))
    model = bpe.model(pairs)
    words = splitter_for(model, split)
    assert words is not kernel_splitter(split)
    encoder = KernelEncoder(model, words)
    phrases = KernelEncoder(model, kernel_splitter(split))
    compiled = engine.compile(Pipeline(model, split))
    texts = [*strategies.random_byte_texts(10, 300), *map(str.encode, bpe.TEXTS)]
    for text in [*texts, b"other words of the \xc3\xa9 on\xc3\xa9 \xa9 the", b" the".join(texts)]:
        ids = phrases.encode_list(text, 1)
        assert encoder.encode_list(text, 1) == ids, text
        assert compiled.encode_list(text, 2) == ids, text


def test_phrases_stay_whole_where_words_could_get_other_ids() -> None:
    split = splitter("exaone-moe")
    plain = kernel_splitter(split)
    ranks = (*BYTES, b"th", b"the", b" the")
    assert splitter_for(BPE(ranks, recover_merges, True), split) is not plain
    for joined in (b"e ", b"the the", b"\xc3\xa9 t", b"\xa9 t"):
        assert splitter_for(BPE((*ranks, joined), recover_merges), split) is plain, joined
    assert splitter_for(BPE((*ranks, b"\xc2\xa0 "), recover_merges), split) is not plain
    # No merge makes a token of three letters without one of two.
    assert splitter_for(BPE((*ranks, b"xyz"), recover_merges, True), split) is plain
    assert splitter_for(bpe.model(whole=True), split) is plain
    for name in ("cl100k", "deepseek-llm", "chameleon", "starcoder"):
        assert splitter_for(bpe.model(), splitter(name)) is kernel_splitter(splitter(name)), name


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
    check(splitter(family), [text], (1, 2, 3))


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
