"""WebDataset as open_lm and DCLM write it: a folder of ``.tar``, and its ``manifest.jsonl``.

Source: ``open_lm/datapreprocess/ray/tokenize_shuffle.py`` and ``utils/make_wds_manifest.py`` of
https://github.com/mlfoundations/open_lm. The files of a split are in a folder of its name, from
``train/00000001.tar``. A member ``KEY.json.gz`` of a tar is one document, a JSON list of its ids;
KEY is the MD5 of the list. A line of the manifest is
``{"shard": "00000001", "num_sequences": 8192}``. A tar has 8,192 documents, or ``shard_tokens``
tokens, at most. open_lm expects sequences of one length, its sequence length plus 1.

A document ends with the end-of-text id; an empty document is that id alone. Times in the files are
0. To know the lengths of the documents, all of them are decompressed once.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import hashlib, json, np
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.formats.folders import folders_with, require
from toksmith.tokenfiles.maps import check_map, map_ids
from toksmith.tokenfiles.regular import open_regular
from toksmith.tokenfiles.source import DocumentRange, Sizes, Tokens, TokenSource, ranges
from toksmith.tokenfiles.token_files import TokenFiles

_DOCUMENTS = 8192
_BLOCK = 1 << 20
_LARGEST = 1 << 28
"""The number of bytes of a document's JSON at most: some 40 million ids."""

_MANIFEST = "manifest.jsonl"
_UNIT = tarfile.BLOCKSIZE
_END = 2 * _UNIT
"""The number of zero bytes at the end of a tar."""
_GZIP = 16 + zlib.MAX_WBITS
_ENDINGS = (".json.gz", ".json")


class WebDataset(Format):
    """Folders of tar files with a manifest."""

    name = "webdataset"
    eos = "after"
    empty = "frame"
    types = (("uint16", 1 << 16), ("uint32", 1 << 32))

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM/00000001.tar`` and so on, and ``STEM/manifest.jsonl``."""
        folder = folder / settings.stem
        folder.mkdir()
        lengths = tokens.lengths
        if settings.shard_tokens is None:
            bounds = ranges(Sizes(lengths, np.ones_like), _DOCUMENTS + 1, reach=False)
        else:
            bounds = ranges(lengths, settings.shard_tokens + 1, reach=False)
        files, lines = [], []
        for number, (first, last) in enumerate(bounds, 1):
            path = folder / f"{number:08d}.tar"
            with path.open("xb") as file:
                _write_tar(file, DocumentRange(tokens, first, last, lengths=lengths))
            files.append(path)
            lines.append(json.dumps({"shard": path.stem, "num_sequences": last - first}) + "\n")
        manifest = folder / _MANIFEST
        manifest.write_text("".join(lines))
        return [manifest, *files]

    def find(self, path: Path) -> list[Path]:
        """Return the ``.tar`` files of a folder or of the folders in it that hold lists of ids."""
        found = [path] if path.suffix == ".tar" and path.is_file() else []
        for folder in folders_with(path, "*.tar"):
            found += sorted(folder.glob("*.tar"))
        return [file for file in found if _is_ours(file)]

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files; a document is a member, its ids of type uint32 unless told."""
        kind = type_of(dtype, "uint32")
        files = [path] if path.suffix == ".tar" else self.find(path)
        require(files, path, "*.tar with members *.json.gz")
        return TokenFiles(path, self.name, kind, [_Tar(file, kind) for file in files])


def _is_ours(path: Path) -> bool:
    """Return whether the first file in a tar is a list in JSON.

    A tar without files needs a manifest beside it.
    """
    try:
        with open_regular(path) as file:
            head = file.read(_UNIT)
            if not any(head):
                return path.with_name(_MANIFEST).is_file()
            name = tarfile.TarInfo.frombuf(head, "utf-8", "replace").name
            start = file.read(1024)
    except (OSError, tarfile.TarError):
        return False
    if not name.endswith(_ENDINGS):
        return False
    if name.endswith(".gz"):
        try:
            start = zlib.decompressobj(_GZIP).decompress(start, 64)
        except zlib.error:  # reading it says what is wrong
            return True
    return start.lstrip().startswith(b"[")


