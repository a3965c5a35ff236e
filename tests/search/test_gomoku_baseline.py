"""The baseline player of Gomoku against its definition, move for move."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import pytest

from gomoku_slow_players import Stones, baseline_move, black_score
from rookery import BadInput, load
from rookery.games.position import Position
from rookery.search import gomoku_baseline as module
from rookery.search.analysis import Limits, Watch
from rookery.search.gomoku_baseline import AT_LEAST, AT_MOST, ENTRY, EXACT, FRAME, begin, known_value, search, walk
from rookery.search.gomoku_groups import BOARD, evaluate
from rookery.search.gomoku_lines import new_record
from support import random_walk


def random_position(rng: np.random.Generator, size: int, stones: int) -> Position:
    """Lay stones at random in a part of the board, so that they meet; the game goes on."""
    reach = max(3, math.isqrt(3 * stones) + 1)
    low = int(rng.integers(0, max(1, size - reach + 1)))
    while True:
        position = load("gomoku", size=size).start()
        for _ in range(stones):
            inside = [a for a in position.legal() if low <= a // size < low + reach and low <= a % size < low + reach]
            if position.over or not inside:
                break
            position.play(int(rng.choice(inside)))
        if not position.over:
            return position


def check_same_move(rng: np.random.Generator, size: int, depth: int, stones: int) -> None:
    position = random_position(rng, size, stones)
    board = Stones.of(position)
    point, value = baseline_move(board, depth)
    found = search(position, Limits(depth=depth))
    assert found.action == board.action(point), f"depth {depth}, {position.text()}"
    assert found.value == pytest.approx(module.value_of(value))


@pytest.mark.parametrize("size", [9, 15])
def test_moves_are_those_of_the_definition(size):
    rng = np.random.default_rng(size)
    for depth, count in ((1, 14), (2, 6)):
        for _ in range(count):
            check_same_move(rng, size, depth, int(rng.integers(1, 40)))


@pytest.mark.slow
def test_500_moves_are_those_of_the_definition():
    rng = np.random.default_rng(2)
    for depth, count in ((1, 200), (2, 250), (3, 40), (4, 10)):
        for i in range(count):
            check_same_move(rng, (9, 15)[i % 2], depth, int(rng.integers(1, 50 if i % 4 < 2 else 20)))


@pytest.mark.parametrize("size", [5, 6, 20])
def test_moves_are_those_of_the_definition_on_other_boards(size):
    rng = np.random.default_rng(size)
    for _ in range(8):
        check_same_move(rng, size, int(rng.integers(1, 3)), int(rng.integers(1, min(24, size * size - 4))))


def test_a_board_that_fills_up_is_a_draw():
    rng, filled = np.random.default_rng(5), 0
    while filled < 6:
        position = random_position(rng, 5, int(rng.integers(21, 24)))
        filled += 1
        board = Stones.of(position)
        point, value = baseline_move(board, 4)
        found = search(position, Limits(depth=4))
        assert (found.action, found.value) == (board.action(point), pytest.approx(module.value_of(value)))


def test_the_first_move_is_the_centre():
    for size, text in ((9, "E5"), (15, "H8"), (6, "C3"), (20, "J10")):
        position = load("gomoku", size=size).start()
        assert position.move_text(search(position, Limits(depth=4)).action) == text


def test_a_win_at_once_is_taken_before_the_search():
    rows = ["........."] * 4 + [".xxxx....", ".oooo...."] + ["........."] * 3
    position = load("gomoku", size=9).position(f"{'/'.join(rows)} b - -")
    found = search(position, Limits(depth=6))
    assert position.move_text(found.action) == "F5"  # A5 wins too, but takes less from White
    assert (found.value, found.nodes, found.proven) == (1.0, 0, True)


def searched(position: Position, depth: int, entries: int) -> tuple[int, float]:
    """Return move and value by a search with so many entries in its table."""
    board, frames, place = new_record(BOARD, position.game.size), np.zeros(depth + 1, FRAME), np.zeros(3, np.int64)
    if begin(board[0], position.state, frames) >= 0:
        return -1, 1.0
    setting = (depth, int(position.state["colour"]), int(position.state["left"]))
    while not walk(board[0], frames, place, np.zeros(entries, ENTRY), setting, 10**9):
        pass
    found = module.result(frames, place, depth)
    return found.action, found.value


def test_the_table_changes_no_choice():
    rng = np.random.default_rng(6)
    for i in range(24):
        position = random_position(rng, (9, 15)[i % 2], int(rng.integers(3, 30)))
        assert searched(position, 5, 1 << 16) == searched(position, 5, 1), position.text()


def test_a_bound_answers_only_windows_that_it_lies_outside_of():
    key, windows = np.uint64(7), ((1, 5), (1, 6), (5, 9), (4, 9))
    answers = {EXACT: [True] * 4, AT_LEAST: [True, False, False, False], AT_MOST: [False, False, True, False]}
    for bound, wanted in answers.items():
        entries = np.array([(7, 5, bound)], ENTRY)
        assert [known_value(entries[0], key, *window) for window in windows] == wanted
        assert not known_value(entries[0], np.uint64(8), 1, 5)
    assert not known_value(np.zeros(1, ENTRY)[0], np.uint64(0), 1, 5)  # nothing was stored


def test_slices_change_nothing(monkeypatch):
    position = random_position(np.random.default_rng(3), 15, 8)
    whole = search(position, Limits(depth=4))
    monkeypatch.setattr(module, "SLICE", 13)
    assert search(position, Limits(depth=4)) == whole


def test_a_search_that_runs_out_of_nodes_says_so_and_has_a_move():
    position = random_position(np.random.default_rng(4), 15, 8)
    for nodes in (1, 50, 2000):
        found = search(position, Limits(depth=6, nodes=nodes))
        assert found.action in position.legal()
        assert found.note.startswith("stopped")


def test_a_search_stops_soon_after_it_is_told_and_leaves_other_threads_running():
    position = random_position(np.random.default_rng(4), 15, 6)
    search(position, Limits(depth=2))
    watch, ended = Watch(), list[float]()

    def work() -> None:
        search(position, Limits(depth=30), watch)
        ended.append(time.perf_counter())

    worker = threading.Thread(target=work)
    worker.start()
    time.sleep(0.1)
    watch.stop[0] = 1
    told = time.perf_counter()
    worker.join()
    assert ended[0] - told < 2.0  # 50 ms, and room for a machine that is busy with other things


@pytest.mark.parametrize("size", [5, 9, 20])
def test_the_score_of_a_state_is_that_of_its_groups_from_the_movers_side(size):
    for position, action in random_walk(load("gomoku", size=size), size):
        if action is not None:
            board = Stones.of(position)
            score = black_score(board) * (1 if board.mover == "x" else -1)
            assert evaluate(position.state) == pytest.approx(math.tanh(score / 10_000))
        else:
            assert evaluate(position.state) == position.payoff(position.mover)


def test_an_opening_of_swap2_is_answered_until_the_game_begins():
    position = load("gomoku", size=5, opening="swap2").start()
    assert evaluate(position.state) == 0.0
    for _ in range(6):
        position.play(search(position, Limits(depth=2)).action)
    assert not position.over


def test_two_more_stones_of_swap2_are_laid():
    position = load("gomoku", opening="swap2").start()
    for move in ("H8", "I9", "J10", "more"):
        position.play(move)
    for _ in range(3):
        position.play(search(position, Limits(depth=2)).action)
    assert position.text().split()[2] in ("-", "swapped")


def test_what_baseline_does_not_play_is_refused():
    for spec, message in (("gomoku:rule=renju", "rule=freestyle only, not rule=renju"), ("pylos", "plays gomoku, not")):
        with pytest.raises(BadInput, match=message):
            search(load(spec).start(), Limits(depth=2))
    with pytest.raises(BadInput, match="baseline needs the depth"):
        search(load("gomoku").start(), Limits(seconds=1.0))
    with pytest.raises(BadInput, match=r"depth of baseline must be a whole number in 1\.\.30, not 31"):
        search(load("gomoku").start(), Limits(depth=31))
    over = load("gomoku", size=5).start()
    for point in (0, 5, 1, 6, 2, 7, 3, 8, 4):
        over.play(point)
    with pytest.raises(BadInput, match="the game is over"):
        search(over, Limits(depth=2))
