"""What a stone on each free point of a Gomoku board would make: the eyes of the advanced player. Freestyle.

In one direction a stone makes one of eight patterns, told by the four points at each side of it:

    FIVE        five stones in a row
    OPEN_FOUR   two points would each make a five       FOUR   one point would
    OPEN_THREE  a further stone makes an open four      THREE  a further stone makes a four
    OPEN_TWO    a further stone makes an open three     TWO    a further stone makes a three

Stones need not touch. The patterns of the four directions together are the point's shape, 3 bits each; a shape has a
rank, which says what kind of threat it is, and a weight in the score of a position. Both are kept up to date as stones
come and go: a stone changes one direction of the at most 32 free points that are near it in a line.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, lowest_bit
from rookery.games.gomoku_board import BLACK, DIRECTIONS, WHITE
from rookery.games.rules import State
from rookery.search.gomoku_lines import POINTS, flip_bits, is_free, key_of, lay_state

NOTHING, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(8)
(
    IS_QUIET,
    IS_THREE,
    IS_OPEN_THREE,
    IS_TWO_THREES,  # open threes in two directions
    IS_FOUR,
    IS_FOUR_AND_THREE,  # a four and an open three
    IS_DOUBLE,  # an open four, or fours in two directions: wins unless the other side makes a five
    IS_FIVE,
) = range(8)
WEIGHTS = np.array([0, 1, 3, 4, 12, 16, 60, 100])  # of a pattern, in the score of a position
CROSSING = {IS_TWO_THREES: 25, IS_FOUR_AND_THREE: 40}
URGENCY = np.array([0, 2, 8, 10, 40, 60, 400, 2000])  # of a pattern, in the order of moves
CHANGES = 8 * DIRECTIONS  # of shapes by a stone, at most
SHAPE_BITS = 3 * DIRECTIONS
SHAPES = 1 << SHAPE_BITS
LOWEST_COUNTED = IS_TWO_THREES
COUNT_BITS = 9  # of a count of points
WEIGHT_SHIFT = COUNT_BITS * (IS_FIVE + 1 - LOWEST_COUNTED)
MIDDLE = uint64(4)
NEAR = uint64(0x1FF)

BOARD: tuple[Any, ...] = (
    ("shapes", np.int32, (POINTS,)),  # black's shape in the lower half, white's in the upper one
    ("sums", np.uint64, (2,)),  # over all free points: how many have each of the five highest ranks, and the weight
    ("key", np.uint64),
)
LOG: tuple[Any, ...] = (  # what `take` needs of the board before a stone was put
    ("changes", np.int32),
    ("log", np.int64, (CHANGES,)),  # a point whose shapes have changed, and the shapes it had
    ("old_sums", np.uint64, (2,)),
)


# ---- tables --------------------------------------------------------------------------------------


def pattern_table() -> np.ndarray:
    """Tabulate what a stone makes in one direction.

    The index holds the eight nearest points, own stones in the upper byte, the other colour's in the lower one; an edge
    is a stone of both.
    """
    words = np.arange(1 << 16)
    stones, free = words >> 8 & ~words & 255, ~(words >> 8 | words) & 255
    row, room = with_middle(stones) | 16, with_middle(free)
    windows = [31 << first for first in range(5)]
    completions = np.zeros(1 << 16, np.int64)
    for place in range(9):
        point = 1 << place
        completions += np.any([window & ~row == point for window in windows], 0) & (room & point > 0)
    table = np.choose(np.minimum(completions, 2), [NOTHING, FOUR, OPEN_FOUR])
    table[np.any([row & window == window for window in windows], 0)] = FIVE
    for half_open in (THREE, TWO):  # each made by one stone less than what comes two numbers after
        found = np.zeros(1 << 16, np.int64)
        for place in range(8):
            after = table[words | 256 << place] - 2
            better = (free >> place & 1 > 0) & ((after == half_open) | (after == half_open + 1))
            found = np.where(better, np.maximum(found, after), found)
        table = np.where(table == NOTHING, found, table)
    return table.astype(np.uint8)


def with_middle(bits: np.ndarray) -> np.ndarray:
    """Make room for the point itself between four bits and four."""
    return bits & 15 | (bits & 240) << 1


def rank_of(patterns: tuple[int, ...]) -> int:
    """Return the kind of threat that four patterns make together."""
    fours, threes = patterns.count(FOUR), patterns.count(OPEN_THREE)
    if FIVE in patterns:
        return IS_FIVE
    if OPEN_FOUR in patterns or fours > 1:
        return IS_DOUBLE
    if fours:
        return IS_FOUR_AND_THREE if threes else IS_FOUR
    if threes:
        return IS_TWO_THREES if threes > 1 else IS_OPEN_THREE
    return IS_THREE if THREE in patterns else IS_QUIET


def share_of_sums(patterns: tuple[int, ...]) -> int:
    """Return what a free point adds to the sums: one to the count of its rank, and its weight above all counts."""
    rank = rank_of(patterns)
    weight = int(WEIGHTS[list(patterns)].sum()) + CROSSING.get(rank, 0)
    return weight << WEIGHT_SHIFT | (1 << COUNT_BITS * (rank - LOWEST_COUNTED) if rank >= LOWEST_COUNTED else 0)


PATTERNS = pattern_table()
BOTH = PATTERNS | PATTERNS.reshape(256, 256).T.ravel() << 3  # by black and white stones: black's pattern, and white's
ALL_SHAPES = [patterns[::-1] for patterns in product(range(8), repeat=DIRECTIONS)]
RANK = np.array([rank_of(patterns) for patterns in ALL_SHAPES], np.int8)
ORDER = np.array(
    [URGENCY[list(patterns)].sum() + 2 * CROSSING.get(rank_of(patterns), 0) for patterns in ALL_SHAPES], np.int16
)
SUMMED = np.array([share_of_sums(patterns) for patterns in ALL_SHAPES], np.uint64)


# ---- a board that keeps the shapes ---------------------------------------------------------------


@njit(cache=True, nogil=True)
def nearest(line: Word, bit: int) -> Word:
    """Return the four bits at each side of a bit of a line, without the bit itself."""
    window = line >> (uint64(bit) - MIDDLE)
    return (window & uint64(15)) | ((window >> uint64(1)) & uint64(240))


@njit(cache=True, nogil=True)
def shape_of(shapes: int, colour: int) -> int:
    """Return a colour's shape out of both."""
    return (shapes >> SHAPE_BITS * colour) & (SHAPES - 1)


