"""Positions and hands of Texas 42 made again from the few numbers that a file keeps, and whether they can be."""

from __future__ import annotations

import numpy as np
from numba import njit, uint32

from rookery.games.bits import lowest_bit, popcount
from rookery.games.rules import State
from rookery.games.texas42 import Texas42
from rookery.games.texas42_auction import ALL_POINTS, LEAST_POINTS
from rookery.games.texas42_play import clear, playable, put
from rookery.games.texas42_tiles import ALL_TILES, DECLARATIONS, HAND, LEADS, NO_TILE, SEATS, TILES, bit

TRICK = SEATS - 1
ILLEGAL = -128
NAMES = len(DECLARATIONS)


@njit(cache=True, nogil=True)
def shares_out(hands: np.ndarray) -> bool:
    """Tell whether four hands of seven are all tiles."""
    union = uint32(0)
    for seat in range(SEATS):
        if popcount(hands[seat]) != HAND:
            return False
        union |= hands[seat]
    return bool(union == uint32(ALL_TILES))


@njit(cache=True, nogil=True)
def give_hands(state: State, hands: np.ndarray) -> None:
    """Set the initial hands of a position in which nothing else is known."""
    clear(state)
    for seat in range(SEATS):
        tiles, slot = hands[seat], 0
        state.hands[seat] = tiles
        while tiles != uint32(0):
            state.tiles[seat, slot] = lowest_bit(tiles)
            slot += 1
            tiles &= tiles - uint32(1)


@njit(cache=True, nogil=True)
def place(
    state: State, hands: np.ndarray, played: int, trick: np.ndarray, declaration: int, leader: int
) -> bool:  # fmt: skip
    """Set up a position without its past tricks; tell whether it is one.

    Voids, points and the tiles of past tricks are not known and left empty: the exact value and what all hands show
    do not depend on them.
    """
    if not shares_out(hands) or not 0 <= declaration < NAMES or not 0 <= leader < SEATS:
        return False
    give_hands(state, hands)
    plays = popcount(uint32(played))
    lying = plays & 3
    state.declaration, state.played, state.plays = declaration, uint32(played), plays
    state.leaders[:] = leader
    state.texas42_mover = (leader + lying) & 3
    for seat in range(SEATS):
        mine = popcount(hands[seat] & uint32(played))
        if mine != (plays >> 2) + int(((seat - leader) & 3) < lying):
            return False
    for at in range(TRICK):
        tile = trick[at]
        if (at < lying) != (0 <= tile < TILES):
            return False
        if at < lying:
            if not hands[(leader + at) & 3] & uint32(played) & bit(tile):
                return False
            state.history[(plays & ~3) + at] = tile
    if lying:
        state.led_suit = LEADS[declaration, trick[0]]
    return plays < TILES


@njit(cache=True, nogil=True)
def place_each(
    states: np.ndarray, hands: np.ndarray, played: np.ndarray, trick: np.ndarray, declaration: np.ndarray,
    leader: np.ndarray,
) -> int:  # fmt: skip
    """Set up positions; return the number of the first that is none, or -1."""
    for i in range(len(states)):
        if not place(states[i], hands[i], played[i], trick[i], declaration[i], leader[i]):
            return i
    return -1


@njit(cache=True, nogil=True)
def first_bad_labels(states: np.ndarray, q: np.ndarray) -> int:
    """Return the first position whose labels are not for its legal slots, or beyond what a hand can bring; or -1."""
    for i in range(len(states)):
        state = states[i]
        legal = playable(state)
        for slot in range(HAND):
            is_legal = legal & bit(state.tiles[state.texas42_mover, slot]) != uint32(0)
            if is_legal != (q[i, slot] != ILLEGAL) or (is_legal and abs(q[i, slot]) > ALL_POINTS):
                return i
    return -1


