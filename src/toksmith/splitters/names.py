r"""The published split patterns, and the names that ``split=`` takes.

A family is a pattern that the kernel scans without a regular-expression engine. The same family
is published in several spellings that match the same text. The common spellings are listed, and
found without compiling anything; :mod:`toksmith.splitters.recognition` finds all others.

``cl100k`` and ``cl100k-tiktoken`` differ in one place only: since 0.8, tiktoken's pattern takes
all white space at the end of the text as one chunk (``\s++$``), where the original, and every
other library, ends a chunk after the last line break.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from toksmith._base.model_names import MODELS, encoding_of_model
from toksmith._base.records import dataclass
from toksmith._base.visible import short_repr
from toksmith.errors import SplitError

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

    Example:
        >>> FAMILIES["gpt2"].pattern[:25], len(FAMILIES["gpt2"].spellings)
        ("'s|'t|'re|'ve|'m|'ll|'d| ", 3)
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


def family_by_spelling(pattern: str) -> Family | None:
    """Return the family that lists this pattern as one of its spellings.

    Args:
        pattern: a regular expression.

    Example:
        >>> family_by_spelling(FAMILIES["gpt2"].spellings[0]).name
        'gpt2'
    """
    return _BY_SPELLING.get(pattern)


WORDS = r"\S+|\s"
"""Words as ``str.split`` finds them, and each white-space character on its own."""

NAMES: dict[str, tuple[str, ...]] = {
    "gpt2": ("r50k", "r50k_base", "p50k", "p50k_base", "p50k_edit", "gpt3"),
    "cl100k": ("gpt4", "llama3", "llama3.1", "llama3.2", "llama3.3"),
    "cl100k-tiktoken": ("cl100k_base",),
    "qwen2": ("qwen", "qwen2.5", "qwen3"),
    "o200k": ("o200k_base", "o200k_harmony", "gpt4o", "gpt5", "gpt-oss", "toksmith-small"),
    "words": (),
    "none": (),
}
"""The names, each with its aliases. Case, ``-``, ``_`` and ``.`` inside a name, and white space
around it make no difference.

The names of OpenAI's models are known as well (:mod:`toksmith._base.model_names`), and those that
llama.cpp has for split patterns (:func:`listed_patterns`), such as ``deepseek-v3`` or ``tekken``.

``cl100k_base`` is the pattern of tiktoken's encoding of that name; ``cl100k``, ``gpt4`` and
``llama3`` are the pattern as all other libraries have it.
"""

_LITERAL = re.compile(r"[^\\^$*+?{}\[\]|()]*")


def key_of(name: str) -> str:
    """Return the spelling by which names of splits are compared.

    Example:
        >>> key_of(" GPT-4 "), key_of("gpt4")
        ('gpt4', 'gpt4')
    """
    return re.sub(r"[-_.]", "", name.strip().lower())


_BY_KEY = {key_of(each): name for name, aliases in NAMES.items() for each in (name, *aliases)}
_PATTERNS: dict[str, str | None] = {
    **{name: family.pattern for name, family in FAMILIES.items()},
    "words": WORDS,
    "none": None,
}
_OF_ENCODING = {"cl100k_base": "cl100k", "o200k_base": "o200k", "o200k_harmony": "o200k"}
_OF_MODEL = {
    key_of(model): _OF_ENCODING.get(encoding, "gpt2")
    for encoding, models in MODELS.items()
    for model in models
}


@cache
def listed_patterns() -> dict[str, tuple[str, ...]]:
    """Return the patterns that llama.cpp has for each name of a split.

    Several patterns split one after the other: each cuts the chunks of the one before it.

    Example:
        >>> len(listed_patterns()["deepseek-v3"])
        3
    """
    return {
        name: tuple(each["patterns"])
        for each in llama_cpp_splits()
        for name in each["names"]
        if name != "default"
    }


@cache
def llama_cpp_splits() -> list[dict[str, Any]]:
    """Return ``toksmith/data/gguf_pre.json``: names, patterns and rules of llama.cpp."""
    import json
    from importlib.resources import files

    found: list[dict[str, Any]] = json.loads(
        (files("toksmith") / "data/gguf_pre.json").read_bytes()
    )
    return found


def name_of(patterns: tuple[str, ...]) -> str | None:
    """Return a name that :func:`listed_patterns` has for these patterns, if there is one.

    Example:
        >>> name_of(listed_patterns()["hunyuan-dense"])
        'deepseek-v3'
    """
    return next((name for name, each in listed_patterns().items() if each == patterns), None)


def patterns_of(split: str, also: Sequence[str] = ()) -> tuple[str, ...]:
    r"""Return the patterns of a split that a user named or wrote; none for ``"none"``.

    Args:
        split: a name or a regular expression. Text with a letter or digit and without
            metacharacters is always a name: as a pattern it would match itself alone, and leave
            all other text in one piece.
        also: further names that the caller accepts, for the message.

    Raises:
        SplitError: it is not a known name, and has no metacharacters.

    Example:
        >>> patterns_of("GPT-4o") == (FAMILIES["o200k"].pattern,)
        True
        >>> patterns_of("mistral")
        Traceback (most recent call last):
        toksmith.errors.SplitError: unknown split 'mistral'. Known names: gpt2 (r50k, ...
    """
    name = _BY_KEY.get(key_of(split)) or _OF_MODEL.get(key_of(split))
    if name is not None:
        pattern = _PATTERNS[name]
        return () if pattern is None else (pattern,)
    if not (_LITERAL.fullmatch(split) and re.search(r"\w", split)):
        return (split,)
    for known, patterns in listed_patterns().items():
        if key_of(known) == key_of(split):
            return patterns
    if encoding := encoding_of_model(split.strip().lower()):
        return (FAMILIES[_OF_ENCODING.get(encoding, "gpt2")].pattern,)
    raise SplitError(_unknown(split, also))


def _unknown(split: str, also: Sequence[str]) -> str:
    from difflib import get_close_matches  # slow to import

    names = [*listed_patterns(), *also]
    every = {**{key_of(name): name for name in names}, **_BY_KEY}
    spelled = {key_of(each): each for each in names}
    spelled |= {key_of(each): each for name, group in NAMES.items() for each in (name, *group)}
    near = get_close_matches(key_of(split), every, n=2, cutoff=0.75)
    hint = " or ".join(repr(spelled.get(key, key)) for key in near)
    known = ", ".join(
        f"{name} ({', '.join(group)})" if group else name for name, group in NAMES.items()
    )
    return (
        f"unknown split {split!r:.80}{f' (did you mean {hint}?)' if hint else ''}. Known names: "
        f"{', '.join([known, *also])}; names of models (gpt-4o-mini, …), of llama.cpp's splits "
        "(deepseek-v3, tekken, …) and regular expressions are accepted too"
    )
