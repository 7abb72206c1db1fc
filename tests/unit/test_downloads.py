"""Downloads from servers that truncate, send too much, ignore ranges, or redirect."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from toksmith._base.downloads import BrokenDownloadError, download
from toksmith.errors import DownloadError
from toksmith.formats import published
from toksmith.formats.published import Published, Ranks

CONTENT = bytes(range(256)) * 400


class Server:
    """What the server does, and the ranges that it was asked for.

    Attributes:
        content: the file.
        breaks: for each request, after how many bytes the connection breaks off; then never.
        ranges: whether it knows ranges.
        length: whether it says how long the file is.
        location: where it redirects to.
        asked: the range of each request.
    """

    def __init__(self) -> None:
        self.content = CONTENT
        self.breaks: list[int] = []
        self.ranges = True
        self.length = True
        self.location = ""
        self.asked: list[str | None] = []


class Answers(BaseHTTPRequestHandler):
    def __init__(self, server: Server, *arguments: object) -> None:
        self.does = server
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        does, asked = self.does, self.headers["Range"]
        does.asked.append(asked)
        start = int(re.findall(r"\d+", asked)[0]) if asked and does.ranges else 0
        if does.location:
            self.send_response(302)
            self.send_header("Location", does.location)
        elif start >= len(does.content):
            self.send_response(416)
        else:
            self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-/{len(does.content)}")
        body = does.content[start:]
        if does.length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: does.breaks.pop(0)] if does.breaks else body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(does: Server) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, does)) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}/file.tiktoken"
        listening.shutdown()
        thread.join()


@pytest.fixture
def does() -> Server:
    return Server()


@pytest.fixture
def url(does: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(does) as found:
        yield found


MOST = len(CONTENT)


def test_a_whole_file(does: Server, url: str) -> None:
    assert download(url, MOST) == CONTENT
    does.length = False
    assert download(url, MOST) == CONTENT
    assert does.asked == [None, None]


def test_a_truncated_file_is_resumed(does: Server, url: str) -> None:
    does.breaks = [1000, 0, 0, 5000]
    assert download(url, MOST) == CONTENT
    assert does.asked == [None, *["bytes=1000-"] * 3, "bytes=6000-"]


def test_a_server_without_ranges_sends_all_again(does: Server, url: str) -> None:
    does.breaks, does.ranges = [1000], False
    assert download(url, MOST) == CONTENT


def test_a_download_that_breaks_off_again_and_again(does: Server, url: str) -> None:
    does.breaks = [1000, *[0] * 9]
    with pytest.raises(BrokenDownloadError, match=r"after 1,000 of 102,400 bytes") as broken:
        download(url, MOST)
    assert broken.value.received == CONTENT[:1000]
    does.breaks = []
    assert download(url, MOST, broken.value.received) == CONTENT


def test_a_server_that_never_gets_further_ends_the_download(does: Server, url: str) -> None:
    does.breaks, does.ranges = [1000, 500] * 9, False
    with pytest.raises(BrokenDownloadError):
        download(url, MOST)
    assert len(does.asked) == 4


def test_a_start_that_is_longer_than_the_file(does: Server, url: str) -> None:
    assert download(url, MOST, CONTENT + b"more") == CONTENT
    assert does.asked == ["bytes=102404-", None]


@pytest.mark.parametrize("length", [True, False])
def test_a_file_that_is_too_large(does: Server, url: str, length: bool) -> None:
    does.length = length
    with pytest.raises(ValueError, match=r"more than the (102,399 allowed|102,399 bytes allowed)"):
        download(url, MOST - 1)
    with pytest.raises(ValueError, match="more than the"):
        download(url, MOST - 1, CONTENT[:9])


@pytest.mark.parametrize("address", ["file:///etc/hosts", "ftp://127.0.0.1/a", "data:,low", "low"])
def test_only_http(does: Server, url: str, address: str) -> None:
    with pytest.raises(ValueError, match="does not start with http"):
        download(address, MOST)
    does.location = address
    if ":" in address:
        with pytest.raises(OSError, match=r"302|unknown url type"):
            download(url, MOST)


def test_endless_redirects(does: Server, url: str) -> None:
    does.location = url
    with pytest.raises(OSError, match="infinite loop"):
        download(url, MOST)


def test_a_published_file_is_resumed_by_the_next_call(
    does: Server, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks = Ranks(url, hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(published.ENCODINGS, "small", Published(ranks, "gpt2"))
    does.breaks = [1000, *[0] * 3]
    with pytest.raises(DownloadError, match="broke off after 1,000 of 102,400 bytes"):
        published.fetch("small")
    part = tmp_path / "file.tiktoken.part"
    assert part.read_bytes() == CONTENT[:1000]
    assert not (tmp_path / "file.tiktoken").exists()
    does.breaks, does.asked = [], []
    assert published._download("small", ranks) == (tmp_path / "file.tiktoken", CONTENT)
    assert does.asked == ["bytes=1000-"]
    assert [path.name for path in tmp_path.iterdir()] == ["file.tiktoken"]

    part.write_bytes(b"the start of another file")
    assert published._download("small", ranks)[1] == CONTENT
    assert not part.exists()
