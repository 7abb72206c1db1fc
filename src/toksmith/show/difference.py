"""The first difference of two tokenizers: the text around it, and the tokens of both.

The other one may be a tokenizer of another library, which gives ids and no places in the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from toksmith._base.text import utf8
from toksmith._base.visible import count_of, visible
from toksmith.measure.against import LibraryDifference
from toksmith.measure.verify import Difference
from toksmith.show.style import FOREGROUND, SPECIAL
from toksmith.show.terminal import encoding_table

_AROUND = 30
_MOST = 200
_BEFORE, _AFTER = 3, 12
"""The number of ids that are shown before the first difference to a library, and from it on."""


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


def library_difference_view(
    difference: LibraryDifference, *, colour: bool = True
) -> RenderableType:
    """Return the first difference from a library: the text, and the ids and tokens of both.

    Args:
        difference: what to show.
        colour: ``False`` for plain text.
    """
    treatment = "encoded" if difference.special == "encode" else "taken as text"
    ways = [f"special tokens in the text {treatment}"]
    if difference.add_special_tokens:
        ways.append("with the template's tokens")
    parts = [
        Text(f"from {difference.library}, {', '.join(ways)}"),
        Text(f"  shortest part found that differs: {_shown(difference.part)}"),
        Text(f"  as Python writes it: {difference.part!a}"),
    ]
    if difference.unassigned:
        parts.append(
            Text(
                f"  U+{ord(difference.unassigned):04X} is not assigned in Unicode 16.0, which "
                f"toksmith follows; {difference.library} may follow a newer version"
            )
        )
    for name, ids, tokens in (
        ("toksmith", difference.left_ids, difference.left_tokens),
        (difference.library, difference.right_ids, difference.right_tokens),
    ):
        parts.append(Text(f"\n{name}: {_number(len(ids))}", "bold" if colour else ""))
        parts += _id_rows(ids, tokens, difference.place, colour)
    return Group(*parts)


def _id_rows(ids: Sequence[int], tokens: Sequence[str], place: int, colour: bool) -> Iterator[Text]:
    start, end = max(place - _BEFORE, 0), min(place + _AFTER, len(ids))
    if start:
        yield Text(f"  … {count_of(start, 'token')} before")
    for i in range(start, end):
        mark = "≠" if i == place else " "
        differs = f"{FOREGROUND} on {SPECIAL}" if colour and i == place else ""
        yield Text.assemble(f"{mark} {ids[i]:>7}  ", (tokens[i], differs))
    if end == place:
        yield Text(f"≠ {'no token':>7}")
    if end < len(ids):
        yield Text(f"  … {count_of(len(ids) - end, 'token')} more")


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
