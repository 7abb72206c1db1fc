"""Tables of the documentation that are made from the package, so that they cannot go stale.

A page holds ``<!-- table: NAME -->``; ``tools/build_docs.py`` puts the table of that name there.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from statistics import median
from typing import Any

import toksmith
from benchmarks import growth
from toksmith import errors
from toksmith._base.model_names import MODELS as MODEL_NAMES
from toksmith.cli.app import GROUPS
from toksmith.cli.glossary import TERMS
from toksmith.formats.listed import LISTED
from toksmith.formats.published import ENCODINGS
from toksmith.measure.metrics import MEASURES
from toksmith.splitters import FAMILIES
from toksmith.splitters.names import listed_patterns
from toksmith.trainers import MODELS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
COURSE = ROOT / "docs/course"
TABLES: dict[str, Callable[[], str]] = {}
"""The function that makes each table, by the table's name."""


def table(function: Callable[[], str]) -> Callable[[], str]:
    """Add a function to :data:`TABLES`, under its own name."""
    TABLES[function.__name__] = function
    return function


@table
def seeds() -> str:
    """Return the steps of the five texts that the course grew out of."""
    made = []
    for seed in dict.fromkeys(step["seed"] for step in steps()):
        rows = [
            (
                str(step["number"]),
                step["does"],
                code(step["figure"]) if step.get("figure") else "",
                f"[{step['chapter'][:2].lstrip('0')}]({step['chapter']}.md), line {line_of(step)}",
                code(step["line"]),
            )
            for step in steps()
            if step["seed"] == seed
        ]
        made.append(f"### {seed}\n\n" + rows_of("step, what it does, figure, chapter, code", rows))
    return "\n\n".join(made)


def steps() -> list[dict[str, Any]]:
    """Return the entries of ``docs/course/steps.toml``."""
    return tomllib.loads((COURSE / "steps.toml").read_text(encoding="utf-8"))["step"]


def line_of(step: dict[str, Any]) -> int:
    """Return the number of the chapter's line that does a step."""
    page = COURSE / f"{step['chapter']}.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if step["line"] in line)


@table
def commands() -> str:
    """Return the help of each command, as the terminal shows it."""
    made = []
    for group, names in GROUPS.items():
        made.append(f"## {group}")
        made += [f"### toksmith {name}\n\n```text\n{help_of(name)}\n```" for name in names]
    return "\n\n".join(made)


def help_of(name: str) -> str:
    """Return what ``toksmith NAME --help`` prints."""
    plain = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "88"}
    command = [sys.executable, "-m", "toksmith", name, "--help"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=plain)
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


@table
def options() -> str:
    """Return the options of each model, with their defaults."""
    made = []
    for model, (kind, _) in MODELS.items():
        rows = [
            (f"`{each.name}`", code(repr(each.default)), prose(each.metadata["help"]))
            for each in fields(kind)  # type: ignore[arg-type]
        ]
        made.append(f"## {model}\n\n" + rows_of("option, default, meaning", rows))
    return "\n\n".join(made)


CHART = {  # rows of benchmarks/results: title, vocabulary, text, form, threads
    "English": ("cl100k_base", "english", "array", 1),
    "Source code": ("cl100k_base", "code", "array", 1),
    "Many languages": ("cl100k_base", "multilingual", "array", 1),
    "Chinese, Japanese, Korean": ("cl100k_base", "cjk", "array", 1),
    "English, Unigram": ("english8k", "english", "batch", 1),
    "English, BERT, two threads": ("bert_uncased", "english", "batch", 2),
}


@table
def speed_chart() -> str:
    """Return a bar chart of MB/s on the first pass over a text, as HTML."""
    rows = json.loads((ROOT / "benchmarks/results/bars-xeon.json").read_text())["rows"]
    speeds = {
        (row["work"]["vocabulary"], row["work"].get("text"), row["work"].get("form"),
         row["work"]["threads"]): {
            library: row["size"] / median(run["seconds"][0] for run in runs) / 1e6
            for library, runs in row["results"].items()
        }
        for row in rows if row["kind"] == "encode"
    }  # fmt: skip
    most = max(max(speeds[key].values()) for key in CHART.values())
    lines = ['<div class="bars" role="img" aria-label="MB/s, first pass over a text">']
    for title, key in CHART.items():
        lines.append(f'<div class="bars-title">{title}</div>')
        for library, speed in sorted(speeds[key].items(), key=lambda item: -item[1]):
            kind = "bar ours" if library == "toksmith" else "bar"
            lines.append(
                f'<div class="{kind}"><span style="width: {60 * speed / most:.0f}%"></span>'
                f"{library} {speed:.0f} MB/s</div>"
            )
    return "\n".join([*lines, "</div>"])


def _growth() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "benchmarks/results/growth.json").read_text())
    return found


@table
def growth_measured() -> str:
    """Return what counting and merging took for several sizes of text."""
    found = _growth()
    machine = found["machine"]
    head = f"{machine['cpu']}, {machine['date'][:10]}, Python {machine['python']}:"
    return f"{head}\n\n{growth.measured_table(found)}"


@table
def growth_laws() -> str:
    """Return the power laws of memory, disk and time."""
    return growth.laws_table(_growth())


