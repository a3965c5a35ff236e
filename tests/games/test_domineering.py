"""Domineering against the rule read cell by cell, and the values of its fact sheet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery import BadInput, load
from rookery.games.domineering import sector_targets
from rookery.games.position import Position
from support import random_walk


class SlowDomineering:
    """The rules as a person would tell them: a set of covered squares and whose turn it is."""

    def __init__(self, rows: int, cols: int):
        self.rows, self.cols = rows, cols
        self.covered: set[tuple[int, int]] = set()
        self.vertical_to_move = True

    def is_free(self, row: int, col: int) -> bool:
        return 0 <= row < self.rows and 0 <= col < self.cols and (row, col) not in self.covered

    def vertical_moves(self) -> dict[int, tuple[tuple[int, int], tuple[int, int]]]:
        """Number -> squares: row by row."""
        starts = [(row, col) for row in range(self.rows - 1) for col in range(self.cols)]
        moves = {number: (start, (start[0] + 1, start[1])) for number, start in enumerate(starts)}
        return {n: squares for n, squares in moves.items() if all(self.is_free(*square) for square in squares)}

    def horizontal_moves(self) -> dict[int, tuple[tuple[int, int], tuple[int, int]]]:
        """Number -> squares: column by column, after all vertical moves."""
        starts = [(row, col) for col in range(self.cols - 1) for row in range(self.rows)]
        first = (self.rows - 1) * self.cols
        moves = {number: (start, (start[0], start[1] + 1)) for number, start in enumerate(starts, first)}
        return {n: squares for n, squares in moves.items() if all(self.is_free(*square) for square in squares)}

    def moves(self) -> dict[int, tuple[tuple[int, int], tuple[int, int]]]:
        return self.vertical_moves() if self.vertical_to_move else self.horizontal_moves()

    def play(self, number: int) -> None:
        self.covered.update(self.moves()[number])
        self.vertical_to_move = not self.vertical_to_move

    def sectors(self) -> list[int]:
        counts = {(row // 4, col // 4): 0 for row in range(self.rows) for col in range(self.cols)}
        for (row, col), _ in self.vertical_moves().values():
            counts[row // 4, col // 4] += 1
        for (row, col), _ in self.horizontal_moves().values():
            counts[row // 4, col // 4] -= 1
        return [counts[place] for place in sorted(counts)]


def compare_game(rows: int, cols: int, seed: int) -> None:
    slow = SlowDomineering(rows, cols)
    for position, action in random_walk(load("domineering", rows=rows, cols=cols), seed):
        assert position.legal().tolist() == sorted(slow.moves())
        assert position.mover == (0 if slow.vertical_to_move else 1)
        assert position.over == (not slow.moves())
        board = position.observe("tokens")[:-1].reshape(rows, cols)
        assert {(int(r), int(c)) for r, c in np.argwhere(board)} == slow.covered
        if action is not None:
            slow.play(action)
    assert sector_targets(position).tolist() == slow.sectors()
    loser = 0 if slow.vertical_to_move else 1
    assert (position.payoff(loser), position.payoff(1 - loser)) == (-1, 1)


def test_games_agree_with_the_rule_book_on_boards_of_all_sizes():
    for seed in range(60):
        rows, cols = 1 + seed * 7 % 16, 1 + seed * 5 % 16
        compare_game(rows, cols, seed)


@pytest.mark.slow
def test_thousands_of_games_agree_with_the_rule_book():
    rng = np.random.default_rng(0)
    for seed in range(2000):
        compare_game(int(rng.integers(1, 17)), int(rng.integers(1, 17)), seed)
    for seed in range(300):
        compare_game(16, 16, seed)


@st.composite
def odd_boards(draw):
    rows, cols = draw(st.integers(1, 16)), draw(st.integers(1, 16))
    squares = draw(st.lists(st.booleans(), min_size=rows * cols, max_size=rows * cols))
    return rows, cols, np.array(squares).reshape(rows, cols), draw(st.booleans())


@given(odd_boards())
def test_any_board_has_the_moves_of_the_rule_book(board):
    rows, cols, squares, vertical = board
    slow = SlowDomineering(rows, cols)
    slow.covered = {(int(r), int(c)) for r, c in np.argwhere(squares)}
    slow.vertical_to_move = vertical
    text = "/".join("".join(".#"[int(square)] for square in row) for row in squares) + (" v" if vertical else " h")
    position = load("domineering", rows=rows, cols=cols).position(text)
    assert position.legal().tolist() == sorted(slow.moves())
    assert position.text() == text
    assert sector_targets(position).tolist() == slow.sectors()
    planes = position.observe("planes")
    own, other = (slow.vertical_moves(), slow.horizontal_moves())[:: 1 if vertical else -1]
    for plane, moves in ((1, own), (2, other)):
        reachable = {square for pair in moves.values() for square in pair}
        assert {(int(r), int(c)) for r, c in np.argwhere(planes[plane])} == reachable
    assert (planes[3] == float(vertical)).all()


def test_the_empty_board_has_240_moves_for_each_player():
    game = load("domineering")
    assert game.actions == 480
    assert game.start().legal().tolist() == list(range(240))
    assert game.position(game.start().text().replace(" v", " h")).legal().tolist() == list(range(240, 480))


def test_moves_are_numbered_by_rows_for_vertical_and_by_columns_for_horizontal():
    game = load("domineering")
    vertical, horizontal = game.start(), game.start()
    horizontal.play(0)
    assert vertical.move_text(16 * 3 + 5) == "f4-f5"  # row 3, column 5, both from 0
    assert horizontal.move_text(240 + 16 * 5 + 3) == "f4-g4"
    assert vertical.action("f5-f4") == 53
    starts = {divmod(move - 240, 16)[::-1] for move in range(240, 480)}
    assert starts == {(row, col) for row in range(16) for col in range(15)}


def squares_of(position: Position, move: int) -> set[str]:
    return set(position.move_text(move).split("-"))


def test_a_move_takes_the_moves_that_share_a_square_and_they_have_known_numbers():
    position = load("domineering").start()
    squares = [squares_of(position, move) for move in range(480)]
    for move in range(480):
        touched = {other for other in range(480) if squares[move] & squares[other]}
        line, place = divmod(move % 240, 16)  # place `place` of lines `line` and `line` + 1
        own = {16 * i + place for i in (line - 1, line, line + 1) if 0 <= i <= 14}
        other = {16 * j + i for i in (line, line + 1) for j in (place - 1, place) if 0 <= j <= 14}
        first, second = (0, 240) if move < 240 else (240, 0)
        assert touched == {first + m for m in own} | {second + m for m in other}
        assert len(own) <= 3
        assert len(other) <= 4


def test_a_horizontal_move_is_the_vertical_one_mirrored_in_the_diagonal():
    position = load("domineering").start()
    for move in range(240):
        squares = {(text[0], text[1:]) for text in position.move_text(move).split("-")}
        mirrored = {("abcdefghijklmnop"[int(row) - 1], str(ord(col) - 96)) for col, row in squares}
        assert {(text[0], text[1:]) for text in position.move_text(move + 240).split("-")} == mirrored


def test_random_games_last_as_long_as_the_sheet_says():
    from rookery.search.playout import random_games

    done = random_games(load("domineering"), 4000, seed=2)
    assert np.percentile(done.plies, 0.5) >= 104
    assert np.percentile(done.plies, 99.5) <= 121
    assert abs(done.plies.mean() - 113.9) < 0.25  # the sheet's mean of 400 games has a standard error of 0.15
    assert abs((done.payoffs[:, 0] > 0).mean() - 0.49) < 0.04


def test_vertical_moves_after_an_even_number_of_dominoes():
    for ply, (position, _) in enumerate(random_walk(load("domineering"), 4)):
        assert position.observe("tokens")[:-1].sum() == 2 * ply
        assert position.mover == ply % 2


def test_symmetries_move_dominoes_as_the_sheet_says():
    symmetries = load("domineering").symmetries()
    tables = dict(zip(symmetries.names, symmetries.actions, strict=True))
    for row in range(15):
        for col in range(16):
            vertical = 16 * row + col
            assert tables["mirror"][vertical] == 16 * row + 15 - col
            assert tables["flip"][vertical] == 16 * (14 - row) + col
            assert tables["half turn"][vertical] == 16 * (14 - row) + 15 - col
            horizontal = 240 + 16 * row + col  # column `row`, row `col`: the transposed move
            assert tables["mirror"][horizontal] == 240 + 16 * (14 - row) + col
            assert tables["flip"][horizontal] == 240 + 16 * row + 15 - col
            assert tables["half turn"][horizontal] == 240 + 16 * (14 - row) + 15 - col
    fixed = {name: np.flatnonzero(table == np.arange(480)) for name, table in tables.items()}
    assert len(fixed["mirror"]) == 16
    assert (fixed["mirror"] >= 240).all()
    assert len(fixed["flip"]) == 16
    assert (fixed["flip"] < 240).all()
    assert len(fixed["half turn"]) == 0
    assert (tables["mirror"][tables["flip"]] == tables["half turn"]).all()


def test_sector_targets_of_the_empty_board():
    targets = sector_targets(load("domineering").start()).reshape(4, 4)
    expected = np.zeros((4, 4))
    expected[:3, 3], expected[3, :3] = 4, -4
    assert (targets == expected).all()


def test_sector_targets_do_not_follow_a_flip():
    game = load("domineering")
    flip = game.symmetries().actions[2]
    position, flipped = game.start(), game.start()
    for move in (16 * 3, 240, 16 * 7 + 9, 245):
        position.play(move)
        flipped.play(int(flip[move]))
    turned = sector_targets(position).reshape(4, 4)[::-1]
    assert (sector_targets(flipped).reshape(4, 4) != turned).any()


def test_sector_targets_belong_to_domineering():
    with pytest.raises(BadInput, match="not of pylos"):
        sector_targets(load("pylos").start())


def test_tokens_end_in_a_class_token():
    position = load("domineering").start()
    assert (position.observe("tokens")[-1], position.observe("tokens_mover")[-1]) == (2, 2)
    position.play(0)
    assert (position.observe("tokens")[-1], position.observe("tokens_mover")[-1]) == (2, 3)
    assert position.observe("tokens").shape == (257,)


SOLVED = """
P H H H H H H H H H H
V N N H V N N H V N N
V N N H H H H H H H H
V V V N V N V H V H V
V H V H P H H H H H H
V N V N V N V H V N N
V N V H V H N H H H H
V V V V V V V N V H V
V H V H V H V H N H H
V N V V V N V V V N V
V N V H V N V H V H N
"""  # rows 1..11 by columns 1..11: V or H wins whoever starts, N the first player, P the second


def mover_wins(position: Position, known: dict[int, bool]) -> bool:
    """Search all moves; the mover wins if some move leaves a lost position."""
    if position.key not in known:
        known[position.key] = False
        for action in position.legal():
            child = position.copy()
            child.play(int(action))
            if not mover_wins(child, known):
                known[position.key] = True
                break
    return known[position.key]


def outcome_class(rows: int, cols: int) -> str:
    game = load("domineering", rows=rows, cols=cols)
    known: dict[int, bool] = {}
    vertical_first = mover_wins(game.start(), known)
    horizontal_first = mover_wins(game.position(game.start().text().replace("v", "h")), known)
    return {(True, True): "N", (False, False): "P", (True, False): "V", (False, True): "H"}[
        vertical_first, horizontal_first
    ]


def check_outcomes(least: int, most: int) -> int:
    checked = 0
    for rows, line in enumerate(SOLVED.split("\n")[1:-1], start=1):
        for cols, outcome in enumerate(line.split(), start=1):
            if least <= rows * cols <= most:
                assert outcome_class(rows, cols) == outcome, (rows, cols)
                checked += 1
    return checked


def test_boards_of_up_to_14_squares_have_their_solved_outcomes():
    assert check_outcomes(1, 14) == 35


@pytest.mark.slow
def test_boards_of_up_to_20_squares_have_their_solved_outcomes():
    assert check_outcomes(15, 20) == 13


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "should end in ' v' or ' h'"),
        ("../..", "should end in ' v' or ' h'"),
        ("../.. x", "should end in ' v' or ' h'"),
        ("../../.. v", "should be 2 rows of 2 squares"),
        ("../... v", "should be 2 rows of 2 squares"),
        ("../.x v", "'x' in row 2, column 2"),
    ],
)
def test_a_wrong_position_is_refused(text, complaint):
    with pytest.raises(BadInput, match=complaint):
        load("domineering", rows=2, cols=2).position(text)


@pytest.mark.parametrize(
    ("move", "complaint"),
    [
        ("a1", "two neighbouring squares"),
        ("a1-b2", "two neighbouring squares"),
        ("a1-a1", "two neighbouring squares"),
        ("z1-z2", "'z1' is no square of the board; squares are a1..p16"),
        ("a0-a1", "'a0' is no square"),
        ("a1-b1", "move 'a1-b1' is not legal"),
        (480, r"an action of domineering must be a whole number in 0..479, not 480"),
        (-1, r"an action of domineering must be a whole number in 0..479, not -1"),
        (240, "move 240 is not legal"),
    ],
)
def test_a_wrong_move_is_refused(move, complaint):
    with pytest.raises(BadInput, match=complaint):
        load("domineering").start().play(move)


@pytest.mark.parametrize("options", [{"rows": 0}, {"cols": 17}, {"rows": "8"}, {"cols": 2.5}, {"rows": True}])
def test_a_wrong_size_is_refused(options):
    with pytest.raises(BadInput, match=r"must be a whole number in 1..16"):
        load("domineering", **options)


def test_a_move_after_the_end_is_refused():
    position = load("domineering", rows=2, cols=2).start()
    position.play("a1-a2")
    assert position.over
    with pytest.raises(BadInput, match="the game is over"):
        position.play("b1-b2")
