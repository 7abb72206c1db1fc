"""Files of shards: which may lie in one folder, and which may be added."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Counts, CountsFile
from toksmith.errors import FormatError, OptionError
from toksmith.trainers.counting.jobs import count_corpus, merge_counts


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "lines.jsonl"
    path.write_text('{"text": "low lower lowest"}\n' * 9, encoding="utf-8")
    return path


def make(text: Path, folder: Path, number: int, count: int, **options: Any) -> Path:
    (made,) = count_corpus(text, output=folder, shard=(number, count), **options)
    return Path(made.path)


class TestFolders:
    def test_a_folder_has_one_division(self, text: Path, tmp_path: Path) -> None:
        make(text, tmp_path, 0, 4)
        with pytest.raises(
            OptionError,
            match=r"holds counts-00000-of-00004\.parquet, a shard of a division by 4, not 8: "
            "give another folder, or remove",
        ):
            make(text, tmp_path, 2, 8)
        assert len([*tmp_path.iterdir()]) == 1

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"split": "gpt2"}, "split is 'gpt2', and was 'gpt4'"),
            ({"sample": 0.5}, "sample is 0.5, and was 1.0"),
        ],
    )
    def test_a_folder_has_one_set_of_options(
        self, text: Path, tmp_path: Path, options: dict[str, Any], says: str
    ) -> None:
        made = make(text, tmp_path, 0, 4)
        with pytest.raises(
            OptionError, match=rf"{made.name} was made with other options: {says}; give"
        ):
            make(text, tmp_path, 2, 4, **options)
        assert [*tmp_path.iterdir()] == [made]

    def test_a_folder_has_one_corpus(self, text: Path, tmp_path: Path) -> None:
        make(text, tmp_path / "s", 0, 4)
        other = tmp_path / "other.jsonl"
        other.write_text('{"text": "new"}\n', encoding="utf-8")
        with pytest.raises(OptionError, match="of another corpus: bytes is"):
            make(other, tmp_path / "s", 1, 4)

    def test_a_corpus_is_its_content(self, text: Path, tmp_path: Path) -> None:
        """Machines may mount the corpus at different places."""
        copy = tmp_path / "elsewhere" / text.name
        copy.parent.mkdir()
        shutil.copy(text, copy)
        for number, path in enumerate((text, copy)):
            make(path, tmp_path / "s", number, 2)
        assert merge_counts(tmp_path / "s", output=tmp_path / "all").documents == 9

    def test_other_files_and_damaged_neighbours_do_no_harm(
        self, text: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
        (tmp_path / "counts-00000-of-00004.parquet").write_bytes(b"PAR1")
        assert make(text, tmp_path, 1, 4).exists()

    def test_urls(self, text: Path) -> None:
        pytest.importorskip("fsspec")
        count_corpus(text, output="memory://one-division", shard=(0, 4))
        with pytest.raises(OptionError, match="a shard of a division by 4, not 8"):
            count_corpus(text, output="memory://one-division", shard=(0, 8))


class TestDamage:
    ADVICE = r"counts-00001-of-00002\.parquet: .*; remove it, and make shard 1/2 again"

    def test_a_damaged_shard(self, text: Path, tmp_path: Path) -> None:
        for number in range(2):
            path = make(text, tmp_path, number, 2)
        sound = path.read_bytes()
        for data in (b"", b"PAR1", sound[:-9], sound[:9]):
            path.write_bytes(data)
            with pytest.raises(FormatError, match=self.ADVICE):
                make(text, tmp_path, 1, 2)
            with pytest.raises(FormatError, match=self.ADVICE):
                merge_counts(tmp_path, output=tmp_path / "all")
        path.unlink()
        make(text, tmp_path, 1, 2)
        assert path.read_bytes() == sound

    def test_damage_that_the_header_does_not_show(self, text: Path, tmp_path: Path) -> None:
        for number in range(2):
            path = make(text, tmp_path, number, 2)
        data = bytearray(path.read_bytes())
        data[20:40] = bytes(20)
        path.write_bytes(data)
        with pytest.raises(FormatError, match=self.ADVICE):
            merge_counts(tmp_path, output=tmp_path / "all")
        assert not (tmp_path / "all").exists()

    def test_other_files_are_not_called_shards(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError) as caught:
            merge_counts(tmp_path / "counts-00001-of-00002.parquet", output=tmp_path / "all")
        assert str(caught.value).endswith("there is no such file")
        (tmp_path / "my.counts").write_bytes(b"PAR1")
        with pytest.raises(FormatError) as caught:
            Counts.load(tmp_path / "my.counts")
        assert "again" not in str(caught.value)


@pytest.fixture(scope="module")
def divisions(text: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("divisions")
    for count in (2, 3):
        for number in range(count):
            make(text, folder / str(count), number, count)
    return {count: folder / str(count) for count in (2, 3)}


class TestSums:
    def refuse(self, paths: list[Path], says: str, tmp_path: Path) -> None:
        """Check that neither the sum nor a training accepts these files and folders."""
        with pytest.raises(OptionError, match=says):
            merge_counts(paths, output=tmp_path / "all")
        assert not (tmp_path / "all").exists()
        with pytest.raises(OptionError, match=says):
            Counts.merge(paths)
        files = [
            CountsFile(each)
            for path in paths
            for each in (sorted(path.iterdir()) if path.is_dir() else [path])
        ]
        with pytest.raises(OptionError, match=says):
            toksmith.train(counts=files, vocab_size=260)

    def test_two_divisions(self, divisions: dict[int, Path], tmp_path: Path) -> None:
        says = (
            r"2/counts-00000-of-00002\.parquet and .*3/counts-00000-of-00003\.parquet are of "
            "divisions of one corpus by 2 and 3, so their sum would hold text twice: give the "
            "shards of one division"
        )
        self.refuse([*divisions.values()], says, tmp_path)

    def test_a_shard_twice(self, divisions: dict[int, Path], tmp_path: Path) -> None:
        first = divisions[2] / "counts-00000-of-00002.parquet"
        says = "are both shard 0/2 of one corpus, so their sum would hold its text twice: give one"
        self.refuse([divisions[2], first], says, tmp_path)
        self.refuse([first, first], says, tmp_path)
        copy = tmp_path / "renamed.counts"
        shutil.copy(first, copy)
        self.refuse([first, copy], says, tmp_path)

    def test_other_options(self, text: Path, divisions: dict[int, Path], tmp_path: Path) -> None:
        other = make(text, tmp_path, 1, 2, sample=0.5)
        first = divisions[2] / "counts-00000-of-00002.parquet"
        says = r"are of one corpus with different options: sample is 0\.5, and was 1\.0"
        self.refuse([first, other], says, tmp_path)

    def test_shards_of_several_corpora_are_added(
        self, divisions: dict[int, Path], tmp_path: Path
    ) -> None:
        other = tmp_path / "other.jsonl"
        other.write_text('{"text": "new"}\n', encoding="utf-8")
        make(other, tmp_path / "s", 0, 1)
        merged = merge_counts([divisions[3], tmp_path / "s"], output=tmp_path / "all")
        assert merged.documents == 10

    def test_missing_shards_are_those_of_a_corpus(
        self, divisions: dict[int, Path], tmp_path: Path
    ) -> None:
        other = tmp_path / "other.jsonl"
        other.write_text('{"text": "new"}\n', encoding="utf-8")
        path = make(other, tmp_path / "s", 1, 2)
        with pytest.warns(UserWarning, match="not among the files") as warned:
            merge_counts(
                [divisions[2] / "counts-00000-of-00002.parquet", path], output=tmp_path / "all"
            )
        assert [str(each.message).partition(" are not")[0] for each in warned] == [
            "shards 1/2",
            "shards 0/2",
        ]


class TestOrder:
    """Shards know their numbers, so the order in which they are given does not matter."""

    @pytest.fixture
    def shards(self, tmp_path: Path) -> list[Path]:
        texts = []
        for words in ("ab cd", "ef gh", "ij kl"):
            texts.append(tmp_path / f"{words}.txt")
            texts[-1].write_text(words, encoding="utf-8")
        count = len(texts)
        return [
            Path(made.path)
            for number in range(count)
            for made in count_corpus(texts, output=tmp_path / "s", shard=(number, count))
        ]

    def test_any_order_gives_one_result(self, shards: list[Path], tmp_path: Path) -> None:
        merge_counts(tmp_path / "s", output=tmp_path / "wanted")
        merge_counts(shards[::-1], output=tmp_path / "got")
        assert (tmp_path / "got").read_bytes() == (tmp_path / "wanted").read_bytes()
        assert [*Counts.merge(shards[::-1])] == [*Counts.merge(shards)]
        first, second = (
            toksmith.train(counts=[CountsFile(path) for path in given], vocab_size=258)
            for given in (shards, [shards[1], shards[2], shards[0]])
        )
        assert first == second

    def test_other_files_keep_their_places(self, shards: list[Path], tmp_path: Path) -> None:
        Counts.of({b"plain": 1, b"ij": 1}, split="gpt4").save(tmp_path / "plain")
        Counts.of({b"first": 1}, split="gpt4").save(tmp_path / "first")
        plain, first = tmp_path / "plain", tmp_path / "first"
        given = [shards[2], plain, shards[0], first, shards[1]]
        wanted = [shards[0], plain, shards[1], first, shards[2]]
        assert [*Counts.merge(given)] == [*Counts.merge(wanted)]
        assert [*Counts.merge([plain, first])] != [*Counts.merge([first, plain])]
