"""The reader of JSON Lines: each line is a JSON object and a document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith._base.text import utf8
from toksmith.corpus.blocks import Block, Damage
from toksmith.corpus.options import ONE_STRING, field_advice
from toksmith.corpus.remote import FilePath
from toksmith.engine.portable import read_json_lines
from toksmith.errors import FormatError

_BOM = b"\xef\xbb\xbf"


def jsonl_blocks(
    path: FilePath,
    stream: Iterator[tuple[bytes, int]],
    field: str,
    *,
    before: Callable[[], int] | None = None,
    skips: bool = False,
) -> Iterator[Block]:
    """Yield the documents of a file. Empty lines, and lines whose field is null, are skipped.

    Args:
        path: the file, for errors.
        stream: its parts, each bytes or a bytearray, with the number of bytes of the file read
            for it.
        field: the field of each object that holds the text.
        before: counts the lines of the file before the stream, for errors; ``None`` if it starts
            with the file. It is called once, if a line is invalid.
        skips: whether invalid lines are left out, and listed in the blocks, instead of an error.

    Raises:
        FormatError: a line holds no JSON object, or its field is no string; the message has the
            line's number.
    """
    name = field.encode()
    parse = _quick_parser()
    number = 0
    first: int | None = None if before else 0
    for lines, done in _line_blocks(stream):
        found = read_json_lines(lines, name)
        nulls = 0
        damaged = []
        others: list[tuple[int, bytes]] = []  # texts of other lines, and how many are before each
        for place, index, start, end in found.refused.tolist():
            line = bytes(lines[start:end])
            try:
                others.append((place, parse(line)[field].encode()))
            except Exception:  # the slow parser reads the line, or reports the error
                try:
                    text = _text_of(line, field)
                except _LineError as wrong:
                    if first is None and before is not None:
                        first = before()
                    line_number = number + index + 1 + (first or 0)
                    if not skips:
                        raise FormatError(
                            path, f"line {line_number:,} {wrong}"
                        ) from wrong.__cause__
                    damaged.append(Damage(path, line_number, str(wrong)))
                    continue
                if text is not None:
                    others.append((place, text))
                elif line.strip():
                    nulls += 1
        number += found.lines
        data, ends = _merge(found.data, found.ends, others) if others else found[:2]
        bounds = np.stack([np.concatenate([np.zeros(1, np.int64), ends])[:-1], ends], axis=1)
        yield Block(data, bounds, len(ends), done, nulls, damaged=damaged)


def _merge(
    data: bytes, ends: OffsetArray, others: Sequence[tuple[int, bytes]]
) -> tuple[bytes, OffsetArray]:
    """Return texts end to end, and the end of each, with other ones put between them."""
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    parts = []
    done = 0
    for place, text in others:
        start = int(starts[place])
        parts += [data[done:start], text]
        done = start
    parts.append(data[done:])
    places = [place for place, _ in others]
    sizes = np.insert(starts[1:] - starts[:-1], places, [len(text) for _, text in others])
    return b"".join(parts), np.cumsum(sizes)


class _LineError(Exception):
    """A line that holds no text; the message is read after the line's number."""


def _quick_parser() -> Callable[[bytes], Any]:
    """Return orjson's parser if orjson is installed, else Python's.

    Lines that orjson refuses are parsed by Python's parser, so the result does not depend on it.
    """
    try:
        from orjson import loads
    except ImportError:
        return lambda line: json.loads(line.decode())
    return loads


def _text_of(line: bytes, field: str) -> bytes | None:
    """Return the text of a line, or ``None`` for a null; raise _LineError for an invalid line."""
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _LineError(f"is not UTF-8 text (byte 0x{line[error.start]:02X})") from error
    except json.JSONDecodeError as error:
        raise _LineError(
            f"is not JSON: {error.msg.removesuffix(' at')} at column {error.colno:,}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise _LineError(f"is not JSON that can be read: {error}") from error
    if not isinstance(value, dict):
        raise _LineError(f"holds a JSON {type(value).__name__}; an object is wanted")
    if field not in value:
        known = ", ".join(map(repr, value)) or "none"
        raise _LineError(
            f"has no field {field!r}; its fields are {known:.200}{field_advice(field, value)}"
        )
    text = value[field]
    if text is None:
        return None
    if isinstance(text, list):
        raise _LineError(f"has a list as its {field!r}: {ONE_STRING}")
    if not isinstance(text, str):
        raise _LineError(f"has {json.dumps(text):.40} as its {field!r}; a string is wanted")
    return utf8(text)


def _line_blocks(stream: Iterator[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines end to end, with the number of bytes read."""
    rest: list[bytes] = []
    done = 0
    is_first = True
    for block, done in stream:
        end = block.rfind(b"\n") + 1
        if not end:
            rest.append(block)
            continue
        lines = block
        if rest or end < len(block):
            lines = b"".join([*rest, memoryview(block)[:end]])
            rest = [block[end:]] if end < len(block) else []
        yield lines.removeprefix(_BOM) if is_first else lines, done
        is_first = False
    if last := b"".join(rest):
        yield last.removeprefix(_BOM) if is_first else last, done
