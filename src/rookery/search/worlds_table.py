"""Who can hold what in Texas 42: counting deals, and finding deal number r, in compiled code.

A seat knows its own tiles, those played, and the suits that others have shown not to hold. What is left is a puzzle:
give the unseen tiles, in increasing order, to three hands with a known number of places, each tile to a hand that may
hold it. In how many ways the rest can be given depends on the places still open and on nothing else, so a table of at
most 8 x 8 x 8 numbers holds all there is to know. The way from the full table down to the last tile, ordered by
hands, numbers the worlds 0..count-1: one random number below the count draws a world, and all are equally likely.

Where a bid has promised doubles (splash, plunge), doubles are given first: once they are, the places taken in a hand
are its doubles, and where they are too few there is no way to go on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uint32, uint64

from rookery.games.bits import Word, lowest_bit, popcount
from rookery.games.rng import number, stream_of
from rookery.games.rules import State
from rookery.games.texas42_house import promised
from rookery.games.texas42_tiles import ALL_TILES, DOUBLES, FOLLOW, HAND, SEATS, SUITS, TILES, bit

HIDDEN = SEATS - 1
PLACES = 512  # places open in three hands, three bits each, those of the first hand highest
WORLDS_STREAM = 4242
ALL_TILES_WORD = np.uint32(ALL_TILES)
NO_OWN_HAND, TOO_FEW = -1, -2  # what `lay_out` says of a record that cannot be

Desk = Any  # one record of DESK
DESK = np.dtype(
    [
        ("ways", np.int64, (PLACES,)),  # to give the remaining tiles, by the places that are open
        ("tiles", np.int8, (TILES,)),  # the unseen ones in increasing order, or doubles first
        ("may", np.uint8, (TILES,)),  # which of the three hands may hold each: bits 0..2
        ("seats", np.int8, (HIDDEN,)),  # of the three hands, in increasing order
        ("unseen", np.int64),
        ("open", np.int64),  # places open at the beginning
        ("doubles", np.int64),  # unseen doubles, which stand before the other tiles; -1 if none are promised
        ("promised", np.int64, (HIDDEN,)),  # how many of them each hand must get at least
    ],
    align=True,
)


@njit(cache=True, nogil=True)
def shift_of(hand: int) -> int:
    """Return where the places of a hand begin."""
    return 6 - 3 * hand


@njit(cache=True, nogil=True)
def barred(state: State, seat: int) -> Word:
    """Return the tiles a seat cannot hold any more, by the suits it has shown not to hold."""
    excluded = uint32(0)
    if state.voids[seat] != 0:
        for suit in range(SUITS):
            if state.voids[seat] >> suit & 1:
                excluded |= FOLLOW[state.declaration, suit]
    return excluded


@njit(cache=True, nogil=True)
def list_unseen(desk: Desk, state: State, unseen: Word) -> int:
    """Write the unseen tiles in the order in which they are given, and what was promised; return how many there are."""
    count, any_promised = 0, 0
    for hand in range(HIDDEN):
        seat = desk.seats[hand]
        shown = popcount(state.hands[seat] & state.played & DOUBLES)
        desk.promised[hand] = max(0, promised(state, seat) - shown)
        any_promised += desk.promised[hand]
    first = unseen & DOUBLES if any_promised > 0 else uint32(0)
    desk.doubles = popcount(first) if any_promised > 0 else -1
    for part in range(2):
        tiles = first if part == 0 else unseen & ~first
        while tiles != uint32(0):
            desk.tiles[count] = lowest_bit(tiles)
            tiles &= tiles - uint32(1)
            count += 1
    return count


@njit(cache=True, nogil=True)
def keeps_promises(desk: Desk, a: int, b: int, c: int) -> bool:
    """Tell, once all doubles are given, whether hands with so many places open have got those they promised."""
    return bool(
        (desk.open >> 6) - a >= desk.promised[0]
        and ((desk.open >> 3) & 7) - b >= desk.promised[1]
        and (desk.open & 7) - c >= desk.promised[2]
    )


@njit(cache=True, nogil=True)
def lay_out(desk: Desk, state: State, viewer: int) -> int:
    """Write down what a viewer does not know; return the number of unseen tiles, or why there is no sense in it.

    Of the other hands only what was played is read.
    """
    known, hand = state.hands[viewer] | state.played, 0
    if popcount(state.hands[viewer]) != HAND:
        return NO_OWN_HAND
    desk.may[:] = 0
    desk.open = 0
    for seat in range(SEATS):
        if seat != viewer:
            desk.seats[hand] = seat
            desk.open |= (HAND - popcount(state.hands[seat] & state.played)) << shift_of(hand)
            hand += 1
    needed = 0
    for hand in range(HIDDEN):
        needed += (desk.open >> shift_of(hand)) & 7
    count = list_unseen(desk, state, ~known & ALL_TILES_WORD)
    for hand in range(HIDDEN):
        held = ~barred(state, desk.seats[hand])
        for i in range(count):
            if held & bit(desk.tiles[i]) != uint32(0):
                desk.may[i] |= 1 << hand
    desk.unseen = count
    return count if count == needed else TOO_FEW


@njit(cache=True, nogil=True)
def count_ways(desk: Desk) -> int:
    """Fill the table of a desk that is laid out; return the number of worlds."""
    first, second, third = desk.open >> 6, (desk.open >> 3) & 7, desk.open & 7
    for a in range(first + 1):
        for b in range(second + 1):
            for c in range(third + 1):
                places = (a << 6) | (b << 3) | c
                if desk.unseen - a - b - c == desk.doubles and not keeps_promises(desk, a, b, c):
                    desk.ways[places] = 0
                    continue
                if places == 0:
                    desk.ways[0] = 1
                    continue
                may, ways = desk.may[desk.unseen - a - b - c], 0
                if a > 0 and may & 1:
                    ways += desk.ways[places - 64]
                if b > 0 and may & 2:
                    ways += desk.ways[places - 8]
                if c > 0 and may & 4:
                    ways += desk.ways[places - 1]
                desk.ways[places] = ways
    return int(desk.ways[desk.open])


@njit(cache=True, nogil=True)
def next_holder(desk: Desk, i: int, places: int, rank: int) -> tuple[int, int]:
    """Return which hand takes unseen tile `i` in world `rank` of those that are left, and its number among the rest."""
    for hand in range(HIDDEN):
        shift = shift_of(hand)
        if desk.may[i] >> hand & 1 and (places >> shift) & 7:
            ways = desk.ways[places - (1 << shift)]
            if rank < ways:
                return hand, rank
            rank -= ways
    return -1, rank


@njit(cache=True, nogil=True)
def write_world(desk: Desk, rank: int, state: State) -> None:
    """Give the unseen tiles to the hidden hands as world number `rank` has it; `state` holds the public record."""
    for hand in range(HIDDEN):
        state.hands[desk.seats[hand]] &= state.played
    places = desk.open
    for i in range(desk.unseen):
        hand, rank = next_holder(desk, i, places, rank)
        state.hands[desk.seats[hand]] |= bit(desk.tiles[i])
        places -= 1 << shift_of(hand)
    for hand in range(HIDDEN):
        seat = desk.seats[hand]
        tiles = state.hands[seat]
        for slot in range(HAND):
            state.tiles[seat, slot] = lowest_bit(tiles)
            tiles &= tiles - uint32(1)


@njit(cache=True, nogil=True)
def drawn_rank(count: int, key: Word, world: int) -> int:
    """Draw a number below `count`, which is less than 2^32: the high part of 64 random bits times the count.

    The chances of two numbers differ by less than a part in 2^32.
    """
    bits, limit = number(key, world), uint64(count)
    low = ((bits & uint64(0xFFFFFFFF)) * limit) >> uint64(32)
    return int(((bits >> uint64(32)) * limit + low) >> uint64(32))


@njit(cache=True, nogil=True)
def count_holders(desk: Desk, arrivals: np.ndarray, holders: np.ndarray) -> None:
    """Count in how many worlds each of the three hands holds each unseen tile.

    arrivals  [PLACES] room
    holders   [TILES, 3] by the place of a tile among the unseen ones
    """
    arrivals[:] = 0
    holders[:] = 0
    arrivals[desk.open] = 1
    for places in range(desk.open, 0, -1):  # a tile given makes the number smaller
        if arrivals[places] == 0 or desk.ways[places] == 0:
            continue
        i = desk.unseen - (places >> 6) - ((places >> 3) & 7) - (places & 7)
        for hand in range(HIDDEN):
            shift = shift_of(hand)
            if desk.may[i] >> hand & 1 and (places >> shift) & 7:
                after = places - (1 << shift)
                holders[i, hand] += arrivals[places] * desk.ways[after]
                arrivals[after] += arrivals[places]


@njit(cache=True, nogil=True)
def draw_worlds(
    desks: np.ndarray,
    states: np.ndarray,
    seeds: np.ndarray,
    viewers: np.ndarray,
    counts: np.ndarray,
    listed: np.ndarray,
    begins: np.ndarray,
    out: np.ndarray,
    first: int,
    last: int,
    stop: np.ndarray,
) -> None:
    """Write the worlds out[first:last] of many positions, each as its viewer knows it.

    desks    [1] room
    states   [P] the positions
    seeds    [P] same seed, same worlds
    viewers  [P] seats
    counts   [P] possible worlds
    listed   [P] whether all of them are wanted, in order, instead of random ones
    begins   [P + 1] position p has the worlds begins[p]..begins[p + 1] - 1
    out      [begins[P]] states
    """
    desk, position, laid = desks[0], 0, -1
    for i in range(first, last):
        if stop[0]:
            return
        while i >= begins[position + 1]:
            position += 1
        if laid != position:
            lay_out(desk, states[position], viewers[position])
            count_ways(desk)
            laid = position
        rank = i - begins[position]
        if not listed[position]:
            rank = drawn_rank(counts[position], stream_of(seeds[position], WORLDS_STREAM), rank)
        out[i] = states[position]
        write_world(desk, rank, out[i])


@njit(cache=True, nogil=True)
def count_worlds(
    desks: np.ndarray, states: np.ndarray, viewers: np.ndarray, first: int, last: int, counts: np.ndarray
) -> None:
    """Count the worlds of the positions first..last-1; a negative number says why one makes no sense."""
    desk = desks[0]
    for i in range(first, last):
        unseen = lay_out(desk, states[i], viewers[i])
        counts[i] = count_ways(desk) if unseen >= 0 else unseen
