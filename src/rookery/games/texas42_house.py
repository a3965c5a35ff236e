"""House contracts of Texas 42: nello, splash, plunge and sevens. Groups differ, so each is an option with a parameter.

Nello and sevens are named in place of a declaration by who has won the auction with a bid of marks. In nello the
bidder's partner sits out, tricks have three tiles, and the bidder must lose them all. In sevens there are no suits: the
tile nearest to seven wins, the first of equals, and the bidder's side must win every trick.

Splash and plunge are bids of marks that promise doubles. The bidder's partner names the declaration and leads, and the
side must win every trick. They may jump over what a plain bid of marks may not.

A state holds each contract in one byte: its rule in the low four bits, 0 if it is not played, and its number above.

    nello    rule 1..3 doubles high, low or a suit, 4 the bidder's choice; number: least marks
    sevens   rule 1 the nearest tile must be played, 2 any tile may be; number: least marks
    splash   rule: bit 0 for two marks, bit 1 for three; number: doubles it needs
    plunge   rule: its marks, if no bid is as high; number: doubles it needs
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numba import njit, uint32

from rookery.errors import BadInput
from rookery.games.bits import Word, popcount
from rookery.games.options import one_of, whole_number
from rookery.games.rules import State
from rookery.games.texas42_tiles import (
    DOUBLES,
    FOLLOW,
    HAND,
    NELLO,
    NO_TILE,
    NOT_NAMED,
    SEVENS,
    SEVENS_FREE,
    SUITS,
)

NELLO_RULES = ("none", "high", "low", "suit", "any")
SEVENS_RULES = ("none", "nearest", "free")
SPLASH_RULES = ("none", "2", "3", "both")
BIDDERS_CHOICE = NELLO_RULES.index("any")
LEAST_JUMP = 2  # marks of the lowest splash or plunge
FIRST_SPLASH, FIRST_PLUNGE = 21, 23  # bids, after those of `texas42_auction`
JUMP_TEXTS = ("splash-2m", "splash-3m", *(f"plunge-{marks}m" for marks in range(LEAST_JUMP, 8)))
USUAL = {
    "nello": "none",
    "nello_marks": 1,
    "splash": "none",
    "splash_doubles": 3,
    "plunge": 0,
    "plunge_doubles": 4,
    "sevens": "none",
    "sevens_marks": 1,
}
"""the options and their defaults"""


# ---- the play ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def sits_out(state: State) -> int:
    """Return the seat that does not play, the bidder's partner in nello; -1 if there is none."""
    return int(state.declarer + 2) & 3 if NELLO <= state.declaration < SEVENS else -1


@njit(cache=True, nogil=True)
def nearest(state: State, held: Word) -> Word:
    """Return the tiles of a hand that sevens lets its seat play."""
    if state.declaration == SEVENS_FREE:
        return held
    for away in range(SUITS):
        tiles = held & FOLLOW[SEVENS, away]
        if tiles != uint32(0):
            return tiles
    return held


@njit(cache=True, nogil=True)
def promised(state: State, seat: int) -> int:
    """Return how many doubles a seat has promised to have been dealt, by splash or plunge; 0 for none."""
    bid = state.bids[seat]
    if bid < FIRST_SPLASH:
        return 0
    return int((state.splash if bid < FIRST_PLUNGE else state.plunge) >> 4)


# ---- the auction ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def jump_marks(bid: int) -> int:
    """Return the marks of a splash or plunge."""
    return LEAST_JUMP + bid - (FIRST_SPLASH if bid < FIRST_PLUNGE else FIRST_PLUNGE)


