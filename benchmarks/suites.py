"""What is measured: encoding, loading and training, each as rows of equal work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.adapters import ADAPTERS, learned_tokens
from benchmarks.rounds import Job, compared, interleaved, run
from toksmith import load
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
    vocab_size: int


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
    """Train on the first text with the GPT-2 split: whole processes, up to the saved file."""
    name, path = next(iter(setting.texts.items()))
    for threads in setting.threads:
        work = {"text": name, "vocab_size": setting.vocab_size, "split": "gpt2"}
        row = Row("train", {**work, "threads": threads}, path.stat().st_size)
        with TemporaryDirectory() as out:
            common = {
                "kind": "train",
                "text": str(path),
                "vocab_size": setting.vocab_size,
                "split": "gpt2",
                "pattern": FAMILIES["gpt2"].pattern,
                "threads": threads,
                "out": out,
            }
            jobs = [
                {**common, "library": library}
                for library in setting.libraries
                if ADAPTERS[library].train is not None
            ]
            _compare_training(row, jobs, path)
            jobs = [job for job in jobs if job["library"] not in row.left_out]
            row.results = interleaved(jobs, setting.rounds)
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


def _compare_training(row: Row, jobs: Sequence[Job], text: Path) -> None:
    """Train once for the result alone, and compare it with that of the first.

    Libraries break ties differently. As many tokens that shorten the text as much are equal work
    all the same, and are measured with a note; anything else is left out.
    """
    first: Path | None = None
    for job in jobs:
        result = run(job)
        if reason := result.get("missing"):
            row.left_out[job["library"]] = reason
            continue
        saved = Path(result["saved"])
        first = first or saved
        ours, theirs = learned_tokens(first), learned_tokens(saved)
        if ours == theirs:
            continue
        pairs = enumerate(zip(ours, theirs, strict=False))
        at = next((i for i, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
        lengths = _text_tokens(first, text), _text_tokens(saved, text)
        alike = len(ours) == len(theirs) and abs(lengths[1] / lengths[0] - 1) < 0.001
        told = row.notes if alike else row.left_out
        told[job["library"]] = (
            f"{'other ties' if alike else 'different'} from merge {at:,} on: {len(theirs):,} "
            f"merges give {lengths[1]:,} tokens; {len(ours):,} and {lengths[0]:,} here"
        )


def _text_tokens(saved: Path, text: Path) -> int:
    if saved.suffix == ".json":
        return load(saved).count(text.read_bytes())
    return load(saved, split="gpt2", special_tokens={}).count(text.read_bytes())
