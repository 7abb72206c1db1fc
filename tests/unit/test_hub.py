"""Model folders by name, from a cache of the Hugging Face Hub; no test uses the network."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

import toksmith
from tests.unit.test_model_folders import LOW, SPACE_LOW, gpt2
from toksmith.cli.app import app
from toksmith.errors import DownloadError, MissingExtraError, OptionError

FIRST, SECOND = "a" * 40, "b" * 40


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the Hub, and no huggingface_hub."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home" / "hub"


def put(cache: Path, name: str = "org/model", commit: str = FIRST, **config: Any) -> Path:
    """Write a snapshot, as huggingface_hub lays it out."""
    folder = cache / f"models--{name.replace('/', '--')}"
    (folder / "snapshots").mkdir(parents=True, exist_ok=True)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs" / "main").write_text(commit)
    return gpt2(folder / "snapshots" / commit, config)


def test_a_model_in_the_cache(cache: Path) -> None:
    put(cache, model_max_length=9)
    tok = toksmith.get("org/model")
    assert tok.encode("low low") == [LOW, SPACE_LOW]
    assert (tok.name, tok.model_max_length) == ("org/model", 9)
    assert toksmith.load("org/model") == tok
    assert toksmith.compare(["org/model"], texts={"en": "low"})["org/model", "en"].tokens == 1


def test_other_places_of_the_cache(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "elsewhere")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere"))
    assert toksmith.get("org/model").encode("low") == [LOW]
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.delenv("HF_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    put(tmp_path / "xdg" / "huggingface" / "hub")
    assert toksmith.get("org/model").encode("low") == [LOW]


def test_revisions(cache: Path) -> None:
    put(cache, commit=FIRST)
    put(cache, commit=SECOND, add_prefix_space=True)
    refs = cache / "models--org--model" / "refs"
    (refs / "pr").mkdir()
    (refs / "pr" / "1").write_text(FIRST)
    assert toksmith.get("org/model").encode("low") == [SPACE_LOW]
    assert toksmith.get("org/model", revision=FIRST).encode("low") == [LOW]
    assert toksmith.get("org/model", revision="pr/1").encode("low") == [LOW]
    with pytest.raises(MissingExtraError, match=r"org/model \(revision v2\) is not in the"):
        toksmith.get("org/model", revision="v2")
    for wrong in ("../main", "a b", "", 5):
        with pytest.raises(OptionError, match="revision is"):
            toksmith.get("org/model", revision=wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="revision= is for models"):
        toksmith.get("toksmith-small", revision="main")


def test_a_folder_comes_before_a_name(cache: Path, tmp_path: Path) -> None:
    put(cache)
    (tmp_path / "org").mkdir()
    gpt2(tmp_path / "org" / "model", {"add_prefix_space": True})
    assert toksmith.load("org/model").encode("low") == [SPACE_LOW]


def test_without_cache_and_package(cache: Path) -> None:
    reason = r"org/model is not in the Hugging Face cache .*pip install toksmith\[hub\]"
    with pytest.raises(MissingExtraError, match=reason):
        toksmith.get("org/model")
    with pytest.raises(MissingExtraError, match=f"there is no file 'org/model', and {reason}"):
        toksmith.load("org/model")
    with pytest.raises(OptionError, match="the name of a tokenizer"):
        toksmith.load("org/model", split="gpt2")


def test_a_snapshot_without_a_vocabulary_is_not_enough(cache: Path) -> None:
    folder = put(cache)
    (folder / "vocab.json").unlink()
    with pytest.raises(MissingExtraError, match="is not in the Hugging Face cache"):
        toksmith.get("org/model")


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """A huggingface_hub that fills the cache; returns the calls."""
    calls: list[tuple[str, str | None]] = []

    def snapshot_download(name: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        calls.append((name, revision))
        assert {"tokenizer.json", "merges.txt", "*.model"} <= {*allow_patterns}
        if name == "org/gone":
            raise OSError("404 Client Error\nRepository Not Found")
        return str(put(cache, name))

    module = ModuleType("huggingface_hub")
    module.snapshot_download = snapshot_download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return calls


def test_downloads(hub: list[tuple[str, str | None]]) -> None:
    assert toksmith.get("org/model").encode("low") == [LOW]
    assert hub == [("org/model", "main")]
    toksmith.get("org/model")
    assert len(hub) == 1  # from the cache
    with pytest.raises(DownloadError, match=r"org/gone is not .* \(OSError: 404 Client Error Repo"):
        toksmith.get("org/gone")


def test_offline(hub: list[tuple[str, str | None]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DownloadError, match="HF_HUB_OFFLINE is set"):
        toksmith.get("org/gone")


def test_the_command_line_takes_the_name(cache: Path) -> None:
    put(cache)
    ran = CliRunner().invoke(app, ["count", "-t", "org/model", "low low"])
    assert (ran.exit_code, ran.stdout.strip()) == (0, "2")
    ran = CliRunner().invoke(app, ["compare", "org/model", "--on", "low"])
    assert ran.exit_code == 0, ran.output
    assert "org/model" in ran.stdout
