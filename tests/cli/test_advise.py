"""``toksmith advise``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toksmith.cli.advise import parse_number
from toksmith.errors import OptionError


def test_report_and_files(run: Run, corpus_file: Path, tmp_path: Path) -> None:
    page, plot = tmp_path / "a.html", tmp_path / "a.svg"
    ran = run(
        "advise", corpus_file, "--max-vocab", 300, "--d-model", 64, "--layers", 2, "--untied",
        "--html", page, "--svg", plot, "--quiet",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    shown = ran.out.decode()
    assert "Recommended: 256" in shown
    assert "bytes a token" in shown
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert plot.read_text(encoding="utf-8").startswith("<svg ")


def test_json(run: Run, corpus_file: Path) -> None:
    ran = run(
        "advise", corpus_file, "--max-vocab", 300, "--size", 260, "--size", 280, "--json",
        "--parameters", "7B", "--d-model", 4096, "--training-bytes", "20G", "-q",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert [size["vocab_size"] for size in found["sizes"]] == [260, 280]
    assert found["model"]["non_vocabulary_parameters"] == 7_000_000_000
    assert found["training_bytes"] == 20_000_000_000


def test_counts(run: Run, corpus_file: Path, tmp_path: Path) -> None:
    counts = tmp_path / "a.counts"
    assert run("counts", "make", corpus_file, "-o", counts, "-q").code == 0
    ran = run("advise", "--counts", counts, "--max-vocab", 300, "-q", "--json")
    same = run("advise", corpus_file, "--max-vocab", 300, "-q", "--json")
    assert (ran.code, ran.out) == (0, same.out)
    assert "one of them" in run("advise", corpus_file, "--counts", counts).err


def test_tokenizer(run: Run, corpus_file: Path, model: Path) -> None:
    ran = run("advise", "-t", model, "--json")
    whole = run("advise", corpus_file, "--max-vocab", 279, "--split", "gpt2", "-q", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["sizes"] == json.loads(whole.out)["sizes"]
    assert "leave them out with --tokenizer" in run("advise", "-t", model, "--split", "gpt2").err


def test_errors(run: Run, corpus_file: Path) -> None:
    ran = run("advise", corpus_file, "--d-model", 64)
    assert ran.code == 2
    assert "give layers, or parameters" in ran.err
    ran = run("advise", corpus_file, "--d-model", 64, "--parameters", "many")
    assert ran.code == 2
    assert "--parameters is 'many': use a number such as 7B or 20G" in ran.err


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("1.5b", 1_500_000_000), ("20GB", 20 * 10**9), ("1_000K", 10**6), ("2,5M", 25e6)],
)
def test_numbers(text: str, number: int) -> None:
    assert parse_number("--x", text) == number


@pytest.mark.parametrize("text", ["", "0", "-1", "7 B", "1e9", "K"])
def test_no_numbers(text: str) -> None:
    with pytest.raises(OptionError):
        parse_number("--x", text)


def test_the_recommendation_comes_first(run: Run, corpus_file: Path) -> None:
    ran = run("advise", corpus_file, "--max-vocab", 300, "-q")
    lines = ran.out.decode().splitlines()
    assert lines[0].startswith("Recommended: ")
    words = " ".join(ran.out.decode().split())
    assert "(--d-model, --layers)" in words
    assert "newest: how often the newest token occurred" in words
    assert not any("d_model=" in line for line in lines)


def test_json_is_the_report_of_the_library(run: Run, corpus_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    ran = run("advise", corpus_file, "--max-vocab", 300, "-q", "--json", "--html", page)
    held = json.loads(ran.out)
    assert held["sizes"][-1]["vocab_size"] == 300
    chosen = held["recommendation"]["vocab_size"]
    assert f"Recommended: {chosen:,}" in page.read_text("utf-8")
