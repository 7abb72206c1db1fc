"""llm.c's files, which modded-nanogpt reads too: a header of 1,024 bytes, then ids.

Source: ``dev/data/data_common.py``, ``dev/data/fineweb.py`` and ``llmc/dataloader.h`` of
https://github.com/karpathy/llm.c. The header is 256 int32 in little-endian order: the magic, the
version, the number of tokens, and zeros. Magic 20240520 with version 1 (GPT-2, up to 65,536 ids)
has ids in uint16; magic 20240801 with version 7 (Llama 3) has ids in uint32, which the C code and
modded-nanogpt do not read.

Files are ``train_000000.bin``, ``train_000001.bin`` and so on, each of 100 million tokens but the
last; trainers take a pattern such as ``FOLDER/train_*.bin``. A document is preceded by the
end-of-text id, and an empty one is this id alone. A document is cut where its file ends: the rest
is at the start of the next file. Bounds of documents are not stored: they are found again by the
end-of-text id.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

from toksmith._base.lazy import np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.maps import map_ids
from toksmith.tokenfiles.source import Tokens, TokenSource, write_array
from toksmith.tokenfiles.token_files import StreamPart, TokenFiles, head, one_type

_KINDS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
_HEAD = 1024  # bytes
_FIELDS = struct.Struct("<iii")
_NUMBER = re.compile(r"(.*?)_?(\d{1,18})\.bin", re.DOTALL)


class LLMC(Format):
    """Ids after a header, in files of equal size."""

    name = "llmc"
    eos = "before"
    empty = "frame"
    stores_bounds = False

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM_000000.bin`` and so on, each of ``shard_tokens`` tokens but the last."""
        most = 10**8 if settings.shard_tokens is None else settings.shard_tokens
        if not 0 < most < 1 << 31:
            raise OptionError(f"a file of {most:,} tokens: llmc files hold 1 to 2^31 - 1")
        total = tokens.num_tokens
        count = max(1, -(-total // most))
        names = [folder / f"{settings.stem}_{number:06d}.bin" for number in range(count)]
        blocks = tokens.blocks()
        ids = np.zeros(0, tokens.dtype)
        for number, name in enumerate(names):
            missing = min(most, total - number * most)
            with name.open("xb") as file:
                file.write(_header(tokens.dtype, missing))
                while missing:
                    while not len(ids):
                        ids = next(blocks).ids
                    write_array(file, ids[:missing])
                    written = min(missing, len(ids))
                    ids, missing = ids[written:], missing - written
        return names

    def find(self, path: Path) -> list[Path]:
        """Return the files that start with one of the magic numbers, by name and number."""
        found = list(path.glob("*.bin")) if path.is_dir() else [path]
        return sorted((file for file in found if file.is_file() and _magic(file)), key=_order)

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files; ``eos`` precedes each document."""
        files = self.find(path)
        names = {_order(file)[0] for file in files}
        for file in path.glob("*.bin") if path.is_dir() else ():
            if file not in files and _order(file)[0] in names:
                raise FormatError(file, "does not start with the magic number of llm.c's files")
        maps = [_read(file) for file in files]
        parts = []
        first = 0
        for last, file in enumerate(files, 1):
            name, number = _order(file)
            if last == len(files) or _order(files[last]) != (name, number + 1):
                parts.append(
                    StreamPart(files[first:last], maps[first:last], eos, place or self.eos)
                )
                first = last
        return TokenFiles(path, self.name, one_type(path, (ids.dtype for ids in maps)), parts)


def _header(dtype: np.dtype[Any], count: int) -> bytes:
    header = np.zeros(_HEAD // 4, "<i4")
    header[:3] = (*_KINDS[dtype.name], count)
    return header.tobytes()


def _order(path: Path) -> tuple[str, int]:
    """Return the name of a file without its number, and the number."""
    matched = _NUMBER.fullmatch(path.name)
    return (matched[1], int(matched[2])) if matched else (path.name, 0)


def _magic(path: Path) -> bool:
    magic = int.from_bytes(head(path, 4), "little")
    return any(magic == known for known, _ in _KINDS.values())


def _read(path: Path) -> Tokens:
    """Return a memory map of the ids of a file.

    Raises:
        FormatError: the file cannot be read, or is damaged.
    """
    header = head(path, _HEAD)
    if len(header) < _HEAD:
        raise FormatError(path, f"has {len(header):,} bytes, and its header alone has {_HEAD:,}")
    magic, version, count = _FIELDS.unpack_from(header)
    for name, known in _KINDS.items():
        if known == (magic, version):
            ids = map_ids(path, type_of(name), _HEAD)
            if len(ids) != count:
                raise FormatError(path, f"holds {len(ids):,} tokens, but its header says {count:,}")
            return ids
    raise FormatError(
        path,
        f"has magic {magic} and version {version}: "
        + " or ".join(f"{magic} and {version}" for magic, version in _KINDS.values())
        + " expected",
    )


FORMAT = LLMC()
