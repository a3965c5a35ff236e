"""Which moves the advanced player of Gomoku looks at, and in which order."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.games.bits import lowest_bit
from rookery.games.rules import State
from rookery.search.gomoku_lines import free_in_row, insert_move
from rookery.search.gomoku_patterns import IS_DOUBLE, IS_FIVE, IS_FOUR, ORDER, RANK, count_of, shape_of

MOVES = 40  # room for moves; a defence against an open four may need many
WIDE, NARROW, LEAST = 14, 8, 4  # moves looked at where nothing is forced: at depth 5 and more, 2 and more, 1
NO_THREAT, IN_THREAT, IN_DANGER = 0, 1, 2  # of an open four, of a five
FIRST, KILLER, HISTORY = 1 << 20, 30, 40  # added to a move's score; HISTORY at most


@njit(cache=True, nogil=True)
def width_at(depth: int) -> int:
    """Return how many moves are looked at where nothing is forced."""
    return WIDE if depth >= 5 else NARROW if depth >= 2 else LEAST


@njit(cache=True, nogil=True)
def move_score(board: State, colour: int, point: int, first: int, killers: np.ndarray, history: np.ndarray) -> int:
    """Rank a move: what it makes, most of what it takes from the other side, and what is remembered of it."""
    shapes = board.shapes[point]
    score = 4 * ORDER[shape_of(shapes, colour)] + 3 * ORDER[shape_of(shapes, 1 - colour)]
    score += min(history[colour, point], HISTORY)
    if point == first:
        score += FIRST
    elif point == killers[0] or point == killers[1]:
        score += KILLER
    return int(score)


@njit(cache=True, nogil=True)
def is_listed(board: State, colour: int, point: int, threat: int) -> bool:
    """Tell whether a move may help against the threat there is."""
    other = RANK[shape_of(board.shapes[point], 1 - colour)]
    if threat == IN_DANGER:
        return bool(other == IS_FIVE)
    return bool(threat == NO_THREAT or other >= IS_FOUR or RANK[shape_of(board.shapes[point], colour)] >= IS_FOUR)


@njit(cache=True, nogil=True)
def list_moves(
    board: State,
    colour: int,
    near: np.ndarray,
    moves: np.ndarray,
    first: int,
    killers: np.ndarray,
    history: np.ndarray,
    depth: int,
) -> tuple[int, int]:
    """List the moves of a position that is not decided, best first; return how many and which threat there is.

    near     [LARGEST]     rows of points near a stone
    first    move to be searched before all others, -1 for none
    killers  [2]           moves that were good in a sister position
    history  [2, POINTS]   how often a move was good anywhere
    """
    threat = NO_THREAT
    if count_of(board, 1 - colour, IS_FIVE) > 0:
        threat = IN_DANGER
    elif count_of(board, 1 - colour, IS_DOUBLE) > 0:
        threat = IN_THREAT
    width = MOVES if threat != NO_THREAT else width_at(depth)
    count = 0
    for row in range(board.size):
        points = near[row] & free_in_row(board, row)
        while points:
            point = row * board.size + lowest_bit(points)
            points &= points - uint64(1)
            if is_listed(board, colour, point, threat):
                score = move_score(board, colour, point, first, killers, history)
                count = insert_move(moves, count, width, score, point)
    return count, threat
