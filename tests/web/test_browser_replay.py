"""Replay and studies in a real Chromium."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browsing import IN_BROWSER, Server, Visitor, eventually, open_browser
from rookery.games.library import load
from rookery.studies.domineering_files import records_of, write_games
from rookery.web.session import GameSession, Plan
from rookery.web.sharing import shared_text

pytestmark = IN_BROWSER
COUNT = "window.sent = 0; window.socket.onAnyOutgoing(() => { window.sent++; })"
GRAPH = "getElement(+document.querySelector('.graph').id.slice(1))"
HAND = (
    '{"hands": [[0,3,5,7,10,14,17], [2,4,18,19,21,23,25], [6,9,11,15,20,22,26], [1,8,12,13,16,24,27]],'
    ' "declaration": 0, "leader": 0, "plays": [[0,14],[1,19]]}\n'
)
WORDS = "1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    run = folder / "studies" / "mine" / "runs" / "small-s1"
    run.mkdir(parents=True)
    lines = [
        {"step": 10 * step, "layers": [{"read": "cls", "r2": step / 200 + layer / 10} for layer in range(3)]}
        for step in range(100)
    ]
    (run / "probes.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    made = Server(folder, "--studies", str(folder / "studies"))
    made.start()
    yield made
    made.stop()


def opened(visitor: Visitor, address: str) -> None:
    """Open a page that may have no board."""
    visitor.browser.get(visitor.server.address + address)
    eventually(lambda: visitor.browser.execute_script("return window.did_handshake"))


def status(visitor: Visitor) -> str:
    """Return the line that says which position it is; nothing while the page changes."""
    return visitor.browser.execute_script("return document.querySelector('.now')?.innerText || ''")


def load_file(visitor: Visitor, folder, text: str | None, name: str = "game.pgn") -> None:
    """Load a file of games; without a text it is there already."""
    path = folder / name
    if text is not None:
        path.write_text(text)
    opened(visitor, "/replay")
    visitor.press("Load a file")
    eventually(lambda: visitor.browser.find_elements(By.CSS_SELECTOR, 'input[type="file"]'))
    visitor.browser.find_element(By.CSS_SELECTOR, 'input[type="file"]').send_keys(str(path))


def long_game(plies: int) -> str:
    """Return a random game of chess as PGN."""
    chance, session = random.Random(4), GameSession(Plan("chess", frozenset(), ""))
    for _ in range(plies):
        session.make(int(chance.choice(session.position.legal())))
    return shared_text(session)


def test_a_file_is_loaded_stepped_through_by_keys_and_evaluated(visitor, tmp_path):
    load_file(visitor, tmp_path, f'[Event "x"]\n[White "Anna"]\n[Black "Berta"]\n[Result "1-0"]\n\n{WORDS}\n')
    eventually(lambda: status(visitor) == "Move 5 of 5: Qxe5#")
    assert "White: Anna; Black: Berta. 1 - 0" in visitor.text(".who")
    keys = ActionChains(visitor.browser)
    keys.send_keys(Keys.ARROW_LEFT).perform()
    eventually(lambda: status(visitor) == "Move 4 of 5: Ke7")
    keys.reset_actions()
    keys.send_keys("k").perform()
    eventually(lambda: status(visitor) == "Move 3 of 5: Qh5")
    visitor.press("Evaluate")
    eventually(lambda: None not in visitor.browser.execute_script(f"return {GRAPH}.values"))
    marks = visitor.browser.execute_script(f"return {GRAPH}.marks")
    assert marks.get("4") == "blunder"
    ActionChains(visitor.browser).send_keys("b").perform()
    eventually(lambda: status(visitor) == "Move 4 of 5: Ke7")
    assert visitor.browser.execute_script(f"return {GRAPH}.ply") == 4
    assert "Ke7" in visitor.text(".moves .blunder")
    ActionChains(visitor.browser).send_keys("z").perform()
    eventually(lambda: visitor.browser.execute_script(f"return {GRAPH}.marks") == {})
    assert visitor.browser.execute_script(f"return {GRAPH}.values.every((value) => value === null)")
    assert not visitor.browser.get_log("browser")


def test_a_wrong_file_is_refused_in_words(visitor, tmp_path):
    load_file(visitor, tmp_path, "1. e4 e5 2. Ke5")
    eventually(lambda: "Ke5" in visitor.text(".sheet .bad"))


def test_moves_are_tried_beside_the_game_and_one_comes_back(visitor, tmp_path):
    load_file(visitor, tmp_path, f'[Event "x"]\n\n{WORDS}\n')
    eventually(lambda: status(visitor).startswith("Move 5 of 5"))
    ActionChains(visitor.browser).send_keys(Keys.ARROW_UP).perform()
    eventually(lambda: status(visitor) == "Move 0 of 5: the start")
    visitor.click_spot(12)  # e2
    visitor.click_spot(28)  # e4, as in the game
    eventually(lambda: status(visitor) == "Move 1 of 5: e4")
    visitor.click_spot(50)  # c7
    visitor.click_spot(34)
    eventually(lambda: status(visitor) == "Side line, move 2 of 2: c5")
    visitor.click_spot(6)
    visitor.click_spot(21)
    eventually(lambda: visitor.moves == ["e4", "c5", "Nf3"])
    assert visitor.text(".lines-beside .on") == "2. c5 and 1 more"
    ActionChains(visitor.browser).send_keys(Keys.ESCAPE).perform()
    eventually(lambda: status(visitor) == "Move 1 of 5: e4")
    eventually(lambda: len(visitor.moves) == 5)
    visitor.browser.refresh()
    eventually(lambda: status(visitor).startswith("Move 5 of 5"))
    visitor.press("2. c5 and 1 more")
    eventually(lambda: status(visitor) == "Side line, move 2 of 3: c5")
    visitor.press("Drop this line")
    eventually(lambda: not visitor.browser.find_element(By.CSS_SELECTOR, ".lines-beside").is_displayed())
    visitor.press("Play on")
    eventually(lambda: "/play/chess" in visitor.browser.current_url)
    visitor.wait_for_page()
    eventually(lambda: visitor.moves[:1] == ["e4"])
    assert not visitor.browser.get_log("browser")


def test_files_of_other_programs_are_loaded(visitor, tmp_path):
    stones = "\n".join(f"{8 + ply % 2},{8 + ply // 2},{ply}" for ply in range(9))
    load_file(visitor, tmp_path, f"Piskvorky 15x15, 11:11, 0\n{stones}\nA.zip\nB.exe\n-1\n1,Freestyle\n", "a.psq")
    eventually(lambda: status(visitor).startswith("Move 9 of 9"))
    assert "Black: A; White: B. 1 - 0" in visitor.text(".who")
    moves = np.full((1, 128), -1, np.int16)
    position, ply = load("domineering").start(), 0
    while not position.over:
        moves[0, ply] = position.legal()[0]
        position.play(int(moves[0, ply]))
        ply += 1
    write_games(tmp_path / "games.npz", records_of(moves, np.array([ply], np.int16), moves < -1))
    load_file(visitor, tmp_path, None, "games.npz")
    eventually(lambda: status(visitor).startswith(f"Move {ply} of {ply}"))
    load_file(visitor, tmp_path, HAND, "hands.jsonl")
    eventually(lambda: status(visitor).startswith("Move 2 of 2"))
    assert not visitor.browser.get_log("browser")


def test_an_own_game_is_kept_by_a_button_and_opened_from_the_ledger(visitor):
    visitor.open("/play/gomoku")
    visitor.click_spot(40)
    eventually(lambda: len(visitor.moves) == 2)
    visitor.press("Resign")
    eventually(lambda: visitor.status == "Black resigned.")
    opened(visitor, "/replay")
    visitor.press("Keep")
    eventually(lambda: "game=l" in visitor.browser.current_url)
    eventually(lambda: status(visitor).startswith("Move 2 of 2"))
    assert "human" in visitor.text(".who")
    assert "ledger" in visitor.text(".entry.here")


def test_a_held_key_steps_and_all_views_agree(visitor, tmp_path):
    load_file(visitor, tmp_path, long_game(148))
    eventually(lambda: status(visitor).startswith("Move 148 of 148"))
    visitor.browser.execute_script(
        "for (let i = 0; i < 60; i++) setTimeout(() => document.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowLeft', code: 'ArrowLeft', repeat: i > 0, bubbles: true})), 30 * i)"
    )
    eventually(lambda: status(visitor).startswith("Move 88 of 148"))
    assert visitor.board("ply") == 88
    assert visitor.browser.execute_script(f"return {GRAPH}.ply") == 88
    assert visitor.text(".moves .here").startswith("88. ")


def test_a_game_of_the_page_is_in_the_list(visitor):
    visitor.open("/play/gomoku")
    visitor.click_spot(40)
    eventually(lambda: len(visitor.moves) == 2)
    opened(visitor, "/replay?of=gomoku")
    eventually(lambda: status(visitor).startswith("Move 2 of 2"))
    assert "not over" in visitor.text(".entry.here")
    visitor.press("Autoplay")
    eventually(lambda: status(visitor).startswith("Move 1 of 2"))
    eventually(lambda: status(visitor).startswith("Move 2 of 2"))


def test_the_slider_over_steps_asks_the_server_nothing(visitor):
    opened(visitor, "/studies/in-mine")
    slider = eventually(lambda: visitor.browser.find_element(By.CSS_SELECTOR, ".probes input"))
    assert visitor.text(".probes .step") == "step 990"
    visitor.browser.execute_script(COUNT)
    slider.send_keys(Keys.HOME)
    assert visitor.text(".probes .step") == "step 0"
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert visitor.text(".probes .step") == "step 20"
    assert "0.110" in visitor.text(".probes tbody tr")
    assert visitor.browser.execute_script("return window.sent") == 0
    assert not visitor.browser.get_log("browser")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_screen(visitor, server, width):
    browser = open_browser(width, 800, mobile=width < 900)
    try:
        narrow = Visitor(browser, server)
        for address in ("/replay", "/studies", "/studies/pylos-report", "/studies/domineering", "/studies/in-mine"):
            opened(narrow, address)
            assert browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth") <= 0
    finally:
        browser.quit()
