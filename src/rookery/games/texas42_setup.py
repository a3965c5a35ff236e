"""Setting up a position of Texas 42 from hands, declaration, leader and plays, and refusing what cannot be.

A hand is seven tiles or hidden. A play of a hidden hand must be a tile nobody else is known to hold and must not
contradict a void its seat has shown; in the end at least one deal must agree with everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games import texas42_auction as auction
from rookery.games import texas42_tiles as tiles
from rookery.games.rules import State
from rookery.games.texas42_house import promised
from rookery.games.texas42_play import clear, playable, put
from rookery.games.texas42_tiles import DECLARATIONS, FOLLOW, HAND, NAMES, NO_TILE, NOT_NAMED, SEATS, SUITS, tile_text

Hand = Sequence[int | str] | None  # tiles as ids or text; None: hidden


def set_up(
    state: State,
    hands: Sequence[Hand],
    declaration: str | int | None,
    leader: int | str,
    plays: Sequence[int | str],
    bids: Sequence[str | int],
) -> None:
    """Write the position after some bids and plays into a state that holds the options."""
    listed_plays, listed_bids = listed("plays", plays), listed("bids", bids)
    clear(state)
    for seat, hand in enumerate(read_hands(hands)):
        if hand is not None:
            state["tiles"][seat], state["hands"][seat] = hand, tiles.tile_set(hand)
    opener = read_seat(leader)
    state["opener"] = state["texas42_mover"] = state["declarer"] = opener
    state["leaders"] = opener
    add_bids(state, listed_bids)
    add_declaration(state, declaration)
    for number, value in enumerate(listed_plays, start=1):
        add_play(state, tiles.read_tile(value), number)
    check_possible(state)


def listed(what: str, values: Any) -> list[Any]:
    """Return some values as a list; refuse a single one, a text, and what has no order. `what` names them."""
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise BadInput(f"{what} must be a list, not {values!r}")
    return list(values)


def read_seat(value: Any) -> int:
    """Return a seat given as number or as text."""
    if not isinstance(value, bool) and str(value) in ("0", "1", "2", "3"):
        return int(value)
    raise BadInput(f"seat {value!r} should be one of 0..{SEATS - 1}")


def read_hands(hands: Sequence[Hand]) -> list[list[int] | None]:
    """Return the four hands as sorted tile ids, None where hidden."""
    four = listed("hands", hands)
    if len(four) != SEATS:
        raise BadInput(f"the number of hands is {len(four)}; it must be {SEATS}, one for each seat")
    holder: dict[int, int] = {}
    read: list[list[int] | None] = []
    for seat, hand in enumerate(four):
        if hand is None:
            read.append(None)
            continue
        seven = listed(f"the hand of seat {seat}, unless it is None,", hand)
        if len(seven) != HAND:
            raise BadInput(f"the hand of seat {seat} has {len(seven)} tiles; it must have {HAND} or be hidden")
        ids = sorted(tiles.read_tile(tile) for tile in seven)
        for tile in ids:
            if tile in holder:
                both = f"hands of seats {holder[tile]} and {seat}" if holder[tile] != seat else f"hand of seat {seat}"
                raise BadInput(f"{tile_text(tile)} stands twice, in the {both}")
            holder[tile] = seat
        read.append(ids)
    return read


# ---- the auction and the declaration -------------------------------------------------------------


def add_bids(state: State, bids: list[Any]) -> None:
    """Make bids in order, refusing those that are not allowed."""
    if bids and not state["auction"]:
        raise BadInput(f"the bids {bids} need a game with auction=redeal or auction=forced")
    for value in bids:
        bid = auction.read_bid(value)
        if state["phase"] != auction.BIDDING:
            raise BadInput(f"the bid {value!r} is one too many; each of the {SEATS} seats speaks once")
        if not auction.may_call(state, bid):
            allowed = [auction.BID_TEXTS[b] for b in range(1, len(auction.BID_TEXTS)) if auction.may_call(state, b)]
            raise BadInput(
                f"the bid {value!r} of seat {state['texas42_mover']} is not allowed; allowed: {', '.join(allowed)}"
            )
        auction.make_bid(state, bid)


def add_declaration(state: State, value: str | int | None) -> None:
    """Set the declaration; with the auction it may be missing until it is named."""
    if value is None:
        if not state["auction"]:
            raise BadInput(f"a declaration is missing; it must be one of {', '.join(DECLARATIONS)}")
        return
    declaration = tiles.read_declaration(value)
    if not state["auction"]:
        state["declaration"] = declaration
        return
    if state["phase"] != auction.NAMING:
        raise BadInput(f"declaration {value!r}: nobody names one, as the bidding is not over or all have passed")
    if not auction.may_name(state, declaration):
        allowed = ", ".join(name for d, name in enumerate(NAMES) if auction.may_name(state, d))
        raise BadInput(f"declaration {value!r} is not one a bidder may name; allowed: {allowed}")
    auction.name_declaration(state, declaration)


# ---- plays ---------------------------------------------------------------------------------------


def add_play(state: State, tile: int, number: int) -> None:
    """Make one play of a record; it shows a tile of a hidden hand."""
    seat = int(state["texas42_mover"])
    what = f"play {number}, {tile_text(tile)} by seat {seat}"
    if state["phase"] != auction.PLAYING:
        why = "the hand is over" if state["phase"] == auction.DONE else "no declaration has been named"
        raise BadInput(f"{what}: {why}")
    if int(state["played"]) >> tile & 1:
        raise BadInput(f"{what}: the tile was played before")
    if is_hidden(state, seat):
        check_hidden_play(state, seat, tile, what)
        state["hands"][seat] |= np.uint32(1 << tile)
    elif not int(playable(state)) >> tile & 1:
        raise BadInput(f"{what} is not legal; legal: {tiles.tiles_text(tiles.tiles_of(playable(state)))}")
    put(state, tile)


def is_hidden(state: State, seat: int) -> bool:
    """Tell whether a hand is hidden."""
    return bool(state["tiles"][seat, 0] == NO_TILE)


def check_hidden_play(state: State, seat: int, tile: int, what: str) -> None:
    """Refuse a play of a hidden hand that contradicts what is known."""
    for other in range(SEATS):
        if int(state["hands"][other]) >> tile & 1:
            raise BadInput(f"{what}: the tile is in the hand of seat {other}")
    if not allowed_tiles(state, seat) >> tile & 1:
        left = tiles.tiles_of(allowed_tiles(state, seat) & ~int(np.bitwise_or.reduce(state["hands"])))
        raise BadInput(f"{what}: by its earlier plays the seat can only hold {tiles.tiles_text(left)}")


def allowed_tiles(state: State, seat: int) -> int:
    """Return the set of tiles that the voids a seat has shown leave to it."""
    excluded = 0
    for suit in range(SUITS):
        if int(state["voids"][seat]) >> suit & 1:
            excluded |= int(FOLLOW[state["declaration"], suit])
    return tiles.ALL_TILES & ~excluded


def check_possible(state: State) -> None:
    """Refuse a record with which no hidden hands agree.

    Hands can be filled if and only if every group of hidden seats may hold at least as many of the unseen tiles as it
    must (Hall's theorem).
    """
    hidden = [seat for seat in range(SEATS) if is_hidden(state, seat)]
    check_promises(state, hidden)
    if state["declaration"] == NOT_NAMED:
        return
    unseen = tiles.ALL_TILES & ~int(np.bitwise_or.reduce(state["hands"]))
    for size in range(1, len(hidden) + 1):
        for group in combinations(hidden, size):
            possible, needed = 0, 0
            for seat in group:
                possible |= allowed_tiles(state, seat) & unseen
                needed += HAND - int(state["hands"][seat]).bit_count()
            if possible.bit_count() < needed:
                seats = f"seat{'s' if size > 1 else ''} {' and '.join(map(str, group))}"
                left = tiles.tiles_text(tiles.tiles_of(possible))
                raise BadInput(f"no deal agrees with the plays: {seats} must hold {needed} more tiles of {left}")


def check_promises(state: State, hidden: list[int]) -> None:
    """Refuse doubles promised by splash or plunge that hidden hands cannot have had: give out all unseen tiles."""
    shown = [int(state["hands"][seat]) for seat in hidden]
    missing = [
        max(0, promised(state, seat) - (hand & int(tiles.DOUBLES)).bit_count())
        for seat, hand in zip(hidden, shown, strict=True)
    ]
    if not any(missing):
        return
    unseen = tiles.ALL_TILES & ~int(np.bitwise_or.reduce(state["hands"]))
    doubles = tiles.tiles_of(unseen & int(tiles.DOUBLES))
    others = tiles.tiles_of(unseen & ~int(tiles.DOUBLES))
    start = tuple(HAND - hand.bit_count() for hand in shown)
    may = [allowed_tiles(state, seat) for seat in hidden]
    kept = {
        places
        for places in given_out({start}, doubles, may)
        if all(start[i] - places[i] >= missing[i] for i in range(len(hidden)))
    }
    if not given_out(kept, others, may):
        told = " and ".join(f"{promised(state, s)} by seat {s}" for s, m in zip(hidden, missing, strict=True) if m)
        raise BadInput(f"no deal agrees with the bids: too few doubles are left for those promised, {told}")


def given_out(places: set[tuple[int, ...]], some: list[int], may: list[int]) -> set[tuple[int, ...]]:
    """Return which places can be left in some hands after certain tiles are given to them."""
    for tile in some:
        places = {
            (*left[:i], left[i] - 1, *left[i + 1 :])
            for left in places
            for i in range(len(left))
            if left[i] > 0 and may[i] >> tile & 1
        }
    return places
