"""The search behind the Domineering solver: who wins, by trying everything that counting does not decide.

A win/loss search with an explicit stack, in slices. On entering a position its moves are made one after the other and
the result is surveyed: if a move leads to a position that is won by counting, nothing else matters; moves into lost
ones are dropped. The table is asked about the rest before the first of them is searched. Moves are tried in order of

    possible moves, mine minus the other's, plus four times the same for safe dominoes

after the move, moves that won on this level lately before their equals, and the table's move first.
A free move is spent only when all else fails: a whole number of moves does not change while the rest is played out.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit

from rookery.games.bits import highest_bit, lowest_bit
from rookery.search.solve.domineering_bounds import margin, mobility, safe_dominoes, survey, survey_again
from rookery.search.solve.domineering_levels import NO_MOVE, PASS, Level, claimed, flipped, found, make, named

DEPTH, RESULT, NODES, BEST, STARTER = 0, 1, 2, 3, 4  # entries of `place`
UNDECIDED, LOST, WON = -1, 0, 1
SAFE_SCORE, KILLER_SCORE, TABLE_SCORE = 4, 3, 100_000


@njit(cache=True, nogil=True)
def add_move(level: Level, move: int, score: int) -> None:
    """Put a move into the list, the best first."""
    i = level.count
    while i > 0 and level.scores[i - 1] < score:
        level.moves[i], level.scores[i] = level.moves[i - 1], level.scores[i - 1]
        i -= 1
    level.moves[i], level.scores[i] = move, score
    level.count += 1


@njit(cache=True, nogil=True)
def toggle(level: Level, mover: int, line: int, place: int) -> None:
    """Lay a domino of the mover in both views, or take it up again; hashes are left alone."""
    level.lines[mover, line] ^= 1 << place
    level.lines[mover, line + 1] ^= 1 << place
    level.lines[1 - mover, place] ^= 3 << line


@njit(cache=True, nogil=True)
def bonus(level: Level, move: int, known: int) -> int:
    """Return what a move's past adds to its score."""
    if move == known:
        return TABLE_SCORE
    if move == level.killers[0]:
        return KILLER_SCORE
    return KILLER_SCORE // 2 if move == level.killers[1] else 0


@njit(cache=True, nogil=True)
def decided(level: Level, shape: np.ndarray, mover: int, trails: np.ndarray) -> int:
    """Decide a position for its mover by counting, if possible.

    As a move it has been surveyed from the first line on, in vain; from the last line on other units are found.
    """
    ahead = level.free if mover == 0 else -level.free
    first, second = survey(level.lines[mover], shape[mover], -1, trails[mover])
    if margin(first, second, 1) + 2 * ahead > 0:
        return WON
    first, second = survey(level.lines[1 - mover], shape[1 - mover], -1, trails[1 - mover])
    if margin(first, second, 0) - 2 * ahead > -2:
        return LOST
    return UNDECIDED


@njit(cache=True, nogil=True)
def list_moves(level: Level, shape: np.ndarray, mover: int, known: int, trails: np.ndarray) -> int:
    """List the moves that counting leaves undecided; return a move that wins by counting, or NO_MOVE."""
    other, ahead = 1 - mover, level.free if mover == 0 else -level.free
    level.count = level.tried = 0
    for view in range(2):
        survey(level.lines[view], shape[view], 1, trails[view])
    for line in range(shape[mover] - 1):
        places = int64(level.lines[mover, line] & level.lines[mover, line + 1])
        while places != 0:
            place, move = lowest_bit(places), 16 * line + lowest_bit(places)
            places &= places - 1
            toggle(level, mover, line, place)
            mine = survey_again(level.lines[mover], shape[mover], line, line + 1, trails[mover])
            theirs = survey_again(level.lines[other], shape[other], place, place, trails[other])
            toggle(level, mover, line, place)
            if margin(mine[0], mine[1], 0) + 2 * ahead > -2:
                return move
            if margin(theirs[0], theirs[1], 1) - 2 * ahead <= 0:
                score = mobility(mine[1]) + SAFE_SCORE * (safe_dominoes(mine[0]) - safe_dominoes(theirs[0]))
                add_move(level, move, score + bonus(level, move, known))
    if ahead > 0:
        add_move(level, PASS, -TABLE_SCORE)
    return NO_MOVE


