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

from numba import njit

from rookery.errors import BadInput
from rookery.games.rules import State
from rookery.games.texas42_house import FIRST_SPLASH, JUMP_TEXTS, house_names, jump_bids, jump_marks
from rookery.games.texas42_tiles import DOUBLES_SUIT, HAND, NAMES, NELLO, NOT_NAMED, SEATS, SEVENS

SILENT, PASS, ONE_MARK = 0, 1, 14
AUCTIONS = ("none", "redeal", "forced")  # whether there is one, and what happens if all pass
NO_AUCTION, FORCED = 0, 2
MOST_MARKS = 7
LAST_BID = ONE_MARK + MOST_MARKS - 1
PLAYING, BIDDING, NAMING, DONE = 0, 1, 2, 3  # phases of a hand
LEAST_POINTS, ALL_POINTS = 30, 42
POINT_BIDS = (1 << ONE_MARK) - (1 << (PASS + 1))
PLAIN_NAMES = (1 << NOT_NAMED) - 1 - (1 << DOUBLES_SUIT)
FIRST_BID = HAND - PASS  # bid b is action FIRST_BID + b
FIRST_NAME = HAND + LAST_BID  # declaration d is action FIRST_NAME + d
FIRST_JUMP = FIRST_NAME + len(NAMES)  # splash or plunge, bid b, is action FIRST_JUMP + b - FIRST_SPLASH
HOUSE_ACTIONS = FIRST_JUMP + len(JUMP_TEXTS)

BID_TEXTS = ("", "pass", *map(str, range(30, 42)), *(f"{marks}m" for marks in range(1, MOST_MARKS + 1)), *JUMP_TEXTS)


@njit(cache=True, nogil=True)
def bid_of(action: int) -> int:
    """Return the bid that an action makes; SILENT if it is none."""
    if action >= FIRST_JUMP:
        return action - FIRST_JUMP + FIRST_SPLASH
    return action - FIRST_BID if HAND <= action < FIRST_NAME else SILENT


@njit(cache=True, nogil=True)
def plain_bids(state: State) -> int:
    """Return the bids of points and marks that the mover may make, and the pass, bid b as bit b.

    Sets without loops: what hangs on to `legal` must stay small, or the play becomes slow.
    """
    high = rung(state.high_bid)
    bids = POINT_BIDS & (-2 << high)
    bids |= 3 << ONE_MARK if high < ONE_MARK else 2 << high
    bids &= (1 << (ONE_MARK + state.mark_limit)) - 1
    may_pass = state.auction != FORCED or state.spoken < SEATS - 1 or high != SILENT
    return int(bids | (1 << PASS if may_pass else 0))


@njit(cache=True, nogil=True)
def jumps(state: State) -> int:
    """Return the bids of splash and plunge that the mover may make, as bits."""
    return jump_bids(state, standing_marks(state)) if state.splash | state.plunge else 0


@njit(cache=True, nogil=True)
def may_bid(state: State, bid: int) -> bool:
    """Tell whether the mover may make a bid of points or marks, or pass."""
    return plain_bids(state) >> bid & 1 == 1


@njit(cache=True, nogil=True)
def may_call(state: State, bid: int) -> bool:
    """Tell whether the mover may make any bid, splash and plunge too."""
    return (plain_bids(state) | jumps(state)) >> bid & 1 == 1


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
def names(state: State) -> int:
    """Return the declarations that may be named once the bidding is over, declaration d as bit d."""
    if ONE_MARK <= state.high_bid <= LAST_BID and state.nello | state.sevens:
        return PLAIN_NAMES | house_names(state, marks_of(state.high_bid))
    return PLAIN_NAMES


@njit(cache=True, nogil=True)
def may_name(state: State, declaration: int) -> bool:
    """Tell whether a declaration may be named once the bidding is over."""
    return declaration >= 0 and names(state) >> declaration & 1 == 1


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


def read_bid(value: Any) -> int:
    """Return the number of a bid given as text or as points."""
    text = str(value).strip()
    if text in BID_TEXTS[PASS:]:
        return BID_TEXTS.index(text)
    raise BadInput(
        f"{value!r} is no bid; bids are pass, 30..41 points and 1m..{MOST_MARKS}m marks, and with the options splash "
        f"and plunge {', '.join(JUMP_TEXTS)}"
    )
