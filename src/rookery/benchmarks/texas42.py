"""How fast Texas 42 is solved, on one core: times of single positions, in milliseconds of processor time.

Deal number s is dealt by seed s, with declaration s mod 10 and seat 0 to lead. Positions within a hand are reached by
random plays. Each is solved with a table that knows nothing of its deal.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rookery.games import texas42
from rookery.search.solve.texas42 import Solver

PLAYS = (1, 2, 4, 8, 12, 16, 20, 24)  # within a hand


@dataclass(frozen=True)
class Row:
    """One thing that was measured."""

    name: str
    unit: str
    samples: int
    mean: float
    median: float
    late: float
    """95 % of the samples are at most that"""
    highest: float
    floor: float | None = None
    """what the mean must reach: at most that in units of time, at least that otherwise"""

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)


def position_after(plays: int, seed: int) -> np.ndarray:
    """Return the state after some random plays of a deal, shape [1]."""
    rng = np.random.default_rng([seed, plays])
    position = texas42.Texas42().set_up(texas42.deal(seed), seed % 10, 0)
    for _ in range(plays):
        position.play(int(rng.choice(position.legal())))
    return position.states


def row_of(name: str, times: list[float], floor: float | None = None) -> Row:
    """Sum up times given in seconds."""
    spent = [1000 * seconds for seconds in times]
    late = float(np.percentile(spent, 95))
    return Row(name, "ms", len(spent), statistics.mean(spent), statistics.median(spent), late, max(spent), floor)


def solve_times(solver: Solver, states: list[np.ndarray], every: bool) -> list[float]:
    """Return the seconds of processor time that each position takes: its value, or those of all its tiles."""
    times = []
    for state in states:
        begun = time.process_time()
        if every:
            solver.q(state)
        else:
            solver.values(state)
        times.append(time.process_time() - begun)
    return times


def measures() -> list[tuple[str, int, bool, float | None]]:
    """List what the solver is measured by: name, plays before, whether all tiles, floor of the mean."""
    found: list[tuple[str, int, bool, float | None]] = [
        ("value of the deal", 0, False, 5.0),
        ("all leads of the deal", 0, True, 10.0),
    ]
    return found + [(f"all tiles after {plays} plays", plays, True, None) for plays in PLAYS]


def bench_solver(deals: int, first: int = 0, tick: Callable[[str], None] = lambda name: None) -> Iterator[Row]:
    """Measure the solver on the deals from number `first` on; `tick` is called after each row."""
    solver = Solver()
    solver.q(position_after(0, first))  # compiled, or taken from the cache, before the clock runs
    solver.values(position_after(0, first))
    for name, plays, every, floor in measures():
        solver = Solver()
        states = [position_after(plays, seed) for seed in range(first, first + deals)]
        yield row_of(name, solve_times(solver, states, every), floor)
        tick(name)
