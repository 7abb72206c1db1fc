"""The choice of diagrams for a text: those of its distinct chunks, or of its distinct tokens."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith._base.text import Text, utf8
from toksmith.models import Unigram
from toksmith.results import Encoding
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special
from toksmith.trace.diagrams import Diagram, Lattice, MergeTree

LONGEST_TEXT = 30_000
"""Above this size in bytes, single tokens are drawn instead of chunks."""

LONGEST_CHUNK = 1_000
"""The same limit for a text that is one chunk, and for a token: merging takes n² steps."""


@dataclass(frozen=True)
class PlacedDiagram:
    """A diagram and the places of the text that it shows.

    Attributes:
        diagram: what to draw.
        tokens: for each place, its tokens in the encoding: the first, and one past the last.
    """

    diagram: Diagram
    tokens: tuple[tuple[int, int], ...]


def choose_diagrams(
    tok: Tokenizer, text: Text, encoding: Encoding, special: Special = "text", most: int = 300
) -> tuple[list[PlacedDiagram], bool]:
    """Return the diagrams of a text, each once, in the order of their first places.

    Args:
        tok: the tokenizer.
        text: the text.
        encoding: its tokens.
        special: how special tokens in the text are read, as in ``encode``.
        most: the largest number of diagrams.

    Returns:
        The diagrams, and whether these are all.
    """
    data = utf8(text)
    places = [place for place, which in enumerate(encoding.sequence) if which == 0]
    found = _chunks(tok, data, special) if _is_short(tok, data) else None
    if found is None or [i for part in found for i in part.ids] != [
        encoding.ids[place] for place in places
    ]:
        return _tokens(tok, encoding, places, most)
    where: dict[tuple[bytes, tuple[int, ...]], list[tuple[int, int]]] = {}
    drawn: dict[tuple[bytes, tuple[int, ...]], Diagram] = {}
    done = 0
    for part in found:
        size = len(part.ids)
        if size:
            stretch = places[done], places[done + size - 1] + 1
            where.setdefault((part.text, part.ids), []).append(stretch)
            drawn.setdefault((part.text, part.ids), part)
        done += size
    all_of_them = [
        PlacedDiagram(each, tuple(where[key])) for key, each in drawn.items() if _is_telling(each)
    ]
    return all_of_them[:most], len(all_of_them) <= most


def _is_short(tok: Tokenizer, data: bytes) -> bool:
    cuts = tok.pipeline.splitter is not None or isinstance(tok.pipeline.model, Unigram)
    return len(data) <= (LONGEST_TEXT if cuts else LONGEST_CHUNK)


def _chunks(tok: Tokenizer, data: bytes, special: Special) -> list[Diagram]:
    return [part for drawn in tok.explain(data, special=special).diagrams for part in drawn.parts]


def _tokens(
    tok: Tokenizer, encoding: Encoding, places: list[int], most: int
) -> tuple[list[PlacedDiagram], bool]:
    """Return the diagrams of the distinct tokens that are not too long."""
    where: dict[int, list[tuple[int, int]]] = {}
    for place in places:
        where.setdefault(encoding.ids[place], []).append((place, place + 1))
    found: list[PlacedDiagram] = []
    are_all = True
    for token_id, stretches in where.items():
        if len(encoding.tokens[stretches[0][0]]) > LONGEST_CHUNK:
            are_all = False
            continue
        drawn = tok.explain_token(token_id).diagrams[0]
        if not _is_telling(drawn):
            continue
        if len(found) == most:
            return found, False
        found.append(PlacedDiagram(drawn, tuple(stretches)))
    return found, are_all


def _is_telling(diagram: Diagram) -> bool:
    """Return whether a diagram shows more than the token itself."""
    if isinstance(diagram, MergeTree):
        return len(diagram.nodes) > 1
    if isinstance(diagram, Lattice):
        return len(diagram.edges) > 1
    return len(diagram.matches) > 1 or any(match.tried for match in diagram.matches)
