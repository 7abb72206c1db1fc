"""Pack indexes: files of (document, start, length) rows that say how token files are packed.

An index is one file, in little-endian integers:

- 8 bytes ``TOKPACK1``, uint64 size of the head;
- the head, a JSON object padded with spaces to a multiple of 64 bytes, all before it included;
- a row for each piece of a document: its document, its first token there, its length, as uint32
  (``"integers": "<u4"`` in the head) or uint64 (``"<u8"``, where one is larger);
- uint64 first row of each sequence, and at the end the number of rows.

The pieces of a sequence follow each other in the file. The head holds the SHA-256 of the lengths of
all documents (as int64), so that an index is refused for other token files.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith._base.arrays import OffsetArray
from toksmith._base.checks import file_path, vector, whole
from toksmith._base.lazy import hashlib, json, np, npt
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.maps import map_ids
from toksmith.tokenfiles.packing.methods import METHODS, Method
from toksmith.tokenfiles.packing.permutation import Permutation
from toksmith.tokenfiles.regular import open_regular
from toksmith.tokenfiles.source import TokenSource

_MAGIC = b"TOKPACK1"
_ALIGNED = 64
_MOST_LENGTH = (1 << 31) - 1
_BLOCK = 1 << 20


@dataclass(frozen=True)
class PackReport:
    """The figures of a pack index. ``print`` shows them as a table.

    Attributes:
        method: ``"best-fit"``, ``"concat"`` or ``"truncate"``.
        length: the maximum number of tokens of a sequence.
        seed: the seed by which documents were shuffled; ``None`` for the order of the files.
        sequences: the number of sequences.
        documents: the number of documents in the token files, empty ones included.
        empty_documents: the number of documents without tokens, which are in no sequence.
        cut_documents: the number of documents that are not whole in one sequence.
        tokens: the number of tokens in the token files.
        packed_tokens: the number of tokens in the sequences.

    Example:
        >>> from toksmith.tokenfiles import pack
        >>> report = pack([3, 9, 2], length=5, method="truncate").report
        >>> report.sequences, report.cut_documents, report.packed_tokens
        (3, 1, 10)
    """

    method: str
    length: int
    seed: int | None
    sequences: int
    documents: int
    empty_documents: int
    cut_documents: int
    tokens: int
    packed_tokens: int

    @property
    def padding(self) -> int:
        """The number of tokens that all sequences lack to ``length``.

        Example:
            >>> from toksmith.tokenfiles import pack
            >>> pack([3, 9, 2], length=5).report.padding
            1
        """
        return self.sequences * self.length - self.packed_tokens

    @property
    def lost_tokens(self) -> int:
        """The number of tokens in no sequence: what ``truncate`` leaves out.

        Example:
            >>> from toksmith.tokenfiles import pack
            >>> pack([3, 9, 2], length=5, method="truncate").report.lost_tokens
            4
        """
        return self.tokens - self.packed_tokens

    @property
    def utilisation(self) -> float:
        """The share of the places in all sequences that hold a token; 1 if there are none.

        Example:
            >>> from toksmith.tokenfiles import pack
            >>> round(pack([3, 9, 2], length=5).report.utilisation, 3)
            0.933
        """
        places = self.sequences * self.length
        return self.packed_tokens / places if places else 1.0

    def __str__(self) -> str:
        def share(part: int, of: int) -> str:
            return f"{part:,}" + (f"  ({part / of:.2%})" if of else "")

        order = "in the order of the files" if self.seed is None else f"shuffled by {self.seed}"
        rows = {
            "method": f"{self.method}, {self.length:,} tokens, {order}",
            "sequences": f"{self.sequences:,}",
            "utilisation": f"{self.utilisation:.4%}",
            "padding": share(self.padding, self.sequences * self.length),
            "documents": f"{self.documents:,}",
            "empty": share(self.empty_documents, self.documents),
            "cut": share(self.cut_documents, self.documents),
            "tokens": f"{self.tokens:,}",
            "left out": share(self.lost_tokens, self.tokens),
        }
        return "\n".join(f"{name:<12} {value}" for name, value in rows.items())


class PackIndex:
    """Rows of documents, grouped into sequences.

    Attributes:
        report: its figures.
        source: SHA-256 of the lengths of the documents that were packed.
        rows: shape ``(pieces,)``, with the fields ``document``, ``start`` and ``length``.
        bounds: uint64, shape ``(sequences + 1,)``: sequence ``i`` has the rows from ``bounds[i]``
            to ``bounds[i + 1]``.

    Example:
        >>> import toksmith
        >>> index = toksmith.tokenfiles.pack([3, 9, 2], length=5)
        >>> index.rows[index.bounds[0] : index.bounds[1]].tolist()
        [(0, 0, 3), (2, 0, 2)]
        >>> print(index)
        method       best-fit, 5 tokens, in the order of the files
        sequences    3
        ...
    """

    def __init__(
        self,
        report: PackReport,
        source: str,
        rows: npt.NDArray[np.void],
        bounds: npt.NDArray[np.uint64],
        path: Path | None = None,
    ) -> None:
        self.report = report
        self.source = source
        self.rows = rows
        self.bounds = bounds
        self._path = path

    @property
    def name(self) -> str:
        """The path of its file, for messages.

        Example:
            >>> from toksmith.tokenfiles import pack
            >>> pack([3, 9, 2], length=5).name
            'the pack index'
        """
        return "the pack index" if self._path is None else str(self._path)

    def __len__(self) -> int:
        """Return the number of sequences."""
        return len(self.bounds) - 1

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file, whole or not at all.

        Args:
            path: the file; ``.pack`` is the customary suffix.

        Raises:
            OptionError: the file cannot be written.

        Example:
            >>> import pathlib, tempfile
            >>> from toksmith.tokenfiles import pack
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.pack")
            ...     pack([3, 9, 2], length=5).save(path)
            ...     len(PackIndex.load(path))
            3
        """
        with files.open_output(file_path(path)) as file:
            kind = self.rows.dtype["document"].str
            about = {"source": self.source, "rows": len(self.rows), "integers": kind}
            data = json.dumps({**asdict(self.report), **about}).encode()
            data += b" " * (-(len(data) + 16) % _ALIGNED)
            file.write(_MAGIC + struct.pack("<Q", len(data)) + data)
            for array in (self.rows, self.bounds):
                for start in range(0, len(array), _BLOCK):
                    file.write(array[start : start + _BLOCK].tobytes())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PackIndex:
        """Open an index. Its arrays are memory maps.

        Args:
            path: a file that :meth:`save` or ``toksmith pack`` wrote.

        Raises:
            FormatError: it is no such file, or it is damaged.

        Example:
            >>> import pathlib, tempfile
            >>> from toksmith.tokenfiles import pack
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.pack")
            ...     pack([3, 9, 2], length=5).save(path)
            ...     len(PackIndex.load(path))
            3
        """
        path = file_path(path)
        head, start = _read_head(path)
        try:
            report = _report_of(head)
            count, sequences = whole("rows", head["rows"], 0), report.sequences
            dtype, source = _row_type(head["integers"]), str(head["source"])
        except KeyError as wrong:
            raise FormatError(path, f"its head is damaged: {wrong} is missing") from wrong
        except ValueError as wrong:
            raise FormatError(path, f"its head is damaged: {wrong}") from wrong
        wanted = start + count * dtype.itemsize + (sequences + 1) * 8
        if path.stat().st_size != wanted:
            raise FormatError(
                path, f"has {path.stat().st_size:,} bytes, and its head calls for {wanted:,}"
            )
        data = map_ids(path, np.dtype(np.uint8))
        rows = data[start : start + count * dtype.itemsize].view(dtype)
        bounds = data[start + count * dtype.itemsize :].view("<u8")
        if bounds[0] != 0 or bounds[-1] != count or (bounds[1:] < bounds[:-1]).any():
            raise FormatError(path, "its sequences are not in order")
        return cls(report, source, rows, bounds, path)

    def check_source(self, tokens: TokenSource) -> None:
        """Check that the index was made for these token files.

        Args:
            tokens: the token files. Their format does not matter, only the lengths of documents.

        Raises:
            OptionError: it was made for others.

        Example:
            >>> import numpy as np, pathlib, tempfile, toksmith
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "train.bin")
            ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
            ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
            ...     toksmith.tokenfiles.pack([3, 2], length=8).check_source(tokens)
            ...     toksmith.tokenfiles.pack([3, 3], length=8).check_source(tokens)
            Traceback (most recent call last):
            toksmith.errors.OptionError: the index was made for 2 documents of 6 tokens, ...
        """
        if not isinstance(tokens, TokenSource):
            raise OptionError(f"tokens is {tokens!r:.80}: use what open_tokens() returned")
        if len(tokens) != self.report.documents or hash_lengths(tokens.lengths) != self.source:
            raise OptionError(
                f"the index was made for {self.report.documents:,} documents of "
                f"{self.report.tokens:,} tokens, and these are {len(tokens):,} of "
                f"{tokens.num_tokens:,}, or of other lengths: run toksmith pack again"
            )

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        report = self.report
        return f"<PackIndex {report.method}: {len(self):,} sequences of {report.length:,} tokens>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is not None:  # a worker maps the file instead of receiving a copy
            return PackIndex.load, (self._path,)
        return PackIndex, (self.report, self.source, self.rows, self.bounds)


