"""Finds the published family of a pattern, however the pattern is spelled."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from toksmith.splitters.names import FAMILIES, WORDS, Family, family_by_spelling

if TYPE_CHECKING:
    from toksmith.splitters.compiler import Automaton

_BY_FINGERPRINT = {
    "cd54236e75b5f984e818a63bb46e2f25178940bfc9312ada023a66851a6fa502": "gpt2",
    "00f5e450a06a5c40be4be16ede6d1616c55bda2c04bc8a127782cc37361347ca": "cl100k",
    "538ef3b72a193dd61b60c0aaf49761488db982bbedf4bc8ffb4fb7e70f254f57": "cl100k-tiktoken",
    "625c94f51f9f0863609f6a256350e84223facdfb3312422d88a16e124ff2cc42": "qwen2",
    "c54005c562ae00cf349fc845ab06c843a7d163e2daa2f13e86015ce2944b49e7": "o200k",
}
"""The families by the fingerprints of their automata, so that none of them is compiled."""


@lru_cache(maxsize=256)
def family_of(pattern: str, gaps: Literal["keep", "drop"] = "keep") -> Family | None:
    r"""Return the family that makes the same chunks of every text as a pattern.

    Args:
        pattern: a regular expression.
        gaps: what becomes of text that no match of the pattern covers: ``"keep"`` makes each gap
            a chunk. The families leave no gaps.

    Example:
        >>> words_and_marks = r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
        >>> family_of(rf"'(?:[dmst]|ll|re|ve)|{words_and_marks}|\s+(?!\S)").name
        'gpt2'
    """
    if pattern == WORDS:
        return None
    return family_by_spelling(pattern) or _family_by_automaton(pattern, gaps)


def fingerprint(automaton: Automaton) -> str:
    """Return a fingerprint of an automaton; only equal automata have equal ones."""
    from hashlib import sha256  # slow to import

    parts = (
        automaton.classes.starts,
        automaton.classes.classes,
        automaton.next,
        automaton.accepts,
        automaton.starts,
    )
    return sha256(repr(parts).encode()).hexdigest()


def _family_by_automaton(pattern: str, gaps: Literal["keep", "drop"]) -> Family | None:
    from toksmith.splitters import compiler  # 65 kB of tables, which known spellings do not need

    if compiler.refusal_of(pattern) is not None:
        return None
    compiles = compiler.compile_covering if gaps == "keep" else compiler.compile_pattern
    automaton = compiles(pattern)
    name = None if automaton is None else _BY_FINGERPRINT.get(fingerprint(automaton))
    return None if name is None else FAMILIES[name]
