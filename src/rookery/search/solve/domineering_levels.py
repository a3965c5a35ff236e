"""Positions of Domineering as the solver keeps them, and its table of results.

A level of the search holds one position: its open squares in both players' views (see `domineering_bounds`), and the
*free* moves, Vertical's minus Horizontal's. A column of open squares none of which Horizontal can cover is worth a
whole number of moves to Vertical, whatever happens elsewhere; it is taken off the board and counted as free. So are
Horizontal's, and squares nobody can use. Positions that differ only in these become one.

A position is hashed in the mover's view, once for each of the four flips, and the smallest of the four names it. On a
square board both players share a view, so a position and its transpose with the other player to move are one as well.
What the table knows of a position is two numbers: the mover wins if he has at least `won` free moves more, and loses
with at most `lost`. A free move never hurts its owner, so one entry serves all numbers of free moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit, uint64

from rookery.games.bits import Word, lowest_bit
from rookery.games.rng import random_bits

Level = Any  # one record of LEVEL; Any, because Numba types it by the dtype
LINES = 17  # sixteen, and an empty one behind the last
MOST_MOVES = 256
PASS = MOST_MOVES  # spend a free move; other moves are 16 * line + place, in the mover's view
NO_MOVE = -1
NEVER = 1_000  # more free moves than there can be
FLIPS = 4  # flip 1 reverses the lines, 2 the places, 3 both
HASHES = 2 * FLIPS * 2

LEVEL = np.dtype(
    [
        ("hashes", np.uint64, (HASHES,)),  # by view and flip: where to look in the table, and what to find there
        ("begun", np.int64),  # nodes before this one
        ("lines", np.int32, (2, LINES)),
        ("free", np.int32),
        ("count", np.int32),  # moves to try
        ("tried", np.int32),
        ("killer", np.int32),  # the move that last won here by counting
        ("moves", np.int32, (MOST_MOVES + 1,)),  # with their scores, see `domineering_search.listed`
    ],
    align=True,
)
ENTRY = np.dtype(
    [("check", np.uint64), ("won", np.int16), ("lost", np.int16), ("move", np.int16), ("work", np.int16)], align=True
)


@njit(cache=True, nogil=True)
def fill_words(words: np.ndarray, shape: np.ndarray) -> None:
    """Write the random words of the hashes, [row, column, HASHES]: for each square what its cover adds to each."""
    for row in range(shape[0]):
        for col in range(shape[1]):
            for view in range(2):
                line, place = (row, col) if view == 0 else (col, row)
                for flip in range(FLIPS):
                    i = shape[view] - 1 - line if flip & 1 else line
                    j = shape[1 - view] - 1 - place if flip & 2 else place
                    for part in range(2):
                        words[row, col, 2 * (FLIPS * view + flip) + part] = random_bits(0, 16 * i + j, part)


@njit(cache=True, nogil=True)
def cover(level: Level, words: np.ndarray, view: int, line: int, place: int) -> None:
    """Cover an open square, given in one view, in both views and in all hashes."""
    level.lines[view, line] &= ~(1 << place)
    level.lines[1 - view, place] &= ~(1 << line)
    row, col = (line, place) if view == 0 else (place, line)
    for i in range(HASHES):
        level.hashes[i] ^= words[row, col, i]


@njit(cache=True, nogil=True)
def run_length(lines: np.ndarray, count: int, line: int, place: int) -> int:
    """Return how many lines from `line` on are open at a place; 0 if the other can cover one of these squares."""
    length = 0
    while line + length < count and (lines[line + length] >> place) & 1:
        if (lines[line + length] >> (place + 1)) & 1 or (place > 0 and (lines[line + length] >> (place - 1)) & 1):
            return 0
        length += 1
    return length


@njit(cache=True, nogil=True)
def settle(level: Level, shape: np.ndarray, words: np.ndarray) -> None:
    """Take off the board what is worth a whole number of moves to one player, and count it as free."""
    for view in range(2):
        above = 0
        for line in range(shape[view]):
            places = int64(level.lines[view, line])
            starts = places & ~above & ~(places << 1) & ~(places >> 1)
            above = places
            while starts != 0:
                place = lowest_bit(starts)
                starts &= starts - 1
                length = run_length(level.lines[view], shape[view], line, place)
                level.free += (length >> 1) if view == 0 else -(length >> 1)
                for i in range(length):
                    cover(level, words, view, line + i, place)


@njit(cache=True, nogil=True)
def make(levels: np.ndarray, k: int, move: int, mover: int, shape: np.ndarray, words: np.ndarray) -> None:
    """Set level k + 1 to the position after a move on level k."""
    level, after = levels[k], levels[k + 1]
    for view in range(2):
        for line in range(shape[view]):
            after.lines[view, line] = level.lines[view, line]
    for i in range(HASHES):
        after.hashes[i] = level.hashes[i]
    after.free = level.free
    if move == PASS:
        after.free += -1 if mover == 0 else 1
        return
    for step in range(2):
        cover(after, words, mover, (move >> 4) + step, move & 15)
    settle(after, shape, words)


@njit(cache=True, nogil=True)
def named(level: Level, shape: np.ndarray, mover: int) -> tuple[int, Word, Word]:
    """Return the flip that names a position, and the two words of its name."""
    first, flip = 2 * FLIPS * mover, 0
    for other in range(1, FLIPS):
        if level.hashes[first + 2 * other] < level.hashes[first + 2 * flip]:
            flip = other
    seat = uint64(mover if shape[0] != shape[1] else 0)
    side = seat * uint64(0x9E3779B97F4A7C15)
    return flip, level.hashes[first + 2 * flip] ^ side, level.hashes[first + 2 * flip + 1] ^ side


@njit(cache=True, nogil=True)
def flipped(move: int, flip: int, shape: np.ndarray, mover: int) -> int:
    """Return a move as it is seen after a flip; again flipped it is itself."""
    if move in (PASS, NO_MOVE):
        return move
    line, place = move >> 4, move & 15
    if flip & 1:
        line = shape[mover] - 2 - line
    if flip & 2:
        place = shape[1 - mover] - 1 - place
    return int(16 * line + place)


@njit(cache=True, nogil=True)
def found(table: np.ndarray, index: Word, check: Word) -> int:
    """Return the number of the entry of a position, or -1. A position has two places to be."""
    first = int64(index & uint64(table.shape[0] - 2))
    for i in range(first, first + 2):
        if table[i].check == check and table[i].work > 0:
            return i
    return -1


@njit(cache=True, nogil=True)
def claimed(table: np.ndarray, index: Word, check: Word, work: int) -> int:
    """Return the entry of a position; a new one takes the first place from a smaller result, else the second."""
    entry = found(table, index, check)
    if entry >= 0:
        return entry
    entry = int64(index & uint64(table.shape[0] - 2))
    if table[entry].work > work:
        entry += 1
    table[entry].check = check
    table[entry].won, table[entry].lost = NEVER, -NEVER
    table[entry].move, table[entry].work = NO_MOVE, 0
    return int(entry)
