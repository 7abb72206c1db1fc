"""Published encodings: names, downloads, checks and the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import toksmith
from tests.kits.bpe import pipeline, with_whole
from tests.processes import POSIX
from toksmith import formats
from toksmith._base import model_names
from toksmith.errors import DownloadError, FormatError, OptionError, UnknownNameError
from toksmith.formats import published
from toksmith.formats.published import Bundled, Published, Ranks
from toksmith.loading import tokenizer_of
from toksmith.pipeline import Pipeline
from toksmith.splitters import FAMILIES


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache of this machine, and no network."""
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(tmp_path / "ours"))
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr(published, "_temporary_folder", lambda: str(tmp_path / "temporary"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def small(tmp_path: Path) -> bytes:
    """The content of a small file of ranks."""
    formats.write(pipeline("gpt2", {}), tmp_path / "made.tiktoken")
    return (tmp_path / "made.tiktoken").read_bytes()


class Answers(BaseHTTPRequestHandler):
    """Serves one content under any name, and counts."""

    def __init__(self, content: bytes, asked: list[str], *arguments: object) -> None:
        self.content, self.asked = content, asked
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(small: bytes) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, small, asked)) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}/small.tiktoken", asked
        listening.shutdown()
        thread.join()


def register(monkeypatch: pytest.MonkeyPatch, url: str, sha256: str) -> None:
    entry = Published(Ranks(url, sha256), "gpt2", {"<|end|>": 300})
    monkeypatch.setitem(published.ENCODINGS, "small", entry)


def expected() -> Pipeline:
    return with_whole(pipeline("gpt2", {"<|end|>": 300})).with_name("small")


def key(url: str) -> str:
    return hashlib.sha1(url.encode()).hexdigest()


def test_the_names() -> None:
    assert published.names() == [
        "toksmith-small",
        *("r50k_base", "gpt2", "p50k_base", "p50k_edit"),
        *("cl100k_base", "o200k_base", "o200k_harmony"),
    ]


def test_entries_equal_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    asked = {}
    for reader in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"):
        monkeypatch.setattr(public, reader, lambda *url, **more: asked.update(url=url, **more))
    for name, entry in published.ENCODINGS.items():
        if isinstance(entry.ranks, Bundled):
            continue  # ours
        theirs = public.ENCODING_CONSTRUCTORS[name]()
        assert entry.special_tokens | entry.aliases == theirs["special_tokens"]
        family = FAMILIES[entry.split]
        assert theirs["pat_str"] in (family.pattern, *family.spellings)
        if name != "gpt2":  # there in GPT-2's own two files, which hold r50k_base's ranks
            assert (entry.ranks.url, entry.ranks.sha256) == (*asked["url"], asked["expected_hash"])


@pytest.mark.parametrize("place", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "temporary"])
@pytest.mark.parametrize(
    ("name", "file", "size", "top"),
    [
        ("gpt2", "gpt2", 50256, 50256),
        ("r50k_base", "gpt2", 50256, 50256),
        ("cl100k_base", "cl100k_base", 100256, 100276),
        ("o200k_harmony", "o200k_base", 199998, 201087),
    ],
)
def test_from_the_caches_of_tiktoken(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    name: str,
    file: str,
    size: int,
    top: int,
) -> None:
    folder = tmp_path / ("temporary/data-gym-cache" if place == "temporary" else "theirs")
    folder.mkdir(parents=True)
    shutil.copy(
        shared / f"data/vocab/{file}.tiktoken", folder / key(published.ENCODINGS[name].ranks.url)
    )
    if place != "temporary":
        monkeypatch.setenv(place, str(folder))
    pipe = published.fetch(name)
    assert pipe.name == name
    assert len(pipe.model.vocab) == size
    assert pipe.model.whole_chunk_first
    assert pipe.framing.added_tokens[-1].id == top
    assert not (tmp_path / "ours").exists()


def test_gpt2_from_the_two_files_that_tiktoken_keeps(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main"
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(theirs))
    for file in ("encoder.json", "vocab.bpe"):
        shutil.copy(shared / f"data/vocab/gpt2_{file}", theirs / key(f"{folder}/{file}"))
    from_pair = published.fetch("gpt2")
    shutil.copy(
        shared / "data/vocab/gpt2.tiktoken", theirs / key(published.ENCODINGS["gpt2"].ranks.url)
    )
    from_ranks = published.fetch("gpt2")
    assert from_pair.name == from_ranks.name == "gpt2"
    assert from_pair.model.vocab[:50256] == from_ranks.model.vocab[:50256]
    assert from_pair.model.merges.tolist() == from_ranks.model.merges.tolist()
    assert from_pair.framing == from_ranks.framing


