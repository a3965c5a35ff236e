"""Texas 42 solved: the value of any position with all hands open, and of every tile that may be played.

Values count the points still to come, team 0 minus team 1, whoever is to move. Tiles are named by their slots, 0..6, in
the mover's hand as it was dealt, sorted by id; a slot that may not be played holds ILLEGAL.

    solved = Solver(threads=2).q(states)   # any number of positions, of any deals and declarations
    solved.values, solved.q                # [N], [N, 7]

Each thread has a table of its own. Values are exact, so neither the number of threads nor the size of the tables
changes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import LifoQueue
from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit

from rookery.errors import BadInput
from rookery.games.bits import lowest_bit, popcount
from rookery.games.options import whole_number
from rookery.games.rules import State
from rookery.games.texas42 import STATE
from rookery.games.texas42_auction import DONE, PLAYING
from rookery.games.texas42_tiles import ALL_TILES, HAND, NAMES, NO_TILE, NOT_NAMED, SEATS
from rookery.search.records import at
from rookery.search.solve.texas42_moves import LEVEL, Level, legal_tiles, twin_of
from rookery.search.solve.texas42_search import (
    DESK,
    LEVELS,
    STOPPED,
    Desk,
    gather_trumps,
    guessed,
    make,
    points_to_come,
    settle,
)
from rookery.search.solve.texas42_suits import Suits, all_suits
from rookery.search.solve.texas42_table import BUCKET, MOST_DEALS, Bucket
from rookery.search.threads import MOST_THREADS, Stopped, new_stop, on_threads

ILLEGAL = -128
MEMORY, MOST_MEMORY = 1024, 1 << 24  # kilobytes of one thread's table
CHUNK, MOST_CHUNK = 16, 1024
"""positions of early tricks that a thread takes at once, and of late ones, which are solved in microseconds"""
Report = Callable[[int], None]


def ignore(positions: int) -> None:
    """Take no notice of progress."""


@dataclass(frozen=True)
class Solved:
    """Exact values of N positions: points to come, team 0 minus team 1."""

    values: np.ndarray
    """[N] int8"""
    q: np.ndarray
    """[N, 7] int8, by slot of the mover's hand as dealt; ILLEGAL where a tile may not be played"""


class Bench(NamedTuple):
    """What one thread works with."""

    desks: np.ndarray  # [1] DESK
    levels: np.ndarray  # [LEVELS + 1] LEVEL
    table: np.ndarray  # [2^n] BUCKET


# ---- compiled ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def numbers(suits: Suits, tiles: int) -> int:
    """Return a set of tiles, given by ids, in the numbers of a declaration."""
    found, rest = int64(0), int64(tiles)
    while rest != 0:
        found |= int64(1) << suits.number[lowest_bit(rest)]
        rest &= rest - 1
    return int(found)


@njit(cache=True, nogil=True)
def begin(state: State, level: Level, desk: Desk, suits: Suits) -> bool:
    """Set a level and the desk to a position of the game; a new deal gets a new number.

    Return whether numbers began anew, so that the table must be emptied.
    """
    same = desk.declaration == state.declaration
    for seat in range(SEATS):
        hand = numbers(suits, int64(state.hands[seat]))
        same &= desk.hands[seat] == hand
        desk.hands[seat] = hand
    if not same:
        desk.declaration = state.declaration
        desk.deal = desk.deal % MOST_DEALS + 1
        gather_trumps(desk, suits)
    level.left = ALL_TILES & ~numbers(suits, int64(state.played))
    level.seat, level.place, level.suit = state.texas42_mover, state.plays & 3, state.led_suit
    level.worth, level.best = 1, 0
    for place in range(level.place):
        tile = suits.number[state.history[(state.plays & ~3) + place]]
        level.worth += suits.count[tile]
        if place == 0 or suits.beats[level.suit, level.best] >> tile & 1:
            level.best, level.winner = tile, (state.leaders[state.plays >> 2] + place) & 3
    return not same and desk.deal == 1


@njit(cache=True, nogil=True)
def slot_of(state: State, tile: int) -> int:
    """Return the slot of a tile, given by its id, in the mover's hand as dealt."""
    return int(popcount(int64(state.hands[state.texas42_mover]) & ((int64(1) << tile) - 1)))


@njit(cache=True, nogil=True)
def solve_tiles(
    state: State, root: Level, desk: Desk, suits: Suits, table: Bucket, stop: np.ndarray, q: np.ndarray
) -> int:
    """Write the value of every legal tile, for team 0 minus team 1; return the best for the mover, or STOPPED."""
    first, all_points = at(root, 1), points_to_come(root, suits)
    tiles = int64(legal_tiles(suits, int64(root.left & desk.hands[root.seat]), root.place, root.suit))
    seen = int64(root.left) if root.place == 0 else int64(root.left | (1 << root.best))
    best, guess, rest = -1, guessed(root, desk, suits), tiles
    while rest != 0:
        tile = lowest_bit(rest)
        rest &= rest - 1
        slot = slot_of(state, suits.tile[tile])
        twin = twin_of(suits, tiles, tile, seen)
        if twin >= 0:
            q[slot] = q[slot_of(state, suits.tile[twin])]
            continue
        root.move, root.need = tile, 0
        make(root, first, suits)
        value = settle(first, desk, suits, table, stop, guess - first.gain)
        if value == STOPPED:
            return STOPPED
        guess = value + first.gain
        q[slot] = 2 * guess - all_points
        better = guess > best if root.seat & 1 == 0 else guess < best
        if best < 0 or better:
            best = guess
    return int(best)


