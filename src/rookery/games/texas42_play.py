"""A hand of Texas 42: the deal, following suit, tricks and who takes them. Compiled functions on a state's record."""

from __future__ import annotations

from numba import njit, uint32, uint64

from rookery.games.bits import Word, popcount
from rookery.games.rng import random_bits
from rookery.games.rules import State
from rookery.games.texas42_auction import BIDDING, DONE, NO_AUCTION, PLAYING, SILENT
from rookery.games.texas42_house import nearest, sits_out
from rookery.games.texas42_tiles import (
    COUNT,
    FOLLOW,
    HAND,
    LEADS,
    NO_SUIT,
    NO_TILE,
    NOT_NAMED,
    POWER,
    SEATS,
    SEVENS,
    TILES,
    bit,
)

DEAL_STREAM = 42
FRACTION = 58  # bits of a random fraction: times 28 it still fits into 64
BELOW_ONE = (1 << FRACTION) - 1


@njit(cache=True, nogil=True)
def clear(state: State) -> None:
    """Set up a hand of which nothing is known yet but who begins."""
    state.hands[:] = uint32(0)
    state.played = uint32(0)
    state.tiles[:] = NO_TILE
    state.history[:] = NO_TILE
    state.leaders[:] = state.first
    state.voids[:] = 0
    state.points[:] = 0
    state.plays = 0
    state.texas42_mover = state.first
    state.led_suit = NO_SUIT
    state.phase = PLAYING if state.auction == NO_AUCTION else BIDDING
    state.declaration = NOT_NAMED
    state.opener = state.first
    state.bids[:] = SILENT
    state.spoken = 0
    state.high_bid = SILENT
    state.declarer = state.first


@njit(cache=True, nogil=True)
def deal_hands(state: State, seed: int) -> None:
    """Deal every tile, in increasing order, to a seat drawn in proportion to the places left in its hand.

    All deals are equally likely, and hands come out sorted. Seven draws share one random word, read as a fraction:
    each multiplies what is left of it by the number of places, so probabilities are right to a part in 2^25.
    """
    first, second, third = HAND, 2 * HAND, 3 * HAND  # places left in hand 0, in hands 0 and 1, in hands 0 to 2
    for word in range(SEATS):
        fraction = random_bits(seed, DEAL_STREAM, word) >> uint64(64 - FRACTION)
        for tile in range(HAND * word, HAND * word + HAND):
            fraction *= uint64(TILES - tile)
            place = int(fraction >> uint64(FRACTION))
            fraction &= uint64(BELOW_ONE)
            seat = int(place >= first) + int(place >= second) + int(place >= third)
            first -= int(seat < 1)
            second -= int(seat < 2)
            third -= int(seat < 3)
            state.tiles[seat, popcount(state.hands[seat])] = tile
            state.hands[seat] |= bit(tile)


@njit(cache=True, nogil=True)
def playable(state: State) -> Word:
    """Return the tiles the mover may play; none if its hand is hidden."""
    held = state.hands[state.texas42_mover] & ~state.played
    if state.declaration >= SEVENS:
        return nearest(state, held)
    if state.plays & 3 == 0:
        return held
    following = held & FOLLOW[state.declaration, state.led_suit]
    return following if following != uint32(0) else held


@njit(cache=True, nogil=True)
def end_trick(state: State) -> None:
    """Give a full trick to its winner, who leads the next; the seventh ends the hand."""
    first = state.plays - SEATS
    best, winner, worth = -1, 0, 1
    for place in range(SEATS):
        tile = state.history[first + place]
        worth += COUNT[tile]
        strength = POWER[state.declaration, state.led_suit, tile]
        if strength > best:
            best, winner = strength, place
    seat = (state.leaders[first >> 2] + winner) & 3
    state.points[seat & 1] += worth
    state.leaders[state.plays >> 2] = seat
    state.texas42_mover = seat
    state.led_suit = NO_SUIT
    if state.plays == TILES:
        state.phase = DONE


@njit(cache=True, nogil=True)
def put(state: State, tile: int) -> None:
    """Let the mover play a tile of its hand; one that does not follow shows that the seat is void in the led suit."""
    seat = state.texas42_mover
    if state.plays & 3 == 0:
        state.led_suit = LEADS[state.declaration, tile]
    elif FOLLOW[state.declaration, state.led_suit] & bit(tile) == uint32(0):
        state.voids[seat] |= 1 << state.led_suit
    state.history[state.plays] = tile
    state.played |= bit(tile)
    state.plays += 1
    state.texas42_mover = (seat + 1) & 3
    if state.declaration > NOT_NAMED:
        play_house(state, seat, tile)
    if state.plays & 3 == 0:
        end_trick(state)


@njit(cache=True, nogil=True)
def play_house(state: State, seat: int, tile: int) -> None:
    """Do what is different after a play in nello or sevens.

    In nello the place of the seat that sits out stays empty. In sevens nobody follows: where the nearest tile must be
    played, it shows that nothing nearer is held.
    """
    if state.declaration == SEVENS:
        state.voids[seat] = (1 << LEADS[SEVENS, tile]) - 1
    elif state.declaration > SEVENS:
        state.voids[seat] = 0
    elif state.plays & 3 != 0 and state.texas42_mover == sits_out(state):
        state.plays += 1
        state.texas42_mover = (seat + 2) & 3
