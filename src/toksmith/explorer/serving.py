"""The server of the explorer: the app on a local port, from start to Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

from toksmith._base.lazy import describe_failure
from toksmith.errors import OptionError, UnsupportedError
from toksmith.explorer.loaded import LoadedTokenizers

LOOPBACK = "127.0.0.1"


def serve(
    loaded: LoadedTokenizers,
    folder: Path,
    port: int = 0,
    *,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the explorer until Ctrl-C or SIGTERM, which raises KeyboardInterrupt.

    Requests that still run a second later are given up: their threads run on, but nothing waits for
    them.

    Args:
        loaded: the tokenizers to begin with.
        folder: pages can read files below it, and save tokenizers there.
        port: the port; 0 for any free one.
        browser: open the page in the user's browser.
        say: prints the line with the address.

    Raises:
        OptionError: the port is taken.
        UnsupportedError: the packages of the extra ``explorer`` are missing.
    """
    try:
        import uvicorn

        from toksmith.explorer.app import make_app
    except ModuleNotFoundError as missing:
        raise UnsupportedError(
            f"the explorer needs {missing.name}: pip install toksmith[explorer]"
        ) from missing
    except (ImportError, OSError) as wrong:
        raise UnsupportedError(describe_failure("a package of the explorer", wrong)) from wrong
    with _listen(port) as bound:
        port = bound.getsockname()[1]
        address = f"http://{LOOPBACK}:{port}/"
        app, close = make_app(loaded, folder, port)
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )

        class Server(uvicorn.Server):
            """Prints the address once uvicorn handles signals; an earlier Ctrl-C would warn."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                say(f"The explorer is at {address} (Ctrl-C ends it)")
                if browser:
                    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        with _until_signal(close):
            Server(config).run(sockets=[bound])


@contextlib.contextmanager
def _until_signal(close: Callable[[], None]) -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, and close the app after it.

    A handler that raises KeyboardInterrupt, such as that of the command line, stays. Another signal
    during closing is ignored: closing takes no longer than the end of a process that is killed.
    """
    if threading.current_thread() is not threading.main_thread():
        try:
            yield
        finally:
            close()
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) or signal.SIG_DFL for number in numbers}
    if before[signal.SIGTERM] is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((LOOPBACK, port))
        bound.listen(64)
    except OSError as taken:
        bound.close()
        raise OptionError(
            f"port {port} cannot be used ({taken.strerror}): leave --port out to use any free port"
        ) from taken
    return bound