@njit(cache=True, nogil=True)
def begin_hand(state: State, hands: np.ndarray, declaration: int, leader: int, bid: int) -> bool:
    """Set up a hand before its first play; tell whether it is one."""
    if not shares_out(hands) or not 0 <= declaration < NAMES or not 0 <= leader < SEATS:
        return False
    if bid != 0 and not LEAST_POINTS <= bid <= ALL_POINTS:
        return False
    give_hands(state, hands)
    state.declaration, state.wanted = declaration, bid
    state.opener = state.declarer = state.first = state.texas42_mover = leader
    state.leaders[:] = leader
    return True


@njit(cache=True, nogil=True)
def replay_each(
    states: np.ndarray, hands: np.ndarray, declaration: np.ndarray, leader: np.ndarray, bid: np.ndarray,
    history: np.ndarray,
) -> int:  # fmt: skip
    """Write the positions before each of the 28 plays of hands, [N, 28]; return the first hand that is none, or -1."""
    for i in range(len(states)):
        before = states[i]
        if not begin_hand(before[0], hands[i], declaration[i], leader[i], bid[i]):
            return i
        for ply in range(TILES):
            tile = history[i, ply]
            if not 0 <= tile < TILES or playable(before[ply]) & bit(tile) == uint32(0):
                return i
            if ply + 1 < TILES:
                before[ply + 1] = before[ply]
                put(before[ply + 1], tile)
    return -1


# ---- for Python ----------------------------------------------------------------------------------


def positions(
    hands: np.ndarray, played: np.ndarray, trick: np.ndarray, declaration: np.ndarray, leader: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Return positions without their past tricks, as records."""
    states = Texas42().empty_states(len(hands))
    bad = place_each(states, hands, played, trick, declaration, leader)
    assert bad < 0, f"row {bad} is no position"
    return states


def first_bad_position(
    hands: np.ndarray, played: np.ndarray, trick: np.ndarray, declaration: np.ndarray, leader: np.ndarray,
    q: np.ndarray,
) -> int:  # fmt: skip
    """Return the first row that holds no position, or no labels of one; -1 if all are sound."""
    states = Texas42().empty_states(len(hands))
    bad = int(place_each(states, hands, played, trick, declaration, leader))
    return bad if bad >= 0 else int(first_bad_labels(states, q))


def replayed(
    hands: np.ndarray, declaration: np.ndarray, leader: np.ndarray, bid: np.ndarray, history: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Return the positions before each of the 28 plays of hands, as records [N, 28]."""
    states = Texas42().empty_states(TILES * len(hands)).reshape(-1, TILES)
    bad = replay_each(states, hands, declaration, leader, bid, history)
    assert bad < 0, f"row {bad} is no hand"
    return states


def first_bad_hand(
    hands: np.ndarray, declaration: np.ndarray, leader: np.ndarray, bid: np.ndarray, history: np.ndarray
) -> int:  # fmt: skip
    """Return the first row that holds no hand played by the rules; -1 if all do."""
    for first in range(0, len(hands), 4096):  # records of all plays take room
        some = slice(first, first + 4096)
        states = Texas42().empty_states(TILES * len(hands[some])).reshape(-1, TILES)
        bad = int(replay_each(states, hands[some], declaration[some], leader[some], bid[some], history[some]))
        if bad >= 0:
            return first + bad
    return -1


def kept_of(states: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a file keeps of positions, besides seed and labels."""
    lying = states["plays"] & 3
    at = np.minimum((states["plays"] & ~np.int8(3)).astype(np.int64)[:, None] + np.arange(TRICK), TILES - 1)
    trick = np.take_along_axis(states["history"], at, 1)
    leader = (states["texas42_mover"] - lying) & 3
    return {
        "hands": states["hands"].copy(), "played": states["played"].copy(),
        "trick": np.where(np.arange(TRICK) < lying[:, None], trick, NO_TILE).astype(np.int8),
        "declaration": states["declaration"].copy(), "leader": leader.astype(np.int8),
    }  # fmt: skip
