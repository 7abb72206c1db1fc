"""JSON requests of pages: read up to a size limit and handled in a thread."""

from __future__ import annotations

import asyncio
import json
import threading
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from toksmith.errors import OptionError, ToksmithError
from toksmith.explorer.excerpts import parse_text

LONGEST_TEXT = 8 * 1024 * 1024
"""The largest JSON request in bytes."""

MOST_NUMBER = 2**53 - 1
"""The largest whole number of a request: ``Number.MAX_SAFE_INTEGER`` of browsers."""

Reply: TypeAlias = "dict[str, Any]"
Endpoint: TypeAlias = "Callable[[Request], Awaitable[Response]]"
Result = TypeVar("Result")

_THREAD = "request of the explorer"


class Fields:
    """The fields of a request.

    Args:
        fields: the object of JSON.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def text(self, name: str, default: str = "") -> str:
        """Return a text, without surrogates."""
        return parse_text(self._fields.get(name, default))

    def number(self, name: str, default: int = 0) -> int:
        """Return a whole number from 0 to :data:`MOST_NUMBER`.

        Raises:
            OptionError: the field is no such number.
        """
        value = self._fields.get(name, default)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not 0 <= value <= MOST_NUMBER:
            raise OptionError(
                f"{name} is {value!r:.40}: use a whole number from 0 to {MOST_NUMBER:,}"
            )
        return int(value)

    def flag(self, name: str) -> bool:
        """Return whether a field is true."""
        return self._fields.get(name) is True

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        value = self._fields.get(name, [])
        return [parse_text(each) for each in value] if isinstance(value, list) else []

    def pairs(self, name: str) -> dict[str, str]:
        """Return texts by name."""
        value = self._fields.get(name, {})
        if not isinstance(value, dict):
            return {}
        return {parse_text(key): parse_text(each) for key, each in value.items()}


def make_endpoint(work: Callable[[Fields], Reply]) -> Endpoint:
    """Return the endpoint of a function, which runs in a thread."""

    async def endpoint(request: Request) -> Response:
        try:
            fields = json.loads(await read_body(request, LONGEST_TEXT))
            if not isinstance(fields, dict):
                raise OptionError("a request must be a JSON object")
            return JSONResponse(await run_in_thread(work, Fields(fields)))
        except (ToksmithError, ValueError, OSError, RecursionError) as wrong:
            return error_reply(wrong)
        except Exception as wrong:
            traceback.print_exc()
            return JSONResponse({"error": f"{type(wrong).__name__}: {wrong}"}, 500)

    return endpoint


async def run_in_thread(work: Callable[..., Result], *given: Any) -> Result:
    """Call a function in a thread of its own.

    Unlike the threads of Starlette's pool, the end of the server does not wait for this one.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Result] = loop.create_future()

    def settle(how: Callable[..., None], what: object) -> None:
        if not answer.done():  # it is cancelled when the server ends
            how(what)

    def run() -> None:
        how: Callable[..., None] = answer.set_result
        what: object
        try:
            what = work(*given)
        except Exception as wrong:
            how, what = answer.set_exception, wrong
        with suppress(RuntimeError):  # the server has ended, and its loop is closed
            loop.call_soon_threadsafe(settle, how, what)

    threading.Thread(target=run, name=_THREAD, daemon=True).start()
    return await answer


def are_requests_running() -> bool:
    """Return whether a thread still works on a request."""
    return any(thread.name == _THREAD for thread in threading.enumerate())


def error_reply(wrong: Exception) -> Response:
    """Return an error as JSON, with status 400."""
    return JSONResponse({"error": str(wrong) or type(wrong).__name__}, 400)


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request.

    Raises:
        OptionError: it is larger than ``most`` bytes.
    """
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise OptionError(f"the request is too large: at most {most:,} bytes are accepted")
        parts.append(part)
    return b"".join(parts)
