"""Renju's forbidden moves: known diagrams, and the plainly recursive definition on random positions."""

from __future__ import annotations

import numpy as np
import pytest

from gomoku_diagrams import DIAGRAMS
from gomoku_rulebook import RuleBook
from rookery import load
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.gomoku import forbidden_points
from rookery.games.gomoku_board import lay_stones
from rookery.games.gomoku_renju import pop, push
from rookery.games.position import Position

MARKS = {"3": "double three", "4": "double four", "6": "overline"}


def read_diagram(diagram: str) -> tuple[int, str, dict[str, str], list[str]]:
    """Return size, position text, forbidden points and points marked as allowed of a diagram."""
    rows = [line.replace(" ", "") for line in diagram.strip().splitlines()]
    size = len(rows)
    forbidden, allowed = {}, []
    for r, row in enumerate(rows):
        assert len(row) == size, (r, row)
        for c, sign in enumerate(row):
            point = f"{chr(ord('A') + c)}{size - r}"
            if sign in MARKS:
                forbidden[point] = MARKS[sign]
            elif sign in "af":
                allowed.append(point)
    board = "/".join("".join(sign if sign in "xo" else "." for sign in row) for row in rows)
    return size, board, forbidden, allowed


def book_of(size: int, board: str) -> RuleBook:
    """Set up the rule book with a position."""
    book = RuleBook(size, "renju")
    for r, row in enumerate(reversed(board.split("/"))):
        book.stones |= {(r, c): sign for c, sign in enumerate(row) if sign != "."}
    return book


def name_points(found: dict[tuple[int, int], str]) -> dict[str, str]:
    return {f"{chr(ord('A') + col)}{row + 1}": verdict for (row, col), verdict in found.items()}


def random_board(rng: np.random.Generator, size: int, black: float, white: float) -> str:
    signs = rng.choice(list(".xo"), size=(size, size), p=[1 - black - white, black, white])
    return "/".join("".join(row) for row in signs)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_exactly_the_marked_points_of_a_diagram_are_forbidden(name):
    size, board, forbidden, _ = read_diagram(DIAGRAMS[name])
    position = load("gomoku", size=size, rule="renju").position(f"{board} b - -")
    assert forbidden_points(position) == forbidden
    assert name_points(book_of(size, board).forbidden()) == forbidden


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_forbidden_move_is_legal_and_loses_at_once(name):
    size, board, forbidden, allowed = read_diagram(DIAGRAMS[name])
    start = load("gomoku", size=size, rule="renju").position(f"{board} b - -")
    for point in [*forbidden, *allowed]:
        position = start.copy()
        assert point in position.moves()
        position.play(point)
        assert (position.payoff(0) == -1) == (point in forbidden)
        assert position.text().split()[2] == ("forbidden" if point in forbidden else "-")


@pytest.mark.parametrize("name", DIAGRAMS)
def test_no_move_is_forbidden_to_white(name):
    size, board, forbidden, _ = read_diagram(DIAGRAMS[name])
    swapped = board.translate(str.maketrans("xo", "ox"))
    start = load("gomoku", size=size, rule="renju").position(f"{swapped} w - -")
    for point in forbidden:
        position = start.copy()
        position.play(point)
        assert position.payoff(1) == (1 if forbidden[point] == "overline" else 0)


def test_there_are_more_than_thirty_diagrams_of_all_kinds():
    marks = "".join(DIAGRAMS.values())
    assert len(DIAGRAMS) > 30
    assert all(marks.count(sign) >= 3 for sign in "346af")


def test_fives_win_even_where_the_stone_would_be_forbidden():
    for name in DIAGRAMS:
        size, board, _, _ = read_diagram(DIAGRAMS[name])
        rows = [line.replace(" ", "") for line in DIAGRAMS[name].strip().splitlines()]
        for r, row in enumerate(rows):
            for c, sign in enumerate(row):
                if sign == "f":
                    position = load("gomoku", size=size, rule="renju").position(f"{board} b - -")
                    position.play(f"{chr(ord('A') + c)}{size - r}")
                    assert position.payoff(0) == 1


def set_up(game: Game, board: str) -> Position:
    """Lay stones without asking whether a game could lead there, so that there may be rows of five."""
    position = game.start()
    rows = reversed(board.split("/"))
    lay_stones(position.state, np.array([".xo".index(sign) for row in rows for sign in row]))
    return position


def compare_on_random_positions(seeds: range, size: int) -> int:
    """Compare all points of random positions of all densities; return how deep the definition had to be followed."""
    game, deepest = load("gomoku", size=size, rule="renju"), 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        board = random_board(rng, size, rng.uniform(0.1, 0.45), rng.choice([0, 0.05, 0.15, 0.3]))
        book, position = book_of(size, board), set_up(game, board)
        before = position.states.tobytes()
        assert forbidden_points(position) == name_points(book.forbidden()), board
        assert position.states.tobytes() == before
        deepest = max(deepest, book.deepest)
    return deepest


def test_forbidden_points_match_the_recursive_definition_on_random_positions():
    assert compare_on_random_positions(range(60), 9) >= 2
    assert compare_on_random_positions(range(100, 110), 15) >= 2


DEEP = (
    "o..o..o.......o/x.....x.x.....x/...x.x...x.x.../.xxxxx...x..xxx/...x..xxxxxxx.x/xxxx.x...x...x./.x.x...x.x...../"
    "......x.x.x..../.........x.x.../..oxx.......x.x/..oox....x..xx./xox.x..o.xx..xx/x..xx.x......../....xo.x..x.x.x/"
    "xxxx..oxx..xxo."
)
"""made so that whether a point is forbidden depends on many others in turn"""


def test_forbidden_points_match_the_definition_where_it_turns_back_on_itself_ten_times():
    book = book_of(15, DEEP)
    assert forbidden_points(set_up(load("gomoku:rule=renju"), DEEP)) == name_points(book.forbidden())
    assert book.deepest >= 10


def test_the_key_tells_a_game_lost_by_a_forbidden_move():
    rows = [".........", "....x....", "....x....", "....x....", ".xxxx....", *["........."] * 4]
    game, board = load("gomoku:size=9,rule=renju"), "/".join(rows)
    lost, going_on = game.position(f"{board} w forbidden E5"), game.position(f"{board} w - B5")
    assert (lost.over, going_on.over) == (True, False)
    assert lost.key != going_on.key


def test_a_last_move_of_white_is_not_judged_as_one_of_black():
    rows = [".........", "....x....", "....x....", "....x....", ".xxxo....", *["........."] * 4]
    text = f"{'/'.join(rows)} b - E5"
    assert load("gomoku:size=9,rule=renju").position(text).text() == text


@pytest.mark.slow
def test_forbidden_points_match_the_recursive_definition_on_thousands_of_positions():
    assert compare_on_random_positions(range(1000, 3000), 9) >= 3
    assert compare_on_random_positions(range(3000, 3300), 15) >= 3


def test_the_stack_gives_frames_back_in_reverse_order():
    frames = [(7 * i + 3) % 64 for i in range(42)]
    stack = words([0] * 4)
    for frame in frames:
        stack = words(push(stack, frame))
    for frame in reversed(frames):
        rest, back = pop(stack)
        stack = words(rest)
        assert back == frame


def words(numbers):
    """Make unsigned words again of the plain integers a compiled function returns."""
    return tuple(np.uint64(number) for number in numbers)


def test_forbidden_points_are_asked_only_of_renju():
    with pytest.raises(BadInput, match=r"rule=renju, not of gomoku$"):
        forbidden_points(load("gomoku").start())