def test_from_our_cache(tmp_path: Path, small: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "http://127.0.0.1:9/small.tiktoken", hashlib.sha256(small).hexdigest())
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/small.tiktoken").write_bytes(small)
    assert published.fetch("small") == expected()


def test_download(
    tmp_path: Path,
    small: bytes,
    server: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    url, asked = server
    register(monkeypatch, url, hashlib.sha256(small).hexdigest())
    assert published.fetch("small") == expected()
    assert published.fetch("small") == expected()
    assert asked == ["/small.tiktoken"]
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["small.tiktoken"]
    assert capfd.readouterr() == ("", "")


def test_wrong_files_in_the_caches(
    tmp_path: Path,
    small: bytes,
    server: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, asked = server
    register(monkeypatch, url, hashlib.sha256(small).hexdigest())
    ours, theirs = tmp_path / "ours/small.tiktoken", tmp_path / "theirs" / key(url)
    for path in (ours, theirs):
        path.parent.mkdir()
        path.write_bytes(b"wrong")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(theirs.parent))
    assert published.fetch("small") == expected()
    assert asked == ["/small.tiktoken"]
    assert ours.read_bytes() == small
    assert theirs.read_bytes() == b"wrong"


def test_a_download_with_a_wrong_checksum(
    tmp_path: Path, server: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, server[0], "0" * 64)
    with pytest.raises(DownloadError, match=r"downloaded \(the server sent [\d,]+ bytes with"):
        published.fetch("small")
    assert not (tmp_path / "ours").exists()


def test_a_download_that_cannot_be_kept(
    tmp_path: Path, small: bytes, server: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, asked = server
    register(monkeypatch, url, hashlib.sha256(small).hexdigest())
    (tmp_path / "ours").touch()  # a file where the folder should be: even root cannot write there
    assert published.fetch("small") == expected()
    assert published.fetch("small") == expected()
    assert asked == ["/small.tiktoken"] * 2


@POSIX
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_mode_of_a_kept_file(
    tmp_path: Path,
    small: bytes,
    server: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    umask: int,
    mode: int,
) -> None:
    register(monkeypatch, server[0], hashlib.sha256(small).hexdigest())
    before = os.umask(umask)
    try:
        published.fetch("small")
    finally:
        os.umask(before)
    assert (tmp_path / "ours/small.tiktoken").stat().st_mode & 0o777 == mode


def test_the_rest_of_a_killed_download_is_removed(
    tmp_path: Path, small: bytes, server: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, server[0], hashlib.sha256(small).hexdigest())
    (tmp_path / "ours").mkdir()
    left = tmp_path / "ours/.small.tiktoken.01234567.tmp"
    left.touch()
    os.utime(left, (0, 0))
    published.fetch("small")
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["small.tiktoken"]


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://127.0.0.1:9/small.tiktoken"  # nobody listens there
    register(monkeypatch, url, "0" * 64)
    with pytest.raises(DownloadError) as caught:
        published.fetch("small")
    assert str(caught.value) == (
        "small is not on this machine and cannot be downloaded (the connection was refused); "
        f"save {url} as {tmp_path / 'ours/small.tiktoken'} (SHA-256 {'0' * 64})"
    )


def test_offline_with_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "http://127.0.0.1:9/small.tiktoken", "0" * 64)
    path = tmp_path / "ours/small.tiktoken"
    path.parent.mkdir()
    path.write_bytes(b"an error page")
    with pytest.raises(DownloadError) as caught:
        published.fetch("small")
    message = str(caught.value)
    assert message.startswith(
        f"small is not on this machine ({path} has another SHA-256) and cannot"
    )


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError) as caught:
        published.fetch("cl100k")
    assert isinstance(caught.value, KeyError)
    assert str(caught.value) == (
        "no published encoding has the name 'cl100k'; did you mean 'cl100k_base'?"
    )
    with pytest.raises(UnknownNameError, match="'my-file': use toksmith-small, r50k_base, "):
        published.fetch("my-file")
    with pytest.raises(OptionError, match="name is 5: use a str"):
        published.fetch(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("gpt5", ["gpt-5"]),
        ("gpt4o", ["gpt-4o"]),
        ("GPT_4", ["gpt-4"]),
        ("gpt-3", ["gpt-3.5-turbo", "gpt-3.5", "gpt-35-turbo"]),
        ("o200k", ["o200k_base", "o200k_harmony"]),
        ("text-embeding-3-small", ["text-embedding-3-small"]),
        ("gpt-7", []),
        ("llama3", []),
        ("", []),
        ("-", []),
    ],
)
def test_names_that_may_be_meant(wrong: str, near: list[str]) -> None:
    assert model_names.nearest(wrong, published.ENCODINGS) == near
    with pytest.raises(UnknownNameError) as caught:
        published.fetch(wrong)
    assert ("'gpt2'" in str(caught.value)) is False
    assert all(repr(name) in str(caught.value) for name in near)


