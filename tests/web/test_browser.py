"""The page in a real Chromium: whole games by clicks, and what makes a page feel right."""

from __future__ import annotations

import random
import urllib.error
import urllib.request

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browsing import BOARD, IN_BROWSER, Server, Visitor, eventually, open_browser

pytestmark = IN_BROWSER
GAMES = ["gomoku", "domineering", "chess", "pylos", "texas42"]


def play_to_the_end(visitor: Visitor, seed: int) -> None:
    """Make random legal moves by clicks until the game is over."""
    chance = random.Random(seed)
    while visitor.wait_for_turn():
        visitor.make(chance.choice(visitor.board("ways")))


@pytest.mark.parametrize("game", ["gomoku", "domineering", "pylos", "texas42"])
def test_a_whole_game_is_played_by_clicks(visitor, game):
    visitor.open(f"/play/{game}")
    play_to_the_end(visitor, 1)
    assert "won" in visitor.status or "draw" in visitor.status
    assert len(visitor.moves) == visitor.board("ply")
    assert not visitor.browser.get_log("browser")


def test_a_whole_game_of_chess_is_played_by_clicks_of_both_sides(visitor):
    visitor.open("/play/chess")
    visitor.new_game(side="Both sides (two people, one screen)")
    for move in ("e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"):
        turned = visitor.board("ply") % 2 == 1  # the side to move sits below; squares keep their numbers
        source, target = (ord(move[i]) - 97 + 8 * (int(move[i + 1]) - 1) for i in (0, 2))
        assert visitor.board("spots")[source][4].startswith(move[:2])
        assert (visitor.board("spots")[0][0] > 160) == turned
        way = next(way for way in visitor.board("ways") if way[1] == [source, target])
        visitor.make(way)
    eventually(lambda: visitor.status == "White won.")
    assert visitor.moves == ["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#"]


def test_pieces_of_chess_are_dragged_and_wrong_drops_change_nothing(visitor):
    visitor.open("/play/chess")

    def square(name):
        number = ord(name[0]) - 97 + 8 * (int(name[1]) - 1)
        return visitor.browser.find_element(By.CSS_SELECTOR, f'[data-spot="{number}"]')

    def drag(source, target):
        actions = ActionChains(visitor.browser, duration=20)
        actions.click_and_hold(square(source)).move_to_element(square(target)).release().perform()

    drag("e2", "e5")
    assert visitor.board("ply") == 0
    assert visitor.board("chosen") == []
    drag("e2", "e4")
    eventually(lambda: visitor.moves[:1] == ["e4"])


def test_a_promotion_is_asked_for(visitor):
    visitor.open("/play/chess")
    visitor.new_game(begin="8/P6k/8/8/8/8/8/K7 w - - 0 1")
    eventually(lambda: len(visitor.board("ways")) == 7)
    visitor.click_spot(48)
    visitor.click_spot(56)
    visitor.press("Rook")
    eventually(lambda: visitor.moves[:1] == ["a8=R"])


def test_a_position_that_is_shown_once_more_leaves_what_is_chosen(visitor):
    show = (
        "const [board, more] = [" + BOARD + ", arguments[0]];"
        "const keys = ['men', 'spots', 'ways', 'anywhere', 'active'];"
        "const state = Object.fromEntries(keys.map((key) => [key, board[key]]));"
        "board.show(JSON.stringify({...state, ply: board.ply + more}))"
    )
    visitor.open("/play/chess")
    visitor.click_spot(12)
    eventually(lambda: visitor.board("chosen") == [12])
    visitor.browser.execute_script(show, 0)
    assert visitor.board("chosen") == [12]
    visitor.browser.execute_script(show, 1)
    assert visitor.board("chosen") == []


def test_undo_hint_and_resign(visitor):
    visitor.open("/play/gomoku")
    visitor.press("Hint")
    eventually(lambda: visitor.status.startswith("Hint: "))
    assert len(visitor.board("marks")) == 1
    visitor.click_spot(40)
    visitor.wait_for_turn()
    eventually(lambda: visitor.moves[:1] == ["E5"] and len(visitor.moves) == 2)
    visitor.press("Undo")
    eventually(lambda: visitor.moves == [])
    visitor.press("Resign")
    eventually(lambda: visitor.status == "Black resigned.")


def test_analysis_shows_lines_marks_and_a_value_while_it_runs(visitor):
    visitor.open("/play/domineering")
    visitor.press("Analyse")
    eventually(lambda: len(visitor.board("marks")) > 1)
    assert "-" in visitor.text(".lines")  # moves like a1-a2
    eventually(lambda: "mcts:sims=3200: 3,200 nodes" in visitor.text(".panel"))  # the last of its levels
    assert "unknown" not in visitor.browser.find_element(By.CSS_SELECTOR, ".bar").get_attribute("aria-label")
    visitor.press("Analyse")
    eventually(lambda: visitor.board("marks") == [])
    assert "unknown" in visitor.browser.find_element(By.CSS_SELECTOR, ".bar").get_attribute("aria-label")


