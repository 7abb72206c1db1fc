"""Compile the kernel for macOS and Windows on another machine, with warnings as errors.

`make cross-check` runs it. Each source becomes an object file, and the objects of a target become
one library, so that a missing symbol is found too. Nothing is run. The compiler is Zig's clang,
which brings the headers and libraries of both systems along.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

TARGETS = {"x86_64-windows-gnu": "dll", "aarch64-macos": "dylib", "x86_64-macos": "dylib"}
"""Zig's names of the targets, with the suffix of their libraries."""
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion")
OUT = Path("build/cross")


def _zig(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ziglang", "c++", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"ZIG_GLOBAL_CACHE_DIR": str(OUT.absolute() / "cache"), **os.environ},
    )


@cache
def _last_change() -> float:
    return max(path.stat().st_mtime for path in Path("native/kernel").rglob("*"))


def _compile(source: Path, target: str) -> tuple[Path, str]:
    """Return the object file of a source, and the compiler's complaints."""
    made = OUT / target / "-".join(source.with_suffix(".o").parts[2:])
    if made.exists() and made.stat().st_mtime > _last_change():
        return made, ""
    found = _zig(
        *("-target", target, "-std=c++20", "-O0", "-fno-sanitize=undefined", *WARNINGS, "-Werror"),
        *("-Inative/kernel", "-c", source, "-o", made),
    )
    if found.returncode == 0 and not found.stderr:
        return made, ""
    made.unlink(missing_ok=True)
    return made, found.stderr or "the compiler failed"


def _check(target: str, sources: Sequence[Path]) -> bool:
    """Compile and link all sources for a target; print what is wrong."""
    (OUT / target).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = list(pool.map(lambda source: _compile(source, target), sources))
    complaints = [complaint for _, complaint in compiled if complaint]
    if not complaints:
        library = OUT / target / f"kernel.{TARGETS[target]}"
        linked = _zig("-target", target, "-shared", "-o", library, *(made for made, _ in compiled))
        complaints = [linked.stderr or "the linker failed"] if linked.returncode else []
    print(f"{target}: {len(sources)} files, {'; '.join(complaints) or 'no warnings, linked'}")
    return not complaints


def main(targets: Sequence[str]) -> int:
    """Check the targets given, or all of them; return the exit code."""
    sources = sorted(Path("native/kernel").rglob("*.cpp"))
    checked = [_check(target, sources) for target in targets or TARGETS]
    return 0 if all(checked) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
