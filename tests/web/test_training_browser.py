"""The page of training in a real Chromium: a run is started, followed, killed and resumed."""

from __future__ import annotations

import json
import os
import signal

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By

from browsing import IN_BROWSER, Server, eventually
from learn.support_runs import small_settings
from rookery.learn.locks import holding_process
from rookery.learn.runs import LOSSES, Run

pytestmark = IN_BROWSER
LONG = 300.0  # seconds; a process that trains loads and compiles more than a page
CHANGES = (
    "selfplay.simulations=8 selfplay.at_once=8 checkpoints.every=16 checkpoints.least_seconds=0 threads=1 "
    "training.batch=16 training.warmup_steps=2 network.width=8"
)


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path, "--runs", str(tmp_path / "runs"))
    made.start()
    yield made
    made.stop()


def fill(visitor, label, text):
    visitor.browser.find_element(By.CSS_SELECTOR, f'input[aria-label^="{label}"]').send_keys(text)


def card(visitor):
    """Return the text of the only card, an empty one if there is none."""
    found = visitor.browser.find_elements(By.CSS_SELECTOR, ".run")
    return found[0].text if found else ""


def games(visitor):
    """Return how many games the card tells of."""
    line = next((line for line in card(visitor).splitlines() if " of " in line), "0 of")
    return int(line.split(" of ")[0].replace(",", ""))


CHART = "getElement(+document.querySelector('.chart').id.slice(1)).chart"
WITHIN = f"return {CHART}.getOption().series.at(-1).data.filter(([step]) => step >= 2000 && step <= 2400).length"


def test_seeds_are_one_line_with_a_band_that_keeps_its_zoom_and_gets_finer(visitor, tmp_path):
    for seed in (1, 2, 3):
        run = Run.create(tmp_path / "runs" / f"mine-s{seed}", small_settings(seed=seed))
        lines = [
            {"step": step, "value_loss": 1 / step + seed / 10, "policy_loss": 2.0} for step in range(1, 20001 + seed)
        ]
        (run.folder / LOSSES).write_text("".join(json.dumps(line) + "\n" for line in lines))
    browser = visitor.browser
    browser.get(f"{visitor.server.address}/training")
    eventually(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".run")) == 3)
    visitor.press("Tick all")
    eventually(lambda: "mine (3 runs)" in visitor.text(".chart"))
    assert "n = 3" in visitor.text("main")
    assert len(browser.execute_script(f"return {CHART}.getOption().series")) == 3  # a line, and a band in two parts
    coarse = browser.execute_script(WITHIN)
    browser.execute_script(f"{CHART}.dispatchAction({{type: 'dataZoom', start: 10, end: 12}})")
    eventually(lambda: browser.execute_script(WITHIN) > 5 * coarse)
    shown = browser.execute_script(f"return {CHART}.getOption().dataZoom.map((zoom) => [zoom.start, zoom.end])")
    assert shown == [[10, 12], [10, 12]]
    browser.find_element(By.XPATH, "//*[contains(text(), 'join seeds')]").click()
    eventually(lambda: "mine-s2" in visitor.text(".chart"))
    browser.find_element(By.XPATH, "//*[contains(@class, 'q-tab__label') and text()='Settings']").click()
    eventually(lambda: "settings differ" in visitor.text("main"))
    differing = browser.find_element(By.CSS_SELECTOR, ".differs").text.split()
    assert (differing[:2], sorted(differing[2:])) == (["≠", "seed"], ["1", "2", "3"])
    assert not browser.get_log("browser")


def test_a_run_is_followed_live_and_resumed_after_its_process_is_killed(visitor, tmp_path):
    browser, lock = visitor.browser, tmp_path / "runs" / "pylos_quick" / "lock"
    browser.get(f"{visitor.server.address}/training")
    eventually(lambda: "No runs in" in visitor.text("main"))
    browser.find_element(By.CSS_SELECTOR, "summary").click()
    fill(visitor, "Games", "400")
    fill(visitor, "Seed", "5")
    fill(visitor, "Other settings", CHANGES)
    eventually(lambda: "--set selfplay.games=400 --set seed=5" in visitor.text(".command"))
    eventually(lambda: "--set network.width=8" in visitor.text(".command"))
    visitor.press("Start")
    eventually(lambda: "training" in card(visitor) and games(visitor) > 0, LONG)
    first = games(visitor)
    eventually(lambda: games(visitor) > first)
    eventually(lambda: "games/s" in card(visitor) and "left" in card(visitor))
    eventually(lambda: browser.find_elements(By.CSS_SELECTOR, ".chart svg path"))
    process = holding_process(lock)
    assert process is not None
    os.kill(process, signal.SIGKILL)
    eventually(lambda: "killed" in card(visitor))
    eventually(lambda: "Signal 9" in visitor.text("main"))
    visitor.press("Resume")
    eventually(lambda: "training" in card(visitor) and games(visitor) >= first, LONG)
    assert holding_process(lock) not in (None, process)
    browser.find_element(By.XPATH, "//*[contains(@class, 'q-tab__label') and text()='Watch']").click()
    visitor.press("Watch a game")
    eventually(lambda: "against itself" in visitor.text("main"))
    eventually(lambda: browser.find_elements(By.CSS_SELECTOR, ".watch svg use"))
    visitor.press("Stop")
    eventually(lambda: "stopped" in card(visitor) or "complete" in card(visitor))
    assert not browser.get_log("browser")
