"""The requests of the page that trains a tokenizer on files or a text."""

from __future__ import annotations

import pickle
from html import escape
from pathlib import Path
from typing import Any

from toksmith._base.visible import LONGEST_IN_LIST
from toksmith.errors import OptionError
from toksmith.explorer.folder import Folder
from toksmith.explorer.jobs import Job, Jobs
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields, Reply
from toksmith.explorer.token_html import colour_class, one_line_html
from toksmith.formats.listed import LISTED, WRITTEN
from toksmith.models import BPE, CharacterBPE
from toksmith.show.chart import Line, Plot, plot_svg
from toksmith.splitters import NAMES
from toksmith.tokenizer import Tokenizer
from toksmith.trainers import MODELS
from toksmith.trainers.option_parsing import Described, describe_options

MOST_LEARNED = 1_000
"""The number of merges listed after training; the page of the vocabulary has all."""

_OPEN_KINDS = {"text", "text,text,…", "a number", "a whole number"}
_POINTS = 200
"""The number of points of the size curve."""

FORMATS = {
    name: LISTED[name].folder or LISTED[name].suffixes[0]
    for name in sorted(WRITTEN, key=lambda name: name != "huggingface")
    if LISTED[name].suffixes  # a single file
}
"""The main file, or the suffix, of each format that can be saved; the first is the default."""


class TrainPage:
    """The requests of the page.

    Args:
        loaded: the tokenizers, to which trained ones are added.
        folder: the files that may be read.
        jobs: runs the training.
    """

    def __init__(self, loaded: LoadedTokenizers, folder: Folder, jobs: Jobs) -> None:
        self._loaded = loaded
        self._folder = folder
        self._jobs = jobs
        self._job: Job | None = None
        self._trained: tuple[str, Tokenizer] | None = None

    def options(self, fields: Fields) -> Reply:
        """Return the options of each model, for the form."""
        special = {"special_tokens", "separator"}
        return {
            model: [
                {**option._asdict(), **_choices(option)}
                for option in describe_options(kind)
                if option.name not in special
            ]
            for model, (kind, _) in MODELS.items()
        }

    def files(self, fields: Fields) -> Reply:
        """Return the entries of a folder."""
        path = fields.text("path")
        return {
            "root": self._folder.root.name or str(self._folder.root),
            "path": path,
            "entries": [vars(each) for each in self._folder.list_entries(path)],
            "chosen": [vars(each) for each in self._folder.find(fields.texts("chosen"))],
        }

    def start(self, fields: Fields) -> Reply:
        """Start training."""
        files, texts = self._folder.choose(fields.texts("files"), fields.text("text"))
        size = fields.number("vocab_size", 0)
        task = {
            "task": "train",
            "files": [path for paths in files.values() for path in paths],
            "texts": texts,
            "model": fields.text("model", "bpe"),
            "vocab_size": size or None,
            "separator": fields.text("separator"),
            "special_tokens": fields.texts("special_tokens"),
            "options": {name: text for name, text in fields.pairs("options").items() if text != ""},
            "result": str(self._jobs.file(".pickle")),
        }
        self._job = self._jobs.start(task)
        self._trained = None
        return {"state": "running"}

    def progress(self, fields: Fields) -> Reply:
        """Return the progress of training, with the merges after a number."""
        job = self._job
        if job is None:
            return {"state": "none"}
        since = fields.number("since", 0)
        merges = [each for each in list(job.merges) if each[0] > since]
        answer: dict[str, Any] = {
            **job.progress,
            "state": job.state,
            "error": self._folder.replace_upload_paths(job.error.replace("--option ", "")),
            "warnings": [*map(self._folder.replace_upload_paths, job.warnings)],
            "model": job.task["model"],
            "last": merges[-1][0] if merges else since,
            "merges": [merge_html(*each) for each in merges[-100:]],
        }
        if job.state == "done":
            answer |= self._result(job)
        elif len(points := list(job.curve)) > 1:
            answer["curve"] = plot_svg(_curve_so_far(points))
        return answer

    def _result(self, job: Job) -> Reply:
        if self._trained is None:
            path = Path(job.task["result"])
            tok: Tokenizer = pickle.loads(path.read_bytes())  # our own worker wrote it
            path.unlink()
            self._trained = self._loaded.put(f"{job.task['model']}-{tok.vocab_size}", tok), tok
        key, tok = self._trained
        return {
            "key": key,
            "result": result_html(tok),
            "learned": learned_html(tok),
            "formats": FORMATS,
        }

    def export(self, key: str, form: str) -> tuple[str, bytes]:
        """Return a tokenizer as a file: its name, and its bytes.

        Raises:
            OptionError: the format is unknown.
            UnsupportedError: the format cannot hold it.
        """
        if form not in FORMATS:
            raise OptionError(f"unknown format {form!r}: use {', '.join(FORMATS)}")
        place = self._jobs.file(FORMATS[form])
        self._loaded[key].tokenizer.save(place, format=form)
        data = place.read_bytes()
        for made in place.parent.glob(f"{place.stem}*"):
            made.unlink()
        name = FORMATS[form]
        return (f"{key.replace(' ', '-')}{name}" if name.startswith(".") else name), data

    def save(self, fields: Fields) -> Reply:
        """Write a tokenizer to a new file below the folder."""
        form = fields.text("format")
        if form not in FORMATS:
            raise OptionError(f"unknown format {form!r}: use {', '.join(FORMATS)}")
        tok = self._loaded[fields.text("tokenizer")].tokenizer
        with self._folder.open_new(fields.text("path")) as (place, target):
            tok.save(place, format=form)
        return {"path": str(target)}


