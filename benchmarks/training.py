"""Training jobs, and the check that two libraries did equal work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.adapters import learned_tokens
from benchmarks.bars import ALL
from toksmith import load


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    Attributes:
        vocab_size: how many tokens are asked for where nothing else is said.
        within: by how much, of one, the tokens of the text may differ between equal work.
    """

    vocab_size: int
    within: float


KINDS = {
    "byte-bpe": Kind(32_000, 0.001),  # with the split of GPT-2
    "sentencepiece-bpe": Kind(8_000, 0.005),
    "sentencepiece-unigram": Kind(8_000, 0.005),
    "wordpiece": Kind(30_000, 0.001),  # by frequency, of the words of BERT
}


@dataclass(frozen=True)
class TrainingGoal:
    """A training, and the bars that it is held to.

    Attributes:
        model: of ``KINDS``.
        texts: names of texts, which are trained on as one.
        bars: by figure and library, how much less ours has to be; without a library, as a ratio to
            the best of them.
        vocab_size: how many tokens; ``None`` for what is usual for the model.
        threads: ``ALL`` for the cores of the process.
    """

    model: str
    texts: tuple[str, ...]
    bars: Mapping[str, float]
    vocab_size: int | None = None
    threads: int = ALL

    @property
    def peers(self) -> set[str] | None:
        """The libraries that bars name; ``None`` where all are to be measured."""
        named = {bar.partition(", ")[2] for bar in self.bars}
        return None if not named or "" in named else named


ENGLISH = ("english",)
GOALS = (
    TrainingGoal(
        "byte-bpe",
        ENGLISH,
        {"whole, gigatoken": 3, "whole, tokenizers": 12, "peak memory of training": 1},
    ),
    TrainingGoal(
        "byte-bpe", ("english", "code", "multilingual"), {"whole, rustbpe": 5}, vocab_size=128_000
    ),
    TrainingGoal("byte-bpe", ("cjk",), {"whole": 3}),
    TrainingGoal("sentencepiece-bpe", ENGLISH, {"whole, sentencepiece": 8}),
    TrainingGoal("sentencepiece-unigram", ENGLISH, {"whole, sentencepiece": 20}),
    TrainingGoal("wordpiece", ENGLISH, {"whole, tokenizers": 10}),
)


class Learned(NamedTuple):
    """What a library learned.

    Attributes:
        tokens: in the order of their ids.
        size: how many ids the vocabulary has.
        length: how many tokens the text takes.
    """

    tokens: Sequence[bytes]
    size: int
    length: int

    @classmethod
    def of(cls, saved: Path, text: Path) -> Learned:
        """Return what is in a trained file."""
        ranks = {"split": "gpt2", "special_tokens": {}} if saved.suffix == ".tiktoken" else {}
        tokenizer = load(saved, **ranks)
        return cls(learned_tokens(saved), tokenizer.vocab_size, tokenizer.count(text.read_bytes()))


def judged(kind: Kind, vocab_size: int, ours: Learned, theirs: Learned) -> tuple[bool, str]:
    """Return whether this is equal work, and how the two differ: "" where they do not.

    Libraries break ties differently, and search for Unigram pieces differently. As many tokens
    that shorten the text as much are equal work all the same.
    """
    if theirs.size != vocab_size:
        return False, f"{theirs.size:,} tokens, not the {vocab_size:,} asked for"
    if ours.tokens == theirs.tokens:
        return True, ""
    alike = abs(theirs.length / ours.length - 1) <= kind.within
    pairs = enumerate(zip(ours.tokens, theirs.tokens, strict=False))
    shorter = min(len(ours.tokens), len(theirs.tokens))
    at = next((i for i, (a, b) in pairs if a != b), shorter)
    others = len(set(theirs.tokens) - set(ours.tokens))
    return alike, (
        f"{'another order' if alike else 'different'} from token {at:,} on, {others:,} other "
        f"tokens: the text takes {theirs.length:,} with them; {ours.length:,} here"
    )
