"""Gomoku against the rule book and known positions; Renju's forbidden moves have a file of their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomoku_rulebook import DIRECTIONS, RuleBook
from rookery import load
from rookery.errors import BadInput
from rookery.games.gomoku_board import row_and_column
from rookery.games.gomoku_text import parse_point, point_text
from rookery.games.position import Position
from rookery.search.perft import perft


def play_all(spec: str, moves: str) -> Position:
    """Play moves written with spaces between them."""
    position = load(spec).start()
    for move in moves.split():
        position.play(move)
    return position


def setup(spec: str, side: str, stones: dict[str, str], rest: str = "- -") -> Position:
    """Set up a position from the points of black (x) and white (o) stones."""
    game = load(spec)
    rows = [["."] * game.size for _ in range(game.size)]
    for sign, points in stones.items():
        for point in points.split():
            row, col = divmod(parse_point(game.size, point), game.size)
            rows[game.size - 1 - row][col] = sign
    return game.position(f"{'/'.join(''.join(row) for row in rows)} {side} {rest}")


# ---- the rule book -------------------------------------------------------------------------------


def follow_the_rule_book(size: int, rule: str, opening: str, seed: int) -> str | None:
    """Play a random game beside the rule book, comparing all there is; return who won."""
    game, book = load("gomoku", size=size, rule=rule, opening=opening), RuleBook(size, rule, opening)
    rng, position = np.random.default_rng(seed), game.start()
    while book.winner is None:
        moves = book.moves()
        named = [move if isinstance(move, str) else f"{chr(65 + move[1])}{move[0] + 1}" for move in moves]
        assert position.moves() == named
        assert (position.mover, position.over, position.payoff(0)) == (book.mover(), False, 0)
        chosen = int(rng.integers(len(moves)))
        position.play(named[chosen])
        book.play(moves[chosen])
    assert position.over
    assert [position.payoff(seat) for seat in (0, 1)] == [book.payoff(seat) for seat in (0, 1)]
    return book.winner


CASES = [
    (5, "freestyle", "none"),
    (6, "standard", "none"),
    (7, "renju", "none"),
    (8, "caro", "none"),
    (15, "freestyle", "none"),
    (11, "renju", "swap2"),
    (20, "renju", "none"),
    (9, "caro", "swap2"),
]


@pytest.mark.parametrize(("size", "rule", "opening"), CASES)
def test_random_games_match_the_rule_book(size, rule, opening):
    results = {follow_the_rule_book(size, rule, opening, seed) for seed in range(10 if size > 9 else 40)}
    assert len(results) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("size", "rule", "opening"), CASES)
def test_hundreds_of_random_games_match_the_rule_book(size, rule, opening):
    results = {follow_the_rule_book(size, rule, opening, seed) for seed in range(1000, 1500)}
    assert {"x", "o"} <= results


@given(st.data())
def test_any_position_without_a_row_is_read_with_the_moves_and_rows_of_the_rule_book(data):
    size = data.draw(st.integers(5, 20))
    rule = data.draw(st.sampled_from(["freestyle", "standard", "caro"]))
    signs = data.draw(st.lists(st.sampled_from("...xo"), min_size=size**2, max_size=size**2))
    rows = ["".join(signs[i * size : (i + 1) * size]) for i in range(size)]
    book = RuleBook(size, rule)
    book.stones = {(size - 1 - r, c): sign for r, row in enumerate(rows) for c, sign in enumerate(row) if sign != "."}
    winners = {sign for point, sign in book.stones.items() if any(book.row_wins(point, way) for way in DIRECTIONS)}
    game, text = load("gomoku", size=size, rule=rule), f"{'/'.join(rows)} b - -"
    if "x" in winners or ("o" in winners and not white_may_have_won_last(book)):
        with pytest.raises(BadInput, match="had ended before the last move"):
            game.position(text)
        return
    position = game.position(text)
    assert position.text() == text
    assert position.payoff(1) == ("o" in winners)
    empty = [r * size + c for r in range(size) for c in range(size) if (r, c) not in book.stones]
    assert position.legal().tolist() == ([] if "o" in winners else empty)


def white_may_have_won_last(book: RuleBook) -> bool:
    """Tell whether there is a white stone without which nobody has a row that wins."""
    for last in [point for point, sign in book.stones.items() if sign == "o"]:
        del book.stones[last]
        won = any(book.row_wins(point, way) for point in book.stones for way in DIRECTIONS)
        book.stones[last] = "o"
        if not won:
            return True
    return False


# ---- rows ----------------------------------------------------------------------------------------


def test_black_begins_and_h8_is_the_centre_of_15_x_15():
    position = load("gomoku").start()
    assert position.game.seat_name(position.mover) == "Black"
    assert position.action("H8") == 112 == 15 * 15 // 2
    assert position.move_text(112) == "H8"
    assert [position.move_text(action) for action in (0, 1, 15, 224)] == ["A1", "B1", "A2", "O15"]


@pytest.mark.parametrize("direction", [(0, 1), (1, 0), (1, 1), (-1, 1)])
@pytest.mark.parametrize("size", [5, 15, 20])
def test_five_win_in_every_line_of_the_board(size, direction):
    game = load("gomoku", size=size)
    for row in range(size):
        for col in range(size):
            line = [(row + k * direction[0], col + k * direction[1]) for k in range(5)]
            if not all(0 <= r < size and 0 <= c < size for r, c in line):
                continue
            last = (row + col) % 5
            black = [point_text(size, r * size + c) for k, (r, c) in enumerate(line) if k != last]
            position = setup(game.spec, "b", {"x": " ".join(black)})
            r, c = line[last]
            position.play(r * size + c)
            assert position.payoff(0) == 1


def test_lines_do_not_go_on_at_the_other_edge():
    for size in (5, 9, 15, 20):
        game = load("gomoku", size=size)
        right = [point_text(size, size + size - 1 - k) for k in range(3)]
        left = [point_text(size, 2 * size + k) for k in range(1, 2)]
        position = setup(game.spec, "b", {"x": " ".join(right + left)})
        position.play(2 * size)
        assert not position.over


@pytest.mark.parametrize(("rule", "side", "wins"), [
    ("freestyle", "b", True), ("freestyle", "w", True), ("standard", "b", False), ("standard", "w", False),
    ("renju", "w", True), ("caro", "b", False), ("caro", "w", False),
])  # fmt: skip
def test_six_in_a_row_win_by_freestyle_and_for_white_in_renju(rule, side, wins):
    sign = {"b": "x", "w": "o"}[side]
    position = setup(f"gomoku:rule={rule}", side, {sign: "D8 E8 F8 H8 I8"})
    position.play("G8")
    assert position.over == wins
    assert position.payoff("bw".index(side)) == wins


def test_six_in_a_row_lose_for_black_in_renju():
    position = setup("gomoku:rule=renju", "b", {"x": "D8 E8 F8 H8 I8"})
    position.play("G8")
    assert (position.payoff(0), position.payoff(1)) == (-1, 1)
    assert position.text().split()[1:] == ["w", "forbidden", "G8"]


@pytest.mark.parametrize(("blacks", "whites", "last", "wins"), [
    ("D8 E8 F8 G8", "", "H8", True),
    ("D8 E8 F8 G8", "C8", "H8", True),
    ("D8 E8 F8 G8", "I8", "H8", True),
    ("D8 E8 F8 G8", "C8 I8", "H8", False),
    ("D8 E8 G8 H8", "C8 I8", "F8", False),
    ("E3 F4 G5 I7", "D2 J8", "H6", False),
    ("E9 F8 G7 I5", "D10 J4", "H6", False),
    ("E9 F8 G7 I5", "D10 K3", "H6", True),
    ("A1 B1 C1 D1", "F1", "E1", True),
    ("K1 L2 M3 N4", "", "O5", True),
    ("A2 A3 A4 A5", "A6 B1", "A1", True),
    ("D8 E8 F8 G8 H7 H6 H5 H4", "C8 I8", "H8", True),
])  # fmt: skip
def test_caro_wants_one_end_of_the_five_free_of_white_stones(blacks, whites, last, wins):
    position = setup("gomoku:rule=caro", "b", {"x": blacks, "o": whites})
    position.play(last)
    assert position.over == wins
    assert position.payoff(0) == wins


def test_a_full_board_without_a_row_is_a_draw():
    rows = ["xxoox", "ooxxo", "xxoox", "ooxxo", "xxoo."]
    position = load("gomoku", size=5).position(f"{'/'.join(rows)} b - -")
    position.play("E1")
    assert position.over
    assert (position.payoff(0), position.payoff(1)) == (0, 0)


def test_a_row_on_the_last_point_wins():
    rows = ["oxxoo", "xxoox", "oxxoo", "xooxx", "oxxx."]
    position = load("gomoku", size=5).position(f"{'/'.join(rows)} w - -")
    assert not position.over
    rows[0], rows[1], rows[2], rows[3] = "oxxoo", "xooxo", "oxxoo", "xooxo"
    position = load("gomoku", size=5).position(f"{'/'.join(rows)} w - -")
    position.play("E1")
    assert position.payoff(1) == 1


def test_counts_of_move_sequences():
    position = load("gomoku").start()
    assert len(perft(position, 1)) == 225
    assert sum(perft(position, 3).values()) == 225 * 224 * 223
    assert sum(perft(load("gomoku:size=5,opening=swap2").start(), 4).values()) == 25 * 24 * 23 * 3


def test_rows_and_columns_are_found_without_division():
    for size in range(5, 21):
        state = load("gomoku", size=size).start().state
        points = range(size * size)
        assert [row_and_column(state, point) for point in points] == [divmod(point, size) for point in points]


# ---- Swap2 ---------------------------------------------------------------------------------------


def test_swap2_lets_the_second_player_take_black():
    position = play_all("gomoku:opening=swap2", "H8 H9 I8")
    assert (position.mover, position.moves()) == (1, ["black", "white", "more"])
    position.play("black")
    assert position.mover == 0
    for move in ["A1", "J8", "A2", "K8", "A3", "L8"]:
        position.play(move)
    assert (position.payoff(1), position.payoff(0)) == (1, -1)


def test_swap2_lets_the_second_player_stay_white():
    position = play_all("gomoku:opening=swap2", "H8 H9 I8 white")
    assert position.mover == 1
    position.play("A1")
    assert position.mover == 0
    assert position.text().split()[1:] == ["b", "-", "H8,H9,I8,A1"]


@pytest.mark.parametrize(("choice", "next_seat", "phase"), [("black", 1, "-"), ("white", 0, "swapped")])
def test_swap2_lets_the_first_player_choose_after_two_more_stones(choice, next_seat, phase):
    position = play_all("gomoku:opening=swap2", "H8 H9 I8 more")
    assert (position.mover, len(position.moves())) == (1, 222)
    for move in ("A1", "J8"):
        assert position.mover == 1
        position.play(move)
    assert (position.mover, position.moves()) == (0, ["black", "white"])
    position.play(choice)
    assert (position.mover, position.text().split()[1:3]) == (next_seat, ["w", phase])


def test_swap2_lays_stones_in_turns_of_black_and_white():
    position = play_all("gomoku:opening=swap2", "A1 B1 C1 more D1 E1 white F1")
    assert position.text().split()[0].endswith("xoxoxo.........")


# ---- observations --------------------------------------------------------------------------------


def test_three_planes_are_own_stones_others_and_the_last_move():
    position = play_all("gomoku:size=9", "E5 D4 E6")
    own, other, last = position.observe("planes")
    assert np.argwhere(own).tolist() == [[3, 3]]
    assert np.argwhere(other).tolist() == [[4, 4], [5, 4]]
    assert np.argwhere(last).tolist() == [[5, 4]]


def test_history_planes_are_the_last_eight_boards_as_they_were():
    game, rng = load("gomoku", size=9), np.random.default_rng(3)
    position, boards = game.start(), []
    for ply in range(20):
        boards.append(stones_of(position))
        seen = position.observe("history")
        assert (seen[16] == (ply + 1) % 2).all()
        for steps in range(8):
            board = boards[-1 - steps] if steps <= ply else np.zeros((2, 9, 9))
            assert (seen[2 * steps] == board[ply % 2]).all()
            assert (seen[2 * steps + 1] == board[1 - ply % 2]).all()
        position.play(int(rng.choice(position.legal())))
        if position.over:
            break
    assert len(boards) > 12


def stones_of(position: Position) -> np.ndarray:
    """Read black and white stones from a position's text, the bottom row first."""
    rows = np.array([list(row) for row in reversed(position.text().split()[0].split("/"))])
    return np.array([rows == "x", rows == "o"]).astype(float)


