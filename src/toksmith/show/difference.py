"""The first difference of two tokenizers: the text around it, and the tokens of both."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from toksmith._base.text import utf8
from toksmith._base.visible import count_of, visible
from toksmith.measure.verify import Difference
from toksmith.show.style import FOREGROUND, SPECIAL
from toksmith.show.terminal import encoding_table

_AROUND = 30
_MOST = 200


def difference_view(
    difference: Difference, names: tuple[str, str] = ("A", "B"), *, colour: bool = True
) -> RenderableType:
    """Return the first difference in context: where, the text around it, both sides' tokens.

    Args:
        difference: what to show.
        names: of the two tokenizers.
        colour: ``False`` marks the differing text by ``⟦ ⟧`` alone.
    """
    start = difference.span.start
    where = (
        f"at character {start:,} (byte {difference.byte_span.start:,}), "
        f"after {difference.place:,} equal tokens"
    )
    parts: list[RenderableType] = [Text(where), _context(difference, colour)]
    for name, side in zip(names, (difference.left, difference.right), strict=True):
        parts.append(Text(f"\n{name}: {_number(len(side))}", "bold" if colour else ""))
        if len(side):
            parts.append(encoding_table(side[:_MOST], colour=colour))
        if len(side) > _MOST:
            parts.append(Text(f"… and {len(side) - _MOST:,} more"))
    return Group(*parts)


def _context(difference: Difference, colour: bool) -> Text:
    start, end = difference.span
    text = difference.text
    before, after = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
    inside = _shown(text[start : min(end, start + _MOST)]) + ("…" if end > start + _MOST else "")
    return Text.assemble(
        "  ",
        ("…" if start > _AROUND else "") + _shown(before),
        ("⟦" + inside + "⟧", f"{FOREGROUND} on {SPECIAL}" if colour else ""),
        _shown(after) + ("…" if end + _AROUND < len(text) else ""),
    )


def _shown(text: str) -> str:
    return visible(utf8(text))


def _number(tokens: int) -> str:
    return "no token" if tokens == 0 else count_of(tokens, "token")
