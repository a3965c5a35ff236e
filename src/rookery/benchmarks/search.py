"""How fast searches are: simulations, nodes or moves a second on one core, and on a card where there is one.

The tree search is measured with the perceptron 84-64-8 on connect four that mctx over pgx was measured with, beside the
perceptron alone, which is the ceiling. As in `rules`, every round measures everything once and medians are reported.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rookery.benchmarks.peers import mctx_simulations, one_core, openspiel_simulations
from rookery.benchmarks.rules import Timed, example_game
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.position import Position
from rookery.search import alphabeta, dag, gomoku_advanced, gomoku_baseline
from rookery.search.analysis import Analysis, Limits
from rookery.search.evaluator import Evaluator
from rookery.search.gomoku_vcf import search_fours
from rookery.search.solve import domineering
from rookery.search.trees import Trees, TreeSettings

INPUTS, HIDDEN, OUTPUTS = 84, 64, 8
TREES = 128  # side by side on one core: as many as keep their memory in the cache and the perceptron busy
SIMULATIONS = (32, 128, 512)
ENOUGH = 65_536  # simulations of one measurement, or what else runs on the machine is what is measured


@dataclass(frozen=True)
class Row:
    """One measurement: how many units a second, the median of the rounds with the lowest and the highest."""

    name: str
    unit: str
    speed: float
    low: float
    high: float
    peer: float | None = None
    """speed of the same work in another package"""
    peer_name: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the row with its ratio, for JSON."""
        return asdict(self) | {"against_peer": None if self.peer is None else self.speed / self.peer}


@dataclass(frozen=True)
class Measure:
    """Something to be measured; `peer` is the same work in another package."""

    name: str
    unit: str
    timed: Timed
    peer: Timed | None = None
    peer_name: str = ""


class Perceptron:
    """A network of one hidden layer, the same on every machine."""

    def __init__(self, game: Game):
        rng = np.random.default_rng(0)
        self.kind = next(iter(game.observations))
        self.first = (rng.normal(size=(INPUTS, HIDDEN)) * 0.1).astype(np.float32)
        self.second = (rng.normal(size=(HIDDEN, OUTPUTS)) * 0.1).astype(np.float32)
        self.zeros = np.zeros((TREES, HIDDEN), np.float32)  # NumPy compares with an array faster than with a number

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Judge positions: seven logits and a value."""
        hidden = observations @ self.first
        np.maximum(hidden, self.zeros[: len(hidden)], out=hidden)
        out = hidden @ self.second
        return out[:, :-1], np.tanh(out[:, -1])


def timed(work: Callable[[], int]) -> Timed:
    """Turn work that tells how many units it did into a measurement on one core."""

    def measure() -> tuple[int, float]:
        with one_core():
            begin = time.perf_counter()
            count = work()
            return count, time.perf_counter() - begin

    return measure


def asking_perceptron(game: Game, settings: TreeSettings) -> Callable[[], int]:
    """Search with the perceptron, trees side by side."""
    trees, network = Trees(game, settings, trees=TREES), Perceptron(game)

    return again_and_again(trees, network)


def again_and_again(trees: Trees, evaluator: Evaluator | int) -> Callable[[], int]:
    """Search the first position in all trees, as often as makes enough simulations."""
    times = max(1, ENOUGH // (trees.count * trees.settings.simulations))

    def search() -> int:
        trees.begin([trees.game.start()] * trees.count)
        trees.run(evaluator)
        return int(trees.arrays.trees["made"].sum())

    search()
    return lambda: sum(search() for _ in range(times))


def perceptron_alone(game: Game, calls: int) -> Callable[[], int]:
    """Ask the perceptron and do nothing with its answers."""
    network, observations = Perceptron(game), np.zeros((TREES, INPUTS), np.float32)

    def work() -> int:
        for _ in range(calls):
            network(observations)
        return TREES * calls

    return work


def without_network(game: Game, simulations: int, trees: int) -> Callable[[], int]:
    """Search with every position judged as even."""
    searched = Trees(game, TreeSettings(simulations=simulations, policy="weights"), trees=trees)

    return again_and_again(searched, 0)


def one_search(search: Callable[..., Analysis], position: Position, limits: Limits, **settings: Any) -> Timed:
    """Search one position; nodes or simulations are counted."""

    def work() -> int:
        return search(position, limits, **settings).nodes

    work()
    return timed(work)


def tree_measures() -> list[Measure]:
    """Measure tree search."""
    example = example_game()
    found = []
    if example:
        four = load(example)
        network = Perceptron(four)
        for simulations in SIMULATIONS:
            for way, gumbel in (("PUCT", 0), ("Gumbel", 7)):
                name = f"connect four, perceptron, {simulations} simulations, {way}"
                ours = timed(asking_perceptron(four, TreeSettings(simulations=simulations, gumbel=gumbel)))
                theirs = mctx_simulations(network.first, network.second, TREES, simulations, gumbel > 0)
                found.append(Measure(name, "simulations", ours, theirs, "mctx over pgx"))
        found.append(Measure("the perceptron alone", "positions", timed(perceptron_alone(four, 512))))
        playouts = one_search(search_by_playouts, four.start(), Limits(nodes=20_000))
        peer = openspiel_simulations("connect_four", 20_000)
        found.append(Measure("connect four, playouts", "simulations", playouts, peer, "OpenSpiel"))
    gomoku = timed(without_network(load("gomoku"), 128, 16))
    return [*found, Measure("gomoku 15x15, no network, 128 simulations, PUCT", "simulations", gomoku)]


def search_by_playouts(position: Position, limits: Limits) -> Analysis:
    """Search by trees with one playout at each leaf, as plain as OpenSpiel's."""
    from rookery.search.trees import search

    return search(position, limits, policy="weights", c=2.0)


