"""Converts token files from one format to another without tokenizing again."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from toksmith._base.checks import file_path, flag, whole
from toksmith._base.lazy import np
from toksmith._base.progress import amount_progress
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import AnyPath
from toksmith.errors import FormatError, OptionError, ToksmithError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenfiles.arrangement import NonEmpty, Recast, Sequences, Shuffled
from toksmith.tokenfiles.finishing import write_splits
from toksmith.tokenfiles.format import Place
from toksmith.tokenfiles.formats import format_of
from toksmith.tokenfiles.job import DEFAULT_SPLIT, Job
from toksmith.tokenfiles.manifest import Manifest, read_manifest
from toksmith.tokenfiles.opening import open_splits, open_tokens
from toksmith.tokenfiles.output import Output, output_of, unless_finished
from toksmith.tokenfiles.source import Tokens, TokenSource
from toksmith.tokenfiles.spool import SplitSize, check_same, locked, writing_to
from toksmith.tokenfiles.token_files import Part, TokenFiles
from toksmith.tokenfiles.written_documents import has_written_documents
from toksmith.tokenizer import Tokenizer

_SPLIT = re.compile(r"(?:\d+_)?(train|valid|validation|val|test)(?![A-Za-z])")
"""The start of the name of a file or folder of one split."""


def convert_tokens(
    tokens: AnyPath,
    *,
    format: str,  # noqa: A002  # the word that users know
    output: AnyPath,
    tokenizer: AnyTokenizer | None = None,
    vocab_size: int | None = None,
    eos: int | None = None,
    eos_place: Place | None = None,
    shuffle: bool = False,
    seed: int = 0,
    sequence_length: int | None = None,
    shard_tokens: int | None = None,
    progress: bool | None = None,
) -> Manifest:
    r"""Write token files in another format, without tokenizing again.

    Ids are kept as they are, with their bos and eos. The result equals, byte for byte, that of
    tokenizing the corpus to the new format with the same options. Of files that toksmith wrote,
    the new manifest names the same sources, tokenizer and splits. Documents without tokens are left
    out where the new format cannot hold them.

    Args:
        tokens: a file, a folder, or the prefix of a pair of files, of any format.
        format: the name of the new format; see :func:`tokenize_corpus`.
        output: the folder for the files: empty or missing.
        tokenizer: the tokenizer of the ids, a path or a name; needed only for files without a
            manifest, if the new ones should name it.
        vocab_size: the number of ids of the tokenizer, which decides the type of the new files.
            ``None`` takes it from the manifest or the tokenizer, else it is the highest id plus 1.
        eos: the id that ends or precedes documents, for files without a manifest that do not store
            the bounds of documents.
        eos_place: whether ``eos`` is ``"before"`` or ``"after"`` a document; ``None`` as the
            format's framework writes it.
        shuffle: shuffle the documents.
        seed: the random seed of the shuffle.
        sequence_length: put documents end to end, and cut them to sequences of this many tokens.
        shard_tokens: the number of tokens of a file; see :func:`tokenize_corpus`.
        progress: ``None`` shows a bar if standard error is a terminal.

    Returns:
        What was written.

    Raises:
        FormatError: there are no token files, or they are damaged.
        OptionError: an id does not fit the format or the vocabulary; the new format stores the
            bounds of documents, and the old files do not show them; or an option is out of range.

    Example:
        >>> import pathlib, tempfile, toksmith
        >>> from toksmith.tokenfiles import convert_tokens
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     corpus = pathlib.Path(folder, "corpus.jsonl")
        ...     _ = corpus.write_text('{"text": "low"}\n{"text": "lower"}\n')
        ...     _ = toksmith.tokenize_corpus(
        ...         corpus, tokenizer="toksmith-small", format="megatron", output=folder + "/a"
        ...     )
        ...     done = convert_tokens(folder + "/a", format="nanogpt", output=folder + "/b")
        ...     done.documents, done.tokens, [file.name for file in done.files]
        (2, 5, ['train.bin'])
    """
    form = format_of(format)
    form.check(with_empty=False)
    for name, value in (
        ("vocab_size", vocab_size), ("sequence_length", sequence_length),
        ("shard_tokens", shard_tokens),
    ):  # fmt: skip
        if value is not None:
            whole(name, value, least=1)
    folder = file_path(tokens)
    manifest = read_manifest(folder)
    splits: dict[str, TokenFiles]
    if manifest is None:
        tok = None if tokenizer is None else tokenizer_of(tokenizer)
        found = open_tokens(folder, eos=eos, eos_place=eos_place)
        splits = _foreign_splits(found)
        before = _foreign_job(found, splits, eos, eos_place, tokenizer, tok, vocab_size)
    else:
        before = manifest.job
        tok = _own_tokenizer(before, tokenizer)
        if eos not in (None, before.eos) or eos_place not in (None, before.eos_place):
            raise OptionError(
                f"{folder} has end-of-text id {before.eos}, {before.eos_place} each document, and "
                "keeps it: leave eos and eos_place out"
            )
        if vocab_size not in (None, before.vocab_size):
            raise OptionError(
                f"vocab_size is {vocab_size:,}: {folder} was made with {before.vocab_size:,} ids"
            )
        splits = open_splits(folder, manifest)
        _check_counts(folder, splits, manifest)
    total = sum(split.num_tokens for split in splits.values())
    place = output_of(output)
    known = before.vocab_size or None
    with amount_progress("checking ids", total, progress) as report:
        highest = _highest(splits, known, report)
    job = replace(
        before,
        format=form.name,
        vocab_size=known or highest + 1,
        shuffle=before.shuffle or flag("shuffle", shuffle),
        seed=whole("seed", seed, least=0) if shuffle else before.seed,
        sequence_length=sequence_length or before.sequence_length,
        shard_tokens=shard_tokens,
    )
    job = replace(job, dtype=form.dtype(job.vocab_size).name)
    if _drops_empty(before, job):
        job = replace(job, empty="drop")
    arrangements = {
        name: _arranged(split, before, job, None if manifest is None else manifest.splits[name])
        for name, split in splits.items()
    }
    form.check(with_empty=any(each.lengths.min(initial=1) == 0 for each in arrangements.values()))
    if (held := place.manifest() or read_manifest(place.folder)) is not None:
        check_same(held.job, job, place)
        place.publish(held)
        return held
    place.check_free()
    if (place.work / "shards").exists():
        raise OptionError(f"{place} holds unfinished work of another kind: give an empty folder")

    def convert() -> Manifest:
        with (
            writing_to(place.folder),
            locked(place.work),
            amount_progress("writing", total, progress) as report,
        ):
            counted = _Counted(report)
            with _removing(place):
                sizes, files = write_splits(
                    job,
                    lambda name: counted.of(arrangements[name], job),
                    tok,
                    place.work,
                    place.folder,
                )
            if manifest is not None and job.sequence_length is None and job.empty == before.empty:
                # Empty documents that the old files do not show count.
                sizes = dict(manifest.splits)
            done = Manifest(job, () if manifest is None else manifest.shards, sizes, files)
            done.save(place.folder)
        shutil.rmtree(place.work, ignore_errors=True)
        place.publish(done)
        return done

    return unless_finished(place, job, convert)


@contextmanager
def _removing(place: Output) -> Iterator[None]:
    """Remove unfinished work after an error, and the folder if it is empty then.

    Raises:
        OptionError: a file cannot be written.
    """
    try:
        yield
    except (ToksmithError, OSError) as wrong:
        shutil.rmtree(place.work, ignore_errors=True)
        with suppress(OSError):
            place.folder.rmdir()
        if isinstance(wrong, ToksmithError):
            raise
        raise OptionError(f"{place} cannot be written: {wrong.strerror or wrong}") from wrong


def _own_tokenizer(job: Job, given: AnyTokenizer | None) -> Tokenizer | None:
    """Return the tokenizer of a job, ``None`` if it cannot be found.

    Raises:
        OptionError: another one is given.
    """
    if given is not None:
        tok = tokenizer_of(given)
        if tok.pipeline.digest != job.tokenizer_hash:
            raise OptionError(
                f"the tokenizer {_name(tok, given)} is not {job.tokenizer}, which made the tokens: "
                "leave it out"
            )
        return tok
    try:
        tok = tokenizer_of(job.tokenizer)
    except ToksmithError:
        return None
    return tok if tok.pipeline.digest == job.tokenizer_hash else None


def _name(tok: Tokenizer, given: AnyTokenizer | None) -> str:
    return tok.name or (fspath(given) if isinstance(given, str | PathLike) else "") or "unnamed"


def _foreign_splits(tokens: TokenFiles) -> dict[str, TokenFiles]:
    """Return the splits of token files without a manifest, if all names tell them; else one."""
    splits: dict[str, list[Part]] = {}
    for part in tokens.parts:
        path = part.path
        inside = path.relative_to(tokens.path) if path.is_relative_to(tokens.path) else path
        named = _SPLIT.match(inside.parts[0] if len(inside.parts) == 2 else path.name)
        splits.setdefault(named[1] if named else "", []).append(part)
    if not splits or "" in splits:
        return {DEFAULT_SPLIT: tokens}
    return {
        name: TokenFiles(tokens.path, tokens.format, tokens.dtype, parts, tokens.metadata)
        for name, parts in splits.items()
    }


def _foreign_job(
    tokens: TokenFiles,
    splits: Mapping[str, TokenFiles],
    eos: int | None,
    eos_place: Place | None,
    given: AnyTokenizer | None,
    tok: Tokenizer | None,
    vocab_size: int | None,
) -> Job:
    """Return a job for token files without a manifest; its vocabulary size is 0 if unknown."""
    form = format_of(tokens.format)
    return Job(
        format=form.name,
        dtype=tokens.dtype.name,
        tokenizer="unknown" if tok is None else _name(tok, given),
        tokenizer_hash="" if tok is None else tok.pipeline.digest,
        vocab_size=vocab_size or (0 if tok is None else tok.vocab_size),
        bos=None,
        eos=eos,
        eos_place=eos_place or form.eos or "after",
        special="text",
        empty="bare",
        splits=tuple((name, len(split) / max(1, len(tokens))) for name, split in splits.items()),
        shuffle=False,
        seed=0,
        sequence_length=None,
        shard_tokens=None,
        skip_damaged=False,
        shards=1,
        sources=(),
        reading=Reading(),
    )


def _check_counts(folder: Path, splits: Mapping[str, TokenFiles], manifest: Manifest) -> None:
    """Check that the splits have the tokens that the manifest says.

    Raises:
        FormatError: they have not.
    """
    for name, tokens in splits.items():
        expected = manifest.splits[name].tokens
        if tokens.num_tokens != expected:
            raise FormatError(
                folder,
                f"split {name} has {tokens.num_tokens:,} tokens, and its manifest says "
                f"{expected:,}: toksmith verify {folder} shows the damage",
            )


def _highest(
    splits: Mapping[str, TokenFiles], vocab_size: int | None, report: Callable[[int], None]
) -> int:
    """Return the highest id, -1 if there are none.

    Raises:
        OptionError: an id is negative, or outside the vocabulary.
    """
    highest, done = -1, 0
    for name, tokens in splits.items():
        first = 0
        for ids, lengths in tokens.blocks():
            if len(ids):
                most = int(ids.max())
                wrong = ids < 0 if vocab_size is None else (ids < 0) | (ids >= vocab_size)
                if wrong.any():
                    place = int(wrong.argmax())
                    document = first + int(np.searchsorted(np.cumsum(lengths), place, "right"))
                    limit = "" if vocab_size is None else f": ids go from 0 to {vocab_size - 1:,}"
                    raise OptionError(
                        f"split {name}, document {document:,} has id {int(ids[place]):,}{limit}"
                    )
                highest = max(highest, most)
            first += len(lengths)
            done += len(ids)
            report(done)
    return highest


def _arranged(tokens: TokenFiles, before: Job, job: Job, size: SplitSize | None) -> TokenSource:
    """Return the documents of a split as the new files have them.

    Raises:
        OptionError: the old files do not have the documents that the new ones need.
    """
    if before.sequence_length is not None:
        if job.sequence_length != before.sequence_length:
            raise OptionError(
                f"{tokens.path} has sequences of {before.sequence_length:,} tokens, without the "
                "rest at the end: tokenize the corpus for another length"
            )
        if job.shuffle and not before.shuffle:
            raise OptionError(
                f"{tokens.path} has sequences, whose documents cannot be shuffled: tokenize the "
                "corpus with shuffle"
            )
        return Sequences(tokens, before.sequence_length)
    if before.shuffle and (job.seed != before.seed):
        raise OptionError(
            f"{tokens.path} was shuffled with seed {before.seed}: leave shuffle out, or tokenize "
            "the corpus with another seed"
        )
    shuffles = job.shuffle and not before.shuffle
    needs_documents = shuffles or (
        job.sequence_length is None and format_of(job.format).stores_bounds
    )
    if needs_documents and size is not None and not has_written_documents(tokens, before, size):
        raise OptionError(
            f"{tokens.path} does not store where documents end, and its end-of-text id does not "
            f"tell: {size.documents:,} documents were written, and {len(tokens):,} are found. "
            "Give sequence_length, or tokenize the corpus again"
        )
    source: TokenSource = tokens
    if _drops_empty(before, job):
        if before.shuffle:
            raise OptionError(
                f"{tokens.path} was shuffled, and {job.format} files cannot hold its documents "
                'without tokens: tokenize the corpus with empty="drop"'
            )
        source = NonEmpty(source)
    if shuffles:
        source = Shuffled(source, job.seed)
    if job.sequence_length is not None:
        source = Sequences(source, job.sequence_length)
    return source


def _drops_empty(before: Job, job: Job) -> bool:
    """Return whether documents without tokens are left out, as the new format cannot hold them."""
    may_have_some = before.empty == "bare" or (before.bos is None and before.eos is None)
    return (
        may_have_some
        and before.empty != "drop"
        and job.sequence_length is None
        and not format_of(job.format).holds_empty
    )


class _Counted:
    """Reports how many ids were read of several sources."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report = report
        self._done = 0

    def of(self, source: TokenSource, job: Job) -> TokenSource:
        return _Reported(source, np.dtype(job.dtype), self._add)

    def _add(self, count: int) -> None:
        self._done += count
        self._report(self._done)


class _Reported(Recast):
    """A source in another type, which reports the ids that are read."""

    def __init__(
        self, source: TokenSource, dtype: np.dtype[Any], report: Callable[[int], None]
    ) -> None:
        super().__init__(source, dtype)
        self._report = report

    def ids(self, first: int, last: int) -> Tokens:
        found = super().ids(first, last)
        self._report(len(found))
        return found
