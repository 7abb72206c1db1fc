"""datatrove's files: ``.ds`` with the ids, ``.ds.index`` with the bounds, ``.ds.metadata``.

Source: ``pipeline/tokens/tokenizer.py``, ``merger.py`` and ``utils/dataset.py`` of
https://github.com/huggingface/datatrove. ``.ds`` holds ids and nothing else, in uint16 if the
tokenizer has 65,536 ids at most, else in uint32. ``.ds.index`` holds the end of each document in
tokens, uint64. ``.ds.metadata`` has three lines of text: the tokenizer and the bytes of an id
(``gpt2|2``), the number of tokens, and the same in words (``123 MT``).

Names are those of datatrove's merger: ``000_train.ds``, ``001_train.ds`` and so on. A file ends
with the document with which it reaches 100 billion tokens. ``train.ds.metadata`` has the number of
tokens of all. By default no end-of-text id is added, as in datatrove; with one, each document
is followed by it, and an empty document is this id alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.maps import check_map, map_ids
from toksmith.tokenfiles.source import DocumentRange, Tokens, TokenSource, ranges, write_array
from toksmith.tokenfiles.token_files import (
    STEP,
    IndexedPart,
    StreamPart,
    TokenFiles,
    check_size,
    head,
    one_type,
)


class Datatrove(Format):
    """Ids, the ends of documents, and a line on the tokenizer."""

    name = "datatrove"
    empty = "frame"

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``000_STEM.ds`` and so on, and ``STEM.ds.metadata``."""
        written = []
        size = 100 * 10**9 if settings.shard_tokens is None else settings.shard_tokens
        lengths = tokens.lengths
        for number, (first, last) in enumerate(ranges(lengths, size, reach=True)):
            part = DocumentRange(tokens, first, last, lengths=lengths)
            data = folder / f"{number:03d}_{settings.stem}.ds"
            index = _beside(data, ".index")
            part.save_ids(data)
            _write_index(index, part.lengths)
            written += [data, index, _write_metadata(data, part, settings)]
        return [*written, _write_metadata(folder / f"{settings.stem}.ds", tokens, settings)]

    def find(self, path: Path) -> list[Path]:
        """Return the ``.ds`` files that have an index or metadata."""
        found = sorted(path.glob("*.ds")) if path.is_dir() else [path]
        return [
            file
            for file in found
            if file.suffix == ".ds"
            and file.is_file()
            and (_beside(file, ".index").is_file() or _beside(file, ".metadata").is_file())
        ]

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files; without an index, documents end with ``eos``."""
        parts: list[_IndexedFile | StreamPart] = []
        kinds = set()
        metadata: dict[str, object] = {}
        for file in self.find(path):
            index = _beside(file, ".index")
            ends = map_ids(index, np.dtype("<u8")) if index.is_file() else None
            kind, tokenizer = _read_metadata(file, ends, dtype)
            ids = map_ids(file, kind)
            if ends is None:
                parts.append(StreamPart([file], [ids], eos, place))
            else:
                parts.append(_IndexedFile(file, ids, ends))
            kinds.add(kind)
            if tokenizer:
                metadata["tokenizer"] = tokenizer
        return TokenFiles(path, self.name, one_type(path, kinds), parts, metadata)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _write_index(path: Path, lengths: OffsetArray) -> None:
    end = 0
    with path.open("xb") as file:
        for start in range(0, len(lengths), STEP):
            ends = np.cumsum(lengths[start : start + STEP]) + end
            write_array(file, ends.astype("<u8"))
            end = int(ends[-1])


def _write_metadata(data: Path, tokens: TokenSource, settings: Settings) -> Path:
    name = " ".join(settings.tokenizer_name.replace("|", "_").split())
    count = tokens.num_tokens
    path = _beside(data, ".metadata")
    text = f"{name}|{tokens.dtype.itemsize}\n{count}\n{in_words(count)}"
    path.write_bytes(text.encode())
    return path


def in_words(count: int) -> str:
    """Return a number of tokens with three digits and an SI prefix.

    Source: ``metric`` of https://github.com/python-humanize/humanize.

    Example:
        >>> [in_words(count) for count in (0, 12, 999, 1234, 999_999, 123_456_789)]
        ['0.00 T', '12.0 T', '999 T', '1.23 kT', '1.00 MT', '123 MT']
    """
    power = len(str(count)) - 1
    value = count / 10 ** (power // 3 * 3)
    digits = 2 - power % 3
    if round(value, digits) >= 10 ** (power % 3 + 1):
        power += 1
        value = count / 10 ** (power // 3 * 3)
        digits = 2 - power % 3
    return f"{value:.{digits}f} {('', 'k', 'M', 'G', 'T', 'P', 'E')[power // 3]}T"


class _IndexedFile(IndexedPart):
    """A ``.ds`` file with its index.

    Args:
        path: the ``.ds`` file.
        ids: a memory map of its ids.
        ends: a memory map of its index: the end of each document.

    Raises:
        FormatError: the index is damaged, or belongs to another file.
    """

    def __init__(self, path: Path, ids: Tokens, ends: Tokens) -> None:
        super().__init__(path, ids, len(ends))
        self._ends = ends
        for start in range(0, len(ends), STEP):
            part = ends[start : start + STEP + 1]
            if (part[1:] < part[:-1]).any():
                raise FormatError(_beside(path, ".index"), "its documents are not in order")
        check_size(path, len(ids), int(ends[-1]) if len(ends) else 0)

    def check(self) -> None:
        """Check that neither file became shorter."""
        super().check()
        check_map(self._ends)

    def bounds(self, first: int, last: int) -> OffsetArray:
        """Return the bounds of documents ``first`` to ``last - 1``."""
        if first:
            return self._ends[first - 1 : last].astype(np.int64)
        return np.concatenate([np.zeros(1, np.int64), self._ends[:last].astype(np.int64)])


def _read_metadata(path: Path, ends: Tokens | None, dtype: str | None) -> tuple[np.dtype[Any], str]:
    """Return the type of the ids of a file and the name of the tokenizer.

    Raises:
        FormatError: the metadata cannot be read, or does not fit the file.
    """
    metadata = _beside(path, ".metadata")
    tokens = int(ends[-1]) if ends is not None and len(ends) else 0
    size = path.stat().st_size
    if not metadata.is_file():
        return type_of(dtype, "uint32" if tokens and size == 4 * tokens else "uint16"), ""
    lines = head(metadata, 1 << 16).decode("utf-8", "replace").split("\n")
    name, _, width = lines[0].rpartition("|")
    if width not in ("2", "4"):
        raise FormatError(metadata, f"says that an id has {width[:20]!r} bytes: 2 or 4 expected")
    if len(lines) < 2 or lines[1] != str(size // int(width)):
        raise FormatError(
            metadata, f"does not say {size // int(width):,} tokens, which {path.name} holds"
        )
    if name == f"Unknown Tokenizer|{width}":  # written by datatrove for an unnamed tokenizer
        name = ""
    return type_of(dtype, "uint32" if width == "4" else "uint16"), name


FORMAT = Datatrove()
