"""Writes the character tables of the split patterns, from Unicode 16.0.

tiktoken and tokenizers use the classes of Unicode 16.0, so the kernel and the reference do too,
whatever Unicode the running Python or its ``regex`` package knows. Scripts, Alphabetic and case
variants come from ``regex``, without the characters that are younger than 16.0. Run with:

    pip install unicodedata2==16.0.0; python tools/make_unicode_tables.py
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from itertools import groupby
from pathlib import Path

import regex
import unicodedata2
from regex import _regex_core

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ROOT / "native/kernel/split/unicode_runs.hpp"
COMPILER = ROOT / "src/toksmith/splitters/compiler/tables_unicode16.py"

# Unicode's White_Space property (PropList.txt), stable since Unicode 6.3.
WHITE_SPACE = {
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
}  # fmt: skip

# The order is the kernel's `enum class Class`.
OTHER, UPPER, LOWER, UNCASED, MARK, NUMBER, SPACE, NEWLINE = range(8)
CATEGORY_CLASS = {"Lu": UPPER, "Lt": UPPER, "Ll": LOWER, "Lm": UNCASED, "Lo": UNCASED}

EVERY = "".join(map(chr, range(0x110000)))
ASSIGNED = "".join(c for c in EVERY if unicodedata2.category(c) not in ("Cn", "Cs"))


def kernel_class(code_point: int) -> int:
    if code_point in (0x0A, 0x0D):
        return NEWLINE
    if code_point in WHITE_SPACE:
        return SPACE
    category = unicodedata2.category(chr(code_point))
    if category[0] in "MN":
        return MARK if category[0] == "M" else NUMBER
    return CATEGORY_CLASS.get(category, OTHER)


def kernel_table() -> str:
    """Return the kernel's header: each run of code points of one class is a letter and a length."""
    classes = [kernel_class(code_point) for code_point in range(0x110000)]
    text = ""
    for kind, run in groupby(classes):
        length = sum(1 for _ in run)
        text += "abcdefgh"[kind] + (str(length) if length > 1 else "")
    blocks = [classes[start : start + 128] for start in range(0, 0x110000, 128)]
    mixed = [block for block in blocks if len(set(block)) > 1]
    filling = {block[0] for block in blocks if len(set(block)) == 1}
    lines = "\n".join(f'    "{text[i : i + 92]}"' for i in range(0, len(text), 92))
    return (
        "// Written by tools/make_unicode_tables.py from Unicode 16.0; do not edit.\n"
        "#pragma once\n\n#include <cstddef>\n\n"
        "// clang-format off\n"
        "namespace toksmith::unicode {\n\n"
        "// The classes of all code points in order: a letter, 'a' for the first class, and how\n"
        "// many code points of that class follow each other, if more than one.\n"
        f"inline constexpr char kRuns[] =\n{lines};\n\n"
        "// The blocks of 128 code points that are of several classes, and one for each class\n"
        "// that fills blocks.\n"
        f"inline constexpr std::size_t kBlocks = {len(mixed) + len(filling)};\n\n"
        "}  // namespace toksmith::unicode\n"
        "// clang-format on\n"
    )


def runs(kinds: list[str]) -> str:
    """Return the runs of equal kinds: each kind, and how many code points follow in a row."""
    return " ".join(f"{kind}{sum(1 for _ in run)}" for kind, run in groupby(kinds))


def scripts() -> dict[str, list[str]]:
    """Return the names of each script without white space, hyphens and underscores."""
    names = defaultdict(list)
    for name, number in _regex_core.PROPERTIES["SCRIPT"][1].items():
        names[number].append(name.lower())
    return {
        first: others
        for first, *others in names.values()
        if regex.search(rf"\p{{Script={first}}}", ASSIGNED)
    }


def script_runs() -> str:
    kinds = ["unknown"] * 0x110000
    for name in scripts():
        for character in regex.findall(rf"\p{{Script={name}}}", ASSIGNED):
            kinds[ord(character)] = name
    return runs(kinds)


def case_variants() -> str:
    """Return each character, before the others that match it where case does not matter."""
    cased = regex.findall(r"\p{Changes_When_Casemapped}", ASSIGNED)
    text = "".join(cased)
    variants = {c: regex.findall(f"(?i){regex.escape(c)}", text) for c in cased}
    groups = defaultdict(list)
    for c, found in variants.items():
        groups["".join(found)].append(c)
    return " ".join(
        "".join([c, *(v for v in found if v != c)])
        for found, group in groups.items()
        for c in group
        if len(found) > 1
    )


def compiler_table() -> str:
    def text(name: str, about: str, value: str, width: int = 92) -> str:
        lines = textwrap.wrap(value, width, break_long_words=False, break_on_hyphens=False)
        return f"# {about}\n{name} = (\n" + "".join(f'    "{x} "\n' for x in lines) + ")\n"

    alphabetic = set(regex.findall(r"\p{Alphabetic}", ASSIGNED))
    return "\n".join(
        (
            '"""Properties of Unicode 16.0; written by tools/make_unicode_tables.py."""\n',
            text(
                "CATEGORIES",
                "Runs of general categories, with their lengths.",
                runs([unicodedata2.category(c) for c in EVERY]),
            ),
            text("SCRIPTS", "Runs of scripts, with their lengths.", script_runs()),
            text(
                "SCRIPT_NAMES",
                "The other names of scripts.",
                " ".join(
                    f"{other}:{name}" for name, others in scripts().items() for other in others
                ),
            ),
            text(
                "ALPHABETIC",
                "Runs of characters that are (y) or are not (n) Alphabetic.",
                runs(["y" if c in alphabetic else "n" for c in EVERY]),
            ),
            text(
                "CASE_VARIANTS",
                "Each cased character, and the others that match it where case does not matter.",
                case_variants(),
                width=46,  # some characters are two columns wide
            ),
        )
    )


if __name__ == "__main__":
    KERNEL.write_text(kernel_table())
    COMPILER.write_text(compiler_table())
