"""Memory use of the cache during the first texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import toksmith

STATUS = Path("/proc/self/status")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def resident_kib() -> int:
    lines = STATUS.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


@pytest.mark.skipif(not STATUS.is_file(), reason="Linux tells a process's memory there")
@pytest.mark.skipif(
    HUGE_PAGES.is_file() and "[always]" in HUGE_PAGES.read_text(encoding="utf-8"),
    reason="the system gives huge pages to all that asks for memory",
)
def test_a_short_text_takes_little() -> None:
    text = "The quick brown fox jumps over the lazy dog."
    toks = [toksmith.train(texts=[text], vocab_size=260 + i) for i in range(17)]
    toks.pop().encode_array(text)  # what the process takes once
    before = resident_kib()
    for tok in toks:
        tok.encode_array(text)
    # Less than a huge page, engine and all.
    assert resident_kib() - before < 1536 * len(toks)
