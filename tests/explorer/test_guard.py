"""Requests that the explorer refuses: other hosts, other pages, bodies that are too large."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from toksmith.errors import OptionError
from toksmith.explorer.app import make_app
from toksmith.explorer.guard import LARGEST_BODY
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.serving import serve

PORT = 4242
UNSUPPORTED = (
    b'{"version": "1.0", "added_tokens": [], "normalizer": {"type": "New"}, "pre_tokenizer": null,'
    b'"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}'
)
OURS = {"host": f"127.0.0.1:{PORT}"}
FROM_PAGE = {
    **OURS,
    "x-toksmith": "1",
    "origin": f"http://127.0.0.1:{PORT}",
    "sec-fetch-site": "same-origin",
}


def ask(
    path: str, headers: dict[str, str], method: str = "GET", body: bytes = b"", query: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of an answer, without a server."""
    app, close = make_app(LoadedTokenizers(), Path(), PORT)
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(app(scope, receive, send))
    close()
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(m.get("body", b"") for m in sent[1:])


def test_the_page_has_a_content_security_policy() -> None:
    status, headers, body = ask("/", OURS)
    assert status == 200
    assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
    assert b"<script>" not in body
    assert b"http" not in body.replace(b"http-equiv", b"")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:80", f"127.0.0.1.evil:{PORT}", ""]
)
def test_other_hosts(host: str) -> None:
    assert ask("/", {"host": host})[0] == 421


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_questions_of_other_pages(wrong: dict[str, str]) -> None:
    assert ask("/ask/tokens", FROM_PAGE | wrong, "POST", b"{}")[0] == 403


def test_questions_without_our_header() -> None:
    assert ask("/ask/tokens", OURS, "POST", b"{}")[0] == 403
    assert ask("/ask/tokens", FROM_PAGE, "POST", b"{}")[0] == 200


def test_link_from_elsewhere_opens_the_page_only() -> None:
    elsewhere = {**OURS, "sec-fetch-site": "cross-site"}
    assert ask("/", {**elsewhere, "sec-fetch-mode": "navigate"})[0] == 200
    assert ask("/ask/tokenizers", {**elsewhere, "sec-fetch-mode": "no-cors"})[0] == 403


def test_too_large() -> None:
    assert (
        ask("/ask/tokens", FROM_PAGE | {"content-length": str(LARGEST_BODY + 1)}, "POST")[0] == 413
    )
    status, _, body = ask("/ask/tokens", FROM_PAGE, "POST", b" " * (9 * 1024 * 1024))
    assert status == 400
    assert b"too large" in body


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"start": "x"}', b'{"special": "x"}', b"[" * 100_000, b'{"text": "\xff"}'],
)
def test_questions_that_are_none(body: bytes) -> None:
    status, _, answer = ask("/ask/tokens", FROM_PAGE, "POST", body)
    assert status == 400
    assert b"error" in answer


@pytest.mark.parametrize("value", [-1, -(10**20), 2**53, True])
@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("vocabulary", ["from", "rows"]),
        ("token", ["id", "start", "end", "at", "colour"]),
        ("train", ["vocab_size"]),
        ("tokens", ["start"]),
    ],
)
def test_numbers_out_of_range(path: str, names: list[str], value: object) -> None:
    for name in names:
        fields = {"tokenizer": "bytes", "tokenizers": ["bytes"], "id": 97, "text": "abc"}
        body = json.dumps(fields | {name: value}).encode()
        status, _, answer = ask(f"/ask/{path}", FROM_PAGE, "POST", body)
        assert status == 400
        error = json.loads(answer)["error"]
        assert error.startswith(f"{name} is {value!r}: use a whole number from 0 to ")


def test_errors_name_the_file_that_was_opened() -> None:
    """Not the temporary file that it was put into."""
    path = "/ask/open"
    for body, word in ((b"{", "content"), (UNSUPPORTED, "cannot be read: ")):
        status, _, answer = ask(path, FROM_PAGE, "POST", body, b"name=my.json")
        assert status == 400
        error = json.loads(answer)["error"]
        assert error.startswith("my.json: ")
        assert word in error
        assert "toksmith-" not in error


def test_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OptionError, match="cannot be used"):
            serve(LoadedTokenizers(), Path(), other.getsockname()[1], browser=False)
