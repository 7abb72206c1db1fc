"""Rows as tables: in colour for a terminal, in Markdown for a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.rounds import ratios, spread
from benchmarks.suites import FORMS, Row

OURS = "toksmith"


HEAD = ("vocabulary", "model", "text")
LEFT = {*HEAD, "library"}


@dataclass(frozen=True)
class Table:
    """Cells under columns, and notes about what could not be measured."""

    title: str
    columns: Sequence[str]
    cells: Sequence[Sequence[str]]
    notes: Sequence[str]

    def markdown(self) -> str:
        """Return the table in Markdown."""
        line = ["---" if column in LEFT else "---:" for column in self.columns]
        rows = ["| " + " | ".join(row) + " |" for row in (self.columns, line, *self.cells)]
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {self.title}", "", *rows, *notes])

    def show(self) -> None:
        """Print the table."""
        from rich.console import Console
        from rich.table import Table as Grid

        grid = Grid(title=self.title, title_justify="left")
        for column in self.columns:
            grid.add_column(column, justify="left" if column in LEFT else "right", no_wrap=True)
        for row in self.cells:
            grid.add_row(*row)
        console = Console()
        if not console.is_terminal:
            console.width = 160
        console.print(grid, *self.notes, sep="\n")


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Return the tables of all rows, kind by kind."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        key = row.kind, row.work.get("form", ""), row.work["threads"]
        groups.setdefault(key, []).append(row)
    for (kind, form, threads), group in groups.items():
        cores = f"{threads} thread{'s' if threads > 1 else ''}"
        notes = [
            f"{' '.join(row.work[key] for key in HEAD if key in row.work)}: {library}: {why}"
            for row in group
            for library, why in (*row.left_out.items(), *row.notes.items())
        ]
        if kind == "encode":
            title, make = f"Encoding, {cores}: {FORMS[form]}", _encoding
        elif kind == "load":
            title, make = "Loading: from a fresh process to the ids of a first word", _loading
        else:
            title, make = f"Training, {cores}: whole process, start to saved file", _training
        columns, cells = make(group)
        yield Table(title, columns, cells, notes)


Cells = tuple[list[str], list[list[str]]]


def _encoding(rows: Sequence[Row]) -> Cells:
    columns = ["vocabulary", "text", "library", "cold MB/s", "warm MB/s", "peak MB"]
    cells = []
    for row in rows:
        for library, results in row.results.items():
            cold, warm = ([result["seconds"][i] for result in results] for i in (0, -1))
            speeds = [f"{row.size / 1e6 / spread(s)['median']:.1f}" for s in (cold, warm)]
            faster = [_faster(row, library, i) for i in (0, -1)]
            head = [row.work["vocabulary"], row.work["text"], library]
            cells.append([*head, *speeds, _peak(row, library), *faster])
    return [*columns, f"{OURS}: × cold", "× warm"], cells


def _loading(rows: Sequence[Row]) -> Cells:
    columns = ["vocabulary", "library", "import s", "load s", "first s", "peak MB"]
    cells = []
    for row in rows:
        for library, results in row.results.items():
            parts = [
                f"{spread([result[part] for result in results])['median']:.3f}"
                for part in ("import_seconds", "load_seconds", "first_seconds")
            ]
            tail = [_peak(row, library), _faster(row, library, 0)]
            cells.append([row.work["vocabulary"], library, *parts, *tail])
    return [*columns, f"{OURS}: ×"], cells


def _training(rows: Sequence[Row]) -> Cells:
    columns = ["model", "tokens", "text", "library", "seconds", "peak MB"]
    cells = []
    for row in rows:
        for library, results in row.results.items():
            whole = spread([result["process_seconds"] for result in results])["median"]
            head = [row.work["model"], f"{row.work['vocab_size']:,}", row.work["text"], library]
            cells.append([*head, f"{whole:.2f}", _peak(row, library), _faster(row, library, None)])
    return [*columns, f"{OURS}: ×"], cells


def _peak(row: Row, library: str) -> str:
    return f"{max(result['peak_bytes'] for result in row.results[library]) / 1e6:,.0f}"


def _faster(row: Row, library: str, index: int | None) -> str:
    """How many times faster we are: median (least to greatest)."""
    if library == OURS or OURS not in row.results:
        return ""
    ours, theirs = (
        [r["process_seconds"] if index is None else r["seconds"][index] for r in row.results[name]]
        for name in (OURS, library)
    )
    found = ratios(ours, theirs)
    return f"{found['median']:.2f} ({found['min']:.2f} to {found['max']:.2f})"
