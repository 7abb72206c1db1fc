"""Files of counts: made and merged within a memory limit, in shards, and on Ray."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import toksmith
from toksmith import Counts
from toksmith.engine.counting import ChunkCounter
from toksmith.errors import FormatError, OptionError
from toksmith.trainers.counting.files.parquet import CountsFile
from toksmith.trainers.counting.jobs import count_corpus, merge_counts


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
            (made,) = count_corpus(text, output=path, memory=memory, min_count=min_count)
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
        other = write_words(tmp_path / "other.txt", 20_000, 1)
        weights = {str(other): 2.5, str(text): 0.5}
        made = []
        for memory in (None, "1M"):
            path = tmp_path / "counts"
            count_corpus([text, other], output=path, weights=weights, memory=memory)
            made.append(path.read_bytes())
        assert made[0] == made[1]

    def test_space_on_disk(self, text: Path, tmp_path: Path) -> None:
        parts = [tmp_path / "a", *[tmp_path / "b"] * 9]
        for path in parts[:2]:
            count_corpus(text, output=path)
        found = merge_counts(parts, output=tmp_path / "c", memory="2M", spill_limit="4M")
        assert found.occurrences == 10 * 60_000
        merge_counts(parts, output=tmp_path / "d")
        assert (tmp_path / "c").read_bytes() == (tmp_path / "d").read_bytes()
        with pytest.raises(
            OptionError, match=r"exceed spill_limit=1M: .* would do, or more memory="
        ):
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


TEXT = "the quick brown fox — low lower lowest, 1234 "


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of several kinds; those that can be cut have several pieces of a MiB."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / name for name in ("a.jsonl", "b.txt", "c.csv", "d.parquet")]
    texts = [f"{TEXT * (1 + i % 5)} {i * i}" for i in range(20_000)]
    with paths[0].open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    paths[1].write_text("|".join(reversed(texts)), encoding="utf-8")
    paths[2].write_text('text\n"' + '"\n"'.join(texts[:99]) + '"\n', encoding="utf-8")
    pq.write_table(pa.table({"text": texts[5000:9000]}), paths[3], row_group_size=500)
    return paths


class TestLittleSpace:
    ADVICE = r"in use after \d+% of the text, so spill_limit=(\S+) would do"

    def test_the_advised_limit_is_enough(self, text: Path, tmp_path: Path) -> None:
        count_corpus(text, output=tmp_path / "a")
        calls: list[Callable[[str], object]] = [
            lambda space: merge_counts(
                [tmp_path / "a"] * 3, output=tmp_path / "b", memory="1M", spill_limit=space
            ),
            lambda space: count_corpus(
                [text] * 9, output=tmp_path / "b", memory="1M", spill_limit=space
            ),
        ]
        for call in calls:
            with pytest.raises(OptionError, match=self.ADVICE) as caught:
                call("1M")
            found = re.search(self.ADVICE, str(caught.value))
            assert found
            call(found[1])

    def test_a_full_disk_for_temporary_files(
        self, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        parts = [tmp_path / "a"] * 9
        count_corpus(text, output=parts[0])
        original = ChunkCounter.add_counted
        calls = 0

        def fill(self: ChunkCounter, *counted: Any) -> None:
            nonlocal calls
            calls += 1
            if calls > 4:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            original(self, *counted)

        monkeypatch.setattr(ChunkCounter, "add_counted", fill)
        says = (
            rf"cannot be written to {re.escape(tempfile.gettempdir())}: No space left on device "
            r"after \S+[KM], at \d+% of the text; about \S+M are needed; give more memory, or set "
            "TMPDIR to a folder on another disk"
        )
        with pytest.raises(OptionError, match=says):
            merge_counts(parts, output=tmp_path / "b", memory="1M")
        assert [path.name for path in tmp_path.iterdir()] == ["a"]

    def test_a_full_disk_for_counts(
        self, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
        says = (
            r"x\.counts cannot be written: No space left on device; the file needs at most \S+M in "
            rf"{re.escape(str(tmp_path))}: make room, or choose a folder on another disk"
        )
        with pytest.raises(OptionError, match=says):
            count_corpus(text, output=tmp_path / "x.counts")
        assert not [*tmp_path.iterdir()]
        says = says.replace("x\\.counts", r"counts-0000\.parquet").replace(": make", "/ck: make")
        with pytest.raises(OptionError, match=says):
            toksmith.train(text, vocab_size=300, checkpoint=tmp_path / "ck")
        assert [path.name for path in (tmp_path / "ck").iterdir()] == ["training.json"]


class TestShards:
    @pytest.mark.parametrize("options", [{}, {"sample": 0.3, "seed": 4, "split": "gpt2"}])
    @pytest.mark.parametrize("count", [1, 3, 40])
    def test_the_same_bytes(
        self, corpus: list[Path], tmp_path: Path, count: int, options: dict[str, Any]
    ) -> None:
        one, folder = tmp_path / "one", tmp_path / "shards"
        count_corpus(corpus, output=one, separator="|", **options)
        for number in sorted(range(count), key=lambda i: i % 2):  # in any order
            memory = "1M" if number % 2 else None
            count_corpus(corpus, output=folder, separator="|", shard=(number, count),
                         memory=memory, threads=1 + number % 2, **options)  # fmt: skip
        assert sorted(path.name for path in folder.iterdir())[-1].startswith(
            f"counts-{count - 1:05}-of-"
        )
        made = merge_counts(folder, output=tmp_path / "merged", memory="4M")
        assert made.shard is None
        assert (tmp_path / "merged").read_bytes() == one.read_bytes()
        counts = Counts.merge([folder])
        assert (len(counts), counts.documents) == (made.chunks, made.documents)

    def test_a_shard_is_made_once(self, corpus: list[Path], tmp_path: Path) -> None:
        path = tmp_path / "counts-00001-of-00002.parquet"
        count_corpus(corpus, output=tmp_path, shard="1/2", separator="|")
        data, before = path.read_bytes(), path.stat().st_mtime_ns
        (made,) = count_corpus(corpus, output=tmp_path, shard="1/2", separator="|")
        assert (made.path, path.stat().st_mtime_ns) == (path, before)
        path.unlink()
        count_corpus(corpus, output=tmp_path, shard="1/2", separator="|")
        assert path.read_bytes() == data

    def test_other_options(self, corpus: list[Path], tmp_path: Path) -> None:
        count_corpus(corpus, output=tmp_path, shard="1/2")
        for options, says in (
            (
                {"sample": 0.5},
                "made with other options: sample is 0.5, and was 1.0; give another folder",
            ),
            ({"split": "gpt2"}, "split is 'gpt2', and was 'gpt4'"),
        ):
            with pytest.raises(OptionError, match=says):
                count_corpus(corpus, output=tmp_path, shard="1/2", **options)
        with pytest.raises(OptionError, match="the files have changed, or come in another order"):
            count_corpus(corpus[::-1], output=tmp_path, shard="1/2")
        with pytest.raises(OptionError, match="the number of files is 1, and was 4"):
            count_corpus(corpus[0], output=tmp_path, shard="1/2")
        other = count_corpus(corpus, output=tmp_path / "other", shard="0/2", sample=0.5)[0].path
        Path(other).rename(tmp_path / other.name)
        with pytest.raises(OptionError, match=r"of another corpus than counts-00000.* sample is"):
            merge_counts(tmp_path, output=tmp_path / "merged")

    def test_incomplete_folders(self, corpus: list[Path], tmp_path: Path) -> None:
        with pytest.raises(OptionError, match="holds no shards of counts: make them"):
            merge_counts(tmp_path, output=tmp_path / "merged")
        count_corpus(corpus, output=tmp_path, shard="1/3")
        with pytest.raises(OptionError, match="make shards 0/3, 2/3 first"):
            Counts.merge([tmp_path])
        other = count_corpus(corpus, output=tmp_path / "other", shard="1/9")[0].path
        Path(other).rename(tmp_path / other.name)
        with pytest.raises(OptionError, match="of divisions by 3 and 9"):
            Counts.merge([tmp_path])
        Counts.of({b"a": 1}).save(tmp_path / "x")
        for name in ("counts-00001-of-00003", "counts-00001-of-00009"):
            (tmp_path / f"{name}.parquet").unlink()
        (tmp_path / "x").rename(tmp_path / "counts-00000-of-00001.parquet")
        with pytest.raises(FormatError, match="is no shard"):
            Counts.merge([tmp_path])

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"min_count": 2}, "min_count cannot be used for shards: a chunk that is rare"),
            ({"deduplicate": True}, "deduplicate cannot be used for shards: a shard does not"),
            ({"weights": {"a": 2.0}}, "weights cannot be used for shards: weighted counts"),
            ({"shard": "2/2"}, "numbers go from 0 to 1"),
            ({"shard": None, "shards": 3}, "shards is for runner='ray'"),
            ({"runner": "ray"}, "shard= and runner='ray' are given"),
            ({"runner": "x"}, "runner is 'x'"),
        ],
    )
    def test_wrong_options(
        self, corpus: list[Path], tmp_path: Path, options: dict[str, Any], says: str
    ) -> None:
        with pytest.raises(OptionError, match=says):
            count_corpus(corpus, output=tmp_path, **{"shard": "1/2", **options})

    def test_urls(self, corpus: list[Path], tmp_path: Path) -> None:
        pytest.importorskip("fsspec")
        for number in range(2):
            (made,) = count_corpus(corpus, output="memory://counts", shard=(number, 2))
            assert str(made.path) == f"memory://counts/counts-0000{number}-of-00002.parquet"
        assert count_corpus(corpus, output="memory://counts", shard=(1, 2))[0].shard == made.shard
        merge_counts("memory://counts", output="memory://merged/all.counts")
        count_corpus(corpus, output=tmp_path / "one")
        copied = merge_counts("memory://merged/all.counts", output=tmp_path / "copied")
        assert copied.documents == CountsFile(tmp_path / "one").documents
        assert (tmp_path / "copied").read_bytes() == (tmp_path / "one").read_bytes()

    def test_training(self, corpus: list[Path], tmp_path: Path) -> None:
        for number in range(3):
            count_corpus(corpus, output=tmp_path / "c", shard=(number, 3), separator="|")
        options: dict[str, Any] = {"vocab_size": 300, "memory": "1G"}
        tok = toksmith.train(counts=Counts.merge([tmp_path / "c"], memory="1G"), **options)
        assert tok.pipeline == toksmith.train(corpus, separator="|", **options).pipeline


PEAK = """
import sys
from toksmith.trainers.counting.jobs import count_corpus, merge_counts
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


def test_missing_shards_among_files_are_a_warning(tmp_path: Path) -> None:
    text = tmp_path / "lines.jsonl"
    text.write_text('{"text": "low lower"}\n' * 9, encoding="utf-8")
    shards = [
        count_corpus(text, output=tmp_path / "s", shard=(number, 3))[0].path for number in range(3)
    ]
    merge_counts([str(path) for path in shards], output=tmp_path / "all")  # no warning
    with pytest.warns(UserWarning, match=r"shards 1/3 are not among the files"):
        merge_counts([str(shards[0]), str(shards[2])], output=tmp_path / "part")


def test_documents_train_sentencepiece_as_their_lines_do(tmp_path: Path) -> None:
    text = "\n".join(f"low lower lowest {number}" for number in range(400)) + "\n"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    options: dict[str, Any] = {"model": "sentencepiece-bpe", "vocab_size": 60}
    wanted = toksmith.train(tmp_path / "a.txt", **options)
    counts = toksmith.Counts.from_files(tmp_path / "a.txt", split=None)
    assert toksmith.train(counts=counts, **options).pipeline == wanted.pipeline