@njit(cache=True, nogil=True)
def solve_range(
    states: np.ndarray, begun: int, end: int, every: bool, desk: Desk, levels: np.ndarray, suits: np.ndarray,
    table: np.ndarray, stop: np.ndarray, values: np.ndarray, q: np.ndarray,
) -> bool:  # fmt: skip
    """Solve the positions from `begun` up to `end`; return whether all are solved.

    every   whether all legal tiles are to be solved, else only the values
    values  [N], q [N, 7] take the results; q must hold ILLEGAL everywhere
    """
    for i in range(begun, end):
        if states[i].phase == DONE:
            values[i] = 0
            continue
        root = levels[0]
        rules = suits[states[i].declaration]
        if begin(states[i], root, desk, rules):
            for bucket in range(table.shape[0]):
                table[bucket].ways[:] = 0
        all_points = points_to_come(root, rules)
        if every:
            value = solve_tiles(states[i], root, desk, rules, table[0], stop, q[i])
        else:
            value = settle(root, desk, rules, table[0], stop, guessed(root, desk, rules))
        if value == STOPPED or stop[0] != 0:
            return False
        values[i] = 2 * value - all_points
    return True


# ---- for people ----------------------------------------------------------------------------------


class Solver:
    """A solver with tables that are kept from one batch to the next."""

    def __init__(self, threads: int = 1, memory: int = MEMORY):
        """Make a solver on so many threads, each with a table of at most `memory` kilobytes."""
        self.threads = whole_number("threads", threads, 1, MOST_THREADS)
        most = whole_number("memory of the solver of texas42 in kilobytes", memory, 1, MOST_MEMORY) << 10
        self.buckets = 1 << ((most // BUCKET.itemsize).bit_length() - 1)
        self.suits = all_suits()
        self.benches: LifoQueue[Bench] = LifoQueue()
        for _ in range(self.threads):
            self.benches.put(self.new_bench())

    def new_bench(self) -> Bench:
        """Make what one thread works with."""
        desks = np.zeros(1, DESK)
        desks["declaration"], desks["buckets"] = -1, self.buckets
        return Bench(desks, np.zeros(LEVELS + 1, LEVEL), np.zeros(self.buckets, BUCKET))

    def q(self, states: np.ndarray, stop: np.ndarray | None = None, report: Report = ignore) -> Solved:
        """Solve positions, with the value of every legal tile.

        `report` is called with the number of positions done since the last call. Once `stop` (a one-element array) is
        1, `Stopped` is raised soon.
        """
        return self.run(states, True, stop, report)

    def values(self, states: np.ndarray, stop: np.ndarray | None = None, report: Report = ignore) -> np.ndarray:
        """Return the values of positions, [N] int8."""
        return self.run(states, False, stop, report).values

    def run(self, states: np.ndarray, every: bool, stop: np.ndarray | None, report: Report) -> Solved:
        """Solve positions on all threads."""
        check(states)
        stop, count = new_stop() if stop is None else stop, len(states)
        solved = Solved(np.zeros(count, np.int8), np.full((count, HAND), ILLEGAL, np.int8))
        chunk = chunk_of(states, self.threads)

        def work(begun: int) -> None:
            end, bench = min(begun + chunk, count), self.benches.get()
            try:
                arrays = (bench.levels, self.suits, bench.table, stop, solved.values, solved.q)
                if not solve_range(states, begun, end, every, bench.desks[0], *arrays):
                    raise Stopped
            finally:
                self.benches.put(bench)
            report(end - begun)

        if count == 1:  # is solved before an interrupt could be missed
            work(0)
        else:
            on_threads(work, range(0, count, chunk), self.threads, stop)
        return solved


def chunk_of(states: np.ndarray, threads: int) -> int:
    """Return how many positions a thread takes at once: the more, the later they are; each thread has its turns."""
    late = int(states["plays"].mean()) if len(states) else 0
    chunk = CHUNK << max(0, (late - 8) // 2)
    return max(1, min(chunk, MOST_CHUNK, len(states) // (4 * threads)))


def check(states: Any) -> None:
    """Refuse what is not an array of positions in play, or over, with all hands open."""
    if not isinstance(states, np.ndarray) or states.dtype.names is None or states.ndim != 1:
        raise BadInput(f"the solver of texas42 takes an array of its positions, not {type(states).__name__}")
    if not set(STATE.names or ()) <= set(states.dtype.names):
        raise BadInput("the solver of texas42 takes positions of texas42, not of another game")
    early = (states["phase"] != PLAYING) & (states["phase"] != DONE)
    if early.any():
        raise BadInput(f"position {np.argmax(early)} has no declaration yet; the solver of texas42 needs one")
    house = states["declaration"] > NOT_NAMED
    if house.any():
        name = NAMES[states["declaration"][np.argmax(house)]]
        raise BadInput(
            f"position {np.argmax(house)} is {name}, which is made or set and has no points to solve for; "
            f"`rookery analyse texas42` tells what plays lead to"
        )
    hidden = (states["tiles"][:, :, 0] == NO_TILE).any(axis=1)
    if hidden.any():
        place = int(np.argmax(hidden))
        seats = " and ".join(map(str, np.flatnonzero(states["tiles"][place, :, 0] == NO_TILE)))
        raise BadInput(
            f"position {place} has hidden hands, of seats {seats}; the solver of texas42 needs all four. "
            "`rookery analyse texas42` values plays by what the seat to move knows"
        )


def solve(states: np.ndarray, threads: int = 1) -> Solved:
    """Solve positions of texas42: their values and those of every legal tile."""
    return Solver(threads).q(states)
