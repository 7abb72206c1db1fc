"""Downloads of single files over HTTP: bounded in size, and resumed where they broke off.

The caller compares the SHA-256.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssl import SSLContext
    from urllib.request import OpenerDirector

_SECONDS = 30.0
"""The timeout in seconds, for connecting and for each read from the server."""
_BLOCK = 1 << 16
_ATTEMPTS = 3
"""How often a download that broke off is tried again without getting further than before."""


class BrokenDownloadError(OSError):
    """A download broke off.

    Attributes:
        received: the bytes received so far.
    """

    def __init__(self, why: str, received: bytes) -> None:
        super().__init__(why)
        self.received = received


def download(url: str, most: int, start: bytes = b"", seconds: float = _SECONDS) -> bytes:
    """Return the content of a file.

    Args:
        url: its address, with ``http://`` or ``https://``.
        most: the most bytes that are accepted.
        start: the first bytes of the file, from a download that broke off.
        seconds: the timeout for connecting and for each read.

    Raises:
        BrokenDownloadError: the connection broke off repeatedly. A later call may go on.
        OSError: the file cannot be downloaded.
        ValueError: the address has another scheme, or the file is larger than ``most``.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"the address {url:.80} does not start with http:// or https://")
    from http.client import HTTPException  # these are slow to import
    from urllib.error import HTTPError

    opener = _opener()
    received = bytearray(start)
    furthest = len(received)
    left = _ATTEMPTS
    while True:
        is_resumed = bool(received)
        try:
            _receive(opener, url, most, received, seconds)
            return bytes(received)
        except HTTPError as wrong:
            if wrong.code != 416 or not is_resumed:
                raise
            received.clear()  # the start that was kept is not that of this file
        except (OSError, HTTPException) as wrong:
            left = _ATTEMPTS if len(received) > furthest else left - 1
            furthest = max(furthest, len(received))
            if left == 0 or not received:
                why = str(wrong) or type(wrong).__name__
                raise BrokenDownloadError(why, bytes(received)) from wrong


def _receive(
    opener: OpenerDirector, url: str, most: int, received: bytearray, seconds: float
) -> None:
    """Append the rest of a file to the bytes received so far."""
    from urllib.request import Request

    # Without "identity", a server may compress, and a range is then one of the compressed file.
    headers = {"Accept-Encoding": "identity", "User-Agent": "toksmith"}
    if received:
        headers["Range"] = f"bytes={len(received)}-"
    with opener.open(Request(url, headers=headers), timeout=seconds) as answer:
        sent = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range") or "")
        if answer.status != 206 or sent is None or int(sent[1]) != len(received):
            received.clear()  # the whole file is sent
        length = answer.headers.get("Content-Length") or ""
        expected = len(received) + int(length) if length.isdecimal() else None
        if expected is not None and expected > most:
            raise ValueError(f"the file has {expected:,} bytes, more than the {most:,} allowed")
        while block := answer.read(_BLOCK):
            received += block
            if len(received) > most:
                raise ValueError(f"the server sends more than the {most:,} bytes allowed")
        if expected is not None and len(received) < expected:
            raise ConnectionError(
                f"the connection broke off after {len(received):,} of {expected:,} bytes"
            )


def _opener() -> OpenerDirector:
    """Return what opens addresses of HTTP and HTTPS, also behind proxies, and no others."""
    from urllib import request

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(context=_certificates()),
        request.HTTPDefaultErrorHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _certificates() -> SSLContext:
    """Return a context with the system's certificates, and those of certifi if it is installed."""
    import ssl

    context = ssl.create_default_context()
    try:
        import certifi
    except ImportError:
        return context
    context.load_verify_locations(certifi.where())
    return context
