"""The directories of the kernel, and the includes that each may have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KERNEL = Path(__file__).parents[2] / "native" / "kernel"

# From the bottom up.
MAY_INCLUDE = {
    "base": "",
    "utf8": "base",
    "simd": "base utf8",
    "text": "base utf8 simd",
    "vocab": "base utf8",
    "split": "base utf8 simd text vocab",
    "models": "base utf8 vocab",
    "fused": "base utf8 text vocab split models",
    "cache": "base utf8 simd",
    "counting": "base utf8 text split fused cache",
    "training": "base utf8 text vocab models counting",
    "rows": "base",
    "encode": "base utf8 simd text vocab split models fused cache",
}


def room_of(path: str) -> str:
    return path.partition("/")[0]


def includes() -> list[tuple[str, str]]:
    files = [path for path in KERNEL.rglob("*") if path.suffix in (".hpp", ".cpp", ".inc")]
    return [
        (path.relative_to(KERNEL).as_posix(), included)
        for path in sorted(files)
        for included in re.findall(r'^#include "([^"]+)"', path.read_text("utf-8"), re.MULTILINE)
    ]


def test_rooms_are_listed_from_the_bottom_up() -> None:
    rooms = list(MAY_INCLUDE)
    for i, room in enumerate(rooms):
        assert set(MAY_INCLUDE[room].split()) <= set(rooms[:i]), room


@pytest.mark.skipif(not KERNEL.exists(), reason="the kernel's sources are not here")
def test_rooms_include_only_what_is_below_them() -> None:
    found = includes()
    assert len(found) > 100
    assert {room_of(path) for path, _ in found} == set(MAY_INCLUDE)
    wrong = [
        f"{path} includes {included}"
        for path, included in found
        if room_of(included) not in {room_of(path), *MAY_INCLUDE[room_of(path)].split()}
    ]
    assert wrong == []


@pytest.mark.skipif(not KERNEL.exists(), reason="the kernel's sources are not here")
def test_only_base_includes_headers_of_the_system() -> None:
    of_the_system = re.compile(r"#include <((?:sys/)?\w+\.h)>")
    found = {
        path.relative_to(KERNEL).as_posix()
        for path in KERNEL.rglob("*.[hci]*")
        for header in of_the_system.findall(path.read_text("utf-8"))
        if header not in ("arm_neon.h", "emmintrin.h", "immintrin.h")
    }
    assert found == {"base/huge_page_array.hpp", "base/pages.hpp", "base/positional_io.hpp"}
