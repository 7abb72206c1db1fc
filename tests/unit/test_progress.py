"""Progress reports during training."""

from __future__ import annotations

from typing import Any

import pytest
from rich.progress import TimeRemainingColumn

import toksmith
from toksmith._base.progress import _progress, counting_progress, listen, training_progress

TEXT = "low lower lowest newest widest " * 40


@pytest.mark.parametrize(
    ("model", "size", "options"),
    [
        ("bpe", 270, {}),
        ("bpe", 20, {"unit": "characters"}),
        ("wordpiece", 24, {}),
        ("sentencepiece-bpe", 20, {"character_coverage": 1.0}),
    ],
)
def test_all_merges_are_reported(model: str, size: int, options: dict[str, Any]) -> None:
    told: list[tuple[str, tuple[Any, ...]]] = []
    with listen(lambda kind, figures: told.append((kind, figures))):
        tok = toksmith.train(texts=[TEXT], model=model, vocab_size=size, **options)
    merges = [figures for kind, figures in told if kind == "merges"]
    assert [done for done, *_ in merges] == list(range(1, len(merges) + 1))
    vocab = tok.pipeline.model.vocab
    learned = [token for _, _, token, *_ in merges]
    assert learned
    assert set(learned[: tok.training.merges if tok.training else 0]) <= set(vocab)
    assert all(count > 0 for *_, count, _ in merges)
    tokens = [tokens for *_, tokens in merges]
    assert tokens == sorted(tokens, reverse=True)
    assert ("counting", (len(TEXT), None)) in told


def test_no_report_comes_after_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with listen(print):
        pass
    with counting_progress(1, enabled=False) as report, training_progress(1, False) as merged:
        report(1)
        merged(1, b"a", 1)
    assert capsys.readouterr().out == ""


def test_no_time_left_is_shown_in_the_first_second() -> None:
    bar = _progress()
    bar.update(bar.add_task("merges", total=100), completed=1)
    (task,) = bar.tasks
    remaining = bar.columns[-1]
    assert isinstance(remaining, TimeRemainingColumn)
    assert str(remaining.render(task)) == ""
    assert task.start_time is not None
    task.start_time -= 1.5
    assert str(remaining.render(task)) != ""
