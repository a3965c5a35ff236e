"""Rows of touching stones on a Gomoku board: what the baseline player sees.

A group is a longest row of touching stones of one colour in one direction. Its worth follows from its length and from
how many of its two ends are free points (an edge is not):

    five or more 100,000    four 50,000 / 12,000    three 6,000 / 1,500    two 1,000 / 100    (two ends free / one)

All others are worth nothing. A position is worth the sum of Black's groups less White's.

A free point sees two sides in each direction. A side is one of 18: a free point, an edge, or a row of one to four
stones of a colour with its far end free or not. What a stone on the point changes, and how it ranks as a move, follows
from the pair of sides by table. A new stone changes the sides of at most two other free points in a direction: the
nearest ones, if only stones of one colour lie between.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, popcount
from rookery.games.gomoku_board import BLACK, COL_STEP, DIRECTIONS, LARGEST, MARGIN, PLAY, ROW_STEP, WHITE
from rookery.games.rules import State, mover, over, payoff
from rookery.search.gomoku_lines import POINTS, flip_bits, is_free, key_of, lay_state

GROUPS = {(4, 2): 50_000, (4, 1): 12_000, (3, 2): 6_000, (3, 1): 1_500, (2, 2): 1_000, (2, 1): 100}
FIVE = 100_000
SCALE = 10_000.0  # a score of so much is a value of tanh 1
SIDES = 18
FREE, EDGE, FIRST_ROW = 0, 1, 2  # rows: FIRST_ROW + 8 * colour + 2 * (length - 1) + (1 if the far end is free)
LONGEST_ROW = 4

BOARD: tuple[Any, ...] = (
    ("pair", np.int16, (POINTS, DIRECTIONS)),  # sides of a free point: SIDES * (side behind) + side ahead
    ("rank", np.int32, (2, POINTS)),  # of a move to a free point, for each colour
    ("gain", np.int32, (2, POINTS)),  # what a stone of a colour would add to the score
    ("fives", np.int8, (2, POINTS)),  # directions in which it would make a five
    ("score", np.int32),  # of the position, positive for Black
    ("key", np.uint64),
)


# ---- tables --------------------------------------------------------------------------------------


def group_worth(length: int, free_ends: int) -> int:
    """Return what a group is worth."""
    return FIVE if length >= 5 else GROUPS.get((length, free_ends), 0)


def side_of(cells: list[int]) -> int:
    """Classify a side by its five nearest cells: 0 free, 1 black, 2 white, 3 edge."""
    if cells[0] == 0 or cells[0] == 3:
        return FREE if cells[0] == 0 else EDGE
    length = next((i for i in range(LONGEST_ROW) if cells[i] != cells[0]), LONGEST_ROW)
    return FIRST_ROW + 8 * (cells[0] - 1) + 2 * (length - 1) + (cells[length] == 0)


def side_table(nearest_first: bool) -> np.ndarray:
    """Tabulate the side seen in five bits of Black's line and, above them, five of White's."""
    order = range(5) if nearest_first else range(4, -1, -1)
    return np.array(
        [side_of([word >> i & 1 | (word >> i + 5 & 1) << 1 for i in order]) for word in range(1024)], np.int16
    )


def row_of(side: int, colour: int) -> tuple[int, int]:
    """Return how many stones of a colour a side adds to a row, and whether the row's end there is free."""
    if side < FIRST_ROW:
        return 0, int(side == FREE)
    owner, rest = divmod(side - FIRST_ROW, 8)
    return (rest // 2 + 1, rest % 2) if owner == colour else (0, 0)


def made(behind: int, ahead: int, colour: int) -> tuple[int, int]:
    """Return length and free ends of the group that a stone of a colour between two sides belongs to."""
    (back, back_end), (front, front_end) = row_of(behind, colour), row_of(ahead, colour)
    return 1 + back + front, back_end + front_end


def lost(side: int, colour: int) -> int:
    """Return what a stone of a colour takes from the group at one side, where it fills the group's free end."""
    if side < FIRST_ROW:
        return 0
    owner, rest = divmod(side - FIRST_ROW, 8)
    length, far = rest // 2 + 1, rest % 2
    left = 0 if owner == colour else group_worth(length, far)  # an own group becomes part of the one made
    return (left - group_worth(length, far + 1)) * (1 if owner == BLACK else -1)


def pair_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tabulate by colour and pair of sides: rank as a move, change of the score, whether it makes a five."""
    rank, gain, fives = (np.zeros((2, SIDES * SIDES), np.int32) for _ in range(3))
    for colour in (BLACK, WHITE):
        for pair in range(SIDES * SIDES):
            behind, ahead = divmod(pair, SIDES)
            own, others = (group_worth(*made(behind, ahead, player)) for player in (colour, 1 - colour))
            rank[colour, pair] = own + others // 2
            gain[colour, pair] = lost(behind, colour) + lost(ahead, colour) + (own if colour == BLACK else -own)
            fives[colour, pair] = made(behind, ahead, colour)[0] >= 5
    return rank, gain, fives


AHEAD, BEHIND = side_table(True), side_table(False)
RANK, GAIN, FIVES = pair_tables()
REACH = np.array([1, 0] + [(i // 2 % 4 + 2) * (i % 2) for i in range(16)])  # steps to the nearest free point


# ---- a board that keeps the tables' answers ------------------------------------------------------


@njit(cache=True, nogil=True)
def side_ahead(board: State, point: int, direction: int) -> int:
    """Return the side of a point ahead in a direction."""
    line, shift = board.line[point, direction], uint64(board.shift[point, direction] + 1)
    black, white = board.lines[BLACK, direction, line] >> shift, board.lines[WHITE, direction, line] >> shift
    return int(AHEAD[(black & uint64(31)) | ((white & uint64(31)) << uint64(5))])


@njit(cache=True, nogil=True)
def side_behind(board: State, point: int, direction: int) -> int:
    """Return the side of a point behind it in a direction."""
    line, shift = board.line[point, direction], uint64(board.shift[point, direction] - 5)
    black, white = board.lines[BLACK, direction, line] >> shift, board.lines[WHITE, direction, line] >> shift
    return int(BEHIND[(black & uint64(31)) | ((white & uint64(31)) << uint64(5))])


@njit(cache=True, nogil=True)
def look_again(board: State, point: int, direction: int) -> None:
    """Bring what is kept of a free point up to date in one direction."""
    old = board.pair[point, direction]
    new = SIDES * side_behind(board, point, direction) + side_ahead(board, point, direction)
    board.pair[point, direction] = new
    for colour in range(2):
        board.rank[colour, point] += RANK[colour, new] - RANK[colour, old]
        board.gain[colour, point] += GAIN[colour, new] - GAIN[colour, old]
        board.fives[colour, point] += FIVES[colour, new] - FIVES[colour, old]


@njit(cache=True, nogil=True)
def flip(board: State, colour: int, point: int, sign: int) -> None:
    """Put a stone of a colour on a free point (sign 1), or take the last one away again (sign -1)."""
    flip_bits(board, colour, point)
    board.key ^= key_of(colour, point)
    board.score += sign * board.gain[colour, point]
    for direction in range(DIRECTIONS):
        ahead = REACH[side_ahead(board, point, direction)]
        if ahead > 0:
            look_again(board, point + ahead * board.step[direction], direction)
        behind = REACH[side_behind(board, point, direction)]
        if behind > 0:
            look_again(board, point - behind * board.step[direction], direction)


@njit(cache=True, nogil=True)
def lay(board: State, state: State) -> None:
    """Put the stones of a state of the game on an empty board, with all that is kept of its points."""
    board.key = lay_state(board, state)
    board.score = black_score(state)
    for point in range(state.size * state.size):
        for direction in range(DIRECTIONS):  # an empty board's pair is 0 everywhere, free points at both sides
            if is_free(board, point):
                look_again(board, point, direction)


# ---- the score of a state ------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def shifted(words: np.ndarray, row: int, direction: int, steps: int) -> Word:
    """Return a row of bits as seen some steps back in a direction: bit c stands for the point that many steps ahead."""
    word = uint64(words[row + MARGIN + steps * ROW_STEP[direction]])
    places = steps * COL_STEP[direction]
    return word >> uint64(places) if places >= 0 else word << uint64(-places)


@njit(cache=True, nogil=True)
def groups_score(stones: np.ndarray, free: np.ndarray, row: int, direction: int) -> int:
    """Add up the worth of the groups of one colour that begin in a row."""
    row_so_far = shifted(stones, row, direction, 0) & ~shifted(stones, row, direction, -1)
    before = shifted(free, row, direction, -1)
    score = 0
    for length in range(1, 5):
        after = shifted(stones, row, direction, length)
        if length > 1:
            ended, behind = row_so_far & ~after, shifted(free, row, direction, length)
            both, one = popcount(ended & before & behind), popcount(ended & (before ^ behind))
            score += both * TWO_ENDS[length] + one * ONE_END[length]
        row_so_far &= after
    return score + FIVE * popcount(row_so_far)


TWO_ENDS = np.array([group_worth(length, 2) for length in range(5)])
ONE_END = np.array([group_worth(length, 1) for length in range(5)])


@njit(cache=True, nogil=True)
def black_score(state: State) -> int:
    """Return the score of a state of the game, positive for Black, as if the game went on."""
    free = np.zeros(LARGEST + 2 * MARGIN, np.uint64)
    on_board = ((uint64(1) << uint64(state.size)) - uint64(1)) << uint64(MARGIN)
    for row in range(MARGIN, MARGIN + state.size):
        free[row] = on_board & ~uint64(state.stones[BLACK, row] | state.stones[WHITE, row])
    score = 0
    for direction in range(DIRECTIONS):
        for row in range(state.size):
            score += groups_score(state.stones[BLACK], free, row, direction)
            score -= groups_score(state.stones[WHITE], free, row, direction)
    return score


@njit(cache=True, nogil=True)
def evaluate(state: State) -> float:
    """Judge a state of the game from its mover's side, in [-1, 1], by its groups, as if longer rows won too.

    A game that is over has its result. While the stones of an opening are laid, nobody has a colour: the value is 0.
    """
    if over(state):
        return float(payoff(state, mover(state)))
    if state.phase != PLAY:
        return 0.0
    score = black_score(state)
    return math.tanh((score if state.colour == BLACK else -score) / SCALE)