@njit(cache=True, nogil=True)
def jump_bids(state: State, standing: int) -> int:
    """Return the bids of splash and plunge, as bits, that the mover may make over a standing bid of marks, 0 for none.

    Of a hidden hand it is not known whether it has the doubles, so nothing is refused for want of them.
    """
    seat, bids = state.texas42_mover, 0
    doubles = HAND if state.tiles[seat, 0] == NO_TILE else popcount(state.hands[seat] & DOUBLES)
    higher = ((2 << state.mark_limit) - 1) & (-2 << standing)  # marks that may be bid now, as bits
    if doubles >= state.splash >> 4:
        bids = (state.splash & 15 & higher >> LEAST_JUMP) << FIRST_SPLASH
    least = state.plunge & 15
    if least > 0 and doubles >= state.plunge >> 4:
        marks = max(least, standing + 1)
        bids |= (higher >> marks & 1) << (FIRST_PLUNGE + marks - LEAST_JUMP)
    return int(bids)


@njit(cache=True, nogil=True)
def house_names(state: State, marks: int) -> int:
    """Return the kinds of nello and sevens, as bits, that who has bid so many marks may name."""
    declarations, rule = 0, state.nello & 15
    if rule > 0 and marks >= state.nello >> 4:
        declarations = 7 << NELLO if rule == BIDDERS_CHOICE else 1 << (NOT_NAMED + rule)
    rule = state.sevens & 15
    if rule > 0 and marks >= state.sevens >> 4:
        declarations |= 1 << (SEVENS + rule - 1)
    return int(declarations)


# ---- for people ----------------------------------------------------------------------------------


def jump_texts(state: State) -> list[str]:
    """Return the bids of splash and plunge that a game has, as text."""
    splash = [LEAST_JUMP + place for place in range(2) if int(state["splash"]) >> place & 1]
    plunge = range(int(state["plunge"]) & 15, 8) if state["plunge"] else ()
    texts = [(marks, f"splash-{marks}m") for marks in splash] + [(marks, f"plunge-{marks}m") for marks in plunge]
    return [text for marks, text in texts if marks <= state["mark_limit"]]


def read_house(options: Mapping[str, Any], auction: bool, mark_limit: int) -> dict[str, Any]:
    """Check the options of the house contracts; refuse what would have no effect."""
    read: dict[str, Any] = {}
    for name, rules in (("nello", NELLO_RULES), ("splash", SPLASH_RULES), ("sevens", SEVENS_RULES)):
        read[name] = one_of(f"option {name} of texas42", str(options[name]), rules)
    read["plunge"] = whole_number("option plunge of texas42", options["plunge"], 0, 7)
    if read["plunge"] == 1:
        raise BadInput("option plunge of texas42 must be 0 or in 2..7 marks, not 1")
    for name, most in (("nello_marks", 7), ("sevens_marks", 7), ("splash_doubles", HAND), ("plunge_doubles", HAND)):
        read[name] = whole_number(f"option {name} of texas42", options[name], 1, most)
        contract = name.partition("_")[0]
        if read[name] != USUAL[name] and read[contract] == USUAL[contract]:
            raise BadInput(f"option {name}={read[name]} of texas42 needs the option {contract} too")
    least = {"nello": read["nello_marks"], "sevens": read["sevens_marks"], "plunge": read["plunge"]}
    least["splash"] = 3 if read["splash"] == "3" else 2
    for contract, marks in least.items():
        if read[contract] == USUAL[contract]:
            continue
        if not auction:
            raise BadInput(f"option {contract}={read[contract]} of texas42 needs auction=redeal or auction=forced")
        if marks > mark_limit:
            raise BadInput(f"option {contract} of texas42 needs bids of {marks} marks; mark_limit is {mark_limit}")
    return read


def packed(options: Mapping[str, Any]) -> dict[str, int]:
    """Return the bytes in which a state holds the house contracts; all zero if none is played."""
    rules = {
        "nello": (NELLO_RULES.index(options["nello"]), options["nello_marks"]),
        "sevens": (SEVENS_RULES.index(options["sevens"]), options["sevens_marks"]),
        "splash": (SPLASH_RULES.index(options["splash"]), options["splash_doubles"]),
        "plunge": (options["plunge"], options["plunge_doubles"]),
    }
    return {name: rule | number << 4 if rule else 0 for name, (rule, number) in rules.items()}
