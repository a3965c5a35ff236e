"""The board of Gomoku: stones as bits in a frame, the lines through a point, what wins, and the last moves.

The stones of a colour are 32 words of 32 bits. The point in row r and column c is bit c + MARGIN of word r + MARGIN, so
even 20 x 20 points lie inside a margin of six empty rows and columns, and lines are read past the edge without asking
where it is.

A window holds the 11 points of a line around a point: bit CENTRE + k is the point k steps ahead. The four windows of
a point share one 64-bit word, 16 bits each, in the order of the directions: right, up, right and up, right and down.
The five empty bits between two windows let one operation count in all four at once.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit, uint32, uint64

from rookery.games.bits import Word
from rookery.games.rules import State

SMALLEST, LARGEST = 5, 20
MARGIN = 6
FRAME = LARGEST + 2 * MARGIN
BLACK, WHITE = 0, 1
FREESTYLE, STANDARD, RENJU, CARO = 0, 1, 2, 3
RULES = ("freestyle", "standard", "renju", "caro")

PLAY, PLACE, CHOOSE = 0, 1, 2  # phases: the game itself; the opening's stones; the opening's choices
ON, BLACK_WON, WHITE_WON, DRAWN, FORBIDDEN = 0, 1, 2, 3, 4  # results; FORBIDDEN: White has won by Black's move
REMEMBERED = 7
MOVE_BITS, MOVE_MASK = 9, 511
RECENT_MASK = uint64((1 << REMEMBERED * MOVE_BITS) - 1)

DIRECTIONS = 4
ROW_STEP = np.array([0, 1, 1, -1])
COL_STEP = np.array([1, 0, 1, 1])
ROW_FACTOR = np.array([0] + [(1 << 16) // size + 1 for size in range(1, LARGEST + 1)])  # 1 / size, rounded up
CENTRE = 5
WINDOW = uint64(0x7FF)
FIVE_STARTS = uint64(0x003E003E003E003E)  # first points of the fives that contain the centre
SIX_STARTS = uint64(0x003F003F003F003F)


def square_symmetries(size: int) -> tuple[tuple[str, ...], np.ndarray]:
    """Name the symmetries of a square board and tabulate which point each of them moves to a point."""
    grid = np.arange(size * size).reshape(size, size)
    turned = {
        "identity": grid,
        "quarter turn": np.rot90(grid, 1),
        "half turn": np.rot90(grid, 2),
        "three-quarter turn": np.rot90(grid, 3),
        "mirror": grid[:, ::-1],
        "flip": grid[::-1],
        "transpose": grid.T,
        "anti-transpose": grid[::-1, ::-1].T,
    }
    return tuple(turned), np.array([table.reshape(-1) for table in turned.values()])


@njit(cache=True, nogil=True)
def row_and_column(state: State, point: int) -> tuple[int, int]:
    """Return the row and column of a point."""
    row = (point * ROW_FACTOR[state.size]) >> 16  # a division would take longer than all else in a move
    return row, point - row * state.size


@njit(cache=True, nogil=True)
def has_stone(state: State, colour: int, row: int, col: int) -> bool:
    """Tell whether a colour has a stone on a point."""
    return bool((state.stones[colour, row + MARGIN] >> uint32(col + MARGIN)) & uint32(1))


@njit(cache=True, nogil=True)
def flip_stone(state: State, colour: int, row: int, col: int) -> None:
    """Put a stone of a colour on a point, or take it away."""
    state.stones[colour, row + MARGIN] ^= uint32(1) << uint32(col + MARGIN)


@njit(cache=True, nogil=True)
def lines_through(state: State, colour: int, row: int, col: int) -> Word:
    """Return the stones of a colour in the four windows of a point."""
    shift = uint32(col + MARGIN - CENTRE)
    lines = uint64(state.stones[colour, row + MARGIN] >> shift) & WINDOW
    for k in range(-CENTRE, CENTRE + 1):
        near = uint64(state.stones[colour, row + MARGIN + k] >> shift)
        ahead, behind = uint64(CENTRE + k), uint64(CENTRE - k)
        lines |= ((near >> uint64(CENTRE)) & uint64(1)) << (uint64(16) + ahead)
        lines |= ((near >> ahead) & uint64(1)) << (uint64(32) + ahead)
        lines |= ((near >> behind) & uint64(1)) << (uint64(48) + behind)
    return lines


@njit(cache=True, nogil=True)
def fives_in(lines: Word) -> Word:
    """Mark the first points of all rows of five through the centre, in four windows at once."""
    pairs = lines & (lines >> uint64(1))
    return pairs & (pairs >> uint64(2)) & (lines >> uint64(4)) & FIVE_STARTS


@njit(cache=True, nogil=True)
def sixes_in(lines: Word) -> Word:
    """Mark the first points of all rows of six through the centre, in four windows at once."""
    pairs = lines & (lines >> uint64(1))
    return pairs & (pairs >> uint64(2)) & (pairs >> uint64(4)) & SIX_STARTS


@njit(cache=True, nogil=True)
def field(lines: Word, direction: int) -> Word:
    """Return the window of one direction."""
    return (lines >> uint64(16 * direction)) & WINDOW


@njit(cache=True, nogil=True)
def blocked(five: Word, others: Word) -> bool:
    """Tell whether stones of the other colour stand at both ends of an exact five; the edge does not block."""
    return bool((five >> uint64(1)) & others) and bool((five << uint64(5)) & others)


@njit(cache=True, nogil=True)
def wins(state: State, colour: int, row: int, col: int, lines: Word) -> bool:
    """Tell whether the stone of a colour on a point, with its windows, is part of a row that wins."""
    fives = fives_in(lines)
    if fives == uint64(0):
        return False
    if state.rule == FREESTYLE or (state.rule == RENJU and colour == WHITE):
        return True
    sixes = sixes_in(lines)
    others = lines_through(state, 1 - colour, row, col)
    for direction in range(DIRECTIONS):
        five = field(fives, direction)
        if five == uint64(0) or field(sixes, direction) != uint64(0):
            continue
        if state.rule != CARO or not blocked(five, field(others, direction)):
            return True
    return False


@njit(cache=True, nogil=True)
def has_won(state: State, colour: int) -> bool:
    """Tell whether a colour has a row that wins anywhere on the board."""
    for row in range(state.size):
        for col in range(state.size):
            lines = lines_through(state, colour, row, col)
            if has_stone(state, colour, row, col) and wins(state, colour, row, col, lines):
                return True
    return False


@njit(cache=True, nogil=True)
def has_six(state: State, colour: int) -> bool:
    """Tell whether a colour has six or more stones in a row."""
    for row in range(state.size):
        for col in range(state.size):
            lines = lines_through(state, colour, row, col)
            if has_stone(state, colour, row, col) and sixes_in(lines) != uint64(0):
                return True
    return False


# ---- moves ---------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def put_stone(state: State, point: int) -> None:
    """Lay a stone of the next colour and remember the move."""
    row, col = row_and_column(state, point)
    flip_stone(state, state.colour, row, col)
    state.empty[point >> 6] &= ~(uint64(1) << uint64(point & 63))
    state.left -= 1
    state.recent = ((state.recent << uint64(MOVE_BITS)) | uint64(point + 1)) & RECENT_MASK


@njit(cache=True, nogil=True)
def lay_stones(state: State, signs: np.ndarray) -> None:
    """Lay stones on an empty board: `signs` [points] holds 0 for none, 1 for black, 2 for white."""
    for point in range(signs.shape[0]):
        if signs[point] > 0:
            state.colour = signs[point] - 1
            put_stone(state, point)


def wall_off(state: State, points: Iterable[int]) -> None:
    """Take empty points out of a game that goes on: nobody may move there, and they are of no colour.

    Texts and observations do not tell of them.
    """
    for point in points:
        state["empty"][point >> 6] &= ~(np.uint64(1) << np.uint64(point & 63))
        state["left"] -= 1
    if state["left"] == 0 and state["result"] == ON:
        state["result"] = DRAWN


def has_walls(state: State) -> bool:
    """Tell whether points were taken out of the game."""
    stones = sum(int(row).bit_count() for row in state["stones"].flat)
    return stones + int(state["left"]) < int(state["size"]) ** 2


@njit(cache=True, nogil=True)
def point_is_empty(state: State, point: int) -> bool:
    """Tell whether a point has no stone."""
    return bool((state.empty[point >> 6] >> uint64(point & 63)) & uint64(1))


@njit(cache=True, nogil=True)
def moved_lately(state: State, point: int, moves: int) -> bool:
    """Tell whether a point is among the last so many moves."""
    for i in range(moves):
        if (state.recent >> uint64(MOVE_BITS * i)) & uint64(MOVE_MASK) == uint64(point + 1):
            return True
    return False
