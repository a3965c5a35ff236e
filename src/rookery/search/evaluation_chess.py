"""Chess: material and where it stands.

Worths are in hundredths of a pawn. Each man counts its kind and a little for its square, by simple rules rather than
by tuned numbers: pawns like to advance, in the centre most; officers like the centre; a rook likes the seventh rank;
the king hides in a corner of his first rank while officers are about, and walks to the centre when they are gone.

Captures and promotions are forcing: looking no further while they are on would count men that are about to be lost.
They are tried by the most valuable victim first, then by the least valuable attacker.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, uint64

from rookery.games.bits import Word, lowest_bit, popcount
from rookery.games.chess import NO_PROGRESS_DRAW, REPETITION, STATE, words_now
from rookery.games.chess_board import (
    BISHOP,
    HIGH,
    KNIGHT,
    LAST_RANK,
    LOW,
    MARKER_RANK,
    MIDDLE,
    MINE,
    NONE,
    ONE,
    PAWN,
    QUEEN,
    RIGHTS,
    ROOK,
    SEVENTH_RANK,
    bit,
)
from rookery.games.chess_lc0 import unpacked
from rookery.games.chess_moves import Words, answers, men_in, targets_of, write_promotions, write_targets
from rookery.games.rules import State
from rookery.search.evaluations import squashed, supplies

HALF = 600  # a lead of six pawns counts one half
WORTH = np.array([0, 330, 500, 950, 100, 320, 0])  # by kind: bishop, rook, queen, pawn, knight, king
RANKING = np.array([0, 3, 5, 9, 1, 3, 10])  # the same for ordering captures
FULL_PHASE = 24


def centrality(square: int) -> int:
    """Return 0 in the corners to 6 on the four central squares."""
    file, rank = square % 8, square // 8
    return min(file, 7 - file) + min(rank, 7 - rank)


def square_worth(kind: int, square: int, endgame: bool) -> int:
    """Return what a square adds to a man of mine."""
    file, rank = square % 8, square // 8
    if kind == PAWN:
        return 3 * rank * min(file, 7 - file) + (10 if endgame else 3) * rank
    if kind == KNIGHT:
        return 8 * centrality(square) - 24
    if kind == BISHOP:
        return 4 * centrality(square) - 12
    if kind == ROOK:
        return 2 * min(file, 7 - file) + (20 if rank == 6 else 0)
    if kind == QUEEN:
        return 2 * centrality(square) - 6
    return 10 * centrality(square) - 30 if endgame else 12 * abs(file - 4) - 20 * rank


def worth_table() -> np.ndarray:
    """Return [phase, kind, square]: worth of a man of mine in the opening (0) and in the endgame (1)."""
    table = np.zeros((2, 7, 64), np.int64)
    for phase in range(2):
        for kind in range(1, 7):
            for square in range(64):
                table[phase, kind, square] = WORTH[kind] + square_worth(kind, square, phase == 1)
    return table


WORTHS = worth_table()


@njit(cache=True, nogil=True)
def kind_on(words: Words, square: int) -> int:
    """Return the kind of the man on a square; 0 if it is empty."""
    shift = uint64(square)
    low, middle, high = words[LOW] >> shift, words[MIDDLE] >> shift, words[HIGH] >> shift
    return int(int64((low & ONE) | ((middle & ONE) << ONE) | ((high & ONE) << uint64(2))))


@njit(cache=True, nogil=True)
def phase_of(words: Words) -> int:
    """Weigh the officers of both sides: FULL_PHASE or more at the start, 0 when they are gone."""
    low, middle, high = words[LOW], words[MIDDLE], words[HIGH]
    minors = popcount((low & ~middle & ~high) | (low & high))
    return minors + 2 * popcount(middle & ~low & ~high) + 4 * popcount(low & middle)


@njit(cache=True, nogil=True)
def worth_of(words: Words, men: Word, turn: int, phase: int) -> int:
    """Add up the worth of some men, on squares read through `turn`: 0 for mine, 56 for theirs."""
    opening, ending = 0, 0
    while men != NONE:
        square = lowest_bit(men)
        kind = kind_on(words, square)
        opening += WORTHS[0, kind, square ^ turn]
        ending += WORTHS[1, kind, square ^ turn]
        men &= men - ONE
    return (opening * phase + ending * (FULL_PHASE - phase)) // FULL_PHASE


@supplies("evaluate", STATE)
def evaluate(state: State) -> int:
    words = words_now(state)
    phase = min(FULL_PHASE, phase_of(words))
    theirs = (words[LOW] | words[MIDDLE] | words[HIGH]) ^ words[MINE]
    return squashed(worth_of(words, words[MINE], 0, phase) - worth_of(words, theirs, 56, phase), HALF)


@supplies("promise", STATE)
def promise(state: State, action: int) -> int:
    """Rank captures and promotions; other moves, castling among them, promise nothing."""
    words = words_now(state)
    source, target, promoted = unpacked(action)
    if words[MINE] & bit(target) != NONE:
        return 0
    kind, victim = kind_on(words, source), kind_on(words, target)
    if kind == PAWN and words[RIGHTS] & MARKER_RANK & bit(target) != NONE:
        victim = PAWN
    gain = RANKING[victim]
    if kind == PAWN and target >= 56:
        gain += RANKING[promoted] - 1 if promoted != 0 else RANKING[KNIGHT] - 1
    return 0 if gain == 0 else 16 * gain - RANKING[kind]


@supplies("forcing", STATE)
def forcing(state: State, out: np.ndarray) -> int:
    """Write captures and promotions."""
    words = words_now(state)
    men, rights = men_in(words), words[RIGHTS]
    allowed, count, movers = answers(men, state.checkers), 0, men.mine
    while movers != NONE:
        source = lowest_bit(movers)
        wanted = men.theirs
        if bit(source) & men.pawns != NONE:
            wanted |= LAST_RANK | (rights & MARKER_RANK)
        targets = targets_of(men, rights, source, state.checkers, state.pinned, allowed) & wanted
        count = write_targets(source, targets, out, count)
        if bit(source) & men.pawns & SEVENTH_RANK != NONE:
            count = write_promotions(source, targets, out, count)
        movers &= movers - ONE
    return count


@supplies("ended_by_history", STATE)
def ended_by_history(state: State) -> bool:
    return bool(state.ending == REPETITION or state.ending == NO_PROGRESS_DRAW)
