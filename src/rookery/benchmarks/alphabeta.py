"""How fast alpha-beta is, and what each of its features saves.

    python -m rookery.benchmarks.alphabeta

Positions are reached by random moves; position number s of a game is dealt and played with seed s. Times are those of
the process on its processor, so that other programs on the machine disturb them little.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from rookery.games.library import load
from rookery.games.position import Position
from rookery.search.alphabeta import FEATURES, search
from rookery.search.analysis import Limits
from rookery.search.table import new_table

MEGABYTES = 16


class Case(NamedTuple):
    """Positions of a game and how deep to search them."""

    spec: str
    depth: int
    plies: int
    """random moves before the position"""


CASES = [
    Case("domineering:rows=6,cols=6", 8, 2),
    Case("domineering", 3, 30),
    Case("gomoku:size=9", 3, 6),
    Case("pylos", 8, 6),
    Case("texas42", 28, 4),
    Case("chess", 5, 10),
]


def random_position(spec: str, plies: int, seed: int) -> Position:
    """Return the position after some random moves, or the last one in which the game goes on."""
    rng, position = np.random.default_rng(seed), load(spec).start(seed)
    for _ in range(plies):
        after = position.copy()
        after.play(int(rng.choice(position.legal())))
        if after.over:
            break
        position = after
    return position


def measure(position: Position, depth: int, without: Collection[str] = ()) -> tuple[int, float]:
    """Return nodes and seconds of processor time to a depth."""
    table = new_table(MEGABYTES)
    table.entries["age"] = 0  # takes the memory from the system before the clock runs
    begun = time.process_time()
    analysis = search(position, Limits(depth=depth), table=table, without=without)
    return analysis.nodes, time.process_time() - begun


def compare(case: Case, positions: int) -> Iterator[str]:
    """Tell the work with everything, without each feature, and without all of them."""
    reached = [random_position(case.spec, case.plies, seed) for seed in range(positions)]
    measure(reached[0], 1)
    all_nodes = 0.0
    for without in [(), *((feature,) for feature in FEATURES), FEATURES]:
        done = [measure(position, case.depth, without) for position in reached]
        nodes, seconds = (sum(column) / positions for column in zip(*done, strict=True))
        all_nodes = all_nodes or nodes
        left_out = "everything" if without == FEATURES else ", ".join(without) or "nothing"
        rate = nodes / seconds / 1e6
        yield f"  without {left_out:12s}{nodes:14,.0f} nodes {nodes / all_nodes:8.2f} times {rate:8.1f} M nodes/s"


def seconds_per_move(spec: str, depth: int, games: int, stride: int) -> list[float]:
    """Return the processor time of a search in every `stride`-th position of random games."""
    taken = []
    for seed in range(games):
        rng, position, ply = np.random.default_rng(seed), load(spec).start(seed), 0
        while not position.over:
            if ply % stride == 0:
                taken.append(measure(position, depth)[1])
            position.play(int(rng.choice(position.legal())))
            ply += 1
    return taken


def main() -> None:
    """Print all of it."""
    for case in CASES:
        sys.stdout.write(f"{case.spec}, depth {case.depth}, 10 positions after {case.plies} random moves\n")
        for line in compare(case, 10):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    taken = [1000 * seconds for seconds in seconds_per_move("domineering", 3, 20, 5)]
    low, high = min(taken), max(taken)
    sys.stdout.write(
        f"domineering, depth 3, every fifth position of 20 random games ({len(taken)} positions): "
        f"median {statistics.median(taken):.2f} ms a move, mean {statistics.mean(taken):.2f}, {low:.2f} to {high:.2f}\n"
    )


if __name__ == "__main__":
    main()