@njit(cache=True, nogil=True)
def ask_table(levels: np.ndarray, k: int, shape: np.ndarray, words: np.ndarray, table: np.ndarray, mover: int) -> int:
    """Drop the listed moves that the table knows to lose; return one it knows to win, or NO_MOVE."""
    level, kept = levels[k], 0
    for i in range(level.count):
        move = level.moves[i]
        make(levels, k, move, mover, shape, words)
        _, index, check = named(levels[k + 1], shape, 1 - mover)
        entry = found(table, index, check)
        if entry >= 0:
            ahead = levels[k + 1].free if mover == 1 else -levels[k + 1].free
            if ahead <= table[entry].lost:
                return int(move)
            if ahead >= table[entry].won:
                continue
        level.moves[kept] = move
        kept += 1
    level.count = kept
    return NO_MOVE


@njit(cache=True, nogil=True)
def enter(
    levels: np.ndarray, k: int, shape: np.ndarray, words: np.ndarray, table: np.ndarray, trails: np.ndarray,
    place: np.ndarray,
) -> int:  # fmt: skip
    """Look at the position on a level: decide it for its mover if that is easy, else list its moves."""
    mover = (place[STARTER] + k) & 1
    place[NODES] += 1
    level = levels[k]
    level.begun = place[NODES]
    ahead = level.free if mover == 0 else -level.free
    flip, index, check = named(level, shape, mover)
    entry, known = found(table, index, check), NO_MOVE
    if entry >= 0:
        if k > 0 and ahead >= table[entry].won:
            return WON
        if k > 0 and ahead <= table[entry].lost:
            return LOST
        known = flipped(table[entry].move, flip, shape, mover)
    result = decided(level, shape, mover, trails) if k > 0 else UNDECIDED  # of the first position a move is wanted
    if result != UNDECIDED:
        return result
    best = list_moves(level, shape, mover, known, trails)
    if best == NO_MOVE:
        best = ask_table(levels, k, shape, words, table, mover)
    if best != NO_MOVE:
        if k == 0:
            place[BEST] = best
        return WON
    return UNDECIDED if level.count > 0 else LOST


@njit(cache=True, nogil=True)
def store(levels: np.ndarray, k: int, shape: np.ndarray, table: np.ndarray, place: np.ndarray, won: bool) -> None:
    """Enter a result into the table, and the move that won into the killers."""
    mover, level = (place[STARTER] + k) & 1, levels[k]
    ahead = level.free if mover == 0 else -level.free
    work = highest_bit(place[NODES] - level.begun + 1) + 1
    flip, index, check = named(level, shape, mover)
    entry = claimed(table, index, check, work)
    table[entry].work = max(table[entry].work, work)
    if not won:
        table[entry].lost = max(table[entry].lost, ahead)
        return
    move = level.moves[level.tried - 1]
    table[entry].won = min(table[entry].won, ahead)
    table[entry].move = flipped(move, flip, shape, mover)
    if move != level.killers[0]:
        level.killers[1], level.killers[0] = level.killers[0], move
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
    words   [16, 16, 2]  of the hash
    table   [T]      results, an even number of entries, a power of two
    trails  [2, LINES, TRAIL]  of the last surveys, by view
    place   [5]      depth, result of the position there, nodes so far, best first move, seat that starts
    """
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
        move = levels[k].moves[levels[k].tried]
        levels[k].tried += 1
        make(levels, k, move, (place[STARTER] + k) & 1, shape, words)
        place[DEPTH] = k + 1
        place[RESULT] = enter(levels, k + 1, shape, words, table, trails, place)
    return False
