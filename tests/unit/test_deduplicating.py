"""Documents and lines that repeat are left out, exactly, within any memory limit."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import toksmith
from toksmith import Counts
from toksmith.corpus.digests import DigestSet
from toksmith.corpus.document_sample import Selection
from toksmith.corpus.options import Reading
from toksmith.errors import OptionError

SMALL = 1 << 17


def random_digests(count: int, distinct: int, seed: int = 0) -> np.ndarray:
    """Digests with repetitions, some of which share their first halves."""
    chance = np.random.default_rng(seed)
    pool = chance.integers(1, 2**64, (distinct, 2), np.uint64)
    pool[1::50, 0] = pool[::50, 0][: len(pool[1::50])]
    return pool[chance.integers(0, distinct, count)]


class TestDigestSet:
    @pytest.mark.parametrize("memory", [1, SMALL, 1 << 20, None])
    def test_only_the_first_of_equal_digests_is_new(self, memory: int | None) -> None:
        digests = random_digests(80_000, 50_000)
        found = DigestSet(memory)
        is_new = np.concatenate([found.add(part) for part in np.array_split(digests, 23)])
        seen: set[tuple[int, ...]] = set()
        wanted = [not (d in seen or seen.add(d)) for d in map(tuple, digests.tolist())]  # type: ignore[func-returns-value]
        assert is_new.tolist() == wanted
        assert bool(found.spilled) == (memory is not None)

    def test_runs_are_merged(self) -> None:
        digests = random_digests(300_000, 200_000)
        found = DigestSet(SMALL)
        first = found.add(digests).sum()
        assert len(found._levels) > 1
        assert sum(map(len, found._levels)) < 16
        stored = sum(run.count for level in found._levels for run in level) + found._size
        assert stored == first
        assert not found.add(digests).any()

    def test_many_equal_first_halves(self) -> None:
        digests = random_digests(4000, 4000)
        digests[::5, 0] = 7  # more than a page of the index has
        found = DigestSet(1)
        first = found.add(digests[:3000]).sum()
        assert first == len(np.unique(digests[:3000], axis=0))
        assert first + found.add(digests).sum() == len(np.unique(digests, axis=0))

    def test_a_full_disk_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(tempfile, "TemporaryFile", fail)
        with pytest.raises(OptionError, match=r"No space left.*TMPDIR"):
            DigestSet(SMALL).add(random_digests(50_000, 50_000))


TEXT = "low\nlower\r\n\n  \nlow\n\nlower\nnew\nlow"
WITHOUT = "low\nlower\r\n\n  \n\nnew\n"


def contents(path: Path) -> bytes:
    """The text that reading a file gives, of all documents together."""
    return b"".join(
        chunk * count for chunk, count in Counts.from_files(path, split=None, deduplicate="lines")
    )


class TestLines:
    @pytest.mark.parametrize("split_at", [1, 2, 5, 9, 100])
    def test_a_stream_in_any_parts(self, split_at: int) -> None:
        data = TEXT.encode()
        parts = [(data[i : i + split_at], i) for i in range(0, len(data), split_at)]
        selection = Selection(Reading(deduplicate="lines"))
        found = b"".join(part for part, _ in selection.of_stream(part for part in parts))
        assert found.decode() == WITHOUT
        skipped: dict[str, int] = {}
        selection.count_skipped(skipped)
        assert skipped == {"duplicate_lines": 3}

    def test_every_kind_of_file(self, tmp_path: Path) -> None:
        (plain := tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
        (packed := tmp_path / "a.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
        (lines := tmp_path / "a.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
        for path in (plain, packed, lines):
            assert contents(path).decode() == WITHOUT
        found = Counts.from_texts([TEXT], split=None, deduplicate="lines")
        assert dict(found) == {WITHOUT.encode(): 1}

    def test_lines_of_all_documents_and_files_are_compared(self, tmp_path: Path) -> None:
        (a := tmp_path / "a.txt").write_text("one\ntwo|two\nthree\n|")
        (b := tmp_path / "b.txt").write_text("three|four\n|one")
        found = Counts.from_files([a, b], separator="|", split=None, deduplicate="lines")
        assert dict(found) == {b"one\ntwo": 1, b"three\n": 1, b"four\n": 1}

    def test_sample_selects_documents_and_lines_are_left_out_of_them(self) -> None:
        texts = [f"start\n{number}\nend" for number in range(200)]
        chosen = Counts.from_texts(texts, split=None, sample=0.2)
        found = Counts.from_texts(texts, split=None, sample=0.2, deduplicate="lines")
        first, *others = [chunk for chunk, _ in chosen]
        expected = [first, *(other[len(b"start\n") : -len(b"end")] for other in others)]
        assert [chunk for chunk, _ in found] == expected

    def test_random_documents(self) -> None:
        chance = np.random.default_rng(1)
        kinds = ["a", "bb", " ", "\n", "\n", "\r\n", "\t", "c\nd"]
        texts = ["".join(chance.choice(kinds, chance.integers(12)).tolist()) for _ in range(300)]
        seen: set[str] = set()
        wanted = []
        for text in texts:
            kept: list[str | None] = []
            for line in text.split("\n"):
                content = line.removesuffix("\r")
                if content.strip(" \t\r") and content in seen:
                    kept.append(None)
                    continue
                seen.add(content)
                kept.append(line)
            ends = ["\n"] * (len(kept) - 1) + [""]
            wanted.append("".join(a + b for a, b in zip(kept, ends, strict=True) if a is not None))
        found = Selection(Reading(deduplicate="lines")).of_texts([text.encode() for text in texts])
        assert [text.decode() for text in found] == wanted


class TestOptions:
    def test_documents_is_true(self) -> None:
        assert Reading(deduplicate="documents") == Reading(deduplicate=True)
        texts = ["low", "low", "lower"]
        one, two = (
            toksmith.train(texts=texts, vocab_size=257, deduplicate=value).training
            for value in (True, "documents")
        )
        assert one is not None
        assert two is not None
        assert one.skipped == two.skipped == {"duplicate": 1}
        assert one.options["deduplicate"] is two.options["deduplicate"] is True

    def test_others_are_refused(self) -> None:
        with pytest.raises(OptionError, match="deduplicate is 'words': use \"documents\""):
            Reading(deduplicate="words")


MEASURED = """
import sys
from pathlib import Path
from toksmith import Counts
memory = sys.argv[2] if len(sys.argv) > 2 else None
Counts.from_files(sys.argv[1], split="gpt4", deduplicate="lines", memory=memory, threads=1)
# Not ru_maxrss, which is at least what the parent held when it forked.
status = Path("/proc/self/status").read_text()
print(status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_bounded(tmp_path: Path) -> None:
    letters = 97 + np.random.default_rng(0).integers(0, 4, (500_000, 12), dtype=np.uint8)
    letters[:, -1] = 10
    (path := tmp_path / "lines.txt").write_bytes(letters.tobytes())
    free, limited = (
        int(subprocess.check_output([sys.executable, "-c", MEASURED, str(path), *memory]))
        for memory in ([], ["16M"])
    )
    assert limited < free - 10_000
