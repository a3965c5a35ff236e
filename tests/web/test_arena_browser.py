"""The page of the arena in a real Chromium: ten games live, pause and step, a round robin, and ratings."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browsing import IN_BROWSER, Visitor, eventually, open_browser

pytestmark = IN_BROWSER


def tab(visitor, name):
    labels = visitor.browser.find_elements(By.CSS_SELECTOR, ".q-tab__label")
    next(label for label in labels if label.text == name).click()


def pace(visitor):
    return re.search(r"[\d.]+ s a move|as fast as it goes", shown(visitor))[0]


def slide(visitor, key, wanted):
    """Press a key at the slider until the page says what is wanted; a list that closes may take the focus once more."""

    def pressed():
        before = pace(visitor)
        visitor.browser.execute_script("document.querySelector('.q-slider [tabindex]').focus()")
        ActionChains(visitor.browser).send_keys(key).perform()
        with suppress(AssertionError):
            eventually(lambda: pace(visitor) != before, seconds=2)
        return pace(visitor) == wanted

    eventually(pressed)


def shown(visitor):
    return visitor.text("main")


PLIES = "return [...document.querySelectorAll('.live .board')].map((board) => getElement(+board.id.slice(1)).ply)"


def plies(visitor):
    """Return how many moves were made on each board."""
    return visitor.browser.execute_script(PLIES)


def test_ten_games_are_followed_live_paused_stepped_and_rated(visitor):
    browser = visitor.browser
    browser.get(f"{visitor.server.address}/arena")
    eventually(lambda: "Choose two players" in shown(visitor))
    eventually(lambda: browser.execute_script("return window.did_handshake"))
    visitor.choose("First player", "Greedy: one move ahead")
    browser.find_element(By.XPATH, "//*[contains(text(), 'keep the games')]").click()
    slide(visitor, Keys.ARROW_RIGHT, "0.3 s a move")
    visitor.press("Start")
    eventually(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".live svg")) == 4)
    eventually(lambda: all(plies(visitor)))
    visitor.press("Pause")
    eventually(lambda: "paused" in shown(visitor))
    time.sleep(1)  # what was thought about is shown
    before = plies(visitor)
    time.sleep(0.5)
    assert plies(visitor) == before
    visitor.press("Step")
    eventually(lambda: plies(visitor) != before)
    time.sleep(0.5)
    assert sum(plies(visitor)) == sum(before) + 1
    slide(visitor, Keys.ARROW_LEFT, "as fast as it goes")
    visitor.press("Pause")
    eventually(lambda: "10 of 10 games finished, done" in shown(visitor))
    assert "points" in shown(visitor)
    assert "95 % interval" in shown(visitor)
    assert "Elo" in shown(visitor)
    tab(visitor, "Ratings")
    eventually(lambda: "10 games. Dots are ratings" in shown(visitor))
    eventually(lambda: browser.find_elements(By.CSS_SELECTOR, "section svg path"))
    assert not browser.get_log("browser")


@pytest.mark.parametrize(("width", "columns"), [(390, 1), (1280, 3)])
def test_nine_boards_are_a_grid_or_on_a_phone_a_column(server, width, columns):
    browser = open_browser(width, 900, mobile=width < 900)
    try:
        visitor = Visitor(browser, server)
        browser.get(f"{server.address}/arena")
        eventually(lambda: browser.execute_script("return window.did_handshake"))
        visitor.choose("Boards", "9 at a time")
        visitor.press("Start")
        boards = eventually(lambda: browser.find_elements(By.CSS_SELECTOR, ".live svg"))
        assert len(boards) == 9
        assert len({round(board.rect["x"]) for board in boards}) == columns
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        eventually(lambda: "10 of 10 games finished, done" in shown(visitor))
        assert not browser.get_log("browser")
    finally:
        browser.quit()


def test_a_round_robin_fills_its_table(visitor):
    browser = visitor.browser
    browser.get(f"{visitor.server.address}/arena")
    eventually(lambda: browser.execute_script("return window.did_handshake"))
    tab(visitor, "Round robin")
    players = eventually(lambda: browser.find_elements(By.CSS_SELECTOR, '[aria-label="Players"]'))[0]
    players.click()
    for wanted in ("Baseline: fixed depth, 2 plies", "Greedy: one move ahead", "Random moves"):
        eventually(lambda: browser.find_elements(By.CSS_SELECTOR, ".q-menu .q-item"))
        items = browser.find_elements(By.CSS_SELECTOR, ".q-menu .q-item")
        next(item for item in items if item.text == wanted).click()
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    eventually(lambda: not browser.find_elements(By.CSS_SELECTOR, ".q-menu"))
    visitor.press("Start")
    eventually(lambda: "12 of 12 games finished, done" in shown(visitor))
    rows = browser.find_elements(By.CSS_SELECTOR, ".crosstable tr")
    assert len(rows) == 4
    assert rows[3].text.split("\n")[0].startswith("3. Random moves")
    assert not browser.get_log("browser")