@njit(cache=True, nogil=True)
def count_of(board: State, colour: int, rank: int) -> int:
    """Return how many free points have a rank, LOWEST_COUNTED or above."""
    return int((board.sums[colour] >> uint64(COUNT_BITS * (rank - LOWEST_COUNTED))) & uint64((1 << COUNT_BITS) - 1))


@njit(cache=True, nogil=True)
def weight_of(board: State, colour: int) -> int:
    """Return the weight of all free points."""
    return int(board.sums[colour] >> uint64(WEIGHT_SHIFT))


@njit(cache=True, nogil=True)
def recount(board: State, old: int, new: int) -> None:
    """Count a free point with new shapes instead of old ones; shapes 0 count as no point."""
    for colour in range(2):
        board.sums[colour] += SUMMED[shape_of(new, colour)] - SUMMED[shape_of(old, colour)]


@njit(cache=True, nogil=True)
def spread_both(both: int, direction: int) -> int:
    """Return the patterns of a direction, as `BOTH` has them, at their places in both shapes."""
    return ((both & 7) | ((both >> 3) << SHAPE_BITS)) << 3 * direction


@njit(cache=True, nogil=True)
def look_again(board: State, point: int, direction: int, frame: State) -> None:
    """Bring the free points near a point up to date in one direction, and note the shapes they had."""
    line, middle = board.line[point, direction], board.shift[point, direction]
    black, white = board.lines[BLACK, direction, line], board.lines[WHITE, direction, line]
    free = (~(black | white) >> (uint64(middle) - MIDDLE)) & NEAR & ~(uint64(1) << MIDDLE)
    while free:
        steps = lowest_bit(free) - 4
        free &= free - uint64(1)
        other = point + steps * board.step[direction]
        both = BOTH[(nearest(black, middle + steps) << uint64(8)) | nearest(white, middle + steps)]
        old = board.shapes[other]
        new = (old & ~spread_both(63, direction)) | spread_both(both, direction)
        if new != old:
            frame.log[frame.changes] = (other << 2 * SHAPE_BITS) | old
            frame.changes += 1
            board.shapes[other] = new
            recount(board, old, new)


@njit(cache=True, nogil=True)
def put(board: State, colour: int, point: int, frame: State) -> None:
    """Put a stone on a free point.

    The frame is any record with the fields of LOG, which are written; an array would take long, for its users are
    counted.
    """
    for side in range(2):
        frame.old_sums[side] = board.sums[side]
    frame.changes = 0
    recount(board, board.shapes[point], 0)
    flip_bits(board, colour, point)
    board.key ^= key_of(colour, point)
    for direction in range(DIRECTIONS):
        look_again(board, point, direction, frame)


@njit(cache=True, nogil=True)
def take(board: State, colour: int, point: int, frame: State) -> None:
    """Take the last stone away again, by what was noted; the shapes its point had are still kept."""
    flip_bits(board, colour, point)
    board.key ^= key_of(colour, point)
    for i in range(frame.changes):  # a point may change in one direction only, so in any order
        board.shapes[frame.log[i] >> 2 * SHAPE_BITS] = frame.log[i] & ((1 << 2 * SHAPE_BITS) - 1)
    for side in range(2):
        board.sums[side] = frame.old_sums[side]


@njit(cache=True, nogil=True)
def lay(board: State, state: State) -> None:
    """Put the stones of a state of the game on an empty board, and find the shapes of its points."""
    board.key = lay_state(board, state)
    for point in range(state.size * state.size):
        if not is_free(board, point):
            continue
        shapes = 0
        for direction in range(DIRECTIONS):
            line, bit = board.line[point, direction], board.shift[point, direction]
            black = nearest(board.lines[BLACK, direction, line], bit)
            white = nearest(board.lines[WHITE, direction, line], bit)
            shapes |= spread_both(BOTH[(black << uint64(8)) | white], direction)
        board.shapes[point] = shapes
        recount(board, 0, shapes)
