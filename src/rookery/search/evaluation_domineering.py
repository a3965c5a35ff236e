"""Domineering: who has more moves left.

The evaluation is the mover's moves minus the other's. A move is promising if it takes more moves from the other player
than from oneself. Both are read from the covered squares by bits.
"""

from __future__ import annotations

from numba import njit, uint64

from rookery.games.bits import Word, popcount
from rookery.games.domineering import STATE, free_pairs, line_of
from rookery.games.rules import State
from rookery.search.evaluations import squashed, supplies

PLAYOUT_PLIES = 20  # measured, docs/search/rave.md
HALF = 7  # a lead of 7 moves counts one half: near zero about as steep as the sigmoid of 0.3 times the lead


@njit(cache=True, nogil=True)
def moves_left(state: State, seat: int) -> int:
    """Count the dominoes a seat could lay."""
    count = 0
    for word in range(4):
        count += popcount(free_pairs(state, seat, word))
    return count


@supplies("evaluate", STATE)
def evaluate(state: State) -> int:
    seat = state.domineering_mover
    return squashed(moves_left(state, seat) - moves_left(state, 1 - seat), HALF)


@njit(cache=True, nogil=True)
def line(state: State, seat: int, i: int) -> Word:
    """Return the free places of line `i` of a seat as bits 1..16; none outside the frame."""
    if i < 0 or i > 15:
        return uint64(0)
    return ((~state.covered[seat, i >> 2] >> uint64(16 * (i & 3))) & uint64(0xFFFF)) << uint64(1)


@supplies("promise", STATE)
def promise(state: State, action: int) -> int:
    """Return the other's moves that a domino takes away, minus the mover's own."""
    seat = state.domineering_mover
    length = state.rows if seat == 1 else state.cols
    number = action - seat * (state.rows - 1) * state.cols
    i = line_of(number, length)
    place = uint64(number - i * length)
    around = uint64(7) << place  # the place and its two neighbours
    first, second = line(state, seat, i) & around, line(state, seat, i + 1) & around
    middle = uint64(2) << place
    own = 1 + popcount(line(state, seat, i - 1) & middle) + popcount(line(state, seat, i + 2) & middle)
    return popcount(first) + popcount(second) - 2 - own


@supplies("promise_unit", STATE)
def promise_unit(state: State) -> int:
    return 1


@supplies("playout_plies", STATE)
def playout_plies(state: State) -> int:
    return PLAYOUT_PLIES
