r"""The published split patterns, and how to recognise one that was written out by hand.

A family is a pattern that the kernel scans without a regular-expression engine. The same family
is published in several spellings that match the same text; all known spellings are listed, so
that a file which holds any of them runs on the fast scanner.

``cl100k`` and ``cl100k-tiktoken`` differ in one place only: since 0.8, tiktoken's pattern takes
all white space at the end of the text as one chunk (``\s++$``), where the original, and every
other library, ends a chunk after the last line break.
"""

from __future__ import annotations

from dataclasses import dataclass

from toksmith._base.visible import short_repr

_GPT2_ORIGINAL = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CL100K_TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


@short_repr
@dataclass(frozen=True)
class Family:
    """One published split pattern.

    Attributes:
        name: the name the kernel knows it by.
        pattern: the spelling that files are written with.
        spellings: other spellings that match the same text.
    """

    name: str
    pattern: str
    spellings: tuple[str, ...] = ()


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "gpt2",
            _GPT2_ORIGINAL,
            (
                r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++"
                r"|\s++$|\s+(?!\S)|\s",
            ),
        ),
        Family(
            "cl100k",
            _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _CL100K_TAIL,
            (
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
                r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _CL100K_TAIL,
            ),
        ),
        Family(
            "cl100k-tiktoken",
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        ),
        Family(
            "qwen2",
            _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _CL100K_TAIL,
        ),
        Family(
            "o200k",
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}?"
            rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
    )
}
"""The families by name."""

_BY_SPELLING = {
    spelling: family
    for family in FAMILIES.values()
    for spelling in (family.pattern, *family.spellings)
}


def family_of(pattern: str) -> Family | None:
    """Return the family that this pattern is a spelling of, if it is one.

    Example:
        >>> family_of(FAMILIES["gpt2"].spellings[0]).name
        'gpt2'
    """
    return _BY_SPELLING.get(pattern)
