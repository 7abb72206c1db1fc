"""Compares token files with the texts that they were made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith._base.visible import visible
from toksmith.corpus.blocks import Block, Damage
from toksmith.corpus.pieces import Piece, read_piece
from toksmith.corpus.remote import as_file
from toksmith.errors import ToksmithError
from toksmith.results import Batch
from toksmith.tokenfiles.findings import Findings, Problem
from toksmith.tokenfiles.framing import Framing
from toksmith.tokenfiles.manifest import Manifest, ShardEntry
from toksmith.tokenfiles.shard import encode_documents
from toksmith.tokenfiles.source import Tokens
from toksmith.tokenfiles.spool import SplitSize
from toksmith.tokenfiles.stored import ShuffledStream, Stored, StoredDocuments, StoredStream
from toksmith.tokenfiles.token_files import TokenFiles
from toksmith.tokenfiles.written_documents import has_written_documents
from toksmith.tokenizer import Tokenizer

_SHOWN_IDS = 8
_SHOWN_BYTES = 60


def compare_with_sources(
    manifest: Manifest,
    tokenizer: Tokenizer,
    splits: Mapping[str, TokenFiles],
    *,
    sample: float,
    threads: int | None,
    findings: Findings,
    report: Callable[[int], None],
) -> int:
    """Compare the documents of token files with their texts; return how many were compared.

    Args:
        manifest: the manifest.
        tokenizer: the tokenizer.
        splits: the files of each split, open for reading.
        sample: the share of the documents.
        threads: as in :meth:`Tokenizer.encode_batch`.
        findings: gets the problems.
        report: is called with the number of bytes of the sources that are done.
    """
    job = manifest.job
    located = all(
        has_written_documents(tokens, job, manifest.splits[name]) for name, tokens in splits.items()
    )
    knows_empty = job.empty != "drop" or is_exact(tokenizer)
    if sample < 1 and not (located and knows_empty):
        sample = 1.0
        findings.notes.append(
            "all documents are compared, and not a sample: where one begins is known only after "
            "those before it are tokenized"
        )
    comparing = _Comparing(manifest, tokenizer, sample, threads, findings, report)
    stored: dict[str, Stored] = {}
    if located:
        seed = job.seed if job.shuffle else None
        stored = {name: StoredDocuments(tokens, seed) for name, tokens in splits.items()}
    elif job.shuffle:
        lengths = comparing.lengths()
        stored = {
            name: ShuffledStream(tokens, lengths[name], job.seed) for name, tokens in splits.items()
        }
    else:
        stored = {name: StoredStream(tokens) for name, tokens in splits.items()}
    comparing.run(stored)
    return comparing.compared


class _Chosen(NamedTuple):
    """Some documents of a block in one split.

    Attributes:
        rows: their numbers in the block.
        numbers: their numbers in the split.
        ids: the expected ids, end to end, with bos and eos.
        lengths: the expected number of ids of each.
    """

    rows: OffsetArray
    numbers: OffsetArray
    ids: Tokens
    lengths: OffsetArray


@dataclass
class _Figures:
    """The figures of one shard."""

    documents: int = 0
    text_bytes: int = 0
    tokens: int = 0
    damaged: dict[Damage, None] = field(default_factory=dict)

    def note(self, damage: Damage) -> None:
        """Take note of a damaged record."""
        self.damaged[damage] = None


class _Comparing:
    """A run over the sources."""

    def __init__(
        self,
        manifest: Manifest,
        tokenizer: Tokenizer,
        sample: float,
        threads: int | None,
        findings: Findings,
        report: Callable[[int], None],
    ) -> None:
        self._manifest, self._job, self._tokenizer = manifest, manifest.job, tokenizer
        self._threads, self._findings, self._report = threads, findings, report
        self._framing = Framing(self._job)
        self._limit = round(sample * (1 << 64))
        self._is_sample = sample < 1
        self._done = 0
        self.compared = 0
        self._changed = 0
        self._changed_text = ""

    def lengths(self) -> dict[str, OffsetArray]:
        """Return the expected length of each document of each split, by tokenizing all of them."""
        found: dict[str, list[OffsetArray]] = {name: [] for name in self._job.split_names}
        for shard in range(len(self._manifest.shards)):
            for _, block in self._blocks(shard, _Figures(), reports=False):
                for name, chosen in self._expected(block, dict.fromkeys(found, 0), decodes=False):
                    found[name].append(chosen.lengths)
        return {
            name: np.concatenate([np.zeros(0, np.int64), *several])
            for name, several in found.items()
        }

    def run(self, stored: Mapping[str, Stored]) -> None:
        """Compare all shards, and the figures of the manifest."""
        bases = dict.fromkeys(self._job.split_names, 0)
        sizes = dict.fromkeys(self._job.split_names, SplitSize())
        for shard, entry in enumerate(self._manifest.shards):
            figures = _Figures()
            for piece, block in self._blocks(shard, figures):
                for name, chosen in self._expected(block, bases):
                    figures.tokens += int(chosen.lengths.sum())
                    sizes[name] = sizes[name].plus(chosen.lengths)
                    found, lengths = stored[name].get(chosen.numbers, chosen.lengths)
                    self.compared += len(chosen.rows)
                    self._compare(block, chosen, found, lengths, stored[name], name, shard, piece)
            self._check_shard(entry, figures)
        self._check_totals(bases, sizes)
        if self._changed:
            self._findings.notes.append(
                "documents that do not decode to their text, because the tokenizer normalizes it: "
                f"{self._changed:,} ({self._changed_text}); their ids are compared"
            )

    def _blocks(
        self, shard: int, figures: _Figures, *, reports: bool = True
    ) -> Iterator[tuple[Piece, Block]]:
        job = self._job
        for piece in self._pieces(shard):
            skip = figures.note if job.skip_damaged else None
            with closing(read_piece(piece, job.reading, skip)) as blocks:
                for block in blocks:
                    figures.documents += len(block.bounds)
                    figures.text_bytes += int(np.diff(block.bounds, axis=1).sum())
                    yield piece, block
                    if reports:
                        self._report(self._done + block.done)
            if reports:
                self._done += piece.size
                self._report(self._done)

    def _pieces(self, shard: int) -> list[Piece]:
        """Return the pieces of a shard as the manifest says."""
        said = self._manifest.shards[shard].pieces
        own = self._job.pieces_of(shard)
        if said == tuple((str(piece.path), piece.start, piece.end) for piece in own):
            return own
        sizes = {source.path: source.bytes for source in self._job.sources}
        for path, start, end in said:
            if not 0 <= start <= end <= sizes.get(path, -1):
                what = f"the manifest names bytes {start:,} to {end:,}, which are not there"
                self._findings.add("figures", Problem(what, shard=shard, source=path))
                return own
        return [Piece(as_file(path), start, end, end - start) for path, start, end in said]

    def _expected(
        self, block: Block, bases: dict[str, int], *, decodes: bool = True
    ) -> Iterator[tuple[str, _Chosen]]:
        """Yield the documents of a block to compare, by split; ``bases`` counts all of them."""
        job, framing = self._job, self._framing
        rows = self._choose(block)
        batch = encode_documents(
            self._tokenizer, block.data, block.bounds[rows], job.special, self._threads
        )
        lengths = np.diff(batch.offsets)
        owners = framing.owners(block)
        if decodes:
            self._check_decoding(block, rows, batch)
        is_kept = np.ones(len(owners), bool)
        if job.empty == "drop" and self._is_sample:  # then only empty texts have no ids
            is_kept = block.bounds[:, 1] > block.bounds[:, 0]
        elif job.empty == "drop":
            is_kept = lengths > 0
        for number, name in enumerate(job.split_names):
            in_split = is_kept & (owners == number)
            mine = in_split[rows]
            ids = batch.ids if mine.all() else batch.ids[np.repeat(mine, lengths)]
            framed, framed_lengths = framing.frame(ids, lengths[mine])
            chosen = rows[mine]
            numbers = bases[name] + np.cumsum(in_split)[chosen] - 1
            bases[name] += int(in_split.sum())
            yield name, _Chosen(chosen, numbers, framed, framed_lengths)

    def _choose(self, block: Block) -> OffsetArray:
        """Return the numbers of the documents of a block that are compared."""
        count = len(block.bounds)
        if not self._is_sample:
            return np.arange(count)
        view = memoryview(block.data)  # type: ignore[arg-type]  # no block is a str
        rows = [
            row
            for row, (start, end) in enumerate(block.bounds.tolist())
            if is_chosen(view[start:end], self._limit)
        ]
        return np.array(rows, np.int64)

    def _check_decoding(self, block: Block, rows: OffsetArray, batch: Batch) -> None:
        """Count the documents whose ids do not decode to the text."""
        view = memoryview(block.data)  # type: ignore[arg-type]
        texts = [view[start:end] for start, end in block.bounds[rows].tolist()]
        try:
            decoded = self._tokenizer.decode_bytes_batch(batch, threads=self._threads)
        except UnicodeDecodeError:
            decoded = [self._tokenizer.decode(ids).encode() for ids in batch]
        for text, found in zip(texts, decoded, strict=True):
            if text != found:
                self._changed += 1
                if not self._changed_text:
                    self._changed_text = (
                        f"{visible(bytes(text[:40]))} becomes {visible(found[:40])}"
                    )

    def _compare(
        self,
        block: Block,
        chosen: _Chosen,
        found: Tokens,
        lengths: OffsetArray,
        stored: Stored,
        split: str,
        shard: int,
        piece: Piece,
    ) -> None:
        """Compare documents with their expected ids."""
        if np.array_equal(lengths, chosen.lengths) and np.array_equal(found, chosen.ids):
            return
        ends, wanted_ends = np.cumsum(lengths), np.cumsum(chosen.lengths)
        for place, (row, number) in enumerate(
            zip(chosen.rows.tolist(), chosen.numbers.tolist(), strict=True)
        ):
            have = found[ends[place] - lengths[place] : ends[place]]
            want = chosen.ids[wanted_ends[place] - chosen.lengths[place] : wanted_ends[place]]
            if isinstance(stored, StoredDocuments):
                is_equal = np.array_equal(have, want)
            else:  # a stream that ends early shows in its number of tokens
                is_equal = np.array_equal(have, want[: len(have)])
            if is_equal:
                continue
            if not self._findings.is_shown("documents"):
                self._findings.count("documents")
                continue
            start, end = block.bounds[row].tolist()
            text = bytes(memoryview(block.data)[start:end])  # type: ignore[arg-type]
            what, details = self._describe(text, have, want)
            problem = Problem(
                what, stored.file(number), split, number, shard, str(piece.path), details
            )
            self._findings.add("documents", problem)

    def _describe(self, text: bytes, have: Tokens, want: Tokens) -> tuple[str, tuple[str, ...]]:
        """Return what is wrong with a document, and lines that show it."""
        count = min(len(have), len(want))
        differs = np.flatnonzero(have[:count] != want[:count])
        place = int(differs[0]) if len(differs) else count
        before, after = len(self._framing.before), len(self._framing.after)
        inner = have[before : len(have) - after]
        if not len(have):
            what = "it is missing"
        elif np.array_equal(inner, want[before : len(want) - after]):
            what = f"token {place:,} differs: it is not the bos or eos of the options"
        elif _decoded(self._tokenizer, inner) == text:
            what = (
                f"token {place:,} differs: the ids decode to the text, but they are not those that "
                "the tokenizer gives for it"
            )
        else:
            what = f"token {place:,} differs from that of its text"
        return what, (
            f"text      {visible(text[:_SHOWN_BYTES])}{'…' * (len(text) > _SHOWN_BYTES)}",
            f"found     {self._shown(have, place)}",
            f"expected  {self._shown(want, place)}",
        )

    def _shown(self, ids: Tokens, place: int) -> str:
        """Return some ids from a place on, with their text."""
        if place >= len(ids):
            return f"the end, after {len(ids):,} tokens"
        some = ids[place : place + _SHOWN_IDS]
        text = _decoded(self._tokenizer, some)
        shown = "" if text is None else f"  {visible(text)}"
        return f"{' '.join(map(str, some.tolist()))}{' …' * (len(ids) > place + _SHOWN_IDS)}{shown}"

    def _check_shard(self, entry: ShardEntry, figures: _Figures) -> None:
        """Compare the figures of a shard with those in the manifest."""
        pairs: list[tuple[str, Any, Any]] = [
            ("documents", entry.documents, figures.documents),
            ("bytes of text", entry.text_bytes, figures.text_bytes),
        ]
        if not self._is_sample:
            pairs.append(("tokens", entry.tokens, figures.tokens))
        damaged = tuple((str(path), *rest) for path, *rest in figures.damaged)
        pairs.append(("damaged records", len(entry.damaged), len(damaged)))
        for name, said, found in pairs:
            if said != found:
                self._findings.add(
                    "figures",
                    Problem(
                        f"the manifest says {said:,} {name}, and the sources have {found:,}",
                        shard=entry.number,
                    ),
                )

    def _check_totals(
        self, documents: Mapping[str, int], compared: Mapping[str, SplitSize]
    ) -> None:
        """Compare the figures of the splits with those in the manifest."""
        length = self._job.sequence_length
        for name, size in self._manifest.splits.items():
            pairs = []
            if length is None:
                pairs.append(("documents", size.documents, documents[name]))
            if not self._is_sample:
                held = compared[name].tokens
                longest = compared[name].longest
                if length is not None:
                    held = held // length * length
                    longest = min(length, held)
                pairs.append(("tokens", size.tokens, held))
                pairs.append(("tokens in the longest document", size.longest, longest))
            for what, said, found in pairs:
                if said != found:
                    self._findings.add(
                        "figures",
                        Problem(
                            f"the manifest says {said:,} {what}, and the sources give {found:,}",
                            split=name,
                        ),
                    )


def is_chosen(text: bytes | memoryview, limit: int) -> bool:
    """Return whether a document belongs to a sample, by a hash of its text.

    Args:
        text: the text.
        limit: the share of the documents, times 2^64.
    """
    digest = blake2b(text, digest_size=8, person=b"verify").digest()
    return int.from_bytes(digest, "little") < limit


def is_exact(tokenizer: Tokenizer) -> bool:
    """Return whether decoding gives each text back, so that only an empty one has no ids."""
    pipeline = tokenizer.pipeline
    if pipeline.normalizer or pipeline.decoder is not None:
        return False
    tokens = {*pipeline.model.vocab}
    return all(bytes([value]) in tokens for value in range(256))


def _decoded(tokenizer: Tokenizer, ids: Tokens) -> bytes | None:
    """Return the bytes of ids, ``None`` if one is unknown."""
    try:
        return tokenizer.decode_bytes(np.ascontiguousarray(ids))
    except (ToksmithError, UnicodeDecodeError):
        return None
