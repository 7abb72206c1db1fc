"""Helpers that start an explorer and a real browser on it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import toksmith

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build/screenshots"
"""Where pictures of the pages go; git does not see it."""

_SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)
_SECONDS = 20
DESKTOP, PHONE = (1440, 900, 1, False), (390, 844, 2, True)

Found = TypeVar("Found")


def missing() -> str:
    """Return what is not here of what a browser needs; nothing where all is."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    if _program("chromium", "chromium-browser", "google-chrome") is None:
        return "there is no Chromium on this machine"
    if _program("chromedriver") is None:
        return "there is no chromedriver on this machine"
    return ""


def _program(*names: str) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def running(*arguments: str, folder: Path) -> Iterator[str]:
    """Run ``toksmith explore`` in a folder, and yield its address; Ctrl-C has to end it well."""
    command = [sys.executable, "-m", "toksmith", "explore", *arguments, "--no-browser"]
    # The same package as here, wherever the folder is.
    environment = {**os.environ, "PYTHONPATH": str(Path(toksmith.__file__).parents[1])}
    server = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert "http://127.0.0.1:" in line, server.communicate(timeout=10)
        yield line.split(" is at ")[1].split(" ")[0]
    finally:
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
    assert (server.returncode, rest, errors) == (130, "", "")


class Browser:
    """A browser that remembers what it asked for, and looks at one explorer.

    Args:
        address: of the explorer.
        profile: an empty folder.
    """

    def __init__(self, address: str, profile: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = str(_program("chromium", "chromium-browser", "google-chrome"))
        for switch in (*_SWITCHES, f"--user-data-dir={profile}"):
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.address = address
        self.driver: Any = webdriver.Chrome(options, Service(_program("chromedriver")))
        self.driver.get("about:blank")  # away from Chromium's own start page
        self.size(DESKTOP)

    def size(self, size: tuple[int, int, int, bool]) -> None:
        """Give the page the size of a screen."""
        names = ("width", "height", "deviceScaleFactor", "mobile")
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", dict(zip(names, size, strict=True))
        )

    def open(self, page: str = "", **query: str | list[str]) -> None:
        """Open a page of the explorer, and wait until all of it is there."""
        self.driver.get(f"{self.address}{page}?{urlencode(query, doseq=True)}")
        # The driver may return from a large page before.
        self.until(lambda: self.run("return document.readyState") == "complete", "the whole page")

    def all(self, selector: str) -> list[Any]:
        """Return the elements that fit."""
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        """Return the first element that fits, as soon as there is one."""
        return self.until(lambda: self.all(selector), f"an element {selector}")[0]

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements that fit."""
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return list(self.driver.execute_script(script, selector))

    def run(self, script: str, *given: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *given)

    def until(self, wanted: Callable[[], Found], what: str, seconds: float = _SECONDS) -> Found:
        """Wait until something is so."""
        from selenium.common.exceptions import StaleElementReferenceException

        ends = time.monotonic() + seconds
        while True:
            try:
                if found := wanted():
                    return found
            except StaleElementReferenceException:
                pass  # the page was just drawn anew
            assert time.monotonic() < ends, f"waited for {what}"
            time.sleep(0.03)

    def write(self, text: str) -> None:
        """Put a text into the text field, as pasting does."""
        self.run(
            "const field = document.getElementById('text'); field.value = arguments[0];"
            "field.dispatchEvent(new Event('input', {bubbles: true}))",
            text,
        )

    def keys(self, *keys: str) -> None:
        """Press keys where the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def point_at(self, element: Any) -> None:
        """Rest the pointer on an element."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver, duration=0).move_to_element(element).perform()

    def requests(self) -> list[str]:
        """Return the addresses that pages asked for since the last time.

        What Chromium's own start page asked for is left out: that may still be told late.
        """
        messages = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
            and not message["params"]["documentURL"].startswith("chrome://")
        ]

    def complaints(self) -> list[str]:
        """Return the errors in the browser's console since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def picture(self, name: str) -> None:
        """Write a picture of the page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))
