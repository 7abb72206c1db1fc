"""The performance bars: for each piece of work, the required speedup over a peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Job = dict[str, Any]
ALL = 0  # cores
ENCODERS = ("gigatoken", "tiktoken", "tokie", "tokenizers", "sentencepiece")

# What is compared of a job's result; the less, the better.
FIGURES: dict[str, Callable[[Job], float]] = {
    "cold": lambda result: result["seconds"][0],
    "warm": lambda result: result["seconds"][-1],
    "peak memory": lambda result: result["cold_peak_bytes"],
    "import": lambda result: result["import_seconds"],
    "load": lambda result: result["load_seconds"] + result["first_seconds"],
    "whole": lambda result: result["process_seconds"],
    "peak memory of training": lambda result: result["peak_bytes"],
}


@dataclass(frozen=True)
class Goal:
    """One piece of work, and the bars that it is held to.

    Attributes:
        form: of :data:`benchmarks.forms.FORMS`, or ``load``.
        vocabulary: its name.
        text: its name.
        threads: ``ALL`` for the cores of the process.
        peers: whom it is measured against.
        bars: by figure, how much less ours has to be, as a ratio to the best of the peers.
        ourselves: other ways of toksmith to do the same, as further peers: what differs, by name.
        megabytes: use so much of the text.
    """

    form: str
    vocabulary: str
    text: str
    threads: int
    bars: Mapping[str, float]
    peers: tuple[str, ...] = ("gigatoken",)
    ourselves: Mapping[str, Job] = field(default_factory=dict)
    megabytes: float | None = None


BASE = "cl100k_base"
ONE_THREAD = {"on one thread": {"threads": 1}}
GOALS = (
    Goal("array", BASE, "english", 1, {"cold": 1.5, "warm": 1.0, "peak memory": 1.0}),
    Goal("array", BASE, "code", 1, {"cold": 1.3, "warm": 1.0}),
    Goal("array", BASE, "multilingual", 1, {"cold": 2, "warm": 1.0}),
    Goal("array", BASE, "cjk", 1, {"cold": 4, "warm": 1.0}),
    Goal("array", BASE, "english", ALL, {"cold": 1.5}),
    Goal("string", BASE, "english", 1, {"cold": 1.5, "warm": 1.0, "peak memory": 1.0}),
    Goal("string", BASE, "cjk", 1, {"cold": 4, "warm": 1.0}),
    Goal("string", BASE, "english", ALL, {"cold": 1.5}),
    Goal("string", BASE, "english", ALL, {"cold": 1.8, "warm": 1.8}, (), ONE_THREAD, megabytes=50),
    Goal("array", "gpt2", "english", 1, {"cold": 1.3}),
    Goal("array", "o200k_base", "english", 1, {"cold": 1.3}),
    Goal("lists", BASE, "english", ALL, {"cold": 1.3, "warm": 1.3}, ENCODERS),
    Goal("array", BASE, "english", ALL, {"cold": 1.8, "warm": 1.8}, (), ONE_THREAD, megabytes=50),
    Goal("array", "llama2", "english", 1, {"cold": 5}, megabytes=10),
    Goal("array", "llama2", "cjk", 1, {"cold": 5}),
    Goal("string", "llama2", "cjk", 1, {"cold": 5}),
    Goal("batch", "bert_uncased", "english", ALL, {"cold": 3, "warm": 3}, ("tokie",)),
    Goal("batch", "english8k", "english", 1, {"cold": 10, "warm": 10}, ("sentencepiece",)),
    Goal("decode", BASE, "english", ALL, {"cold": 1.5, "warm": 1.5}, ENCODERS),
    Goal("decode_array", BASE, "english", ALL, {"cold": 1.5, "warm": 1.5}, ENCODERS),
    Goal("decode", "llama2", "english", ALL, {"cold": 1.5, "warm": 1.5}, ENCODERS),
    Goal("short", BASE, "english", 1, {"warm": 1.2}, ENCODERS),
    Goal(
        "count", BASE, "english", 1, {"cold": 1.2, "warm": 1.2}, (),
        {"encode_array": {"form": "array"}},
    ),
    Goal("load", BASE, "", 1, {"import": 1.0, "load": 1.0}, ("tiktoken",)),
)  # fmt: skip
