"""The origin of a token in a text: the diagram of the word around it.

Only text around the token is traced, first its word, then its line, and only accepted if it yields
the same token at the same place. Otherwise the diagram shows the encoding of the token's own bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from toksmith.show.diagram_choice import LONGEST_CHUNK
from toksmith.show.diagram_html import stepper_html
from toksmith.show.notebook import visible_html
from toksmith.tokenizer import Tokenizer
from toksmith.trace.diagrams import Diagram, MergeTree

if TYPE_CHECKING:
    from toksmith.trace.explain import Explanation

_LINE = 400
_WORD = 200


@dataclass(frozen=True)
class Origin:
    """The diagram of a token.

    Attributes:
        diagram: of the chunk, or of the token alone.
        in_text: whether the diagram is of the text; otherwise it is of the token's own bytes.
        reached: whether it ends in the token.
        place: the token's index among those of the diagram.
    """

    diagram: Diagram
    in_text: bool
    reached: bool
    place: int = 0


@dataclass(frozen=True)
class TokenPlace:
    """The place of a token in a text.

    Attributes:
        data: the text.
        start: the token's first byte.
        ids: the ids of the tokens around it in the text.
    """

    data: bytes
    start: int
    ids: Sequence[int]


def find_origin(tok: Tokenizer, token_id: int, place: TokenPlace | None = None) -> Origin | None:
    """Return the origin of a token; ``None`` for tokens that no model makes, such as special ones.

    It is also ``None`` for a token of more than ``LONGEST_CHUNK`` bytes, unless the text around its
    place can be traced.

    Args:
        tok: the tokenizer.
        token_id: the token.
        place: its place in a text; without it, the token's own bytes are traced.
    """
    if any(added.id == token_id for added in tok.pipeline.framing.added_tokens):
        return None
    if place and (found := _in_text(tok, token_id, place)):
        return Origin(found[0], in_text=True, reached=True, place=found[1])
    if len(tok.token_bytes(token_id)) > LONGEST_CHUNK:
        return None
    alone = tok.explain_token(token_id)
    if not alone.diagrams:
        return None
    return Origin(alone.diagrams[0], in_text=False, reached=alone.reached)


def _in_text(tok: Tokenizer, token_id: int, place: TokenPlace) -> tuple[Diagram, int] | None:
    for start, end in _surroundings(place.data, place.start):
        explained = tok.explain(place.data[start:end])
        # A token may start with the space before the excerpt.
        found = _covering(tok, explained, token_id, max(place.start - start, 0))
        if found is not None and _contains(place.ids, found[0].ids):
            return found
    return None


def _surroundings(data: bytes, place: int) -> Iterator[tuple[int, int]]:
    """Yield spans around a place: the word with the space before it, without it, and the line."""
    space = data.rfind(b" ", max(place - _WORD, 0), place + 1)
    line = max(data.rfind(b"\n", max(place - _LINE, 0), place) + 1, place - _LINE, 0)
    start = max(space, line)
    inside = place + 1
    while inside < len(data) and data[inside - 1] == ord(" "):
        inside += 1
    ends = [at for at in (data.find(b" ", inside), data.find(b"\n", inside)) if at >= 0]
    end = min([*ends, place + _WORD, len(data)])
    start, end = _whole(data, start), _whole(data, end)
    yield start, end
    if data[start : start + 1] == b" ":
        yield start + 1, end
    yield _whole(data, line), end
    after = data.find(b"\n", place, place + _LINE)
    yield _whole(data, line), _whole(data, min(after + 1 or place + _LINE, len(data)))


def _whole(data: bytes, place: int) -> int:
    """Return the start of the character at a place."""
    while 0 < place < len(data) and data[place] & 0xC0 == 0x80:
        place -= 1
    return place


def _contains(ids: Sequence[int], part: Sequence[int]) -> bool:
    size = len(part)
    return any(tuple(ids[i : i + size]) == tuple(part) for i in range(len(ids) - size + 1))


def _covering(
    tok: Tokenizer, explained: Explanation, token_id: int, place: int
) -> tuple[Diagram, int] | None:
    """Return the diagram of the word that holds a token at a place, and which of its tokens."""
    encoding = tok.encoding(explained.text)
    parts = [part for diagram in explained.diagrams for part in diagram.parts]
    if [i for part in parts for i in part.ids] != encoding.ids:
        return None
    for part, ends in zip(parts, accumulate(len(part.ids) for part in parts), strict=True):
        begins = ends - len(part.ids)
        for at in range(begins, ends):
            start, end = encoding.byte_spans[at].tolist()
            if encoding.ids[at] == token_id and start <= place <= max(end - 1, start):
                return part, at - begins
    return None


def origin_html(origin: Origin, colour: int = 0) -> str:
    """Return a diagram under a title; merges can be stepped through.

    Args:
        origin: what to show.
        colour: the index of the token's colour in the palette.
    """
    diagram = origin.diagram
    title = "How it came about in the text" if origin.in_text else "How its bytes come to it"
    parts = [f"<h3>{title}</h3>"]
    if not origin.reached:
        shown = ", ".join(visible_html(token) for token in diagram.tokens)
        parts.append(f'<p class="error">They do not: alone they become <code>{shown}</code>.</p>')
    if isinstance(diagram, MergeTree) and diagram.whole and not diagram.merges:
        parts.append('<p class="soft">It is looked up as a whole; no merges lead to it.</p>')
    return "".join(parts) + stepper_html(diagram, first=colour - origin.place)
