"""Writes the output of commands to standard output, or to a file that is replaced atomically."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from toksmith._base import commits, files
from toksmith._base.lazy import np
from toksmith.cli.common import Dtype, IdFormat
from toksmith.cli.messages import say
from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith._base.arrays import IdArray
    from toksmith.results import Batch

_IDS_AT_ONCE = 1 << 18
_ROOM = 1 << 16
"""The least free space of a disk in bytes; with less, a file is refused before long work."""


@contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO]:
    """Open standard output, or a file that appears only once it is complete.

    Raises:
        OptionError: the file cannot be written; the message names it.
    """
    if path is None:  # app.py reports its errors
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    _check_parent(path)
    with files.open_output(path) as file:
        yield file


def _check_parent(path: Path) -> None:
    if commits.is_stream(path):
        return
    path = commits.target_of(path)
    if not path.parent.is_dir():
        raise OptionError(f"{path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise OptionError(f"{path}: no permission to write to the folder {path.parent}")


def check_folder(path: Path, can_be_folder: bool = False) -> None:
    """Check before long work that a file can be written.

    The check writes an unnamed temporary file to the folder; the system removes it in any case.

    Args:
        path: the file.
        can_be_folder: whether the path may be an existing folder, for formats of several files.

    Raises:
        OptionError: the path is a folder or ``-``, or its folder is missing, full or not writable.
    """
    if path == Path("-"):
        raise OptionError("-: this output cannot go to standard output; give the path of a file")
    if path.is_dir():
        if not can_be_folder:
            raise OptionError(f"{path}: this is a folder: give the name of a file")
        folder = path
    elif commits.is_stream(path):
        if can_be_folder:
            commits.check_replaceable(path)
        return
    else:
        _check_parent(path)
        folder = commits.target_of(path).parent
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM))
            file.flush()
    except OSError as wrong:
        raise OptionError(f"{path}: cannot be written: {wrong.strerror or wrong}") from wrong


def check_outside(path: Path, files: Sequence[str]) -> None:
    """Check that an output is not in a folder of text that the same command reads.

    Args:
        path: the file or folder to write.
        files: the files, folders and globs of the corpus, as given.

    Raises:
        OptionError: it is such a folder, or in one.
    """
    place = path.resolve()
    for name in files:
        folder = Path(name)
        if folder.is_dir() and place.is_relative_to(folder.resolve()):
            raise OptionError(
                f"{path} is in {name}, a folder of the corpus: the next run would read the output "
                "as text; write it to another folder"
            )


def ends_path(path: Path) -> Path:
    """Return the path of the companion file of binary ids, with the end of each document.

    Example:
        >>> ends_path(Path("book.npy")).name, ends_path(Path("book.v2")).name
        ('book.ends.npy', 'book.v2.ends.npy')
    """
    is_known = path.suffix.lower() in (".npy", ".bin")
    return path.with_name(f"{path.stem if is_known else path.name}.ends.npy")


def write_ids(
    batch: Batch,
    path: Path | None,
    form: IdFormat,
    dtype: Dtype,
    *,
    nested: bool = False,
    quiet: bool = False,
) -> None:
    """Write the ids of documents; for a file of binary ids, also the companion file of ends.

    Args:
        batch: the documents.
        path: the file; ``None`` for standard output.
        form: lines (one id each, an empty line between documents), JSON, JSON Lines (a list per
            document) or binary.
        dtype: the type of binary ids.
        nested: whether JSON is a list of lists, one per document, or one list.
        quiet: whether to show no progress.

    Raises:
        OptionError: an id does not fit the dtype, binary ids would go to a terminal, or a file
            cannot be written.
    """
    if form.is_binary:
        _write_binary(batch, path, form, dtype)
        return
    from toksmith._base.progress import amount_progress

    if form is IdFormat.LINES:
        pieces = _lines(batch)
    else:
        pieces = _jsonl(batch) if form is IdFormat.JSONL else _json(batch, nested)
    enabled = False if quiet or path is None else None
    with open_output(path) as out, amount_progress("writing", len(batch.ids), enabled) as report:
        done = 0
        for ids, text in pieces:
            out.write(text.encode())
            done += ids
            report(done)


def _lines(batch: Batch) -> Iterator[tuple[int, str]]:
    for number, document in enumerate(batch):
        if number:
            yield 0, "\n"
        yield from _join(document, "\n")
        if len(document):
            yield 0, "\n"


def _json(batch: Batch, nested: bool) -> Iterator[tuple[int, str]]:
    yield 0, "["
    if nested:
        for number, document in enumerate(batch):
            yield 0, ",[" if number else "["
            yield from _join(document, ",")
            yield 0, "]"
    else:
        yield from _join(batch.ids, ",")
    yield 0, "]\n"


def _jsonl(batch: Batch) -> Iterator[tuple[int, str]]:
    for document in batch:
        yield 0, "["
        yield from _join(document, ",")
        yield 0, "]\n"


def _join(ids: IdArray, between: str) -> Iterator[tuple[int, str]]:
    """Yield blocks of ids in decimal, each with the number of its ids."""
    for start in range(0, len(ids), _IDS_AT_ONCE):
        some = ids[start : start + _IDS_AT_ONCE].tolist()
        yield len(some), (between if start else "") + between.join(map(str, some))


def _write_binary(batch: Batch, path: Path | None, form: IdFormat, dtype: Dtype) -> None:
    if path is None and sys.stdout.isatty():
        raise OptionError(
            "binary ids cannot be printed on a terminal: use --output PATH, or a pipe"
        )
    largest = int(batch.ids.max(initial=0))
    if largest > dtype.largest:
        raise OptionError(f"id {largest} does not fit {dtype.value}: use --dtype uint32")
    with ExitStack() as opened:
        out = opened.enter_context(open_output(path))
        if path is not None and not commits.is_stream(path):
            data = BytesIO()
            np.save(data, batch.offsets[1:])
            _warn_of_ends(path, data.getvalue())
            ends = opened.enter_context(open_output(ends_path(path)))
            ends.write(data.getvalue())
            ends.flush()
        if form is IdFormat.NPY:
            header = {"descr": dtype.code, "fortran_order": False, "shape": batch.ids.shape}
            np.lib.format.write_array_header_1_0(out, header)
        out.write(batch.ids.astype(dtype.code, copy=False).data)
        out.flush()  # so that a full disk is noticed before either file appears


def _warn_of_ends(path: Path, data: bytes) -> None:
    """Warn if the document ends beside a file were those of another file, and become others."""
    ends = ends_path(path)
    other = path.with_suffix(".bin" if path.suffix.lower() == ".npy" else ".npy")
    if ends_path(other) == ends and other.exists() and ends.is_file() and ends.read_bytes() != data:
        say(
            f"warning: {ends} holds the document ends of {path.name}, no longer those of "
            f"{other.name}: use names that differ before the suffix"
        )