def test_models_are_those_of_tiktoken() -> None:
    model = pytest.importorskip("tiktoken.model")
    for name, encoding in model.MODEL_TO_ENCODING.items():
        assert published.encoding_of(name) == encoding, name
    for prefix in model.MODEL_PREFIX_TO_ENCODING:
        for name in (f"{prefix}2024-08-06", f"{prefix}-mini:x"):
            assert published.encoding_of(name) == model.encoding_name_for_model(name), name
    ours = {name for models in model_names.MODELS.values() for name in models}
    assert ours <= set(model.MODEL_TO_ENCODING)


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("o1-preview", "o200k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("ft:gpt-4o:mine", "o200k_base"),
        ("ft:gpt-4:mine", "cl100k_base"),
        ("gpt-2", "gpt2"),
    ],
)
def test_by_the_name_of_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bytes, name: str, encoding: str
) -> None:
    ranks = Ranks("http://127.0.0.1:9/x.tiktoken", hashlib.sha256(small).hexdigest())
    monkeypatch.setitem(published.ENCODINGS, encoding, Published(ranks, "gpt2"))
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/x.tiktoken").write_bytes(small)
    assert toksmith.get(name).name == encoding
    assert toksmith.load(name).pipeline == toksmith.get(encoding).pipeline


def test_the_list_of_names_ships_with_the_package(tmp_path: Path) -> None:
    tok = toksmith.get("toksmith-small")
    assert tok.special_tokens == {"<|endoftext|>": 16382, "<|pad|>": 16383}
    assert tok.vocab_size == 16384
    assert tok.decode(tok.encode("Hello, wörld! 한국어")) == "Hello, wörld! 한국어"
    assert "toksmith-small" in published.at_hand()
    assert not (tmp_path / "ours").exists()


def test_a_bundled_file(tmp_path: Path, small: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.resources

    (tmp_path / "data").mkdir()
    (tmp_path / "data/tiny.tiktoken").write_bytes(small)
    monkeypatch.setattr(importlib.resources, "files", lambda package: tmp_path)
    entry = Published(Bundled("tiny.tiktoken"), "gpt2", {"<|end|>": 300})
    monkeypatch.setitem(published.ENCODINGS, "tiny", entry)
    assert published.fetch("tiny", download=False) == expected().with_name("tiny")


def test_load_takes_names_and_get_says_that_load_takes_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mytok", "gpt-4.7", "llama3"):
        with pytest.raises(UnknownNameError, match=f"there is no file '{name}', and no published"):
            toksmith.load(name)
    for path in ("my.tok", "./gpt2", "tokenizer.json", "folder/tokenizer.json"):
        with pytest.raises(FormatError, match="there is no such file"):
            toksmith.load(path)
    with pytest.raises(OptionError, match="format=, split= and special_tokens= do not apply"):
        toksmith.load("toksmith-small", split=None)
    with pytest.raises(OptionError, match="the path is empty"):
        toksmith.load("")
    toksmith.get("toksmith-small").save("mine.json")
    with pytest.raises(UnknownNameError, match=r"'mine.json' is a path.*load\('mine.json'\) reads"):
        toksmith.get("mine.json")
    with pytest.raises(UnknownNameError, match=r"load\('mine.json'\) reads it"):
        toksmith.get(Path("mine.json"))  # type: ignore[arg-type]
    # A file comes before a name.
    Path("mine.json").rename("gpt2")
    assert toksmith.load("gpt2").vocab_size == 16384


@pytest.mark.parametrize("wrong", [None, 5, b"a", ["a"]])
def test_a_value_that_is_neither_a_path_nor_a_name(wrong: object) -> None:
    for call in (toksmith.load, toksmith.get, toksmith.Tokenizer, tokenizer_of):
        with pytest.raises(OptionError):
            call(wrong)  # type: ignore[operator]


def test_http_is_only_imported_to_download() -> None:
    script = (
        "import sys, toksmith.formats.published, toksmith.compat.tiktoken; "
        "sys.exit('urllib.request' in sys.modules or 'ssl' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_at_hand_without_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bytes
) -> None:
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(tmp_path))
    register(monkeypatch, "http://127.0.0.1:1/small.tiktoken", hashlib.sha256(small).hexdigest())
    assert "small" not in published.at_hand()
    with pytest.raises(DownloadError, match="is in no cache"):
        published.fetch("small", download=False)
    (tmp_path / "small.tiktoken").write_bytes(small)
    assert "small" in published.at_hand()
    assert published.fetch("small", download=False) == expected()
    (tmp_path / "small.tiktoken").write_bytes(small[:-1])
    with pytest.raises(DownloadError, match="in no cache with the right SHA-256"):
        published.fetch("small", download=False)
