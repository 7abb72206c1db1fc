"""llm.c's files, which modded-nanogpt reads too: a header of 1,024 bytes, then ids.

Source: ``dev/data/data_common.py`` and ``dev/data/fineweb.py`` of
https://github.com/karpathy/llm.c. The header is 256 int32 in little-endian order: the magic, the
version, the number of tokens, and zeros. Magic 20240520 with version 1 (GPT-2) has ids in uint16;
magic 20240801 with version 7 (Llama 3) has ids in uint32.

Files are ``train_000000.bin``, ``train_000001.bin`` and so on, each of 100 million tokens but the
last. A document is preceded by the end-of-text id, an empty one too, and it is cut where its file
ends: the rest is at the start of the next file. Bounds of documents are not stored.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from toksmith._base.lazy import np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Format, Settings
from toksmith.tokenfiles.source import Tokens, TokenSource
from toksmith.tokenfiles.token_files import StreamPart, TokenFiles, map_ids

_KINDS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
_HEAD = 1024  # bytes
_NUMBER = re.compile(r"(.*?)_?(\d+)\.bin")


class LLMC(Format):
    """Ids after a header, in files of equal size."""

    name = "llmc"
    eos = "before"
    empty = "frame"

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM_000000.bin`` and so on; nothing if there are no tokens."""
        most = settings.shard_tokens or 10**8
        if not 0 < most < 1 << 31:
            raise OptionError(f"a file of {most:,} tokens: llmc files hold 1 to 2^31 - 1")
        total = tokens.num_tokens
        names = [folder / f"{settings.stem}_{n:06d}.bin" for n in range(-(-total // most))]
        blocks = tokens.blocks()
        ids = np.zeros(0, tokens.dtype)
        for number, name in enumerate(names):
            missing = min(most, total - number * most)
            with name.open("xb") as file:
                file.write(_header(tokens.dtype, missing))
                while missing:
                    while not len(ids):
                        ids = next(blocks).ids
                    np.ascontiguousarray(ids[:missing]).tofile(file)
                    written = min(missing, len(ids))
                    ids, missing = ids[written:], missing - written
        return names

    def find(self, path: Path) -> list[Path]:
        """Return the files that start with one of the magic numbers, by name and number."""
        found = list(path.glob("*.bin")) if path.is_dir() else [path] if path.is_file() else []
        return sorted((file for file in found if _magic(file)), key=_order)

    def open(self, path: Path, *, eos: int | None, dtype: str | None) -> TokenFiles:
        """Open the files; ``eos`` precedes each document."""
        series: dict[str, list[Path]] = {}
        for file in self.find(path):
            series.setdefault(_order(file)[0], []).append(file)
        parts: list[StreamPart] = []
        kinds: set[np.dtype[Any]] = set()
        for files in series.values():
            maps = [_read(file) for file in files]
            kinds.update(each.dtype for each in maps)
            parts.append(StreamPart(files, maps, eos, self.eos))
        if len(kinds) > 1:
            raise FormatError(path, "holds files of both kinds, uint16 and uint32: open one kind")
        return TokenFiles(path, self.name, kinds.pop() if kinds else np.dtype("<u2"), parts)


def _header(dtype: np.dtype[Any], count: int) -> bytes:
    header = np.zeros(_HEAD // 4, "<i4")
    header[:3] = (*_KINDS[dtype.name], count)
    return header.tobytes()


def _order(path: Path) -> tuple[str, int]:
    """Return the name of a file without its number, and the number."""
    matched = _NUMBER.fullmatch(path.name)
    return (matched[1], int(matched[2])) if matched else (path.stem, 0)


def _magic(path: Path) -> int:
    """Return the magic number of a file, 0 if it has none."""
    try:
        with path.open("rb") as file:
            magic = int.from_bytes(file.read(4), "little")
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    return magic if any(magic == known for known, _ in _KINDS.values()) else 0


def _read(path: Path) -> Tokens:
    """Return a memory map of the ids of a file."""
    with path.open("rb") as file:
        header = np.frombuffer(file.read(_HEAD), np.uint8)
    if len(header) < _HEAD:
        raise FormatError(path, f"has {len(header):,} bytes: its header has {_HEAD:,}")
    magic, version, count = (int(value) for value in header.view("<i4")[:3])
    for name, known in _KINDS.items():
        if known == (magic, version):
            ids = map_ids(path, np.dtype(name).newbyteorder("<"), _HEAD)
            if len(ids) != count:
                raise FormatError(path, f"holds {len(ids):,} tokens, but its header says {count:,}")
            return ids
    raise FormatError(path, f"has version {version}, which magic {magic} does not go with")


FORMAT = LLMC()
