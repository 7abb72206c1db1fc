"""Checks token files without their sources: the ids of each document must be those of its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith._base.visible import visible
from toksmith.results import Batch
from toksmith.tokenfiles.comparing import is_chosen, is_exact
from toksmith.tokenfiles.findings import Findings, Problem
from toksmith.tokenfiles.framing import Framing
from toksmith.tokenfiles.manifest import Manifest
from toksmith.tokenfiles.shard import encode_documents
from toksmith.tokenfiles.source import Tokens
from toksmith.tokenfiles.token_files import TokenFiles
from toksmith.tokenfiles.written_documents import has_written_documents
from toksmith.tokenizer import Tokenizer


def check_canonical(
    manifest: Manifest,
    tokenizer: Tokenizer,
    splits: Mapping[str, TokenFiles],
    *,
    sample: float,
    threads: int | None,
    findings: Findings,
    report: Callable[[int], None],
) -> None:
    """Check bos and eos of each document, and that its text is encoded to its ids again.

    This is not possible for tokenizers whose ids do not decode to the text, and for files that do
    not tell documents apart; a note says so.

    Args:
        manifest: the manifest.
        tokenizer: the tokenizer.
        splits: the files of each split, open for reading.
        sample: the share of the documents to encode.
        threads: as in :meth:`Tokenizer.encode_batch`.
        findings: gets the problems.
        report: is called with the number of bytes of ids that are done.
    """
    job = manifest.job
    for name, tokens in splits.items():
        if not has_written_documents(tokens, job, manifest.splits[name]):
            findings.notes.append(
                f"split {name} does not tell documents apart: that its ids are those of a text is "
                "not checked"
            )
            return
    if not is_exact(tokenizer):
        findings.notes.append(
            "that ids are those of a text is not checked: the tokenizer does not decode them to it"
        )
        return
    framing = Framing(job)
    done = 0
    for name, tokens in splits.items():
        first = 0
        for ids, lengths in tokens.blocks():
            inner, inner_lengths, misses = _unframed(framing, ids, lengths, job.empty == "bare")
            for row in np.flatnonzero(misses).tolist():
                what = f"document {first + row:,} of its files lacks the bos or eos of the options"
                findings.add("documents", Problem(what, split=name))
            if len(inner) and 0 <= int(inner.min()) <= int(inner.max()) < tokenizer.vocab_size:
                offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(inner_lengths)])
                batch = Batch(inner.astype(np.uint32), offsets)
                for row, text, have, want in _differing(
                    tokenizer, batch, job.special, sample, threads
                ):
                    what = (
                        f"document {first + row:,} of its files has ids that the tokenizer does "
                        "not give for its text"
                    )
                    details = (
                        f"text      {visible(text[:60])}",
                        f"found     {' '.join(map(str, have[:8].tolist()))}",
                        f"expected  {' '.join(map(str, want[:8].tolist()))}",
                    )
                    findings.add("documents", Problem(what, split=name, details=details))
            first += len(lengths)
            done += ids.nbytes
            report(done)


def _unframed(
    framing: Framing, ids: Tokens, lengths: OffsetArray, has_bare: bool
) -> tuple[Tokens, OffsetArray, Any]:
    """Return ids without bos and eos, the lengths, and which documents lack bos or eos."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    count = len(framing.before) + len(framing.after)
    misses = lengths < count
    if has_bare:
        misses &= lengths > 0
    framed = np.flatnonzero(lengths >= max(count, 1)) if count else np.zeros(0, np.int64)
    is_text = np.ones(len(ids), bool)
    for place, token in enumerate(framing.before):
        is_text[starts[framed] + place] = False
        misses[framed] |= ids[starts[framed] + place] != token
    for place, token in enumerate(reversed(framing.after)):
        is_text[ends[framed] - 1 - place] = False
        misses[framed] |= ids[ends[framed] - 1 - place] != token
    inner = lengths.copy()
    inner[framed] -= count
    return ids[is_text], inner, misses


def _differing(
    tokenizer: Tokenizer, batch: Batch, special: str, sample: float, threads: int | None
) -> list[tuple[int, bytes, Tokens, Tokens]]:
    """Return the documents whose text has other ids: number, text, ids found and expected."""
    texts = tokenizer.decode_bytes_batch(batch, threads=threads)
    limit = round(sample * (1 << 64))
    rows = [row for row, text in enumerate(texts) if sample >= 1 or is_chosen(text, limit)]
    ends = np.cumsum([len(texts[row]) for row in rows], dtype=np.int64)
    bounds = np.stack([np.concatenate([np.zeros(1, np.int64), ends])[:-1], ends], axis=1)
    data = b"".join(texts[row] for row in rows)
    again = encode_documents(tokenizer, data, bounds, special, threads)
    if len(rows) == len(texts) and np.array_equal(again.ids, batch.ids):
        return []
    return [
        (row, texts[row], have, want)
        for row, want in zip(rows, again, strict=True)
        if not np.array_equal(have := batch[row], want)
    ]
