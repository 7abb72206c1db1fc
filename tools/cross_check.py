"""Compile the kernel and its bindings for other systems, with warnings as errors.

`make cross-check` runs it. Each source becomes an object file, and the kernel's objects become one
library, so that a missing symbol is found too. The bindings are not linked: they are compiled with
the headers of the Python that runs this, which has no library for another system. Nothing is run.
The compiler is Zig's clang, which brings the headers and libraries of all systems along.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import nanobind

TARGETS = {
    "x86_64-windows-gnu": "dll",
    "aarch64-macos": "dylib",
    "x86_64-macos": "dylib",
    "x86_64-linux-musl": "so",
    "aarch64-linux-musl": "so",
}
"""Zig's names of the targets, with the suffix of their libraries."""
OUT = Path("build/cross")
WINDOWS = """\
#define MS_WIN64
#define NT_THREADS
#define HAVE_SYS_TYPES_H 1
#define SIZEOF_WCHAR_T 2
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
"""
"""A pyconfig.h with what Python's headers need to know of 64-bit Windows."""


def _zig(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ziglang", "c++", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"ZIG_GLOBAL_CACHE_DIR": str(OUT.absolute() / "cache"), **os.environ},
    )


@cache
def _warnings() -> list[str]:
    """Return the options of the build for warnings."""
    found = re.search(r"set\(TOKSMITH_WARNINGS([^$)]*)", Path("CMakeLists.txt").read_text("utf-8"))
    assert found, "CMakeLists.txt sets TOKSMITH_WARNINGS"
    return found[1].split()


@cache
def _last_change() -> float:
    return max(path.stat().st_mtime for path in Path("native").rglob("*"))


@cache
def _headers(target: str) -> Path:
    """Return the folder of Python's headers for a target: this system's, but for pyconfig.h."""
    ours = Path(sysconfig.get_path("include"))
    if "windows" not in target:
        return ours  # pyconfig.h differs, but not in what the bindings use
    copied = OUT / target / "include"
    shutil.copytree(ours, copied, dirs_exist_ok=True)
    (copied / "pyconfig.h").write_text(WINDOWS)
    return copied


def _compile(source: Path, target: str) -> tuple[Path, str]:
    """Return the object file of a source, and the compiler's complaints."""
    made = OUT / target / "-".join(source.with_suffix(".o").parts[1:])
    if made.exists() and made.stat().st_mtime > _last_change():
        return made, ""
    code = [] if "windows" in target or "macos" in target else ["-fPIC"]  # there, all code is
    found = _zig(
        *("-target", target, "-std=c++20", "-O0", "-fno-sanitize=undefined", *code),
        *(*_warnings(), "-Werror"),
        *("-Inative/kernel", "-isystem", _headers(target), "-isystem", nanobind.include_dir()),
        *("-DNDEBUG", "-c", source, "-o", made),
    )
    if found.returncode == 0 and not found.stderr:
        return made, ""
    made.unlink(missing_ok=True)
    return made, found.stderr or "the compiler failed"


def _check(target: str, sources: Sequence[Path]) -> bool:
    """Compile all sources for a target and link the kernel's; print what is wrong."""
    (OUT / target).mkdir(parents=True, exist_ok=True)
    _headers(target)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = list(pool.map(lambda source: _compile(source, target), sources))
    complaints = [complaint for _, complaint in compiled if complaint]
    if not complaints:
        library = OUT / target / f"kernel.{TARGETS[target]}"
        kernel = [made for made, _ in compiled if made.name.startswith("kernel-")]
        linked = _zig("-target", target, "-shared", "-o", library, *kernel)
        complaints = [linked.stderr or "the linker failed"] if linked.returncode else []
    print(f"{target}: {len(sources)} files, {'; '.join(complaints) or 'no warnings, linked'}")
    return not complaints


def main(targets: Sequence[str]) -> int:
    """Check the targets given, or all of them; return the exit code."""
    sources = sorted(
        [*Path("native/kernel").rglob("*.cpp"), *Path("native/bindings").glob("*.cpp")]
    )
    checked = [_check(target, sources) for target in targets or TARGETS]
    return 0 if all(checked) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
