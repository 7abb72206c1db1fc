"""``compare``: tokenizers side by side, and their figures."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import CORPUS, Run
from tests.conftest import NO_SHARED, SHARED


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of published vocabularies, out of the shared data."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    cache = tmp_path_factory.mktemp("cache")
    for name, file in (("r50k_base", "gpt2"), ("cl100k_base", "cl100k_base")):
        source = SHARED / f"data/vocab/{file}.tiktoken"
        (cache / f"{name}.tiktoken").symlink_to(source)
    return cache


def test_the_seeds_figures(run: Run, names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GPT-2 needs about 300 tokens and GPT-4 about 185, above all of Korean, code and numbers."""
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(names))
    monkeypatch.setenv("COLUMNS", "110")
    golden = json.loads((SHARED / "data/golden/seeds.json").read_text("utf-8"))
    figures = golden["encodings_on_text"]
    ran = run("compare", "gpt2", "cl100k_base", "--on", figures["text"], "--no-speed")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.decode().splitlines()
    assert lines[0].split() == ["gpt2:", "301", "tokens", "cl100k_base:", "186", "tokens"]
    # The text may differ from theirs by line breaks at its ends.
    assert abs(301 - figures["gpt2_tokens"]) <= 2
    assert abs(186 - figures["cl100k_base_tokens"]) <= 2
    rows = {" ".join(line.split()[:-2]): line.split()[-2:] for line in lines}
    assert rows["tokens ↓"] == ["301", "186"]
    assert rows["tokens, relative to gpt2 ↓"] == ["1.00", "0.62"]
    # Where the difference comes from: Korean above all, then white space, then numbers.
    assert rows["Hangul"] == ["121", "53"]
    assert rows["white space"] == ["65", "24"]
    assert rows["numbers"] == ["21", "19"]
    # Indentation is one token in GPT-4's, numbers go in groups of three, Korean in syllables.
    (row,) = [line for line in lines if "print" in line and "(i" in line]
    assert row.split() == ["⟦·⟧│" * 7 + "·print│⟦(⟧│⟦i⟧│⟦)⟧│⟦↵⟧", "⟦·······⟧│·print│⟦(i⟧│⟦)↵⟧"]
    assert "⟦12⟧│⟦75⟧│·+│⟦·6⟧│⟦773⟧" in ran.out.decode()
    assert "⟦127⟧│⟦5⟧│·+│⟦·⟧│⟦677⟧│⟦3⟧" in ran.out.decode()
    assert "⟦만⟧│⟦나⟧│⟦서⟧" in ran.out.decode()


def test_files_by_name(run: Run, model: Path, corpus_file: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    ran = run(
        "compare", f"one={model}", f"two={model}", "--on", f"a={corpus_file}", f"b={model}",
        "--separator", "\n", "--json", figures, "--csv", "-", "--quiet",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(ran.out.decode())))
    held = json.loads(figures.read_text("utf-8"))
    assert [(row["tokenizer"], row["text"]) for row in rows] == [
        *(("one", "a"), ("two", "a"), ("one", "b"), ("two", "b"), ("one", "all"), ("two", "all"))
    ]
    assert [row["tokens"] for row in rows[:4]] == [str(each["tokens"]) for each in held["figures"]]
    assert (held["reference"], held["parallel"]) == ("one", False)
    assert held["texts"][0]["bytes"] == len(CORPUS) - 20
    assert held["texts"][0]["documents"] == 20


def test_on_takes_words_up_to_the_next_option(run: Run, model: Path, corpus_file: Path) -> None:
    for order in (
        ("compare", model, "--on", corpus_file, model, "-q", "--no-speed"),
        ("compare", "-q", "--on", corpus_file, model, "--no-speed", model),
        ("compare", model, "-q", "--no-speed", "--on", corpus_file, "--on", model),
    ):
        ran = run(*order)
        assert ran.code == 0, ran.err
        assert "small.model" in ran.out.decode()
        assert "corpus.txt" in ran.out.decode()


def test_measures_intervals_and_formats(run: Run, model: Path, corpus_file: Path) -> None:
    wanted = (
        "compare",
        model,
        "--on",
        corpus_file,
        "--separator",
        "\n",
        "-q",
        "--measure",
        "tokens",
    )
    ran = run(*wanted, "--measure", "bytes_per_token", "--format", "markdown")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.decode().splitlines()
    assert lines[:2] == ["|  | small |", "| :-- | --: |"]
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| tokens ↓", "| bytes a token ↑"]
    ran = run(*wanted, "--measure", "bytes_per_token", "--interval", "0.9", "--format", "latex")
    written = ran.out.decode()
    assert written.startswith("\\begin{tabular}{lr}\n\\toprule\n")
    assert re.search(r"bytes a token \$\\uparrow\$ & [\d.]+ \([\d.]+--[\d.]+\) ", written)
    assert "tokens $\\downarrow$ &" in written
    ran = run(*wanted[:-1], "nothing")
    assert ran.code == 2
    assert "unknown measure 'nothing'. Measures: tokens, bytes_per_token, " in ran.err
    ran = run(*wanted, "--interval", "95")
    assert ran.code == 2
    assert "--interval is 95.0: use a number between 0 and 1, such as 0.95" in ran.err


def test_standard_input(run: Run, model: Path) -> None:
    ran = run("compare", model, "-q", "--no-speed", stdin=b"low lower")
    assert ran.code == 0
    assert "tokens" in ran.out.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{model}", "--on", "no/such.txt"], "no/such.txt: there is no such file"),
        (["nosuch", "--on", "text"], "there is no file 'nosuch', and no published encoding"),
        (["{model}", "{model}", "--on", "text"], "two tokenizers have the name"),
        (["{model}", "--on", "text", "--reference", "gpt"], "reference is 'gpt': use one of small"),
        (["{model}", "--on", "text", "--json", "no/such/x"], "no/such"),
        (["{model}", "--on", "text", "--separator", ""], "separator is an empty string"),
    ],
)
def test_errors(run: Run, model: Path, arguments: list[str], message: str) -> None:
    ran = run("compare", *(word.format(model=model) for word in arguments))
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == b""