def clicked_in_space(visitor: Visitor, cell: int) -> None:
    """Click where a cell of the pyramid is seen just now; software graphics may still be drawing the last turn."""
    at = visitor.board(f"screen({cell})")
    if at is None:  # a page whose first handshake came too late loads itself again
        return
    x, y = at
    actions = ActionChains(visitor.browser, duration=20)
    actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    actions.click().pause(0.5).perform()


def test_the_pyramid_is_played_in_three_dimensions(server):
    browser = open_browser(more=("use-angle=swiftshader", "enable-unsafe-swiftshader", "ignore-gpu-blocklist"))
    try:
        visitor = Visitor(browser, server)
        visitor.open("/play/pylos")
        eventually(lambda: visitor.board("screen(5)"))
        for ply, cell in ((0, 5), (2, 10)):
            eventually(lambda ply=ply: visitor.board("ply") == ply and visitor.board("active"))
            if [cell] not in [way[1] for way in visitor.board("ways")]:
                continue  # the opponent was faster
            eventually(lambda ply=ply, cell=cell: clicked_in_space(visitor, cell) or visitor.board("ply") > ply)
        assert visitor.moves[0] == "1b2"
        visitor.press("3D")
        eventually(lambda: browser.find_element(By.CSS_SELECTOR, ".board svg").is_displayed())
        assert not browser.get_log("browser")
    finally:
        browser.quit()


def test_a_browser_without_webgl_keeps_the_grids(server):
    browser = open_browser(more=("disable-3d-apis",))
    try:
        visitor = Visitor(browser, server)
        visitor.open("/play/pylos")
        visitor.press("3D")
        eventually(lambda: "WebGL is missing" in visitor.status)
        assert browser.find_element(By.CSS_SELECTOR, ".board svg").is_displayed()
    finally:
        browser.quit()


def test_hovering_shows_what_a_click_would_put_and_asks_the_server_nothing(visitor):
    visitor.open("/play/domineering")
    spot = visitor.browser.find_element(By.CSS_SELECTOR, '[data-spot="27"]')
    title = visitor.browser.find_element(By.TAG_NAME, "header")  # a mouse that rests on the spot already would not move
    ActionChains(visitor.browser, duration=20).move_to_element(title).perform()
    visitor.browser.execute_script(
        "window.sent = 0; const s = window.socket; s.onAnyOutgoing(() => { window.sent++; })"
    )
    ActionChains(visitor.browser, duration=20).move_to_element(spot).perform()
    assert eventually(lambda: visitor.board("ghost"))[0] == "domineering-0"
    for number in (0, 9, 18, 63):
        other = visitor.browser.find_element(By.CSS_SELECTOR, f'[data-spot="{number}"]')
        ActionChains(visitor.browser, duration=20).move_to_element(other).perform()
        eventually(lambda: visitor.board("ghost"))
    assert visitor.browser.execute_script("return window.sent") == 0


def test_a_game_is_played_by_the_keyboard_alone(visitor):
    visitor.open("/play/gomoku")
    body = visitor.browser.find_element(By.TAG_NAME, "body")
    for _ in range(20):
        if visitor.browser.execute_script("return document.activeElement.tagName") == "svg":
            break
        ActionChains(visitor.browser).send_keys(Keys.TAB).perform()
    assert visitor.board("cursor") == 40
    ActionChains(visitor.browser).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ENTER).perform()
    eventually(lambda: visitor.moves[:1] == ["F6"])
    assert body is not None


def test_arrows_step_through_the_game_after_a_click(visitor):
    visitor.open("/play/gomoku")
    visitor.click_spot(40)
    eventually(lambda: len(visitor.moves) == 2)
    ActionChains(visitor.browser).send_keys(Keys.ARROW_LEFT).perform()
    eventually(lambda: visitor.status == "After move 1 of 2")
    visitor.click_spot(0)  # an old position takes no moves
    ActionChains(visitor.browser).send_keys(Keys.ARROW_UP).perform()
    eventually(lambda: visitor.status == "After move 0 of 2")
    ActionChains(visitor.browser).send_keys(Keys.ARROW_DOWN).perform()
    eventually(lambda: visitor.status == "Your move (Black)")
    assert len(visitor.moves) == 2


def test_a_reloaded_page_and_a_restarted_server_show_the_same_game(visitor, server):
    visitor.open("/play/gomoku")
    visitor.click_spot(40)
    eventually(lambda: len(visitor.moves) == 2)
    before = visitor.moves
    visitor.open("/")
    assert visitor.moves == before
    server.stop()
    server.start()
    visitor.open("/")
    eventually(lambda: visitor.moves == before)
    visitor.open("/play/gomoku?game=nobody-knows-this")
    assert visitor.status


