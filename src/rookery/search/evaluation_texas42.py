"""Texas 42: the points taken so far.

The difference of points is scaled to what the hand is played for: it is the payoff if the difference counts, and lies
between losing and winning the contract if there is one. Nello turns it round: there the declaring team is to take
nothing, and has lost with the first trick it takes.
"""

from __future__ import annotations

from numba import njit

from rookery.games.rules import State
from rookery.games.texas42 import MARKS_OF_A_GAME, STATE
from rookery.games.texas42_auction import ALL_POINTS, NO_AUCTION, SILENT, marks_of
from rookery.games.texas42_house import sits_out
from rookery.search.evaluations import UNIT, supplies

LOST = ALL_POINTS - 1


@njit(cache=True, nogil=True)
def stake(state: State) -> int:
    """Return what the winner of the hand will get, in units."""
    if state.auction == NO_AUCTION:
        return UNIT
    return 0 if state.high_bid == SILENT else UNIT // int(MARKS_OF_A_GAME) * marks_of(state.high_bid)


@supplies("evaluate", STATE)
def evaluate(state: State) -> int:
    team = state.texas42_mover & 1
    lead = int(state.points[team]) - int(state.points[1 - team])
    if sits_out(state) >= 0:
        side = state.declarer & 1
        good = int(state.points[1 - side]) if state.points[side] == 0 else -LOST
        lead = good if side == team else -good
    return stake(state) // ALL_POINTS * lead  # the last trick is worth a point, so before it no lead reaches 42
