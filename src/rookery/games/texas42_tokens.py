"""What networks see of Texas 42: a position as tokens of small whole numbers, from the mover's side.

Seats are counted from the mover: 0 me, 1 left, 2 partner, 3 right. Where something is not known, a hidden tile or a
declaration not named yet, the number is -1. Tokens that stand for nothing are all zeros; their type 0 belongs to
the first token only, so they can be told apart and masked.
"""

from __future__ import annotations

from numba import njit, uint32

from rookery.games.bits import Word, lowest_bit
from rookery.games.rules import State
from rookery.games.texas42_auction import LAST_BID, NAMING, SILENT, rung
from rookery.games.texas42_house import FIRST_SPLASH
from rookery.games.texas42_tiles import CALLED_RANK, COUNT, HAND, HIGH, LOW, NO_TILE, NOT_NAMED, SEATS, TILES, bit

ALL_TOKENS, ALL_FEATURES = 32, 12
OWN_TOKENS, OWN_FEATURES = 36, 8
BIDDING_NUMBERS = TILES + 2 * SEATS + 1
UNKNOWN = -1
FIRST_TRICK_TOKEN = 1 + TILES


@njit(cache=True, nogil=True)
def nth_tile(tiles: Word, n: int) -> int:
    """Return tile `n` of a set, counting from 0 upwards; NO_TILE if the set is smaller."""
    for _ in range(n):
        tiles &= tiles - uint32(1)
    return lowest_bit(tiles) if tiles != uint32(0) else NO_TILE


@njit(cache=True, nogil=True)
def named(state: State) -> int:
    """Return the declaration, UNKNOWN before it is named."""
    return UNKNOWN if state.declaration == NOT_NAMED else int(state.declaration)


@njit(cache=True, nogil=True)
def pips(tile: int, feature: int) -> int:
    """Return one of the four features both kinds of tokens have: high pip, low pip, is double, count class."""
    if tile == NO_TILE:
        return UNKNOWN
    if feature == 0:
        return int(HIGH[tile])
    if feature == 1:
        return int(LOW[tile])
    if feature == 2:
        return 1 if HIGH[tile] == LOW[tile] else 0
    return int(COUNT[tile] // 5)


@njit(cache=True, nogil=True)
def all_hands(state: State, i: int) -> int:
    """Return number `i` of the 32 x 12 tokens that show every hand.

    Token 0 is the context, 1..28 are the initial hands by seat and slot, 29..31 the tiles of the current trick.
    Features: high pip, low pip, is double, count class, rank in the called suit (0 the best, 7 not called), relative
    seat, is me, is partner, still in hand, type (0 context, 1..4 hand of seat 0..3, 5..7 place in the trick),
    declaration, leader of the trick relative to me.
    """
    token = i // ALL_FEATURES
    feature = i - token * ALL_FEATURES
    me, leader = int(state.texas42_mover), int(state.leaders[state.plays >> 2])
    if token == 0 and feature < 10:
        return 0
    if token >= FIRST_TRICK_TOKEN:
        place = token - FIRST_TRICK_TOKEN
        if place >= state.plays & 3:
            return 0
        seat, kind = (leader + place) & 3, 5 + place
        tile, held = int(state.history[(state.plays & ~3) + place]), 0
    elif token > 0:
        seat = (token - 1) // HAND
        kind, tile = 1 + seat, int(state.tiles[seat, token - 1 - seat * HAND])
        held = UNKNOWN if tile == NO_TILE else (1 if state.played & bit(tile) == uint32(0) else 0)
    else:
        seat, kind, tile, held = me, 0, NO_TILE, 0
    if feature < 4:
        return pips(tile, feature)
    if feature == 4:
        known = tile != NO_TILE and state.declaration != NOT_NAMED
        return int(CALLED_RANK[state.declaration, tile]) if known else UNKNOWN
    relative = (seat - me) & 3
    if feature < 8:
        return relative if feature == 5 else (1 if relative == 2 * (feature - 6) else 0)
    if feature < 10:
        return held if feature == 8 else kind
    return named(state) if feature == 10 else (leader - me) & 3


@njit(cache=True, nogil=True)
def own_hand(state: State, i: int) -> int:
    """Return number `i` of the 36 x 8 tokens of what the mover knows: declaration, own tiles, all plays in order.

    Features: high pip, low pip, is double, count class, relative seat, in hand, declaration, type (0 the
    declaration's token, 1 a tile in hand, 2 a play).
    """
    token = i // OWN_FEATURES
    feature = i - token * OWN_FEATURES
    me = int(state.texas42_mover)
    in_hand = HAND - (state.plays >> 2)
    place = token - 1 - in_hand  # of a play in the record
    if place >= state.plays:
        return 0
    if feature == 6:
        return named(state)
    if token == 0:
        return 0
    if feature == 7:
        return 1 if place < 0 else 2
    if feature == 5:
        return 1 if place < 0 else 0
    if feature == 4:
        return 0 if place < 0 else (int(state.leaders[place >> 2]) + place - me) & 3
    tile = int(state.history[place]) if place >= 0 else nth_tile(state.hands[me] & ~state.played, token - 1)
    return pips(tile, feature)


@njit(cache=True, nogil=True)
def bidding(state: State, i: int) -> float:
    """Return number `i` of what the mover knows in the auction.

    The 28 tiles, 1 for those in its initial hand; for each relative seat whether it has spoken and its bid's place
    on the ladder, 0 (pass) to 1 (7 marks); 1 if a declaration is to be named now. With house contracts, for each
    relative seat 1 if it has bid splash or plunge.
    """
    me = int(state.texas42_mover)
    if i < TILES:
        return 1.0 if state.hands[me] & bit(i) != uint32(0) else 0.0
    if i == TILES + 2 * SEATS:
        return 1.0 if state.phase == NAMING else 0.0
    if i >= BIDDING_NUMBERS:
        return 1.0 if state.bids[(me + i - BIDDING_NUMBERS) & 3] >= FIRST_SPLASH else 0.0
    bid = state.bids[(me + ((i - TILES) >> 1)) & 3]
    if (i - TILES) & 1 == 0:
        return 0.0 if bid == SILENT else 1.0
    return max(0.0, float(rung(bid) - 1) / (LAST_BID - 1))
