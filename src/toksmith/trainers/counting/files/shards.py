"""Files of counted shards: which may lie in one folder, which may be added, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from toksmith.corpus import AnyPath
from toksmith.corpus.paths import one_path
from toksmith.corpus.remote import FilePath, as_file, is_folder, names_in
from toksmith.corpus.shards import file_in
from toksmith.errors import FormatError, OptionError, warn
from toksmith.trainers.counting.files.parquet import CountsFile
from toksmith.trainers.counting.files.shard_notes import (
    differences,
    is_note,
    name_shards,
    parse_shard_name,
    why_not_together,
)

_READ = 64
"""The number of files of a folder whose headers are read before a shard is counted."""


def check_folder(folder: FilePath, note: Mapping[str, Any]) -> None:
    """Check that a shard may be written to a folder.

    Headers of damaged shards are passed over: they stop those who need them.

    Args:
        folder: the folder, which may not exist yet.
        note: the note of the shard.

    Raises:
        OptionError: the folder holds shards of another division, corpus, or with other options.
    """
    if not is_folder(folder):
        return
    names = [name for name in names_in(folder) if parse_shard_name(name)]
    for name in names:
        _, count = parse_shard_name(name) or (0, 0)
        if count != note["of"]:
            raise OptionError(
                f"{folder} holds {name}, a shard of a division by {count}, not {note['of']}: give "
                "another folder, or remove the other shards"
            )
    for name in names[:_READ]:
        path = file_in(folder, name)
        try:
            found = note_of(CountsFile(path))
        except FormatError:
            continue
        check_same(path, found, note)


def check_same(path: FilePath, found: Mapping[str, Any], note: Mapping[str, Any]) -> None:
    """Raise OptionError if the file of a shard is of another corpus or other options."""
    if different := differences(found, note):
        is_same_corpus = found["corpus"] == note["corpus"]
        what = "was made with other options" if is_same_corpus else "is of another corpus"
        raise OptionError(f"{path} {what}: {different}; give another folder, or remove it")


def note_of(file: CountsFile) -> Mapping[str, Any]:
    """Return the note of a shard.

    Raises:
        FormatError: the file has none.
    """
    if file.shard is None or not is_note(file.shard):
        raise FormatError(file.path, "is no shard: its metadata name no corpus")
    return file.shard


def shards_in(folder: FilePath) -> list[CountsFile]:
    """Return the shards of a folder in order.

    Raises:
        OptionError: there are none, one is missing, or they are of different corpora.
        FormatError: a file is damaged, or is no shard.
    """
    found: dict[int, dict[int, str]] = {}
    for name in names_in(folder):
        if parsed := parse_shard_name(name):
            number, count = parsed
            found.setdefault(count, {})[number] = name
    if not found:
        raise OptionError(
            f"{folder} holds no shards of counts: make them with count_corpus(shard=…) "
            "(toksmith counts make --shard)"
        )
    if len(found) > 1:
        several = " and ".join(map(str, sorted(found)))
        raise OptionError(
            f"{folder} holds shards of divisions by {several}: remove those of one of them"
        )
    ((count, names),) = found.items()
    if missing := [number for number in range(count) if number not in names]:
        raise OptionError(
            f"{folder} is not complete: make shards {name_shards(missing, count)} first"
        )
    files = [CountsFile(file_in(folder, names[number])) for number in range(count)]
    first = note_of(files[0])
    for file in files[1:]:
        if different := differences(first, note_of(file)):
            raise OptionError(
                f"{file.path} is of another corpus than {files[0].path.name}: {different}; make it "
                "again"
            )
    return files


def counts_files(inputs: AnyPath | Sequence[AnyPath], name: str = "inputs") -> list[CountsFile]:
    """Return the files of counts of an argument, with folders of shards replaced by their files.

    Raises:
        OptionError: it is no path or list of paths, the list is empty, shards of a folder are
            missing or of different corpora.
        FormatError: a file cannot be read, is damaged, or holds no counts.
    """
    if isinstance(inputs, bytes) or not isinstance(inputs, str | PathLike | Iterable):
        raise OptionError(
            f"{name} is {inputs!r:.80}: give files of counts, not {type(inputs).__name__}"
        )
    several = [inputs] if isinstance(inputs, str | PathLike) else list(inputs)
    if not several:
        raise OptionError(f"{name} is an empty list: give one file of counts or more")
    found: list[CountsFile] = []
    for given in several:
        path = as_file(one_path(given))
        found += shards_in(path) if is_folder(path) else [CountsFile(path)]
    return found


def check_summands(files: Sequence[CountsFile]) -> None:
    """Warn if shards of a corpus are not among the files.

    Raises:
        OptionError: the sum would hold text of a corpus twice.
    """
    for of_corpus in _by_corpus(files):
        first, given = of_corpus[0], dict[int, CountsFile]()
        for file in of_corpus:
            note = note_of(file)
            other = given.setdefault(note["number"], file)
            for before in (first, other) if other is not file else (first,):
                if before is not file and (wrong := why_not_together(note_of(before), note)):
                    raise OptionError(f"{before.path} and {file.path} {wrong[0]}: {wrong[1]}")
        count = note_of(first)["of"]
        if missing := [number for number in range(count) if number not in given]:
            warn(
                f"shards {name_shards(missing, count)} are not among the files of counts: the sum "
                "is that of a part of the corpus"
            )


def in_order(files: Sequence[CountsFile]) -> list[CountsFile]:
    """Return files of counts with the shards of each corpus in the order of their numbers.

    The order of a sum decides ties in training. Other files keep their places.
    """
    ordered, places = [*files], {id(file): place for place, file in enumerate(files)}
    for of_corpus in _by_corpus(files):
        by_number = sorted(of_corpus, key=lambda file: int(note_of(file)["number"]))
        for file, replaced in zip(by_number, of_corpus, strict=True):
            ordered[places[id(replaced)]] = file
    return ordered


def _by_corpus(files: Iterable[CountsFile]) -> list[list[CountsFile]]:
    """Return the shards among files, those of each corpus together."""
    found: dict[str, list[CountsFile]] = {}
    for file in files:
        if is_note(file.shard):
            found.setdefault(str(note_of(file)["corpus"].get("hash")), []).append(file)
    return [*found.values()]
