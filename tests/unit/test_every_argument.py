"""Every parameter of every public call gets wrong values: the result is right or a ToksmithError.

The calls and their parameters are read from the signatures, so a new one is tested without a change
here; only a parameter with a new name needs a valid value in ``VALUES``.
"""

from __future__ import annotations

import inspect
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith import formats, measure, segment, tokenfiles, trainers
from toksmith.errors import ToksmithError

TOK = toksmith.train(texts=["low low lower lowest"], vocab_size=260)
_FOLDER = tempfile.TemporaryDirectory()
COUNTS = toksmith.Counts.from_texts(["low low lower"])


def write_tokens(folder: str) -> str:
    """Write token files to a folder, and return it."""
    text = Path(_FOLDER.name, "low.txt")
    text.write_text("low lower")
    toksmith.tokenize_corpus(
        text, tokenizer=TOK, format="megatron", output=Path(folder, "tokens"), eos=False
    )
    return str(Path(folder, "tokens"))


COUNTS.save(Path(_FOLDER.name, "low.counts"))
TOKENS = toksmith.open_tokens(write_tokens(_FOLDER.name))
INDEX = tokenfiles.pack(TOKENS, length=4)
RECEIVERS = {
    "Audit": toksmith.audit(TOK),
    "Batch": TOK.encode_batch(["low", "er"]),
    "Comparison": toksmith.compare([TOK], texts="low lower", speed=False),
    "Counts": COUNTS,
    "CountsFile": toksmith.CountsFile(Path(_FOLDER.name, "low.counts")),
    "Encoding": TOK.encoding("low lower"),
    "Inputs": TOK.prepare(["low"]),
    "PackIndex": INDEX,
    "PackReport": INDEX.report,
    "PackedRows": TOKENS.packed(INDEX),
    "RowOrder": tokenfiles.RowOrder(3),
    "MergeStep": next(toksmith.training_steps(["low low"], vocab_size=257)),
    "Spans": segment.graphemes("low"),
    "TextChunk": TOK.chunks("low lower", 2)[0],
    "TokenFiles": TOKENS,
    "Tokenizer": TOK,
    "TrainingRecord": TOK.training,
    "UnicodeText": toksmith.unicode("low"),
    "Words": segment.words("low lower"),
}
"""An object of each public class, for its methods."""

CONSTRUCTED = {"Counts", "PackedRows", "RowOrder", "Tokenizer", "UnicodeText"}
"""The classes that users construct; the others are results."""

# fmt: off
VALUES: dict[str, Any] = {
    **dict.fromkeys(("files", "path"), Path("text.txt")),
    "paths": ["a.counts"], "contents": {Path("written.txt"): b"low"},
    "text": "low lower", "texts": ["low lower"], "text_or_ids": "low", "source": "low",
    "pair": "low", "pairs": ["low"], "back": b"low", "token": "low",
    **dict.fromkeys(("tokenizer", "continue_from", "a", "b"), TOK), "by": None,
    "tokenizers": [TOK], "pipeline": TOK.pipeline, "training": None,
    "name": "gpt2", "new": 300, "ids": [108, 111], "batch": [[108, 111]],
    "counts": COUNTS, "counted": {b"low": 2}, "splitter": None, "gaps": "keep",
    "chunks": b"low", "ends": np.array([3], np.uint64), "limits": None,
    "vocab_size": 259, "model": "bpe", "split": "gpt4", "format": "huggingface",
    "special_tokens": ["<|end|>"], "tokens": ["<|end|>"], "special": "text", "bos": "<s>",
    "ties": "first-seen", "min_frequency": 1, "max_token_length": 5, "eos": None,
    "unit": "bytes", "unk_token": None, "checkpoint": None, "memory": None,
    "separator": None, "field": "text", "read_as": None, "weights": None, "sample": 1.0,
    "seed": 0, "deduplicate": False, "encoding_errors": "strict", "min_count": 1,
    "threads": 1, "progress": False, "speed": False, "reference": None, "parallel": None,
    "measures": ["tokens"], "intervals": None, "on": None, "longest": 8, "measure": "tokens",
    "max_vocab": 300, "sizes": [258], "d_model": 8, "layers": 1, "parameters": None,
    "tied": True, "training_bytes": None, "enough": 1, "library": None, "kind": "x",
    "max_length": 4, "stride": 0, "padding": None, "truncation": None, "overflow": False,
    "pre_split": False,
    "spans": True, "max_tokens": 2, "side": "right", "overlap": 0, "at": "token",
    "add_special_tokens": False, "skip_special_tokens": False, "errors": "replace",
    "matching": "merges", "record": False, "cache_bytes": None, "token_id": 108,
    "character": 1, "sequence": 0, "rules": "uax29", "language": "en", "locale": None,
    "n": 1, "dropout": None, "nbest_size": 2, "documents": 1, "unknown": 1, "distinct": 1,
    "characters": 3, "size": 3,
    "against": "tiktoken", "revision": None, "spelling": "low", "offsets": True,
    "data": TOK.dumps(),
    "folder": "tokens", "sources": True, "index": INDEX, "length": 4, "method": "concat",
    "rank": 0, "world_size": 1, "drop_last": False,
    "epoch": 1, "state": {"epoch": 0, "row": 1, "shares": 1},
    "count": 2, "include_best": False, "output": "written", "eos_place": "after",
    "empty": "bare", "shuffle": True, "sequence_length": 2, "shard_tokens": None, "shards": None,
    "on_error": "skip", "shard": None, "runner": "local", "log_json": None, "first": 0, "last": 1,
    "dtype": "uint16", "numbers": [0],
    "words": 2, "base_tokens": 2, "reference_tokens": 2, "alpha": 2.5, "costs": [1.0, 2.0],
    "frequencies": [2, 1], "tokens_of_words": [1, 2],
    "inputs": "a.counts", "spill_limit": None,
}
# fmt: on
"""A valid value of each parameter, by its name."""