def merge_html(
    number: int, token: bytes, rest: str, count: int, token_id: int | None = None
) -> str:
    """Return a merge as an item of the list, in the colour of its token in the vocabulary.

    Args:
        number: of the merge, from 1.
        token: the merged token, or its start.
        rest: says what is left out of it.
        count: how often its parts were neighbours.
        token_id: its id; by default, that of a vocabulary that begins with the 256 bytes.
    """
    colour = colour_class(255 + number if token_id is None else token_id)
    shown = one_line_html(token, LONGEST_IN_LIST)
    shown += f'<bdi dir="ltr">{escape(rest)}</bdi>' if rest else ""
    return (
        f'<li><span class="n">{number:,}</span><span class="sym {colour}">{shown}</span>'
        f'<span class="soft">× {count:,}</span></li>'
    )


def learned_html(tok: Tokenizer) -> list[str]:
    """Return the first learned merges; none for models without merges."""
    record = tok.training
    model = tok.pipeline.model
    if record is None or not isinstance(model, BPE | CharacterBPE):
        return []
    made = model.merges[:MOST_LEARNED, 2].tolist()
    counts = record.counts[: len(made)].tolist()
    pairs = zip(made, counts, strict=True)
    return [
        merge_html(i, model.vocab[new], "", count, new) for i, (new, count) in enumerate(pairs, 1)
    ]


def result_html(tok: Tokenizer) -> str:
    """Return the figures of a training, and its size curve."""
    record = tok.training
    if record is None:
        return ""
    figures = [("ids", f"{tok.vocab_size:,}"), ("text", f"{record.bytes:,} bytes")]
    if record.documents:
        figures.append(("documents", f"{record.documents:,}"))
    figures.append(("distinct chunks", f"{record.chunks:,}"))
    if record.tokens:
        figures.append(("tokens of the text", f"{record.tokens:,}"))
        figures.append(("bytes a token", f"{record.bytes / record.tokens:.2f}"))
    figures.append(("time", f"{record.seconds:.1f} s"))
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in figures)
    curve = size_curve(tok)
    svg = f'<div class="plot">{plot_svg(curve)}</div>' if curve else ""
    return f'<dl class="facts">{rows}</dl>{svg}'


def size_curve(tok: Tokenizer) -> Plot | None:
    """Return bytes a token by size of the vocabulary; ``None`` for models without merges.

    Every smaller vocabulary is a prefix of this one, so one training gives all sizes.
    """
    record = tok.training
    if record is None or len(record.tokens_after) < 2:
        return None
    count = len(record.tokens_after)
    first = tok.vocab_size - count
    step = max(count // _POINTS, 1)
    places = sorted({*range(0, count, step), count - 1})
    sizes = [first + place + 1 for place in places]
    ratios = [record.bytes / max(int(record.tokens_after[place]), 1) for place in places]
    line = Line("bytes a token", sizes, ratios)
    title = "What each size of vocabulary would give"
    return Plot(title, "size of the vocabulary", "bytes a token", [line])


def _curve_so_far(points: list[tuple[int, int]]) -> Plot:
    merges, tokens = zip(*points, strict=True)
    unit, name = (1e6, "million tokens") if tokens[0] >= 2_000_000 else (1, "tokens")
    line = Line(name, list(merges), [count / unit for count in tokens])
    return Plot("What the text comes to", "merges", name, [line])


def _choices(option: Described) -> Reply:
    """Return the values of an option if there are only a few, and the name of any other value."""
    if option.name == "split":
        return {"choices": [*NAMES], "other": "a regular expression"}
    values = option.kind.split(" or ")
    are_few = len(values) > 1 and not _OPEN_KINDS & {*values}
    return {"choices": values if are_few else [], "other": ""}
