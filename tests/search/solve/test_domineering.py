"""The Domineering solver against plain search, rule by rule, and the published classes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.search.solve import domineering as solver
from rookery.search.solve.domineering import Search, begin_board, solve, solve_board, solve_both, solve_table
from rookery.search.solve.domineering_bounds import TRAIL, alternate, capacity, margin, survey, survey_again
from rookery.search.solve.domineering_levels import LEVEL, LINES, PASS, flipped, make, named
from rookery.search.solve.domineering_search import given, listed, move_of, next_move
from rookery.search.threads import Stopped, new_stop

sys.path.insert(0, str(Path(__file__).parent))
from slow_domineering import board_text, dominoes, mover_wins, random_shape, random_squares

TABLE = """
P H H H H H H H H
V N N H V N N H V
V N N H H H H H H
V V V N V N V H V
V H V H P H H H H
V N V N V N V H V
V N V H V H N H H
V V V V V V V N V
"""  # rows 1 to 8, columns 1 to 9
CLASS = {(i // 9 + 1, i % 9 + 1): letter for i, letter in enumerate(TABLE.split())}


def lines_of(squares, view, shape):
    lines = np.zeros(LINES, np.int32)
    for square in squares:
        lines[square[view]] |= 1 << square[1 - view]
    return lines


def covered(squares, rows, cols):
    return np.array([[(row, col) not in squares for col in range(cols)] for row in range(rows)])


def slow_alternate(line):
    picked, last = 0, -2
    for place in range(20):
        if line >> place & 1 and last != place - 1:
            picked, last = picked | 1 << place, place
    return picked


def test_alternate_takes_every_second_place_of_a_run():
    assert [alternate(line) for line in range(1 << 12)] == [slow_alternate(line) for line in range(1 << 12)]


def test_capacity_is_half_of_each_run():
    for line in range(1 << 12):
        assert capacity(line) == sum(len(run) // 2 for run in f"{line:b}".split("0"))


def slow_safe(squares, seat):
    """Count the dominoes a seat can lay side by side on squares that the other cannot cover."""
    reached = {square for pair in dominoes(squares, 1 - seat) for square in pair}
    count, taken = 0, set()
    for pair in dominoes(squares - reached, seat):
        if not taken & set(pair):
            count, taken = count + 1, taken | set(pair)
    return count


def test_what_a_move_gives_is_what_the_other_then_has_more_of_for_certain():
    rng, gifts = np.random.default_rng(7), 0
    for _ in range(300):
        shape = random_shape(rng)
        squares, seat = random_squares(rng, *shape, 30), int(rng.integers(2))
        for pair in dominoes(squares, seat):
            gift = given(lines_of(squares, seat, shape), shape[seat], pair[0][seat], pair[0][1 - seat])
            assert gift == slow_safe(squares - set(pair), 1 - seat) - slow_safe(squares, 1 - seat), (squares, pair)
            gifts += gift
    assert gifts > 50


def test_moves_are_tried_by_score_and_equals_in_order():
    rng, level = np.random.default_rng(8), np.zeros(1, LEVEL)
    moves = [(int(move), int(rng.integers(-5, 6))) for move in rng.permutation(257)[:40]]
    level["moves"][0, :40] = [listed(move, score) for move, score in moves]
    level["count"] = 40
    assert [move_of(listed(move, score)) for move, score in moves] == [move for move, _ in moves]
    wanted = [move for move, _ in sorted(moves, key=lambda pair: (-pair[1], pair[0]))]
    assert [next_move(level[0]) for _ in range(40)] == wanted


@pytest.mark.parametrize("seed", range(4))
def test_what_counting_decides_is_what_plain_search_finds(seed):
    rng, decided = np.random.default_rng(seed), 0
    trail = np.zeros((LINES, TRAIL), np.int64)
    for _ in range(1_000):
        rows, cols = random_shape(rng)
        squares, seat = random_squares(rng, rows, cols, 14), int(rng.integers(2))
        free, step = int(rng.integers(-2, 3)), int(rng.choice([-1, 1]))
        first, second = survey(lines_of(squares, seat, (rows, cols)), (rows, cols)[seat], step, trail)
        if margin(first, second, 1) + 2 * free > 0:
            assert mover_wins(squares, seat, free), (squares, seat, free)
            decided += 1
        if margin(first, second, 0) + 2 * free > -2:
            assert not mover_wins(squares, 1 - seat, -free), (squares, seat, free)
            decided += 1
    assert decided > 600


@pytest.mark.parametrize("seed", range(2))
def test_a_survey_after_a_move_is_that_of_the_whole_board(seed):
    rng = np.random.default_rng(seed)
    trail, other = np.zeros((2, LINES, TRAIL), np.int64)
    for _ in range(300):
        count = int(rng.integers(2, 17))
        lines = np.zeros(LINES, np.int32)
        lines[:count] = rng.integers(0, 1 << 16, count) | rng.integers(0, 1 << 16, count)
        survey(lines, count, 1, trail)
        changed = int(rng.integers(0, count - 1))
        last = min(changed + int(rng.integers(0, 2)), count - 1)
        lines[changed : last + 1] &= rng.integers(0, 1 << 16)
        assert survey_again(lines, count, changed, last, trail) == survey(lines, count, 1, other)


def test_taking_settled_squares_off_the_board_keeps_the_winner():
    rng, free_moves = np.random.default_rng(0), 0
    for _ in range(500):
        shape = random_shape(rng)
        squares, search = random_squares(rng, *shape, 12), Search(*shape, 1)
        level = np.zeros(1, LEVEL)[0]
        begin_board(level, search.shape, search.words, covered(squares, *shape))
        left = frozenset(s for s in squares if level["lines"][0, s[0]] >> s[1] & 1)
        assert left == frozenset(s for s in squares if level["lines"][1, s[1]] >> s[0] & 1)
        for seat in (0, 1):
            free = int(level["free"]) * (1 - 2 * seat)
            assert mover_wins(left, seat, free) == mover_wins(squares, seat)
        free_moves += abs(int(level["free"]))
    assert free_moves > 100


def test_flips_have_one_name_and_other_positions_have_others():
    rng, names = np.random.default_rng(1), {}
    search = Search(4, 5, 1)
    for _ in range(200):
        squares = random_squares(rng, 4, 5, 20)
        board = covered(squares, 4, 5)
        for seat in (0, 1):
            found = set()
            for flip in (board, board[::-1], board[:, ::-1], board[::-1, ::-1]):
                level = np.zeros(1, LEVEL)[0]
                begin_board(level, search.shape, search.words, flip)
                found.add(tuple(int(word) for word in named(level, search.shape, seat)[1:]))
                names.setdefault(next(iter(found)), set()).add((level["lines"].tobytes(), seat))
            assert len(found) == 1
    assert max(len(positions) for positions in names.values()) <= 4


def test_hashes_kept_move_by_move_are_those_of_the_whole_board():
    rng, search = np.random.default_rng(2), Search(5, 5, 1)
    for _ in range(50):
        squares = random_squares(rng, 5, 5, 25)
        levels = np.zeros(2, LEVEL)
        begin_board(levels[0], search.shape, search.words, covered(squares, 5, 5))
        left = frozenset(s for s in squares if levels[0]["lines"][0, s[0]] >> s[1] & 1)
        for pair in dominoes(left, 1):
            make(levels, 0, 16 * pair[0][1] + pair[0][0], 1, search.shape, search.words)
            whole = np.zeros(1, LEVEL)[0]
            begin_board(whole, search.shape, search.words, covered(left - set(pair), 5, 5))
            assert np.array_equal(levels[1]["lines"], whole["lines"])
            assert named(levels[1], search.shape, 0)[1:] == named(whole, search.shape, 0)[1:]
            assert levels[1]["free"] == levels[0]["free"] + whole["free"]


def test_a_flip_done_twice_is_none():
    shape = np.array([5, 7])
    for mover in (0, 1):
        for flip in range(4):
            for move in [16 * 2 + 3, 0, PASS, -1]:
                assert flipped(flipped(move, flip, shape, mover), flip, shape, mover) == move
    assert flipped(0, 3, shape, 0) == 16 * 3 + 6


@pytest.mark.parametrize("seed", range(4))
def test_random_positions_are_solved_as_by_plain_search_and_the_move_wins(seed):
    rng, wins = np.random.default_rng(100 + seed), 0
    for _ in range(250):
        rows, cols = random_shape(rng)
        squares, seat = random_squares(rng, rows, cols, 16), int(rng.integers(2))
        position = load("domineering", rows=rows, cols=cols).position(board_text(squares, rows, cols, seat))
        result = solve(position, table_mb=1)
        assert (result.winner == seat) == mover_wins(squares, seat), position.text()
        assert (result.best is None) == (result.winner != seat)
        if result.best is not None:
            pair = dominoes(squares, seat)[list(position.legal()).index(result.best)] if seat == 0 else None
            position.play(result.best)
            left = frozenset(
                (r, c) for r, row in enumerate(position.game.covered_squares(position.state))
                for c, square in enumerate(row) if not square
            )  # fmt: skip
            assert pair is None or left == squares - set(pair)
            assert not mover_wins(left, 1 - seat), position.text()
            wins += 1
    assert wins > 50


def test_a_table_of_two_entries_changes_nothing():
    rng, search = np.random.default_rng(5), Search(4, 5, 1)
    search.table = search.table[:2].copy()
    for _ in range(100):
        squares, seat = random_squares(rng, 4, 5, 16), int(rng.integers(2))
        won, _, _ = search.run(covered(squares, 4, 5), seat, new_stop())
        assert won == mover_wins(squares, seat)


def test_small_boards_have_their_published_classes():
    outcomes = solve_table(6, table_mb=4, threads=2)
    assert {(o.rows, o.cols): o.letter for o in outcomes} == {b: c for b, c in CLASS.items() if max(b) <= 6}


@pytest.mark.slow
def test_larger_boards_have_their_published_classes():
    boards = [(rows, cols) for rows, cols in CLASS if max(rows, cols) > 6 and rows * cols <= 64]
    for rows, cols in boards:
        assert solve_board(rows, cols, 64).letter == CLASS[rows, cols], (rows, cols)


def test_long_narrow_boards_have_their_published_classes():
    for board, letter in {(2, 13): "P", (13, 2): "P", (2, 16): "H", (3, 10): "H", (16, 1): "V", (1, 16): "H"}.items():
        assert solve_board(*board, 4).letter == letter, board


def test_the_largest_boards_are_searched_as_far_as_they_can_be():
    rng = np.random.default_rng(6)
    squares = frozenset((int(r), int(c)) for r, c in rng.integers(0, 16, (40, 2)))
    position = load("domineering").position(board_text(squares, 16, 16, 0))
    assert (solve(position, 4).winner == 0) == mover_wins(squares, 0)


def test_a_search_that_is_told_to_stop_stops():
    stop = new_stop()

    def report(nodes: int) -> None:
        stop[0] = 1

    with pytest.raises(Stopped):
        solve(load("domineering").start(), 4, stop, report)  # would take longer than the universe is old


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(BadInput, match="this solver is for domineering, not for pylos"):
        solve(load("pylos").start())
    with pytest.raises(BadInput, match=r"table_mb must be a whole number in 1..1048576, not 0"):
        solve_board(3, 3, 0)
    with pytest.raises(BadInput, match=r"the size of a table must be a whole number in 1..16, not 17"):
        solve_table(17)


def test_both_starters_are_told_apart():
    outcome = solve_both(load("domineering", rows=2, cols=1).start(), 1)
    assert (outcome.letter, [result.winner for result in outcome.results]) == ("V", [0, 0])
    assert outcome.results[solver.HORIZONTAL].best is None
