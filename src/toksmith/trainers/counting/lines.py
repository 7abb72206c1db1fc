"""Counted lines, documents or their chunks, which are passed on batch by batch.

A model that makes words of them, by a normalizer and a splitter in Python, takes each batch and
counts its words. So neither the chunks nor the words need fit into memory until all are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from toksmith.corpus import DocumentSink
from toksmith.engine.counting import (
    ChunkCounter,
    CountedLines,
    LineCounter,
    Take,
)
from toksmith.trainers.counting.streaming import PassOn, pass_batch
from toksmith.trainers.memory import MemoryLimits


class LineSink(DocumentSink, Protocol):
    """A counter of lines, or of the chunks of lines or documents."""

    @property
    def counter(self) -> LineCounter | ChunkCounter:
        """The counter in the kernel."""

    def end(self) -> None:
        """Pass what is left to the counter; no text follows."""

    def lines(self) -> tuple[int, int, int]:
        """Return the number of lines that were counted, too long, and reserved."""


@dataclass(frozen=True, eq=False)
class LineCounts:
    """The counts of lines, documents or chunks.

    Attributes:
        lines: the number of lines.
        too_long: the number of lines skipped for their length.
        reserved: the number of lines skipped because they hold U+2585.
        pass_chunks: passes on all chunks that are not plain.
        pass_plain: passes on the words of plain chunks.
    """

    lines: int
    too_long: int
    reserved: int
    pass_chunks: PassOn
    pass_plain: PassOn

    @classmethod
    def of(cls, found: CountedLines) -> LineCounts:
        """Return counts that are in memory."""
        return cls(
            *(found.lines, found.too_long, found.reserved),
            pass_chunks=lambda take: pass_batch(take, found.chunks, found.ends, found.counts),
            pass_plain=lambda take: pass_batch(take, *found.plain),
        )


def finished_lines(sink: LineSink) -> CountedLines:
    """Return the counts of a sink whose counter has no limit."""
    counter, (lines, too_long, reserved) = sink.counter, sink.lines()
    if isinstance(counter, LineCounter):
        found = counter.finish()
    else:
        found = CountedLines.of_chunks(counter.finish())
    return found._replace(lines=lines, too_long=too_long, reserved=reserved)


def merged_lines(sink: LineSink) -> LineCounts:
    """Return the counts of a sink whose counter has spilled and merged its counts, or need not."""
    counter = sink.counter
    if not counter.spilled:
        return LineCounts.of(finished_lines(sink))
    if isinstance(counter, LineCounter):
        return LineCounts(
            *sink.lines(),
            pass_chunks=partial(counter.pass_merged, plain=False),
            pass_plain=partial(counter.pass_merged, plain=True),
        )
    return LineCounts(*sink.lines(), pass_chunks=counter.pass_merged, pass_plain=_pass_nothing)


def sum_lines(parts: Iterable[LineCounts], limits: MemoryLimits) -> LineCounts:
    """Return the sum of counts that are passed on in this order, within limits."""
    parts = [*parts]
    if len(parts) == 1:
        return parts[0]

    def pass_sum(passes: list[PassOn], take: Take) -> None:
        counter = ChunkCounter(None, 1)
        with limits.spill(counter):
            for pass_on in passes:
                pass_on(counter.add_counted)
            limits.merge_all(counter)
            counter.pass_merged(take)

    return LineCounts(
        sum(part.lines for part in parts),
        sum(part.too_long for part in parts),
        sum(part.reserved for part in parts),
        partial(pass_sum, [part.pass_chunks for part in parts]),
        partial(pass_sum, [part.pass_plain for part in parts]),
    )


def _pass_nothing(take: Take) -> None:
    pass
