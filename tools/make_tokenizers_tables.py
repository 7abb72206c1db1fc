"""Writes the character tables of `tokenizers`, found by running `tokenizers` on each character.

Its libraries are of different ages: combining marks and normalization forms are those of Unicode
9.0, punctuation, non-spacing and control characters those of 8.0, scripts of about 10.0, words
those of 16.0, digits and lower case those of 17.0. No Python package has all of them, so each
character is passed to `tokenizers`. Run with:

    pip install tokenizers==0.23.3 unicodedata2==16.0.0; python tools/make_tokenizers_tables.py
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path

import unicodedata2
from tokenizers import normalizers, pre_tokenizers

TABLE = Path(__file__).resolve().parent.parent / "src/toksmith/stages/tables_tokenizers.py"
CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def ranges(characters: Iterable[str]) -> str:
    parts = []
    for _, run in groupby(enumerate(map(ord, characters)), key=lambda item: item[1] - item[0]):
        codes = [code for _, code in run]
        parts.append(f"{codes[0]:x}" + (f"-{codes[-1]:x}" if len(codes) > 1 else ""))
    return " ".join(parts)


def removed(normalizer: normalizers.Normalizer) -> str:
    return ranges(c for c in CHARACTERS if not normalizer.normalize_str(c))


def cut(splitter: pre_tokenizers.PreTokenizer, pieces: int, beside: str) -> str:
    """Return the characters that make ``pieces`` pieces between two of another kind."""
    return ranges(
        c for c in CHARACTERS if len(splitter.pre_tokenize_str(beside + c + beside)) == pieces
    )


def inert() -> str:
    """Return what is too new for the normalization forms of `tokenizers`, and takes part in ours.

    A character takes part when it decomposes, composes, or moves past others.
    """
    nfd, nfkd = normalizers.NFD(), normalizers.NFKD()
    found = set()
    for c in CHARACTERS:
        parts = unicodedata2.normalize("NFKD", c)
        if parts != c and nfkd.normalize_str(c) == c:
            found.add(c)
            if not unicodedata2.decomposition(c).startswith("<"):
                parts = unicodedata2.normalize("NFD", c)
                found.update(part for part in parts if not unicodedata2.combining(part))
        order = unicodedata2.combining(c)
        if order:  # an acute accent belongs behind it, or a dot below before it
            text = "\u0301" + c if order < 230 else c + "\u0323"
            if nfd.normalize_str(text) == text:
                found.add(c)
    return ranges(sorted(found))


def lower() -> str:
    """Return runs of letters, first-last/step+distance, to their lower case."""
    lowercase = normalizers.Lowercase()
    changed = [(ord(c), lowercase.normalize_str(c)) for c in CHARACTERS]
    pairs = [(code, ord(new) - code) for code, new in changed if len(new) == 1 and ord(new) != code]
    runs: list[list[int]] = []  # first, last, step, distance
    for code, distance in pairs:
        if runs and runs[-1][3] == distance:
            first, last, step, _ = runs[-1]
            if code - last in ((1, 2) if first == last else (step,)):
                runs[-1][1:3] = [code, code - last]
                continue
        runs.append([code, code, 1, distance])
    return " ".join(f"{first:x}-{last:x}/{step}{by:+x}" for first, last, step, by in runs)


def scripts() -> str:
    """Return where a run of one script starts, and its number; 0 stands with any script."""
    splitter = pre_tokenizers.UnicodeScripts()

    def together(a: str, b: str) -> bool:
        return len(splitter.pre_tokenize_str(a + b)) == 1

    heads: list[str] = []  # a character of each script
    parts = []
    previous = 0
    for c in CHARACTERS:
        if together("a", c) and together("я", c):
            script = 0
        elif previous and together(heads[previous - 1], c):
            script = previous
        else:
            found = (place for place, head in enumerate(heads, 1) if together(head, c))
            if not (script := next(found, 0)):
                heads.append(c)
                script = len(heads)
        if script != previous:
            parts.append(f"{ord(c):x}:{script}")
        previous = script
    return " ".join(parts)


def bert(**chosen: bool) -> normalizers.Normalizer:
    steps = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return normalizers.BertNormalizer(**{step: chosen.get(step, False) for step in steps})


MAKERS: dict[str, tuple[str, Callable[[], str]]] = {
    "MARK": ("Combining marks (StripAccents).", lambda: removed(normalizers.StripAccents())),
    "NONSPACING": (
        "Non-spacing marks (BertNormalizer).",
        lambda: removed(bert(strip_accents=True)),
    ),
    "CONTROL": (
        "What clean_text of BertNormalizer removes.",
        lambda: removed(bert(clean_text=True)),
    ),
    "IDEOGRAPH": (
        "What handle_chinese_chars of BertNormalizer puts spaces around.",
        lambda: ranges(
            c
            for c in CHARACTERS
            if bert(handle_chinese_chars=True).normalize_str(c) == f" {c} "
        ),
    ),
    "PUNCTUATION": (
        "Punctuation, of ASCII all that is neither letter, digit nor space.",
        lambda: cut(pre_tokenizers.Punctuation("isolated"), 3, "a"),
    ),
    "NUMBER": ("Numbers (Digits).", lambda: cut(pre_tokenizers.Digits(True), 3, "a")),
    "WORD": (
        r"Word characters, ``\w`` (Whitespace).",
        lambda: cut(pre_tokenizers.Whitespace(), 1, "a"),
    ),
    "INERT": ("What is too new for the normalization forms, and so keeps as it is.", inert),
    "LOWER": ("Lower case: first-last/step and the distance; U+0130 apart.", lower),
    "SCRIPTS": ("Scripts: where a run starts, and a number; 0 stands with any script.", scripts),
}  # fmt: skip


def table() -> str:
    lines = [
        '"""Character tables of `tokenizers`; written by tools/make_tokenizers_tables.py."""\n'
    ]
    for name, (comment, make) in MAKERS.items():
        wrapped = textwrap.wrap(make(), 92, break_on_hyphens=False)
        lines += [f"# {comment}", f"{name} = (", *(f'    "{line} "' for line in wrapped), ")\n"]
    return "\n".join(lines)


if __name__ == "__main__":
    TABLE.write_text(table())
