"""The benchmark harness: unequal work is never timed as equal, and every suite runs."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__, rounds, scale, worker
from benchmarks.adapters import ADAPTERS, learned_tokens
from benchmarks.bars import FIGURES, GOALS
from benchmarks.forms import FORMS
from benchmarks.models import GGUF, MODELS, find, measured, recorded
from benchmarks.scale import scale_jobs, with_equal_merges, write_lines
from benchmarks.suites import Row
from benchmarks.tables import tables
from benchmarks.texts import FAMILY_OF, FILE_OF
from benchmarks.training import Kind, Learned, judged
from benchmarks.worker import confine
from tests.kits import gguf
from tests.kits.bpe import pipeline
from toksmith import Counts, train

ROOT = Path(__file__).resolve().parents[1]


def jobs(*libraries: str) -> list[dict[str, Any]]:
    return [{"library": library, "passes": 3} for library in libraries]


def test_other_ids_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        "a": {"sha256": "x", "tokens": 10},
        "b": {"sha256": "y", "tokens": 11},
        "c": {"missing": "no such call"},
        "d": {"sha256": "x", "tokens": 10},
    }
    asked: list[dict[str, Any]] = []

    def run(job: dict[str, Any]) -> dict[str, Any]:
        asked.append(job)
        return found[job["library"]]

    monkeypatch.setattr(rounds, "run", run)
    agreed, left_out = rounds.compared(jobs("a", "b", "c", "d"))
    assert [job["library"] for job in agreed] == ["a", "d"]
    assert left_out == {"b": "different results: 11 tokens, not 10 tokens", "c": "no such call"}
    assert {job["passes"] for job in asked} == {1}
    assert {job["passes"] for job in agreed} == {3}


def test_turns_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def run(job: dict[str, Any]) -> dict[str, Any]:
        order.append(job["library"])
        return {"turn": len(order)}

    monkeypatch.setattr(rounds, "run", run)
    results = rounds.interleaved(jobs("a", "b"), 3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert [result["turn"] for result in results["a"]] == [1, 4, 5]


@pytest.mark.parametrize(
    ("threads", "first", "cores"),
    [(1, 0, {2}), (1, 1, {3}), (1, 5, {7}), (2, 2, {2, 7}), (3, 1, {2, 3, 7}), (9, 1, {2, 3, 7})],
)
def test_jobs_keep_to_cores_in_turn(
    threads: int, first: int, cores: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[set[int]] = []
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {7, 2, 3}, raising=False)
    monkeypatch.setattr(
        os, "sched_setaffinity", lambda _, found: taken.append(set(found)), raising=False
    )
    confine(threads, first)
    assert taken == [cores]


def test_ratios_are_taken_round_by_round() -> None:
    assert rounds.ratios([1, 2, 4], [4, 4, 4]) == {"min": 1, "median": 2, "max": 4}


def test_a_failing_library_does_not_end_the_run() -> None:
    result = rounds.run({"kind": "encode", "library": "nothing", "threads": 1})
    assert result == {"missing": "failed: KeyError: 'nothing'"}


def test_table() -> None:
    def measured(cold: float, warm: float) -> dict[str, Any]:
        return {"seconds": [cold, 9.0, warm], "peak_bytes": 3_000_000}

    work = {"vocabulary": "gpt2", "text": "t", "form": "array", "threads": 1}
    results = {"toksmith": [measured(0.5, 0.25)], "peer": [measured(1.0, 1.0)]}
    row = Row("encode", work, 1_000_000, results, {"odd": "different results"})
    (table,) = tables([row])
    lines = table.markdown().splitlines()
    assert lines[0] == "### Encoding, 1 thread: the whole text as one document, to an array of ids"
    assert lines[4] == "| gpt2 | t | toksmith | 2.0 | 4.0 | 3 |  |  |"
    assert lines[5] == (
        "| gpt2 | t | peer | 1.0 | 1.0 | 3 | 2.00 (2.00 to 2.00) | 4.00 (4.00 to 4.00) |"
    )
    assert lines[-1] == "- gpt2 t: odd: different results"


def test_what_both_tell_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        "array": {"sha256": "x", "tokens": 10},
        "count": {"tokens": 10},
        "miscount": {"tokens": 9},
    }
    monkeypatch.setattr(rounds, "run", lambda job: found[job["form"]])
    asked = [{"library": "a", "form": form, "label": f"a, {form}"} for form in found]
    agreed, left_out = rounds.compared(asked)
    assert [job["form"] for job in agreed] == ["array", "count"]
    assert left_out == {"a, miscount": "different results: 9 tokens, not 10 tokens"}


def test_bars_are_held_against_the_peer_that_comes_closest() -> None:
    def measured(cold: float, peak: int) -> dict[str, Any]:
        return {"seconds": [cold, cold], "peak_bytes": peak, "cold_peak_bytes": peak}

    work = {"vocabulary": "gpt2", "text": "t", "form": "array", "threads": 1}
    results = {
        "toksmith": [measured(1, 100)],
        "slow": [measured(9, 200)],
        "quick": [measured(1.25, 150)],
    }
    row = Row("encode", work, 1, results, bars={"cold": 1.2, "peak memory": 1.75})
    *_, table = tables([row, Row("encode", work, 1, {}, bars={"warm": 1})])
    assert [cells[2:] for cells in table.cells] == [
        ["cold", "quick", "1.25 (1.25 to 1.25)", "1.2", "yes"],
        ["peak memory", "quick", "1.50 (1.50 to 1.50)", "1.75", "NO"],
        ["warm", "", "", "1", "not measured"],
    ]


def test_goals_ask_for_what_there_is() -> None:
    for goal in GOALS:
        assert goal.bars.keys() <= FIGURES.keys()
        assert goal.form in FORMS or goal.form == "load"
        assert {*goal.peers} <= ADAPTERS.keys()
        assert goal.vocabulary in {*FAMILY_OF, *FILE_OF}


@pytest.mark.parametrize("name", ["ranks.tiktoken", "tokenizer.json"])
def test_learned_tokens_are_read_from_any_file(name: str, tmp_path: Path) -> None:
    tokenizer = train(texts=["été low lower"], vocab_size=260, split="gpt2")
    tokenizer.save(tmp_path / name)
    assert learned_tokens(tmp_path / name) == [tokenizer.token_bytes(i) for i in range(256, 260)]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pieces.model", {"model": "sentencepiece-bpe", "vocab_size": 18}),
        ("tokenizer.json", {"model": "wordpiece", "vocab_size": 23, "special_tokens": []}),
    ],
)
def test_learned_pieces_are_read(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("the cat sat on the mat, the rat sat on the cat", "utf-8")
    tokenizer = train(text, **options)
    tokenizer.save(tmp_path / name)
    found = Learned.of(tmp_path / name, text)
    pieces = list(tokenizer.pipeline.model.vocab)
    assert found.tokens == [piece for piece in pieces if len(piece) > 1]
    assert (found.size, found.length) == (len(pieces), tokenizer.count(text.read_bytes()))


def test_equal_training_has_the_size_asked_for_and_as_many_tokens() -> None:
    kind, ours = Kind(3, 0.005), Learned([b"ab", b"abc", b"bc"], 3, 1000)
    assert judged(kind, 3, ours, ours) == (True, "")
    alike, how = judged(kind, 3, ours, Learned([b"ab", b"bc", b"abd"], 3, 1005))
    assert alike
    assert how == (
        "another order from token 1 on, 1 other tokens: the text takes 1,005 with them; 1,000 here"
    )
    alike, how = judged(kind, 3, ours, Learned([b"ab", b"bc", b"abd"], 3, 994))
    assert not alike
    assert how.startswith("different from token 1 on, 1 other tokens: ")
    short = Learned([b"ab", b"abc"], 2, 1000)
    assert judged(kind, 3, ours, short) == (False, "2 tokens, not the 3 asked for")
    assert judged(kind, 3, short, short) == (False, "2 tokens, not the 3 asked for")


def from_end_to_end(
    tmp_path: Path,
    suite: str,
    libraries: list[str],
    *more: str,
    name: str = "small",
    here: pytest.MonkeyPatch | None = None,
) -> dict[str, Any]:
    text = "".join(path.read_text("utf-8") for path in sorted((ROOT / "tests/unit").glob("*.py")))
    text = f"{text[:200_000]}<|endoftext|>été 中文\n"
    (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    command = [suite, "--quick", "--libraries", *libraries, *more]
    places = ["--data", str(tmp_path), "--out", str(tmp_path / "results.json")]
    if here is not None:
        run_here([*command, *places], here)
    else:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks", *command, *places],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads((tmp_path / "results.json").read_text())
    return report


def run_here(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command and its jobs in this process."""

    def result(job: dict[str, Any]) -> dict[str, Any]:
        copy: dict[str, Any] = json.loads(json.dumps(worker.KINDS[job["kind"]](job)))
        return copy

    monkeypatch.setattr(rounds, "_started", dict)
    monkeypatch.setattr(rounds, "_result", result)
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    __main__.main()


