"""The temporary files of a training keep to ``spill_limit``."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith.errors import OptionError

MODELS: dict[str, dict[str, Any]] = {
    "bpe": {"vocab_size": 300},
    "bpe-continued": {"vocab_size": 300, "continue_from": toksmith.get("toksmith-small")},
    "bpe-characters": {"vocab_size": 300, "unit": "characters"},
    "wordpiece": {"model": "wordpiece", "vocab_size": 100},
    "wordpiece-frequency": {"model": "wordpiece", "vocab_size": 100, "objective": "frequency"},
    "sentencepiece-bpe": {"model": "sentencepiece-bpe", "vocab_size": 60},
    "unigram": {"model": "unigram", "vocab_size": 60},
    "sentencepiece-unigram": {"model": "sentencepiece-unigram", "vocab_size": 60},
    "word": {"model": "word", "vocab_size": 300},
}
MODELS["bpe-continued"]["vocab_size"] = MODELS["bpe-continued"]["continue_from"].vocab_size + 9


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lines of 3 MB, nearly all of whose words are different."""
    rng = random.Random(8)
    path = tmp_path_factory.mktemp("text") / "many.txt"
    words = ["".join(rng.choices("abcdefghijkl", k=7)) for _ in range(370_000)]
    path.write_text("\n".join(" ".join(words[i : i + 20]) for i in range(0, len(words), 20)))
    return path


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS.keys())
def test_too_little_space(text: Path, options: dict[str, Any]) -> None:
    memory = "17M" if "unigram" in options.get("model", "bpe") else "1M"
    with pytest.raises(OptionError, match=r"exceed spill_limit=1M at the first write") as refused:
        toksmith.train(text, memory=memory, spill_limit="1M", progress=False, **options)
    assert str(refused.value).endswith(
        "; twice as much is a start (spill_limit=2M), or more memory=, so that less is written"
    )


def test_the_figures_lead_to_a_limit_that_does(text: Path, tmp_path: Path) -> None:
    options = {**MODELS["unigram"], "seed_sentencepiece_size": 2000}

    def train(limit: str) -> toksmith.Tokenizer:
        return toksmith.train(
            text, memory="20M", spill_limit=limit, checkpoint=tmp_path / "kept", **options
        )

    with pytest.raises(OptionError, match=r": \S+ are in use; twice as much is a start") as refused:
        train("10M")
    message = str(refused.value)
    (limit,) = re.findall(r"spill_limit=(\S+?)\)", message)
    assert train(limit).training is not None
    assert f"The counts are kept in {tmp_path / 'kept'}: the same command" in message


def test_enough_space_changes_nothing(text: Path) -> None:
    wanted = toksmith.train(text, vocab_size=300)
    assert toksmith.train(text, vocab_size=300, memory="8M", spill_limit="100M") == wanted


def test_the_option_needs_a_memory_limit(text: Path) -> None:
    with pytest.raises(OptionError, match="spill_limit= is given without memory="):
        toksmith.train(text, vocab_size=300, spill_limit="1G")
    with pytest.raises(OptionError, match=re.escape("spill_limit is 'x'")):
        toksmith.train(text, vocab_size=300, memory="1G", spill_limit="x")
