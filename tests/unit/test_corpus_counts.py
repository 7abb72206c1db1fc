"""Files of counts: made and merged within a memory limit, in shards, and on Ray."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toksmith import Counts
from toksmith.errors import OptionError
from toksmith.trainers.corpus_counts import count_corpus, merge_counts
from toksmith.trainers.counts_files import CountsFile


def write_words(path: Path, words: int, seed: int = 0) -> Path:
    """Write words of nine bytes, nearly all of them distinct."""
    letters = 97 + np.random.default_rng(seed).integers(0, 26, (words, 9), dtype=np.uint8)
    letters[:, 0] = 32
    path.write_bytes(letters.tobytes())
    return path


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_words(tmp_path_factory.mktemp("text") / "text.txt", 60_000)


class TestMemory:
    @pytest.mark.parametrize("min_count", [1, 2])
    def test_the_same_bytes(self, text: Path, tmp_path: Path, min_count: int) -> None:
        parts, files = [], [tmp_path / name for name in "abc"]
        Counts.from_files(text, min_count=min_count).save(files[0])
        for path, memory in zip(files[1:], (None, "1M"), strict=True):
            made = count_corpus(text, output=path, memory=memory, min_count=min_count)
            assert made.documents == 1
            assert made.occurrences == int(Counts.load(path).counts.sum())
        assert len({path.read_bytes() for path in files}) == 1
        for seed in (1, 2, 3):
            parts.append(tmp_path / f"{seed}.counts")
            source = write_words(tmp_path / f"{seed}.txt", 20_000, seed % 2)
            count_corpus(source, output=parts[-1])
        Counts.merge(parts, min_count=min_count).save(files[0])
        for path, memory in zip(files[1:], (None, "1M"), strict=True):
            merge_counts(parts, output=path, memory=memory, min_count=min_count)
        assert len({path.read_bytes() for path in files}) == 1

    def test_weights(self, text: Path, tmp_path: Path) -> None:
        from toksmith.corpus import Reading

        other = write_words(tmp_path / "other.txt", 20_000, 1)
        reading = Reading(weights={str(other): 2.5, str(text): 0.5})
        made = []
        for memory in (None, "1M"):
            path = tmp_path / "counts"
            count_corpus([text, other], output=path, reading=reading, memory=memory)
            made.append(path.read_bytes())
        assert made[0] == made[1]

    def test_space_on_disk(self, text: Path, tmp_path: Path) -> None:
        parts = [tmp_path / "a", *[tmp_path / "b"] * 9]
        for path in parts[:2]:
            count_corpus(text, output=path)
        found = merge_counts(parts, output=tmp_path / "c", memory="1M", spill_limit="4M")
        assert found.occurrences == 10 * 60_000
        merge_counts(parts, output=tmp_path / "d")
        assert (tmp_path / "c").read_bytes() == (tmp_path / "d").read_bytes()
        with pytest.raises(OptionError, match=r"more than spill_limit=1M on disk: give a larger"):
            merge_counts(parts, output=tmp_path / "e", memory="1M", spill_limit="1M")
        assert not (tmp_path / "e").exists()
        with pytest.raises(OptionError, match="spill_limit= is given without memory="):
            count_corpus(text, output=tmp_path / "e", spill_limit="1M")
        with pytest.raises(OptionError, match="spill_limit is 'x'"):
            count_corpus(text, output=tmp_path / "e", memory="1M", spill_limit="x")

    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is unknown")
    def test_the_peak(self, tmp_path: Path) -> None:
        # Without a limit, both take over 60 MB more.
        many, few = (write_words(tmp_path / f"{n}.txt", n) for n in (600_000, 150_000))
        peaks = {}
        for path in (few, many):
            peaks[path] = peak(tmp_path, path)
        for before, after in zip(peaks[few], peaks[many], strict=True):
            assert after - before < 20 << 10


PEAK = """
import sys
from toksmith.trainers.corpus_counts import count_corpus, merge_counts
def peak():
    with open("/proc/self/status") as file:
        print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
if sys.argv[1] == "make":
    count_corpus(sys.argv[2], output="made", memory="16M", threads=1)
else:
    merge_counts(["made", "made"], output="merged", memory="16M")
peak()
"""


def peak(folder: Path, path: Path) -> list[int]:
    """Return the most memory in KiB of counting a file, and of merging its counts."""
    found = []
    for arguments in (["make", str(path)], ["merge"]):
        command: list[Any] = [sys.executable, "-c", PEAK, *arguments]
        ran = subprocess.run(command, cwd=folder, check=True, capture_output=True)
        found.append(int(ran.stdout))
    assert CountsFile(folder / "merged").occurrences == 2 * (path.stat().st_size // 9)
    return found
