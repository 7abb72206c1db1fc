"""Rows of model inputs: the kernel against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toksmith._base.arrays import IdArray, OffsetArray
from toksmith.engine import rows as engine_rows
from toksmith.engine.rows import RowTable, Shape, SpanTrim
from toksmith.errors import OptionError
from toksmith.framing import Template, TextPart, TokenPart, Truncation
from toksmith.framing.layout import RowLayout

TWICE = (TextPart("A", 3), TokenPart(9, 1), TextPart("A"))
SINGLE = ((TextPart("A"),), Template.bert(7, 8).single, TWICE)
PAIR = (Template.bert(7, 8).pair, (TextPart("B", 1), TokenPart(9), TextPart("A")))


@st.composite
def layouts(draw: st.DrawFn, is_pair: bool) -> RowLayout:
    parts = draw(st.sampled_from(PAIR if is_pair else SINGLE))
    truncation = draw(
        st.none()
        | st.builds(
            Truncation,
            st.integers(0, 12),
            st.integers(0, 4),
            st.sampled_from(("longest_first", "only_first", "only_second")),
            st.sampled_from(("left", "right")),
        )
    )
    return RowLayout(parts, truncation, draw(st.booleans()))


class Texts:
    """Texts with the numbers of their tokens; ids, spans and the spaces of ids follow."""

    def __init__(self, counts: list[int]) -> None:
        self.offsets: OffsetArray = np.cumsum([0, *counts], dtype=np.int64)
        total = int(self.offsets[-1])
        self.ids: IdArray = np.arange(100, 100 + total, dtype=np.uint32)
        starts = np.arange(total) % 5
        self.spans = np.stack([starts, starts + np.arange(total) % 4], axis=1)


def arrays(
    layout: RowLayout, texts: list[Texts], shape: Shape, trim: SpanTrim | None
) -> list[object] | str:
    """Everything that a table makes, or the error."""
    try:
        table = RowTable(layout, [each.offsets for each in texts], 2)
    except OptionError as wrong:
        return str(wrong)
    if shape.width is not None:
        shape = shape._replace(width=shape.width + table.longest)
    ids = [each.ids for each in texts]
    kinds = [part.type_id for part in layout.parts]
    return [
        each.tolist()
        for each in (
            *(table.starts, table.documents, table.numbers(ids, shape, padding=-5)),
            table.numbers(ids, Shape(), padding=0, dtype=np.uint32),
            table.numbers(ids, shape, padding=1, of_template=[-1] * len(kinds)),
            table.of_parts(kinds, shape, padding=2),
            table.of_parts(layout.sequence, shape, padding=-1, dtype=np.int8),
            table.spans([each.spans for each in texts], ids, shape, trim),
        )
    ]


counts = st.lists(st.integers(0, 9), max_size=5)


@settings(max_examples=60)
@given(st.data())
def test_kernel_equals_reference(data: st.DataObject) -> None:
    is_pair = data.draw(st.booleans())
    layout = data.draw(layouts(is_pair))
    first = data.draw(counts)
    texts = [Texts(first)]
    if is_pair:
        second = st.lists(st.integers(0, 9), min_size=len(first), max_size=len(first))
        texts.append(Texts(data.draw(second)))
    shape = Shape(data.draw(st.none() | st.integers(0, 3)), data.draw(st.booleans()))
    spaces = np.arange(2 * 140, dtype=np.uint32).reshape(-1, 2) % 3
    trim = data.draw(st.sampled_from((None, SpanTrim(spaces, True), SpanTrim(spaces, False))))
    found = arrays(layout, texts, shape, trim)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_rows, "is_missing", True)
        assert found == arrays(layout, texts, shape, trim)


@pytest.mark.parametrize("is_pair", [False, True])
def test_many_rows_on_threads(is_pair: bool) -> None:
    """More rows than one block of the kernel."""
    rng = np.random.default_rng(1)
    texts = [Texts(rng.integers(0, 6, 1100).tolist()) for _ in range(1 + is_pair)]
    layout = RowLayout((PAIR if is_pair else SINGLE[1:])[0], Truncation(8), overflow=True)
    found = arrays(layout, texts, Shape(2, True), None)
    assert isinstance(found, list)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_rows, "is_missing", True)
        assert found == arrays(layout, texts, Shape(2, True), None)
