"""Atomic saving of a tokenizer of several files: the process fails or is killed at each step."""

from __future__ import annotations

import builtins
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.processes import POSIX
from toksmith._base import commits, files, locks
from toksmith.errors import OptionError
from toksmith.framing import Settings

TEXT = "12345 67890"
IDS = {"old": [259, 32, 54, 55, 56, 57, 48], "new": [49, 50, 51, 52, 53, 32, 259]}
TARGETS = {
    "a.tiktoken": None,
    "a.model": None,
    "a.json": None,
    "folder": None,
    "gpt2": "gpt2",
}


@cache
def tokenizer(which: str) -> toksmith.Tokenizer:
    text = {"old": "12345 12345", "new": "67890 67890"}[which]
    tok = toksmith.train(texts=[text], vocab_size=260, split="gpt2")
    assert tok.encode(TEXT) == IDS[which]
    return tok


@pytest.fixture(scope="module")
def toks() -> dict[str, toksmith.Tokenizer]:
    return {which: tokenizer(which) for which in IDS}


def loaded(path: Path) -> str:
    """Return which tokenizer a path holds, record included, or "nothing"."""
    tok = toksmith.load(path)
    which = next(which for which, ids in IDS.items() if tok.encode(TEXT) == ids)
    if tok.training is not None:
        other = tokenizer(which).training
        assert other is not None
        assert tok.training.counts.tolist() == other.counts.tolist()
        assert tok.training.bytes == other.bytes == 11
    return which


class KilledError(BaseException):
    """Ends a save as a kill does: nothing that cleans up runs after it."""


class Killer:
    """Stops a process at its n-th file operation, before it or after it, and from then on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, after: bool) -> None:
        self.left, self.after, self.dead = at, after, False
        for place, name in (
            (os, "replace"),
            (os, "unlink"),
            (os, "scandir"),
            (os, "mkdir"),
            (builtins, "open"),
        ):
            monkeypatch.setattr(place, name, self.wrapped(getattr(place, name)))
        for name in ("open", "unlink", "mkdir", "write_text"):
            monkeypatch.setattr(Path, name, self.wrapped(getattr(Path, name)))

    def wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if self.dead:
                raise KilledError
            self.left -= 1
            is_the_one = self.left == 0
            if is_the_one and not self.after:
                self.dead = True
                raise KilledError
            try:
                result = real(*arguments, **options)
            except OSError:
                if not is_the_one:
                    raise
                result = None
            if is_the_one:
                self.dead = True
                if hasattr(result, "close"):
                    result.close()  # as the system does
                raise KilledError
            return result

        return call


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", TARGETS)
def test_a_kill_at_each_file_operation(
    tmp_path: Path, toks: dict[str, toksmith.Tokenizer], name: str, after: bool, record: bool
) -> None:
    found = []
    for at in range(1, 100):
        path = tmp_path / str(at) / name
        path.parent.mkdir()
        toks["old"].save(path, format=TARGETS[name], record=record)
        with pytest.MonkeyPatch.context() as patch:
            killer = Killer(patch, at, after)
            with suppress(KilledError):
                toks["new"].save(path, format=TARGETS[name], record=record)
        found.append(loaded(path))
        # What was left does not get in the way of the next save, either way.
        for which in ("old", "new"):
            toks[which].save(path, format=TARGETS[name], record=record)
            assert loaded(path) == which
        assert not list(path.parent.rglob("*.commit"))
        if not killer.dead:
            break
    assert found == sorted(found, reverse=True)  # old, until it is new
    assert set(found) == {"old", "new"}
    assert len(found) > 3


def with_templates(which: str) -> toksmith.Tokenizer:
    names = ["default", "tool_use", *(["rag"] if which == "new" else [])]
    settings = Settings({}, chat_templates=dict.fromkeys(names, which), model_max_length=len(which))
    return toksmith.Tokenizer(replace(tokenizer(which).pipeline, settings=settings))


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_between_a_tokenizer_and_its_templates(tmp_path: Path, after: bool) -> None:
    """A new template has no file before, and all but the default are in a folder below."""
    found = []
    for at in range(1, 100):
        path = tmp_path / str(at)
        with_templates("old").save(path)
        with pytest.MonkeyPatch.context() as patch:
            killer = Killer(patch, at, after)
            with suppress(KilledError):
                with_templates("new").save(path)
        found.append(loaded(path))
        assert toksmith.load(path).pipeline.settings == with_templates(found[-1]).pipeline.settings
        with_templates("new").save(path)
        assert toksmith.load(path).pipeline.settings == with_templates("new").pipeline.settings
        assert not list(path.rglob("*.commit"))
        if not killer.dead:
            break
    assert found == sorted(found, reverse=True)
    assert set(found) == {"old", "new"}


@pytest.mark.parametrize("name", TARGETS)
def test_an_error_at_each_file_operation(
    tmp_path: Path,
    toks: dict[str, toksmith.Tokenizer],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, left = os.replace, 0

    def fails_once(*paths: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(28, "No space left on device")
        real(*paths)

    monkeypatch.setattr(os, "replace", fails_once)
    path = tmp_path / name
    for at in range(1, 9):
        left = 0
        toks["old"].save(path, format=TARGETS[name], record=True)
        left, expected = at, {"new"}
        try:
            toks["new"].save(path, format=TARGETS[name], record=True)
        except OptionError:
            expected = {"old", "new"}
        assert loaded(path) in expected
        assert not [each for each in tmp_path.rglob("*") if each.suffix in (".tmp", ".commit")]
        if left > 0:
            break
    assert at > 3


def test_an_interrupt_after_the_first_file(
    tmp_path: Path, toks: dict[str, toksmith.Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.tiktoken"
    toks["old"].save(path)
    real = os.replace

    def once(*paths: Any) -> None:
        real(*paths)
        monkeypatch.setattr(os, "replace", real)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", once)
    with pytest.raises(KeyboardInterrupt):
        toks["new"].save(path)
    assert loaded(path) == "new"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.tiktoken", "t.tiktoken.json"]


KILLED = """
import sys, toksmith
path, form = sys.argv[1], sys.argv[2] or None
a, b = (toksmith.train(texts=[text], vocab_size=260, split="gpt2")
        for text in ("12345 12345", "67890 67890"))
