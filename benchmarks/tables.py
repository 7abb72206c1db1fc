"""Tables of results: in colour for a terminal, in Markdown for a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.bars import FIGURES
from benchmarks.forms import FORMS
from benchmarks.rounds import ratios, spread
from benchmarks.suites import OURS, Row

HEAD = ("vocabulary", "model", "text")
LEFT = {*HEAD, "library", "work", "figure", "against", "holds"}


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
            work = "Decoding" if FORMS[form].from_ids else "Encoding"
            title, make = f"{work}, {cores}: {FORMS[form].title}", _encoding
        elif kind == "load":
            title, make = "Loading: from a fresh process to the ids of a first word", _loading
        else:
            title, make = f"Training, {cores}: whole process, start to saved file", _training
        columns, cells = make(group)
        yield Table(title, columns, cells, notes)
    if any(row.bars for row in rows):
        yield Table("What toksmith sets itself", *_bars(rows), [])


Cells = tuple[list[str], list[list[str]]]


def _encoding(rows: Sequence[Row]) -> Cells:
    form = FORMS[rows[0].work["form"]]
    head = ["vocabulary", "text", "library"]
    columns = [*head, f"cold {form.unit}", f"warm {form.unit}", "peak MB"]
    cells = []
    for row in rows:
        for library, results in row.results.items():
            cold, warm = ([result["seconds"][i] for result in results] for i in (0, -1))
            speeds = [form.speed(row.size, spread(s)["median"]) for s in (cold, warm)]
            faster = [_better(row, library, figure) for figure in ("cold", "warm")]
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
            tail = [_peak(row, library), _better(row, library, "cold")]
            cells.append([row.work["vocabulary"], library, *parts, *tail])
    return [*columns, f"{OURS}: ×"], cells


def _training(rows: Sequence[Row]) -> Cells:
    columns = ["model", "tokens", "text", "library", "seconds", "peak MB"]
    cells = []
    for row in rows:
        for library, results in row.results.items():
            whole = spread([result["process_seconds"] for result in results])["median"]
            head = [row.work["model"], f"{row.work['vocab_size']:,}", row.work["text"], library]
            cells.append(
                [*head, f"{whole:.2f}", _peak(row, library), _better(row, library, "whole")]
            )
    return [*columns, f"{OURS}: ×"], cells


def _peak(row: Row, library: str) -> str:
    return f"{max(result['peak_bytes'] for result in row.results[library]) / 1e6:,.0f}"


def _bars(rows: Sequence[Row]) -> Cells:
    """Each bar against the peer that comes closest to us."""
    cells = []
    for row in rows:
        work = " ".join(str(row.work[key]) for key in (*HEAD, "form") if key in row.work)
        threads = str(row.work["threads"])
        for bar, least in row.bars.items():
            figure, _, named = bar.partition(", ")
            found = {
                other: _ratios(row, other, figure)
                for other in row.results
                if other != OURS and OURS in row.results and named in ("", other)
            }
            closest = min(found, key=lambda other: found[other]["median"], default="")
            holds = "not measured"
            if closest:
                holds = "yes" if found[closest]["median"] >= least else "NO"
            ratio = _shown(found[closest]) if closest else ""
            cells.append([work, threads, figure, closest, ratio, f"{least:g}", holds])
    return ["work", "threads", "figure", "against", "measured", "at least", "holds"], cells


def _better(row: Row, library: str, figure: str) -> str:
    """How many times better we are: median (least to greatest)."""
    if library == OURS or OURS not in row.results:
        return ""
    return _shown(_ratios(row, library, figure))


def _ratios(row: Row, library: str, figure: str) -> dict[str, float]:
    ours, theirs = ([FIGURES[figure](r) for r in row.results[name]] for name in (OURS, library))
    return ratios(ours, theirs)


def _shown(found: dict[str, float]) -> str:
    return f"{found['median']:.2f} ({found['min']:.2f} to {found['max']:.2f})"
