"""The most frequent words are selected within any memory, from any counts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import toksmith
from toksmith.errors import OptionError, TrainingError
from toksmith.models import WordLevel
from toksmith.trainers import by_frequency, memory


@pytest.fixture(scope="module")
def text() -> str:
    rng = random.Random(4)
    words = ["".join(rng.choices("abcdefé\ufffd", k=rng.randint(1, 7))) for _ in range(4000)]
    return " ".join(rng.choices(words, weights=range(1, len(words) + 1), k=30_000))


def most_frequent(text: str, room: int | None, least: int = 1) -> list[bytes]:
    """Return the most frequent words, by sorting all of them."""
    counts = toksmith.Counts.from_texts([text])
    found = sorted(counts.filter(least), key=lambda word: (-word[1], word[0]))
    return [word for word, _ in found[:room]]


@pytest.mark.parametrize(("size", "least"), [(None, 1), (2, 1), (50, 1), (50, 30), (3000, 1)])
def test_words_are_the_most_frequent(
    text: str, size: int | None, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_frequency, "_SLACK", 10)
    monkeypatch.setattr(memory, "_TABLES", 0.0016)
    wanted = [b"<unk>", *most_frequent(text, None if size is None else size - 1, least)]
    for limit in (None, "64M"):
        tok = toksmith.train(
            texts=[text], model="word", vocab_size=size, min_frequency=least, memory=limit
        )
        assert isinstance(tok.pipeline.model, WordLevel)
        assert list(tok.pipeline.model.vocab) == wanted


def test_words_that_are_no_utf8(text: str) -> None:
    data = text.encode() + b" \xff\xff \xef\xbf\xbd\xef\xbf\xbd \xff\xff" * 40
    tok = toksmith.train(texts=[data], model="word", vocab_size=30)
    twice = toksmith.train(texts=[data.decode("utf-8", "replace")], model="word", vocab_size=30)
    assert tok == twice
    assert tok.token_id(" \ufffd\ufffd") < 30


def test_a_vocabulary_fits_where_all_words_do_not(tmp_path: Path) -> None:
    rng = random.Random(3)
    path = tmp_path / "many.txt"
    path.write_text(" ".join("".join(rng.choices("abcdefgh", k=6)) for _ in range(60_000)))
    few = toksmith.train(path, model="word", vocab_size=100)
    assert toksmith.train(path, model="word", vocab_size=100, memory="1M") == few
    with pytest.raises(
        OptionError, match=r"min_count=3.* or a vocab_size= for the most"
    ) as refused:
        toksmith.train(path, model="word", memory="1M")
    assert "more than memory=1M" in str(refused.value)
    frequent = toksmith.train(path, model="word", memory="1M", min_frequency=3)
    assert frequent == toksmith.train(path, model="word", min_frequency=3)


def test_nothing_is_frequent_enough() -> None:
    with pytest.raises(TrainingError, match=r"min_frequency=3 times: the most.* occurs 2 times"):
        toksmith.train(texts=["a a"], split=r"\w+|\s", model="word", min_frequency=3)
    with pytest.raises(TrainingError, match=r"no character occurs min_frequency=9 times"):
        toksmith.train(texts=["a a"], model="char", min_frequency=9)


@pytest.mark.parametrize("model", [*toksmith.trainers.MODELS])
@pytest.mark.parametrize("limit", [None, "64M"])
def test_min_count_leaves_nothing(model: str, limit: str | None) -> None:
    with pytest.raises(TrainingError, match=r"min_count=7 leaves nothing of the text \(16 bytes"):
        toksmith.train(
            texts=["low lower lowest"], model=model, vocab_size=400, min_count=7, memory=limit
        )
