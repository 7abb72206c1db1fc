"""The page of a text: its tokens, and a diagram of each chunk, in one HTML file.

Its script opens diagrams and steps through trees of merges. Everything is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from toksmith._base.visible import count_of, visible_name
from toksmith.results import Encoding
from toksmith.show.diagram_choice import PlacedDiagram
from toksmith.show.diagram_html import stepper_html
from toksmith.show.notebook import marked_html, token_title
from toksmith.show.style import PALETTE, SPECIAL_CLASS, read_scripts, read_styles, wrap_page
from toksmith.show.token_lines import box_lines_html, token_boxes
from toksmith.show.token_text import covered_texts
from toksmith.trace.diagrams import Lattice, MergeTree

_MOST_TOKENS = 20_000
_MOST_IN_SUMMARY = 200
_OPEN = 3


def text_page(
    encoding: Encoding,
    diagrams: Sequence[PlacedDiagram] = (),
    *,
    title: str,
    all_drawn: bool = True,
    limit: int = _MOST_TOKENS,
) -> str:
    """Return a page about a text: its tokens in colour with ids, and below them the diagrams.

    Args:
        encoding: the text's tokens.
        diagrams: of its chunks, from :func:`toksmith.show.diagram_choice.choose_diagrams`.
        title: such as the tokenizer's name.
        all_drawn: whether the diagrams of all chunks are given.
        limit: the number of tokens to show; a note counts the rest.
    """
    header = f"<header><h1>{escape(visible_name(title))}</h1><p>{_figures(encoding)}</p></header>"
    drawn = "".join(_diagrams(encoding, diagrams, all_drawn))
    return wrap_page(
        f"{visible_name(title)} · tokens",
        f"<main>\n{header}\n{_tokens(encoding, diagrams, limit)}\n{drawn}\n</main>",
        style=read_styles("base", "text_page"),
        script=read_scripts("stepper", "text_page") if diagrams else "",
    )


def _figures(encoding: Encoding) -> str:
    size = len(encoding.text.encode()) + len((encoding.pair or "").encode())
    figures = [
        (len(encoding), "token"),
        (len(encoding.text) + len(encoding.pair or ""), "character"),
        (size, "byte"),
    ]
    parts = [f"<b>{n:,}</b> {name}{'' if n == 1 else 's'}" for n, name in figures]
    parts += [f"<b>{size / len(encoding):.2f}</b> bytes a token"] if len(encoding) else []
    parts += [f"<b>{len(set(encoding.ids)):,}</b> distinct"] if len(encoding) else []
    return " · ".join(parts)


def _tokens(encoding: Encoding, diagrams: Sequence[PlacedDiagram], limit: int) -> str:
    shown = min(len(encoding), limit)
    covered = covered_texts(encoding)
    links = {
        token: number
        for number, placed in enumerate(diagrams, 1)
        for first, last in placed.tokens
        for token in range(first, last)
    }

    def drawn(place: int) -> str:
        token, is_special = encoding.tokens[place], encoding.special[place]
        name = SPECIAL_CLASS if is_special else f"ts-c{place % len(PALETTE)}"
        names = f"t ts-fill {name}{' special' if is_special else ''}"
        tag, link = ("a", f' href="#d{links[place]}"') if place in links else ("span", "")
        return (
            f'<{tag}{link} class="{names}" '
            f'title="{escape(token_title(encoding, place, covered))}">'
            f'<span class="ts-token">{marked_html(token)}</span><i>{encoding.ids[place]}</i>'
            f"</{tag}>"
        )

    boxes = token_boxes(encoding, shown, drawn, marked_html)
    rest = len(encoding) - shown
    more = f'<p class="ts-note">… and {rest:,} more tokens</p>' if rest else ""
    return (
        '<section id="tokens"><input type="checkbox" id="ids" checked>'
        '<label for="ids">ids</label>'
        f'<div class="tokens">{box_lines_html(boxes)}</div>{more}</section>'
    )


def _diagrams(encoding: Encoding, diagrams: Sequence[PlacedDiagram], all_drawn: bool) -> list[str]:
    if not diagrams:
        return []
    parts = ["<section><h2>How they came about</h2>"]
    for number, placed in enumerate(diagrams, 1):
        first, last = placed.tokens[0]
        tokens = "".join(
            f'<span class="ts-fill ts-c{i % len(PALETTE)} ts-token">{marked_html(token)}</span>'
            for i, token in enumerate(encoding.tokens[first:last][:_MOST_IN_SUMMARY], first)
        )
        times = len(placed.tokens)
        often = f"<small>× {times:,}</small>" if times > 1 else ""
        is_open = " open" if number <= _OPEN else ""
        parts.append(
            f'<details id="d{number}"{is_open}><summary><bdi>{tokens}</bdi>'
            f"<small>{_kind(placed)}</small>{often}</summary>"
            f"{stepper_html(placed.diagram, first=first)}</details>"
        )
    if not all_drawn:
        parts.append('<p class="ts-note">Those of later stretches are left out.</p>')
    return [*parts, "</section>"]


def _kind(placed: PlacedDiagram) -> str:
    diagram = placed.diagram
    if isinstance(diagram, MergeTree):
        if diagram.merges:
            also = "looked up as a whole; " if diagram.whole else ""
            return f"{also}{count_of(diagram.merges, 'merge')}"
        return "looked up as a whole" if diagram.whole else "nothing to merge"
    if isinstance(diagram, Lattice):
        pieces = len(diagram.edges)
        return f"{count_of(pieces, 'piece')} fit{'s' if pieces == 1 else ''}"
    tries = sum(len(match.tried) for match in diagram.matches)
    return f"{tries:,} tried in vain" if tries else "found at once"
