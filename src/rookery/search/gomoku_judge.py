"""How the advanced player of Gomoku judges a position before its moves are searched, and what it keeps of one after.

What a stone would make on every point is known at any time (`gomoku_patterns`), so threats are counted, not searched:

    a five to make                     is a win
    two fives to stop                  is a loss; one leaves a single move, which costs no depth
    an open four to make               is a win, if there is no five to stop
    an open four of the other side     leaves the points where that side would make a four, and own fours

The last list holds everything that can help: whoever stops an open four must take a point of one of its fives, and
those are points where a four is made. Where the side to move has fours, a search for a win by continuous fours
(`gomoku_vcf`) of a few nodes comes first, unless the position is good enough without. A position at the full depth is
worth the weights of both sides' free points, and a bonus for the side to move; a single open three of the other side is
not played out, for it nearly always costs the move that answers it and no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uint64

from rookery.games.rng import hashed
from rookery.games.rules import State
from rookery.search import gomoku_vcf as fours
from rookery.search.gomoku_patterns import (
    IS_DOUBLE,
    IS_FIVE,
    IS_FOUR,
    IS_FOUR_AND_THREE,
    IS_TWO_THREES,
    count_of,
    weight_of,
)

WIN, SURE, MOST = 30_000, 29_000, 32_000  # a win is WIN less the plies to the five; beyond SURE all are wins
TEMPO, CLEAR_LEAD, LEAD = 110, 250, 120
TO_ANSWER = 35  # what a single open three costs the side that must answer it, as found by playing it out
SHALLOW = 3  # plies to go from which on positions far outside the window are not searched
MARGIN, HOPE = 130, 130  # how far above and below the window that is, for each of those plies
EXACT, AT_LEAST, AT_MOST = 1, 2, 3
# What `place` holds, see `gomoku_advanced.search_on`.
LEVEL, NODES, WORK, DONE, DEPTH, REACHED, BEST, SCORE, LENGTH, LOWEST = range(10)
PLIES = 90
EXTENSION = 2  # plies beyond the depth in which threats that one stone may not stop are still answered
LEAF_FOURS, INNER_FOURS = 10, 40  # nodes of a search for fours

ENTRY = np.dtype(
    [("key", np.uint64), ("value", np.int32), ("move", np.int16), ("depth", np.int8), ("bound", np.int8)], align=True
)
Tools = Any  # (threats [1], path, place, failed) of the search for fours, history [2, POINTS], table, stop [1], line


# ---- judging a position --------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def still_score(board: State, colour: int) -> int:
    """Judge a position without looking ahead, from the side of the colour to move."""
    other = 1 - colour
    score = weight_of(board, colour) - weight_of(board, other) + TEMPO
    threatened = count_of(board, other, IS_DOUBLE) > 0
    if threatened:
        score -= CLEAR_LEAD if is_pressed(board, colour) else TO_ANSWER
    if count_of(board, colour, IS_FOUR_AND_THREE) > 0:
        score += CLEAR_LEAD
    elif count_of(board, colour, IS_TWO_THREES) > 0 and not threatened and count_fours(board, other) == 0:
        score += LEAD
    return int(score)


@njit(cache=True, nogil=True)
def is_pressed(board: State, colour: int) -> bool:
    """Tell whether the other side may threaten more than one stone can stop: an open four, and something else.

    A single open three has no more than two points that make an open four of it.
    """
    doubles = count_of(board, 1 - colour, IS_DOUBLE)
    return doubles > 2 or (doubles > 0 and count_of(board, 1 - colour, IS_FOUR_AND_THREE) > 0)


@njit(cache=True, nogil=True)
def plies_to_win_by_fours(board: State, tools: Tools, colour: int, most: int, place: np.ndarray) -> int:
    """Search for a win by continuous fours in so many nodes; return its plies, 0 if none was found."""
    threats, path, four_place, failed, stop = tools[0][0], tools[1], tools[2], tools[3], tools[6]
    key = board.key ^ hashed(uint64(colour))
    if failed[key & uint64(failed.shape[0] - 1)] == key:
        return 0
    fours.begin(board, threats, colour, board.key, path, four_place, 0, 1)
    status = fours.solve(board, threats, path, four_place, failed, most, stop, 0, 1)
    place[WORK] += four_place[fours.NODES] + 2  # setting up costs about as much as two nodes
    if status == fours.WON:
        return int(2 * four_place[fours.LEVEL] + 3)
    failed[key & uint64(failed.shape[0] - 1)] = key  # even if only the nodes ran out: once is enough
    return 0


@njit(cache=True, nogil=True)
def count_fours(board: State, colour: int) -> int:
    """Count the points that make a four, but no more, of a colour."""
    return int(count_of(board, colour, IS_FOUR) + count_of(board, colour, IS_FOUR_AND_THREE))


@njit(cache=True, nogil=True)
def decided(board: State, colour: int, level: int, free: int) -> tuple[bool, int]:
    """Tell whether the threats on the board decide it for the side to move, and its value then."""
    fives_to_stop = count_of(board, 1 - colour, IS_FIVE)
    if count_of(board, colour, IS_FIVE) > 0:
        return True, WIN - level - 1
    if fives_to_stop > 1:
        return True, level + 2 - WIN
    if free == 0:
        return True, 0
    if fives_to_stop == 0 and count_of(board, colour, IS_DOUBLE) > 0:
        return True, WIN - level - 3
    return False, 0


@njit(cache=True, nogil=True)
def judge(
    board: State, tools: Tools, place: np.ndarray, colour: int, level: int, frame: State, free: int
) -> tuple[bool, int]:
    """Tell whether the value of a position is known without searching its moves, and the value.

    The frame holds depth and window; a position whose moves are forced is given the depth to search them.
    """
    known, value = decided(board, colour, level, free)
    if known:
        return True, value
    if level >= PLIES - 1:
        return True, still_score(board, colour)
    entry = tools[5][board.key & uint64(tools[5].shape[0] - 1)]
    if entry.key == board.key and entry.bound > 0 and entry.depth >= frame.depth:
        value = from_table(entry.value, level)
        if entry.bound == EXACT or (value >= frame.beta if entry.bound == AT_LEAST else value <= frame.alpha):
            return True, value
    if count_of(board, 1 - colour, IS_FIVE) > 0:
        return False, 0
    score = still_score(board, colour)
    if is_enough(board, colour, frame, score):
        return True, score
    if count_fours(board, colour) > 1:
        most = INNER_FOURS if frame.depth > 1 else LEAF_FOURS
        plies = plies_to_win_by_fours(board, tools, colour, most, place)
        if plies > 0:
            return True, WIN - level - plies
    if is_hopeless(board, colour, frame, score):
        return True, score
    if is_pressed(board, colour) and level < place[DEPTH] + EXTENSION:
        frame.depth = max(frame.depth, 1)
    return frame.depth <= 0, score


@njit(cache=True, nogil=True)
def is_enough(board: State, colour: int, frame: State, score: int) -> bool:
    """Tell whether a score is above the window and likely to stay there, so that nothing better need be looked for."""
    if frame.depth <= 0:
        return bool(score >= frame.beta and not is_pressed(board, colour))
    if frame.depth > SHALLOW or frame.beta - frame.alpha > 1 or score - MARGIN * frame.depth < frame.beta:
        return False
    return count_of(board, 1 - colour, IS_DOUBLE) + count_of(board, 1 - colour, IS_FOUR_AND_THREE) == 0


@njit(cache=True, nogil=True)
def is_hopeless(board: State, colour: int, frame: State, score: int) -> bool:
    """Tell whether a score is so far below the window that moves which threaten nothing will not bring it there."""
    if frame.depth > SHALLOW or frame.beta - frame.alpha > 1:
        return False
    return count_fours(board, colour) == 0 and score + HOPE * max(1, frame.depth) <= frame.alpha


# ---- the table -----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def from_table(value: int, level: int) -> int:
    """Count the plies of a win from the root; the table counts them from the position."""
    return value - level if value > SURE else value + level if value < -SURE else value


@njit(cache=True, nogil=True)
def store(entry: State, key: Any, frame: State, level: int) -> None:
    """Keep what a position whose moves are done is worth."""
    best = frame.best
    entry.key, entry.depth, entry.move = key, frame.depth, frame.best_move
    entry.value = best + level if best > SURE else best - level if best < -SURE else best
    entry.bound = AT_MOST if best <= frame.floor else AT_LEAST if best >= frame.beta else EXACT


@njit(cache=True, nogil=True)
def table_move(entry: State, key: Any) -> int:
    """Return the best move of a position that the table knows, -1 if it does not."""
    return int(entry.move) if entry.key == key and entry.bound > 0 else -1
