"""Checks token files: reads all of them again, and compares them with manifest and sources."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from toksmith._base.checks import file_path, flag
from toksmith._base.lazy import np
from toksmith._base.progress import amount_progress
from toksmith._base.threads import thread_count
from toksmith.corpus.paths import AnyPath
from toksmith.corpus.pieces import fingerprint
from toksmith.corpus.remote import as_file
from toksmith.errors import FormatError, OptionError, ToksmithError
from toksmith.loading import AnyTokenizer, tokenizer_of
from toksmith.tokenfiles.canonical import check_canonical
from toksmith.tokenfiles.comparing import compare_with_sources
from toksmith.tokenfiles.findings import Findings, Problem, TokenCheck
from toksmith.tokenfiles.formats import format_of
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.manifest import NAME, Manifest, WrittenFile, read_manifest
from toksmith.tokenfiles.opening import open_splits
from toksmith.tokenfiles.regular import open_regular
from toksmith.tokenfiles.stored import file_of
from toksmith.tokenfiles.token_files import TokenFiles
from toksmith.tokenizer import Tokenizer

_BLOCK = 1 << 20


def verify_tokens(
    folder: AnyPath,
    *,
    tokenizer: AnyTokenizer | None = None,
    sample: float = 1.0,
    sources: bool = True,
    threads: int | None = None,
    progress: bool | None = None,
) -> TokenCheck:
    r"""Check token files that toksmith wrote, by reading all of them and their sources again.

    These must hold:

    - The files have the sizes and SHA-256 that the manifest names, and no other file would be read
      with them.
    - The counts of documents and tokens equal the manifest's, and all ids are in the vocabulary.
    - The sources and the tokenizer are those that the files were made from.
    - Each document has the ids that the tokenizer gives for its text, with its bos and eos, at its
      place and in its split; and they decode to the text, unless the tokenizer normalizes it.

    Args:
        folder: the folder with the manifest.
        tokenizer: the tokenizer, a path or a name; needed if the name or path in the manifest does
            not lead to it.
        sample: the share of the documents to compare with their texts, 0 to 1; a hash of the text
            selects them.
        sources: whether documents are compared with their sources, which must be there. ``False``
            decodes each document, and compares its ids with those of the decoded text.
        threads: ``None`` for the cores this process may use.
        progress: ``None`` shows a bar if standard error is a terminal.

    Returns:
        The problems found; ``.is_ok`` if there is none. ``print`` shows them.

    Raises:
        FormatError: the folder has no manifest, or it cannot be read.
        OptionError: an option is out of range.

    Example:
        >>> import pathlib, tempfile, toksmith
        >>> from toksmith.tokenfiles import verify_tokens
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     corpus = pathlib.Path(folder, "corpus.jsonl")
        ...     _ = corpus.write_text('{"text": "low"}\n{"text": "lower"}\n')
        ...     _ = toksmith.tokenize_corpus(
        ...         corpus, tokenizer="toksmith-small", format="nanogpt", output=folder + "/tokens"
        ...     )
        ...     good = verify_tokens(folder + "/tokens")
        ...     _ = corpus.write_text('{"text": "low"}\n{"text": "lover"}\n')
        ...     bad = verify_tokens(folder + "/tokens")
        >>> good.is_ok, bad.is_ok, bad.problems[0].what
        (True, False, 'it has changed since it was tokenized')
    """
    flag("sources", sources)
    if isinstance(sample, bool) or not isinstance(sample, int | float) or not 0 < sample <= 1:
        raise OptionError(f"sample is {sample!r:.40}: use a number above 0, and 1 at most")
    threads = thread_count(threads)
    place = file_path(folder)
    manifest = read_manifest(place)
    if manifest is None:
        raise FormatError(place, f"has no {NAME}: only files that toksmith wrote can be checked")
    findings = Findings()
    tok = _tokenizer(manifest.job, tokenizer, sources, findings)
    stored = sum(file.bytes for file in manifest.files)
    texts = sum(source.bytes for source in manifest.job.sources) if sources else stored
    compared = 0
    with amount_progress("verifying", 2 * stored + texts, progress, is_bytes=True) as report:
        missing = _check_files(place, manifest, threads, findings, report)
        is_sound = _check_job(manifest, tok, findings)
        splits = {} if missing or not is_sound else _open(place, manifest, findings)
        if splits:
            _check_extra(place, manifest, findings)
            _check_ids(splits, manifest, findings, lambda done: report(stored + done))
        options: dict[str, Any] = {"sample": sample, "threads": threads, "findings": findings}
        if not manifest.job.sources:
            findings.notes.append(
                "the documents are not compared with their texts: the manifest names no sources"
            )
        elif not sources:
            findings.notes.append("the documents are not compared with their texts (no sources)")
            if splits and tok is not None:
                check_canonical(
                    manifest, tok, splits, report=lambda done: report(2 * stored + done), **options
                )
        elif splits and tok is not None and _check_sources(manifest.job, findings):
            try:
                compared = compare_with_sources(
                    manifest, tok, splits, report=lambda done: report(2 * stored + done), **options
                )
            except FormatError as wrong:  # its size and the parts in its fingerprint are the same
                findings.add("sources", Problem(str(wrong)))
            except OptionError as wrong:  # the options of reading do not fit the sources
                findings.add("figures", Problem(f"the manifest contradicts itself: {wrong}", NAME))
        else:
            findings.notes.append(
                "the documents are not compared with their texts: solve the problems above first"
            )
    return TokenCheck(
        place, manifest, tuple(findings.problems), findings.counts, compared, tuple(findings.notes)
    )


def _tokenizer(
    job: Job, given: AnyTokenizer | None, is_needed: bool, findings: Findings
) -> Tokenizer | None:
    """Return the tokenizer of a job, ``None`` if it cannot be loaded."""
    if given is not None:
        tok = tokenizer_of(given)
    elif not job.tokenizer_hash:
        return None
    else:
        try:
            tok = tokenizer_of(job.tokenizer)
        except ToksmithError as wrong:
            what = f"the tokenizer {job.tokenizer} cannot be loaded ({wrong}): give it"
            if is_needed:
                findings.add("tokenizers", Problem(what))
            else:
                findings.notes.append(what)
            return None
    if job.tokenizer_hash and tok.pipeline.digest != job.tokenizer_hash:
        findings.add(
            "tokenizers",
            Problem(
                f"the tokenizer {tok.name or job.tokenizer} is not the one that made the tokens "
                f"({job.tokenizer}, SHA-256 {job.tokenizer_hash[:12]}…): its SHA-256 is "
                f"{tok.pipeline.digest[:12]}…"
            ),
        )
    return tok


def _check_files(
    folder: Path,
    manifest: Manifest,
    threads: int,
    findings: Findings,
    report: Callable[[int], None],
) -> bool:
    """Check sizes and hashes of the files; return whether one is missing."""
    counted = _Counted(report)

    def check(file: WrittenFile) -> tuple[Problem | None, bool]:
        path = folder / file.name
        try:
            size = path.stat().st_size
            if size != file.bytes:
                what = f"it has {size:,} bytes, and the manifest says {file.bytes:,}"
                return Problem(what, file.name, file.split), False
            found = counted.sha256(path)
        except FileNotFoundError:
            return Problem("it is missing", file.name, file.split), True
        except OSError as wrong:
            what = f"it cannot be read: {wrong.strerror or wrong}"
            return Problem(what, file.name, file.split), True
        if found != file.sha256:
            what = f"its SHA-256 is {found[:12]}…, and the manifest says {file.sha256[:12]}…"
            return Problem(what, file.name, file.split), False
        return None, False

    missing = False
    with ThreadPoolExecutor(threads, "toksmith-verify") as pool:
        try:
            for problem, is_missing in pool.map(check, manifest.files):
                missing |= is_missing
                if problem is not None:
                    findings.add("files", problem)
        except BaseException:
            counted.is_stopped = True
            pool.shutdown(cancel_futures=True)
            raise
    return missing


class _Counted:
    """Hashes files in several threads, and reports the bytes that are done of all of them."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report, self._lock, self._done = report, Lock(), 0
        self.is_stopped = False

    def sha256(self, path: Path) -> str:
        """Return the SHA-256 of a file, of a part of it if the work is stopped."""
        found = hashlib.sha256()
        with open_regular(path) as file:
            while not self.is_stopped and (block := file.read(_BLOCK)):
                found.update(block)
                with self._lock:
                    self._done += len(block)
                    self._report(self._done)
        return found.hexdigest()


