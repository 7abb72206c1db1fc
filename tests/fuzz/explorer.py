"""The fuzz target of the explorer: any request gets an answer that is no failure of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import toksmith
from tests.damage import JSON, overwrite_number
from tests.fuzz.running import REFUSED, WORKED, Subject, Target
from toksmith.explorer import app as app_module
from toksmith.explorer import requests
from toksmith.explorer.app import make_app
from toksmith.explorer.jobs import Jobs
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.loading import load

PORT = 4242
HEADERS = {"host": f"127.0.0.1:{PORT}", "x-toksmith": "1", "sec-fetch-site": "same-origin"}
REQUESTS: dict[str, dict[str, Any]] = {
    "vocabulary": {"tokenizer": "a", "query": "lo", "how": "text", "kind": "all", "sort": "id",
                   "from": 0, "rows": 20},
    "token": {"tokenizer": "a", "id": 97, "text": "low a", "start": 0, "end": 5, "at": 1,
              "special": "text", "colour": 3},
    "options": {},
    "files": {"path": "", "chosen": ["a.txt", "sub"]},
    "train": {"files": ["a.txt"], "vocab_size": 270, "model": "bpe", "separator": "\n",
              "special_tokens": ["<x>"], "options": {"min_count": "2"}},
    "training": {"since": 0},
    "save": {"tokenizer": "a", "format": "minbpe", "path": "sub/new"},
    "compare": {"tokenizers": ["a", "bytes"], "text": "low", "separator": "", "files": []},
    "comparing": {"since": 0},
    "comparison": {"form": "csv"},
    "tokens": {"tokenizers": ["a", "bytes"], "text": "low é\u2028", "start": 0, "special": "text",
               "template": True},
    "kept": {"file": "text-1"},
    "cancel": {},
    "text": {"?": {"name": "poem.txt"}, "content": "low\n"},
    "open": {"?": {"name": "a.model"}, "content": "minbpe v1\n"},
    "upload": {"?": {"name": "b.txt"}, "content": "low\n"},
    "download": {"?": {"t": "a", "format": "minbpe"}},
}  # fmt: skip
"""A sound request of each kind, by the end of its path. "?" is the query, for those that have one;
``content`` is the body of uploads."""


async def _call(work: Callable[..., Any], *given: Any) -> Any:
    """Call a function that the explorer runs in a thread."""
    return work(*given)


def _parse(data: bytes) -> tuple[str, dict[str, Any], bytes]:
    """Return the path, the query and the body of an input."""
    try:
        value = json.loads(data)
        ((name, fields),) = value.items()
        query = {str(key): str(each) for key, each in fields.pop("?", {}).items()}
        content = fields.get("content")
        is_upload = isinstance(content, str)
        body = content.encode() if is_upload else json.dumps(fields).encode()
    except (ValueError, AttributeError, RecursionError, TypeError):
        return "tokens", {}, data
    return name.encode(errors="replace").decode(), query, body  # servers pass no surrogates


def prepare(work: Path) -> Subject:
    """Set up an explorer on a folder."""
    root = work / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("low lower lowest " * 20)
    tok = toksmith.train(files=[root / "a.txt"], vocab_size=270)
    tok.save(work / "a.model")
    loaded = LoadedTokenizers()
    loaded.add("a", lambda: load(work / "a.model"))
    app, _ = make_app(loaded, root, PORT)
    # The patches stay for the life of this process: one thread, and no process for a job.
    requests.run_in_thread = app_module.run_in_thread = _call  # type: ignore[assignment]
    Jobs.start = _refuse_job  # type: ignore[method-assign]
    loop = asyncio.new_event_loop()
    outside = {path.name for path in work.iterdir()}

    def try_one(data: bytes) -> str:
        name, query, body = _parse(data)
        status, answer = loop.run_until_complete(_ask(app, f"/ask/{name}", query, body))
        assert status < 500, (status, answer)
        assert {path.name for path in work.iterdir()} == outside, "a file outside of the folder"
        if status == 200:
            if name == "tokens":
                found = json.loads(answer)
                assert 0 <= found["start"] <= found["end"] <= found["characters"], found
            return WORKED
        assert json.loads(answer)["error"], status
        return REFUSED

    seeds = [json.dumps({name: fields}).encode() for name, fields in REQUESTS.items()]
    return Subject(seeds, try_one)


def _refuse_job(_: Jobs, task: dict[str, Any]) -> Any:
    json.dumps(task)
    raise toksmith.errors.OptionError("no jobs here")


async def _ask(app: Any, path: str, query: dict[str, Any], body: bytes) -> tuple[int, bytes]:
    """Send a request, and return the status and the body of the answer."""
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(errors="replace"),
        "query_string": urlencode(query, errors="replace").encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in HEADERS.items()],
    }
    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


EXPLORER = Target(("explorer",), [*JSON, *[overwrite_number] * 4], prepare)
