"""datatrove's files: ``.ds`` with the ids, ``.ds.index`` with the bounds, ``.ds.metadata``.

Source: ``pipeline/tokens/tokenizer.py``, ``merger.py`` and ``utils/dataset.py`` of
https://github.com/huggingface/datatrove. ``.ds`` holds bare ids, uint16 up to 65,536 ids and uint32
above; ``.ds.index`` the end of each document in tokens, uint64; ``.ds.metadata`` three lines of
text: the tokenizer and the bytes of an id, the number of tokens, and that number for people.

Names are those of datatrove's merger: ``000_train.ds``, ``001_train.ds`` and so on, each of 100
billion tokens, and ``train.ds.metadata`` with the number of tokens of all. No end-of-text id is
added by default. An empty document is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import Format, Settings
from toksmith.tokenfiles.source import DocumentRange, TokenSource, ranges
from toksmith.tokenfiles.token_files import RawPart, TokenFiles, map_ids

_STEP = 1 << 20  # ends written at once


class Datatrove(Format):
    """Ids, the ends of documents, and a line on the tokenizer."""

    name = "datatrove"
    eos = None
    empty = "frame"

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``000_STEM.ds`` and so on, and ``STEM.ds.metadata``."""
        written = []
        size = settings.shard_tokens or 100 * 10**9
        for number, (first, last) in enumerate(ranges(tokens.lengths, size, reach=True)):
            part = DocumentRange(tokens, first, last)
            data = folder / f"{number:03d}_{settings.stem}.ds"
            index = _beside(data, ".index")
            part.save_ids(data)
            _write_index(index, part.lengths)
            written += [data, index, _write_metadata(data, part, settings)]
        return [*written, _write_metadata(folder / f"{settings.stem}.ds", tokens, settings)]

    def find(self, path: Path) -> list[Path]:
        """Return the ``.ds`` files that have an ``.index``."""
        found = sorted(path.glob("*.ds")) if path.is_dir() else [path]
        return [
            file
            for file in found
            if file.suffix == ".ds" and file.is_file() and _beside(file, ".index").is_file()
        ]

    def open(self, path: Path, *, eos: int | None, dtype: str | None) -> TokenFiles:
        """Open the files; the bounds of documents and the type of ids are stored."""
        parts, kinds = [], {}
        metadata: dict[str, object] = {}
        for file in self.find(path):
            lengths = _read_index(_beside(file, ".index"))
            kind, tokenizer = _read_metadata(file, int(lengths.sum()), dtype)
            if tokenizer:
                metadata["tokenizer"] = tokenizer
            parts.append(RawPart(file, kind, lengths))
            kinds[kind] = file
        if len(kinds) > 1:
            raise FormatError(path, "holds ids of 2 and of 4 bytes: open one kind of files")
        return TokenFiles(path, self.name, next(iter(kinds), np.dtype("<u2")), parts, metadata)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _write_index(path: Path, lengths: OffsetArray) -> None:
    end = 0
    with path.open("xb") as file:
        for start in range(0, len(lengths), _STEP):
            ends = np.cumsum(lengths[start : start + _STEP]) + end
            ends.astype("<u8").tofile(file)
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


def _read_index(path: Path) -> OffsetArray:
    """Return the tokens of each document."""
    ends: OffsetArray = map_ids(path, np.dtype("<u8")).astype(np.int64)
    lengths: OffsetArray = ends.copy()
    lengths[1:] -= ends[:-1]
    if (lengths < 0).any():
        raise FormatError(path, "its ends of documents are not in order")
    return lengths


def _read_metadata(path: Path, count: int, dtype: str | None) -> tuple[np.dtype[Any], str]:
    """Return the type of the ids and the name of the tokenizer."""
    name, size = "", path.stat().st_size // count if count else 2
    metadata = _beside(path, ".metadata")
    if metadata.is_file():
        first = metadata.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        name, _, stored = first.rpartition("|")
        if stored not in ("2", "4"):
            raise FormatError(metadata, f"says that an id has {stored:.20} bytes: 2 or 4 expected")
        size = int(stored)
    kind = np.dtype(dtype) if dtype else np.dtype("u4" if size == 4 else "u2")
    return kind.newbyteorder("<"), name


FORMAT = Datatrove()
