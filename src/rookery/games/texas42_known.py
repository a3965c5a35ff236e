"""All that the mover of Texas 42 knows in the play, tile by tile: what Stage 2's networks read.

33 tokens of 17 numbers: the trick, the 28 tiles by their ids, the four seats counted from the mover. Every tile is in
the own hand, played, or not seen. What follows from the record by the rules alone, such as who is void in what or which
tiles are left above another one, is told, so that nobody has to learn the rules first. Hidden hands are never read;
where the mover's own is hidden from who looks, its tiles are not seen, either.

Numbers that have no meaning for a token, or are not known yet, are -1.
"""

from __future__ import annotations

from numba import njit, uint32

from rookery.games.bits import Word, popcount
from rookery.games.rules import State
from rookery.games.texas42_auction import PASS, PLAYING, SILENT, marks_of, points_needed
from rookery.games.texas42_house import FIRST_PLUNGE, FIRST_SPLASH, sits_out
from rookery.games.texas42_play import playable
from rookery.games.texas42_tiles import (
    ABOVE,
    ALL_TILES,
    CALLED,
    CALLED_RANK,
    COUNT,
    FOLLOW,
    HAND,
    HIGH,
    LEADS,
    LOW,
    NO_TILE,
    NOT_NAMED,
    POWER,
    SEATS,
    SEVENS,
    SUITS,
    TILES,
    bit,
)
from rookery.games.texas42_tokens import UNKNOWN, named, pips

KNOWN_TOKENS, KNOWN_FEATURES = 1 + TILES + SEATS, 17
PAST, IN_TRICK, UNSEEN = 2, 3, 6  # where a tile is that is not in the own hand


@njit(cache=True, nogil=True)
def known(state: State, i: int) -> int:
    """Return number `i` of the 33 x 17 tokens of all the mover knows in the play: the trick, each tile, each seat."""
    token = i // KNOWN_FEATURES
    feature = i - token * KNOWN_FEATURES
    if token == 0:
        return known_of_trick(state, feature)
    if token <= TILES:
        tile = token - 1
        if feature < 6:
            return known_of_face(state, tile, feature)
        if state.played & bit(tile) != uint32(0):
            return known_of_play(state, tile, feature)
        return known_of_live(state, tile, feature)
    return known_of_seat(state, token - 1 - TILES, feature)


@njit(cache=True, nogil=True)
def known_of_trick(state: State, feature: int) -> int:
    """Return a feature of the trick's token.

    Declaration, suit led (8: none yet), tiles that lie, number of the trick, relative seat that has the best tile,
    counts that lie in fives, called tiles that the mover does not see.
    """
    if feature == 0:
        return named(state)
    if feature == 1:
        return int(state.led_suit)
    if feature == 3:
        return int(state.plays) >> 2
    first, lying, worth = int(state.plays) & ~3, 0, 0
    for place in range(first, int(state.plays)):
        lying += int(state.history[place] != NO_TILE)  # where a seat sits out, its place is empty
        worth += int(COUNT[state.history[place]])
    if feature == 2:
        return lying
    if feature == 4 and lying > 0:
        return (int(state.leaders[first >> 2]) + best_place(state) - first - int(state.texas42_mover)) & 3
    if feature == 5:
        return worth // 5
    if feature == 6 and has_suits(state):
        return popcount(unseen(state) & tiles_of_suit(int(state.declaration), CALLED))
    return UNKNOWN


@njit(cache=True, nogil=True)
def known_of_face(state: State, tile: int, feature: int) -> int:
    """Return one of a tile's first six features: the four of its pips, rank in the called suit, declaration."""
    if feature < 4:
        return pips(tile, feature)
    if feature == 4 and state.declaration != NOT_NAMED:
        return int(CALLED_RANK[state.declaration, tile])
    return named(state) if feature == 5 else UNKNOWN


@njit(cache=True, nogil=True)
def known_of_play(state: State, tile: int, feature: int) -> int:
    """Return a feature of the token of a tile that is played.

    6 where (2 in an earlier trick, 3..5 first to third of this one), 7 relative seat, 8 number of the play, 9 followed
    suit, 11 is the best of this trick.
    """
    place = place_of(state, tile)
    first = int(state.plays) & ~3
    if feature == 6:
        return PAST if place < first else IN_TRICK + place - first
    if place < 0:  # of past tricks nothing is told but whether a tile was the mover's own
        mine = state.hands[state.texas42_mover] & bit(tile) != uint32(0)
        return 0 if feature == 7 and mine else UNKNOWN
    if feature == 7:
        return (int(state.leaders[place >> 2]) + place - int(state.texas42_mover)) & 3
    if feature == 8:
        return place
    if feature == 9 and has_suits(state):
        suit = LEADS[state.declaration, state.history[place & ~3]]
        return 1 if tiles_of_suit(int(state.declaration), int(suit)) & bit(tile) != uint32(0) else 0
    if feature == 11 and place >= first:
        return 1 if place == best_place(state) else 0
    return UNKNOWN


