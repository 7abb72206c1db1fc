"""toksmith.compat.tokenizers: Unigram training learns the pieces that tokenizers learns."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers as theirs

from toksmith.compat import tokenizers as ours
from toksmith.compat.tokenizers.unigram_seeds import Text, find_seeds
from toksmith.compat.tokenizers.unigram_training import Settings, learn_pieces
from toksmith.errors import ToksmithError

LINES = ["A first sentence", "Another sentence", "And a last one"]
PAGE = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text("utf-8").splitlines()[:120]


def trained(lib: Any, texts: list[str], *, split: bool = True, **options: Any) -> Any:
    tok = lib.Tokenizer(lib.models.Unigram())
    if split:
        tok.pre_tokenizer = lib.pre_tokenizers.Metaspace()
    tok.train_from_iterator(texts, lib.trainers.UnigramTrainer(show_progress=False, **options))
    return tok


def made_up(seed: int) -> list[str]:
    """Return lines of words that share parts, in three scripts."""
    rng = random.Random(seed)
    parts = ["an", "na", "ban", "ana", "s", "é", "日本", "語", "-", "x"]
    words = ["".join(rng.choices(parts, k=rng.randrange(1, 6))) for _ in range(60)]
    return [" ".join(rng.choices(words, k=6)) for _ in range(40)]


def assert_same(texts: list[str], **options: Any) -> None:
    tokenizers = (trained(lib, texts, **options) for lib in (ours, theirs))
    models = [json.loads(tok.to_str())["model"] for tok in tokenizers]
    mine, peer = (dict(model["vocab"]) for model in models)
    assert models[0]["unk_id"] == models[1]["unk_id"]
    assert mine.keys() == peer.keys()
    for piece, score in peer.items():
        # The order of characters that training dropped is not defined in tokenizers.
        assert abs(mine[piece] - score) < (0.02 if len(piece) == 1 else 1e-9), piece


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"split": False},
        {"vocab_size": 18},
        {"vocab_size": 20, "unk_token": "<u>"},
        {"vocab_size": 20, "unk_token": "<u>", "special_tokens": ["<s>", "<u>"]},
        {"special_tokens": ["<s>"], "initial_alphabet": ["z", "yes"]},
        {"max_piece_length": 3, "vocab_size": 22},
        {"max_piece_length": 1},
        {"seed_size": 3},
        {"seed_size": 17},
        {"n_sub_iterations": 1, "vocab_size": 20},
        {"shrinking_factor": 0.5, "vocab_size": 20},
    ],
)
def test_a_small_text(options: dict[str, Any]) -> None:
    assert_same(LINES, **options)


@pytest.mark.parametrize("size", [120, 300, 8000])
@pytest.mark.parametrize("split", [True, False])
def test_a_page(size: int, split: bool) -> None:
    assert_same(PAGE, split=split, vocab_size=size)


@pytest.mark.parametrize("seed", range(5))
def test_made_up_words(seed: int) -> None:
    texts = made_up(seed)
    assert_same(texts, vocab_size=40)
    assert_same(texts, vocab_size=60, split=False, shrinking_factor=0.9)


@pytest.mark.parametrize("texts", [[], [""], ["a"], ["aaaa"]])
def test_little_text(texts: list[str]) -> None:
    assert_same(texts)


def test_the_same_encoding_after_training() -> None:
    for unk in (None, "<unk>"):
        options = {"unk_token": unk, "special_tokens": [unk]} if unk else {}
        found = []
        for lib in (ours, theirs):
            tok = lib.SentencePieceUnigramTokenizer()
            tok.train_from_iterator(LINES, show_progress=False, **options)
            found.append(tok.encode("A sentence").tokens)
            if unk:
                found[-1] += tok.encode("A 🤗").tokens
        assert found[0] == found[1]


def test_more_characters_than_room() -> None:
    for lib in (ours, theirs):
        with pytest.raises(Exception, match="not large enough to contain all chars") as wrong:
            trained(lib, LINES, vocab_size=5)
        assert lib is theirs or isinstance(wrong.value, ToksmithError)


def test_a_text_that_needs_more_pieces_than_there_is_room_for() -> None:
    """tokenizers prunes forever."""
    pieces = learn_pieces({"▁aaaa": 9}, Settings(2))
    assert {piece for piece, _ in pieces} == {"▁", "a"}


def test_seeds() -> None:
    """A word counts once; a substring at the end of all its words is none of its own."""
    text = Text.of({"abcab": 7, "cab": 1, "xcab": 1})
    pieces, arcs = find_seeds(text, 16, 1000)
    columns = zip(pieces.places.tolist(), pieces.lengths.tolist(), strict=True)
    spelled = [text.spelled(place, length) for place, length in columns]
    assert spelled == ["b", "a", "c", "x", "ab"]
    assert [text.spelled(*each) for each in zip(arcs.starts[:3].tolist(),
            (arcs.ends - arcs.starts)[:3].tolist(), strict=True)] == ["a", "ab", "b"]  # fmt: skip
