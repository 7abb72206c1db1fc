"""What is measured: encoding, loading and training, each as rows of equal work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.adapters import ADAPTERS
from benchmarks.rounds import Job, compared, interleaved, run
from benchmarks.training import KINDS, Learned, judged
from toksmith.splitters import FAMILIES

# form, and whether it is measured on all cores too
FORMS = {
    "array": "the whole text as one document, to an array of ids",
    "list": "the whole text as one document, to a Python list",
    "batch": "the documents of the text, to the type that the library returns",
}


@dataclass
class Row:
    """One piece of work, done by several libraries.

    Attributes:
        kind: encode, load or train.
        work: what was done: text, vocabulary, form, threads.
        size: bytes of text.
        results: by library, one a round.
        left_out: by library, why it was not measured.
        notes: by library, what to know about a result that was measured.
    """

    kind: str
    work: dict[str, Any]
    size: int = 0
    results: dict[str, list[Job]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """What is common to all rows of a run."""

    texts: dict[str, Path]
    vocabularies: list[dict[str, Any]]
    libraries: Sequence[str]
    rounds: int
    threads: Sequence[int]
    forms: Sequence[str]
    models: Sequence[str]
    vocab_size: int | None


def encode(setting: Setting) -> Iterator[Row]:
    """Encode each text with each vocabulary: three passes, of which the first is cold."""
    for vocabulary in setting.vocabularies:
        for name, path in setting.texts.items():
            for form in setting.forms:
                for threads in setting.threads if form != "list" else (1,):
                    work = {"vocabulary": vocabulary["name"], "text": name, "form": form}
                    row = Row("encode", {**work, "threads": threads}, path.stat().st_size)
                    common = {"text": str(path), "form": form, "threads": threads, "passes": 3}
                    yield _measured(row, setting, {**common, "vocabulary": vocabulary})


def loading(setting: Setting) -> Iterator[Row]:
    """Import, load a vocabulary, encode a first word: from a fresh process."""
    for vocabulary in setting.vocabularies:
        row = Row("load", {"vocabulary": vocabulary["name"], "threads": 1})
        yield _measured(row, setting, {"vocabulary": vocabulary, "threads": 1})


def train(setting: Setting) -> Iterator[Row]:
    """Train each kind of model on the first text: whole processes, up to the saved file."""
    name, path = next(iter(setting.texts.items()))
    for model in setting.models:
        vocab_size = setting.vocab_size or KINDS[model].vocab_size
        for threads in setting.threads:
            work = {"text": name, "model": model, "vocab_size": vocab_size, "threads": threads}
            row = Row("train", work, path.stat().st_size)
            with TemporaryDirectory() as out:
                common = {
                    "kind": "train",
                    "text": str(path),
                    "model": model,
                    "vocab_size": vocab_size,
                    "split": "gpt2",
                    "pattern": FAMILIES["gpt2"].pattern,
                    "threads": threads,
                    "out": out,
                }
                jobs = [
                    {**common, "library": library}
                    for library in setting.libraries
                    if model in ADAPTERS[library].trains
                ]
                row.results = interleaved(_equal_training(row, jobs, path), setting.rounds)
            yield row


SUITES: dict[str, Callable[[Setting], Iterator[Row]]] = {
    "load": loading,
    "encode": encode,
    "train": train,
}


def _measured(row: Row, setting: Setting, common: Job) -> Row:
    needed = common.get("form", "load")
    jobs = [
        {**common, "kind": row.kind, "library": library}
        for library in setting.libraries
        if _can(library, needed) and set(ADAPTERS[library].files) & set(common["vocabulary"])
    ]
    agreed, row.left_out = compared(jobs)
    row.results = interleaved(agreed, setting.rounds)
    return row


def _can(library: str, call: str) -> bool:
    adapter = ADAPTERS[library]
    if call == "load":
        return adapter.array is not None or adapter.batch is not None
    return getattr(adapter, call) is not None


def _equal_training(row: Row, jobs: Sequence[Job], text: Path) -> list[Job]:
    """Train once for the result alone; return the jobs that did the same work as the first."""
    first: Learned | None = None
    equal = []
    for job in jobs:
        result = run(job)
        if reason := result.get("missing"):
            row.left_out[job["library"]] = reason
            continue
        learned = Learned.of(Path(result["saved"]), text)
        alike, how = judged(KINDS[job["model"]], job["vocab_size"], first or learned, learned)
        if alike:
            first = first or learned
            equal.append(job)
        if how:
            (row.notes if alike else row.left_out)[job["library"]] = how
    return equal
