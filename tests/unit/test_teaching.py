"""The teaching functions: split, pairs, merge, training_steps, unicode, against figures by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import toksmith
from toksmith.errors import OptionError, SplitError, TrainingError
from toksmith.reference import bpe_training

WORDS = "hello world hey would you help with my work"
KOREAN = "안녕하세요 👋 (hello in Korean!)"


class TestSplit:
    def test_by_name(self) -> None:
        assert toksmith.split("Hello!      How're ya doin'? 123 456 789", "gpt2") == [
            "Hello", "!", "     ", " How", "'re", " ya", " doin", "'?", " 123", " 456", " 789",
        ]  # fmt: skip

    def test_words_pattern_none_and_bytes(self) -> None:
        assert toksmith.split("a  b", "words") == ["a", " ", " ", "b"]
        assert toksmith.split("a1b", r"\d") == ["a", "1", "b"]
        assert toksmith.split("a b", None) == ["a b"]
        assert toksmith.split(b"a \xff", "gpt2") == ["a", " \ufffd"]
        assert toksmith.split("", "gpt2") == []

    def test_wrong_name_and_wrong_text(self) -> None:
        with pytest.raises(SplitError, match="unknown split 'mistral'"):
            toksmith.split("a", "mistral")
        with pytest.raises(OptionError, match="a text is a str"):
            toksmith.split(["a"], "gpt2")  # type: ignore[arg-type]


class TestPairs:
    def test_bytes_overlap_and_come_in_order(self) -> None:
        found = toksmith.pairs("aaabdaaabac")
        assert found == {(97, 97): 4, (97, 98): 2, (98, 100): 1, (100, 97): 1, (98, 97): 1,
                         (97, 99): 1}  # fmt: skip
        assert list(found)[:3] == [(97, 97), (97, 98), (98, 100)]
        assert toksmith.pairs("é") == {(0xC3, 0xA9): 1}
        assert toksmith.pairs(b"\xff\xfe") == {(0xFF, 0xFE): 1}

    def test_characters_inside_words(self) -> None:
        found = toksmith.pairs(WORDS, unit="characters", split="words")
        assert found.most_common(2) == [(("h", "e"), 3), (("w", "o"), 3)]
        assert found["e", "l"] == 2
        assert not any(" " in pair for pair in found)
        assert toksmith.pairs("a b", unit="characters") == {("a", " "): 1, (" ", "b"): 1}

    def test_ids(self) -> None:
        assert toksmith.pairs([256, 97, 256, 97]) == {(256, 97): 2, (97, 256): 1}
        found = toksmith.pairs(np.array([1, 1, 1], np.uint32))
        assert found == {(1, 1): 2}
        assert all(type(each) is int for pair in found for each in pair)
        assert toksmith.pairs(iter("aba")) == {("a", "b"): 1, ("b", "a"): 1}

    def test_a_split_counts_as_the_text_chunk_by_chunk(self) -> None:
        text = "low lower low lowest" * 3
        by_hand: Counter[tuple[int, int]] = Counter()
        for chunk in toksmith.split(text, "gpt2"):
            by_hand.update(pairwise(chunk.encode()))
        assert toksmith.pairs(text, split="gpt2") == by_hand

    def test_wrong_arguments(self) -> None:
        with pytest.raises(OptionError, match="unit is 'words'"):
            toksmith.pairs("a", unit="words")  # type: ignore[call-overload]
        with pytest.raises(OptionError, match="are for a text"):
            toksmith.pairs([1, 2], split="gpt2")  # type: ignore[call-overload]
        with pytest.raises(OptionError, match=r"ids\[0\] is \[1\]: use ids"):
            toksmith.pairs([[1], [2]])  # type: ignore[type-var]
        with pytest.raises(OptionError, match="ids is 5"):
            toksmith.pairs(5)  # type: ignore[call-overload]


class TestMerge:
    def test_from_left_to_right(self) -> None:
        assert toksmith.merge([116, 104, 101], pair=(116, 104), new=256) == [256, 101]
        assert toksmith.merge([1, 1, 1], (1, 1), 9) == [9, 1]
        assert toksmith.merge([5, 6, 6, 7, 9, 1], (6, 7), 99) == [5, 6, 99, 9, 1]
        assert toksmith.merge(np.array([1, 2], np.uint32), (1, 2), 3) == [3]
        assert toksmith.merge(b"the", (116, 104), 256) == [256, 101]
        assert toksmith.merge(list("hello"), ("h", "e"), "he") == ["he", "l", "l", "o"]

    @pytest.mark.parametrize("pair", [(1,), (1, 2, 3), 5, None])
    def test_values_that_are_not_pairs(self, pair: object) -> None:
        with pytest.raises(OptionError, match="pair is"):
            toksmith.merge([1, 2], pair, 3)  # type: ignore[arg-type]


class TestTrainingSteps:
    @pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
    @pytest.mark.parametrize("split", [None, "gpt2"])
    def test_are_those_of_the_reference(self, ties: str, split: str | None) -> None:
        text = "the cat in the hat, the cats and hats on the mat"
        chunks = Counter(chunk.encode() for chunk in toksmith.split(text, split))
        steps = list(toksmith.training_steps(text, vocab_size=270, split=split, ties=ties))  # type: ignore[arg-type]
        slow = list(bpe_training.training_steps(chunks, 270, ties=ties))  # type: ignore[arg-type]
        assert [(s.pair, s.count, s.new, s.token) for s in steps] == [
            (s.pair, s.count, s.new, s.token) for s in slow
        ]
        assert [step.index for step in steps] == [*range(1, 15)]
        assert {step.total for step in steps} == {14}

    def test_prints_a_line(self) -> None:
        first, second = toksmith.training_steps("aaabdaaabac", vocab_size=258)
        assert str(first) == repr(first) == "merge 1/2: 'a' + 'a' → 'aa' (256), 4 times"
        assert (first.left, first.right, first.tokens_after) == (97, 97, 9)
        assert second.text == "aaa·b·d·aaa·b·a·c"
        assert first.text == "aa·a·b·d·aa·a·b·a·c"
        (only,) = toksmith.training_steps("e ", vocab_size=257)
        assert str(only) == "merge 1/1: 'e' + '·' → 'e·' (256), once"

    def test_words_of_characters(self) -> None:
        steps = list(
            toksmith.training_steps(WORDS, vocab_size=26, unit="characters", split="words")
        )
        assert [step.token.decode() for step in steps] == [
            "he", "wo", "hel", "wor", "ld", "hell", "hello", "world", "hey", "wou", "would",
        ]  # fmt: skip
        assert [step.count for step in steps[:3]] == [3, 3, 2]
        assert steps[0].text == (
            "he·l·l·o  w·o·r·l·d  he·y  w·o·u·l·d  y·o·u  he·l·p  w·i·t·h  m·y  w·o·r·k"
        )
        assert steps[-1].text == "hello  world  hey  would  y·o·u  hel·p  w·i·t·h  m·y  wor·k"

    def test_several_texts_with_bytes_that_are_no_character(self) -> None:
        (step,) = toksmith.training_steps(["aab", b"\xffaa\n"], vocab_size=257)
        assert step.text == "aa·b\n<FF>·aa·↵"

    def test_wrong_arguments_at_once(self) -> None:
        with pytest.raises(OptionError, match="ties is"):
            toksmith.training_steps("a", vocab_size=257, ties="x")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="texts is a path"):
            toksmith.training_steps(Path("a.txt"), vocab_size=257)  # type: ignore[arg-type]
        with pytest.raises(TrainingError, match="no text"):
            toksmith.training_steps("", vocab_size=257)


class TestUnicode:
    def test_figures(self) -> None:
        found = toksmith.unicode(KOREAN)
        assert len(found) == len(found.code_points) == 26
        assert [point.code for point in found.code_points] == [ord(c) for c in KOREAN]
        assert len(found.utf8) == 39
        assert found.utf16.count(0) == 20
        assert found.utf32.count(0) == 73
        assert (found.utf8, found.utf16, found.utf32) == (
            KOREAN.encode(), KOREAN.encode("utf-16"), KOREAN.encode("utf-32"),
        )  # fmt: skip

    def test_shows_itself(self) -> None:
        found = toksmith.unicode("hello 👋")
        assert repr(found) == (
            "<UnicodeText 'hello 👋': 7 code points, 10 bytes in UTF-8, 18 in UTF-16, 32 in UTF-32>"
        )
        table = str(found)
        assert "U+1F44B  👋    WAVING HAND SIGN" in table
        assert "F0 9F 91 8B" in table
        assert "WAVING HAND SIGN" in found._repr_html_()
        assert "&lt;byte FF" in toksmith.unicode(b"<\xff")._repr_html_()
        assert len(repr(toksmith.unicode("\u200b" * 5_000))) <= 200
        assert "\n" not in repr(toksmith.unicode("a\nb"))

    def test_invalid(self) -> None:
        assert toksmith.unicode(b"a\xff").text == "a\ufffd"
        assert toksmith.unicode("\ud83d").code_points[0].name == "<surrogate-D83D>"
        assert toksmith.unicode("\ud83d").utf16 == b"\xff\xfe\xfd\xff"
        with pytest.raises(OptionError):
            toksmith.unicode(5)  # type: ignore[arg-type]
