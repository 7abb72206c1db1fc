"""The kind of a file, by its name and its first bytes; if they differ, the bytes decide."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toksmith.errors import FormatError

_COMPRESSIONS = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_CONTENTS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
}
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PAR1": "parquet",
}
_UNREADABLE = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
}


@dataclass(frozen=True)
class Kind:
    """The kind of a file: its content and its compression.

    Attributes:
        content: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``.
        compression: ``"gzip"``, ``"zstd"`` or ``None``.
    """

    content: str
    compression: str | None = None


def kind_of(path: Path, head: bytes | None, read_as: str | None = None) -> Kind:
    """Return the kind of a file.

    Args:
        path: its name counts.
        head: its first bytes; ``None`` if they are unknown, as of a pipe.
        read_as: the content to assume, whatever its name says.

    Raises:
        FormatError: its name contradicts its first bytes, or the format is not supported.

    Example:
        >>> kind_of(Path("web.jsonl.gz"), bytes([31, 139, 8, 0]))
        Kind(content='jsonl', compression='gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    named = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    inner = (suffixes[:-1] if named else suffixes)[-1:]
    content = read_as or _CONTENTS.get("".join(inner), "text")
    if head is None:
        return Kind(content, named)
    found = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    for magic, name in _UNREADABLE.items():
        if head.startswith(magic) and read_as is None:
            raise FormatError(path, f"holds {name} data: unpack it, or use gzip or zstd")
    if found == "parquet" and not named and read_as in (None, "parquet"):
        if content not in ("text", "parquet"):
            raise FormatError(path, "is Parquet, whatever its name says; name it .parquet")
        return Kind("parquet")
    if content == "parquet":
        raise FormatError(path, "is no Parquet file: it does not start with PAR1")
    if found != named and named:
        raise FormatError(path, f"is no {named} file, whatever its name says")
    return Kind(content, found)
