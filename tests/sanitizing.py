"""The tests that ``make sanitize`` leaves out, with reasons; a plugin of pytest that skips them."""

from __future__ import annotations

import os

import pytest

ROOM = "a limit on address space leaves no room for the sanitizer's shadow memory"
BROWSER = "Chromium does not start with a sanitizer's library"
MEASURED = "the sanitizer's allocator takes more memory and keeps freed blocks"

FORKS = (
    "tests/unit/test_encoding_threads.py::test_fork_while_others_encode",
    "tests/unit/test_training_threads.py::test_fork_while_learning",
)

LEFT_OUT = {
    "tests/cli/test_faults.py::test_too_little_memory": ROOM,
    "tests/unit/test_training_interrupts.py::test_memory_ends_with_one_line": ROOM,
    "tests/unit/test_leaks.py": MEASURED + "; the piece `leaks` runs these cycles",
    "tests/unit/test_memory_bounds.py": MEASURED,
    "tests/unit/counting/test_jobs.py::TestMemory::test_the_peak": MEASURED,
    "tests/unit/test_deduplicating.py::test_memory_is_bounded": MEASURED,
    **dict.fromkeys(FORKS, "of the sanitizers' libraries, only clang's ASan allows for a fork"),
    "tests/explorer/test_browser.py": BROWSER,
    "tests/explorer/test_report.py": BROWSER,
    "tests/explorer/test_views.py": BROWSER,
}
"""The start of a test's id: why it cannot run with a sanitizer."""


def reason(name: str, libraries: str) -> str:
    """Return why a test is left out, given its id and LD_PRELOAD; empty if it is not."""
    if name in FORKS and "clang_rt.asan" in libraries:
        return ""
    return next((why for start, why in LEFT_OUT.items() if name.startswith(start)), "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    libraries = os.environ.get("LD_PRELOAD", "")
    assert "san" in libraries, "for runs with a sanitizer only"
    for item in items:
        if why := reason(item.nodeid, libraries):
            item.add_marker(pytest.mark.skip(reason=f"left out: {why}"))
