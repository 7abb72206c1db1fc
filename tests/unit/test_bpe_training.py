"""Learning merges: literals by hand, the figures of the courses, an independent implementation."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests import engines
from toksmith.reference.bpe_training import GPT2_BYTE_ORDER, training_steps
from toksmith.reference.pair_index import merge
from toksmith.splitters import splitter
from toksmith.stages.split_patterns import chunk_spans

both = pytest.mark.parametrize("engine", engines.ENGINES)


def pairs(engine: str, text: str, vocab_size: int, split: str | None = None, **options: Any) -> Any:
    merges = engines.train(engine, [text], vocab_size, split, **options).model.merges
    return [(left, right) for left, right, _ in merges.tolist()]


def encode(engine: str, pipeline: Any, text: str) -> list[int]:
    return engines.encoder(engine, pipeline).encode(text.encode(), 1).tolist()


class TestSeeds:
    """The figures that the seeds print."""

    @both
    def test_aaabdaaabac(self, engine: str) -> None:
        pipeline = engines.train(engine, ["aaabdaaabac"], 259, None)
        assert encode(engine, pipeline, "aaabdaaabac") == [258, 100, 258, 97, 99]

    def test_its_steps(self) -> None:
        steps = training_steps({b"aaabdaaabac": 1}, 259)
        assert [
            (step.pair, step.count, step.new, step.token, list(step.chunks[0])) for step in steps
        ] == [
            ((97, 97), 4, 256, b"aa", [256, 97, 98, 100, 256, 97, 98, 97, 99]),
            ((256, 97), 2, 257, b"aaa", [257, 98, 100, 257, 98, 97, 99]),
            ((257, 98), 2, 258, b"aaab", [258, 100, 258, 97, 99]),
        ]  # fmt: skip

    @both
    def test_short_alphabet(self, engine: str) -> None:
        text = "GB__BCGBGBBCAB_ABABABAB"
        pipeline = engines.train(engine, [text], 261, None)
        assert pairs(engine, text, 261) == [(65, 66), (71, 66), (256, 256), (66, 67), (257, 95)]
        assert len(encode(engine, pipeline, text)) == 10
        assert encode(engine, pipeline, "HLBCIBC") == [72, 76, 259, 73, 259]
        assert encode(engine, pipeline, "123123123") == [49, 50, 51, 49, 50, 51, 49, 50, 51]

    @both
    def test_unicode_article(self, engine: str, shared: Path) -> None:
        text = (shared / "data/golden/unicode_article.txt").read_bytes().decode()
        assert len(text.encode()) == 24597
        pipeline = engines.train(engine, [text], 276, None)
        assert pipeline.model.merges[:, :2].tolist() == [
            [101, 32], [105, 110], [115, 32], [116, 104], [101, 114], [99, 111], [116, 32],
            [226, 128], [44, 32], [97, 110], [111, 114], [100, 32], [97, 114], [101, 110],
            [257, 103], [261, 100], [121, 32], [46, 32], [97, 108], [259, 256],
        ]  # fmt: skip
        assert pipeline.model.merges[:, 2].tolist() == list(range(256, 276))
        if engine == "kernel":  # the reference takes n² steps; its training says the same below
            assert len(encode(engine, pipeline, text)) == 19438
        assert encode(engine, pipeline, "hello world!") == [
            104, 101, 108, 108, 111, 32, 119, 266, 108, 100, 33,
        ]  # fmt: skip

    def test_unicode_article_after_training(self, shared: Path) -> None:
        text = (shared / "data/golden/unicode_article.txt").read_bytes()
        *_, last = training_steps({text: 1}, 276)
        assert len(last.chunks[0]) == 19438

    @both
    def test_taylorswift(self, engine: str, corpus: Callable[..., bytes]) -> None:
        text = corpus("taylorswift.txt").decode()
        assert len(text) == 185561
        size = 512 if engine == "kernel" else 352  # the greatest id below is 346
        pipeline = engines.train(engine, [text], size, None)
        assert [tuple(pair) for pair in pipeline.model.merges[:16, :2].tolist()] == TAYLOR_PAIRS
        assert encode(engine, pipeline, "I love you Puchu") == [
            73, 32, 108, 346, 256, 121, 321, 32, 80, 117, 284, 117,
        ]  # fmt: skip

    def test_taylorswift_counts(self, corpus: Callable[..., bytes]) -> None:
        steps = list(training_steps({corpus("taylorswift.txt"): 1}, 272))
        assert [step.pair for step in steps] == TAYLOR_PAIRS
        assert [step.count for step in steps] == [
            2981, 2961, 2617, 2560, 2428, 2365, 2053, 2006,
            1815, 1805, 1802, 1737, 1736, 1705, 1487, 1360,
        ]  # fmt: skip

    def test_unicode(self) -> None:
        text = "안녕하세요 👋 (hello in Korean!)"
        assert (len(text), len(text.encode())) == (26, 39)
        assert text.encode("utf-16").count(0) == 20
        assert text.encode("utf-32").count(0) == 73

    @both
    def test_unicode_round_trip(self, engine: str) -> None:
        text = "안녕하세요 👋 (hello in Korean!)"
        pipeline = engines.train(engine, [text * 3], 300, "gpt2")
        ids = engines.encoder(engine, pipeline).encode(text, 1)
        assert len(ids) < 39
        assert engines.decode(engine, pipeline, ids).decode() == text


TAYLOR_PAIRS = [
    (101, 32), (44, 32), (100, 32), (46, 32), (114, 32), (50, 48), (115, 32), (105, 110),
    (111, 110), (114, 105), (116, 32), (116, 104), (101, 258), (257, 261), (97, 110), (97, 114),
]  # fmt: skip


@both
class TestTies:
    def test_first_seen(self, engine: str) -> None:
        assert pairs(engine, "zy ab zy ab", 257, "gpt2") == [(122, 121)]
        assert pairs(engine, "zy ab zy ab", 257) == [(122, 121)]

    def test_first_seen_looks_at_the_text_as_it_is_now(self, engine: str) -> None:
        # After ab, the pairs (ab, c) and (x, y) are equal; (x, y) stands first.
        assert pairs(engine, "xyabcxyabcab", 259)[:3] == [(97, 98), (120, 121), (257, 256)]

    def test_smallest_pair(self, engine: str) -> None:
        assert pairs(engine, "zy ab zy ab", 257, "gpt2", ties="smallest-pair") == [(97, 98)]

    def test_smallest_pair_counts_bytes_in_gpt2s_order(self, engine: str) -> None:
        # There a space (0x20) comes after every letter, and 0xAD after all.
        assert pairs(engine, "é é 1 1", 257, ties="smallest-pair") == [(0xA9, 32)]
        assert pairs(engine, "\xad", 257, ties="smallest-pair") == [(0xC2, 0xAD)]
        assert pairs(engine, "a a ", 257, ties="smallest-pair") == [(97, 32)]
        assert pairs(engine, " a a", 257, ties="smallest-pair") == [(32, 97)]

    def test_old_tokens_are_smaller_than_new_ones(self, engine: str) -> None:
        # After (a, b): (ab, c) and (c, d) are equal, and the byte c is older than ab.
        assert pairs(engine, "abcd abcd ab", 258, "gpt2", ties="smallest-pair") == [
            (97, 98),
            (99, 100),
        ]


@both
class TestLimits:
    def test_overlapping_pairs_all_count_and_merge_from_the_left(self, engine: str) -> None:
        # (a, a) stands twice in "aaa", as often as (b, c) in "bcbc"; it comes first.
        assert pairs(engine, "aaa bcbc", 257, "gpt2") == [(97, 97)]
        assert pairs(engine, "bcbc aaa", 257, "gpt2") == [(98, 99)]
        assert pairs(engine, "aaaaa", 260) == [(97, 97), (256, 256), (257, 97)]

    def test_it_stops_when_nothing_is_left(self, engine: str) -> None:
        assert pairs(engine, "abc", 1000) == [(97, 98), (256, 99)]

    def test_min_frequency(self, engine: str) -> None:
        assert pairs(engine, "abab abab cd", 1000, "gpt2", min_frequency=2) == [
            (97, 98),
            (256, 256),
        ]

    def test_max_token_length(self, engine: str) -> None:
        # (ab, ab) would be four bytes long: (c, d) comes in its place.
        assert pairs(engine, "abababab cd", 1000, "gpt2", max_token_length=3) == [
            (97, 98), (32, 99), (257, 100),
        ]  # fmt: skip

    def test_chunks_do_not_touch(self, engine: str) -> None:
        assert pairs(engine, "a1a1a1", 1000, "gpt2") == []

    def test_texts_do_not_touch(self, engine: str) -> None:
        merges = engines.train(engine, ["ab", "ab", "a", "b"], 1000, None).model.merges
        assert merges.tolist() == [[97, 98, 256]]


def test_gpt2_byte_order() -> None:
    # The characters that GPT-2's files show the bytes as, in order of their code points.
    shown = {byte: chr(byte) for byte in GPT2_BYTE_ORDER[:188]}
    rest = (byte for byte in range(256) if byte not in shown)
    shown |= {byte: chr(256 + number) for number, byte in enumerate(rest)}
    assert all(character.isprintable() for character in shown.values())
    assert list(GPT2_BYTE_ORDER) == sorted(range(256), key=shown.__getitem__)


def test_merge() -> None:
    assert merge([], (1, 2), 9) == []
    assert merge([1], (1, 1), 9) == [1]
    assert merge([2, 1, 2, 1, 1, 2], (1, 2), 9) == [2, 9, 1, 9]
    assert merge([1, 1, 1, 1, 1], (1, 1), 9) == [9, 9, 1]


def minbpe(chunks: list[list[int]], merges: int) -> list[tuple[int, int]]:
    """A witness: recount everything, take the first maximum in order of appearance."""
    learned = []
    for new in range(256, 256 + merges):
        counts: dict[tuple[int, int], int] = {}
        for chunk in chunks:
            for pair in pairwise(chunk):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=counts.__getitem__)
        learned.append(best)
        for number, chunk in enumerate(chunks):
            out: list[int] = []
            for token in chunk:
                out.append(token)
                if len(out) > 1 and (out[-2], out[-1]) == best:
                    out[-2:] = [new]
            chunks[number] = out
    return learned


@both
@pytest.mark.parametrize("split", [None, "gpt2", "gpt4"])
def test_first_seen_against_the_witness(engine: str, split: str | None) -> None:
    rng = random.Random(7)
    for _ in range(25):
        alphabet = rng.choice(["ab", "abc ", "aab'1 ", "xyzé "])
        text = "".join(rng.choices(alphabet, k=rng.randint(0, 200)))
        data = text.encode()

        chunks = [list(data[a:b]) for a, b in chunk_spans(splitter(split), data)]
        if text:
            assert pairs(engine, text, 256 + 40, split) == minbpe(chunks, 40), text


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
def test_no_two_tokens_are_made_of_the_same_bytes(ties: Any) -> None:
    rng = random.Random(11)
    for _ in range(100):
        words = ("".join(rng.choices("aab", k=rng.randint(1, 30))).encode() for _ in range(6))
        counts = {word: rng.randint(1, 4) for word in words}
        tokens = [step.token for step in training_steps(counts, 500, ties=ties)]
        assert len(tokens) == len(set(tokens))
