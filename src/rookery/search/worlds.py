"""Worlds of Texas 42: the deals that agree with all a seat has seen.

    worlds = Worlds(position)        as the seat to move knows it
    worlds.count                     exactly how many deals there are
    worlds.marginals()               exactly how likely each seat holds each tile
    worlds.sample(100, seed=7)       so many of them, every one equally likely each time
    worlds.listed()                  all of them

What a seat knows is its own hand, the plays and the suits that others have shown not to hold; nothing else of a
position is read. `sample_worlds` and `worlds_of` do the same for many positions at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.games.position import Position, Seat
from rookery.games.rules import State
from rookery.games.texas42 import state_of
from rookery.games.texas42_setup import check_possible
from rookery.games.texas42_tiles import HAND, NO_TILE, SEATS, TILES
from rookery.search.threads import new_stop, on_threads
from rookery.search.worlds_table import DESK, HIDDEN, NO_OWN_HAND, PLACES, count_holders, count_worlds, draw_worlds

MOST_WORLDS = 1_000_000
"""that are drawn for one position"""
MOST_AT_ONCE = 1 << 26
"""that are drawn for many positions together"""
MOST_LISTED = 100_000
SHARE = 4096  # worlds that a thread takes at a time


class Worlds:
    """The deals that agree with what one seat has seen."""

    def __init__(self, position: Position, seat: Seat | None = None):
        """Look at a position with the eyes of a seat, the one to move unless another is named."""
        state_of(position)
        self.seat: Seat = position.mover if seat is None else position.checked_seat(seat)
        self.seen = position.seen_by(self.seat)
        self.desks = np.zeros(1, DESK)
        viewers, counts = np.array([self.seat], np.int64), np.zeros(1, np.int64)
        count_worlds(self.desks, self.seen.states, viewers, 0, 1, counts)
        self.count = int(counts[0])
        """how many there are"""
        if self.count < 1:
            raise BadInput(why_impossible(self.seen.state, self.seat, self.count))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many tiles each seat still holds."""
        return tuple(HAND - shown for shown in plays_by_seat(self.seen.state))

    def marginals(self) -> np.ndarray:
        """Return the chance [28, 4] that a seat still holds a tile; 1 for tiles of the own hand, 0 for those played."""
        holders = np.zeros((TILES, HIDDEN), np.int64)
        count_holders(self.desks[0], np.zeros(PLACES, np.int64), holders)
        chances = np.zeros((TILES, SEATS))
        unseen = int(self.desks[0]["unseen"])
        tiles, seats = self.desks[0]["tiles"][:unseen], self.desks[0]["seats"]
        chances[tiles[:, None], seats[None, :]] = holders[:unseen] / self.count
        state = self.seen.state
        for tile in range(TILES):
            if int(state["hands"][self.seat] & ~state["played"]) >> tile & 1:
                chances[tile, self.seat] = 1.0
        return chances

    def sample(self, n: int, seed: int = 0, threads: int = 1) -> np.ndarray:
        """Draw worlds, with repetition; return them as states [n] that hold all four hands."""
        return worlds_of(self.seen.states, n, one_seed(seed), [self.seat], threads).states

    def listed(self, limit: int = MOST_LISTED) -> np.ndarray:
        """Return all worlds in a fixed order, as states; refuse if there are more than `limit`."""
        if self.count > limit:
            raise BadInput(f"{self.count:,} worlds are possible; more than {limit:,} are not listed")
        return worlds_of(self.seen.states, self.count, np.zeros(1, np.int64), [self.seat], all_if_fewer=True).states


@dataclass(frozen=True)
class Drawn:
    """Worlds of several positions, one after the other."""

    states: np.ndarray
    """[W] states that hold all four hands"""
    begins: np.ndarray
    """[P + 1] position p has the worlds begins[p]..begins[p + 1] - 1"""
    counts: np.ndarray
    """[P] possible worlds"""
    complete: np.ndarray
    """[P] whether these are all of them, each once, and not a sample"""


