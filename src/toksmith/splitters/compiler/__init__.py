r"""A compiler from split patterns to automata that find the same matches.

pattern → tree (`parser`) → program (`program`) → automaton (`subsets`) → minimal (`minimal`)
→ transducer (`attempts`) → one transducer of several patterns (`composition`)

The classes of characters are those of Unicode 16.0. A pattern is in the subset if its matches can
be found from left to right with one character of look-ahead and look-behind; nearly all published
patterns can. The message of the error says why another one cannot.
"""

from __future__ import annotations

from functools import lru_cache

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.automaton import Automaton
from toksmith.splitters.compiler.code_points import EVERY
from toksmith.splitters.compiler.minimal import minimize
from toksmith.splitters.compiler.parser import parse
from toksmith.splitters.compiler.program import make_program
from toksmith.splitters.compiler.subsets import determinize
from toksmith.splitters.compiler.tree import Characters, Choice, Tree

__all__ = ["Automaton", "compile_covering", "compile_pattern", "refusal_of"]


def compile_pattern(pattern: str) -> Automaton:
    r"""Return the minimal automaton of a pattern.

    Args:
        pattern: a regular expression of the ``regex`` package.

    Raises:
        UnsupportedError: the pattern is outside the subset; the message says why.

    Example:
        >>> automaton = compile_pattern(r" ?\p{L}+|\s+(?!\S)|\s+")
        >>> automaton.states, automaton.classes.count, automaton.spans("to  be")
        (5, 4, [(0, 2), (2, 3), (3, 6)])
    """
    found = _compiled(pattern)
    if isinstance(found, str):
        raise UnsupportedError(f"split pattern {pattern!r:.80} has no automaton: {found}")
    return found


def refusal_of(pattern: str) -> str | None:
    r"""Return the reason why a pattern is outside the subset, as a clause; ``None`` if it is not.

    Example:
        >>> refusal_of(r"(?=ab)a"), refusal_of(r"\s+")
        ('a look-ahead sees more than one character', None)
    """
    found = _compiled(pattern)
    return found if isinstance(found, str) else None


def compile_covering(pattern: str) -> Automaton | None:
    r"""Return the minimal automaton whose matches are a pattern's matches and the gaps between.

    Returns:
        The automaton; ``None`` if a gap may be longer than one character.

    Raises:
        UnsupportedError: the pattern is outside the subset.

    Example:
        >>> compile_covering(r"\S+|\s+(?!\S)").spans("to be")
        [(0, 2), (2, 3), (3, 5)]
    """
    plain = compile_pattern(pattern)
    if plain.covers():
        return plain
    if plain.has_long_gaps():
        return None
    return _build(Choice((parse(pattern), Characters(EVERY))))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Automaton | str:
    try:
        automaton = _build(parse(pattern))
    except UnsupportedError as outside:
        return str(outside)
    except RecursionError:
        return "its groups are nested too deeply"
    if any(automaton.accepts[start] for start in automaton.starts):
        return "it can match without a character"
    return automaton


def _build(tree: Tree) -> Automaton:
    return minimize(determinize(make_program(tree)))
