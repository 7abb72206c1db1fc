"""The table of the files of a corpus, before (``--dry-run``) or after training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toksmith._base.visible import count_of
from toksmith.cli.common import shown_size

if TYPE_CHECKING:
    from toksmith.tokenizer.training_record import TrainingRecord

_MOST_FILES = 100
"""Above this number of files, those of one folder share a row."""
_MOST_ROWS = 20
_UNKNOWN = "-"
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class Source:
    """A row of the table: a file, or several.

    Attributes:
        name: the path, or a description of several files.
        bytes: the size in bytes; ``None`` if unknown.
        weighted: the size of the text times the weight; ``None`` if unknown.
        documents: the number of documents; ``None`` if unknown.
        weight: the weight; ``None`` if the files have different ones.
        kind: the kind of the files, before training.
        chunks: the number of chunks; ``None`` if unknown.
        tokens: the number of tokens; ``None`` if unknown.
        merge_share: the share of the merges; ``None`` if unknown.
        files: the number of files.
    """

    name: str
    bytes: int | None
    weighted: float | None
    documents: int | None
    weight: float | None
    kind: str = ""
    chunks: int | None = None
    tokens: int | None = None
    merge_share: float | None = None
    files: int = 1


def sources_of(record: TrainingRecord) -> list[Source]:
    """Return the files of a training as rows."""
    return [
        Source(
            file.path,
            file.bytes,
            file.bytes * file.weight,
            file.documents,
            file.weight,
            chunks=file.chunks,
            tokens=file.tokens,
            merge_share=file.merge_share,
        )
        for file in record.sources
    ]


def source_table(sources: Sequence[Source]) -> list[str]:
    """Return the lines of the table: the largest sources first, others summed in the last row.

    Columns that are empty in all rows are left out.
    """
    total = _total(source.weighted for source in sources)
    rows = _fold(sources)
    columns = [
        ("share", _column(rows, lambda row: _share(row, total), "{:.1%}")),
        ("merges", _column(rows, lambda row: row.merge_share, "{:.1%}")),
        ("weight", _weights(rows)),
        ("documents", _column(rows, lambda row: row.documents, "{:,}")),
        ("size", [_UNKNOWN if row.bytes is None else shown_size(row.bytes) for row in rows]),
        ("kind", [row.kind for row in rows]),
        ("chunks", _column(rows, lambda row: row.chunks, "{:,}")),
        ("tokens", _column(rows, lambda row: row.tokens, "{:,}")),
        ("bytes/token", _column(rows, _compression, "{:.2f}")),
    ]
    shown = [(head, cells) for head, cells in columns if any(c.strip(_UNKNOWN) for c in cells)]
    lines = [""] * (len(rows) + 1)
    for head, cells in shown:
        width = max(map(len, [head, *cells]))
        lines = [
            f"{line}  {cell:>{width}}" for line, cell in zip(lines, [head, *cells], strict=True)
        ]
    names = ["source", *(row.name for row in rows)]
    return [f"{line}  {name}" for line, name in zip(lines, names, strict=True)]


def _column(
    rows: Sequence[Source], value: Callable[[Source], float | None], form: str
) -> list[str]:
    values = map(value, rows)
    return [_UNKNOWN if each is None else form.format(each) for each in values]


def _weights(rows: Sequence[Source]) -> list[str]:
    if all(row.weight == 1 for row in rows):
        return [""] * len(rows)
    return _column(rows, lambda row: row.weight, "{:g}")


def _share(row: Source, total: float | None) -> float | None:
    return None if row.weighted is None or total is None else row.weighted / (total or 1)


def _compression(row: Source) -> float | None:
    return row.bytes / row.tokens if row.bytes is not None and row.tokens else None


def _fold(sources: Sequence[Source]) -> list[Source]:
    """Return the rows: files by folder if there are many, and the smallest ones in one row."""
    rows = list(sources)
    if len(rows) > _MOST_FILES:
        folders: dict[str, list[Source]] = {}
        for row in rows:
            folders.setdefault(row.name.rpartition("/")[0], []).append(row)
        if len(folders) > 1:
            rows = [
                files[0]
                if len(files) == 1
                else _sum(f"{folder}/ ({count_of(len(files), 'file')})", files)
                for folder, files in folders.items()
            ]
    rows.sort(key=lambda row: -(row.weighted or row.bytes or 0))
    if rest := rows[_MOST_ROWS:]:
        number = sum(row.files for row in rest)
        rows = [*rows[:_MOST_ROWS], _sum(f"{number:,} other file{'s' * (number > 1)}", rest)]
    return rows


def _sum(name: str, rows: Sequence[Source]) -> Source:
    """Return several rows as one; figures that are unknown for one of them stay unknown."""
    return Source(
        name,
        _total(row.bytes for row in rows),
        _total(row.weighted for row in rows),
        _total(row.documents for row in rows),
        rows[0].weight if len({row.weight for row in rows}) == 1 else None,
        rows[0].kind if len({row.kind for row in rows}) == 1 else "several",
        _total(row.chunks for row in rows),
        _total(row.tokens for row in rows),
        _total(row.merge_share for row in rows),
        sum(row.files for row in rows),
    )


def _total(values: Iterable[_Number | None]) -> _Number | None:
    """Return the sum of values; ``None`` if one of them is unknown."""
    total: Any = 0
    for value in values:
        if value is None:
            return None
        total += value
    return cast("_Number", total)
