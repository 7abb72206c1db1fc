"""The names of files of counted shards, and the notes in them: of which corpus, with what options.

The file of shard 3 of 64 is ``counts-00003-of-00064.parquet``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any

from toksmith.corpus.shards import SourceFile

_NAME = re.compile(r"counts-(\d{5,})-of-(\d{5,})\.parquet")
_SHOWN = 5
"""The number of shards that a message names."""


def shard_name(number: int, count: int) -> str:
    """Return the name of the file of a shard.

    Example:
        >>> shard_name(3, 64)
        'counts-00003-of-00064.parquet'
    """
    return f"counts-{number:05}-of-{count:05}.parquet"


def parse_shard_name(name: str) -> tuple[int, int] | None:
    """Return the number of a shard and that of all shards; ``None`` for names of other files.

    Example:
        >>> parse_shard_name("counts-00003-of-00064.parquet"), parse_shard_name("all.counts")
        ((3, 64), None)
    """
    match = _NAME.fullmatch(name)
    return match and (int(match[1]), int(match[2]))


def repair_advice(path: str | PathLike[str]) -> str:
    """Return what to do about a damaged file, for the end of a message; empty if it is no shard.

    Example:
        >>> repair_advice("s/counts-00003-of-00064.parquet"), repair_advice("all.counts")
        ('; remove it, and make shard 3/64 again', '')
    """
    of_shard = parse_shard_name(PurePath(fspath(path)).name)
    return "; remove it, and make shard {}/{} again".format(*of_shard) if of_shard else ""


def shard_note(
    number: int, count: int, options: Mapping[str, Any], sources: Sequence[SourceFile]
) -> dict[str, Any]:
    """Return the note for a shard. Files of the same content are one corpus in every folder."""
    files = [(PurePath(each.path).name, each.bytes, each.fingerprint) for each in sources]
    return {
        "number": number,
        "of": count,
        "options": dict(options),
        "corpus": {
            "files": len(sources),
            "bytes": sum(each.bytes for each in sources),
            "hash": hashlib.sha256(json.dumps(files).encode()).hexdigest()[:32],
        },
    }


def is_note(note: Mapping[str, Any] | None) -> bool:
    """Return whether the note of a file has all that :func:`shard_note` gives."""
    return (
        note is not None
        and all(isinstance(note.get(name), dict) for name in ("options", "corpus"))
        and all(type(note.get(name)) is int for name in ("number", "of"))
    )


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the differences of two shards' corpora and options in words; empty if there are none.

    Example:
        >>> a = {"options": {"sample": 1.0}, "corpus": {"files": 2}}
        >>> differences(a, {"options": {"sample": 0.5}, "corpus": {"files": 2}})
        'sample is 0.5, and was 1.0'
    """
    found: list[str] = []
    for group in ("options", "corpus"):
        for name, value in now[group].items():
            if name == "hash" and not found and before[group].get(name) != value:
                found.append("the files have changed, or come in another order")
            elif name != "hash" and before[group].get(name) != value:
                shown = "the number of files" if name == "files" else name
                found.append(f"{shown} is {value!r:.60}, and was {before[group].get(name)!r:.60}")
    return "; ".join(found)


def why_not_together(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return why two shards of one corpus cannot be added, and what to do.

    ``None`` if they can: they are different shards of one division, with the same options.
    """
    if before["of"] != now["of"]:
        return (
            f"are of divisions of one corpus by {before['of']} and {now['of']}, so their sum would "
            "hold text twice",
            "give the shards of one division",
        )
    if found := differences(before, now):
        return f"are of one corpus with different options: {found}", "make one of them again"
    if before["number"] == now["number"]:
        return (
            f"are both shard {now['number']}/{now['of']} of one corpus, so their sum would hold "
            "its text twice",
            "give one of them",
        )
    return None


def name_shards(numbers: Iterable[int], count: int) -> str:
    """Return the first of these shards for a message, and whether there are more.

    Example:
        >>> name_shards([1, 2], 4), name_shards(range(9), 9)
        ('1/4, 2/4', '0/9, 1/9, 2/9, 3/9, 4/9 and 4 more')
    """
    several = [*numbers]
    shown = ", ".join(f"{number}/{count}" for number in several[:_SHOWN])
    return shown + (f" and {len(several) - _SHOWN} more" if len(several) > _SHOWN else "")
