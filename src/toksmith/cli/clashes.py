"""Refuses output files that the same command also reads, before anything is written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from toksmith._base import commits
from toksmith.errors import OptionError, ToksmithError

WRITES = frozenset({"output", "target", "html", "svg", "json", "csv", "log_json"})
"""The parameters of commands that name files to write."""

TEXTS = frozenset({"file", "files", "inputs", "on", "texts", "verify"})
TOKENIZERS = frozenset({"tokenizer", "tokenizers"})
COUNTS = frozenset({"counts", "path", "paths"})
TOKENS = frozenset({"tokens", "from_tokens"})
"""The parameters that name files to read, by what folders are searched for."""

REPLACED = frozenset({"continue_from", "source"})
"""Tokenizers that the output may replace: it holds all that they held, or the command fails."""


def check_outputs(context: Any) -> None:
    """Check that no output of a command is one of its inputs, or another of its outputs.

    Args:
        context: the parsed command line.

    Raises:
        OptionError: an output is also read, or two outputs have one name.
    """
    options = {each.name: each for each in context.command.params}
    given = {name: value for name, value in context.params.items() if name in options and value}
    outputs = {
        _option(options[name]): os.fspath(value)
        for name, value in given.items()
        if name in WRITES and isinstance(value, str | Path) and str(value) != "-"
    }
    _check_different(outputs)
    for option, output in outputs.items():
        path = Path(output)
        if os.path.isfile(output) and not commits.is_stream(path):  # noqa: PTH113 - never raises
            for name, value in given.items():
                words = value if isinstance(value, list | tuple) else [value]
                if found := _first_same(path, name, [str(word) for word in words]):
                    _refuse(option, output, found)
            if _is_standard_input(path):
                _refuse(option, output, "standard input")


def _refuse(option: str, output: str, read: str) -> None:
    whose = "" if read == output else f" ({read})"
    raise OptionError(f"{option} {output} is also read{whose}: give another name")


def _option(parameter: Any) -> str:
    return str(max(parameter.opts, key=len) if parameter.opts[0][0] == "-" else parameter.metavar)


def _check_different(outputs: dict[str, str]) -> None:
    before: dict[str, str] = {}
    for option, output in outputs.items():
        if commits.is_stream(Path(output)) or "\0" in output:
            continue
        other = before.setdefault(os.path.realpath(output), option)
        if other != option:
            raise OptionError(f"{other} and {option} are both {output}: give different names")


def _first_same(output: Path, name: str, words: Iterable[str]) -> str | None:
    """Return the first word of a parameter that makes the command read a file."""
    for word in words:
        for path in _named(word):
            if any(_is_same(output, file) for file in _read(output, name, path)):
                return word
    return None


def _named(word: str) -> list[str]:
    """Return the paths that a word may mean: itself, or that of NAME=PATH."""
    _, equals, path = word.partition("=")
    return [word, path] if equals and not _is_there(word) else [word]


def _read(output: Path, name: str, path: str) -> Iterator[str | Path]:
    """Yield the files that a parameter's value names; of a folder, those that may be the output."""
    known = TEXTS | TOKENIZERS | COUNTS | TOKENS
    if name not in known or not path:
        return
    if name in TOKENS:
        yield from _token_files(Path(path))
    if not _is_folder(path):
        yield path
        if name in TEXTS:
            yield from _matched(path)
    elif name in TEXTS:
        if _is_in(output, path):
            yield from _matched(path)
    elif name in TOKENIZERS:
        yield from _tokenizer_files(output, Path(path))
    elif name in COUNTS:
        from toksmith.trainers.counting.files.shard_notes import parse_shard_name

        if parse_shard_name(output.name):
            yield Path(path, output.name)


def _matched(word: str) -> list[Any]:
    """Return the files of a folder or of a pattern; none of a text."""
    from toksmith.corpus import expand
    from toksmith.corpus.remote import is_url

    try:
        return [] if is_url(word) else expand(word)
    except (ToksmithError, OSError, ValueError):  # a text; what is wrong is for the command to say
        return []


def _token_files(place: Path) -> Iterator[Path]:
    from toksmith.tokenfiles.formats import NAMES, format_of
    from toksmith.tokenfiles.manifest import NAME

    yield place / NAME
    for name in NAMES:
        try:
            found = format_of(name).find(place)
        except (ToksmithError, OSError, ValueError):
            continue
        for path in found:
            yield path
            yield path.with_suffix(".idx")


def _tokenizer_files(output: Path, folder: Path) -> Iterator[Path]:
    from toksmith.formats.hub import FILES

    if any(fnmatch(output.name, name) for name in FILES):
        yield folder / output.name


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):  # a text that is no path
        return False


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def _is_in(path: Path, folder: str) -> bool:
    return path.resolve().is_relative_to(Path(folder).resolve())


def _is_same(output: Path, path: str | Path) -> bool:
    try:
        return output.samefile(path)
    except (OSError, ValueError):
        return False


def _is_standard_input(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()))
    except (AttributeError, OSError, ValueError):  # closed, or no file
        return False
