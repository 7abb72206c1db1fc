"""The course does every step of the texts that it grew out of, and shows every figure."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import SHARED
from tools.doc_pages import notebook_prose, snippets
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


def test_the_prose_of_a_notebook_has_no_half_of_an_element() -> None:
    before = (
        'See [it](03-training.md).\n\n<details markdown="1">\n<summary>Answer 1</summary>\n\nSo.'
    )
    assert notebook_prose(before) == "See [it](03-training.ipynb).\n\n**Answer 1**\n\nSo."
    assert notebook_prose("\n</details>\n\n**2.** Why?\n") == "**2.** Why?"
    assert notebook_prose("\n</details>\n") == ""


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"commands"}))
def test_tables_of_the_documentation_have_rows(name: str) -> None:
    assert len(TABLES[name]().splitlines()) > 3
