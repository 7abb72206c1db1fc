"""Tokenizes a corpus to token files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Literal

from toksmith._base.checks import file_path, flag, whole
from toksmith._base.progress import tokenizing_progress
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import AnyPath, expand_all
from toksmith.corpus.shards import parse_shard, source_files
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenfiles.finishing import find_job, finish, shard_entry, shard_folder
from toksmith.tokenfiles.format import Empty, Format, Place
from toksmith.tokenfiles.formats import format_of
from toksmith.tokenfiles.job import Job, parse_splits
from toksmith.tokenfiles.manifest import Manifest, read_manifest
from toksmith.tokenfiles.output import Output, output_of, unless_finished
from toksmith.tokenfiles.shard import log_shard, run_shard
from toksmith.tokenfiles.spool import Progress, check_same
from toksmith.tokenizer import Tokenizer


def tokenize_corpus(
    files: AnyPath | Sequence[AnyPath],
    *,
    tokenizer: AnyTokenizer,
    format: str,  # noqa: A002  # the word that users know
    output: AnyPath,
    separator: str | None = None,
    field: str = "text",
    read_as: str | None = None,
    encoding_errors: str = "strict",
    bos: int | str | None = None,
    eos: int | str | Literal[False] | None = None,
    eos_place: Place | None = None,
    special: Literal["text", "encode"] = "text",
    empty: Empty | None = None,
    split: Mapping[str, float] | str | None = None,
    shuffle: bool = False,
    seed: int = 0,
    sequence_length: int | None = None,
    shard_tokens: int | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    shard: str | tuple[int, int] | None = None,
    runner: Literal["local", "ray", "spark"] = "local",
    shards: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    log_json: AnyPath | None = None,
) -> Manifest:
    r"""Tokenize a corpus of any size to token files for training.

    The work is saved every two seconds. Killed at any moment, the same call goes on where it
    stopped, and the files are the same, byte for byte. Until all is done, the work is in the folder
    ``.toksmith`` of the output; then the files get their names, and ``token-manifest.json`` is
    written.

    Args:
        files: a path, a directory, a pattern, a URL of these, or a list of them, read as in
            training.
        tokenizer: a tokenizer, a path or a name.
        format: ``"nanogpt"``, ``"llmc"``, ``"megatron"``, ``"datatrove"``, ``"mds"``,
            ``"litdata"``, ``"dolma"``, ``"parquet"``, ``"arrow"`` or ``"webdataset"``.
        output: the folder for the files: empty, missing, or with work of the same call.
        separator: the text between documents of a text file; without it, a file is one document.
        field: the field of JSON Lines, or the column of Parquet, CSV or TSV, with the text.
        read_as: the format of the source files; ``None`` decides by their names.
        encoding_errors: ``"strict"`` or ``"replace"``, for invalid UTF-8.
        bos: a token, by id or by its literal, that begins each document; ``None`` for none.
        eos: the end-of-text token of each document, by id or by its literal; ``None`` does as the
            format's own framework does, with the tokenizer's end-of-text token; ``False`` for none.
        eos_place: ``"before"`` or ``"after"`` the document; ``None`` as the framework does.
        special: ``"encode"`` turns the literals of special tokens in the text into their ids.
        empty: the treatment of empty documents: ``"frame"`` (bos and eos alone), ``"bare"`` (a
            document without tokens) or ``"drop"``; ``None`` as the framework does.
        split: the shares of the documents that go to several sets of files, such as
            ``{"train": 0.999, "val": 0.001}``; a document's text alone decides where it goes.
        shuffle: shuffle the documents.
        seed: the random seed of the shuffle.
        sequence_length: put documents end to end, and cut them to sequences of this many tokens;
            the rest at the end is left out.
        shard_tokens: the number of tokens of a file, for formats of several files; ``None`` for the
            format's default.
        on_error: ``"skip"`` leaves damaged records out, and lists them in the manifest.
        shard: ``"3/64"`` or ``(3, 64)`` does one of 64 shards, from 0 to 63, on this machine only;
            once all are done, :func:`finish_corpus` joins them.
        runner: ``"ray"`` or ``"spark"`` runs the shards on a cluster, whose machines share the
            folders of the sources and of the output: Ray's is the one that ``RAY_ADDRESS`` names,
            Spark's that of the active session; without one, they start on this machine.
        shards: the number of shards for a cluster, 16 by default; the files do not depend on it.
        threads: ``None`` for the cores this process may use; on a cluster, one for each shard.
        progress: ``None`` shows a bar if standard error is a terminal.
        log_json: a file that gets a line of JSON for each shard that is done.

    Returns:
        What was written. For a single shard, its entry alone, without files.

    Raises:
        OptionError: an option is out of range; the ids do not fit the format; or the folder holds
            something else, in which case the message names what differs.
        FormatError: a source file is damaged; the message names file and record.

    Example:
        >>> import pathlib, tempfile, toksmith
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     corpus = pathlib.Path(folder, "corpus.jsonl")
        ...     _ = corpus.write_text('{"text": "low"}\n{"text": "lower"}\n')
        ...     done = toksmith.tokenize_corpus(
        ...         corpus, tokenizer="toksmith-small", format="megatron", output=folder + "/tokens"
        ...     )
        ...     done.documents, done.tokens, [file.name for file in done.files]
        (2, 5, ['train_text_document.bin', 'train_text_document.idx'])
    """
    number, count = _parse_runner(runner, shards) or parse_shard(shard)
    if runner != "local" and shard is not None:
        raise OptionError("shard and runner are given: give only one of them")
    tok = tokenizer_of(tokenizer)
    form = format_of(format)
    vocab_size = tok.vocab_size
    if special not in ("text", "encode"):
        raise OptionError(f'special is {special!r:.40}: use "text" or "encode"')
    if on_error not in ("raise", "skip"):
        raise OptionError(f'on_error is {on_error!r:.40}: use "raise" or "skip"')
    if empty not in (None, "frame", "bare", "drop"):
        raise OptionError(f'empty is {empty!r:.40}: use "frame", "bare" or "drop"')
    if eos_place not in (None, "before", "after"):
        raise OptionError(f'eos_place is {eos_place!r:.40}: use "before" or "after"')
    for name, value in (("sequence_length", sequence_length), ("shard_tokens", shard_tokens)):
        if value is not None:
            whole(name, value, least=1)
    job = Job(
        format=form.name,
        dtype=form.dtype(vocab_size).name,
        tokenizer=tok.name
        or (fspath(tokenizer) if isinstance(tokenizer, str | PathLike) else "")
        or "unnamed",
        tokenizer_hash=tok.pipeline.digest,
        vocab_size=vocab_size,
        bos=None if bos is None else _token(tok, bos, "bos"),
        eos=_eos(tok, form, eos),
        eos_place=eos_place or form.eos or "after",
        special=special,
        empty=empty or form.empty,
        splits=parse_splits(split),
        shuffle=flag("shuffle", shuffle),
        seed=whole("seed", seed, least=0),
        sequence_length=sequence_length,
        shard_tokens=shard_tokens,
        skip_damaged=on_error == "skip",
        shards=count,
        sources=source_files(expand_all(files)),
        reading=Reading(separator, field, read_as, encoding_errors=encoding_errors),
    )
    is_bare = job.empty == "bare" or (job.empty == "frame" and job.bos is None and job.eos is None)
    form.check(with_empty=is_bare and sequence_length is None)
    place = output_of(output)
    if (manifest := place.manifest() or read_manifest(place.folder)) is not None:
        check_same(manifest.job, job, place)
        place.publish(manifest)
        return manifest
    if shard is not None or runner != "local":
        place.check_shared()
    place.check_free()
    if count > 1 and (others := find_job(place.work, count)) is not None:
        check_same(others, job, place)  # other machines would find it out only at the end
    log = _log_file(log_json)

    def do_shards() -> Manifest:
        if runner == "ray":
            from toksmith.tokenfiles.ray_runner import run_on_ray

            with _showing(sum(piece.size for piece in job.all_pieces), progress) as report:
                run_on_ray(job, tok, place.work, threads=threads, report=report, log=log)
            return _finish(job, tok, place)
        if runner == "spark":
            from toksmith.tokenfiles.spark import run_on_spark

            run_on_spark(job, tok, place.work, threads=threads, log=log)
            return _finish(job, tok, place)
        own = number or 0
        start = time.monotonic()
        with _showing(sum(piece.size for piece in job.pieces_of(own)), progress) as report:
            done = run_shard(
                job,
                tok,
                own,
                shard_folder(place.work, own, count),
                threads=threads,
                report=lambda now: report([now]),
            )
        if log is not None:
            log_shard(log, own, count, done, time.monotonic() - start)
        if number is not None:
            return Manifest(job, (shard_entry(job, number, done),), done.splits, ())
        return _finish(job, tok, place)

    return unless_finished(place, job, do_shards)


def finish_corpus(output: AnyPath, *, tokenizer: AnyTokenizer | None = None) -> Manifest:
    """Check that all shards of a folder are done, and join them to token files.

    Args:
        output: the folder that the shards were written to.
        tokenizer: the tokenizer; needed only if its name or path does not lead to it here.

    Returns:
        What was written.

    Raises:
        OptionError: shards are missing, not done, or of different jobs.
    """
    place = output_of(output)
    if (manifest := place.manifest()) is not None:
        return manifest
    job = find_job(place.work)
    if job is None:
        raise OptionError(f"{place} holds no shards: write them with shard= first")
    tok = tokenizer_of(job.tokenizer if tokenizer is None else tokenizer)
    if tok.pipeline.digest != job.tokenizer_hash:
        raise OptionError(
            f"the tokenizer {job.tokenizer} is not the one that the shards were made with"
        )
    return unless_finished(place, job, lambda: _finish(job, tok, place))


def _finish(job: Job, tok: Tokenizer, place: Output) -> Manifest:
    manifest = finish(job, tok, place.work, place.folder)
    place.publish(manifest)
    return manifest


def _parse_runner(runner: object, shards: int | None) -> tuple[None, int] | None:
    """Return the number of shards of a runner; ``None`` for this process alone.

    Raises:
        OptionError: the runner is unknown, or this process gets a number of shards.
    """
    if runner in ("ray", "spark"):
        return None, 16 if shards is None else whole("shards", shards, least=1)
    if runner != "local":
        raise OptionError(f'runner is {runner!r:.40}: use "local", "ray" or "spark"')
    if shards is not None:
        raise OptionError("shards is for runner='ray' and 'spark'; for several machines, use shard")
    return None


@contextmanager
def _showing(size: int, progress: bool | None) -> Iterator[Callable[[list[Progress]], None]]:
    """Show the progress of shards together."""
    with tokenizing_progress(size, progress) as show:
        yield lambda shards: show(
            sum(done.read for done in shards),
            sum(done.documents_read for done in shards),
            sum(done.tokens for done in shards),
        )


def _log_file(path: AnyPath | None) -> Path | None:
    """Return the file for lines of JSON, which can be written to.

    Raises:
        OptionError: it cannot.
    """
    if path is None:
        return None
    file = file_path(path)
    try:
        with file.open("a"):
            return file
    except OSError as wrong:
        raise OptionError(f"{path} cannot be written: {wrong.strerror or wrong}") from wrong


def _eos(tok: Tokenizer, form: Format, eos: int | str | Literal[False] | None) -> int | None:
    """Return the end-of-text id, or ``None`` for none.

    Raises:
        OptionError: the framework ends documents with a token, and the tokenizer has none.
    """
    if eos is False:
        return None
    if eos is not None:
        return _token(tok, eos, "eos")
    if form.eos is None:
        return None
    found = tok.eos_token_id
    if found is None:
        raise OptionError(
            f"{form.name} files have an end-of-text token {form.eos} each document, and the "
            "tokenizer has none: give one with eos, or False for none (--eos, --no-eos)"
        )
    return found


def _token(tok: Tokenizer, token: int | str, name: str) -> int:
    """Return the id of a token given by id or literal.

    Raises:
        OptionError: there is no such token.
    """
    if isinstance(token, bool):
        raise OptionError(f"{name} is {token}: use a token, by id or by its literal")
    if isinstance(token, str):
        found = tok.special_tokens.get(token)
        try:
            return tok.token_id(token) if found is None else found
        except UnknownTokenError as wrong:
            raise OptionError(f"{name} is {token!r:.80}: {wrong}") from None
    number = whole(name, token, least=0)
    if number >= tok.vocab_size:
        raise OptionError(f"{name} is {number:,}: ids go from 0 to {tok.vocab_size - 1:,}")
    return number
