"""What commands write: bytes to standard output, or a file that is whole or not there."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from toksmith.cli.common import Dtype, IdFormat
from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith.types import Batch, IdArray

_IDS_AT_ONCE = 1 << 18


@contextmanager
def output(path: Path | None) -> Iterator[BinaryIO]:
    """Open standard output, or a file that appears only when all of it is written.

    Raises:
        OSError: the file cannot be written.
    """
    if path is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if path.exists() and not path.is_file():  # /dev/null, a pipe
        with path.open("wb") as file:
            yield file
        return
    check_folder(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_folder(path: Path) -> None:
    """Say early that a file cannot be written, before the work is done.

    Raises:
        OptionError: there is no such folder, or it may not be written to.
    """
    if not path.parent.is_dir():
        raise OptionError(f"{path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise OptionError(f"{path}: the folder {path.parent} may not be written to")


def write_ids(batch: Batch, form: IdFormat, dtype: Dtype, nested: bool, out: BinaryIO) -> None:
    """Write the ids of documents.

    Args:
        batch: the documents.
        form: lines (one id each, an empty line between documents), JSON or binary.
        dtype: of binary ids.
        nested: whether JSON is a list of lists, one a document, or one list.
        out: where to.

    Raises:
        OptionError: an id does not fit the dtype, or binary ids would go to a terminal.
    """
    if form is IdFormat.BINARY:
        _write_binary(batch.ids, dtype, out)
    elif form is IdFormat.JSON:
        ids = batch.to_lists() if nested else batch.ids.tolist()
        out.write(json.dumps(ids, separators=(",", ":")).encode() + b"\n")
    else:
        for number, document in enumerate(batch):
            out.write(b"\n" if number else b"")
            for start in range(0, len(document), _IDS_AT_ONCE):
                some = document[start : start + _IDS_AT_ONCE].tolist()
                out.write(("\n".join(map(str, some)) + "\n").encode())


def _write_binary(ids: IdArray, dtype: Dtype, out: BinaryIO) -> None:
    if out.isatty():
        raise OptionError("binary ids are not for a terminal: --output PATH, or a pipe")
    largest = int(ids.max(initial=0))
    if largest > dtype.largest:
        raise OptionError(f"id {largest} does not fit {dtype.value}: --dtype uint32 is wanted")
    out.write(ids.astype(dtype.code, copy=False).data)