def dealt_out(position: Position, seed: int) -> Position:
    """Deal the hidden hands at random: any deal that agrees with all that the one known hand has seen."""
    state_of(position)
    hidden = position.game.hidden_seats(position.state)
    known = [seat for seat in range(SEATS) if seat not in hidden]
    if not hidden:
        return position
    if len(known) != 1:
        raise BadInput(f"a hand of Texas 42 is begun from all four hands or from one of them, not from {len(known)}")
    return Position(position.game, Worlds(position, known[0]).sample(1, seed))


def sample_worlds(states: np.ndarray, n: int, seeds: np.ndarray, threads: int = 1) -> np.ndarray:
    """Draw `n` worlds for each of many positions as the seat to move knows it; return states [len(states) * n].

    Those of position p are states[p * n : (p + 1) * n]. They depend on its seed, and not on threads or on the other
    positions. Hidden hands may stand in `states`; they are not read.
    """
    return worlds_of(states, n, seeds, threads=threads).states


def worlds_of(
    states: np.ndarray,
    n: int,
    seeds: np.ndarray,
    viewers: np.ndarray | list[Seat] | None = None,
    threads: int = 1,
    all_if_fewer: bool = False,
) -> Drawn:
    """Draw worlds of many positions, each as its viewer knows it, the seat to move unless others are named.

    `all_if_fewer` takes all worlds of a position instead, each once, where there are no more than `n`.
    """
    n = whole_number("the number of worlds", n, 1, MOST_WORLDS)
    seats = np.asarray(states["texas42_mover"] if viewers is None else viewers, np.int64)
    counts = counted(states, seats)
    listed = (counts <= n) & all_if_fewer
    begins = np.concatenate([[0], np.cumsum(np.where(listed, counts, n))]).astype(np.int64)
    if begins[-1] > MOST_AT_ONCE:
        raise BadInput(f"{begins[-1]:,} worlds are more than fit; {MOST_AT_ONCE:,} at most can be drawn at once")
    out, stop, keys = np.empty(begins[-1], states.dtype), new_stop(), seeds_of(seeds, len(states))

    def draw(first: int) -> None:
        last = min(first + SHARE, len(out))
        draw_worlds(np.zeros(1, DESK), states, keys, seats, counts, listed, begins, out, first, last, stop)

    if len(out) <= SHARE:  # beginning threads would take longer than the work
        draw(0)
    else:
        on_threads(draw, range(0, len(out), SHARE), threads, stop)
    return Drawn(out, begins, counts, listed)


def one_seed(seed: int) -> np.ndarray:
    """Return the seed of a single position as an array."""
    return np.array([whole_number("seed", seed, -(2**63), 2**63 - 1)])


def seeds_of(seeds: np.ndarray, positions: int) -> np.ndarray:
    """Return one seed for each position."""
    keys = np.asarray(seeds)
    if keys.shape != (positions,) or not np.issubdtype(keys.dtype, np.integer):
        raise BadInput(f"seeds must be {positions} whole numbers, one for each position, not {seeds!r}")
    return keys.astype(np.int64)


def counted(states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Count the worlds of each position [P]; refuse one that has none."""
    counts = np.zeros(len(states), np.int64)
    count_worlds(np.zeros(1, DESK), states, seats, 0, len(states), counts)
    for place in np.flatnonzero(counts < 1)[:1]:
        why = why_impossible(states[place], int(seats[place]), int(counts[place]))
        raise BadInput(f"position {place} of {len(states)}: {why}")
    return counts


# ---- what cannot be ------------------------------------------------------------------------------


def plays_by_seat(state: State) -> list[int]:
    """Count the tiles each seat has played."""
    return [int(hand & state["played"]).bit_count() for hand in state["hands"]]


def why_impossible(state: State, seat: Seat, count: int) -> str:
    """Say why no world agrees with a position."""
    if count == NO_OWN_HAND:
        return f"the hand of seat {seat} is hidden; worlds are counted for a seat whose own hand is known"
    hidden = np.array([state])
    for other in range(SEATS):
        if other != seat:
            hidden["hands"][0, other] &= state["played"]
            hidden["tiles"][0, other] = NO_TILE
    try:
        check_possible(hidden[0])
    except BadInput as error:
        return str(error)
    shown = plays_by_seat(state)
    return f"the record of plays cannot be: the seats have played {shown} tiles, {TILES - sum(shown)} are left"
