"""Many positions of Texas 42 side by side: arrays of its records, dealt, played, observed by compiled loops.

Everything here is a pure function of its arguments; loops are short enough to need no stopping.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, uint32

from rookery.games.bits import lowest_bit, popcount
from rookery.games.rng import random_below
from rookery.games.rules import State, start
from rookery.games.texas42 import Texas42
from rookery.games.texas42_auction import DONE
from rookery.games.texas42_known import KNOWN_FEATURES, KNOWN_TOKENS, known
from rookery.games.texas42_open import OPEN_FEATURES, OPEN_TOKENS, open_hands
from rookery.games.texas42_play import playable, put
from rookery.games.texas42_tiles import CALLED_RANK, HAND, HIGH, LOW, bit
from rookery.games.texas42_tokens import ALL_FEATURES, ALL_TOKENS, all_hands
from rookery.search.threads import new_stop, on_threads

SLICE = 4096
"""positions a thread takes at a time"""
NEVER = 8  # more than there are tiles in a suit


# ---- compiled loops ------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def deal_each(states: np.ndarray, seeds: np.ndarray) -> None:
    """Begin a hand in each position, as the game does for its seed."""
    for i in range(len(states)):
        start(states[i], seeds[i])


@njit(cache=True, nogil=True)
def play_each(states: np.ndarray, slots: np.ndarray) -> None:
    """Play a slot in each position; nothing where the slot is negative."""
    for i in range(len(states)):
        if slots[i] >= 0:
            state = states[i]
            put(state, state.tiles[state.texas42_mover, slots[i]])


@njit(cache=True, nogil=True)
def legal_each(states: np.ndarray, legal: np.ndarray) -> None:
    """Mark the legal slots [N, 7] of positions; none where the hand is over."""
    for i in range(len(states)):
        state = states[i]
        legal[i, :] = False
        if state.phase == DONE:
            continue
        hand, tiles = state.hands[state.texas42_mover], playable(state)
        while tiles != uint32(0):
            legal[i, popcount(hand & (bit(lowest_bit(tiles)) - uint32(1)))] = True
            tiles &= tiles - uint32(1)


@njit(cache=True, nogil=True)
def play_random(state: State, seed: int, stream: int, plays: int) -> None:
    """Play legal tiles at random until so many are played."""
    while state.plays < plays:
        tiles = playable(state)
        for _ in range(random_below(popcount(tiles), seed, stream, state.plays)):
            tiles &= tiles - uint32(1)
        put(state, lowest_bit(tiles))


@njit(cache=True, nogil=True)
def play_random_each(states: np.ndarray, seed: int, streams: np.ndarray, plays: np.ndarray) -> None:
    """Play legal tiles at random in each position until as many are played as is told for it."""
    for i in range(len(states)):
        play_random(states[i], seed, streams[i], plays[i])


@njit(cache=True, nogil=True)
def all_tokens_each(states: np.ndarray, tokens: np.ndarray) -> None:
    """Write the tokens of the observation `all`, [N, 384]."""
    for i in range(len(states)):
        for number in range(ALL_TOKENS * ALL_FEATURES):
            tokens[i, number] = all_hands(states[i], number)


@njit(cache=True, nogil=True)
def known_tokens_each(states: np.ndarray, tokens: np.ndarray) -> None:
    """Write the tokens of the observation `known`, [N, 561]."""
    for i in range(len(states)):
        for number in range(KNOWN_TOKENS * KNOWN_FEATURES):
            tokens[i, number] = known(states[i], number)


@njit(cache=True, nogil=True)
def open_tokens_each(states: np.ndarray, tokens: np.ndarray) -> None:
    """Write the tokens of the observation `open`, [N, 561]."""
    for i in range(len(states)):
        for number in range(OPEN_TOKENS * OPEN_FEATURES):
            tokens[i, number] = open_hands(states[i], number)


@njit(cache=True, nogil=True)
def longest_suit_each(states: np.ndarray, seats: np.ndarray, names: np.ndarray) -> None:
    """Find the pip of which each seat holds most tiles; of equals that with the better tiles, then the higher."""
    for i in range(len(states)):
        best, name = -1, 0
        for pip in range(7):
            worth = 0
            for slot in range(HAND):
                tile = states[i].tiles[seats[i], slot]
                if HIGH[tile] == pip or LOW[tile] == pip:
                    worth += 64 + NEVER - CALLED_RANK[pip, tile]
            if worth >= best:
                best, name = worth, pip
        names[i] = name


# ---- for Python ----------------------------------------------------------------------------------


def dealt(seeds: np.ndarray) -> np.ndarray:
    """Return the first positions of hands by their seeds."""
    states = Texas42().empty_states(len(seeds))
    deal_each(states, np.ascontiguousarray(seeds, np.int64))
    return states


def called(states: np.ndarray, declarations: np.ndarray, leaders: np.ndarray, bids: np.ndarray) -> None:
    """Give dealt hands their declarations, first leaders and bids, before the first play; 0: no bid."""
    states["declaration"], states["wanted"] = declarations, bids
    for field in ("opener", "declarer", "texas42_mover", "first"):
        states[field] = leaders
    states["leaders"][:] = leaders[:, None]


def legal_slots(states: np.ndarray) -> np.ndarray:
    """Return which slots are legal, [N, 7] bool."""
    legal = np.zeros((len(states), HAND), np.bool_)
    legal_each(states, legal)
    return legal


def longest_suits(states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return the pip of which each seat holds most, [N]."""
    names = np.zeros(len(states), np.int64)
    longest_suit_each(states, np.ascontiguousarray(seats, np.int64), names)
    return names


def all_tokens(states: np.ndarray, threads: int = 1) -> np.ndarray:
    """Return the observations `all` of positions, [N, 32, 12] int8."""
    tokens = np.zeros((len(states), ALL_TOKENS * ALL_FEATURES), np.int8)
    in_slices(lambda some: all_tokens_each(states[some], tokens[some]), len(states), threads)
    return tokens.reshape(-1, ALL_TOKENS, ALL_FEATURES)


def known_tokens(states: np.ndarray, threads: int = 1) -> np.ndarray:
    """Return the observations `known` of positions, [N, 33, 17] int8."""
    tokens = np.zeros((len(states), KNOWN_TOKENS * KNOWN_FEATURES), np.int8)
    in_slices(lambda some: known_tokens_each(states[some], tokens[some]), len(states), threads)
    return tokens.reshape(-1, KNOWN_TOKENS, KNOWN_FEATURES)


def open_tokens(states: np.ndarray, threads: int = 1) -> np.ndarray:
    """Return the observations `open` of positions, [N, 33, 17] int8."""
    tokens = np.zeros((len(states), OPEN_TOKENS * OPEN_FEATURES), np.int8)
    in_slices(lambda some: open_tokens_each(states[some], tokens[some]), len(states), threads)
    return tokens.reshape(-1, OPEN_TOKENS, OPEN_FEATURES)


def in_slices(work: Callable[[slice], None], count: int, threads: int) -> None:
    """Do compiled work on slices of positions, on several threads."""
    parts = [slice(first, first + SLICE) for first in range(0, count, SLICE)]
    on_threads(work, parts, threads, new_stop())
