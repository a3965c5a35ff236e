"""Expected Q in Texas 42: what each play is worth to a seat that sees only its own hand.

The seat draws worlds that agree with all it has seen, asks an oracle for the value of its plays in each, and averages:
mean first, then the best. All numbers here are from the MOVER's side, in points still to come, so the best play has
the largest mean; `make` is always the chance that the DECLARING team makes its bid.

    expected(position, worlds=100, seed=7).mean      [7] by slot of the mover's hand as dealt, nan where not legal

An oracle maps states with all four hands to Q [N, 7] from the mover's side. `Exact` is the one that is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from rookery.errors import BadInput
from rookery.games import texas42_auction as auction
from rookery.games.options import one_of, whole_number
from rookery.games.position import Position
from rookery.games.rules import legal
from rookery.games.texas42 import state_of
from rookery.games.texas42_tiles import HAND, NAMES, NOT_NAMED
from rookery.search.posterior import Habits, weights_of
from rookery.search.solve.texas42 import Report, Solver, ignore
from rookery.search.solve.texas42_house import makes
from rookery.search.threads import Stopped
from rookery.search.worlds import Drawn, one_seed, worlds_of

CHOICES = ("mean", "make")
USUAL_BID = auction.LEAST_POINTS  # where a hand is played without a bid
TIE = 1e-9
HALF_STEP = 1.0
"""differences of points at the end of a hand are even: what a network says is compared with a bound between two"""

Oracle = Callable[[np.ndarray], np.ndarray]
"""states [N] with all four hands -> Q [N, 7] from the mover's side in points to come; anything where not legal"""


class Exact:
    """The oracle that looks to the end of the hand."""

    def __init__(self, threads: int = 1, stop: np.ndarray | None = None, report: Report = ignore):
        """Make it with so many threads; once `stop` (one element) is 1, it gives up and raises `Stopped`.

        `report` hears of positions that are done: how many since the last time.
        """
        self.solver, self.stop, self.report = Solver(threads), stop, report

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return Q [N, 7] from the mover's side; in nello and sevens 42 for the contract and -42 against it."""
        house = states["declaration"] > NOT_NAMED
        if house.any():
            q = np.empty((len(states), HAND))
            q[house] = self.of_contracts(states[house])
            q[~house] = self.of_points(states[~house])
            return q
        return self.of_points(states)

    def of_points(self, states: np.ndarray) -> np.ndarray:
        """Return Q of hands played for points."""
        sides = 1.0 - 2.0 * (states["texas42_mover"] & 1)
        return np.asarray(sides[:, None] * self.solver.q(states, self.stop, self.report).q)

    def of_contracts(self, states: np.ndarray) -> np.ndarray:
        """Return Q of nello and sevens."""
        made = makes(states, self.solver.threads, self.stop)
        if self.stop is not None and self.stop[0]:
            raise Stopped
        self.report(len(states))
        sides = np.where((states["texas42_mover"] & 1) == (states["declarer"] & 1), 1.0, -1.0)
        return np.asarray(auction.ALL_POINTS * sides[:, None] * np.where(made == 1, 1.0, -1.0))


@dataclass(frozen=True)
class Expected:
    """What the plays of one position are worth to its mover, by slot [7]; nan where a play is not legal."""

    legal: np.ndarray
    """[7] whether the slot may be played"""
    mean: np.ndarray
    """[7] expected points still to come, the mover's team minus the other"""
    spread: np.ndarray
    """[7] standard deviation of these points over worlds"""
    make: np.ndarray
    """[7] chance that the declaring team makes its bid"""
    worlds: int
    """that were looked at"""
    effective: float
    """as how many worlds of equal weight they count"""
    complete: bool
    """whether these are all worlds there are, and not a sample"""
    declaring: bool
    """whether the mover belongs to the declaring team"""

    @property
    def success(self) -> np.ndarray:
        """[7] chance that the mover's team gets its way: makes the bid, or sets the other team."""
        return self.make if self.declaring else 1.0 - self.make

    def choice(self, rule: str = "mean") -> int:
        """Return the best slot by the mean, or by the chance to get one's way; the other one decides ties."""
        one_of("the rule of a choice", rule, CHOICES)
        first, second = (self.mean, self.success) if rule == "mean" else (self.success, self.mean)
        best = np.flatnonzero(first >= np.nanmax(first) - TIE)
        return int(best[np.argmax(second[best])])


@dataclass(frozen=True)
class Expectations:
    """The same for B positions, as arrays."""

    legal: np.ndarray  # [B, 7]
    mean: np.ndarray
    spread: np.ndarray
    make: np.ndarray
    worlds: np.ndarray  # [B]
    effective: np.ndarray
    complete: np.ndarray
    declaring: np.ndarray

    def __len__(self) -> int:
        return len(self.worlds)

    def __getitem__(self, i: int) -> Expected:
        return Expected(
            self.legal[i], self.mean[i], self.spread[i], self.make[i], int(self.worlds[i]),
            float(self.effective[i]), bool(self.complete[i]), bool(self.declaring[i]),
        )  # fmt: skip


