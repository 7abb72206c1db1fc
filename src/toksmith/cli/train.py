"""``toksmith train``: trains a tokenizer on text and writes it to a file."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toksmith._base.visible import count_of
from toksmith.cli.common import (
    SPLITS,
    FormatName,
    Quiet,
    if_interrupted,
    load_tokenizer,
    parse_split,
    shown_size,
)
from toksmith.cli.corpus import (
    CorpusOptions,
    CountsFiles,
    DryRun,
    Files,
    SpillLimit,
    with_corpus_options,
)
from toksmith.errors import OptionError, ToksmithError, TrainingError

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer

EXAMPLE = "toksmith train corpus/*.txt -o mine.model --vocab-size 32000"
_LINE = "The Quick Brown Fox jumps over the lazy dog, zqxjkvbpwzqxjkvbpw"


class Ties(str, Enum):
    """The rule that chooses among equally frequent pairs."""

    FIRST_SEEN = "first-seen"
    SMALLEST_PAIR = "smallest-pair"


class Model(str, Enum):
    """The kinds of model."""

    BPE = "bpe"
    WORDPIECE = "wordpiece"
    UNIGRAM = "unigram"
    SENTENCEPIECE_BPE = "sentencepiece-bpe"
    SENTENCEPIECE_UNIGRAM = "sentencepiece-unigram"
    WORD = "word"
    CHAR = "char"


def _list_options(model: Model | None) -> None:
    """Print the options of a model, and exit."""
    if model is None:
        return
    from toksmith.trainers.option_parsing import describe_options

    for option in describe_options(_options_of(model)):
        print(f"{option.name}={option.default}\n    {option.kind}: {option.meaning}")
    raise typer.Exit


@with_corpus_options
def run(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The file to write.")
    ],
    files: Files = None,
    vocab_size: Annotated[
        int | None,
        typer.Option(min=1, help="The number of tokens, special tokens included."),
    ] = None,
    model: Annotated[
        Model,
        typer.Option(
            "--model",
            "-m",
            case_sensitive=False,
            metavar="MODEL",
            help="bpe, wordpiece, unigram, sentencepiece-bpe, sentencepiece-unigram, word or char.",
        ),
    ] = Model.BPE,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|REGEX",
            help="The split of text into chunks before learning; no token crosses a cut. A "
            f"published rule ({SPLITS}), words, none, or a regular expression. For bpe. \\[gpt4]",
        ),
    ] = None,
    special_token: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A special token. Repeat for several."),
    ] = None,
    ties: Annotated[
        Ties | None,
        typer.Option(
            case_sensitive=False,
            help="Which of two equally frequent pairs is merged first: first-seen as in minbpe, "
            "smallest-pair as in Hugging Face. Matters only for equal merges. "
            "For bpe. \\[first-seen]",
        ),
    ] = None,
    min_frequency: Annotated[
        int | None,
        typer.Option(min=1, help="Stop when the best pair occurs fewer times than this."),
    ] = None,
    max_token_length: Annotated[
        int | None,
        typer.Option(min=1, metavar="BYTES", help="The maximum length of a token. For bpe."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-O",
            metavar="NAME=VALUE",
            help="Any option of the model, such as byte_fallback=true. Repeat for several.",
        ),
    ] = None,
    list_options: Annotated[
        Model | None,
        typer.Option(
            "--list-options",
            case_sensitive=False,
            metavar="MODEL",
            help="Print all options of a model with their meaning, and exit.",
            callback=_list_options,
            is_eager=True,
        ),
    ] = None,
    counts: CountsFiles = None,
    continue_from: Annotated[
        str | None,
        typer.Option(
            "--continue",
            metavar="NAME|PATH",
            help="Add tokens to this tokenizer up to --vocab-size; its ids do not change. For bpe.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Store counts here, merges of byte-level bpe, and pieces of Unigram; after an "
            "interruption, the same command continues. Deleted when the tokenizer is written.",
        ),
    ] = None,
    spill_limit: SpillLimit = None,
    *,
    corpus: CorpusOptions,
    to: FormatName = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Also write OUTPUT.training.json: the options, the counts of the merges, and the "
            "paths and SHA-256 of the files. toksmith advise --tokenizer reads it.",
        ),
    ] = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
) -> None:
    """Learn a tokenizer from text and write it to a file.

    Each model has its own options (SentencePiece's with SentencePiece's names).

    --list-options MODEL prints them, --option NAME=VALUE sets one.
    """
    from toksmith.cli.writing import check_folder, check_outside
    from toksmith.trainers.option_parsing import parse_options

    check_folder(output, can_be_folder=True)
    for place in filter(None, (output, checkpoint)):
        check_outside(place, files or [])
    if bool(files) == bool(counts):
        raise OptionError("train reads FILES or --counts PATH: give one of them")
    flags: dict[str, Any] = {
        "split": None if split is None else [parse_split(split)],
        "special_tokens": special_token,
        "ties": ties and ties.value,
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
    }
    if special_token and "" in special_token:
        raise OptionError(
            "--special-token is an empty string: give its text, such as '<|endoftext|>'"
        )
    _check_written(option or [], model)
    options = parse_options(_options_of(model), option or [])
    for name, value in flags.items():
        if value is None:
            continue
        if name in options:
            raise OptionError(f"{name} is given twice, once by --option")
        options[name] = value[0] if name == "split" else value
    if model is Model.BPE and vocab_size is None:
        raise OptionError(
            "--vocab-size is missing: use a size such as 32000; toksmith advise FILES suggests one"
        )
    if continue_from is not None:
        options["continue_from"] = load_tokenizer(continue_from)
    _rehearse(output, to, model.value, options)
    if dry_run:
        from toksmith.cli.dry_run import print_plan

        further = {
            "model": model.value,
            "vocab-size": vocab_size,
            "split": split
            or ("gpt4" if model is Model.BPE and not (counts or continue_from) else None),
            "continue": continue_from,
            "checkpoint": checkpoint,
            "spill-limit": spill_limit,
            "output": output,
        }
        print_plan(files, counts, corpus, further)
        return
    import toksmith
    from toksmith.trainers.counting.files.shards import counts_files

    with if_interrupted(lambda: _say_what_is_kept(output, checkpoint)):
        tok = toksmith.train(
            files or None,
            counts=counts_files(counts) if counts else None,
            model=model.value,
            vocab_size=vocab_size,
            checkpoint=checkpoint,
            spill_limit=spill_limit,
            progress=False if quiet else None,
            **corpus,
            **options,
        )
    _save(tok, output, to, record, checkpoint)
    if checkpoint is not None:
        from toksmith.trainers.checkpoint import delete

        delete(checkpoint)
    if not quiet:
        beside = ", with its training record beside it" if record else ""
        print(f"{figures(tok)} → {output}{beside}")
        for line in source_lines(tok, from_counts=bool(counts)):
            print(line)


def _say_what_is_kept(output: Path, checkpoint: Path | None) -> str:
    if checkpoint is None:
        kept = "Counts would be kept: see --checkpoint"
        return f"{output} is not written; the same command starts over. {kept}"
    from toksmith.trainers.checkpoint import describe_checkpoint

    return describe_checkpoint(checkpoint)


def _options_of(model: Model) -> type:
    """Return the dataclass of a model's options."""
    from toksmith.trainers import MODELS
    from toksmith.trainers.options import choice

    choice("model", model.value, list(MODELS))
    return MODELS[model.value][0]


