"""The search behind the Domineering solver: who wins, by trying everything that counting does not decide.

A win/loss search with an explicit stack, in slices. On entering a position it is surveyed: counting may decide it at
once. Else each of its moves is made in turn and what the mover then has for certain is counted: if that wins, nothing
else matters. What the other has is counted when he comes to move, so a position whose first move wins pays for no more
than one. Moves are tried in order of

    safe dominoes, mine minus the other's, plus dominoes that either could lay if he were alone, mine minus the other's

after the move; among equals a domino one place off the edge comes first, since it threatens to make a safe one behind
it. The table's move goes before all. A free move is spent only when all else fails: a whole number of moves does not
change while the rest is played out.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit

from rookery.games.bits import highest_bit, lowest_bit
from rookery.search.borrowed import borrowed
from rookery.search.solve.domineering_bounds import (
    capacity,
    margin,
    other_capacity,
    safe_dominoes,
    survey,
    survey_again,
)
from rookery.search.solve.domineering_levels import NO_MOVE, PASS, Level, claimed, flipped, found, make, named

DEPTH, RESULT, NODES, BEST, STARTER = 0, 1, 2, 3, 4  # entries of `place`
UNDECIDED, LOST, WON = -1, 0, 1
COUNT_SCORE, TABLE_SCORE = 16, 100_000
MOVE_BITS = 9


@njit(cache=True, nogil=True)
def listed(move: int, score: int) -> int:
    """Return a move and its score as one number: the higher the score the greater, among equals the first move."""
    return (score << MOVE_BITS) + (1 << MOVE_BITS) - 1 - move


@njit(cache=True, nogil=True)
def move_of(number: int) -> int:
    """Return the move of a number made by `listed`."""
    return int((1 << MOVE_BITS) - 1 - (number & ((1 << MOVE_BITS) - 1)))


@njit(cache=True, nogil=True)
def next_move(level: Level) -> int:
    """Return the best move that has not been tried, and count it as tried."""
    best = level.tried
    for i in range(best + 1, level.count):
        if level.moves[i] > level.moves[best]:
            best = i
    chosen = level.moves[best]
    level.moves[best] = level.moves[level.tried]
    level.moves[level.tried] = chosen
    level.tried += 1
    return move_of(chosen)


@njit(cache=True, nogil=True)
def survey_move(level: Level, shape: np.ndarray, mover: int, move: int, trail: np.ndarray) -> tuple[int, int]:
    """Survey the mover's lines as they are after a move; the move is taken back."""
    line, domino, lines = move >> 4, 1 << (move & 15), level.lines[mover]
    lines[line] ^= domino
    lines[line + 1] ^= domino
    words = survey_again(lines, shape[mover], line, line + 1, trail)
    lines[line] ^= domino
    lines[line + 1] ^= domino
    return words


@njit(cache=True, nogil=True)
def given(lines: np.ndarray, count: int, line: int, place: int) -> int:
    """Count the safe dominoes that the owner of the lines gives the other by covering a place of two lines.

    The open square on either side of his domino is beyond his reach from then on if what lies behind it is covered.
    """
    dominoes = 0
    for beside, covered, behind in ((line - 1, line, line - 2), (line + 2, line + 1, line + 3)):
        if 0 <= beside < count and (lines[beside] >> place) & 1:
            closed = ~int64(lines[behind]) if 0 <= behind < count else int64(-1)
            safe = int64(lines[beside]) & closed & ~int64(lines[covered])
            dominoes += capacity(safe | ((1 << place) & closed)) - capacity(safe)
    return dominoes


@njit(cache=True, nogil=True)
def standing(shape: np.ndarray, mover: int, move: int) -> int:
    """Return, from 0 to 15, how good a place for a domino is by itself: best one off the edge along the lines."""
    line, place = move >> 4, move & 15
    edge, end = min(place, shape[1 - mover] - 1 - place), min(line, shape[mover] - 2 - line)
    return int(8 * (edge & 1) + 4 * (edge == 1) + 2 * (1 - (end & 1)) + (end == 0))


@njit(cache=True, nogil=True)
def score_move(level: Level, shape: np.ndarray, mover: int, move: int, first: int, second: int) -> int:
    """Score a move, given the words of the survey after it."""
    line, place = move >> 4, move & 15
    across = int64(level.lines[1 - mover, place])
    lost = capacity(across) - capacity(across & ~(3 << line))
    count = safe_dominoes(first) - other_capacity(second) - lost
    count -= given(level.lines[mover], shape[mover], line, place)
    return int(COUNT_SCORE * count + standing(shape, mover, move))


@njit(cache=True, nogil=True)
def decided(level: Level, shape: np.ndarray, mover: int, spare: np.ndarray) -> int:
    """Decide a position for its mover by counting from the last line on, if possible."""
    ahead = level.free if mover == 0 else -level.free
    first, second = survey(level.lines[mover], shape[mover], -1, spare)
    if margin(first, second, 1) + 2 * ahead > 0:
        return WON
    first, second = survey(level.lines[1 - mover], shape[1 - mover], -1, spare)
    if margin(first, second, 0) - 2 * ahead > -2:
        return LOST
    return UNDECIDED


