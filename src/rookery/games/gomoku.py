"""Gomoku.

Two players take turns putting stones on the points of a square board, Black first; five in a row win. Four sets of
rules differ in which rows count and in what Black may do:

    freestyle  five or more
    standard   exactly five
    renju      Black needs exactly five, White five or more; Black loses by an overline, a double four or a double three
    caro       exactly five, unless the other colour stands at both ends

Points are numbered by rows from the bottom: A1 is 0, B1 is 1; action a puts a stone on point a. With `opening="swap2"`
seat 0 puts the first three stones; then seat 1 takes a colour, or puts two more stones and lets seat 0 take one. Three
actions beyond the points stand for these choices. Stones are laid in turns of black and white throughout.

The stones lie in the frame of `gomoku_board`; empty points are kept a second time as the bits of consecutive words, so
that listing them gives the actions. Of the moves made, the last seven are kept, 9 bits each: enough to tell the last
eight boards. Texts are written and read in `gomoku_text`.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, uint64

from rookery.errors import BadInput
from rookery.games import gomoku_renju as renju
from rookery.games.bits import Word
from rookery.games.game import Game, Symmetries, register
from rookery.games.gomoku_board import (
    BLACK,
    BLACK_WON,
    CHOOSE,
    DRAWN,
    FORBIDDEN,
    FRAME,
    LARGEST,
    MARGIN,
    ON,
    PLACE,
    PLAY,
    REMEMBERED,
    RENJU,
    RULES,
    SMALLEST,
    WHITE,
    WHITE_WON,
    has_stone,
    lines_through,
    moved_lately,
    point_is_empty,
    put_stone,
    row_and_column,
    square_symmetries,
    wins,
)
from rookery.games.gomoku_text import parse_point, parse_position, point_text, position_text, rows_of
from rookery.games.options import one_of, whole_number
from rookery.games.position import Action, Cell, Position, Seat
from rookery.games.rng import number, scramble
from rookery.games.rules import State, implements

WORDS = (LARGEST * LARGEST + 63) // 64
OPENINGS = ("none", "swap2")
TAKE_BLACK, TAKE_WHITE, MORE = 0, 1, 2  # choices of the opening, counted from the number of points
CHOICES = ("black", "white", "more")
FEW, MANY = 0, 1
STEPS = REMEMBERED + 1

STATE = np.dtype(
    [
        ("stones", np.uint32, (2, FRAME)),
        ("empty", np.uint64, (WORDS,)),
        ("recent", np.uint64),  # points of the last moves plus one, the last move lowest; 0 where there is none
        ("gomoku_mover", np.int32),
        ("colour", np.int32),  # of the next stone
        ("black_seat", np.int32),
        ("phase", np.int32),
        ("left", np.int32),  # empty points
        ("result", np.int32),
        ("size", np.int32),  # options from here on
        ("rule", np.int32),
        ("swap2", np.int32),
    ],
    align=True,
)


@njit(cache=True, nogil=True)
def result_of(state: State, point: int) -> int:
    """Return the result of a game in which the next colour has just moved to a point."""
    row, col = row_and_column(state, point)
    colour = state.colour
    if wins(state, colour, row, col, lines_through(state, colour, row, col)):
        return BLACK_WON if colour == BLACK else WHITE_WON
    if state.rule == RENJU and colour == BLACK and renju.verdict_on(state, row, col) != renju.ALLOWED:
        return FORBIDDEN
    return DRAWN if state.left == 0 else ON


@njit(cache=True, nogil=True)
def choose(state: State, choice: int) -> None:
    """Make a choice of the opening."""
    seat = state.gomoku_mover
    if choice == MORE:
        state.phase = PLACE
        return
    state.black_seat = seat if choice == TAKE_BLACK else 1 - seat
    state.gomoku_mover = 1 - state.black_seat  # White goes on
    state.phase = PLAY


# ---- the contract --------------------------------------------------------------------------------


@implements("start", STATE)
def start(state: State, seed: int) -> None:
    points = state.size * state.size
    for i in range(FRAME):
        state.stones[BLACK, i] = 0
        state.stones[WHITE, i] = 0
    for word in range(WORDS):
        here = min(max(points - 64 * word, 0), 64)
        state.empty[word] = ~uint64(0) >> uint64(64 - here) if here > 0 else uint64(0)
    state.recent = 0
    state.gomoku_mover = 0
    state.colour = BLACK
    state.black_seat = 0
    state.phase = PLACE if state.swap2 else PLAY
    state.left = points
    state.result = ON


@implements("mover", STATE)
def mover(state: State) -> int:
    return int(state.gomoku_mover)


@njit(cache=True, nogil=True)
def list_points(empty: Word, first: int, points: int, out: np.ndarray, count: Word) -> Word:
    """Append the empty ones among some points to a list; return its new length.

    Every point is written and only an empty one advances: no branch to guess wrong, no threads that part on a card. So
    the room behind the list is written as well, but never more than one place for each point of the board.
    """
    for i in range(points):
        out[count] = first + i
        count += empty & uint64(1)
        empty >>= uint64(1)
    return count


@implements("legal", STATE)
def legal(state: State, out: np.ndarray) -> int:
    points = state.size * state.size
    if state.phase == CHOOSE:
        choices = MORE + state.gomoku_mover  # only seat 1 may ask for more
        for choice in range(choices):
            out[choice] = points + choice
        return int(choices)
    count = uint64(0)
    for word in range(points >> 6):  # a loop of fixed length is unrolled
        count = list_points(state.empty[word], 64 * word, 64, out, count)
    rest = points & 63
    if rest > 0:
        count = list_points(state.empty[points >> 6], points - rest, rest, out, count)
    return int(int64(count))


@implements("is_legal", STATE)
def is_legal(state: State, action: int) -> bool:
    choice = action - state.size * state.size
    if state.phase == CHOOSE:
        return bool(0 <= choice < MORE + state.gomoku_mover)
    return choice < 0 and point_is_empty(state, action)


@implements("play", STATE)
def play(state: State, action: int) -> None:
    if state.phase == CHOOSE:
        choose(state, action - state.size * state.size)
        return
    put_stone(state, action)
    if state.phase == PLAY:
        state.result = result_of(state, action)
        state.gomoku_mover = 1 - state.gomoku_mover
    else:
        stones = state.size * state.size - state.left
        if stones == 3 or stones == 5:
            state.phase = CHOOSE
            state.gomoku_mover = 1 - state.gomoku_mover
    state.colour = 1 - state.colour


@implements("over", STATE)
def over(state: State) -> bool:
    return bool(state.result != ON)


@implements("payoff", STATE)
def payoff(state: State, seat: int) -> float:
    if state.result == ON or state.result == DRAWN:
        return 0.0
    winner = state.black_seat if state.result == BLACK_WON else 1 - state.black_seat
    return 1.0 if seat == winner else -1.0


@implements("observe", STATE)
def observe(state: State, kind: int, i: int) -> float:
    points = state.size * state.size
    plane = i // points
    point = i - plane * points
    if kind == FEW and plane == 2:
        if moved_lately(state, point, 1):
            return 1.0
        return float(0.25 * state.phase)
    if plane == 2 * STEPS:
        turn = 1.0 if state.colour == BLACK else 0.0
        if state.phase == PLAY:
            return turn
        return 0.25 + 0.5 * turn if state.phase == PLACE else 0.5
    steps, colour = plane >> 1, state.colour ^ (plane & 1)
    row, col = row_and_column(state, point)
    if not has_stone(state, colour, row, col) or moved_lately(state, point, steps):
        return 0.0
    return 1.0


@implements("key", STATE)
def key(state: State) -> Word:
    forbidden = 1 if state.result == FORBIDDEN else 0
    word = scramble(uint64(1 + state.gomoku_mover + 2 * state.phase + 8 * state.black_seat + 16 * forbidden))
    for row in range(MARGIN, MARGIN + state.size):  # each row is scrambled for itself: no chain to wait for
        word ^= number(uint64(state.stones[BLACK, row]) | (uint64(state.stones[WHITE, row]) << uint64(32)), row)
    return word


# ---- for people ----------------------------------------------------------------------------------


@register
class Gomoku(Game):
    """Gomoku on a board of 5 x 5 to 20 x 20 points, by one of four sets of rules."""

    name = "gomoku"
    version = 1
    state = STATE
    summary = "put stones on a board in turns; five in a row win"

    def __init__(self, size: int = 15, rule: str = "freestyle", opening: str = "none"):
        self.size = size = whole_number("option size of gomoku", size, SMALLEST, LARGEST)
        self.rule = one_of("option rule of gomoku", rule, RULES)
        self.opening = one_of("option opening of gomoku", opening, OPENINGS)
        self.points = size * size
        swap2 = opening == "swap2"
        self.actions = self.points + (len(CHOICES) if swap2 else 0)
        self.most_legal = self.points
        self.longest = self.points + (2 if swap2 else 0)
        self.vanishing = not swap2
        self.observations = {"planes": (3, size, size), "history": (2 * STEPS + 1, size, size)}

    def set_options(self, state: State) -> None:
        state["size"], state["rule"] = self.size, RULES.index(self.rule)
        state["swap2"] = self.opening == "swap2"

    def seat_name(self, seat: Seat) -> str:
        return ("First", "Second")[seat] if self.opening == "swap2" else ("Black", "White")[seat]

    def text(self, state: State) -> str:
        return position_text(state)

    def parse(self, text: str, state: State) -> None:
        parse_position(text, state, self.spec)

    def draw(self, state: State) -> str:
        signs = str.maketrans(".xo", "·●○")
        lines = [f"{self.size - i:2d} {' '.join(row)}".translate(signs) for i, row in enumerate(rows_of(state))]
        return "\n".join([*lines, "   " + " ".join(point_text(self.size, col)[0] for col in range(self.size))])

    def cells_of(self, state: State, action: Action) -> tuple[Cell, ...]:
        return () if action >= self.points else ((0, *divmod(int(action), self.size)),)

    def drawn_at(self, cell: Cell) -> tuple[int, int]:
        return self.size - 1 - cell[1], 3 + 2 * cell[2]

    def move_text(self, state: State, action: Action) -> str:
        return CHOICES[action - self.points] if action >= self.points else point_text(self.size, action)

    def parse_move(self, state: State, text: str) -> Action:
        if self.opening == "swap2" and text in CHOICES:
            return self.points + CHOICES.index(text)
        if state["phase"] == CHOOSE:
            choices = ", ".join(CHOICES[: MORE + int(state["gomoku_mover"])])
            raise BadInput(f"move {text!r}: now a choice is to be made, one of {choices}")
        return parse_point(self.size, text)

    def middle(self, side: int) -> list[Action]:
        """List the points of the square in the middle of the board that has so many a side, or of the whole board."""
        side = min(side, self.size)
        low = (self.size - side) // 2
        return [row * self.size + col for row in range(low, low + side) for col in range(low, low + side)]

    def symmetries(self) -> Symmetries:
        """The 8 symmetries of the square; the opening's choices stay what they are."""
        names, origins = square_symmetries(self.size)
        actions = np.tile(np.arange(self.actions), (len(names), 1))
        actions[:, : self.points] = np.argsort(origins, axis=1)
        observations = {
            kind: np.concatenate([origins + plane * self.points for plane in range(shape[0])], axis=1)
            for kind, shape in self.observations.items()
        }
        return Symmetries(names, actions, observations)


def forbidden_points(position: Position) -> dict[str, str]:
    """List the points forbidden to Black in a position of Renju with the reason; it need not be Black's turn."""
    game, state = position.game, position.state
    if not isinstance(game, Gomoku) or game.rule != "renju":
        raise BadInput(f"forbidden moves are of gomoku with rule=renju, not of {game.spec}")
    empty = [point for point in range(game.points) if point_is_empty(state, point)]
    verdicts = {point: int(renju.verdict_at(state, *divmod(point, game.size))) for point in empty}
    return {
        point_text(game.size, point): renju.VERDICTS[verdict]
        for point, verdict in verdicts.items()
        if verdict not in (renju.ALLOWED, renju.FIVE)
    }
