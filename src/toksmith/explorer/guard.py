"""The check of every request: it must come from our page on this machine, and not be too large.

Other web pages can make a browser send requests to a local address and, with a name of theirs that
resolves to 127.0.0.1 (DNS rebinding), even read the responses. So the ``Host`` must be ours, and
every request but GET and HEAD must carry a header that no other page may send. Each response limits
its page to sources from this server, and to no inline script.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from starlette.responses import PlainTextResponse

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADER = "x-toksmith"
"""The header of every POST; a page of another origin may not send it without our consent."""

LARGEST_BODY = 256 * 1024 * 1024

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware that refuses foreign requests before the app sees them.

    Args:
        app: the wrapped app.
        port: the port of the server.
    """

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reply to a request, or pass it to the app."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refusal = self._refusal(scope["method"], headers)

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] += [pair for pair in ours if pair[0] not in given]
            await send(message)

        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, method: str, headers: dict[str, str]) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if host not in self._hosts:
            return PlainTextResponse("this address is not served here", 421)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and (
            headers.get("sec-fetch-mode") != "navigate" or method != "GET"
        ):
            return PlainTextResponse("another web page asked for this", 403)
        if method not in ("GET", "HEAD"):
            if headers.get("origin", f"http://{host}") != f"http://{host}" or HEADER not in headers:
                return PlainTextResponse("another web page asked for this", 403)
            size = headers.get("content-length", "")
            if size.isdecimal() and int(size) > LARGEST_BODY:
                return PlainTextResponse("this is too large", 413)
        return None
