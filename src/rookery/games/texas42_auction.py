"""The auction of Texas 42: bids, who may make which, and what they are worth.

Each seat speaks once, the seat to the left of the shaker first: it passes or bids higher than anyone before. The ladder
is 30..41 points, then 1, 2, ... marks; the first bid of marks is 1 or 2, a later one exactly one more. The highest
bidder names the declaration (any but doubles as a suit) and leads. Points bid must be reached and are worth one
mark; marks bid need all 42 points and are worth their number.

A bid is a number; 0 stands for a seat that has not spoken:

    1         pass
    2..13     30..41 points
    14..20    1..7 marks
    21, 22    splash for 2 or 3 marks, if the house plays it (`texas42_house`)
    23..28    plunge for 2..7 marks
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rookery.errors import BadInput
from rookery.games.rules import State
from rookery.games.texas42_house import (
    FIRST_SPLASH,
    JUMP_TEXTS,
    LAST_JUMP,
    jump_marks,
    may_jump,
    may_name_house,
)
from rookery.games.texas42_tiles import DOUBLES_SUIT, NELLO, NO_TRUMP, NOT_NAMED, SEATS, SEVENS, SEVENS_FREE

SILENT, PASS, ONE_MARK = 0, 1, 14
AUCTIONS = ("none", "redeal", "forced")  # whether there is one, and what happens if all pass
NO_AUCTION, FORCED = 0, 2
MOST_MARKS = 7
LAST_BID = ONE_MARK + MOST_MARKS - 1
PLAYING, BIDDING, NAMING, DONE = 0, 1, 2, 3  # phases of a hand
LEAST_POINTS, ALL_POINTS = 30, 42

BID_TEXTS = ("", "pass", *map(str, range(30, 42)), *(f"{marks}m" for marks in range(1, MOST_MARKS + 1)), *JUMP_TEXTS)


@njit(cache=True, nogil=True)
def may_bid(state: State, bid: int) -> bool:
    """Tell whether the mover may make a bid of points or marks, or pass."""
    high = rung(state.high_bid)
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
def may_call(state: State, bid: int) -> bool:
    """Tell whether the mover may make any bid, splash and plunge too."""
    return may_jump(state, bid, standing_marks(state)) if bid > LAST_BID else may_bid(state, bid)


@njit(cache=True, nogil=True)
def standing_marks(state: State) -> int:
    """Return the marks of the highest bid; 0 if there is none or it is one of points."""
    return marks_of(state.high_bid) if state.high_bid >= ONE_MARK else 0


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
        state.texas42_mover = state.declarer if state.high_bid <= LAST_BID else (state.declarer + 2) & 3
        state.phase = NAMING if state.high_bid != SILENT else DONE


@njit(cache=True, nogil=True)
def may_name(state: State, declaration: int) -> bool:
    """Tell whether a declaration may be named once the bidding is over."""
    if declaration < NOT_NAMED:
        return declaration >= 0 and declaration != DOUBLES_SUIT
    if declaration == NOT_NAMED or declaration > SEVENS_FREE or not ONE_MARK <= state.high_bid <= LAST_BID:
        return False
    return may_name_house(state, declaration, marks_of(state.high_bid))


@njit(cache=True, nogil=True)
def name_declaration(state: State, declaration: int) -> None:
    """Let the mover, the declarer or after splash and plunge its partner, name a declaration and begin the play."""
    state.declaration = declaration
    state.leaders[0] = state.texas42_mover
    state.phase = PLAYING


@njit(cache=True, nogil=True)
def rung(bid: int) -> int:
    """Return the bid of points or marks that is as high as a bid."""
    return ONE_MARK + jump_marks(bid) - 1 if bid > LAST_BID else bid


@njit(cache=True, nogil=True)
def points_needed(bid: int) -> int:
    """Return the points a bid must reach."""
    return 28 + bid if bid < ONE_MARK else ALL_POINTS


@njit(cache=True, nogil=True)
def marks_of(bid: int) -> int:
    """Return the marks a bid is worth."""
    if bid > LAST_BID:
        return jump_marks(bid)
    return 1 if bid < ONE_MARK else bid - ONE_MARK + 1


@njit(cache=True, nogil=True)
def is_made(state: State) -> bool:
    """Tell of a hand played to its end whether the contract, or what the options want, is made."""
    taken = state.points[state.declarer & 1]
    if NELLO <= state.declaration < SEVENS:
        return bool(taken == 0)
    if state.declaration >= SEVENS:
        return bool(taken == ALL_POINTS)
    return bool(taken >= (state.wanted if state.auction == NO_AUCTION else points_needed(state.high_bid)))


@njit(cache=True, nogil=True)
def list_bids(state: State, first: int, out: np.ndarray) -> int:
    """Write the actions of the bids of points and marks the mover may make, bid b as action `first + b`; count them."""
    count = 0
    for bid in range(PASS, LAST_BID + 1):
        if may_bid(state, bid):
            out[count] = first + bid
            count += 1
    return count


@njit(cache=True, nogil=True)
def list_jumps(state: State, first: int, out: np.ndarray, count: int) -> int:
    """Write after `count` actions those of splash and plunge, in order from `first` on; return the new count."""
    last = LAST_JUMP if state.splash | state.plunge else FIRST_SPLASH - 1  # not known before: else it would be unrolled
    for bid in range(FIRST_SPLASH, last + 1):
        if may_jump(state, bid, standing_marks(state)):
            out[count] = first + bid - FIRST_SPLASH
            count += 1
    return count


@njit(cache=True, nogil=True)
def list_names(state: State, first: int, out: np.ndarray) -> int:
    """Write the actions that name a declaration, declaration d as action `first + d`; return how many."""
    count, last = 0, SEVENS_FREE if state.nello | state.sevens else NO_TRUMP
    for declaration in range(last + 1):
        if may_name(state, declaration):
            out[count] = first + declaration
            count += 1
    return count


def read_bid(value: Any) -> int:
    """Return the number of a bid given as text or as points."""
    text = str(value).strip()
    if text in BID_TEXTS[PASS:]:
        return BID_TEXTS.index(text)
    raise BadInput(
        f"{value!r} is no bid; bids are pass, 30..41 points and 1m..{MOST_MARKS}m marks, and with the options splash "
        f"and plunge {', '.join(JUMP_TEXTS)}"
    )