@table
def growth_derived() -> str:
    """Return what the power laws give for larger texts."""
    return growth.derived_table(_growth())


@table
def models() -> str:
    """Return the published models that were compared with their own libraries."""
    found = json.loads((ROOT / "benchmarks/results/models.json").read_text())
    machine, texts = found["machine"], found["texts"]
    head = f"{machine['cpu']}, {machine['date'][:10]}, Python {machine['python']}:"
    columns = ["model", "file", "own library", "ids compared", *texts, "again"]
    return f"{head}\n\n{rows_of(', '.join(columns), map(_model_cells, found['rows']))}"


def _model_cells(row: dict[str, Any]) -> tuple[str, ...]:
    source = f"`{row['file']}`" + (f" of {row['package']}" if row["package"] else "")
    if row["left_out"]:
        return row["family"], source, row["library"], prose(row["left_out"]), *[""] * 5
    speeds = (
        [f"{speed:.1f}×" for speed in (*row["cold"], min(row["warm"]))] if row["cold"] else [""] * 5
    )
    return row["family"], source, row["library"], f"{row['ids']:,}", *speeds


@table
def formats() -> str:
    """Return the file formats that are read and written."""
    return rows_of(
        "format, what it holds, suffixes, written",
        (
            (
                f"`{each.name}`",
                each.about,
                ", ".join(f"`{suffix}`" for suffix in each.suffixes),
                "yes" if each.is_written else "only read",
            )
            for each in LISTED.values()
        ),
    )


@table
def exceptions() -> str:
    """Return the classes of errors and warnings."""
    found = [
        each
        for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, (errors.ToksmithError, Warning)) and each.__module__ == errors.__name__
    ]
    return rows_of(
        "class, also a, meaning",
        (
            (
                f"`{each.__name__}`",
                ", ".join(f"`{base.__name__}`" for base in each.__bases__),
                (each.__doc__ or "").partition("\n")[0],
            )
            for each in found
        ),
    )


@table
def tokenizers() -> str:
    """Return the published tokenizers, and the models whose names stand for them."""
    return rows_of(
        "name, ids, split, names of models",
        (
            (
                f"`{name}`",
                "in the package" if name == "toksmith-small" else published.ranks.file_name,
                f"`{published.split}`",
                ", ".join(f"`{model}`" for model in MODEL_NAMES.get(name, ())[:9]),
            )
            for name, published in ENCODINGS.items()
        ),
    )


@table
def splits() -> str:
    """Return the published split patterns."""
    families = ((f"`{each.name}`", code(each.pattern)) for each in FAMILIES.values())
    names: dict[tuple[str, ...], list[str]] = {}
    for name, patterns in listed_patterns().items():
        names.setdefault(patterns, []).append(f"`{name}`")
    listed = (
        (", ".join(group), "1 pattern" if len(each) == 1 else f"{len(each)} patterns")
        for each, group in names.items()
    )
    return rows_of("name, pattern", (*families, *listed))


@table
def measures() -> str:
    """Return what ``compare`` measures."""
    return rows_of(
        "name, in tables, better, formula, source, what it does not say",
        (
            (
                f"`{each.name}`",
                each.title,
                each.better or "",
                prose(each.formula),
                prose(each.source),
                prose(each.caveat),
            )
            for each in MEASURES.values()
        ),
    )


@table
def glossary() -> str:
    """Return the terms that ``toksmith help`` explains."""
    return "\n\n".join(f"### {term}\n\n{meaning}" for term, meaning in TERMS.items())


API = {
    "Make a tokenizer": ["get", "load", "loads", "train", "Tokenizer"],
    "What it returns": [
        "Encoding",
        "Token",
        "Span",
        "Batch",
        "Inputs",
        "RaggedInputs",
        "TextChunk",
    ],
    "Choose and check": ["compare", "Comparison", "audit", "Audit", "advise", "Counts", "verify"],
    "Counts of a large corpus": ["count_corpus", "merge_counts", "CountsFile"],
    "Token files": ["tokenize_corpus", "open_tokens", "TokenFiles"],
    "Step by step": ["pairs", "merge", "training_steps", "MergeStep", "split"],
    "Text": ["unicode", "UnicodeText", "words", "sentences", "graphemes"],
}
"""The public names of ``toksmith``, in the order of the documentation."""


@table
def api() -> str:
    """Return the public names of ``toksmith``, for mkdocstrings."""
    listed = {name for names in API.values() for name in names}
    assert listed == {*toksmith.__all__} - {"__version__", "errors"}, "API and __all__ differ"
    return "\n\n".join(
        f"## {title}\n\n" + "\n\n".join(f"::: toksmith.{name}" for name in names)
        for title, names in API.items()
    )


def rows_of(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; ``head`` holds its titles, with commas between them."""
    titles = head.split(", ")
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def code(text: str) -> str:
    """Return text as code in a cell of a table."""
    ticks = "``" if "`" in text else "`"
    text = text.replace("|", "\\|").replace("\n", "↵")
    return f"{ticks}{' ' if ticks == '``' else ''}{text}{' ' if ticks == '``' else ''}{ticks}"


def prose(text: str) -> str:
    """Return reStructuredText of a docstring as Markdown in a cell of a table."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return re.sub(r"\s+", " ", text.replace("``", "`").replace("|", "\\|"))