def _check_job(manifest: Manifest, tok: Tokenizer | None, findings: Findings) -> bool:
    """Check that the parts of a manifest agree with each other and with the tokenizer.

    Returns:
        Whether its splits and shards are known, which is needed to go on.
    """
    job = manifest.job
    wrong = []
    dtype = format_of(job.format).dtype(job.vocab_size).name
    if job.dtype != dtype:
        wrong.append(f"ids are {job.dtype}, and {job.format} files with this vocabulary {dtype}")
    is_own = tok is not None and tok.pipeline.digest == job.tokenizer_hash
    if is_own and tok is not None and tok.vocab_size != job.vocab_size:
        wrong.append(f"the vocabulary has {job.vocab_size:,} ids; it has {tok.vocab_size:,}")
    names = set(job.split_names)
    shards = [shard.number for shard in manifest.shards]
    is_sound = False
    if shards != list(range(len(shards))) or len(shards) != (job.shards if job.sources else 0):
        wrong.append(f"there are {job.shards:,} shards, and it lists {len(shards):,}")
    elif set(manifest.splits) != names or not {file.split for file in manifest.files} <= names:
        wrong.append(f"the splits are {', '.join(sorted(names))}, and it lists others")
    else:
        is_sound = True
    for name, size in manifest.splits.items():
        length = job.sequence_length
        if length is not None and size.tokens != size.documents * length:
            wrong.append(
                f"split {name} has {size.documents:,} sequences of {length:,} tokens, and it says "
                f"{size.tokens:,} tokens"
            )
    for each in wrong:
        findings.add("figures", Problem(f"the manifest contradicts itself: {each}", NAME))
    return is_sound


