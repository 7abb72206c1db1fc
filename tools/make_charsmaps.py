"""Writes the compiled maps of SentencePiece's named rules, which take seconds to compile.

python tools/make_charsmaps.py
"""

from __future__ import annotations

from toksmith.stages.charsmap_building import compile_charsmap
from toksmith.stages.charsmap_rules import RULES, pack, packed_file, rule_entries


def main() -> None:
    for name in RULES:
        if name != "identity":
            path = packed_file(name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(pack(compile_charsmap(rule_entries(name))))
            print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
