"""Nello and sevens of Texas 42 solved: whether the contract can still be made with all hands open.

These are won or lost as a whole: the bidder must lose, or its team must take, every trick. So a search needs no points,
only yes or no, and a hand is lost with the first wrong trick. It walks the game's own rules with a stack of states, and
remembers positions between two tricks: what has been played and who leads tells all about them.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games.rng import scramble
from rookery.games.rules import State, legal, over, play
from rookery.games.texas42_auction import DONE, PLAYING
from rookery.games.texas42_house import sits_out
from rookery.games.texas42_tiles import HAND, NELLO, NO_TILE, TILES
from rookery.search.threads import new_stop, on_threads

NO, YES, UNKNOWN, STOPPED = 0, 1, 2, 3
ILLEGAL = -1
ENTRIES = 1 << 15
LEVELS = TILES + 2
CHUNK = 16  # positions a thread takes at once


@njit(cache=True, nogil=True)
def known_answer(state: State) -> int:
    """Tell without looking ahead whether the contract is made."""
    side = state.declarer & 1
    wrong = side if sits_out(state) >= 0 else 1 - side
    if state.points[wrong] > 0:
        return NO
    return YES if over(state) else UNKNOWN


@njit(cache=True, nogil=True)
def place_of(state: State, deal: int) -> int:
    """Number a position between two tricks, with room for an answer in the lowest bit."""
    return (deal << 32) | (int(state.played) << 3) | (int(state.texas42_mover) << 1)


@njit(cache=True, nogil=True)
def entry_of(place: int) -> int:
    """Return where a position is kept in the table."""
    return int(scramble(uint64(place)) & uint64(ENTRIES - 1))


@njit(cache=True, nogil=True)
def remembered(state: State, deal: int, table: np.ndarray) -> int:
    """Return the answer that is kept about a position between two tricks."""
    if state.plays & 3 != 0:
        return UNKNOWN
    place = place_of(state, deal)
    kept = table[entry_of(place)]
    return int(kept & 1) if kept & ~1 == place else UNKNOWN


@njit(cache=True, nogil=True)
def settle(
    states: np.ndarray, slots: np.ndarray, places: np.ndarray, deal: int, table: np.ndarray, stop: np.ndarray
) -> int:
    """Tell whether the contract is made from states[1] on with the best play of all; STOPPED if told to stop.

    states  [30]     the position on each level
    slots   [30, 7]  its legal plays
    places  [30, 2]  the play that is tried next, and how many there are
    """
    level, answer = 1, known_answer(states[1])
    if answer == UNKNOWN:
        answer = remembered(states[1], deal, table)
    places[1, 0], places[1, 1] = 0, legal(states[1], slots[1]) if answer == UNKNOWN else 0
    while level > 1 or answer == UNKNOWN:
        if stop[0] != 0:
            return STOPPED
        if answer == UNKNOWN:
            slot = slots[level, places[level, 0]]
            places[level, 0] += 1
            states[level + 1] = states[level]
            level += 1
            play(states[level], slot)
            answer = known_answer(states[level])
            if answer == UNKNOWN:
                answer = remembered(states[level], deal, table)
            if answer == UNKNOWN:
                places[level, 0], places[level, 1] = 0, legal(states[level], slots[level])
            continue
        level -= 1
        state = states[level]
        wants = YES if state.texas42_mover & 1 == state.declarer & 1 else NO
        if answer != wants and places[level, 0] < places[level, 1]:
            answer = UNKNOWN
        elif state.plays & 3 == 0:
            table[entry_of(place_of(state, deal))] = place_of(state, deal) | answer
    return answer


@njit(cache=True, nogil=True)
def solve_range(
    roots: np.ndarray, begun: int, end: int, states: np.ndarray, slots: np.ndarray, places: np.ndarray,
    table: np.ndarray, stop: np.ndarray, made: np.ndarray,
) -> None:  # fmt: skip
    """Write of the positions from `begun` up to `end` whether each play keeps the contract, into made [N, 7]."""
    for i in range(begun, end):
        if over(roots[i]):
            continue
        count = legal(roots[i], slots[0])
        for k in range(count):
            states[1] = roots[i]
            play(states[1], slots[0, k])
            answer = settle(states, slots, places, i + 1, table, stop)
            if answer == STOPPED:
                return
            made[i, slots[0, k]] = answer


def makes(states: np.ndarray, threads: int = 1, stop: np.ndarray | None = None) -> np.ndarray:
    """Tell of each play [N, 7] in positions of nello or sevens whether the contract is made with the best play of all.

    1: the declaring team makes it, 0: it is set; ILLEGAL where a slot of the mover may not be played, and everywhere
    in a hand that is over. If told to stop, what is not solved is ILLEGAL too.
    """
    check(states)
    halt, count = new_stop() if stop is None else stop, len(states)
    made = np.full((count, HAND), ILLEGAL, np.int8)

    def work(begun: int) -> None:
        stack, slots = np.zeros(LEVELS, states.dtype), np.zeros((LEVELS, HAND), np.int32)
        places, table = np.zeros((LEVELS, 2), np.int64), np.zeros(ENTRIES, np.int64)
        solve_range(states, begun, min(begun + CHUNK, count), stack, slots, places, table, halt, made)

    on_threads(work, range(0, count, CHUNK), threads, halt)
    return made


def check(states: np.ndarray) -> None:
    """Refuse positions that are not nello or sevens in play with all hands open."""
    for why, wrong in (
        ("is neither nello nor sevens", states["declaration"] < NELLO),
        ("is still in the auction", ~np.isin(states["phase"], (PLAYING, DONE))),
        ("has hidden hands", (states["tiles"] == NO_TILE).any(axis=(1, 2))),
    ):
        if wrong.any():
            raise BadInput(f"position {np.argmax(wrong)} {why}; nello and sevens are solved with all hands open")
