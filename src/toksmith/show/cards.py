"""Cards: short views of tokenizers, batches, counts and other objects that are not results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toksmith._base.lazy import np
from toksmith._base.report import shows
from toksmith._base.visible import (
    LONGEST_IN_LIST,
    brief,
    count_of,
    visible_name,
    visible_start,
)
from toksmith.results import Batch, Inputs
from toksmith.show.style import read_styles
from toksmith.show.terminal import render_plain
from toksmith.splitters import PatternSplitter, family_of
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.merge_table import MergeTable
from toksmith.tokenizer.training_record import TrainingRecord
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.splits import splitter_name

_ROWS = 10


@dataclass
class Card:
    """The content of a card.

    Attributes:
        title: the kind of object, and its name.
        facts: names and values, one a line.
        head: the titles of columns.
        rows: its first items.
        total: the number of all items.
    """

    title: str
    facts: Sequence[tuple[str, str]]
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default_factory=list)
    total: int = 0

    @property
    def rest(self) -> str:
        """The note on the rows that are left out; empty if there are none."""
        more = self.total - len(self.rows)
        return f"… and {more:,} more" if more > 0 and self.rows else ""


def card_text(card: Card) -> str:
    """Return a card as plain text."""
    facts = Table.grid(padding=(0, 2))
    for name, value in card.facts:
        facts.add_row(Text(name), Text(value))
    parts: list[RenderableType] = [Text(card.title), facts]
    if card.rows:
        table = Table(box=None, pad_edge=False)
        for title in card.head:
            table.add_column(title, overflow="fold")
        for row in card.rows:
            table.add_row(*map(Text, row))
        parts += ["", table, Text(card.rest)] if card.rest else ["", table]
    return render_plain(Group(*parts))


def card_html(card: Card) -> str:
    """Return a card as a fragment of HTML; everything is escaped."""
    facts = "".join(_row([name], [value]) for name, value in card.facts)
    rows = "".join(_row([], cells) for cells in card.rows)
    table = f'<table class="ts-rows">{_row(card.head, [])}{rows}</table>' if rows else ""
    rest = f'<p class="ts-note">{card.rest}</p>' if card.rest else ""
    style = read_styles("base")
    return (
        f'<style>{style}</style><div class="ts"><b dir="auto">{escape(card.title)}</b>'
        f'<table class="ts-rows">{facts}</table>{table}{rest}</div>'
    )


def _row(heads: Iterable[str], cells: Iterable[str]) -> str:
    written = "".join(f"<th>{escape(head)}</th>" for head in heads)
    written += "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in cells)
    return f"<tr>{written}</tr>"


def tokenizer_card(tok: Tokenizer) -> Card:
    """Return the model and stages of a tokenizer, with its special tokens."""
    pipeline = tok.pipeline
    special = sorted(tok.special_tokens.items(), key=lambda item: item[1])
    cut_by = pipeline.splitter
    if cut_by is None or isinstance(cut_by, PatternSplitter):
        splitter = splitter_name(cut_by)
    else:
        splitter = brief(cut_by)
    facts = [
        ("model", type(pipeline.model).__name__),
        ("ids", f"{tok.vocab_size:,}"),
        *([("normalizer", brief(pipeline.normalizer))] if pipeline.normalizer else []),
        ("splitter", splitter),
    ]
    rows = [(f"{token_id:,}", visible_name(literal)) for literal, token_id in special[:_ROWS]]
    name = f" {visible_name(tok.name)}" if tok.name else ""
    return Card(f"Tokenizer{name}", facts, ("id", "special token"), rows, len(special))


def batch_card(batch: Batch) -> Card:
    """Return the sizes of a batch, with the first ids of the first documents."""
    first = range(min(len(batch), _ROWS))
    rows = [
        (str(place), f"{len(batch[place]):,}", " ".join(map(str, batch[place][:12].tolist())))
        for place in first
    ]
    lengths = np.diff(batch.offsets)
    most = f"{int(lengths.max(initial=0)):,}"
    facts = [("documents", f"{len(batch):,}"), ("ids", f"{len(batch.ids):,}"), ("longest", most)]
    return Card("Batch", facts, ("document", "ids", "the first of them"), rows, len(batch))


def inputs_card(inputs: Inputs) -> Card:
    """Return the sizes of inputs, with the first ids of the first rows."""
    rows = [
        (
            str(row),
            f"{int(inputs.lengths[row]):,}",
            " ".join(map(str, inputs.ids[row, :12].tolist())),
        )
        for row in range(min(len(inputs.ids), _ROWS))
    ]
    height, width = inputs.ids.shape
    facts = [
        ("rows", f"{height:,}"),
        ("tokens a row", f"{width:,}"),
        ("padding", f"{int((inputs.attention_mask == 0).sum()):,}"),
        ("keys", ", ".join(inputs)),
    ]
    return Card("Inputs", facts, ("row", "tokens", "the first ids"), rows, height)


def merges_card(table: MergeTable) -> Card:
    """Return the number of merges, with the first of them."""
    rows = [
        (
            f"{row.rank:,}",
            table.pair(row),
            f"{row.new:,}",
            visible_start(row.bytes, LONGEST_IN_LIST),
            "" if row.count is None else f"{row.count:,}",
        )
        for row in table[:_ROWS]
    ]
    head = ("rank", "left + right", "id", "token", "count")
    return Card("MergeTable", [("merges", f"{len(table):,}")], head, rows, len(table))


def counts_card(counts: Counts) -> Card:
    """Return the sizes of counts, with the most frequent chunks."""
    facts = [
        ("chunks", f"{int(counts.counts.sum()):,}, {len(counts):,} of them distinct"),
        ("bytes", f"{counts.bytes:,}"),
        *([("documents", f"{counts.documents:,}")] if counts.documents else []),
        ("split", splitter_name(counts.splitter)),
    ]
    rows = [
        (f"{count:,}", visible_start(chunk, LONGEST_IN_LIST))
        for chunk, count in counts.most_common(_ROWS)
    ]
    return Card("Counts", facts, ("count", "chunk"), rows, len(counts))


def _option(name: str, value: object) -> str:
    if name == "split" and isinstance(value, str):
        family = family_of(value)
        value = family.name if family else value
    return brief(value)


def record_card(record: TrainingRecord) -> Card:
    """Return the figures of a training, with the files that it read."""
    options = ", ".join(f"{name}={_option(name, value)}" for name, value in record.options.items())
    facts = [
        ("model", f"{record.model}, {count_of(record.vocab_size, 'id')}"),
        ("merges", f"{record.merges:,}"),
        ("text", f"{count_of(record.documents, 'document')}, {count_of(record.bytes, 'byte')}"),
        ("chunks", f"{record.chunks:,}"),
    ]
    if record.tokens:
        ratio = f" ({record.bytes / record.tokens:.2f} bytes a token)"
        facts.append(("tokens", f"{record.tokens:,}{ratio}"))
    facts += [("seconds", f"{record.seconds:.2f}"), ("options", options)]
    if record.skipped:
        skipped = ", ".join(f"{number:,} {why}" for why, number in record.skipped.items())
        facts.append(("skipped", skipped))
    made = " ".join(filter(None, (f"toksmith {record.version}", record.time)))
    facts += [("made by", made)] if record.version else []
    rows = [
        (
            visible_name(source.path),
            f"{source.documents:,}",
            f"{source.bytes:,}",
            "" if source.tokens is None else f"{source.tokens:,}",
        )
        for source in record.sources[:_ROWS]
    ]
    about = "about " if any(source.is_estimated for source in record.sources) else ""
    head = ("file", "documents", "bytes", f"{about}tokens")
    return Card("Training", facts, head, rows, len(record.sources))


shows(Tokenizer, html=lambda tok: card_html(tokenizer_card(tok)))
shows(Batch, html=lambda batch: card_html(batch_card(batch)))
shows(Inputs, html=lambda inputs: card_html(inputs_card(inputs)))
shows(MergeTable, text=str, html=lambda table: card_html(merges_card(table)))
shows(
    Counts,
    text=lambda counts: card_text(counts_card(counts)),
    html=lambda counts: card_html(counts_card(counts)),
)
shows(
    TrainingRecord,
    text=lambda record: card_text(record_card(record)),
    html=lambda record: card_html(record_card(record)),
)
