"""What commands read: texts as bytes, and ids."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toksmith.cli.common import Dtype, IdFormat
from toksmith.errors import OptionError

if TYPE_CHECKING:
    from toksmith.types import Ids

_LONGEST_ID = len(str(2**32))


def read_text(text: str | None, file: Path | None, quiet: bool) -> bytes:
    """Return the text that was given as an argument, in a file, or on standard input.

    Raises:
        OptionError: both an argument and a file are given.
        OSError: the file cannot be read.
    """
    if text is not None and file is not None:
        raise OptionError("a text and --file are given: one of them is wanted")
    if text is not None:
        return os.fsencode(text)  # exactly the bytes of the command line
    return file.read_bytes() if file is not None else read_stdin(quiet)


def read_stdin(quiet: bool) -> bytes:
    """Return what standard input holds, with a word to those who sit before it."""
    if sys.stdin.isatty() and not quiet:
        print("toksmith: reading from the terminal; Ctrl-D ends the text", file=sys.stderr)
    return sys.stdin.buffer.read()


def files_or_text(inputs: list[str], files: list[Path]) -> tuple[list[Path], bytes | None]:
    """Return what a command's arguments stand for: files, or one text.

    A single argument that is no file is taken as the text itself, unless it looks like a path.

    Args:
        inputs: names of files and folders, or one text.
        files: more files.

    Returns:
        The files, those of a folder by name; and the text, where there is one.

    Raises:
        OptionError: there is no such file.
        FormatError: a folder holds no files.
    """
    from toksmith.documents import exists, looks_like_path

    missing = [name for name in inputs if not exists(name)]
    if not missing:
        return [found for name in inputs for found in _below(Path(name))] + files, None
    is_text = len(inputs) == 1 and not files and not looks_like_path(inputs[0])
    if not is_text:
        raise OptionError(f"{missing[0]}: there is no such file")
    return [], os.fsencode(inputs[0])


def _below(path: Path) -> list[Path]:
    from toksmith.corpus import expand

    return expand(path) if path.is_dir() else [path]


def parse_ids(data: bytes, form: IdFormat, dtype: Dtype) -> Ids:
    """Return the ids that the bytes of a file or of standard input hold.

    Raises:
        OptionError: they are not of this format; the message says where.
    """
    if form is IdFormat.BINARY:
        import numpy as np

        if len(data) % np.dtype(dtype.code).itemsize:
            raise OptionError(f"{len(data)} bytes are no whole number of {dtype.value} ids")
        return np.frombuffer(data, dtype.code)
    if form is IdFormat.JSON:
        return _json_ids(data)
    words = data.split()
    for word in words:
        if not word.isdigit() or len(word) > _LONGEST_ID:
            line = data[: data.index(word)].count(b"\n") + 1
            raise OptionError(f"line {line}: {word[:40]!r} is not an id; --format may be wanted")
    return [int(word) for word in words]


def _json_ids(data: bytes) -> list[int]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as wrong:
        raise OptionError(f"the ids are not JSON: {wrong}") from wrong
    flat: list[int] = []
    documents: list[Any] = value if isinstance(value, list) else [None]
    for document in documents:
        flat += document if isinstance(document, list) else [document]
    if not all(type(token_id) is int for token_id in flat):
        raise OptionError("JSON of ids is one list of integers, or a list of such lists")
    return flat
