"""Check the files of an sdist and a wheel: ``make release-check``.

python -m tools.release_check FOLDER
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from pathlib import Path

LARGEST = 300_000
"""The most bytes of a file of an sdist; the largest is the small tokenizer's."""
SDIST = re.compile(
    r"(CHANGELOG|README|ARCHITECTURE|CONTRIBUTING|SECURITY)\.md|LICENSE|PKG-INFO|CMakeLists\.txt"
    r"|pyproject\.toml|src/toksmith\.pth|src/toksmith/.*|native/(kernel|bindings)/.*"
)
"""What an sdist consists of."""
WHEEL = re.compile(r"toksmith/.*|toksmith\.pth|toksmith-[^/]*\.dist-info/.*|toksmith\.libs/.*")
"""What a wheel consists of."""
BUILT = re.compile(r".*(\.o|\.so|\.pyc|\.pyd|\.tmp|~)")
NEEDED = ("toksmith/__init__.py", "toksmith/py.typed", "toksmith/_kernel.pyi", "toksmith.pth")


def wrong_in_sdist(sizes: Mapping[str, int]) -> Iterator[str]:
    """Yield what is wrong with the files of an sdist, given their names and sizes in bytes."""
    for name, size in sizes.items():
        if not SDIST.fullmatch(name) or BUILT.fullmatch(name):
            yield f"{name} does not belong in an sdist"
        if size > LARGEST:
            yield f"{name} has {size:,} bytes, more than {LARGEST:,}"


def wrong_in_wheel(names: list[str], metadata: str, version: str) -> Iterator[str]:
    """Yield what is wrong with the files and the metadata of a wheel."""
    for name in names:
        if not WHEEL.fullmatch(name) or name.endswith((".o", ".pyc", ".cpp", ".hpp")):
            yield f"{name} does not belong in a wheel"
    yield from (f"{name} is missing" for name in NEEDED if name not in names)
    if not any(name.startswith("toksmith/_kernel.") and name.endswith(("so", "pyd"))
               for name in names):  # fmt: skip
        yield "the compiled module is missing"
    found = HeaderParser().parsestr(metadata)
    if found["Version"] != version:
        yield f"the version is {found['Version']}, not {version}"


def main(folder: Path) -> int:
    """Check the sdist and the wheels in a folder; print what is wrong, and return the exit code."""
    version = re.findall(r'__version__ = "(.*)"', Path("src/toksmith/version.py").read_text())[0]
    wrong: list[str] = []
    if f"## [{version}]" not in Path("CHANGELOG.md").read_text():
        wrong.append(f"CHANGELOG.md has no section [{version}]")
    paths = sorted(folder.iterdir())
    if {path.suffix for path in paths} != {".gz", ".whl"}:
        wrong.append(f"{folder} does not hold an sdist and a wheel alone")
    for path in paths:
        if path.suffix == ".gz":
            with tarfile.open(path) as archive:
                files = [member for member in archive if member.isfile()]
            found = wrong_in_sdist({each.name.partition("/")[2]: each.size for each in files})
        else:
            with zipfile.ZipFile(path) as wheel:
                names = wheel.namelist()
                metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
                found = wrong_in_wheel(names, wheel.read(metadata).decode(), version)
        wrong += [f"{path.name}: {each}" for each in found]
    print("\n".join(wrong) or f"{folder}: sdist and wheel are in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
