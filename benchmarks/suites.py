"""The suites: encoding, loading and training, each as rows of equal work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.adapters import ADAPTERS
from benchmarks.bars import GOALS, Goal
from benchmarks.forms import FORMS
from benchmarks.rounds import Job, compared, interleaved, run
from benchmarks.scale import MERGES, MODEL, scale_jobs, with_equal_merges
from benchmarks.texts import joined, shortened, some_ids
from benchmarks.training import GOALS as TRAINING_GOALS
from benchmarks.training import KINDS, Learned, TrainingGoal, judged
from toksmith.splitters import FAMILIES

OURS = "toksmith"
# Where toksmith is measured beside itself, the system has so much memory at hand for a byte of
# text, more than it needs. Otherwise the pages of a virtual machine would be measured.
MEMORY_PER_BYTE = 8


@dataclass
class Row:
    """One piece of work, done by several libraries, or by one in several ways.

    Attributes:
        kind: encode, load or train.
        work: what was done: text, vocabulary, form, threads.
        size: bytes of text, or the number of ids.
        results: by library, one a round.
        left_out: by library, why it was not measured.
        notes: by library, what to know about a result that was measured.
        bars: by figure, how many times better than each of the others ours has to be; by figure
            and library ("whole, tokenizers"), how many times better than that one.
    """

    kind: str
    work: dict[str, Any]
    size: int = 0
    results: dict[str, list[Job]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    bars: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """What is common to all rows of a run."""

    texts: dict[str, Path]
    vocabularies: dict[str, dict[str, Any]]
    libraries: Sequence[str]
    rounds: int
    cores: int
    forms: Sequence[str]
    models: Sequence[str]
    vocab_size: int | None
    scratch: Path

    @property
    def threads(self) -> Sequence[int]:
        return sorted({1, self.cores})


def encode(setting: Setting) -> Iterator[Row]:
    """Do with each text and vocabulary what each form asks: three passes, the first one cold."""
    for vocabulary in setting.vocabularies:
        for text in setting.texts:
            for form in (form for form in FORMS if form in setting.forms):
                for threads in setting.threads if FORMS[form].parallel else (1,):
                    yield _encoded(setting, Goal(form, vocabulary, text, threads, {}))


def loading(setting: Setting) -> Iterator[Row]:
    """Import, load a vocabulary, encode a first word: from a fresh process."""
    for vocabulary in setting.vocabularies:
        yield _loaded(setting, vocabulary)


def bars(setting: Setting) -> Iterator[Row]:
    """Measure what toksmith sets itself, as far as forms, texts and vocabularies were asked for."""
    for goal in GOALS:
        if goal.vocabulary not in setting.vocabularies or goal.form not in setting.forms:
            continue
        if goal.form == "load":
            yield _loaded(setting, goal.vocabulary, goal)
        elif goal.text in setting.texts:
            yield _encoded(setting, goal)


def train(setting: Setting) -> Iterator[Row]:
    """Train each kind of model on the first text: whole processes, up to the saved file."""
    name = next(iter(setting.texts))
    for model in setting.models:
        for threads in setting.threads:
            yield _trained(setting, TrainingGoal(model, (name,), {}, threads=threads))


def training_bars(setting: Setting) -> Iterator[Row]:
    """Measure what toksmith sets itself for training, as far as models and texts were asked for."""
    for goal in TRAINING_GOALS:
        if goal.model in setting.models and set(goal.texts) <= setting.texts.keys():
            yield _trained(setting, goal)


def scale(setting: Setting) -> Iterator[Row]:
    """Train on large text, with all cores, at equal merges."""
    name, path = next(iter(setting.texts.items()))
    merges = setting.vocab_size or MERGES
    work = {"text": name, "model": MODEL, "vocab_size": merges, "threads": setting.cores}
    row = Row("train", work, path.stat().st_size)
    with TemporaryDirectory() as out:
        jobs = scale_jobs(path, setting.libraries, merges, setting.cores, out)
        equal, row.left_out = with_equal_merges(jobs)
        row.results = interleaved(equal, setting.rounds)
    yield row


SUITES: dict[str, Callable[[Setting], Iterator[Row]]] = {
    "load": loading,
    "encode": encode,
    "train": train,
    "bars": bars,
    "training-bars": training_bars,
    "scale": scale,
}


def _encoded(setting: Setting, goal: Goal) -> Row:
    form, vocabulary = FORMS[goal.form], setting.vocabularies[goal.vocabulary]
    data, text = setting.texts[goal.text], goal.text
    if goal.megabytes:
        data = shortened(data, int(goal.megabytes * 1e6), setting.scratch)
        text += f", {goal.megabytes} MB"
    if form.from_ids:
        data = some_ids(vocabulary, data, setting.scratch)
    threads = goal.threads or setting.cores
    work = {"vocabulary": goal.vocabulary, "text": text, "form": goal.form, "threads": threads}
    size = data.stat().st_size // (4 if form.from_ids else 1)
    job = {"vocabulary": vocabulary, "data": str(data), "form": goal.form, "threads": threads}
    return _measured(setting, Row("encode", work, size), {**job, "passes": 3}, form.call, goal)


def _loaded(setting: Setting, name: str, goal: Goal | None = None) -> Row:
    row = Row("load", {"vocabulary": name, "threads": 1})
    job = {"vocabulary": setting.vocabularies[name], "threads": 1}
    return _measured(setting, row, job, "batch", goal)


def _measured(setting: Setting, row: Row, common: Job, call: str, goal: Goal | None) -> Row:
    """Measure all libraries that have this call, and can load the vocabulary."""
    common = {"kind": row.kind, "library": OURS, **common}
    jobs = [
        {**common, "library": library}
        for library in setting.libraries
        if getattr(ADAPTERS[library], call) is not None
        and set(ADAPTERS[library].files) & set(common["vocabulary"])
        and (goal is None or not goal.bars or library in (OURS, *goal.peers))
    ]
    if goal is not None:
        row.bars = goal.bars
        jobs += [
            {**common, **other, "label": f"{OURS}, {name}"}
            for name, other in goal.ourselves.items()
        ]
        if not goal.peers:
            jobs = [{**job, "at_hand": MEMORY_PER_BYTE * row.size} for job in jobs]
    agreed, row.left_out = compared(jobs)
    row.results = interleaved(agreed, setting.rounds)
    return row


def _trained(setting: Setting, goal: TrainingGoal) -> Row:
    name, path = " + ".join(goal.texts), setting.texts[goal.texts[0]]
    if len(goal.texts) > 1:
        path = joined([setting.texts[text] for text in goal.texts], setting.scratch)
    vocab_size = setting.vocab_size or goal.vocab_size or KINDS[goal.model].vocab_size
    threads = goal.threads or setting.cores
    work = {"text": name, "model": goal.model, "vocab_size": vocab_size, "threads": threads}
    row = Row("train", work, path.stat().st_size, bars=goal.bars)
    with TemporaryDirectory() as out:
        common = {
            "kind": "train",
            "text": str(path),
            "model": goal.model,
            "vocab_size": vocab_size,
            "split": "gpt2",
            "pattern": FAMILIES["gpt2"].pattern,
            "threads": threads,
            "out": out,
        }
        jobs = [
            {**common, "library": library}
            for library in setting.libraries
            if goal.model in ADAPTERS[library].trains
            and (library == OURS or goal.peers is None or library in goal.peers)
        ]
        row.results = interleaved(_equal_training(row, jobs, path), setting.rounds)
    return row


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