@njit(cache=True, nogil=True)
def known_of_live(state: State, tile: int, feature: int) -> int:
    """Return a feature of the token of a tile that is not played.

    6 where (0 in the own hand, 1 there and legal, 6 not seen), 10 how many tiles rank above it in the suit it leads,
    11 would be the best of this trick, 12..14 may be with the left, the partner, the right, 15 how many tiles of that
    suit are not seen, 16 how many rank above it in the suit of its low pip. Counted are tiles that the mover does not
    see, and for one of these the own hand, too.
    """
    me, declaration = int(state.texas42_mover), int(state.declaration)
    hidden = unseen(state)
    mine = hidden & bit(tile) == uint32(0)
    if feature == 6:
        if not mine:
            return UNSEEN
        return 1 if state.phase == PLAYING and playable(state) & bit(tile) != uint32(0) else 0
    if feature == 11 and state.plays & 3 != 0:
        strengths = POWER[declaration, state.led_suit]
        return 1 if strengths[tile] > strengths[state.history[best_place(state)]] else 0
    if 12 <= feature <= 14 and not mine and declaration != NOT_NAMED:
        return 1 if not_void(state, (me + feature - 11) & 3, tile) else 0
    if not has_suits(state):
        return UNKNOWN
    suit = int(LEADS[declaration, tile])
    if feature == 15:
        return popcount(hidden & tiles_of_suit(declaration, suit))
    if feature == 16 and suit != CALLED and HIGH[tile] != LOW[tile]:
        suit = int(LOW[tile])
    elif feature != 10:
        return UNKNOWN
    others = hidden if mine else uint32(ALL_TILES) & ~state.played
    return popcount(tiles_above(declaration, suit, tile) & others)


@njit(cache=True, nogil=True)
def known_of_seat(state: State, relative: int, feature: int) -> int:
    """Return a feature of a seat's token.

    Points its bid needs, marks it is worth, has spoken (2 by splash, 3 by plunge), has the contract, relative seat,
    points its team has taken, tiles it holds, then for each suit whether it has shown to be void. A bid fixed by the
    option is that of the first leader.
    """
    seat = (int(state.texas42_mover) + relative) & 3
    bid, fixed = int(state.bids[seat]), int(state.wanted) if seat == state.declarer else 0
    if feature == 0:
        return points_needed(bid) if bid > PASS else fixed
    if feature == 1:
        return marks_of(bid) if bid > PASS else min(fixed, 1)
    if feature == 2:
        return 0 if bid == SILENT else 1 + int(bid >= FIRST_SPLASH) + int(bid >= FIRST_PLUNGE)
    if feature == 3:
        return 1 if (bid > PASS and bid == state.high_bid) or fixed > 0 else 0
    if feature == 4:
        return relative
    if feature == 5:
        return int(state.points[seat & 1])
    if feature == 6:
        if seat == sits_out(state):
            return HAND
        played, lying = int(state.plays) >> 2, int(state.plays) & 3
        return HAND - played - int((seat - int(state.leaders[played])) & 3 < lying)
    return int(state.voids[seat]) >> (feature - 7) & 1 if feature < 7 + SUITS else UNKNOWN


@njit(cache=True, nogil=True)
def has_suits(state: State) -> bool:
    """Tell whether suits are followed: a declaration is named, and it is not sevens."""
    return bool(state.declaration != NOT_NAMED and state.declaration < SEVENS)


@njit(cache=True, nogil=True)
def tiles_of_suit(declaration: int, suit: int) -> Word:
    """Return the tiles that belong to a suit; on a card the table is there once, for all that ask."""
    return FOLLOW[declaration, suit]


@njit(cache=True, nogil=True)
def tiles_above(declaration: int, suit: int, tile: int) -> Word:
    """Return the tiles of a suit that rank above one of it."""
    return ABOVE[declaration, suit, tile]


@njit(cache=True, nogil=True)
def unseen(state: State) -> Word:
    """Return the tiles that are neither played nor in the mover's hand."""
    return uint32(ALL_TILES) & ~(state.played | state.hands[state.texas42_mover])


@njit(cache=True, nogil=True)
def best_place(state: State) -> int:
    """Return which play of the current trick is the best of those that lie, counted from the first of the hand."""
    first = int(state.plays) & ~3
    best = first
    for place in range(first + 1, int(state.plays)):
        strengths = POWER[state.declaration, state.led_suit]
        if strengths[state.history[place]] > strengths[state.history[best]]:
            best = place
    return best


@njit(cache=True, nogil=True)
def place_of(state: State, tile: int) -> int:
    """Return the number of the play of a tile; -1 if the position does not tell."""
    for place in range(int(state.plays)):
        if state.history[place] == tile:
            return place
    return -1


@njit(cache=True, nogil=True)
def not_void(state: State, seat: int, tile: int) -> bool:
    """Tell whether a seat may hold a tile, by the suits it has shown not to hold."""
    for suit in range(SUITS):
        if state.voids[seat] >> suit & 1 and tiles_of_suit(int(state.declaration), suit) & bit(tile) != uint32(0):
            return False
    return True
