"""The auction of Texas 42: bids, who may make which, and what they are worth.

Each seat speaks once, the seat to the left of the shaker first: it passes or bids higher than anyone before. The ladder
is 30..41 points, then 1, 2, ... marks; the first bid of marks is 1 or 2, a later one exactly one more. The highest
bidder names the declaration (any but doubles as a suit) and leads. Points bid must be reached and are worth one
mark; marks bid need all 42 points and are worth their number.

A bid is a number; 0 stands for a seat that has not spoken:

    1         pass
    2..13     30..41 points
    14..20    1..7 marks
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rookery.errors import BadInput
from rookery.games.rules import State
from rookery.games.texas42_tiles import DOUBLES_SUIT, NOT_NAMED, SEATS

SILENT, PASS, ONE_MARK = 0, 1, 14
AUCTIONS = ("none", "redeal", "forced")  # whether there is one, and what happens if all pass
NO_AUCTION, FORCED = 0, 2
MOST_MARKS = 7
LAST_BID = ONE_MARK + MOST_MARKS - 1
PLAYING, BIDDING, NAMING, DONE = 0, 1, 2, 3  # phases of a hand
LEAST_POINTS, ALL_POINTS = 30, 42

BID_TEXTS = ("", "pass", *map(str, range(30, 42)), *(f"{marks}m" for marks in range(1, MOST_MARKS + 1)))


@njit(cache=True, nogil=True)
def may_bid(state: State, bid: int) -> bool:
    """Tell whether the mover may make a bid."""
    high = state.high_bid
    if bid == PASS:
        return bool(state.auction != FORCED or state.spoken < SEATS - 1 or high != SILENT)
    if bid < ONE_MARK:
        return bool(bid > high)
    if bid - ONE_MARK >= state.mark_limit:
        return False
    if high < ONE_MARK:
        return bid <= ONE_MARK + 1
    return bool(bid == high + 1)


@njit(cache=True, nogil=True)
def make_bid(state: State, bid: int) -> None:
    """Let the mover bid; after the fourth bid the highest bidder names a declaration, or all have passed."""
    seat = state.texas42_mover
    state.bids[seat] = bid
    state.spoken += 1
    if bid != PASS:
        state.high_bid = bid
        state.declarer = seat
    state.texas42_mover = (seat + 1) & 3
    if state.spoken == SEATS:
        state.texas42_mover = state.declarer
        state.phase = NAMING if state.high_bid != SILENT else DONE


@njit(cache=True, nogil=True)
def may_name(declaration: int) -> bool:
    """Tell whether the highest bidder may name a declaration."""
    return 0 <= declaration < NOT_NAMED and declaration != DOUBLES_SUIT


@njit(cache=True, nogil=True)
def name_declaration(state: State, declaration: int) -> None:
    """Let the declarer name a declaration and begin the play."""
    state.declaration = declaration
    state.leaders[0] = state.declarer
    state.texas42_mover = state.declarer
    state.phase = PLAYING


@njit(cache=True, nogil=True)
def points_needed(bid: int) -> int:
    """Return the points a bid must reach."""
    return 28 + bid if bid < ONE_MARK else ALL_POINTS


@njit(cache=True, nogil=True)
def marks_of(bid: int) -> int:
    """Return the marks a bid is worth."""
    return 1 if bid < ONE_MARK else bid - ONE_MARK + 1


@njit(cache=True, nogil=True)
def list_bids(state: State, first: int, out: np.ndarray) -> int:
    """Write the actions of the bids the mover may make, bid b as action `first + b`; return how many."""
    count = 0
    for bid in range(PASS, LAST_BID + 1):
        if may_bid(state, bid):
            out[count] = first + bid
            count += 1
    return count


@njit(cache=True, nogil=True)
def list_names(first: int, out: np.ndarray) -> int:
    """Write the actions that name a declaration, declaration d as action `first + d`; return how many."""
    count = 0
    for declaration in range(NOT_NAMED):
        if may_name(declaration):
            out[count] = first + declaration
            count += 1
    return count


def read_bid(value: Any) -> int:
    """Return the number of a bid given as text or as points."""
    text = str(value).strip()
    if text in BID_TEXTS[PASS:]:
        return BID_TEXTS.index(text)
    raise BadInput(f"{value!r} is no bid; bids are pass, 30..41 points and 1m..{MOST_MARKS}m marks")