@njit(cache=True, nogil=True)
def mark_legal(states: np.ndarray, slots: np.ndarray, out: np.ndarray) -> None:
    """Write of each position which slots [N, 7] of its mover may be played; `slots` [7] is room for a list."""
    for i in range(states.shape[0]):
        for k in range(legal(states[i], slots)):
            out[i, slots[k]] = True


def expected(
    position: Position,
    worlds: int = 100,
    seed: int = 0,
    oracle: Oracle | None = None,
    bid: int | None = None,
    habits: Habits | None = None,
) -> Expected:
    """Return what each play is worth to the seat to move, by what that seat can know.

    bid     points the declaring team must take; None: those of the contract, 30 if there is none
    oracle  None: exact values
    habits  a model of how the others choose, by which worlds are weighed; None: all weigh the same

    Where no more than `worlds` deals are possible, all are looked at, each once.
    """
    check_play(position)
    bids = None if bid is None else np.array([whole_number("bid", bid, 1, auction.ALL_POINTS)])
    if bid is not None and position.state["declaration"] > NOT_NAMED:
        name = NAMES[position.state["declaration"]]
        raise BadInput(f"bid {bid}: {name} is made or set by tricks, and needs no points")
    return expected_many(position.states, worlds, one_seed(seed), oracle, bids, habits)[0]


def check_play(position: Position) -> None:
    """Refuse a position in which nobody is to play a tile."""
    if state_of(position)["phase"] != auction.PLAYING:
        why = "the hand is over" if position.over else "no tile is played before a declaration is named"
        raise BadInput(f"there is nothing to expect of a play in {position.text()!r}: {why}")


def expected_many(
    states: np.ndarray,
    worlds: int,
    seeds: np.ndarray,
    oracle: Oracle | None = None,
    bids: np.ndarray | None = None,
    habits: Habits | None = None,
    threads: int = 1,
) -> Expectations:
    """Return what each play is worth in many positions [B]; all their worlds are put to the oracle together.

    Hidden hands may stand in `states`; they are not read. `threads` draw the worlds; an oracle has its own.
    """
    if (states["phase"] != auction.PLAYING).any():
        place = int(np.argmax(states["phase"] != auction.PLAYING))
        raise BadInput(f"position {place} of {len(states)}: there is nothing to expect, as nobody is to play a tile")
    ask = oracle or Exact(threads)
    drawn = worlds_of(states, worlds, seeds, threads=threads, all_if_fewer=True)
    weights = weights_of(drawn, ask, habits)
    may = np.zeros((len(states), HAND), np.bool_)
    mark_legal(states, np.zeros(HAND, np.int32), may)
    owner = np.repeat(np.arange(len(states)), np.diff(drawn.begins))
    q = np.where(may[owner], ask(drawn.states), 0.0)
    total = summed(weights, drawn)[:, None]
    mean = summed(weights[:, None] * q, drawn) / total
    variance = summed(weights[:, None] * (q - mean[owner]) ** 2, drawn) / total
    declaring = (states["declarer"] & 1) == (states["texas42_mover"] & 1)
    made = makes_bid(states, bids_of(states) if bids is None else np.asarray(bids), declaring, owner, q)
    make = summed(weights[:, None] * made, drawn) / total
    effective, empty = total[:, 0] ** 2 / summed(weights**2, drawn), np.where(may, 0.0, np.nan)
    return Expectations(
        may, mean + empty, np.sqrt(variance) + empty, make + empty, np.diff(drawn.begins), effective,
        drawn.complete, declaring,
    )  # fmt: skip


def summed(values: np.ndarray, drawn: Drawn) -> np.ndarray:
    """Add up what belongs to the worlds of each position."""
    return np.asarray(np.add.reduceat(values, drawn.begins[:-1], axis=0))


def bids_of(states: np.ndarray) -> np.ndarray:
    """Return the points [B] each declaring team must take: by the auction, the option, or else the least there is."""
    high = states["high_bid"].astype(np.int64)
    points = np.where(high >= auction.ONE_MARK, auction.ALL_POINTS, high + auction.LEAST_POINTS - 2)
    fixed = np.where(states["wanted"] > 0, states["wanted"], USUAL_BID)
    return np.asarray(np.where(high > auction.PASS, points, fixed))


def makes_bid(
    states: np.ndarray, bids: np.ndarray, declaring: np.ndarray, owner: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Tell of every world and play [W, 7] whether the declaring team makes its bid, with what it has taken so far.

    It ends with 21 points and half of the final difference, so it needs a difference of at least 2 * bid - 42. Of nello
    and sevens the sign of Q tells.
    """
    taken = states["points"].astype(np.int64)
    lead = np.where(states["declarer"] & 1 == 0, 1, -1) * (taken[:, 0] - taken[:, 1])
    needed = np.where(states["declaration"] > NOT_NAMED, 0, 2 * bids - auction.ALL_POINTS - lead)
    return np.asarray(np.where(declaring, 1.0, -1.0)[owner, None] * q >= needed[owner, None] - HALF_STEP)