@pytest.mark.parametrize(
    ("model", "peer"),
    [
        ("byte-bpe", "tokenizers"),
        ("wordpiece", "tokenizers"),
        ("sentencepiece-bpe", "sentencepiece"),
        ("sentencepiece-unigram", "sentencepiece"),
    ],
)
def test_training_from_end_to_end(model: str, peer: str, tmp_path: Path) -> None:
    pytest.importorskip(peer)
    report = from_end_to_end(tmp_path, "train", ["toksmith", peer], "--models", model)
    assert report["rows"]
    for row in report["rows"]:
        assert (row["work"]["model"], row["work"]["vocab_size"]) == (model, 2048)
        if peer in row["left_out"]:  # on so small a text the searches for pieces end far apart
            assert model == "sentencepiece-unigram"
            assert row["left_out"][peer].startswith("different from token ")
        else:
            assert list(row["results"]) == ["toksmith", peer]
    assert f"| {model} | 2,048 | small | toksmith |" in (tmp_path / "results.md").read_text()


@pytest.mark.parametrize("suite", ["encode", "load"])
def test_from_end_to_end(suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    libraries = ["toksmith", "tiktoken"]
    here = monkeypatch if suite == "encode" else None  # dozens of jobs
    report = from_end_to_end(tmp_path, suite, libraries, "--vocabularies", "gpt2", here=here)
    assert {"date", "command", "cpu", "cores", "cores_are_worth", "memory_bytes", "system"} <= set(
        report["machine"]
    )
    assert set(libraries) <= set(report["versions"])
    for row in report["rows"]:
        alone = "tiktoken" in row["left_out"] or row["work"].get("form") in ("count", "spans")
        assert list(row["results"]) == (["toksmith"] if alone else libraries), row["left_out"]
    assert any(len(row["results"]) == 2 for row in report["rows"])
    assert "toksmith: ×" in (tmp_path / "results.md").read_text()


def test_bars_from_end_to_end(tmp_path: Path, shared: Path) -> None:
    pytest.importorskip("tiktoken")
    libraries = ["toksmith", "tiktoken"]
    parts = [
        "--vocabularies",
        "cl100k_base",
        "--forms",
        "short",
        "count",
        "load",
        "--texts",
        "english",
    ]
    report = from_end_to_end(tmp_path, "bars", libraries, *parts, name="english")
    measured = {
        row["work"].get("form", row["kind"]): list(row["results"]) for row in report["rows"]
    }
    assert measured == {
        "short": libraries,
        "count": ["toksmith", "toksmith, encode_array"],
        "load": libraries,
    }
    assert (
        "| cl100k_base english short | 1 | warm | tiktoken |"
        in (tmp_path / "results.md").read_text()
    )


def test_models_without_a_file_have_a_reason(tmp_path: Path) -> None:
    row = measured(MODELS[0], None, [], 1)
    assert (row.family, row.ids, row.left_out) == ("GPT-2", 0, "the file is in none of the folders")
    assert recorded("gpt-2", [tmp_path]).left_out == "the file is in none of the folders"
    assert len({model.family for model in MODELS}) == len(MODELS)
    assert {model.kind for model in MODELS} == {"ranks", "model", "json", "tekken"}


def test_recorded_ids_are_compared(tmp_path: Path) -> None:
    name = next(iter(GGUF))
    folder = tmp_path / "package/models"
    folder.mkdir(parents=True)
    path = gguf.write(folder / f"ggml-vocab-{name}.gguf", gguf.converted(pipeline()))
    assert find(f"models/{path.name}", [tmp_path]) == path
    texts, ids = ["the", " the  x"], [[257], [258, 32, 32, 120]]
    path.with_name(f"{path.name}.inp").write_text("\n__ggml_vocab_test__\n".join(texts))
    lines = "".join(" ".join(map(str, row)) + "\n" for row in ids)
    path.with_name(f"{path.name}.out").write_text(lines)
    found = recorded(name, [tmp_path])
    assert (found.ids, found.left_out) == (5, "")
    path.with_name(f"{path.name}.out").write_text(lines.replace("120", "121"))
    assert recorded(name, [tmp_path]).left_out == "other ids for ' the  x'"


def test_lines_as_texts_have_the_chunks_of_the_document(tmp_path: Path) -> None:
    blocks = [b"one  two \n\n \n  thr", b"ee\r\n\n\n'four\n\t", "5\u3000\n\u3000六".encode()]
    path = write_lines(tmp_path / "lines.txt", blocks)
    assert path.read_text() == "one  two\nthree\n'four\n5\n六\n"
    whole = Counts.from_files(path, split="gpt2")
    with path.open("rb") as lines:
        by_line = Counts.from_texts(lines, split="gpt2")
    assert dict(whole) == dict(by_line)


def test_scale_leaves_out_other_merges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text.txt"
    text.write_text("low lower lowest\n")
    made = scale_jobs(text, ["toksmith", "tiktoken", "gigabpe"], 3, 1, str(tmp_path))
    assert [job["library"] for job in made] == ["toksmith", "gigabpe"]  # tiktoken does not train
    assert {job["bytes"] for job in made} == {len(set("low lower lowest\n"))}
    for name, tokens in (("toksmith", "lo low er"), ("gigabpe", "lo ow er")):
        lines = (
            f"{base64.b64encode(each.encode()).decode()} {i}"
            for i, each in enumerate(tokens.split())
        )
        (tmp_path / f"{name}.tiktoken").write_text("\n".join(lines))
    monkeypatch.setattr(
        scale, "run", lambda job: {"saved": tmp_path / f"{job['library']}.tiktoken"}
    )
    equal, left_out = with_equal_merges(made)
    assert [job["library"] for job in equal] == ["toksmith"]
    assert left_out == {"gigabpe": "3 merges, other ones from merge 1 on; 3 are wanted"}


def test_scale_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = from_end_to_end(tmp_path, "scale", ["toksmith"], here=monkeypatch)
    (row,) = report["rows"]
    assert row["work"]["model"] == "byte-bpe-lines"
    assert list(row["results"]) == ["toksmith"]
    assert (
        "| byte-bpe-lines | 2,048 | diverse, 2 MB | toksmith |"
        in (tmp_path / "results.md").read_text()
    )
