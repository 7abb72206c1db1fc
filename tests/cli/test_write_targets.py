"""Writers keep links, permissions, pipes and devices."""

from __future__ import annotations

import csv
import json
import os
import stat
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.cli.conftest import Run
from toksmith._base import commits
from toksmith.errors import OptionError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs mkfifo and permission bits")

TOK = toksmith.train(texts=["low lower lowest"], vocab_size=258)


@cache
def counts() -> toksmith.Counts:
    return toksmith.Counts.from_texts(["low lower lowest"], split="gpt2")


@cache
def audit() -> toksmith.Audit:
    return toksmith.audit(TOK)


@cache
def compared() -> toksmith.Comparison:
    return toksmith.compare(TOK, texts="low lower", speed=False)


def encode(path: Path) -> None:
    from toksmith.cli.common import Dtype, IdFormat
    from toksmith.cli.writing import write_ids

    write_ids(TOK.encode_batch(["low"]), path, IdFormat.LINES, Dtype.UINT32)


STREAMED: dict[str, Callable[[Path], Any]] = {
    "counts": lambda path: counts().save(path),
    "tsv": lambda path: counts().to_tsv(path),
    "audit": lambda path: audit().to_json(path),
    "csv": lambda path: compared().to_csv(path),
    "html": lambda path: compared().to_html(path),
    "ids": encode,
}
TOKENIZERS: dict[str, Callable[[Path], Any]] = {
    "a.model": TOK.save,
    "a.json": TOK.save,
    "a.tiktoken": TOK.save,
}
WRITERS = {**STREAMED, **TOKENIZERS}


@pytest.fixture(params=WRITERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_the_target_of_a_link_is_replaced(tmp_path: Path, name: str) -> None:
    expected, real, links = (tmp_path / each for each in ("expected", "real", "links"))
    for folder in (expected, real, links):
        folder.mkdir()
    WRITERS[name](expected / name)
    (real / "target").write_bytes(b"old")
    (links / "between").symlink_to("../real/target")
    (links / name).symlink_to("between")
    WRITERS[name](links / name)
    assert (links / name).readlink() == Path("between")
    assert (links / "between").readlink() == Path("../real/target")
    assert held(real) == {"target": held(expected)[name]}
    del (found := held(links))["between"]
    assert found == held(expected)


def test_a_link_to_a_missing_file_makes_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / name).symlink_to("../target")
    WRITERS[name](tmp_path / "links" / name)
    assert (tmp_path / "links" / name).is_symlink()
    assert (tmp_path / "target").stat().st_size > 0
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_link_to_itself_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(name)
    with pytest.raises(OptionError, match="cannot be written: Too many levels of symbolic links"):
        WRITERS[name](tmp_path / name)
    assert (tmp_path / name).readlink() == Path(name)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_null_character_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="cannot be written: embedded null byte"):
        WRITERS[name](tmp_path / f"\0{name}")


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_permissions_are_kept(tmp_path: Path, name: str, mode: int) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(mode)
    WRITERS[name](path)
    assert path.read_bytes() != b"old"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_no_one_can_read_a_temporary_file_of_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch(0o600)
    temporary = commits.temporary_name(path)
    with commits.create(temporary, path):
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600


def read_all(path: Path) -> tuple[threading.Thread, list[bytes]]:
    """Start a thread that reads a pipe to its end."""
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()
    return reader, found


@pytest.mark.parametrize("name", STREAMED)
@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_is_written_to(tmp_path: Path, name: str, is_link: bool) -> None:
    STREAMED[name](tmp_path / "expected")
    pipe = path = tmp_path / "pipe"
    os.mkfifo(pipe)
    if is_link:
        path = tmp_path / "link"
        path.symlink_to("pipe")
    reader, found = read_all(pipe)
    STREAMED[name](path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(10)
    assert found == [(tmp_path / "expected").read_bytes()]
    assert path.is_symlink() == is_link


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_is_not_written_to_a_pipe(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(OptionError, match=rf"{name} cannot be written: it is a pipe or a device"):
        TOK.save(path)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_tokenizer_is_not_written_to_a_device(tmp_path: Path) -> None:
    path = tmp_path / "null.model"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    with pytest.raises(OptionError, match=r"null\.model cannot be written: it is a pipe or a dev"):
        TOK.save(path)
    assert stat.S_ISCHR(path.stat().st_mode)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_an_open_file_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "open"
    with path.open("w+b") as file:
        audit().to_json(f"/proc/self/fd/{file.fileno()}")
        assert json.loads(file.read())["findings"] is not None


def test_commands_refuse_a_pipe_before_they_train(tmp_path: Path, run: Run) -> None:
    os.mkfifo(tmp_path / "a.model")
    (tmp_path / "a.txt").write_bytes(b"\xff")
    ran = run("train", tmp_path / "a.txt", "-o", tmp_path / "a.model", "--vocab-size", 258)
    assert ran.code == 2
    assert "a.model cannot be written: it is a pipe or a device" in ran.err


def test_commands_write_through_links(tmp_path: Path, run: Run) -> None:
    TOK.save(tmp_path / "a.model")
    (tmp_path / "there").mkdir()
    (tmp_path / "a.csv").symlink_to("there/b.csv")
    ran = run(
        "compare", tmp_path / "a.model", "--on", "low", "--no-speed", "--csv", tmp_path / "a.csv"
    )
    assert (ran.code, ran.err) == (0, "")
    rows = csv.DictReader((tmp_path / "there/b.csv").read_text().splitlines())
    assert next(rows)["tokenizer"] == "a"
    assert (tmp_path / "a.csv").is_symlink()