def pack(
    tokens: TokenSource | Sequence[int] | OffsetArray,
    *,
    length: int,
    method: Method = "best-fit",
    seed: int | None = None,
) -> PackIndex:
    """Pack the documents of token files into sequences, as an index; no id is read or moved.

    Args:
        tokens: the documents, as :func:`toksmith.open_tokens` returns them, or their lengths.
            Documents without tokens are left out.
        length: the maximum number of tokens of a sequence.
        method: ``"best-fit"``: best-fit decreasing (Ding et al. 2024): only documents longer than
            ``length`` are cut. ``"concat"``: documents end to end, cut every ``length`` tokens.
            ``"truncate"``: the first ``length`` tokens of each document alone.
        seed: shuffle the documents before packing; ``None`` keeps their order.

    Returns:
        The index, in memory. :meth:`PackIndex.save` writes it.

    Raises:
        OptionError: an argument is out of range.

    Example:
        >>> index = pack([3, 9, 2], length=5, method="concat")
        >>> index.rows.tolist(), index.bounds.tolist()
        ([(0, 0, 3), (1, 0, 2), (1, 2, 5), (1, 7, 2), (2, 0, 2)], [0, 2, 3, 5])
    """
    length = whole("length", length, 1)
    if length > _MOST_LENGTH:
        raise OptionError(f"length is {length}: use {_MOST_LENGTH} or less")
    if not isinstance(method, str) or method not in METHODS:
        raise OptionError(f"method is {method!r:.80}: use {', '.join(map(repr, METHODS))}")
    if seed is not None:
        seed = whole("seed", seed, 0, ", or None")
    if isinstance(tokens, TokenSource):
        lengths = tokens.lengths
    else:
        if isinstance(tokens, str | PathLike):
            raise OptionError(f"tokens is {tokens!r:.80}, a path: use open_tokens({tokens!r:.80})")
        lengths = vector("tokens", tokens, np.int64)
        if float(lengths.sum(dtype=np.float64)) >= 1 << 62:
            raise OptionError("the lengths add up to 2^62 tokens or more")
        if lengths.min(initial=0) < 0:
            raise OptionError("tokens holds a negative length")
    order = _order(lengths, seed)
    sizes = lengths if order is None else lengths[order]
    total = int(sizes.sum())
    largest = max(len(lengths), int(lengths.max(initial=0)))
    # A cut every `length` tokens makes one more piece. What is not used takes no memory.
    rows = np.empty(
        len(sizes) + total // length + 1, _row_type("<u4" if largest < 1 << 32 else "<u8")
    )
    bounds = [np.zeros(1, np.uint64)]
    count = cut = packed = 0
    for pieces in METHODS[method](sizes, length):
        block = rows[count : count + len(pieces.lengths)]
        block["document"] = pieces.documents if order is None else order[pieces.documents]
        block["start"] = pieces.starts
        block["length"] = pieces.lengths
        bounds.append((np.flatnonzero(pieces.ends) + (count + 1)).astype(np.uint64))
        is_first = pieces.starts == 0
        cut += int((pieces.lengths < sizes[pieces.documents])[is_first].sum())
        packed += int(pieces.lengths.sum())
        count += len(block)
    if bounds[-1][-1:].tolist() != [count]:  # concat: the last sequence is not full
        bounds.append(np.array([count], np.uint64))
    report = PackReport(
        method=method,
        length=length,
        seed=seed,
        sequences=sum(map(len, bounds)) - 1,
        documents=len(lengths),
        empty_documents=len(lengths) - len(sizes),
        cut_documents=cut,
        tokens=total,
        packed_tokens=packed,
    )
    return PackIndex(report, hash_lengths(lengths), rows[:count], np.concatenate(bounds))


