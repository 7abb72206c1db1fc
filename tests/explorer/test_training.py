"""Requests of the pages that train and measure: files below a folder, work that can be ended."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from toksmith import load, train
from toksmith.errors import OptionError, UnsupportedError
from toksmith.explorer.compare_page import ComparePage
from toksmith.explorer.folder import Folder
from toksmith.explorer.jobs import Jobs
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields
from toksmith.explorer.train_page import TrainPage


@pytest.fixture
def page(tmp_path: Path) -> Iterator[TrainPage]:
    (tmp_path / "a.txt").write_text("low lower lowest newest widest " * 50)
    jobs = Jobs()
    yield TrainPage(LoadedTokenizers(), Folder(tmp_path), jobs)
    jobs.close()
    assert not jobs.folder.exists()


def trained(page: TrainPage, **fields: Any) -> dict[str, Any]:
    """Train, and return the last answer."""
    page.start(Fields(fields))
    ends = time.monotonic() + 60
    while (found := page.progress(Fields({})))["state"] == "running":
        assert time.monotonic() < ends
        time.sleep(0.05)
    return found


def test_train_on_files_and_save(page: TrainPage, tmp_path: Path) -> None:
    found = trained(page, files=["a.txt"], vocab_size=270, special_tokens=["<x>"])
    assert found["state"] == "done"
    assert found["key"] == "bpe-270"
    assert "<svg" in found["result"]
    assert len(found["learned"]) == 13
    page.save(Fields({"tokenizer": "bpe-270", "format": "huggingface", "path": "tok.json"}))
    assert load(tmp_path / "tok.json").vocab_size == 270
    with pytest.raises(OptionError, match="exists already"):
        page.save(Fields({"tokenizer": "bpe-270", "format": "huggingface", "path": "tok.json"}))
    name, data = page.export("bpe-270", "minbpe")
    assert name == "bpe-270.model"
    assert data.startswith(b"minbpe")
    with pytest.raises(UnsupportedError):
        page.export("bpe-270", "sentencepiece")


@pytest.mark.parametrize("form", ["minbpe", "tiktoken", "huggingface"])
def test_saving_overwrites_nothing(page: TrainPage, tmp_path: Path, form: str) -> None:
    trained(page, text="low lower", vocab_size=258, special_tokens=["<x>"])
    question = {"tokenizer": "bpe-258", "format": form}
    page.save(Fields({**question, "path": "first.x"}))
    beside = {path.name.replace("first", "second") for path in tmp_path.glob("first*")}
    assert "second.x" in beside
    for name in beside:
        (tmp_path / name).write_text("precious")
        before = {path.name for path in tmp_path.iterdir()}
        with pytest.raises(OptionError, match=f"'{name}' exists already: choose another name"):
            page.save(Fields({**question, "path": "second.x"}))
        assert {path.name for path in tmp_path.iterdir()} == before
        assert (tmp_path / name).read_text() == "precious"
        (tmp_path / name).unlink()
    page.save(Fields({**question, "path": "second.x"}))
    assert {path.name for path in tmp_path.glob("second*")} == beside


def test_minbpe_writes_two_files(page: TrainPage, tmp_path: Path) -> None:
    trained(page, text="low lower", vocab_size=258)
    (tmp_path / "v.vocab").write_text("precious")
    with pytest.raises(OptionError, match=r"'v\.vocab' exists already"):
        page.save(Fields({"tokenizer": "bpe-258", "format": "minbpe", "path": "v.model"}))
    assert (tmp_path / "v.vocab").read_text() == "precious"
    assert not (tmp_path / "v.model").exists()


def test_long_tokens_are_cut(page: TrainPage) -> None:
    found = trained(page, text="x" * 8192, vocab_size=269)
    job = page._job
    assert job is not None
    assert all(len(start) <= 120 for _, start, _, _ in job.merges)
    for merges in (found["merges"], found["learned"]):
        shown = re.sub("<.*?>", "|", merges[-1]).replace("\u00a0", " ")
        assert shown == f"||13||{'x' * 120}|… 8,072 more bytes|||× 1||"


def test_options_are_those_of_the_model(page: TrainPage) -> None:
    options = {option["name"]: option for option in page.options(Fields({}))["sentencepiece-bpe"]}
    assert options["byte_fallback"]["choices"] == ["true", "false"]
    assert options["byte_fallback"]["meaning"]
    fields = {"text": "low lower lowest " * 30, "model": "sentencepiece-bpe", "vocab_size": 14}
    assert trained(page, **fields, options={"character_coverage": "1.0"})["state"] == "done"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": "ab"}, "vocab_size is missing"),
        ({"text": "ab", "vocab_size": 5}, "must hold the 256 bytes"),
        ({"text": "ab", "vocab_size": 300, "model": "none"}, "model is 'none'"),
        (
            {"text": "ab", "vocab_size": 300, "options": {"ties": "odd"}},
            "ties='odd': use first-seen or",
        ),
        ({"text": "ab", "vocab_size": 300, "options": {"min_frequency": "x"}}, "^min_frequency="),
        ({"text": "ab", "vocab_size": 300, "options": {"no": "x"}}, "no"),
    ],
)
def test_wrong_options(page: TrainPage, fields: dict[str, Any], message: str) -> None:
    found = trained(page, **fields)
    assert found["state"] == "failed"
    assert re.search(message, found["error"])


def test_the_choice_of_a_corpus(page: TrainPage) -> None:
    for fields in (
        {},
        {"files": ["a.txt"], "text": "x"},
        {"files": ["../a.txt"]},
        {"files": ["b"]},
    ):
        with pytest.raises(OptionError):
            page.start(Fields({**fields, "vocab_size": 300}))


def test_cancel(page: TrainPage, tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("w") as file:
        for i in range(400_000):
            file.write(f"{i * 7919 % 1000003:x} ")
    page.start(Fields({"files": ["large.txt"], "vocab_size": 100_000}))
    with pytest.raises(OptionError, match="already"):
        page.start(Fields({"text": "abc", "vocab_size": 300}))
    started = time.monotonic()
    page._jobs.cancel()
    assert time.monotonic() - started < 5
    assert page.progress(Fields({}))["state"] == "cancelled"
    assert trained(page, text="abab", vocab_size=257)["state"] == "done"


def test_worker_that_dies(page: TrainPage) -> None:
    page.start(Fields({"text": "abab", "vocab_size": 257}))
    job = page._job
    assert job is not None
    job._process.kill()
    job.wait(30)
    assert job.state in ("failed", "done")
    assert job.error or job.state == "done"


def test_compare(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("low lower lowest <script> 東京 " * 40)
    jobs, loaded = Jobs(), LoadedTokenizers()
    loaded.put("<b>", train(texts=["low lower lowest"], vocab_size=262))
    page = ComparePage(loaded, Folder(tmp_path), jobs)
    with pytest.raises(OptionError, match="there is no comparison yet"):
        page.file(Fields({"form": "csv"}))
    with pytest.raises(OptionError, match="choose one to"):
        page.start(Fields({"tokenizers": [], "text": "x"}))
    page.start(Fields({"tokenizers": ["<b>", "bytes"], "files": ["a.txt", "b.txt"]}))
    assert jobs.last is not None
    jobs.last.wait(60)
    found = page.progress(Fields({}))
    assert (found["state"], found["error"]) == ("done", "")
    assert "&lt;b&gt;" in found["report"]
    assert "<script" not in found["report"]
    assert page.file(Fields({"form": "csv"}))["text"].startswith("tokenizer,text,tokens")
    assert page.file(Fields({"form": "html"}))["text"].startswith("<!doctype html>")
    assert '"bytes"' in page.file(Fields({"form": "json"}))["text"]
    with pytest.raises(OptionError):
        page.file(Fields({"form": "xml"}))
    jobs.close()


def test_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / ".hidden").write_text("x")
    (root / "sub" / "b.txt").write_text("four")
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "sub" / "loop").symlink_to(root)
    folder = Folder(root)
    assert [(each.path, each.size) for each in folder.list_entries("")] == [("sub", None)]
    assert ("sub/b.txt", 4) in [(each.path, each.size) for each in folder.list_entries("sub")]
    for path in ("..", "../secret", "link", "/etc/passwd", "sub/../../secret", "no", "a\0b"):
        with pytest.raises(OptionError):
            folder.resolve_inside(path)
        with pytest.raises(OptionError):
            folder.list_entries(path)
    for path in ("sub/b.txt", "../x", "no/x", "", ".", ".x", "link", "a\0b"):
        with pytest.raises(OptionError), folder.open_new(path) as (place, _):
            place.write_text("new")
    with folder.open_new("sub/new.json") as (place, target):
        assert target == root / "sub" / "new.json"
        place.write_text("new")
        place.with_suffix(".other").write_text("beside")
        assert not target.exists()
    assert target.read_text() == "new"
    assert target.with_suffix(".other").read_text() == "beside"
    assert [path.name for path in root.iterdir() if path.name.startswith(".t")] == []


def test_a_folder_means_the_files_directly_in_it(tmp_path: Path) -> None:
    """Links in a folder lead nowhere else, and what is no file is not read."""
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    (root / "a.txt").write_text("a")
    (root / "sub" / "deep" / "b.txt").write_text("b")
    (root / "sub" / "ours.txt").symlink_to(root / "a.txt")
    (root / "sub" / "secret.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (root / "sub" / "outside").symlink_to(tmp_path / "outside")
    (root / "sub" / "gone.txt").symlink_to(root / "gone.txt")
    (root / "only").mkdir()
    (root / "only" / "secret.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    if hasattr(os, "mkfifo"):
        os.mkfifo(root / "sub" / "fifo")
        os.mkfifo(root / "fifo")
        with pytest.raises(OptionError, match="'fifo' is neither a file nor a folder"):
            Folder(root).choose(["fifo"], "")
    expected = [str(root / "sub" / "deep" / "b.txt"), str(root / "sub" / "ours.txt")]
    assert Folder(root).choose(["sub"], "") == ({"sub": expected}, [])
    assert Folder(root).choose(["sub/ours.txt"], "")[0] == {"sub/ours.txt": [str(root / "a.txt")]}
    with pytest.raises(OptionError, match="'only' holds no files"):
        Folder(root).choose(["only"], "")


def test_uploads_are_called_by_their_names(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    key = folder.add_upload("poem.txt", tmp_path / "tmp" / "7-poem.txt")
    assert folder.choose([key], "")[0] == {"poem.txt": [str(tmp_path / "tmp" / "7-poem.txt")]}
    assert (
        folder.replace_upload_paths(f"{tmp_path}/tmp/7-poem.txt: is empty") == "poem.txt: is empty"
    )
