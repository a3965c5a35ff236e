"""A real Chromium on a real server, for tests of the pages."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from support import ROOT

PATIENCE = 90.0  # seconds; compiling under load takes long
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
IN_BROWSER = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver"),
]
"""marks of tests in a browser"""
FLAT = ("disable-gpu", "disable-3d-apis")  # software graphics are slow; Pylos is then drawn as grids
BOARD = "getElement(+document.querySelector('.board').id.slice(1))"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """`rookery serve` in a process of its own."""

    def __init__(self, folder: Path, *arguments: str):
        self.folder, self.port, self.arguments = folder, free_port(), arguments
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start the process, without waiting until it answers."""
        self.log = (self.folder / "log").open("ab")
        command = [sys.executable, "-m", "rookery", "serve", "--port", str(self.port), "--folder", str(self.folder)]
        environment = os.environ | {"ROOKERY_LEDGER": str(self.folder / "ledger.db")}
        environment.pop("PYTEST_CURRENT_TEST", None)  # NiceGUI would take itself for a part of a test
        self.process = subprocess.Popen(
            [*command, *self.arguments], cwd=ROOT, stdout=self.log, stderr=self.log, env=environment
        )

    def start(self) -> None:
        self.begin()
        try:
            eventually(self.answers)
        except BaseException:
            self.stop()
            raise

    def kill(self) -> int:
        """Kill the process, and return how it ended."""
        assert self.process is not None
        self.process.kill()
        status = self.process.wait()
        self.log.close()
        self.process = None
        return status

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            urllib.request.urlopen(self.address, timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE)
            self.log.close()
            self.process = None


def open_browser(
    width: int = 1280, height: int = 900, mobile: bool = False, more: tuple[str, ...] = FLAT
) -> webdriver.Chrome:
    """Start Chromium without a window."""
    options = webdriver.ChromeOptions()
    for argument in (
        "headless=new",
        "no-sandbox",
        *more,
        "disable-dev-shm-usage",
        f"window-size={width},{height}",
    ):
        options.add_argument(f"--{argument}")
    options.binary_location = CHROMIUM or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if mobile:
        metrics = {"width": width, "height": height, "pixelRatio": 2}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def eventually(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until something is so, and return it."""
    end = time.monotonic() + seconds
    while True:
        try:
            if found := condition():
                return found
        except StaleElementReferenceException:
            pass
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.02)


class Visitor:
    """Somebody in front of a browser."""

    def __init__(self, browser: webdriver.Chrome, server: Server):
        self.browser, self.server = browser, server

    def open(self, path: str) -> None:
        self.browser.get(self.server.address + path)
        self.wait_for_page()

    def wait_for_page(self) -> None:
        ready = "return window.did_handshake && document.querySelector('.board svg') !== null"
        eventually(lambda: self.browser.execute_script(ready))

    def text(self, selector: str) -> str:
        return self.browser.find_element(By.CSS_SELECTOR, selector).text

    @property
    def status(self) -> str:
        return self.text(".now")

    @property
    def moves(self) -> list[str]:
        found = self.browser.execute_script(
            "return [...document.querySelectorAll('.moves button')].map((button) => button.innerText)"
        )
        return [text.split(". ", 1)[1] for text in found]

    def board(self, field: str) -> Any:
        """Return what the board's component knows."""
        return self.browser.execute_script(f"return {BOARD}.{field}")

    def click_spot(self, spot: int) -> None:
        self.browser.find_element(By.CSS_SELECTOR, f'[data-spot="{spot}"]').click()

    def press(self, text: str, within: str = "body") -> None:
        """Press the button with a certain text."""

        def pressed() -> bool:
            for button in self.browser.find_elements(By.CSS_SELECTOR, f"{within} button"):
                if button.text == text and button.is_displayed() and button.is_enabled():
                    button.click()
                    return True
            return False

        eventually(pressed)

    def wait_for_turn(self) -> bool:
        """Wait until the visitor may move, or the game is over; tell whether it goes on."""

        def settled() -> bool:
            if any(word in self.status for word in ("won", "draw", "resigned")):
                return True
            return bool(self.board("active")) and not self.board("pending")

        eventually(settled)
        return bool(self.board("active"))

    def make(self, way: list[Any]) -> None:
        """Make a move by clicks: its spots in order, or its button."""
        before = self.board("ply")
        action, path, _, label = way
        spots = path[:1] if self.board("anywhere") else path
        for spot in spots:
            self.click_spot(spot)
        if not path or label:
            eventually(lambda: self.browser.find_elements(By.CSS_SELECTOR, f'[data-action="{action}"]'))[0].click()
        eventually(lambda: self.board("ply") != before)

    def new_game(self, side: str = "", variant: str = "", begin: str = "") -> None:
        """Begin a game by the dialog."""
        here = self.browser.current_url
        self.press("New game")
        eventually(lambda: self.browser.find_elements(By.CSS_SELECTOR, ".sheet"))
        for label, wanted in (("You play", side), ("Variant", variant)):
            if wanted:
                self.choose(label, wanted)
        if begin:
            self.write(".sheet textarea", begin)
        self.press("Start", ".sheet")
        eventually(lambda: self.browser.current_url != here)
        self.wait_for_page()

    def write(self, field: str, text: str) -> None:
        """Write into a field; a dialog that is still opening may take the focus in the middle of it."""

        def written() -> bool:
            found = self.browser.find_element(By.CSS_SELECTOR, field)
            found.clear()
            found.send_keys(text)
            return bool(found.get_attribute("value") == text)

        eventually(written)

    def choose(self, label: str, wanted: str) -> None:
        """Choose from a list."""

        def opened() -> bool:
            within = self.browser.find_element(By.CSS_SELECTOR, f'[aria-label="{label}"]')
            try:
                within.find_element(By.XPATH, "./ancestor::label").click()  # people hit the field, not the input in it
            except (ElementNotInteractableException, ElementClickInterceptedException):
                return False  # a dialog that is still opening
            return True

        eventually(opened)

        def picked() -> bool:
            for item in self.browser.find_elements(By.CSS_SELECTOR, ".q-menu .q-item"):
                if item.text == wanted:
                    item.click()
                    return True
            return False

        eventually(picked)
        eventually(lambda: not self.browser.find_elements(By.CSS_SELECTOR, ".q-menu"))
