"""Devices and pipes in the place of files: what has no end is not read to its end."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith._base import commits, files
from toksmith.errors import FormatError
from toksmith.formats.listed import UNSET
from toksmith.tokenfiles.manifest import NAME, read_manifest
from toksmith.tokenfiles.packing.index import PackIndex

TOK = toksmith.train(texts=["low lower lowest"], vocab_size=259)

pytestmark = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no devices")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
@pytest.mark.parametrize("form", [None, *sorted(set(toksmith.formats.FORMATS) - {"gpt2"})])
def test_devices_are_refused(tmp_path: Path, device: str, form: str | None) -> None:
    link = tmp_path / "tokenizer.json"
    link.symlink_to(device)
    for path in (Path(device), link):
        if path.exists():
            with pytest.raises(FormatError, match="it is a device: give the path of a file") as no:
                toksmith.load(path, format=form)
            assert no.value.path == str(path)


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_devices_in_a_pair(tmp_path: Path, name: str) -> None:
    for each in ("vocab.json", "merges.txt"):
        (tmp_path / each).write_text("{}")
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(FormatError, match="it is a device: give the path of a file"):
        toksmith.load(tmp_path / "vocab.json", format="gpt2")


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer_config.json", "additional_chat_templates/a.jinja"]
)
def test_devices_in_a_model_folder(tmp_path: Path, name: str) -> None:
    TOK.save(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")
    with suppress(FormatError):  # other files are not looked at if they are none
        toksmith.load(tmp_path)


def test_devices_as_manifest_and_journal(tmp_path: Path) -> None:
    (tmp_path / NAME).symlink_to("/dev/zero")
    with pytest.raises(FormatError, match=r"token-manifest\.json: cannot be read: it is a device"):
        toksmith.open_tokens(tmp_path)
    TOK.save(tmp_path / "a.json")
    (tmp_path / ".a.json.commit").symlink_to("/dev/zero")
    assert toksmith.load(tmp_path / "a.json").pipeline == TOK.pipeline


def test_a_directory_in_the_place_of_a_chat_template(tmp_path: Path) -> None:
    TOK.save(tmp_path)
    (tmp_path / "additional_chat_templates" / "a.jinja").mkdir(parents=True)
    with pytest.raises(FormatError, match=r"a\.jinja: this is a directory"):
        toksmith.load(tmp_path)


def written_to(pipe: Path, data: bytes) -> threading.Thread:
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    return writer


@pytest.mark.parametrize("size", [100, 101])
def test_the_size_of_a_pipe_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(commits, "_MOST_PIPED", 100)
    pipe = tmp_path / "pipe"
    writer = written_to(pipe, bytes(size))
    if size > 100:
        with pytest.raises(FormatError, match="it is a pipe with more than 100 bytes") as wrong:
            files.read_bytes(pipe)
        assert wrong.value.path == str(pipe)
    else:
        assert files.read_bytes(pipe) == bytes(size)
    writer.join()


@pytest.mark.parametrize("form", ["huggingface", "tiktoken", "minbpe"])
def test_a_tokenizer_from_a_pipe(tmp_path: Path, form: str) -> None:
    """A program such as curl writes it; recognising a format must not take a part of it away."""
    path = tmp_path / "held.json"
    TOK.save(path, format=form)
    writer = written_to(tmp_path / "pipe", path.read_bytes())
    tok = toksmith.load(tmp_path / "pipe", split="gpt4" if form == "tiktoken" else UNSET)
    writer.join()
    assert tok.encode("lowest") == TOK.encode("lowest")
    assert tok.training is None


def test_damaged_and_empty_pipes(tmp_path: Path) -> None:
    for name, data, reason in (
        ("a", b"", "the file is empty"),
        ("b", b"?", "none of the known formats"),
    ):
        writer = written_to(tmp_path / name, data)
        with pytest.raises(FormatError, match=reason) as wrong:
            toksmith.load(tmp_path / name)
        writer.join()
        assert wrong.value.path == str(tmp_path / name)


FORMATS = ["nanogpt", "llmc", "megatron", "datatrove", "mds", "litdata", "dolma", "parquet"]
FORMATS += ["arrow", "webdataset"]


@pytest.mark.parametrize("with_manifest", [True, False])
@pytest.mark.parametrize("form", FORMATS)
def test_pipes_among_token_files(tmp_path: Path, form: str, with_manifest: bool) -> None:
    """Nobody writes to the pipes, so that opening one would wait for ever."""
    (tmp_path / "a.txt").write_text("low lower lowest")
    folder = tmp_path / form
    made: Any = {"tokenizer": TOK, "format": form, "output": folder, "eos": 0}
    toksmith.tokenize_corpus(tmp_path / "a.txt", **made)
    if not with_manifest:
        (folder / NAME).unlink()
    for path in [each for each in folder.rglob("*") if each.is_file()]:
        held = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        for place in (folder, path):
            with pytest.raises(FormatError, match="it is a pipe") as wrong:
                toksmith.open_tokens(place)
            assert wrong.value.path == str(path)
        with pytest.raises(FormatError, match="it is a pipe"):
            toksmith.open_tokens(folder, format=form)
        path.unlink()
        path.symlink_to("/dev/zero")
        with pytest.raises(FormatError, match="it is a device"):
            toksmith.open_tokens(folder)
        path.unlink()
        path.write_bytes(held)
    assert toksmith.open_tokens(folder, eos=0).lengths.sum() > 0


def test_pipes_as_manifest_and_pack_index(tmp_path: Path) -> None:
    for name in (NAME, "index.pack"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(FormatError, match=r"token-manifest\.json: cannot be read: it is a pipe"):
        read_manifest(tmp_path)
    with pytest.raises(FormatError, match=r"index\.pack: cannot be read: it is a pipe"):
        PackIndex.load(tmp_path / "index.pack")
