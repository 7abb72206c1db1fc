"""``toksmith counts``: makes, merges and shows files of counted chunks."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toksmith._base.visible import count_of
from toksmith.cli.common import SPLITS, Quiet, if_interrupted, parse_split
from toksmith.cli.corpus import (
    CorpusOptions,
    DryRun,
    Memory,
    MinCount,
    SpillLimit,
    with_corpus_options,
)
from toksmith.cli.messages import Command, Group
from toksmith.errors import FormatError, OptionError, UnsupportedError

if TYPE_CHECKING:
    from toksmith.trainers.counting.counts import Counts
    from toksmith.trainers.counting.files.parquet import CountsFile

EXAMPLE = "toksmith counts make corpus/ -o corpus.counts"
_HEAD = 1 << 16
"""The size of the start of a text file that is checked for line breaks, in bytes."""
_MACHINES = "Several machines"
_EXAMPLE = "[bold]Example[/bold]  toksmith counts {}"


class Runner(str, Enum):
    """Where shards are counted."""

    LOCAL = "local"
    RAY = "ray"


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Count the chunks of a text once, to train on the counts many times.",
)

_Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="A Parquet file, or a URL of one; SentencePiece's tsv for *.tsv.",
    ),
]
_Path = Annotated[Path, typer.Argument(metavar="PATH", help="A file of counts.")]


@app.command(
    "make", cls=Command, epilog=_EXAMPLE.format("make corpus/ -o corpus.counts --split gpt4")
)
@with_corpus_options
def make(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES", help="Files, folders or quoted globs.")
    ],
    output: _Output,
    split: Annotated[
        str,
        typer.Option(
            metavar="NAME|REGEX",
            help=f"The split of text into chunks: a published rule ({SPLITS}), words, none (whole "
            "documents), or a regular expression.",
        ),
    ] = "gpt4",
    drop_gaps: Annotated[
        bool,
        typer.Option(
            "--drop-gaps", help="Leave out text that a regular expression does not match."
        ),
    ] = False,
    spill_limit: SpillLimit = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Count shard I of N, from 0 to N-1, on this machine; OUTPUT is a folder for the "
            "shards. Then toksmith counts merge.",
            rich_help_panel=_MACHINES,
        ),
    ] = None,
    runner: Annotated[
        Runner,
        typer.Option(
            case_sensitive=False,
            help="ray = count all shards on a Ray cluster, or on this machine if there is none; "
            "OUTPUT is a folder.",
            rich_help_panel=_MACHINES,
        ),
    ] = Runner.LOCAL,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="The number of shards for ray.", rich_help_panel=_MACHINES
        ),
    ] = None,
    *,
    corpus: CorpusOptions,
    dry_run: DryRun = False,
    quiet: Quiet = False,
) -> None:
    """Count the chunks of files and write the counts to a file."""
    import toksmith
    from toksmith.cli.writing import check_folder, check_outside
    from toksmith.corpus.remote import is_url
    from toksmith.trainers.counting.jobs import count_corpus

    in_shards = shard is not None or runner is Runner.RAY
    if not in_shards and not is_url(output):
        check_folder(Path(output))
    if not is_url(output):
        check_outside(Path(output), files)
    options: dict[str, Any] = {
        "split": parse_split(split),
        "gaps": "drop" if drop_gaps else "keep",
        "progress": False if quiet else None,
        **corpus,
    }
    if dry_run:
        from toksmith.cli.dry_run import print_plan

        further = {
            "split": split,
            "gaps": "drop" if drop_gaps else None,
            "runner": None if runner is Runner.LOCAL else runner.value,
            "shards": shards,
            "spill-limit": spill_limit,
            "output": output,
        }
        print_plan(files, None, corpus, further, shard=shard)
        return
    if output.endswith(".tsv") and not in_shards:
        if spill_limit is not None:
            raise OptionError("--spill-limit is not for *.tsv: its counts are kept in memory")
        selecting = [corpus[name] for name in ("weights", "deduplicate", "separator")]
        if corpus["sample"] == corpus["min_count"] == 1 and not any((drop_gaps, *selecting)):
            _check_tsv_text(files, corpus)
        counts = toksmith.Counts.from_files(files, **options)
        counts.to_tsv(output)
        _say(counts, output, quiet)
        return
    with if_interrupted(lambda: _say_what_is_kept(output, shard, runner)):
        made = count_corpus(
            files,
            output=output,
            shard=shard,
            runner=runner.value,
            shards=shards,
            spill_limit=spill_limit,
            **options,
        )
    for file in made:
        _say(file, str(file.path), quiet)


def _say_what_is_kept(output: str, shard: str | None, runner: Runner) -> str:
    if runner is Runner.RAY:
        return f"shards that are complete are kept in {output}; the same command makes the others"
    if shard is not None:
        return f"shard {shard} is not written; the same command starts it over"
    return (
        f"{output} is not written; the same command starts over. Shards that are complete would be "
        "kept: see --shard"
    )


@app.command("merge", cls=Command, epilog=_EXAMPLE.format("merge part*.counts -o whole.counts"))
def merge(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATHS", help="Files of counts in order, or a folder of shards."),
    ],
    output: _Output,
    min_count: MinCount = 1,
    memory: Memory = None,
    spill_limit: SpillLimit = None,
    quiet: Quiet = False,
) -> None:
    """Add the counts of the parts of a text.

    If the files are in the order of the parts, the result equals the counts of the whole text.
    Shards are taken in the order of their numbers.
    """
    from toksmith.cli.writing import check_folder
    from toksmith.corpus.remote import is_url
    from toksmith.trainers.counting.jobs import merge_counts

    if not is_url(output):
        check_folder(Path(output))
    if any(path.endswith(".tsv") for path in (output, *paths)):
        if spill_limit is not None:
            raise OptionError("--spill-limit is not for *.tsv: its counts are kept in memory")
        if output.endswith(".tsv") and min_count == 1:
            _check_tsv_inputs(paths)
        counts = _merge_counts(paths, memory, min_count)
        if output.endswith(".tsv"):
            counts.to_tsv(output)
        else:
            counts.save(output)
        _say(counts, output, quiet)
        return
    with if_interrupted(lambda: f"{output} is not written; the same command starts over"):
        merged = merge_counts(
            paths, output=output, memory=memory, spill_limit=spill_limit, min_count=min_count
        )
    _say(merged, output, quiet)


@app.command("show", cls=Command, epilog=_EXAMPLE.format("show corpus.counts -n 5"))
def show(
    path: _Path,
    n: Annotated[
        int,
        typer.Option("-n", min=0, help="The number of chunks to print, the most frequent first."),
    ] = 20,
    quiet: Quiet = False,
) -> None:
    """Print the size of a file of counts, and its most frequent chunks."""
    from toksmith._base.visible import visible_start

    counts = _merge_counts([str(path)])
    if not quiet:
        print(figures(counts))
    for chunk, count in counts.most_common(n):
        print(f"{count:>12,}  {visible_start(chunk)}")


def _check_tsv_inputs(paths: list[str]) -> None:
    from toksmith.trainers.counting.files.shards import counts_files
    from toksmith.trainers.counting.files.tsv import check_tsv

    if given := [path for path in paths if not path.endswith(".tsv")]:
        check_tsv(counts_files(given))


def _check_tsv_text(files: list[str], corpus: CorpusOptions) -> None:
    """Raise UnsupportedError if the start of a text file has a tab or a line break.

    It is for options with which each character of the text is in a chunk that is written.
    """
    from toksmith.corpus import Reading
    from toksmith.corpus.listing import list_files
    from toksmith.corpus.streams import open_binary
    from toksmith.trainers.counting.files.tsv import TSV_ADVICE

    reading = Reading(field=corpus["field"], read_as=corpus["read_as"])
    for file in list_files(files, reading):
        if file.kind.content != "text" or file.kind.compression or file.size is None:
            continue
        with open_binary(file.path) as opened:
            head = opened.read(_HEAD)
        if b"\t" in head or b"\n" in head:
            raise UnsupportedError(
                f"{file.path} has a tab or a line break, which tsv cannot hold in a chunk: "
                f"{TSV_ADVICE}"
            )


def _merge_counts(paths: list[str], memory: str | None = None, min_count: int = 1) -> Counts:
    import toksmith

    if all(path.endswith(".tsv") for path in paths):
        first, *others = map(toksmith.Counts.from_tsv, paths)
        return sum(others, first).filter(min_count)
    for path in paths:
        if path.endswith(".tsv"):
            raise FormatError(
                path, "a .tsv file does not record its split: use a file of toksmith counts make"
            )
    return toksmith.Counts.merge(paths, memory=memory, min_count=min_count)


def _say(counts: Counts | CountsFile, output: str, quiet: bool) -> None:
    if not quiet:
        print(f"{output}: {figures(counts)}")


def figures(counts: Counts | CountsFile) -> str:
    """Return the sizes of counts in one line."""
    from toksmith.cli.common import shown_size
    from toksmith.trainers.counting.counts import Counts, stream_counts
    from toksmith.trainers.counting.splits import splitter_name

    held = stream_counts(counts) if isinstance(counts, Counts) else counts
    return ", ".join(
        [
            count_of(held.chunks, "distinct chunk"),
            f"{held.occurrences:,} in all",
            shown_size(held.bytes),
            count_of(held.documents, "document"),
            f"split {splitter_name(held.splitter)}",
        ]
    )