def other_measures() -> list[Measure]:
    """Measure RAVE and alpha-beta."""
    from rookery.benchmarks.alphabeta import random_position

    wide, pyramid, chess = load("domineering").start(), random_position("pylos", 6, 0), random_position("chess", 10, 0)
    rave = one_search(dag.search, wide, Limits(nodes=2000))
    return [
        Measure("domineering 16x16, RAVE", "simulations", rave),
        Measure("pylos, alpha-beta to depth 8", "nodes", one_search(alphabeta.search, pyramid, Limits(depth=8))),
        Measure("chess, alpha-beta to depth 5", "nodes", one_search(alphabeta.search, chess, Limits(depth=5))),
    ]


def gomoku_measures() -> list[Measure]:
    """Measure the Gomoku agents on positions of several stones, and the search for fours."""
    from rookery.benchmarks.alphabeta import random_position

    positions = [random_position("gomoku", stones, seed) for stones in (4, 10, 20) for seed in range(4)]
    far_threes = "/".join("ooxxx..o..ooxxx..o.." if row % 5 == 0 else "." * 20 for row in range(20))
    many_fours = load("gomoku:size=20").position(f"{far_threes} b - -")

    def moves_by(search: Callable[..., Analysis]) -> Timed:
        def work() -> int:
            return len([search(position, Limits(depth=6)) for position in positions])

        work()
        return timed(work)

    search_fours(many_fours, 10)
    return [
        Measure("gomoku 15x15, baseline to depth 6", "moves", moves_by(gomoku_baseline.search)),
        Measure("gomoku 15x15, advanced to depth 6", "moves", moves_by(gomoku_advanced.search)),
        Measure("gomoku 20x20, fours without a win", "nodes", timed(lambda: search_fours(many_fours).nodes)),
    ]


def solver_measures() -> list[Measure]:
    """Measure the exact solver of Domineering."""
    domineering.solve_board(4, 4)

    def solved(rows: int, cols: int) -> Timed:
        return timed(lambda: len([domineering.solve_board(rows, cols)]))

    boards = ((7, 8), (8, 8))
    return [Measure(f"domineering {r}x{c}, solved for both starters", "boards", solved(r, c)) for r, c in boards]


def all_measures() -> list[Measure]:
    """Compile and list everything there is to measure."""
    return [*tree_measures(), *other_measures(), *gomoku_measures(), *solver_measures()]


def bench_search(measures: list[Measure], rounds: int, tick: Callable[[], None]) -> list[Row]:
    """Make all measurements, round by round."""
    speeds: dict[str, list[float]] = {measure.name: [] for measure in measures}
    peers: dict[str, list[float]] = {measure.name: [] for measure in measures if measure.peer}
    for _ in range(rounds):
        for measure in measures:
            count, seconds = measure.timed()
            speeds[measure.name].append(count / seconds)
            if measure.peer:
                count, seconds = measure.peer()
                peers[measure.name].append(count / seconds)
        tick()
    return [
        Row(
            measure.name, measure.unit, statistics.median(found := speeds[measure.name]), min(found), max(found),
            statistics.median(peers[measure.name]) if measure.peer else None, measure.peer_name if measure.peer else "",
        )
        for measure in measures
    ]  # fmt: skip
