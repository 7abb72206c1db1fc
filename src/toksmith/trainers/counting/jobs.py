"""Jobs that make files of counts: from a corpus, on one machine or many, and from other files.

A shard of a corpus has its own file. Its metadata hold the options and a hash of the corpus, so
that only shards of one corpus are merged.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from toksmith._base.checks import whole
from toksmith._base.progress import counting_progress, listen
from toksmith._base.sizes import parse_size
from toksmith._base.threads import thread_count
from toksmith.corpus import AnyPath, DocumentSource, Files, Reading
from toksmith.corpus.paths import expand_all, one_path
from toksmith.corpus.remote import FilePath, as_file, exists
from toksmith.corpus.shards import Shard, SourceFile, file_in, parse_shard, source_files
from toksmith.errors import OptionError
from toksmith.splitters import splitter
from toksmith.trainers.counting.chunks import stream_chunks
from toksmith.trainers.counting.files.parquet import CountsFile, write
from toksmith.trainers.counting.files.shard_notes import shard_name, shard_note
from toksmith.trainers.counting.files.shards import (
    check_folder,
    check_same,
    counts_files,
    note_of,
    shards_in,
)
from toksmith.trainers.counting.files.sums import SumOfFiles
from toksmith.trainers.memory import MemoryLimits


def count_corpus(
    files: AnyPath | Sequence[AnyPath],
    *,
    output: AnyPath,
    split: str | None = "gpt4",
    gaps: Literal["keep", "drop"] = "keep",
    separator: str | None = None,
    field: str = "text",
    read_as: str | None = None,
    weights: Mapping[str, float] | None = None,
    sample: float = 1.0,
    seed: int = 0,
    deduplicate: bool | str = False,
    encoding_errors: str = "strict",
    shard: str | tuple[int, int] | None = None,
    runner: Literal["local", "ray"] = "local",
    shards: int | None = None,
    memory: int | str | None = None,
    spill_limit: int | str | None = None,
    min_count: int = 1,
    threads: int | None = None,
    progress: bool | None = None,
) -> list[CountsFile]:
    r"""Count the chunks of files, on one machine or many, and write the counts to files.

    The counts need not fit into memory. A shard is a function of the files and the options alone:
    made again, on another machine, it has the same bytes. A shard that exists is not made again.

    Args:
        files: a path, a directory, a pattern, a URL of these, or a list of them.
        output: the file to write, or a URL; for shards, a folder.
        split: the split of the text into chunks; see :meth:`toksmith.Counts.from_files`, also for
            the next eight arguments.
        gaps: whether text that a regular expression leaves unmatched is kept as chunks.
        separator: the text that separates documents inside a file.
        field: the field or column that holds the text.
        read_as: the format of the files.
        weights: factors for the counts of files; not for shards.
        sample: the share of documents to use.
        seed: the random seed of the sample.
        deduplicate: whether identical documents, or lines, are used once; not for shards.
        encoding_errors: ``"strict"`` or ``"replace"``.
        shard: ``"3/64"`` or ``(3, 64)`` counts one of 64 shards, from 0 to 63.
        runner: ``"ray"`` counts all shards on a Ray cluster, whose machines share the folders of
            the sources and of the output: the one that ``RAY_ADDRESS`` names, or this machine.
        shards: the number of shards for ``runner="ray"``; ``None`` for 16.
        memory: the memory limit of counting, of each shard; see
            :meth:`toksmith.Counts.from_files`.
        spill_limit: the maximum size of the temporary file of ``memory``, in bytes or as in
            ``"100G"``.
        min_count: chunks that occur fewer times than this are left out; not for shards.
        threads: ``None`` for the cores this process may use; on a cluster, one for each shard.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.

    Returns:
        The files that were written, or were there already: one, or one for each shard.

    Raises:
        OptionError: an option is out of range or not for shards; the output cannot be written, or
            holds a shard of other options; or the temporary file exceeds its limit.
        FormatError: a file cannot be read.
        MissingExtraError: Ray, pyarrow or the package for a URL is not installed.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("low.jsonl").write_text('{"text": "low lower"}\n' * 9)
        >>> for number in range(2):  # for example, in two jobs of an array
        ...     _ = count_corpus("low.jsonl", output="low.counts", shard=(number, 2))
        >>> merged = merge_counts("low.counts", output="all.counts")
        >>> merged.documents, merged.chunks, merged.occurrences
        (9, 2, 18)
    """
    limits = _limits(memory, spill_limit, min_count)
    reading = Reading(
        separator=separator,
        field=field,
        read_as=read_as,
        weights=weights or {},
        sample=sample,
        seed=seed,
        deduplicate=deduplicate,
        encoding_errors=encoding_errors,
    )
    number, count = parse_shard(shard)
    if runner not in ("local", "ray"):
        raise OptionError(f'runner is {runner!r:.40}: use "local" or "ray"')
    if runner == "local" and shards is not None:
        raise OptionError("shards is for runner='ray'; for several machines, use shard=")
    if runner == "ray" and shard is not None:
        raise OptionError("shard= and runner='ray' are given: a cluster counts all shards")
    path = as_file(one_path(output, "output"))
    task = _Counting(split, gaps, limits, reading)
    if runner == "local" and number is None:
        used = thread_count(threads)
        source = Files(files, reading, threads=used, memory=limits.limit)
        return [task.count(source, path, used, progress)]
    task.check_shards()
    sources = source_files(expand_all(files))
    if runner == "ray":
        count = 16 if shards is None else whole("shards", shards, least=1)
        return _on_ray(task, sources, path, count, threads or 1, progress)
    assert number is not None
    return [task.count_shard(sources, path, number, count, thread_count(threads), progress)]


def merge_counts(
    inputs: AnyPath | Sequence[AnyPath],
    *,
    output: AnyPath,
    memory: int | str | None = None,
    spill_limit: int | str | None = None,
    min_count: int = 1,
) -> CountsFile:
    """Add files of counts in this order, and write the sum to a file.

    Shards of one corpus are added in the order of their numbers, however they are given. Inputs
    are read in batches, and the sum need not fit into memory.

    Args:
        inputs: a file of counts, a folder of shards, a URL of these, or a list of them.
        output: the file to write, or a URL.
        memory: see :func:`count_corpus`, also for the other arguments.
        spill_limit: the maximum size of the temporary file.
        min_count: chunks that occur fewer times in the sum are left out.

    Returns:
        The file that was written.

    Raises:
        OptionError: the chunks were cut by different splitters; a shard of a folder is missing, or
            given twice; or the output cannot be written.
        FormatError: a file cannot be read, is damaged, or holds no counts.

    Example:
        >>> import toksmith
        >>> toksmith.Counts.of({b"low": 2}).save("a.counts")
        >>> toksmith.Counts.of({b"low": 1, b"er": 1}).save("b.counts")
        >>> merge_counts(["a.counts", "b.counts"], output="ab.counts").occurrences
        4
    """
    limits = _limits(memory, spill_limit, min_count)
    path = as_file(one_path(output, "output"))
    with SumOfFiles(counts_files(inputs)).stream(limits) as counts:
        write(counts, path)
    return CountsFile(path)


def _limits(
    memory: int | str | None, spill_limit: int | str | None, min_count: int
) -> MemoryLimits:
    return MemoryLimits(
        parse_size(memory), min_count, spill_limit=parse_size(spill_limit, "spill_limit")
    )


class _Counting:
    """The options of counting a corpus or a shard of it."""

    def __init__(
        self,
        split: str | None,
        gaps: Literal["keep", "drop"],
        limits: MemoryLimits,
        reading: Reading,
    ) -> None:
        self._splitter = splitter(split, gaps)
        self._limits = limits
        self._reading = reading
        self._options: dict[str, Any] = {
            "split": split,
            "gaps": gaps,
            **{
                name: getattr(reading, name)
                for name in ("separator", "field", "read_as", "sample", "seed", "encoding_errors")
            },
        }

    def check_shards(self) -> None:
        """Raise OptionError if an option applies to a corpus as a whole."""
        for name, is_given, reason in (
            ("deduplicate", bool(self._reading.deduplicate),
             "a shard does not know the documents of the others; deduplicate the files before"),
            ("weights", bool(self._reading.weights),
             "weighted counts are rounded once, in the sum; repeat files, or count on one machine"),
            ("min_count", self._limits.min_count > 1,
             "a chunk that is rare in one shard may be frequent in all; give it to the merge"),
        ):  # fmt: skip
            if is_given:
                raise OptionError(f"{name} cannot be used for shards: {reason}")

    def count(
        self,
        source: DocumentSource,
        path: FilePath,
        threads: int,
        progress: bool | None,
        note: Mapping[str, Any] | None = None,
    ) -> CountsFile:
        """Count documents and write a file."""
        with stream_chunks(source, self._splitter, threads, progress, self._limits) as counts:
            write(counts, path, note)
        return CountsFile(path)

    def count_shard(
        self,
        sources: Sequence[SourceFile],
        folder: FilePath,
        number: int,
        count: int,
        threads: int,
        progress: bool | None,
    ) -> CountsFile:
        """Count a shard and write its file, unless it exists.

        Raises:
            OptionError: the file that exists is of another corpus or other options.
        """
        path = file_in(folder, shard_name(number, count))
        note = shard_note(number, count, self._options, sources)
        if exists(path):
            made = CountsFile(path)
            check_same(path, note_of(made), note)
            return made
        check_folder(folder, note)
        if isinstance(folder, Path):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as wrong:
                raise OptionError(
                    f"output {folder} cannot be a folder: {wrong.strerror or wrong}"
                ) from wrong
        source = Shard(sources, self._reading, number, count)
        return self.count(source, path, threads, progress, note)


def _on_ray(
    task: _Counting,
    sources: Sequence[SourceFile],
    folder: FilePath,
    count: int,
    threads: int,
    progress: bool | None,
) -> list[CountsFile]:
    from toksmith.corpus.ray_tasks import Board, connect, run_tasks

    ray = connect()
    board = ray.remote(num_cpus=0)(Board).remote()
    place = folder.absolute() if isinstance(folder, Path) else folder
    with counting_progress(sum(source.bytes for source in sources), progress) as report:
        run_tasks(
            _ray_task,
            [(number,) for number in range(count)],
            shared=(task, sources, (place, count, threads), board),
            cpus=threads,
            poll=lambda: report(ray.get(board.read.remote())),
        )
    return shards_in(folder)


def _ray_task(
    task: _Counting,
    sources: Sequence[SourceFile],
    shared: tuple[FilePath, int, int],
    board: Any,
    number: int,
) -> None:
    folder, count, threads = shared
    due = 0.0

    def note(kind: str, figures: tuple[Any, ...]) -> None:
        nonlocal due
        if kind == "counting" and (time.monotonic() >= due or figures[0] == figures[1]):
            board.write.remote(number, figures[0])
            due = time.monotonic() + 0.5

    with listen(note):
        task.count_shard(sources, folder, number, count, threads, False)