a.save(path, format=form, record=True)
print("ready", flush=True)
while True:
    b.save(path, format=form, record=True)
    a.save(path, format=form, record=True)
"""


@POSIX
@pytest.mark.parametrize("name", ["a.tiktoken", "gpt2"])
def test_killed_processes(tmp_path: Path, name: str) -> None:
    path, chance = tmp_path / name, random.Random(name)
    for _ in range(8):
        command = [sys.executable, "-c", KILLED, str(path), TARGETS[name] or ""]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0, 0.05))
            os.kill(process.pid, signal.SIGKILL)
        assert loaded(path) in ("old", "new")
        assert toksmith.load(path).training is not None


@pytest.mark.parametrize("name", ["a.tiktoken", "gpt2"])
def test_readers_during_a_write(
    tmp_path: Path, toks: dict[str, toksmith.Tokenizer], name: str
) -> None:
    path = tmp_path / name
    toks["old"].save(path, format=TARGETS[name])
    done = threading.Event()

    def write() -> None:
        for turn in range(60):
            toks["new" if turn % 2 else "old"].save(path, format=TARGETS[name])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(loaded(path))
    writer.join()
    assert seen <= {"old", "new"}
    assert loaded(path) == "new"


def held(path: Path) -> str:
    """Return which tokenizer with templates a folder holds; it must not be a mixture."""
    tok = toksmith.load(path)
    which = next(which for which, ids in IDS.items() if tok.encode(TEXT) == ids)
    assert tok.chat_template == which
    assert tok.pipeline.settings.chat_templates["tool_use"] == which
    return which


@pytest.mark.filterwarnings("ignore:.* keeps chat templates that the saved tokenizer does not")
def test_writers_and_readers_of_a_folder(tmp_path: Path) -> None:
    with_templates("old").save(tmp_path / "a")
    done = threading.Event()

    def write(which: str) -> None:
        for _ in range(25):
            with_templates(which).save(tmp_path / "a")

    def read() -> None:
        while not done.is_set():
            held(tmp_path / "a")

    with ThreadPoolExecutor(3) as pool:
        reader = pool.submit(read)
        writers = [pool.submit(write, which) for which in ("old", "new")]
        try:
            for writer in writers:
                writer.result()
                held(tmp_path / "a")
        finally:
            done.set()
        reader.result()


def test_saves_wait_for_a_reader_that_they_disturb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    first, calls = tmp_path / "a", []

    def read() -> bool:
        commits.replace_all({first: b"%d" % len(calls)})  # another save, each time
        calls.append(first)
        return True

    def is_locked() -> bool:
        other = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(other)
        return False

    commits.replace_all({first: b"old"})
    last = commits._ATTEMPTS
    assert commits.read_whole_save(first, lambda: is_locked() if len(calls) == last else read())
    assert len(calls) == last


def test_readers_tell_saves_of_one_content_apart(tmp_path: Path) -> None:
    stamps = []
    for _ in range(50):
        commits.replace_all({tmp_path / "a": b"same"})
        stamps.append((tmp_path / "a").stat().st_mtime_ns)
    assert len({*stamps}) == 50


@pytest.mark.parametrize("form", [None, "gpt2"])
def test_a_folder_that_another_process_writes(
    tmp_path: Path, form: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(locks, "PATIENCE", 0.02)
    path = tmp_path / "a"
    tokenizer("old").save(path, format=form)
    other = os.open(path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(OptionError, match=f"another process works on {path}: wait for it"):
        tokenizer("new").save(path, format=form)
    assert toksmith.load(path).encode(TEXT) == IDS["old"]
    os.close(other)
    tokenizer("new").save(path, format=form)
    assert toksmith.load(path).encode(TEXT) == IDS["new"]


def opened_bytes(path: Path) -> bytes:
    with files.opened(path) as file:
        return file.read()


@pytest.mark.parametrize("read", [files.read_head, files.read_bytes, opened_bytes])
def test_a_file_that_is_renamed_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], bytes]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"new")
    places = iter([tmp_path / ".a.0123abcd.tmp"])
    monkeypatch.setattr(commits, "current", lambda path, first=None: next(places, path))
    assert read(path) == b"new"


def test_a_journal_is_void_once_others_write(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    commits.replace_all(dict.fromkeys(paths, b"old"))
    with pytest.MonkeyPatch.context() as patch:
        Killer(patch, 4, after=True)  # two files and the journal's are written, and one renamed
        with pytest.raises(KilledError):
            commits.replace_all({paths[0]: b"new a", paths[1]: b"new b"})
    assert commits.read_together(paths) in ([b"old", b"old"], [b"new a", b"new b"])
    paths[1].write_bytes(b"by hand")
    assert commits.read_together(paths) == [b"old", b"by hand"]


def test_a_kill_between_the_targets_of_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.symlink_to(f"real/{path.name}")
    commits.replace_all(dict.fromkeys(paths, b"old"))
    found = []
    for at in range(1, 30):
        with pytest.MonkeyPatch.context() as patch:
            killer = Killer(patch, at, after=True)
            with suppress(KilledError):
                commits.replace_all({paths[0]: b"new a", paths[1]: b"new b"})
        found.append(commits.read_together(paths))
        commits.replace_all(dict.fromkeys(paths, b"old"))
        assert commits.read_together(paths) == [b"old", b"old"]
        assert [path.is_symlink() for path in paths] == [True, True]
        assert not list(tmp_path.rglob("*.commit"))
        if not killer.dead:
            break
    old, new = [b"old", b"old"], [b"new a", b"new b"]
    assert found == sorted(found, reverse=True)  # old, until it is new
    assert (found[0], found[-1]) == (old, new)
    assert all(each in (old, new) for each in found)


@pytest.mark.parametrize(
    "journal",
    [
        b"",
        b"{",
        b"[]",
        b'{"files": 5}',
        b'{"toksmith_commit": 1, "files": [{"name": "../x"}]}',
        b'{"toksmith_commit": 1, "files": [{"name": "a", "staged": "../b", "old": 0, "new": 0}]}',
        *(
            b'{"toksmith_commit": 1, "files": [{"name": "%s", "staged": ".x.01234567.tmp", '
            b'"old": null, "new": null}]}' % name
            for name in (b"../a", b"a/../a", b"a/b/c", b"/a", b"", b"a/", b"\\ud800")
        ),
    ],
)
def test_damaged_journals(tmp_path: Path, journal: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"held")
    (tmp_path / ".a.commit").write_bytes(journal)
    assert commits.read(path) == b"held"
    commits.replace_all({path: b"new"})
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_old_temporary_files_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    names = (".a.01234567.tmp", ".a.89abcdef.tmp", ".b.01234567.tmp", "a.tmp")
    for name in names:
        (tmp_path / name).touch()
        if name != names[1]:
            os.utime(tmp_path / name, (0, 0))
    commits.replace_all({path: b"new"})
    assert {each.name for each in tmp_path.iterdir()} == {"a", *names[1:]}


def test_a_directory_in_the_way(tmp_path: Path, toks: dict[str, toksmith.Tokenizer]) -> None:
    toks["old"].save(tmp_path / "a.model")
    (tmp_path / "a.vocab").unlink()
    (tmp_path / "a.vocab").mkdir()
    with pytest.raises(OptionError, match=r"a\.vocab cannot be written: it is a directory"):
        toks["new"].save(tmp_path / "a.model")
    assert loaded(tmp_path / "a.model") == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.model", "a.vocab"]


def test_ranks_with_the_sidecar_of_others(
    tmp_path: Path, toks: dict[str, toksmith.Tokenizer]
) -> None:
    toks["old"].save(tmp_path / "a.tiktoken")
    toks["new"].save(tmp_path / "b.tiktoken")
    (tmp_path / "b.tiktoken").replace(tmp_path / "a.tiktoken")
    with pytest.raises(toksmith.errors.FormatError, match="belongs to another file"):
        toksmith.load(tmp_path / "a.tiktoken")
    assert toksmith.load(tmp_path / "a.tiktoken", split="gpt2").encode(TEXT) == IDS["new"]