def test_observations_tell_the_phases_of_the_opening_apart():
    moves = ["E5", "D4", "E6", "more", "A1", "B1", "black"]
    seen = []
    for played in range(len(moves) + 1):
        position = play_all("gomoku:size=9,opening=swap2", " ".join(moves[:played]))
        seen.append((float(position.observe("planes")[2, 8, 8]), float(position.observe("history")[16, 0, 0])))
    black, white, choice = (0.25, 0.75), (0.25, 0.25), (0.5, 0.5)
    assert seen == [black, white, black, choice, white, black, choice, (0, 0)]


# ---- text ----------------------------------------------------------------------------------------


def test_a_drawing_has_row_1_at_the_bottom():
    drawn = play_all("gomoku:size=5", "A1 E5").draw().splitlines()
    assert drawn == [" 5 · · · · ○", " 4 · · · · ·", " 3 · · · · ·", " 2 · · · · ·", " 1 ● · · · ·", "   A B C D E"]


def test_moves_are_read_in_either_case():
    position = load("gomoku").start()
    assert position.action("h8") == position.action("H8")


EMPTY = "/".join(["....."] * 5)


@pytest.mark.parametrize(("spec", "text", "message"), [
    ("gomoku:size=5", EMPTY, r"should have four parts"),
    ("gomoku:size=5", f"{EMPTY} x - -", r"'x' in .* should be b or w"),
    ("gomoku:size=5", f"{EMPTY} b place -", r"'place' in .* should be a phase of gomoku:size=5: -$"),
    ("gomoku:size=5", f"{EMPTY} b forbidden -", r"should be a phase of gomoku:size=5: -$"),
    ("gomoku:size=5,rule=renju", f"{EMPTY} w swapped -", r"should be a phase of .*: -, forbidden$"),
    ("gomoku:size=6", f"{EMPTY} b - -", r"should be 6 rows of 6 squares"),
    ("gomoku:size=5", f"{EMPTY[:-1]}b b - -", r"'b' in row 5, column 5 .* should be one of '.xo'"),
    ("gomoku:size=5", f"xxxxx{EMPTY[5:]} b - -", r"the game had ended before the last move"),
    ("gomoku:size=5", f"{EMPTY} b - A1", r"A1 in .* should be a white stone, as a last move"),
    ("gomoku:size=5", f"{EMPTY[:-5]}xo... b - A1", r"A1 in .* should be a white stone, as a last move"),
    ("gomoku:size=5", f"{EMPTY[:-5]}xo... b - A1,A1", r"at most 7 different points"),
    ("gomoku:size=5", f"{EMPTY} b - F1", r"'F1' is no point of the board; points are A1..E5"),
    ("gomoku:size=5", f"{EMPTY[:-5]}xo... b - \u212a1", r"is no point of the board"),
    ("gomoku:size=5", f"{EMPTY[:-5]}xo... b - B1,", r"'B1,' in .* should be at most 7 different points"),
    ("gomoku:size=5", f"xoxox/oxoxo{EMPTY[11:]} w - A5,B5,C5,D5,E5,A4,B4,C4", r"at most 7 different points"),
    ("gomoku:size=6", f"ooooo.{'/......' * 4}/x....o b - F1", r"the game had ended before the last move"),
    ("gomoku:size=6", f"ooooo.{'/......' * 4}/.ooooo b - -", r"the game had ended before the last move"),
    ("gomoku:size=6,rule=standard", f"xxxxxx{'/......' * 5} w - A6", r"the game had ended before the last move"),
    ("gomoku:size=7,rule=caro", f"oxxxxxo{'/.......' * 6} b - A7", r"the game had ended before the last move"),
    ("gomoku:size=6,rule=renju", f"xxxxxx{'/......' * 5} w forbidden A6", r"the game had ended before the last move"),
    ("gomoku:size=6,rule=renju", f"xxxxxx{'/......' * 4}/ooooox w forbidden C6", r"had ended before the last move"),
    ("gomoku:size=6,rule=renju", f"xxxxxx{'/......' * 4}/xxxxx. w - A1", r"the game had ended before the last move"),
    ("gomoku:size=5,opening=swap2", f"{EMPTY} b choose -", r"in this phase there are 3 or 5 stones"),
    ("gomoku:size=5,opening=swap2", f"{EMPTY[:-5]}xx... b place -", r"in this phase there are 0..4 stones"),
    ("gomoku:size=5,opening=swap2", f"{EMPTY[:-5]}xo... w place -", r"in this phase there are 0..4 stones"),
    ("gomoku:size=5,rule=renju", f"{EMPTY[:-5]}x.... w forbidden A1", r"is not a forbidden move of Black"),
    ("gomoku:size=5,rule=renju", f"{EMPTY} w forbidden -", r"its last move, which should be named"),
    ("gomoku:size=5,rule=renju", f"{EMPTY[:-5]}xxxxx w forbidden A1", r"a move that makes five is not forbidden"),
    ("gomoku:size=6,rule=renju", "xxxxxx" + "/......" * 5 + " w - -", r"its phase should be forbidden"),
])  # fmt: skip
def test_bad_positions_are_refused_with_what_is_wrong(spec, text, message):
    with pytest.raises(BadInput, match=message):
        load(spec).position(text)