SPECIAL_CASES: dict[tuple[str, str], Any] = {
    ("Counts", "counts"): np.array([1], np.uint64),
    ("Counts.load", "path"): "a.counts",
    ("Counts.from_tsv", "path"): "a.tsv",
    ("Counts.from_tsv", "split"): None,
    ("Counts.save", "path"): "new.counts",
    ("Counts.to_tsv", "path"): "new.tsv",
    ("Comparison.of_text", "text"): "text",
    ("Comparison.to_csv", "path"): "new.csv",
    ("Tokenizer", "pipeline"): TOK.pipeline,
    ("Tokenizer.chunks", "at"): "token",
    ("Tokenizer.encode_batch", "pairs"): None,
    ("Tokenizer.encode_words", "words"): ["low", "er"],
    ("Tokenizer.encode_words", "pair"): None,
    ("Tokenizer.frame", "pair"): [108],
    ("Tokenizer.prepare", "max_length"): None,
    ("Tokenizer.save", "path"): "new.json",
    ("Tokenizer.with_template", "bos"): None,
    ("Encoding.token_to_chars", "token"): 0,
    ("Tokenizer.prepare", "stride"): None,
    ("Tokenizer.sample", "nbest_size"): 1,
    ("Tokenizer.samples", "distinct"): True,
    ("formats.replace", "path"): "written.json",
    ("advise", "counts"): None,
    ("tokenize_corpus", "format"): "megatron",
    ("tokenize_corpus", "eos"): 5,
    ("tokenize_corpus", "bos"): 6,
    ("tokenize_corpus", "split"): "train=0.5,val=0.5",
    ("open_tokens", "path"): "tokens",
    ("open_tokens", "format"): "megatron",
    ("open_tokens", "split"): "train",
    ("TokenFiles.blocks", "tokens"): 5,
    ("PackedRows", "tokens"): TOKENS,
    ("PackIndex.check_source", "tokens"): TOKENS,
    ("PackIndex.load", "path"): "a.pack",
    ("PackIndex.save", "path"): "new.pack",
    ("tokenfiles.pack", "tokens"): TOKENS,
    ("tokenfiles.finish_corpus", "output"): "tokens",
    ("tokenfiles.convert_tokens", "tokens"): "tokens",
    ("tokenfiles.convert_tokens", "format"): "nanogpt",
    ("tokenfiles.convert_tokens", "vocab_size"): None,
    ("TokenFiles.save_ids", "path"): Path("new"),
    ("compare", "sample"): 1000,
    ("get", "name"): "toksmith-no-such-name",
    ("formats.read_data", "special_tokens"): None,
    ("loads", "special_tokens"): None,
    ("load", "format"): None,
    ("load", "path"): "tok.json",
    ("load", "special_tokens"): None,
    ("formats.contents", "path"): "new.json",
    ("formats.read", "format"): None,
    ("formats.read", "path"): "tok.json",
    ("formats.read", "special_tokens"): None,
    ("formats.write", "path"): "new.json",
    ("measure.common_bytes", "text"): b"lower",
    ("measure.lost_bytes", "text"): b"lower",
    ("merge", "pair"): (108, 111),
}
"""Valid values where a parameter of this name has another meaning or another default."""

OMITTED = {
    "load": {"split"},
    "loads": {"split"},
    "formats.read_data": {"split"},
    "formats.read": {"split"},
    "train": {"texts", "counts", "continue_from", "unk_token"},
    "advise": {"texts", "counts", "tokenizer"},
    "audit": {"files"},
    "compare": {"files"},
    "verify": {"against"},
}
"""Parameters that exclude others: left out, except when they are tested."""

PATHS = {"files", "folder", "path", "paths", "checkpoint", "contents"}
"""Parameters that name files: an OSError about the file is right too."""

WRONG = (
    *(None, 5, "x", object(), 1.5, -1, float("nan"), True),
    *("", b"", [], {}, ()),
    *(2**70, -(2**70), "x" * 100_000, [None], [object()], {"x": object()}),
)

