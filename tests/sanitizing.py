"""The tests that ``make sanitize`` leaves out, with reasons; a plugin of pytest that skips them."""

from __future__ import annotations

import os

import pytest

ROOM = "a limit on address space leaves no room for the sanitizer's shadow memory"
MEASURED = "the sanitizer's allocator takes more memory and keeps freed blocks"

LEFT_OUT = {
    "tests/cli/test_faults.py::test_too_little_memory": ROOM,
    "tests/unit/test_training_interrupts.py::test_memory_ends_with_one_line": ROOM,
    "tests/unit/test_leaks.py": MEASURED + "; the piece `leaks` runs these cycles",
    "tests/unit/test_memory_bounds.py": MEASURED,
    "tests/unit/test_encoding_threads.py::test_fork_while_others_encode": (
        "a fork may leave the lock of the sanitizer's allocator taken"
    ),
    "tests/explorer/test_browser.py": "Chromium does not start with a sanitizer's library",
}
"""The start of a test's id: why it cannot run with a sanitizer."""


def reason(name: str) -> str:
    """Return why a test is left out, by its id; empty if it is not."""
    found = [why for start, why in LEFT_OUT.items() if name.startswith(start)]
    return found[0] if found else ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    assert "san" in os.environ.get("LD_PRELOAD", ""), "for runs with a sanitizer only"
    for item in items:
        if why := reason(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=f"left out: {why}"))