def _write_tar(file: IO[bytes], tokens: TokenSource) -> None:
    keys: dict[str, int] = {}
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for block in tokens.blocks(_BLOCK):
            for ids in np.split(block.ids, np.cumsum(block.lengths)[:-1]):
                text = str(ids.tolist()).encode()  # as json.dumps, but faster
                key = hashlib.md5(text, usedforsecurity=False).hexdigest()
                seen = keys.get(key, 0)
                keys[key] = seen + 1
                # Readers refuse a name that occurs twice in a row.
                name = f"{key}-{seen}" if seen else key
                data = _gzip(text)
                member = tarfile.TarInfo(f"{name}.json.gz")
                member.size, member.mode = len(data), 0o444
                member.uname = member.gname = "bigdata"
                tar.addfile(member, io.BytesIO(data))


def _gzip(data: bytes) -> bytes:
    """Compress like ``gzip.compress(data, mtime=0)``, with the same bytes in every Python."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(data) + deflate.flush()
    tail = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + body + tail


class _Member(NamedTuple):
    """A document in a tar: the name of its file, its place and size in bytes."""

    name: str
    start: int
    size: int


class _Tar:
    """One ``.tar``."""

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self.path = path
        self._dtype = dtype
        self._data = map_ids(path, np.dtype("uint8"))
        size = len(self._data)
        if size < _END or size % _UNIT or self._data[-_END:].any():
            raise FormatError(path, "does not end as a tar does: it is cut short, or no tar")
        self._members = _members(path, self._data)
        self._lengths: OffsetArray | None = None

    def __len__(self) -> int:
        return len(self._members)

    @property
    def lengths(self) -> OffsetArray:
        if self._lengths is None:
            self._lengths = np.array([self._count(each) for each in self._members], np.int64)
        return self._lengths

    def ids(self, first: int, last: int) -> Tokens:
        found = [self._list(member) for member in self._members[first:last]]
        return np.concatenate(found) if found else np.zeros(0, self._dtype)

    def _count(self, member: _Member) -> int:
        """Return the number of ids of a document, if it is a list of ids."""
        text = self._text(member)
        return text.count(b",") + 1 if text.strip(b"[] \t\r\n") else 0

    def _list(self, member: _Member) -> Tokens:
        try:
            found = json.loads(self._text(member))
            ids = np.array(found)
        except (ValueError, RecursionError) as wrong:
            raise self._error(member, f"is damaged: {wrong}") from wrong
        if found == []:
            return np.zeros(0, self._dtype)
        if not isinstance(found, list) or ids.ndim != 1 or ids.dtype.kind not in "iuO":
            raise self._error(member, "is no list of ids")
        most = np.iinfo(self._dtype)
        if not most.min <= min(found) <= max(found) <= most.max:
            raise self._error(member, f"has ids outside of {self._dtype.name}")
        return ids.astype(self._dtype)

    def _text(self, member: _Member) -> bytes:
        name, start, size = member
        check_map(self._data)
        data = self._data[start : start + size].tobytes()
        if not name.endswith(".gz"):
            return data
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                found = file.read(_LARGEST + 1)
        except (OSError, EOFError, zlib.error) as wrong:
            raise self._error(member, f"is damaged: {wrong}") from wrong
        if len(found) > _LARGEST:
            raise self._error(member, f"unpacks to more than {_LARGEST >> 20} MiB")
        return found

    def _error(self, member: _Member, reason: str) -> FormatError:
        return FormatError(self.path, f"member {member.name} {reason}")


def _members(path: Path, data: Tokens) -> list[_Member]:
    """Return the documents of a tar.

    Args:
        path: the tar.
        data: its bytes.
    """
    found = []
    others = end = 0
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                end = member.offset_data + -(-member.size // _UNIT) * _UNIT
                if end > len(data):
                    raise FormatError(path, f"ends within {member.name}: it is cut short")
                if member.isfile() and member.name.endswith(_ENDINGS):
                    found.append(_Member(member.name, member.offset_data, member.size))
                else:
                    others += 1
    except FormatError:
        raise
    except (OSError, tarfile.TarError, ValueError) as wrong:
        raise FormatError(path, f"is a damaged tar: {wrong}") from wrong
    if data[end:].any():  # tarfile takes a damaged head for the end of the tar
        raise FormatError(path, f"is damaged at byte {end:,}: the head of a member expected")
    if others and not found:
        raise FormatError(path, "has no members *.json.gz with lists of ids")
    return found


FORMAT = WebDataset()