@njit(cache=True, nogil=True)
def can_move(level: Level, mover: int, move: int) -> bool:
    """Tell whether a domino's squares are open."""
    line, place = move >> 4, move & 15
    return bool((level.lines[mover, line] & level.lines[mover, line + 1]) >> place & 1)


@njit(cache=True, nogil=True)
def list_moves(level: Level, shape: np.ndarray, mover: int, known: int, trail: np.ndarray) -> int:
    """List the moves with their scores; return a move after which the mover wins by counting, or NO_MOVE."""
    ahead = level.free if mover == 0 else -level.free
    level.count = level.tried = 0
    if level.killer != NO_MOVE and can_move(level, mover, level.killer):
        first, second = survey_move(level, shape, mover, level.killer, trail)
        if margin(first, second, 0) + 2 * ahead > -2:
            return int(level.killer)
    for line in range(shape[mover] - 1):
        places = int64(level.lines[mover, line] & level.lines[mover, line + 1])
        while places != 0:
            move = 16 * line + lowest_bit(places)
            places &= places - 1
            first, second = survey_move(level, shape, mover, move, trail)
            if margin(first, second, 0) + 2 * ahead > -2:
                level.killer = move
                return move
            score = score_move(level, shape, mover, move, first, second) + (TABLE_SCORE if move == known else 0)
            level.moves[level.count] = listed(move, score)
            level.count += 1
    if ahead > 0:
        level.moves[level.count] = listed(PASS, -TABLE_SCORE)
        level.count += 1
    return NO_MOVE


@njit(cache=True, nogil=True)
def enter(
    levels: np.ndarray, k: int, shape: np.ndarray, table: np.ndarray, trails: np.ndarray, place: np.ndarray
) -> int:
    """Look at the position on a level: decide it for its mover if that is easy, else list its moves.

    The first position is never decided at sight: a move is wanted.
    """
    mover, level = (place[STARTER] + k) & 1, levels[k]
    place[NODES] += 1
    level.begun = place[NODES]
    ahead = level.free if mover == 0 else -level.free
    first, second = survey(level.lines[mover], shape[mover], 1, trails[0])
    if k > 0 and margin(first, second, 1) + 2 * ahead > 0:
        return WON
    flip, index, check = named(level, shape, mover)
    entry, known = found(table, index, check), NO_MOVE
    if entry >= 0:
        if k > 0 and ahead >= table[entry].won:
            return WON
        if k > 0 and ahead <= table[entry].lost:
            return LOST
        known = flipped(table[entry].move, flip, shape, mover)
    result = decided(level, shape, mover, trails[1]) if k > 0 else UNDECIDED
    if result != UNDECIDED:
        return result
    best = list_moves(level, shape, mover, known, trails[0])
    if best != NO_MOVE:
        if k == 0:
            place[BEST] = best
        return WON
    return UNDECIDED if level.count > 0 else LOST


@njit(cache=True, nogil=True)
def store(levels: np.ndarray, k: int, shape: np.ndarray, table: np.ndarray, place: np.ndarray, won: bool) -> None:
    """Enter a result into the table."""
    mover, level = (place[STARTER] + k) & 1, levels[k]
    ahead = level.free if mover == 0 else -level.free
    work = highest_bit(place[NODES] - level.begun + 1) + 1
    flip, index, check = named(level, shape, mover)
    entry = claimed(table, index, check, work)
    table[entry].work = max(table[entry].work, work)
    if not won:
        table[entry].lost = max(table[entry].lost, ahead)
        return
    move = move_of(level.moves[level.tried - 1])
    table[entry].won = min(table[entry].won, ahead)
    table[entry].move = flipped(move, flip, shape, mover)
    if k == 0:
        place[BEST] = move


@njit(cache=True, nogil=True)
def walk(
    levels: np.ndarray, shape: np.ndarray, words: np.ndarray, table: np.ndarray, trails: np.ndarray,
    place: np.ndarray, budget: int,
) -> bool:  # fmt: skip
    """Go on searching for at most `budget` steps; return whether the first position is decided.

    levels  [D]      the positions from the first one to where the search is
    shape   [2]      lines in either view: rows, columns
    words   [rows, columns, HASHES]  what each square adds to the hashes
    table   [T]      results, an even number of entries, a power of two
    trails  [2, LINES, TRAIL]  of the last survey of the mover's lines, and room for another
    place   [5]      depth, result of the position there, nodes so far, best first move, seat that starts
    """
    levels, shape, words = borrowed(levels), borrowed(shape), borrowed(words)
    table, trails, place = borrowed(table), borrowed(trails), borrowed(place)
    for _ in range(budget):
        k = place[DEPTH]
        if place[RESULT] != UNDECIDED:
            if k == 0:
                return True
            k -= 1
            place[DEPTH] = k
            if place[RESULT] == LOST:
                store(levels, k, shape, table, place, True)
                place[RESULT] = WON
                continue
            place[RESULT] = UNDECIDED
        if levels[k].tried == levels[k].count:
            store(levels, k, shape, table, place, False)
            place[RESULT] = LOST
            continue
        make(levels, k, next_move(levels[k]), (place[STARTER] + k) & 1, shape, words)
        place[DEPTH] = k + 1
        place[RESULT] = enter(levels, k + 1, shape, table, trails, place)
    return False
