"""The tool that compares published models with their libraries, on small samples."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sentencepiece")
pytest.importorskip("tokenizers")

from toksmith.measure.hard_texts import MOST, random_strings
from tools.verify_published import Table, batches, main


@pytest.mark.parametrize("name", ["spm_toy400_bpe", "bert_uncased"])
def test_models_agree(shared: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--size", "20000", "--strings", "200", "--ids", "200", "--spans", "5000"]
    assert main([str(shared / "data"), "--models", name, *few]) == 0
    printed = capsys.readouterr().out
    for line in ("ids of cjk", "tokens and spans of code", "texts of random ids", "ids through"):
        assert f"{name:18} {line}" in printed
    assert f"{name:18} minbpe refuses: minbpe holds byte-level BPE" in printed
    assert printed.endswith("\n0 differences\n")


def test_a_difference_is_counted_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table()
    texts = ["same", "other", ""]
    table.compare("m", "w", texts, lambda part: part, lambda part: [t[:4] for t in part])
    assert table.differences == 1
    assert "'other' at 4: ours 'ther', theirs 'the'" in capsys.readouterr().out


def test_batches_hold_everything() -> None:
    items = ["a" * 700_000, "", "b" * 700_000, "c", ""]
    assert [len(part) for part in batches(items)] == [3, 2]
    assert [item for part in batches(items) for item in part] == items
    assert list(batches([])) == []


def test_random_strings_are_the_same_each_time() -> None:
    strings = random_strings(["piece"], 300)
    assert strings == random_strings(["piece"], 300)
    assert max(map(len, strings)) <= MOST
    "".join(strings).encode()  # no surrogates