def _check_written(words: list[str], model: Model) -> None:
    """Check that no ``--option`` sets an option that the command has itself.

    Raises:
        OptionError: an ``--option`` does; the message names the command's option. Or it sets an
            argument of :func:`toksmith.train` that the command does not have.
    """
    from dataclasses import fields
    from inspect import signature

    import toksmith

    fields_of_model = {field.name for field in fields(_options_of(model))}
    own = signature(run).parameters.keys() - fields_of_model
    others = signature(toksmith.train).parameters.keys() - fields_of_model - own
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name.replace("-", "_") in others:
            raise OptionError(
                f"--option {word:.80}: model {model.value} has no such option; toksmith train "
                f"--list-options {model.value} prints those it has"
            )
        if equals and name.replace("-", "_") in own:
            option = f"--{name.replace('_', '-')}"
            is_flag = value.lower() in ("true", "false")
            raise OptionError(
                f"--option {word:.80}: this is an option of the command: use "
                f"{option if is_flag else f'{option} {value:.40}'}"
            )


def _rehearse(output: Path, to: str | None, model: str, options: dict[str, Any]) -> None:
    """Check before training that the format can hold the result, by writing a tiny tokenizer.

    Raises:
        UnsupportedError: the format cannot hold a tokenizer of this model and these options.
        OptionError: the format does not fit the path, or an option of byte-level BPE is wrong.
    """
    import os
    import warnings
    from tempfile import TemporaryDirectory

    from toksmith.cli.saving import save

    tok = _smallest(model, options)
    if tok is None:
        return
    absolute = Path(os.path.abspath(output))  # noqa: PTH100 - a link keeps its name and suffix
    with TemporaryDirectory(prefix="toksmith-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stand_in = Path(folder, absolute.name)
        if output.is_dir():
            stand_in.mkdir(exist_ok=True)
        try:
            save(tok, stand_in, to)
        except ToksmithError as error:
            shown = str(error).replace(str(stand_in), str(output))
            before = str(output).removesuffix(output.name)
            error.args = (shown.replace(f"{folder}{os.sep}", before),)
            raise


_OF_THE_TEXT = frozenset(
    {"input_format", "input_sentence_size", "max_sentence_length", "min_frequency"}
)
"""Options that fit the text to train on and not a tiny one; no format depends on them."""


def _smallest(model: str, options: dict[str, Any]) -> Tokenizer | None:
    """Train a tiny tokenizer with the same options on one line; ``None`` if that is impossible.

    Raises:
        OptionError: an option of byte-level BPE is wrong.
    """
    import warnings

    import toksmith

    size = None  # the model's default, which each text may fall short of
    if model == "bpe":
        known = options.get("continue_from")
        size = (known.vocab_size + 1 if known else 256) + len(options.get("special_tokens", ()))
    else:
        options = {name: options[name] for name in options.keys() - _OF_THE_TEXT}
    if model in ("sentencepiece-bpe", "sentencepiece-unigram"):
        options["hard_vocab_limit"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return toksmith.train(
                texts=[_LINE], model=model, vocab_size=size, progress=False, **options
            )
        except (OptionError, TrainingError):
            if model == "bpe":
                raise
            return None


def _save(
    tok: Tokenizer, output: Path, to: str | None, record: bool, checkpoint: Path | None
) -> None:
    """Write the tokenizer; an error says what a checkpoint keeps.

    Raises:
        ToksmithError: it cannot be written.
    """
    from toksmith.cli.saving import save

    try:
        save(tok, output, to, record=record)
    except ToksmithError as error:
        if checkpoint is not None:
            from toksmith.trainers.checkpoint import describe_checkpoint

            error.args = (f"{error} ({describe_checkpoint(checkpoint)})",)
        raise


def figures(tok: Tokenizer) -> str:
    """Return a summary of the training in one line."""
    record = tok.training
    if record is None:
        return count_of(tok.vocab_size, "token")
    skipped = "".join(f", {count:,} {what}" for what, count in record.skipped.items())
    left_out = f" ({skipped[2:].replace('_', ' ')} left out)" if skipped else ""
    parts = [
        f"{record.model}: {count_of(record.documents, 'document')}{left_out}",
        shown_size(record.bytes),
        count_of(record.chunks, "distinct chunk"),
        count_of(record.merges, "merge") if record.merges else count_of(record.vocab_size, "id"),
    ]
    if record.spilled:
        parts.append(f"{shown_size(record.spilled)} spilled")
    if record.tokens:
        parts += [
            count_of(record.tokens, "token"),
            f"{record.bytes / record.tokens:.2f} bytes a token",
        ]
    return ", ".join([*parts, f"{record.seconds:.1f} s"])


def source_lines(tok: Tokenizer, from_counts: bool = False) -> list[str]:
    """Return the table of the files of a training; empty for a single file.

    Args:
        tok: the trained tokenizer.
        from_counts: whether it was trained from saved counts.
    """
    from toksmith.cli.source_table import source_table, sources_of

    if from_counts:
        return ["no figures by source: saved counts hold no text and no files"]
    record = tok.training
    if record is None or len(record.sources) < 2:
        return []
    is_estimated = any(source.sampled and source.is_estimated for source in record.sources)
    has_merges = record.sources[0].merge_share is not None
    what = "chunks, tokens and merges" if has_merges else "chunks and tokens"
    title = f"by source ({what} estimated from samples):" if is_estimated else "by source:"
    return [title, *source_table(sources_of(record))]
