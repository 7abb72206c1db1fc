"""Counts: the distinct chunks of a text, and the number of occurrences of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from toksmith._base.checks import vector, whole
from toksmith._base.lazy import np, npt
from toksmith._base.report import html_of, text_of
from toksmith._base.sizes import parse_size
from toksmith._base.text import Texts
from toksmith._base.threads import thread_count
from toksmith._base.visible import count_of
from toksmith.corpus import AnyPath, Documents, Files, Reading
from toksmith.corpus.paths import one_path
from toksmith.corpus.remote import as_file
from toksmith.errors import OptionError
from toksmith.splitters import PatternSplitter, splitter
from toksmith.trainers.counting.streaming import StreamedCounts, cut_batches, pass_batches
from toksmith.trainers.memory import MemoryLimits

_CHECKED = 1 << 18
"""The number of chunks that are checked at a time; temporary arrays have this size."""


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Distinct chunks with their counts, in order of first appearance in the text.

    The counts of the parts of a text, added in the order of the parts, equal the counts of the
    whole text, and training from them gives the same tokenizer.

    Attributes:
        chunks: the bytes of all chunks, concatenated.
        ends: uint64, shape ``(n,)``: the end of each chunk in ``chunks``.
        counts: uint64, shape ``(n,)``: the number of occurrences of each chunk.
        splitter: the splitter that cut the chunks; ``None`` if they are whole documents.
        documents: the number of documents.

    Raises:
        OptionError: the arrays are inconsistent, a chunk is empty, or the counted text has 2**63
            bytes or more.

    Example:
        >>> counts = Counts.from_texts(["low lower"]) + Counts.from_texts(["low low"])
        >>> counts.most_common(), counts.bytes
        ([(b'low', 2), (b' lower', 1), (b' low', 1)], 16)
    """

    chunks: bytes
    ends: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint64]
    splitter: PatternSplitter | None = None
    documents: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.chunks, bytes):
            raise OptionError(f"chunks is {self.chunks!r:.80}: use bytes")
        for name in ("ends", "counts"):
            array = vector(name, getattr(self, name), np.uint64)
            object.__setattr__(self, name, array)
        last = int(self.ends[-1]) if len(self.ends) else 0
        if len(self.ends) != len(self.counts) or last != len(self.chunks):
            raise OptionError(
                "chunks, ends and counts are inconsistent: use one end and one count per chunk"
            )
        start, total = 0, 0.0
        for first in range(0, len(self.ends), _CHECKED):
            ends = self.ends[first : first + _CHECKED]
            if int(ends[0]) <= start or (ends[1:] <= ends[:-1]).any():
                raise OptionError("a chunk is empty")
            sizes = np.diff(ends, prepend=np.uint64(start)).astype(float)
            total += float(np.dot(sizes, self.counts[first : first + _CHECKED].astype(float)))
            start = int(ends[-1])
        if total >= 2.0**63:
            raise OptionError("the counted text comes to 2**63 bytes or more")

    @classmethod
    def of(
        cls,
        counted: Mapping[bytes, int],
        *,
        split: str | PatternSplitter | None = None,
        gaps: Literal["keep", "drop"] = "keep",
    ) -> Counts:
        """Return counts from a mapping.

        Args:
            counted: the number of occurrences of each chunk, in order of first appearance.
            split: the split that cut the chunks; see :meth:`from_files`. ``None`` if they are
                whole documents.
            gaps: see :meth:`from_files`.

        Raises:
            OptionError: a chunk is empty or not bytes, or a count is no whole number.
            SplitError: no split has this name.

        Example:
            >>> dict(Counts.of({b"ab": 3, b"c": 1}))
            {b'ab': 3, b'c': 1}
        """
        if not isinstance(counted, Mapping):
            raise OptionError(
                f"counted is {counted!r:.80}: use a mapping from chunks to their counts, not "
                f"{type(counted).__name__}"
            )
        for chunk, count in counted.items():
            if not isinstance(chunk, bytes):
                raise OptionError(f"chunk {chunk!r:.80} is {type(chunk).__name__}; use bytes")
            whole("a chunk's count", count, least=0)
        ends = np.cumsum([len(chunk) for chunk in counted], dtype=np.uint64)
        counts = np.fromiter(counted.values(), np.uint64, len(counted))
        return cls(b"".join(counted), ends, counts, _splitter_of(split, gaps))

    @classmethod
    def from_files(
        cls,
        files: AnyPath | Sequence[AnyPath],
        *,
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
        memory: int | str | None = None,
        min_count: int = 1,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Counts:
        """Count the chunks of files.

        Args:
            files: a path, a directory, a pattern such as ``"corpus/*.txt"``, or a list of them.
            split: the split of the text into chunks: a name of :data:`toksmith.splitters.NAMES`,
                such as ``"gpt4"`` or ``"words"``, a regular expression, or ``None``, which counts
                whole documents.
            gaps: whether text that a regular expression leaves unmatched is kept as chunks.
            separator: the text that separates documents inside a file.
            field: the field of JSON Lines, or the column of Parquet, CSV or TSV, that holds the
                text.
            read_as: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``; default: by the
                file's name. :class:`~toksmith.corpus.Reading` explains this and the next five.
            weights: factors for the counts of files, by path, directory or pattern.
            sample: the share of documents to use, from 0 to 1.
            seed: the random seed of the sample.
            deduplicate: ``"documents"`` or ``True``: identical documents are used once;
                ``"lines"``: identical lines.
            encoding_errors: ``"strict"`` refuses files that are not UTF-8 text; ``"replace"``
                replaces invalid bytes by U+FFFD.
            memory: the memory limit of counting, in bytes or as in ``"4G"``. Counts that do not
                fit are sorted, written to a temporary file (in ``TMPDIR``), and merged at the end.
                The result does not depend on it.
            min_count: chunks that occur fewer times than this are left out.
            threads: ``None`` for the cores this process may use; the result does not depend on it.
            progress: whether to show a progress bar; ``None`` if standard error is a terminal.

        Returns:
            The chunks in the order in which the text first shows them.

        Raises:
            OptionError: an argument has a wrong type or value, or the memory limit is too small.
            FormatError: a file cannot be read.

        Example:
            >>> from pathlib import Path
            >>> _ = Path("low.txt").write_text("low lower low")
            >>> Counts.from_files("low.txt").most_common()
            [(b'low', 1), (b' lower', 1), (b' low', 1)]
        """
        from toksmith.trainers.counting.chunks import count_chunks

        limits = MemoryLimits(parse_size(memory), min_count)
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
        used = thread_count(threads)
        source = Files(files, reading, threads=used, memory=limits.limit)
        return count_chunks(source, splitter(split, gaps), used, progress, limits)

    @classmethod
    def from_texts(
        cls,
        texts: Texts,
        *,
        split: str | None = "gpt4",
        gaps: Literal["keep", "drop"] = "keep",
        sample: float = 1.0,
        seed: int = 0,
        deduplicate: bool | str = False,
        memory: int | str | None = None,
        min_count: int = 1,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Counts:
        """Count the chunks of a text, or of several from any iterable; see :meth:`from_files`.

        Args:
            texts: a string, or an iterable of strings; each is a document.
            split: see :meth:`from_files`.
            gaps: whether text that a regular expression leaves unmatched is kept as chunks.
            sample: the share of documents to use, from 0 to 1.
            seed: the random seed of the sample.
            deduplicate: see :meth:`from_files`.
            memory: the memory limit of counting, in bytes or as in ``"4G"``.
            min_count: chunks that occur fewer times than this are left out.
            threads: ``None`` for the cores this process may use.
            progress: whether to show a progress bar; ``None`` if standard error is a terminal.

        Raises:
            OptionError: an argument has a wrong type or value, or the memory limit is too small.

        Example:
            >>> Counts.from_texts("low lower low", split="words").most_common()
            [(b'low', 2), (b' ', 2), (b'lower', 1)]
        """
        from toksmith.trainers.counting.chunks import count_chunks

        limits = MemoryLimits(parse_size(memory), min_count)
        reading = Reading(sample=sample, seed=seed, deduplicate=deduplicate)
        source = Documents(texts, reading, limits.limit)
        return count_chunks(source, splitter(split, gaps), thread_count(threads), progress, limits)

    @classmethod
    def load(cls, path: AnyPath) -> Counts:
        """Read a file that :meth:`save` wrote.

        Args:
            path: the file.

        Raises:
            OptionError: ``path`` is no path.
            FormatError: the file cannot be read, is damaged, or holds no counts.
            MissingExtraError: pyarrow is not installed (``pip install toksmith[arrow]``).

        Example:
            >>> Counts.of({b"low": 2, b" low": 1}).save("low.parquet")
            >>> Counts.load("low.parquet").most_common()
            [(b'low', 2), (b' low', 1)]
        """
        from toksmith.trainers.counting.files.parquet import CountsFile

        return CountsFile(one_path(path)).read()

    @classmethod
    def merge(
        cls,
        paths: AnyPath | Sequence[AnyPath],
        *,
        memory: int | str | None = None,
        min_count: int = 1,
    ) -> Counts:
        """Add saved counts in this order; files are read piece by piece.

        Shards of one corpus are added in the order of their numbers, however they are given.

        Args:
            paths: a file of counts, a folder of shards (:func:`toksmith.count_corpus`), a URL of
                these, or a list of them.
            memory: see :meth:`from_files`.
            min_count: see :meth:`from_files`; it applies to the sum.

        Raises:
            OptionError: ``paths`` is empty, the chunks were cut by different splitters, a shard
                is missing or given twice, or the memory limit is too small.
            FormatError: see :meth:`load`.

        Example:
            >>> Counts.of({b"low": 2}).save("a.parquet")
            >>> Counts.of({b"low": 1, b"er": 1}).save("b.parquet")
            >>> Counts.merge(["a.parquet", "b.parquet"]).most_common()
            [(b'low', 3), (b'er', 1)]
        """
        from toksmith.trainers.counting.files.shards import counts_files
        from toksmith.trainers.counting.files.sums import SumOfFiles

        found = SumOfFiles(counts_files(paths, "paths"))
        return found.read(MemoryLimits(parse_size(memory), min_count))

    @classmethod
    def from_tsv(
        cls,
        path: AnyPath,
        *,
        split: str | PatternSplitter | None = None,
        gaps: Literal["keep", "drop"] = "keep",
    ) -> Counts:
        r"""Read SentencePiece's ``word<TAB>count`` lines; words on several lines are added up.

        Args:
            path: the file.
            split: the split that cut the words; see :meth:`of`.
            gaps: see :meth:`from_files`.

        Raises:
            FormatError: the file cannot be read, or a line has another form.

        Example:
            >>> from pathlib import Path
            >>> _ = Path("words.tsv").write_text("low\t2\nlower\t1\n")
            >>> Counts.from_tsv("words.tsv", split="words").most_common()
            [(b'low', 2), (b'lower', 1)]
        """
        from toksmith.trainers.counting.files.tsv import read_tsv

        return read_tsv(one_path(path), _splitter_of(split, gaps))

    def save(self, path: AnyPath) -> None:
        """Write a Parquet file with the columns ``chunk`` (binary) and ``count`` (uint64).

        Args:
            path: the file; an existing one is replaced.

        Raises:
            OptionError: the file cannot be written.
            MissingExtraError: pyarrow is not installed (``pip install toksmith[arrow]``).

        Example:
            >>> Counts.of({b"low": 2}).save("low.parquet")
            >>> dict(Counts.load("low.parquet"))
            {b'low': 2}
        """
        from toksmith.trainers.counting.files.parquet import write

        write(stream_counts(self), as_file(one_path(path)))

    def to_tsv(self, path: AnyPath) -> None:
        r"""Write ``word<TAB>count`` lines, which SentencePiece reads with ``input_format=tsv``.

        Args:
            path: the file; an existing one is replaced.

        Raises:
            UnsupportedError: a chunk holds a tab or a line break. Counts made with
                ``split=r"\S+", gaps="drop"`` never do.
            OptionError: the file cannot be written.

        Example:
            >>> from pathlib import Path
            >>> Counts.of({b"low": 2, b"lower": 1}).to_tsv("words.tsv")
            >>> Path("words.tsv").read_text()
            'low\t2\nlower\t1\n'
        """
        from toksmith.trainers.counting.files.tsv import write_tsv

        write_tsv(stream_counts(self), as_file(one_path(path)))

    def __add__(self, other: Counts) -> Counts:
        from toksmith.trainers.counting.chunks import sum_counts

        return sum_counts([self, other]) if isinstance(other, Counts) else NotImplemented

    def __radd__(self, other: object) -> Counts:
        """Support ``sum``, which starts with 0."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        chunks, size = count_of(len(self), "distinct chunk"), count_of(self.bytes, "byte")
        return f"<Counts: {chunks}, {size}>"

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        start = 0
        for end, count in zip(self.ends.tolist(), self.counts.tolist(), strict=True):
            yield self.chunks[start:end], count
            start = end

    @property
    def sizes(self) -> npt.NDArray[np.uint64]:
        """uint64, shape ``(n,)``: how many bytes each chunk has.

        Example:
            >>> Counts.of({b"low": 2, b"lower": 1}).sizes.tolist()
            [3, 5]
        """
        return np.diff(self.ends, prepend=np.uint64(0))

    def filter(self, min_count: int) -> Counts:
        """Return the chunks that occur at least this many times.

        Args:
            min_count: the smallest count that is kept.

        Example:
            >>> dict(Counts.of({b"ab": 3, b"c": 1}).filter(min_count=2))
            {b'ab': 3}
        """
        kept = self.counts >= whole("min_count", min_count, least=0)
        sizes = self.sizes
        of_kept = np.repeat(kept, sizes.astype(np.int64))
        chunks = np.frombuffer(self.chunks, np.uint8)[of_kept].tobytes()
        ends = np.cumsum(sizes[kept], dtype=np.uint64)
        return Counts(chunks, ends, self.counts[kept], self.splitter, self.documents)

    def most_common(self, n: int | None = None) -> list[tuple[bytes, int]]:
        """Return the most frequent chunks and their counts; ties are in order of appearance.

        Args:
            n: the number of chunks; ``None`` for all.

        Example:
            >>> Counts.of({b"ab": 3, b"c": 5}).most_common(1)
            [(b'c', 5)]
        """
        if n is not None:
            whole("n", n, least=0)
        order = np.argsort(~np.asarray(self.counts, np.uint64), kind="stable")[:n]
        ends, sizes, counts = self.ends[order], self.sizes[order], self.counts[order]
        return [
            (self.chunks[end - size : end], count)
            for end, size, count in zip(ends.tolist(), sizes.tolist(), counts.tolist(), strict=True)
        ]

    @property
    def bytes(self) -> int:
        """The bytes of text that were counted.

        Example:
            >>> Counts.of({b"low": 2, b"lower": 1}).bytes
            11
        """
        return int(np.dot(self.sizes, self.counts))


def _splitter_of(
    split: str | PatternSplitter | None, gaps: Literal["keep", "drop"]
) -> PatternSplitter | None:
    return split if isinstance(split, PatternSplitter) else splitter(split, gaps)


def stream_counts(counts: Counts) -> StreamedCounts:
    """Return counts in memory as batches."""
    batches = cut_batches((counts.chunks, counts.ends, counts.counts))
    return StreamedCounts(
        partial(pass_batches, batches),
        counts.splitter,
        counts.documents,
        len(counts),
        int(counts.counts.sum()),
        counts.bytes,
    )