@pytest.mark.parametrize(("spec", "message"), [
    ("gomoku:size=4", r"option size of gomoku must be a whole number in 5..20, not 4"),
    ("gomoku:size=21", r"must be a whole number in 5..20, not 21"),
    ("gomoku:size=big", r"option size of gomoku must be a whole number, not 'big'"),
    ("gomoku:rule=omok", r"option rule of gomoku must be one of freestyle, standard, renju, caro, not 'omok'"),
    ("gomoku:opening=pro", r"option opening of gomoku must be one of none, swap2, not 'pro'"),
])  # fmt: skip
def test_bad_options_are_refused_with_what_is_allowed(spec, message):
    with pytest.raises(BadInput, match=message):
        load(spec)


def test_bad_moves_are_refused_with_what_is_allowed():
    position = play_all("gomoku:size=5,opening=swap2", "A1 B1 C1")
    with pytest.raises(BadInput, match=r"'D1': now a choice is to be made, one of black, white, more"):
        position.play("D1")
    position.play("more")
    position.play("D1")
    position.play("E1")
    with pytest.raises(BadInput, match=r"'A2': now a choice is to be made, one of black, white \(in"):
        position.play("A2")
    position.play("white")
    with pytest.raises(BadInput, match=r"'A1' is not legal"):
        position.play("A1")
    with pytest.raises(BadInput, match=r"'black' is not legal"):
        position.play("black")
    with pytest.raises(BadInput, match=r"'black' is no point of the board"):
        load("gomoku:size=5").start().play("black")
    with pytest.raises(BadInput, match=r"'F1' is no point of the board; points are A1..E5"):
        position.play("F1")


def test_rows_that_share_the_last_stone_are_read():
    stones = "C3 D3 E3 F3 G3 C4 C5 C6 C7"
    assert setup("gomoku:size=9", "b", {"o": stones}, "- C3").payoff(1) == 1
    assert setup("gomoku:size=9", "b", {"o": stones}).payoff(1) == 1
    assert not setup("gomoku:size=9,rule=standard", "b", {"o": "B3 C3 D3 E3 F3 G3"}, "- D3").over
