"""Reads the input of commands: texts as bytes, and ids."""

from __future__ import annotations

import errno
import json
import os
import sys
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toksmith._base.documents import exists, open_mapped
from toksmith._base.lazy import np
from toksmith.cli.common import Dtype, IdFormat
from toksmith.cli.messages import say
from toksmith.errors import FormatError, OptionError

if TYPE_CHECKING:
    from toksmith._base.arrays import Ids
    from toksmith.corpus.remote import FilePath

_LONGEST_ID = len(str(2**32))


def read_text(text: str | None, file: Path | None, quiet: bool, errors: str | None = None) -> bytes:
    """Return the text from an argument, a file, or standard input.

    If the argument is also the name of a file, a note is printed, because --file may be missing.

    Args:
        text: the argument.
        file: the file.
        quiet: whether to leave out notes.
        errors: what to do with a file or standard input that is not UTF-8 text, ``"strict"`` or
            ``"replace"``; ``None`` returns its bytes.

    Raises:
        OptionError: both an argument and a file are given.
        FormatError: the file cannot be read, or it or standard input is not UTF-8 text.
    """
    if text is not None and file is not None:
        raise OptionError("a text and --file are given: give only one of them")
    if text is not None:
        if not quiet and Path(text).suffix and exists(text):
            say(f"{text} is encoded as the text itself; use --file {text} to read the file")
        return os.fsencode(text)  # the exact bytes of the command line
    if file is None:
        return read_stdin(quiet, errors)
    if errors is None:
        with open_mapped(file) as raw:
            return bytes(raw)
    from toksmith.corpus.opening import open_documents
    from toksmith.corpus.options import Reading

    with open_documents(file, Reading(read_as="text", encoding_errors=errors)) as (data, _):
        return bytes(data)  # type: ignore[arg-type]  # files are no str


def read_stdin(quiet: bool, errors: str | None) -> bytes:
    """Read standard input, as a file is read; on a terminal, first say how to end it.

    Args:
        quiet: whether to leave out notes.
        errors: as for :func:`read_text`.

    Raises:
        FormatError: it cannot be read, or is not UTF-8 text.
    """
    if sys.stdin.isatty() and not quiet:
        print("toksmith: reading from the terminal; Ctrl-D ends the text", file=sys.stderr)
    try:
        data = sys.stdin.buffer.read()
    except OSError as wrong:
        is_closed = wrong.errno == errno.EBADF
        reason = "it is closed, or not open for reading" if is_closed else wrong.strerror or wrong
        raise FormatError("standard input", f"cannot be read: {reason}") from wrong
    if errors is None:
        return data
    from toksmith.corpus.opening import slice_text
    from toksmith.corpus.options import Reading

    checked, bounds = slice_text(Path("standard input"), data, Reading(encoding_errors=errors))
    ((start, end),) = bounds.tolist()
    return bytes(checked[start:end])  # type: ignore[arg-type]  # of bytes, no str


def files_or_text(inputs: list[str], files: list[Path]) -> tuple[list[FilePath], bytes | None]:
    """Return the files that a command's arguments name, or the text that they are.

    A single argument that is no file, and matches none as a pattern, is taken as the text itself,
    unless it looks like a path.

    Args:
        inputs: files, folders and patterns, or one text.
        files: more of them.

    Returns:
        The files, sorted by name within a folder; and the text, or ``None``.

    Raises:
        OptionError: a file does not exist, or a text and files are given.
        FormatError: a folder holds no files, or a pattern of ``files`` matches none.
    """
    from toksmith._base.documents import looks_like_path
    from toksmith.corpus import expand

    missing = [name for name in inputs if not is_files(name)]
    if not missing:
        names: list[str | Path] = [*inputs, *files]
        return [found for name in names for found in expand(name)], None
    is_text = len(inputs) == 1 and not looks_like_path(inputs[0])
    if is_text and files:
        raise OptionError(
            f"{inputs[0]:.200}: there is no such file; if this is a text, leave --file out: "
            "only one of them can be given"
        )
    if not is_text:
        text = " ".join(inputs)
        hint = f"; to give a text, quote it: {text!r:.80}" if len(inputs) > 1 else ""
        what = "the pattern matches no file" if has_magic(missing[0]) else "there is no such file"
        raise OptionError(f"{missing[0]:.200}: {what}{hint}")
    return [], os.fsencode(inputs[0])


def is_files(name: str) -> bool:
    """Return whether a word names a file or folder, or is a pattern that matches files."""
    from toksmith.corpus import match_files
    from toksmith.corpus.remote import is_url

    return is_url(name) or exists(name) or bool(match_files(name))


def parse_id_words(words: list[str]) -> Ids:
    """Parse ids from the words of a command line: separated by spaces or commas, or JSON.

    Raises:
        OptionError: a word is no id.

    Example:
        >>> parse_id_words(["31373,", "995"]), parse_id_words(["[31373,995]"])
        ([31373, 995], [31373, 995])
    """
    text = " ".join(words)
    if text.lstrip().startswith("["):
        return _json_ids(os.fsencode(text))
    for word in text.replace(",", " ").split():
        if not _is_id(os.fsencode(word)):
            raise OptionError(
                f"{word[:40]!r} is not an id: use whole numbers, as in decode 31373 995; "
                "toksmith encode turns text into ids"
            )
    return [int(word) for word in text.replace(",", " ").split()]


def parse_ids(data: bytes, form: IdFormat, dtype: Dtype) -> Ids:
    """Parse ids from the bytes of a file or of standard input.

    Raises:
        OptionError: the bytes have another format; the message says where.
    """
    if form is IdFormat.BINARY:
        if len(data) % np.dtype(dtype.code).itemsize:
            raise OptionError(
                f"{len(data)} bytes are not a multiple of the size of {dtype.value}: see --dtype"
            )
        return np.frombuffer(data, dtype.code)
    if form is IdFormat.NPY:
        return _npy_ids(data)
    if form is IdFormat.JSONL:
        return _jsonl_ids(data)
    if form is IdFormat.JSON or data.lstrip().startswith(b"["):
        return _json_ids(data)
    words = data.replace(b",", b" ").split()
    for word in words:
        if not _is_id(word):
            line = data[: data.index(word)].count(b"\n") + 1
            raise OptionError(
                f"line {line}: {word[:40].decode(errors='replace')!r} is not an id; for other "
                "formats than one id per line, use --format"
            )
    return [int(word) for word in words]


def _is_id(word: bytes) -> bool:
    return word.isdigit() and len(word) <= _LONGEST_ID


def _npy_ids(data: bytes) -> Ids:
    import io

    try:
        ids = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError) as wrong:
        raise OptionError(f"the ids are no NumPy file (.npy): {wrong}") from wrong
    if not isinstance(ids, np.ndarray) or ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise OptionError("the NumPy file must hold a one-dimensional array of integers")
    return ids


def _jsonl_ids(data: bytes) -> list[int]:
    flat: list[int] = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            flat += _json_ids(line, f"line {number:,}: ")
    return flat


def _json_ids(data: bytes, place: str = "") -> list[int]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as wrong:
        raise OptionError(f"{place}the ids are not JSON: {wrong}") from wrong
    flat: list[int] = []
    documents: list[Any] = value if isinstance(value, list) else [None]
    for document in documents:
        flat += document if isinstance(document, list) else [document]
    if not all(type(token_id) is int for token_id in flat):
        raise OptionError(f"{place}the JSON must be a list of integers, or a list of such lists")
    return flat
