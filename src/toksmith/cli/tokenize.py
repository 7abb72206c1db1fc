"""``toksmith tokenize``: tokenizes a corpus to token files for training."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toksmith._base.visible import count_of
from toksmith.cli.common import (
    TOKENIZER_VARIABLE,
    Quiet,
    Separator,
    Threads,
    check_tokenizer_name,
    is_given,
)
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption, Field, ReadAsOption
from toksmith.errors import OptionError
from toksmith.tokenfiles.formats import NAMES

if TYPE_CHECKING:
    from toksmith.tokenfiles import Manifest

EXAMPLE = "toksmith tokenize corpus.jsonl -t cl100k_base --format megatron -o tokens/"

_CONVERSION_EXAMPLE = "toksmith tokenize --from-tokens tokens/ --format nanogpt -o other/"

_DOCUMENTS = "Documents"
_MACHINES = "Several machines"
_CONVERSION = "Other token files"

FormatName = Enum("FormatName", {name: name for name in NAMES}, type=str)  # type: ignore[misc]


class Special(str, Enum):
    """The treatment of special tokens written in the text."""

    TEXT = "text"
    ENCODE = "encode"


class EosPlace(str, Enum):
    """The place of the end-of-text token."""

    BEFORE = "before"
    AFTER = "after"


class Empty(str, Enum):
    """The treatment of empty documents."""

    FRAME = "frame"
    BARE = "bare"
    DROP = "drop"


class Shuffle(str, Enum):
    """The parts that are shuffled."""

    DOCUMENTS = "documents"


class Runner(str, Enum):
    """The runners of shards."""

    LOCAL = "local"
    RAY = "ray"
    SPARK = "spark"


class OnError(str, Enum):
    """The treatment of damaged records."""

    STOP = "stop"
    SKIP = "skip"


def run(
    ctx: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the files.")
    ],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILES", help="Files, folders or quoted globs.")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="NAME|PATH",
            envvar=TOKENIZER_VARIABLE,
            help="A name, such as cl100k_base or org/model, or a tokenizer's file or folder.",
        ),
    ] = None,
    format: Annotated[  # noqa: A002  # the word that users know
        FormatName | None, typer.Option(case_sensitive=False, help="The format of the files.")
    ] = None,
    separator: Separator = None,
    field: Field = "text",
    read_as: ReadAsOption = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    on_error: Annotated[
        OnError,
        typer.Option(
            case_sensitive=False,
            help="What to do with a damaged record, such as a line that is not JSON: skip = leave "
            "it out, and list it in the manifest.",
        ),
    ] = OnError.STOP,
    bos: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN|ID",
            help="A token before each document.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = None,
    eos: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN|ID",
            help="The end-of-text token of each document. Default: the tokenizer's own, if the "
            "format's framework writes one.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = None,
    no_eos: Annotated[
        bool,
        typer.Option("--no-eos", help="No end-of-text token.", rich_help_panel=_DOCUMENTS),
    ] = False,
    eos_place: Annotated[
        EosPlace | None,
        typer.Option(
            case_sensitive=False,
            help="Its place. Default: that of the format's framework.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = None,
    special: Annotated[
        Special,
        typer.Option(
            case_sensitive=False,
            help="What to do with special tokens written in the text: text = plain text (safe), "
            "encode = the special token.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = Special.TEXT,
    empty: Annotated[
        Empty | None,
        typer.Option(
            case_sensitive=False,
            help="What to do with empty documents: frame = bos and eos alone, bare = a document "
            "without tokens, drop. Default: as the format's framework does.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=SHARE,…",
            help="Several sets of files, such as train=0.999,val=0.001; a document's text decides "
            "where it goes.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = None,
    shuffle: Annotated[
        Shuffle | None,
        typer.Option(
            case_sensitive=False, help="Shuffle the documents.", rich_help_panel=_DOCUMENTS
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Random seed for --shuffle.", rich_help_panel=_DOCUMENTS),
    ] = 0,
    sequence_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Put documents end to end, and cut them to sequences of N tokens.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = None,
    shard_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The tokens of a file, for formats of several files.",
            rich_help_panel=_DOCUMENTS,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Do shard I of N, from 0 to N-1, on this machine; then --finish.",
            rich_help_panel=_MACHINES,
        ),
    ] = None,
    finish: Annotated[
        bool,
        typer.Option(
            "--finish",
            help="Check that all shards are done, and join them.",
            rich_help_panel=_MACHINES,
        ),
    ] = False,
    runner: Annotated[
        Runner,
        typer.Option(
            case_sensitive=False,
            help="ray, spark = run the shards on a cluster, or on this machine if there is none.",
            rich_help_panel=_MACHINES,
        ),
    ] = Runner.LOCAL,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The number of shards for a cluster.",
            rich_help_panel=_MACHINES,
        ),
    ] = None,
    from_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="TOKENS",
            help="Convert these token files, of any format, without tokenizing again.",
            rich_help_panel=_CONVERSION,
        ),
    ] = None,
    vocab_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The number of ids of the tokenizer. Default: that of the manifest of TOKENS or "
            "of --tokenizer, else the highest id plus 1.",
            rich_help_panel=_CONVERSION,
        ),
    ] = None,
    log_json: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Append a line of JSON for each shard that is done."),
    ] = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Tokenize a corpus to token files for training.

    The work is saved every two seconds: stopped or killed at any moment, the same command goes on
    where it was, and the files are the same. Other files in FOLDER are refused.
    """
    from toksmith.tokenfiles import convert_tokens, finish_corpus, tokenize_corpus

    check_tokenizer_name(tokenizer or "")
    if from_tokens is not None:
        _check_conversion(ctx)
        if format is None:
            raise OptionError(f"--format is missing: {_CONVERSION_EXAMPLE}")
        end = _token(eos)
        if isinstance(end, str):
            raise OptionError(f"--eos is {eos!r:.80}: with --from-tokens it is an id")
        manifest = convert_tokens(
            from_tokens,
            format=format.value,
            output=output,
            tokenizer=tokenizer if is_given(ctx, "tokenizer") else None,
            vocab_size=vocab_size,
            eos=end,
            eos_place=eos_place and eos_place.value,  # type: ignore[arg-type]
            shuffle=shuffle is not None,
            seed=seed,
            sequence_length=sequence_length,
            shard_tokens=shard_tokens,
            progress=False if quiet else None,
        )
        _show(manifest, output, quiet)
        return
    if vocab_size is not None:
        raise OptionError("--vocab-size is for --from-tokens: a tokenizer has its own")
    if finish:
        if files or shard is not None:
            raise OptionError("--finish takes no files and no --shard: they are in the folder")
        manifest = finish_corpus(output, tokenizer=tokenizer)
        _show(manifest, output, quiet)
        return
    for name, value in (("FILES", files), ("--tokenizer", tokenizer), ("--format", format)):
        if not value:
            raise OptionError(f"{name} is missing: {EXAMPLE}")
    if eos is not None and no_eos:
        raise OptionError("--eos and --no-eos are given: give only one of them")
    assert files is not None
    assert tokenizer is not None
    assert format is not None
    options: dict[str, Any] = {
        "bos": _token(bos),
        "eos": False if no_eos else _token(eos),
        "eos_place": eos_place and eos_place.value,
        "empty": empty and empty.value,
        "read_as": read_as and read_as.value,
    }
    try:
        manifest = tokenize_corpus(
            files,
            tokenizer=tokenizer,
            format=format.value,
            output=output,
            separator=separator,
            field=field,
            encoding_errors=encoding_errors.value,
            special=special.value,
            split=split,
            shuffle=shuffle is not None,
            seed=seed,
            sequence_length=sequence_length,
            shard_tokens=shard_tokens,
            on_error="raise" if on_error is OnError.STOP else "skip",
            shard=shard,
            runner=runner.value,
            shards=shards,
            threads=threads,
            progress=False if quiet else None,
            log_json=log_json,
            **options,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on from here") from None
    _show(manifest, output, quiet)


_CONVERTS = {
    "output", "tokenizer", "format", "eos", "eos_place", "shuffle", "seed", "sequence_length",
    "shard_tokens", "from_tokens", "vocab_size", "quiet",
}  # fmt: skip
"""The options that go with --from-tokens."""


def _check_conversion(ctx: typer.Context) -> None:
    """Check that no option is given that needs the texts.

    Raises:
        OptionError: one is given.
    """
    for name in ctx.params:
        if name not in _CONVERTS and is_given(ctx, name):
            shown = "FILES" if name == "files" else f"--{name.replace('_', '-')}"
            raise OptionError(
                f"{shown} and --from-tokens are given: token files are converted as they are, "
                "without their texts"
            )


def _token(given: str | None) -> int | str | None:
    return int(given) if given is not None and given.isdecimal() else given


def _show(manifest: Manifest, output: str, quiet: bool) -> None:
    """Print the figures of what was written."""
    if quiet:
        return
    job = manifest.job
    if not manifest.files:
        (shard,) = manifest.shards
        print(
            f"shard {shard.number} of {job.shards}: {count_of(shard.documents, 'document')}, "
            f"{count_of(shard.tokens, 'token')}; when all are done: toksmith tokenize --finish "
            f"-o {output}"
        )
        return
    eos = "none" if job.eos is None else f"{job.eos}, {job.eos_place} each document"
    rows = [("documents", f"{manifest.documents:,}"), ("tokens", f"{manifest.tokens:,}")]
    if job.sources:
        rows.insert(1, ("text", count_of(manifest.text_bytes, "byte")))
        per_token = manifest.text_bytes / max(1, manifest.tokens)
        rows.append(("bytes per token", f"{per_token:.3f}"))
    rows += [
        ("longest document", count_of(manifest.longest, "token")),
        ("type", job.dtype),
        ("end-of-text token", eos),
    ]
    if manifest.damaged:
        rows.append(("damaged records", f"{len(manifest.damaged):,}, left out"))
    for name, size in manifest.splits.items() if len(manifest.splits) > 1 else ():
        rows.append(
            (
                f"split {name}",
                f"{count_of(size.documents, 'document')}, {count_of(size.tokens, 'token')}",
            )
        )
    shown = ", ".join(file.name for file in manifest.files[:4])
    more = f" and {len(manifest.files) - 4:,} more" if len(manifest.files) > 4 else ""
    rows.append(("files", f"{shown}{more} in {output}"))
    for name, value in rows:
        print(f"{name:<18}  {value}")