RATIOS = {
    *("measure.bytes_per_token", "measure.characters_per_token", "measure.fertility"),
    *("measure.normalized_sequence_length", "measure.parity", "measure.type_token_ratio"),
    *("measure.unknown_rate", "measure.vocabulary_use"),
}
"""Functions of numbers alone."""

NOT_VALID = {
    "get",
    *(() if find_spec("pandas") else ("Comparison.to_frame",)),
    *("Tokenizer.nbest", "Tokenizer.sample", "Tokenizer.samples", "Tokenizer.score"),
    "Tokenizer.segmentation_entropy",
}
"""Calls that need a download, an absent package or another model: an error with these values."""

RETURNED = {
    **dict.fromkeys(("IdArray", "OffsetArray", "SpanArray"), "ndarray"),
    "Tokens": "ndarray",
    "AnyText": "str|bytes",
    "None": "NoneType",
    "AnyTokenizer": "Tokenizer",
    "float": "float|int",
}
"""The types of values that annotations of results stand for."""


def calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions, methods and constructors, each with a name."""
    for module in (toksmith, measure, segment, formats, tokenfiles, trainers):
        prefix = "" if module is toksmith else module.__name__.removeprefix("toksmith.") + "."
        for name in module.__all__:
            value = getattr(module, name)
            if prefix and value is getattr(toksmith, name, None):
                continue
            if inspect.isfunction(value):
                yield prefix + name, value
            elif inspect.isclass(value) and name in RECEIVERS:
                if name in CONSTRUCTED:
                    yield name, value
                for method, _ in inspect.getmembers(value, callable):
                    inherited = method not in {
                        key
                        for c in value.__mro__
                        for key in vars(c)
                        if c.__module__.startswith("toksmith")
                    }
                    if not method.startswith("_") and not inherited:
                        yield f"{name}.{method}", getattr(RECEIVERS[name], method)


INTERNAL = {"trainers.count_chunks"}
"""Calls that take objects which only this package makes."""

CALLS = {name: call for name, call in calls() if name not in INTERNAL}
PARAMETERS = [
    (call, name)
    for call, function in CALLS.items()
    for name, parameter in inspect.signature(function).parameters.items()
    if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("text.txt").write_text("low lower")
        TOK.save("tok.json")
        COUNTS.save("a.counts")
        COUNTS.to_tsv("a.tsv")
        INDEX.save("a.pack")
        write_tokens(".")
    return folder


@pytest.fixture(autouse=True)
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def valid(call: str, tested: str) -> dict[str, Any]:
    """Return the valid arguments of a call."""
    names = [name for each, name in PARAMETERS if each == call and name != tested]
    left_out = OMITTED.get(call, set())
    return {
        name: SPECIAL_CASES.get((call, name), 2 if call in RATIOS else VALUES[name])
        for name in names
        if name not in left_out
    }


def run(call: str, arguments: Mapping[str, Any]) -> object:
    function = CALLS[call]
    shutil.rmtree("written", ignore_errors=True)
    positional = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(arguments[name])
    rest = list(arguments.items())[len(positional) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*positional, **dict(rest))
        if isinstance(result, Iterator):
            list(islice(result, 3))
    return result


def is_declared(call: str, result: object) -> bool:
    """Whether the type of a result is one that the annotation names."""
    declared = str(inspect.signature(CALLS[call]).return_annotation)
    names = set(re.findall(r"\w+", declared))
    allowed = {each for name in names for each in RETURNED.get(name, name).split("|")}
    bases = {base.__name__ for base in type(result).__mro__}
    if isinstance(result, Iterator):
        bases.add("Iterator")
    return "Any" in names or call in CONSTRUCTED or bool(allowed & bases)


def test_every_parameter_has_a_valid_value() -> None:
    missing = {name for _, name in PARAMETERS} - VALUES.keys()
    assert not missing, f"add a valid value to VALUES for {sorted(missing)}"


@pytest.mark.parametrize("call", CALLS)
def test_valid_arguments(call: str) -> None:
    if call in NOT_VALID:
        with pytest.raises(ToksmithError):
            run(call, valid(call, ""))
        return
    assert is_declared(call, run(call, valid(call, "")))


@pytest.mark.parametrize(("call", "name"), PARAMETERS)
def test_wrong_arguments(call: str, name: str) -> None:
    others = valid(call, name)
    if name in {"texts", "counts", "continue_from", "tokenizer"} and call in {"train", "advise"}:
        others.pop("files")
    failures = []
    for value in WRONG:
        try:
            result = run(call, others | {name: value})
        except ToksmithError:  # noqa: PERF203
            continue
        except Exception as error:
            allowed = OSError if name in PATHS else IndexError if name == "token" else ()
            if not isinstance(error, allowed):
                failures.append(f"{value!r:.40}: {type(error).__name__}: {error!s:.150}")
        else:
            if not is_declared(call, result):
                failures.append(f"{value!r:.40}: returned {type(result).__name__}")
    assert not failures, "\n".join(failures)
