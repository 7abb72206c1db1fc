"""The course does every step of the texts that it grew out of, and shows every figure."""

from __future__ import annotations

import ast
import json
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

import toksmith
from tests.conftest import SHARED
from tools.doc_pages import Snippet, notebook_prose, snippets
from tools.doc_tables import COURSE, TABLES, steps

STEPS = {  # the number of steps that each text has
    "minbpe notebook": 14,
    "blog post on BPE": 10,
    "Tokensiation notebook": 18,
    "Intro to tokenizers": 14,
    "GPT tokenizer notebook": 36,
}
CHAPTERS = sorted(COURSE.glob("[0-9]*.md"))


def test_every_step_is_listed() -> None:
    listed = Counter(step["seed"] for step in steps())
    assert listed == STEPS
    for seed, count in STEPS.items():
        numbers = [step["number"] for step in steps() if step["seed"] == seed]
        assert numbers == list(range(1, count + 1)), seed


@pytest.mark.parametrize("step", steps(), ids=lambda step: f"{step['seed']}-{step['number']}")
def test_a_chapter_runs_the_line_of_each_step(step: dict[str, str]) -> None:
    blocks = [each for each in snippets(COURSE / f"{step['chapter']}.md") if each.runs]
    assert step["line"].strip(), "no line is given"
    assert any(step["line"] in block.source for block in blocks)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_a_chapter_has_its_parts(chapter: Path) -> None:
    text = chapter.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text.count("<summary>Answer") == 3, "three exercises with answers"
    assert "## By hand, and in one line" in text
    _, _, exercises = text.partition("## Exercises")
    for number in (1, 2, 3):  # "1." would begin a list, and each list on the site begins with 1
        assert f"\n**{number}.** " in exercises
    for answer in text.split("<summary>Answer")[1:]:
        assert "assert" in answer.partition("</details>")[0], "an answer is checked"


def test_figures_that_the_steps_print_are_asserted() -> None:
    golden = SHARED / "data/golden/seeds.json"
    if not golden.exists():
        pytest.skip("needs the shared test data")
    code = "\n".join(
        block.source for chapter in CHAPTERS for block in snippets(chapter) if block.runs
    )
    asserted = {line.strip() for line in code.splitlines() if "assert" in line}
    known = json.loads(golden.read_text(encoding="utf-8"))
    text, unicode = known["encodings_on_text"], known["unicode"]
    for figure in (
        *(text["utf8_bytes"], text["gpt2_tokens"], text["cl100k_base_tokens"]),
        *(unicode["code_points"], unicode["utf8_bytes"]),
        *(unicode["utf16_zero_bytes"], unicode["utf32_zero_bytes"]),
        *(known["gpt2_files"]["encoder_size"], known["gpt2_files"]["endoftext_id"]),
        *(known["basic_bpe"][0]["utf8_bytes"], 185561, 3471),
    ):
        assert any(str(figure) in line.replace("_", "") for line in asserted), figure
    merges = (SHARED / "data/vocab/gpt2_vocab.bpe").read_text(encoding="utf-8").splitlines()[1:11]
    fizz_buzz = "\nfor" + text["text"].partition("\nfor")[2]
    shown = lists_in_checked_blocks()
    for figures in (
        *(entry["merges"] for entry in known["basic_bpe"] if "merges" in entry),
        *(known["basic_bpe"][1][name] for name in ("first_merges", "first_counts")),
        *(ids for entry in known["basic_bpe"] for ids in entry["encode"].values()),
        *(pieces for _, pieces in known["gpt2_split"]),
        *(known["char_bpe"]["vocab_after_26"], known["greedy_longest"]["tokens"]),
        *known["sentencepiece_toy"]["encode"].values(),
        *(known["sentencepiece_toy"]["pieces"], toksmith.split(fizz_buzz, "gpt2")),
        [[side.replace("Ġ", " ") for side in merge.split(" ")] for merge in merges],
    ):
        assert json.dumps(figures) in shown, figures


def lists_in_checked_blocks() -> set[str]:
    """Return the lists of constants in the chapters' blocks with an ``assert``, as JSON."""
    found = set()
    for block in (block for chapter in CHAPTERS for block in snippets(chapter)):
        if block.language == "python" and block.runs and "assert" in block.source:
            for node in ast.walk(ast.parse(block.source)):
                if isinstance(node, ast.List | ast.Tuple | ast.Call):
                    with suppress(Exception):  # it holds names
                        code = compile(ast.Expression(node), "", "eval")
                        found.add(json.dumps(eval(code, {"__builtins__": {}})))
    return found


@pytest.mark.parametrize("page", sorted(COURSE.parent.rglob("*.md")), ids=lambda page: page.stem)
def test_code_can_be_pasted_into_a_prompt(page: Path) -> None:
    """At Python's prompt, an empty line ends a compound statement, and only an empty line."""
    for block in snippets(page):
        if block.language != "python" or not block.runs or ">>>" in block.source:
            continue
        lines = block.source.splitlines()
        body = ast.parse(block.source).body
        for statement, following in pairwise(body):
            if hasattr(statement, "body"):
                end, start = statement.end_lineno or 0, following.lineno
                assert "" in lines[end : start - 1], f"line {block.line + end}: no empty line"


def test_the_prose_of_a_notebook_has_no_half_of_an_element() -> None:
    before = (
        'See [it](03-training.md).\n\n<details markdown="1">\n<summary>Answer 1</summary>\n\nSo.'
    )
    assert notebook_prose(before) == "See [it](03-training.ipynb).\n\n**Answer 1**\n\nSo."
    assert notebook_prose("\n</details>\n\n**2.** Why?\n") == "**2.** Why?"
    assert notebook_prose("\n</details>\n") == ""


def test_the_commands_of_a_console_block_and_what_they_print() -> None:
    block = Snippet("console", frozenset({"run"}), 1, "$ ls \\\n  -a\n.\n..\n$ true\n")
    assert list(block.commands()) == [("ls \\\n  -a", ".\n..\n"), ("true", "")]


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"commands"}))
def test_tables_of_the_documentation_have_rows(name: str) -> None:
    assert len(TABLES[name]().splitlines()) > 3
