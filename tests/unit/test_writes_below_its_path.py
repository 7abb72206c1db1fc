"""Names in files never lead a call to paths outside of those that it is given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.processes import POSIX
from tests.unit.test_tokenize_corpus import write, write_corpus
from toksmith._base import commits
from toksmith._base.plain_names import is_plain
from toksmith.errors import FormatError, OptionError
from toksmith.framing import Settings
from toksmith.tokenfiles import convert_tokens, verify_tokens
from toksmith.tokenfiles.finishing import find_job
from toksmith.tokenfiles.manifest import NAME

TOK = toksmith.train(texts=["low lower lowest"], vocab_size=259)
OUTSIDE = [
    "../../up",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "C:up",
    "nul",
    "com1.x",
    "a\0",
    "a\n",
    "up.",
    "é" * 101,
]


def names_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_are_not_plain(name: str) -> None:
    assert not is_plain(name)
    assert all(map(is_plain, ("default", "tool_use", "a b", "x.y", "größe", "console", ".x")))


@pytest.mark.parametrize("name", [*OUTSIDE, "/up"])
@pytest.mark.parametrize("form", [list, dict])
def test_names_of_chat_templates(tmp_path: Path, form: type, name: str) -> None:
    model = tmp_path / "model"
    TOK.save(model)
    config = model / "tokenizer_config.json"
    templates: Any = [{"name": key, "template": "x"} for key in ("default", name)]
    if form is dict:
        templates = {"default": "x", name: "x"}
    config.write_text(json.dumps({"chat_template": templates}))
    with pytest.raises(FormatError, match="cannot be that of a file") as wrong:
        toksmith.load(model)
    assert wrong.value.path == str(config)
    settings = Settings(chat_templates={"default": "x", name: "x"})
    before = names_below(tmp_path)
    with pytest.raises(OptionError, match="chat_templates has the name"):
        toksmith.Tokenizer(replace(TOK.pipeline, settings=settings)).save(tmp_path / "a" / "b")
    assert names_below(tmp_path) == before


def test_what_saving_writes_is_below_its_path(tmp_path: Path) -> None:
    names = ["default", "tool_use", "a b", "größe", ".hidden"]
    settings = Settings(chat_templates=dict.fromkeys(names, "x"))
    tok = toksmith.Tokenizer(replace(TOK.pipeline, settings=settings))
    tok.save(tmp_path / "a" / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
    assert toksmith.load(tmp_path / "a" / "b").pipeline.settings.chat_templates == (
        settings.chat_templates
    )


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = write_corpus(tmp_path / "corpus.jsonl", ["low lower", "lowest"])
    write(path, tmp_path / "tokens", format="megatron", split="train=0.5,val=0.5")
    return tmp_path / "tokens"


@pytest.mark.parametrize("name", ["../../../../up", "a/b", "", "nul"])
def test_names_of_splits(tokens: Path, tmp_path: Path, name: str) -> None:
    manifest = tokens / NAME
    manifest.write_text(manifest.read_text().replace('"train"', json.dumps(name)))
    before = names_below(tmp_path)
    for call in (toksmith.open_tokens, verify_tokens):
        with pytest.raises(FormatError, match=r"token-manifest\.json: is damaged.*split"):
            call(tokens)
    with pytest.raises(FormatError, match=r"token-manifest\.json: is damaged.*split"):
        convert_tokens(tokens, format="dolma", output=tmp_path / "new", progress=False)
    assert names_below(tmp_path) == before
    work = tmp_path / "work" / "shards" / "00000-of-00001"
    work.mkdir(parents=True)
    job = json.loads(manifest.read_text())["job"]
    (work / "journal").write_text(json.dumps({"job": job, "shard": 0}) + "\n")
    with pytest.raises(OptionError, match=r"journal is damaged.*split"):
        find_job(tmp_path / "work")


@pytest.mark.parametrize("name", ["../up", "/up", "a/../../up", "C:up", "a\\..\\up", "a//b"])
def test_names_of_token_files(tokens: Path, name: str) -> None:
    manifest = tokens / NAME
    held = json.loads(manifest.read_text())
    held["files"][0]["name"] = name
    manifest.write_text(json.dumps(held))
    with pytest.raises(FormatError, match=r"token-manifest\.json: is damaged.*a file has the name"):
        toksmith.open_tokens(tokens)


@POSIX
def test_a_journal_names_only_temporary_files(tmp_path: Path) -> None:
    """The folder holds a link to a file elsewhere, beside which the journal names another one."""
    home, folder = tmp_path / "home", tmp_path / "folder"
    for path in (home, folder):
        path.mkdir()
    for name in ("tokenizer.json", "kept"):
        (home / name).write_bytes(b"held")
    (folder / "a").symlink_to(home / "tokenizer.json")
    entry = {"name": "a", "staged": "kept", "old": None, "new": None}
    for staged in ("kept", "..", ".kept.tmp"):
        journal = {"toksmith_commit": 1, "files": [{**entry, "staged": staged}]}
        (folder / ".a.commit").write_text(json.dumps(journal))
        assert commits.current(folder / "a") == folder / "a"
        commits.replace_all({folder / "a": b"new"})
        assert (home / "kept").read_bytes() == b"held"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/../../x", "a/b/../../../x"])
def test_a_journal_names_only_files_below_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder" / "a" / "b").mkdir(parents=True)
    (tmp_path / ".x.01234567.tmp").write_bytes(b"held")
    entry = {"name": name, "staged": ".x.01234567.tmp", "old": None, "new": None}
    journal = tmp_path / "folder" / ".t.commit"
    journal.write_text(json.dumps({"toksmith_commit": 1, "files": [entry]}))
    assert commits.waiting(tmp_path / "folder" / "t") == []
    commits.replace_all({tmp_path / "folder" / "t": b"new"})
    assert (tmp_path / ".x.01234567.tmp").read_bytes() == b"held"
    assert not journal.exists()
