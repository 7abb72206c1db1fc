"""Writes the character class tables of the split patterns, from Unicode 16.0.

tiktoken and tokenizers use the classes of Unicode 16.0, so the kernel and the reference do too,
whatever Unicode the running Python or its ``regex`` package knows. Run with:

    pip install unicodedata2==16.0.0; python tools/make_unicode_tables.py
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import unicodedata2

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ROOT / "native/kernel/split/unicode_runs.hpp"
REFERENCE = ROOT / "src/toksmith/stages/tables_unicode16.py"

# Unicode's White_Space property (PropList.txt), stable since Unicode 6.3.
WHITE_SPACE = {
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
}  # fmt: skip

# The order is the kernel's `enum class Class`.
OTHER, UPPER, LOWER, UNCASED, MARK, NUMBER, SPACE, NEWLINE = range(8)
CATEGORY_CLASS = {"Lu": UPPER, "Lt": UPPER, "Ll": LOWER, "Lm": UNCASED, "Lo": UNCASED}


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


def ranges(category: str) -> list[str]:
    """Return the ranges, as a character class writes them, of all characters of a category."""
    inside = [
        code_point
        for code_point in range(0x110000)
        if unicodedata2.category(chr(code_point)).startswith(category)
    ]
    parts = []
    for _, run in groupby(enumerate(inside), key=lambda item: item[1] - item[0]):
        points = [code_point for _, code_point in run]
        first, last = f"\\U{points[0]:08x}", f"\\U{points[-1]:08x}"
        parts.append(first if first == last else f"{first}-{last}")
    return parts


def reference_table() -> str:
    lines = [
        '"""Character classes of Unicode 16.0; written by tools/make_unicode_tables.py."""\n',
        "CLASSES: dict[str, str] = {",
    ]
    for category in ("Lu", "Ll", "Lt", "Lm", "Lo", "M", "N"):
        parts = ranges(category)
        lines.append(f'    "{category}": (')
        lines += ['        r"' + "".join(parts[i : i + 4]) + '"' for i in range(0, len(parts), 4)]
        lines.append("    ),")
    lines.append("}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    KERNEL.write_text(kernel_table())
    REFERENCE.write_text(reference_table())
