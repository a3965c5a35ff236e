"""The lines of a Gomoku board, for searches that ask for rows of stones far more often than for stones.

Every row, column and diagonal is a word for each colour. The directions are numbered right, up, right and up, right and
down; a line is found by its direction and number, a point of it by its place: the column, or the row where the line
is a column. Place k is bit k + MARGIN. A bit outside the board is set for *both* colours, so a point is free where
neither has a bit, and whatever a colour cannot use, stone or edge, is where the other one has a bit.

A record that searches keep holds these fields, and functions here take any such record:

    lines   uint64 [2, DIRECTIONS, LINES]
    line    uint8 [POINTS, DIRECTIONS]     number of the line through a point
    shift   uint8 [POINTS, DIRECTIONS]     bit of the point in that line
    origin  int32 [DIRECTIONS, LINES]      point at bit 0 of a line, if the line went on for ever
    step    int32 [DIRECTIONS]             from a point to the next one
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games.bits import Word
from rookery.games.gomoku import Gomoku
from rookery.games.gomoku_board import BLACK, DIRECTIONS, LARGEST, MARGIN, WHITE, has_stone, point_is_empty
from rookery.games.position import Position
from rookery.games.rng import number
from rookery.games.rules import State

POINTS = LARGEST * LARGEST
LINES = 2 * LARGEST
FIELDS: list[Any] = [
    ("lines", np.uint64, (2, DIRECTIONS, LINES)),
    ("line", np.uint8, (POINTS, DIRECTIONS)),
    ("shift", np.uint8, (POINTS, DIRECTIONS)),
    ("origin", np.int32, (DIRECTIONS, LINES)),
    ("step", np.int32, (DIRECTIONS,)),
    ("size", np.int32),
]
ROW_BITS = uint64((1 << LARGEST) - 1)


@cache
def empty_lines(size: int) -> Any:
    """Return the fields above for a board without stones, as an array of one record that must not be changed."""
    records = np.zeros(1, np.dtype(FIELDS, align=True))
    record = records[0]
    rows, cols = np.divmod(np.arange(size * size), size)
    numbers = np.stack([rows, cols, rows - cols + size - 1, rows + cols], 1)
    places = np.stack([cols, rows, cols, cols], 1)
    record["line"][: size * size], record["shift"][: size * size] = numbers, places + MARGIN
    record["step"][:], record["size"] = (1, size, size + 1, 1 - size), size
    record["lines"][:] = ~np.uint64(0)
    for direction in range(DIRECTIONS):
        for point in range(size * size):
            line, bit = numbers[point, direction], places[point, direction] + MARGIN
            record["origin"][direction, line] = point - bit * record["step"][direction]
            record["lines"][:, direction, line] &= ~(np.uint64(1) << np.uint64(bit))
    return records


def record_type(fields: tuple[Any, ...]) -> np.dtype[Any]:
    """Return the dtype of a record with the fields above and more.

    The additional fields come first: Numba takes a record that begins like another one for one of its kind, and warns.
    """
    return np.dtype([*fields, *FIELDS], align=True)


@cache
def empty_record(fields: tuple[Any, ...], size: int) -> np.ndarray:
    """Return one record with the fields above and more, for a board without stones; it must not be changed."""
    records = np.zeros(1, record_type(fields))
    for name, *_ in FIELDS:
        records[name] = empty_lines(size)[name]
    return records


def new_record(fields: tuple[Any, ...], size: int) -> np.ndarray:
    """Make such a record; shape [1]."""
    empty = empty_record(fields, size)
    return empty.view(np.uint8).copy().view(empty.dtype)  # bytes are copied faster than fields


@njit(cache=True, nogil=True)
def flip_bits(board: State, colour: int, point: int) -> None:
    """Put a stone of a colour on a point of the four lines through it, or take it away."""
    for direction in range(DIRECTIONS):
        bit = uint64(1) << uint64(board.shift[point, direction])
        board.lines[colour, direction, board.line[point, direction]] ^= bit


@njit(cache=True, nogil=True)
def key_of(colour: int, point: int) -> Word:
    """Return the share of a stone in the hash of a board, which is the exclusive or of all."""
    return number(uint64(colour + 1), point)


@njit(cache=True, nogil=True)
def is_free(board: State, point: int) -> bool:
    """Tell whether a point has no stone."""
    line = board.line[point, 0]
    taken = board.lines[BLACK, 0, line] | board.lines[WHITE, 0, line]
    return bool((taken >> uint64(board.shift[point, 0])) & uint64(1) == uint64(0))


@njit(cache=True, nogil=True)
def free_in_row(board: State, row: int) -> Word:
    """Return the free points of a row; column c is bit c."""
    return ~((board.lines[BLACK, 0, row] | board.lines[WHITE, 0, row]) >> uint64(MARGIN)) & ROW_BITS


@njit(cache=True, nogil=True)
def add_near(board: State, near: np.ndarray, point: int) -> None:
    """Mark the points at most two rows and two columns away from a stone; `near` [LARGEST] has column c as bit c."""
    row, col = board.line[point, 0], board.line[point, 1]
    spread = (uint64(31) << uint64(col)) >> uint64(2)
    for other in range(max(0, row - 2), min(board.size, row + 3)):
        near[other] |= spread & ROW_BITS


@njit(cache=True, nogil=True)
def insert_move(moves: np.ndarray, count: int, width: int, score: int, point: int) -> int:
    """Put a move into a list of the best, at most `width` of them; ties by row, then column. Return how many there are.

    A move is score * 512 + 511 - point: ordered as a number, it is ordered as a move.
    """
    move = (score << 9) + 511 - point
    if count == width and move < moves[width - 1]:
        return count
    place = min(count, width - 1)
    while place > 0 and moves[place - 1] < move:
        moves[place] = moves[place - 1]
        place -= 1
    moves[place] = move
    return min(count + 1, width)


@njit(cache=True, nogil=True)
def point_of(move: int) -> int:
    """Return the point of a move in such a list."""
    return 511 - (move & 511)


@njit(cache=True, nogil=True)
def stone_at(state: State, point: int) -> int:
    """Return the colour on a point of a state of the game, -1 if there is none."""
    row = point // state.size
    col = point - row * state.size
    if has_stone(state, BLACK, row, col):
        return BLACK
    return WHITE if has_stone(state, WHITE, row, col) else -1


@njit(cache=True, nogil=True)
def lay_state(board: State, state: State) -> Word:
    """Put the stones of a state of the game on lines; return their hash."""
    key = uint64(0)
    for point in range(state.size * state.size):
        colour = stone_at(state, point)
        if colour >= 0:
            flip_bits(board, colour, point)
            key ^= key_of(colour, point)
        elif not point_is_empty(state, point):  # out of the game, as if it were outside the board
            flip_bits(board, BLACK, point)
            flip_bits(board, WHITE, point)
    return key


@njit(cache=True, nogil=True)
def find_near(board: State, state: State, near: np.ndarray) -> None:
    """Mark the points near the stones of a state."""
    for row in range(LARGEST):
        near[row] = uint64(0)
    for point in range(state.size * state.size):
        if not point_is_empty(state, point):
            add_near(board, near, point)


def checked(position: Position, who: str) -> Gomoku:
    """Return the game of a position that goes on under rules the searches know; refuse any other."""
    game = position.game
    if not isinstance(game, Gomoku):
        raise BadInput(f"{who} plays gomoku, not {game.spec}")
    if game.rule != "freestyle":
        raise BadInput(f"{who} plays gomoku with rule=freestyle only, not rule={game.rule}")
    if position.over:
        raise BadInput(f"{who}: the game is over in {position.text()!r}")
    return game