def _order(lengths: OffsetArray, seed: int | None) -> npt.NDArray[np.unsignedinteger[Any]] | None:
    """Return the documents to pack, in order; ``None`` for all of them as they are."""
    kind = np.uint32 if len(lengths) < 1 << 32 else np.uint64
    held = None if lengths.all() else np.flatnonzero(lengths).astype(kind)
    if seed is None:
        return held
    count = len(lengths) if held is None else len(held)
    shuffle = Permutation(count, seed)
    order = np.empty(count, kind)
    for start in range(0, count, _BLOCK):
        stop = min(start + _BLOCK, count)
        order[start:stop] = shuffle(np.arange(start, stop))
    return order if held is None else held[order]


def hash_lengths(lengths: OffsetArray) -> str:
    """Return the SHA-256 of the lengths of documents."""
    made = hashlib.sha256()
    for start in range(0, len(lengths), _BLOCK):
        made.update(lengths[start : start + _BLOCK].astype("<i8").tobytes())
    return made.hexdigest()


def _report_of(head: Mapping[str, Any]) -> PackReport:
    """Return the figures in the head of an index.

    Raises:
        KeyError: one is missing.
        ValueError: one is of a wrong type or value.
    """
    if head["method"] not in list(METHODS):
        raise ValueError(f"method is {head['method']!r:.40}")
    if head["seed"] is not None:
        whole("seed", head["seed"], 0)
    numbers = {
        each.name: whole(each.name, head[each.name], each.name == "length")
        for each in fields(PackReport)
        if each.name not in ("method", "seed")
    }
    return PackReport(method=head["method"], seed=head["seed"], **numbers)


def _row_type(integers: str) -> np.dtype[np.void]:
    if integers not in ("<u4", "<u8"):
        raise ValueError(f"integers is {integers!r:.40}")
    return np.dtype([(name, integers) for name in ("document", "start", "length")])


def _read_head(path: Path) -> tuple[dict[str, Any], int]:
    """Return the head of an index, and where its rows begin."""
    try:
        with open_regular(path) as file:
            start = file.read(16)
            if len(start) < 16 or not start.startswith(_MAGIC):
                raise FormatError(path, "is no pack index: use a file of toksmith pack")
            size = int.from_bytes(start[8:], "little")
            data = file.read(size) if size < 1 << 20 else b""
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    try:
        head = json.loads(data)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or len(data) != size or (size + 16) % _ALIGNED:
        raise FormatError(path, "its head is damaged")
    return head, size + 16
