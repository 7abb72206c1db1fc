"""The generator of diverse text."""

from __future__ import annotations

from pathlib import Path

from benchmarks.diverse_text import Generator, parsed_size, write
from toksmith import Counts


def test_the_size_is_kept_and_characters_are_whole(tmp_path: Path) -> None:
    paths = write(tmp_path, 3_000_001, 3, Generator(None))
    assert [path.name for path in paths] == ["0000.txt", "0001.txt", "0002.txt"]
    sizes = [len(path.read_bytes().decode().encode()) for path in paths]
    assert all(999_997 <= size <= 1_000_001 for size in sizes)
    assert len({path.read_bytes() for path in paths}) == 3


def test_a_file_is_the_beginning_of_a_longer_one() -> None:
    short = b"".join(Generator(None).blocks(1, 100_000))
    again = b"".join(Generator(None).blocks(1, 300_000))
    assert again.startswith(short)
    assert short != b"".join(Generator(None, seed=1).blocks(1, 100_000))


def test_real_texts_are_used_where_there_are_some(tmp_path: Path) -> None:
    (tmp_path / "english.txt").write_text("The cat sat on the mat. " * 10_000)
    (tmp_path / "cjk.txt").write_text("東京都の日本語" * 10_000, encoding="utf-8")
    generator = Generator(tmp_path)
    text = b"".join(generator.blocks(0, 500_000)).decode()
    assert generator.sources == ("english", "cjk")
    assert "sat on the" in text
    assert "東京都" in text


def test_new_chunks_go_on_to_appear(tmp_path: Path) -> None:
    (path,) = write(tmp_path, 2_000_000, 1, Generator(None))
    whole = len(Counts.from_files(path))
    half = len(Counts.from_texts(path.read_bytes()[:1_000_000]))
    assert whole > 40_000
    assert whole > 1.5 * half


def test_sizes() -> None:
    assert parsed_size("10GB") == 10 * 10**9
    assert parsed_size("1.5k") == 1500
