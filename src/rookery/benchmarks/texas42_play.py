"""How fast Texas 42 is played by what one seat can know: worlds drawn, hands played by expected Q, one decision."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from rookery.benchmarks.texas42 import Row, position_after, row_of
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.position import Position
from rookery.search.expected import Exact, expected
from rookery.search.worlds import Worlds

WORLDS_DRAWN = 50_000  # from each deal
WORLDS_OF_A_HAND = 100
WORLDS_OF_A_DECISION = 200
HANDS, DECISIONS = 20, 100  # at most so many of the deals serve for the slow rows
FLOORS = {"drawn": 200_000.0, "hands": 1.0, "decision": 100.0}
ROWS = (
    "worlds drawn at the first lead",
    "hands by E[Q], 100 exact worlds",
    "E[Q], 200 worlds, after a trick, 2 threads",
)


def bench_play(deals: int, first: int = 0, tick: Callable[[str], None] = lambda name: None) -> Iterator[Row]:
    """Measure on the deals from number `first` on, the first two rows on one thread, the last on two."""
    game, exact = load("texas42"), Exact()
    for position in (position_after(0, first), position_after(4, first)):
        expected(Position(game, position), 2, oracle=exact)  # compiled before the clock runs
    seeds = range(first, first + deals)
    for name, row in zip(ROWS, (drawn_row, hands_row, decision_row), strict=True):
        yield row(game, name, seeds)
        tick(name)


def drawn_row(game: Game, name: str, seeds: range) -> Row:
    """Measure how many worlds are drawn in a second of processor time."""
    rates = []
    for seed in seeds:
        worlds = Worlds(Position(game, position_after(0, seed)))
        begun = time.process_time()
        worlds.sample(WORLDS_DRAWN, seed)
        rates.append(WORLDS_DRAWN / (time.process_time() - begun))
    return rate_row(name, "worlds/s", rates, FLOORS["drawn"])


def hands_row(game: Game, name: str, seeds: range) -> Row:
    """Measure how many hands are played in a second of processor time, every decision of all four by expected Q."""
    exact, rates = Exact(), []
    for seed in seeds[:HANDS]:
        position = Position(game, position_after(0, seed))
        begun = time.process_time()
        while not position.over:
            legal = position.legal()
            forced = len(legal) == 1
            plays = int(position.state["plays"])
            slot = int(legal[0]) if forced else expected(position, WORLDS_OF_A_HAND, plays, exact).choice()
            position.play(slot)
        rates.append(1.0 / (time.process_time() - begun))
    return rate_row(name, "hands/s", rates, FLOORS["hands"])


def decision_row(game: Game, name: str, seeds: range) -> Row:
    """Measure how long a person waits for one decision on two threads, by the clock on the wall."""
    exact, times = Exact(threads=2), []
    for seed in seeds[:DECISIONS]:
        position = Position(game, position_after(4, seed))
        begun = time.perf_counter()
        expected(position, WORLDS_OF_A_DECISION, seed, exact)
        times.append(time.perf_counter() - begun)
    return row_of(name, times, FLOORS["decision"])


def rate_row(name: str, unit: str, rates: list[float], floor: float | None) -> Row:
    """Sum up rates; their mean is that of the whole, all samples one after the other."""
    mean = len(rates) / float(np.sum(1.0 / np.array(rates)))
    late = float(np.percentile(rates, 95))
    return Row(name, unit, len(rates), mean, float(np.median(rates)), late, max(rates), floor)
