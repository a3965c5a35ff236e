"""A position of Texas 42 with all hands open, tile by tile: what the networks of Stage 1 read that are told the rules.

33 tokens of 17 numbers: the trick, the 28 tiles by their ids, the four seats counted from the mover. What is still to
come depends on the tiles that are left, who holds them and what lies in the trick, so no more is told: of a tile of
an earlier trick only that it is gone. Of every other tile it is told how many tiles of its suit each hand has,
and how many of these are above it, so that nobody has to learn the rules first.

Numbers that have no meaning for a token, or are not known, are -1. In a position seen by one seat the other hands are
empty ones, and a tile that is not seen is nowhere.
"""

from __future__ import annotations

from numba import njit, uint32

from rookery.games.bits import Word, popcount
from rookery.games.rules import State
from rookery.games.texas42_auction import PLAYING
from rookery.games.texas42_known import (
    best_place,
    has_suits,
    known_of_face,
    known_of_trick,
    place_of,
    tiles_above,
    tiles_of_suit,
)
from rookery.games.texas42_play import playable
from rookery.games.texas42_tiles import (
    ALL_TILES,
    CALLED,
    COUNT,
    HIGH,
    LEADS,
    LOW,
    POWER,
    SEATS,
    SUITS,
    TILES,
    bit,
)
from rookery.games.texas42_tokens import UNKNOWN

OPEN_TOKENS, OPEN_FEATURES = 1 + TILES + SEATS, 17
TRICK_FEATURES = 6  # the first of `known`, which tell of open tiles alone
GONE, OWN_GONE, LIES, HELD, LEGAL = 0, 1, 1, 5, 9  # where a tile is; `LIES` and `HELD` more by the relative seat


@njit(cache=True, nogil=True)
def open_hands(state: State, i: int) -> int:
    """Return number `i` of the 33 x 17 tokens of open hands: the trick, each tile, each seat."""
    token = i // OPEN_FEATURES
    feature = i - token * OPEN_FEATURES
    if token == 0:
        return known_of_trick(state, feature) if feature < TRICK_FEATURES else UNKNOWN
    if token <= TILES:
        tile = token - 1
        if feature < 6:
            return known_of_face(state, tile, feature)
        return where_is(state, tile) if feature == 6 else open_tile(state, tile, feature)
    return open_seat(state, token - 1 - TILES, feature)


@njit(cache=True, nogil=True)
def where_is(state: State, tile: int) -> int:
    """Return where a tile is.

    0 played in an earlier trick, 1 by the mover; 2..4 in this trick, by the left, the partner, the right; 5..8 in the
    hand of the mover, the left, the partner, the right; 9 in that of the mover, and legal.
    """
    me = int(state.texas42_mover)
    if state.played & bit(tile) != uint32(0):
        place = place_of(state, tile)
        if place >= int(state.plays) & ~3:
            return LIES + seat_of_play(state, place)
        return OWN_GONE if state.hands[me] & bit(tile) != uint32(0) else GONE
    if state.phase == PLAYING and playable(state) & bit(tile) != uint32(0):
        return LEGAL
    for relative in range(SEATS):
        if state.hands[(me + relative) & 3] & bit(tile) != uint32(0):
            return HELD + relative
    return UNKNOWN


@njit(cache=True, nogil=True)
def open_tile(state: State, tile: int, feature: int) -> int:
    """Return a feature of the token of a tile that is not gone.

    7..10 how many tiles each hand has above it in its suit, the mover's first, 11..14 how many of that suit; 15 is, or
    would be, the best of this trick, 16 how many tiles are above it in the suit of its low pip. The suit is the one it
    leads, that of the trick's lead for a tile that lies in it; above one that does not follow it stands nothing, and 15
    tells what it comes to. 16 counts all tiles that are not played, hidden ones too.
    """
    lies = state.played & bit(tile) != uint32(0)
    if lies and place_of(state, tile) < int(state.plays) & ~3:
        return UNKNOWN
    declaration = int(state.declaration)
    if feature == 15 and state.plays & 3 != 0:
        best = best_place(state)
        if lies:
            return 1 if place_of(state, tile) == best else 0
        strengths = POWER[declaration, state.led_suit]
        return 1 if strengths[tile] > strengths[state.history[best]] else 0
    if not has_suits(state) or feature == 15:
        return UNKNOWN
    suit = int(state.led_suit) if lies else int(LEADS[declaration, tile])
    if feature == 16:
        if lies or suit == CALLED or HIGH[tile] == LOW[tile]:
            return UNKNOWN
        return popcount(tiles_above(declaration, int(LOW[tile]), tile) & uint32(ALL_TILES) & ~state.played)
    if feature < 11:
        return popcount(tiles_above(declaration, suit, tile) & left_in_hand(state, feature - 7))
    return popcount(tiles_of_suit(declaration, suit) & left_in_hand(state, feature - 11))


@njit(cache=True, nogil=True)
def open_seat(state: State, relative: int, feature: int) -> int:
    """Return a feature of a seat's token.

    Relative seat, tiles in its hand, how many of each of the eight suits, counts in its hand in fives.
    """
    if feature == 0:
        return relative
    hand = left_in_hand(state, relative)
    if feature == 1:
        return popcount(hand)
    if feature < 2 + SUITS:
        return popcount(hand & tiles_of_suit(int(state.declaration), feature - 2)) if has_suits(state) else UNKNOWN
    if feature > 2 + SUITS:
        return UNKNOWN
    worth = 0
    for tile in range(TILES):
        worth += int(COUNT[tile]) if hand & bit(tile) != uint32(0) else 0
    return worth // 5


@njit(cache=True, nogil=True)
def seat_of_play(state: State, place: int) -> int:
    """Return the relative seat whose play in the current trick has a number."""
    return (int(state.leaders[place >> 2]) + place - int(state.texas42_mover)) & 3


@njit(cache=True, nogil=True)
def left_in_hand(state: State, relative: int) -> Word:
    """Return the tiles that a relative seat still holds."""
    return state.hands[(int(state.texas42_mover) + relative) & 3] & ~state.played
