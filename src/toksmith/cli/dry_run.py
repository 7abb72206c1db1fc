"""``--dry-run``: prints what a command would read, and reads no text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toksmith._base.visible import count_of
from toksmith.cli.common import shown_size
from toksmith.cli.corpus import CorpusOptions
from toksmith.cli.source_table import Source, source_table

if TYPE_CHECKING:
    from toksmith.corpus import Reading
    from toksmith.corpus.listing import ListedFile

_SHOWN = 20
"""The number of files of a shard that are listed."""


def print_plan(
    files: Sequence[str] | None,
    counts: Sequence[str] | None,
    corpus: CorpusOptions,
    further: Mapping[str, object],
    shard: str | None = None,
) -> None:
    """Print the files of a corpus and the options that apply to them.

    Args:
        files: the files, directories and patterns as given.
        counts: files of counts, or folders of shards, in their place.
        corpus: the options of the corpus.
        further: other options, by their names on the command line.
        shard: the shard of the corpus to count; ``None`` for all of it.

    Raises:
        OptionError: there is no such shard, or an option cannot be used for shards.
    """
    for line in _counts_lines(counts) if counts else _file_lines(files or [], corpus):
        print(line)
    for line in _shard_lines(files or [], corpus, shard) if shard else ():
        print(line)
    reading = {
        "separator": corpus["separator"],
        "sample": None if corpus["sample"] == 1 else f"{corpus['sample']:g}, seed {corpus['seed']}",
        "deduplicate": {True: "documents", False: None}.get(
            corpus["deduplicate"], corpus["deduplicate"]
        ),
        "encoding-errors": corpus["encoding_errors"],
    }
    limits = {
        "memory": corpus["memory"] or "no limit",
        "min-count": None if corpus["min_count"] == 1 else corpus["min_count"],
        "threads": corpus["threads"] or "all cores",
    }
    for name, value in {**further, **({} if counts else reading), **limits}.items():
        if value is not None:
            print(f"{name}: {value}")
    print("nothing was read or written (--dry-run)")


def _file_lines(files: Sequence[str], corpus: CorpusOptions) -> list[str]:
    from toksmith.corpus.listing import list_files

    found = list_files(list(files), _reading(corpus))
    lines = source_table([_source(file) for file in found])
    sizes = [file.size for file in found]
    known = [file.documents for file in found if file.documents is not None]
    total = [
        count_of(len(found), "file"),
        shown_size(sum(size or 0 for size in sizes)) + (" and pipes" if None in sizes else ""),
    ]
    if len(known) == len(found):
        total.append(_documents(sum(known)))
    else:
        total.append("the number of documents is known only after reading")
    return [*lines, f"in all: {', '.join(total)}"]


def _reading(corpus: CorpusOptions) -> Reading:
    from toksmith.corpus import Reading

    options = ("memory", "min_count", "threads")
    return Reading(**{name: value for name, value in corpus.items() if name not in options})


def _shard_lines(files: Sequence[str], corpus: CorpusOptions, shard: str) -> list[str]:
    """Return what a shard takes of each file; a stretch of a Parquet file is in row groups."""
    from toksmith.corpus.paths import expand_all
    from toksmith.corpus.shards import parse_shard, pieces_for, pieces_of_shard, source_files

    number, count = parse_shard(shard)
    sources = source_files(expand_all(list(files)))
    taken = pieces_of_shard(pieces_for(sources, _reading(corpus), count), number or 0, count)
    sizes = dict[str, int]()
    for piece in taken:
        sizes[str(piece.path)] = sizes.get(str(piece.path), 0) + piece.size
    whole = {source.path: source.bytes for source in sources}
    lines = [
        f"  {shown_size(size)} of {shown_size(whole[path])} of {path}"
        for path, size in [*sizes.items()][:_SHOWN]
    ]
    if len(sizes) > _SHOWN:
        lines.append(f"  and of {count_of(len(sizes) - _SHOWN, 'other file')}")
    total = shown_size(sum(sizes.values()))
    return [f"shard: {number}/{count}, {total} of {count_of(len(sizes), 'file')}", *lines]


def _counts_lines(paths: Sequence[str]) -> list[str]:
    from toksmith.trainers.counting.files.shards import counts_files
    from toksmith.trainers.counting.files.sums import SumOfFiles

    return [
        f"{file.path}: {shown_size(file.path.stat().st_size)} of counts, {file.chunks:,} distinct "
        "chunks"
        for file in SumOfFiles(counts_files(list(paths))).files
    ]


def _source(file: ListedFile) -> Source:
    kind = file.kind
    is_plain = kind.content == "text" and kind.compression is None
    return Source(
        str(file.path),
        file.size,
        file.size * file.weight if is_plain and file.size is not None else None,
        file.documents,
        file.weight,
        f"{kind.content}, {kind.compression}" if kind.compression else kind.content,
    )


def _documents(count: int) -> str:
    return count_of(count, "document")