def _open(folder: Path, manifest: Manifest, findings: Findings) -> dict[str, TokenFiles]:
    """Return the files of each split, open for reading; none if one cannot be read."""
    try:
        splits = open_splits(folder, manifest)
        for tokens in splits.values():
            _ = tokens.lengths
    except (FormatError, OptionError) as wrong:
        findings.add("files", Problem(str(wrong)))
        return {}
    return splits


def _check_extra(folder: Path, manifest: Manifest, findings: Findings) -> None:
    """Check that a reader finds no files besides those of the manifest; note other files."""
    known = {NAME, *(file.name for file in manifest.files)}
    for path in format_of(manifest.job.format).find(folder):
        name = path.relative_to(folder).as_posix()
        if name not in known:
            what = "it is not in the manifest, and a reader of the folder reads it too: remove it"
            findings.add("files", Problem(what, name))
            known.add(name)
    others = [
        name
        for name in (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")))
        if name not in known and (folder / name).is_file()
    ]
    if others:
        more = f" and {len(others) - 5:,} more" if len(others) > 5 else ""
        findings.notes.append(
            f"not in the manifest, and not checked: {', '.join(others[:5])}{more}"
        )


def _check_ids(
    splits: Mapping[str, TokenFiles],
    manifest: Manifest,
    findings: Findings,
    report: Callable[[int], None],
) -> None:
    """Check that all ids are in the vocabulary, and the counts of documents and tokens."""
    most = manifest.job.vocab_size
    done = 0
    for name, tokens in splits.items():
        for part in tokens.parts:
            first = 0
            for ids, lengths in TokenFiles(tokens.path, "", tokens.dtype, [part]).blocks():
                if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < most:
                    place = int(((ids < 0) | (ids >= most)).argmax())
                    document = first + int(np.searchsorted(np.cumsum(lengths), place, "right"))
                    file = file_of(tokens, part, document)
                    what = (
                        f"document {document:,} of the file has id {int(ids[place]):,}: "
                        f"ids go from 0 to {most - 1:,}"
                    )
                    findings.add("ids", Problem(what, file, name))
                first += len(lengths)
                done += ids.nbytes
                report(done)
        size = manifest.splits.get(name)
        if size is None:
            continue
        pairs = [("tokens", tokens.num_tokens, size.tokens)]
        if format_of(manifest.job.format).stores_bounds:
            pairs.append(("documents", len(tokens), size.documents))
            longest = int(tokens.lengths.max(initial=0))
            pairs.append(("tokens in the longest document", longest, size.longest))
        for what, found, said in pairs:
            if found != said:
                what = f"it has {found:,} {what}, and the manifest says {said:,}"
                findings.add("figures", Problem(what, split=name))


def _check_sources(job: Job, findings: Findings) -> bool:
    """Check that the sources are those of the job; return whether they are."""
    before = len(findings.problems)
    for source in job.sources:
        path = as_file(source.path)
        try:
            is_same = path.stat().st_size == source.bytes
            is_same = is_same and fingerprint(path) == source.fingerprint
            what = "" if is_same else "it has changed since it was tokenized"
        except (OSError, FormatError) as wrong:
            reason = getattr(wrong, "strerror", None) or str(wrong)
            what = (
                f"it cannot be read ({reason}): run this where the corpus was tokenized, or check "
                "without sources (--no-sources)"
            )
        if what:
            findings.add("sources", Problem(what, source=source.path))
    return len(findings.problems) == before
