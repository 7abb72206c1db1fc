"""A text's tokens and how they came about, as one HTML page that needs nothing else.

The one script in it opens diagrams and steps through trees. Everything is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from toksmith._base.visible import count_of, visible_name
from toksmith.results import Encoding
from toksmith.show.diagram_choice import Picture
from toksmith.show.diagram_stepper import SCRIPT, stepper_html
from toksmith.show.notebook import lines_html, marked_html, token_title
from toksmith.show.page_frame import document
from toksmith.show.style import PALETTE, SPECIAL_CLASS, STYLE
from toksmith.show.token_text import surfaces
from toksmith.trace.diagrams import Lattice, MergeTree

_MOST_TOKENS = 20_000
_MOST_IN_SUMMARY = 200
_OPEN = 3


def text_page(
    encoding: Encoding,
    pictures: Sequence[Picture] = (),
    *,
    title: str,
    all_drawn: bool = True,
    limit: int = _MOST_TOKENS,
) -> str:
    """Return a page about a text: its tokens in colour, with ids, and below them how they came.

    Args:
        encoding: the text's tokens.
        pictures: the diagrams of its chunks, from :func:`toksmith.show.diagram_choice.pictures`.
        title: such as the tokenizer's name.
        all_drawn: whether these are the diagrams of all chunks.
        limit: leave out the tokens after so many, with a word about it.
    """
    header = f"<header><h1>{escape(visible_name(title))}</h1><p>{_figures(encoding)}</p></header>"
    drawn = "".join(_pictures(encoding, pictures, all_drawn))
    return document(
        f"{visible_name(title)} · tokens",
        f"<main>\n{header}\n{_tokens(encoding, pictures, limit)}\n{drawn}\n</main>",
        style=STYLE + _PAGE_STYLE,
        script=_SCRIPT if pictures else "",
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


def _tokens(encoding: Encoding, pictures: Sequence[Picture], limit: int) -> str:
    shown = min(len(encoding), limit)
    stand_for = surfaces(encoding)
    links = {
        token: number
        for number, picture in enumerate(pictures, 1)
        for first, last in picture.tokens
        for token in range(first, last)
    }
    cells = []
    for place in range(shown):
        token, is_special = encoding.tokens[place], encoding.special[place]
        name = SPECIAL_CLASS if is_special else f"ts-c{place % len(PALETTE)}"
        names = f"t ts-fill {name}{' special' if is_special else ''}"
        tag, link = ("a", f' href="#d{links[place]}"') if place in links else ("span", "")
        shown_token = (
            f'<{tag}{link} class="{names}" '
            f'title="{escape(token_title(encoding, place, stand_for))}">'
            f'<span class="ts-token">{marked_html(token)}</span><i>{encoding.ids[place]}</i>'
            f"</{tag}>"
        )
        cells.append((shown_token, token.endswith(b"\n")))
    rest = len(encoding) - shown
    more = f'<p class="ts-note">… and {rest:,} more tokens</p>' if rest else ""
    return (
        '<section id="tokens"><input type="checkbox" id="ids" checked>'
        '<label for="ids">ids</label>'
        f'<div class="tokens">{lines_html(cells)}</div>{more}</section>'
    )


def _pictures(encoding: Encoding, pictures: Sequence[Picture], all_drawn: bool) -> list[str]:
    if not pictures:
        return []
    parts = ["<section><h2>How they came about</h2>"]
    for number, picture in enumerate(pictures, 1):
        first, last = picture.tokens[0]
        tokens = "".join(
            f'<span class="ts-fill ts-c{i % len(PALETTE)} ts-token">{marked_html(token)}</span>'
            for i, token in enumerate(encoding.tokens[first:last][:_MOST_IN_SUMMARY])
        )
        times = len(picture.tokens)
        often = f"<small>× {times:,}</small>" if times > 1 else ""
        is_open = " open" if number <= _OPEN else ""
        parts.append(
            f'<details id="d{number}"{is_open}><summary><bdi>{tokens}</bdi>'
            f"<small>{_kind(picture)}</small>{often}</summary>{stepper_html(picture.diagram)}</details>"
        )
    if not all_drawn:
        parts.append('<p class="ts-note">Those of later stretches are left out.</p>')
    return [*parts, "</section>"]


def _kind(picture: Picture) -> str:
    diagram = picture.diagram
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


_PAGE_STYLE = """
body { margin: 0; background: var(--ts-paper); }
main { max-width: 1080px; margin: 0 auto; padding: 28px 24px 64px; }
header { margin-bottom: 4px; }
h1 { font: 600 22px/1.3 var(--ts-sans); margin: 0; overflow-wrap: anywhere; }
h2 { font: 600 16px/1.3 var(--ts-sans); margin: 32px 0 10px; }
header p { margin: 4px 0 0; color: var(--ts-dim); }
header b { color: var(--ts-ink); font-weight: 600; }
#tokens { text-align: right; }
#ids { accent-color: var(--ts-mark); vertical-align: -1px; margin: 0 5px; }
#ids + label { color: var(--ts-dim); font-size: 13px; }
.tokens {
  background: var(--ts-card); border: 1px solid var(--ts-rule); border-radius: 10px;
  padding: 14px; line-height: 1.25; font-size: 15px; text-align: start; margin-top: 4px;
}
.t {
  display: inline-block; vertical-align: top; margin: 0 2px 5px 0; padding: 2px 4px;
  border-radius: 5px; text-decoration: none; max-width: 100%; box-sizing: border-box;
}
a.t:hover, a.t:focus-visible { outline: 2px solid var(--ts-mark); outline-offset: 1px; }
.t i {
  display: block; font: 10.5px/1.3 var(--ts-sans); color: #33383e; text-align: start;
}
#ids:not(:checked) ~ .tokens i { display: none; }
#ids:not(:checked) ~ .tokens { line-height: 1.9; }
#ids:not(:checked) ~ .tokens .t { display: inline; margin: 0; padding: 2px 0; }
.special { font-weight: 600; }
s { text-decoration: none; opacity: .45; }
details {
  border: 1px solid var(--ts-rule); border-radius: 10px; margin-bottom: 6px; padding: 0 14px;
}
details[open] { padding-bottom: 8px; }
details:target { border-color: var(--ts-mark); }
summary { padding: 5px 0; cursor: pointer; display: list-item; line-height: 1.9; }
summary .ts-token { padding: 2px 3px; border-radius: 4px; margin-right: 2px; }
summary small { color: var(--ts-dim); margin-left: 10px; font-size: 12.5px; }
summary:focus-visible { outline: 2px solid var(--ts-mark); outline-offset: 3px; }
"""

_SCRIPT = f"""
{SCRIPT}
startSteppers(document);
document.addEventListener("click", (event) => {{
  const link = event.target.closest("a.t");
  if (link) document.querySelector(link.getAttribute("href")).open = true;
}});
"""