def test_the_back_button_leads_to_the_game_before(visitor):
    visitor.open("/play/gomoku")
    visitor.new_game()
    visitor.click_spot(40)
    eventually(lambda: len(visitor.moves) == 2)
    visitor.new_game()
    eventually(lambda: visitor.moves == [])
    visitor.browser.back()
    visitor.wait_for_page()
    eventually(lambda: len(visitor.moves) == 2)


def test_visitors_do_not_see_each_others_games(visitor, server):
    visitor.open("/play/gomoku")
    visitor.new_game()
    visitor.click_spot(40)
    eventually(lambda: len(visitor.moves) == 2)
    address = visitor.browser.current_url.removeprefix(server.address)
    visitor.browser.delete_all_cookies()
    visitor.open(address)
    assert visitor.moves == []


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_screen(server, game, width):
    browser = open_browser(width, 800, mobile=width < 900)
    try:
        visitor = Visitor(browser, server)
        visitor.open(f"/play/{game}")
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        board = browser.find_element(By.CSS_SELECTOR, ".board svg").rect
        assert board["width"] > 0.5 * min(width, 700)
    finally:
        browser.quit()


def test_no_request_leaves_the_machine(visitor, server):
    for game in GAMES:
        visitor.open(f"/play/{game}")
        asked = visitor.browser.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
        assert asked
        assert all(name.startswith((server.address, "data:", "blob:")) for name in asked)
    refused = visitor.browser.execute_async_script(
        "const done = arguments[0]; fetch('http://127.0.0.2:9/').then(() => done(''), (e) => done(String(e)))"
    )
    assert refused
    assert any("Content Security Policy" in entry["message"] for entry in visitor.browser.get_log("browser"))


def test_dark_and_light_are_remembered(visitor):
    visitor.open("/play/gomoku")
    ground = "return getComputedStyle(document.body).backgroundColor"
    before = visitor.browser.execute_script(ground)
    visitor.press("Light / dark")
    eventually(lambda: visitor.browser.execute_script(ground) != before)
    after = visitor.browser.execute_script(ground)
    visitor.open("/play/domineering")
    eventually(lambda: visitor.browser.execute_script(ground) == after)


def test_a_hand_of_texas_42_is_played_by_the_keyboard_alone(visitor):
    visitor.open("/play/texas42")
    visitor.new_game(variant="Play only")
    board = visitor.browser.find_element(By.CSS_SELECTOR, ".board svg")
    while visitor.wait_for_turn():  # the hand becomes shorter under the cursor
        before = visitor.board("ply")
        visitor.browser.execute_script("arguments[0].focus()", board)
        for _ in range(8):
            ActionChains(visitor.browser).send_keys(Keys.ENTER, Keys.ARROW_RIGHT).perform()
            if visitor.board("ply") != before or visitor.board("pending"):
                break
            if visitor.board("cursor") == len(visitor.board("spots")) - 1:
                ActionChains(visitor.browser).send_keys(*[Keys.ARROW_LEFT] * 7).perform()
        eventually(lambda before=before: visitor.board("ply") != before)
    assert "won" in visitor.status
    assert not visitor.browser.get_log("browser")


def test_the_first_press_of_light_and_dark_changes_colours_on_a_dark_system(visitor):
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    visitor.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        visitor.open("/play/gomoku")
        ground = "return getComputedStyle(document.body).backgroundColor"
        eventually(lambda: visitor.browser.execute_script(ground) == "rgb(21, 23, 27)")
        visitor.press("Light / dark")
        eventually(lambda: visitor.browser.execute_script(ground) == "rgb(250, 248, 244)")
    finally:
        visitor.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_chess_is_shared_as_pgn_and_fen(visitor):
    visitor.open("/play/chess")
    visitor.new_game(side="Both sides (two people, one screen)", begin="1. e4 e5 2. Nf3")
    visitor.press("Share")
    texts = eventually(lambda: visitor.browser.execute_script(
        "const found = [...document.querySelectorAll('.sheet textarea')].map((one) => one.value);"
        "return found.length > 1 && found[1] ? found : null"))  # fmt: skip
    assert "1. e4 e5 2. Nf3" in texts[0]
    assert texts[1].startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq")


def test_a_server_with_a_token_opens_only_by_it(tmp_path):
    server = Server(tmp_path, "--token", "a-long-token")
    server.start()
    try:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(server.address)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(server.address, headers={"Host": "evil.example"}))
        browser = open_browser()
        try:
            visitor = Visitor(browser, server)
            browser.get(f"{server.address}/enter?token=a-long-token")
            visitor.open("/")
            visitor.click_spot(40)
            eventually(lambda: visitor.moves[:1] == ["E5"])
            assert "token" not in browser.current_url
        finally:
            browser.quit()
    finally:
        server.stop()
