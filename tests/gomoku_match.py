"""A match of the two Gomoku players, and the times they need.

PYTHONPATH=src:tests python tests/gomoku_match.py match 100 1     100 pairs of games, seed 1
PYTHONPATH=src:tests python tests/gomoku_match.py depths 100 1    the same, both players at the same depth
PYTHONPATH=src:tests python tests/gomoku_match.py times           both players on the same positions
PYTHONPATH=src:tests python tests/gomoku_match.py fours           nodes a second of the search for fours
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from rookery import load
from rookery.games.position import Position
from rookery.search import gomoku_advanced, gomoku_baseline
from rookery.search.analysis import Limits
from rookery.search.gomoku_vcf import search_fours, vcf

Choose = Callable[[Position], int]


def random_opening(rng: np.random.Generator, stones: int) -> Position:
    """Lay stones at random among the middle 7 x 7 points of 15 x 15; nobody has a win by fours."""
    while True:
        position = load("gomoku").start()
        for _ in range(stones):
            if not position.over:
                inside = [a for a in position.legal() if 4 <= a // 15 <= 10 and 4 <= a % 15 <= 10]
                position.play(int(rng.choice(inside)))
        if not position.over and vcf(position) is None:
            return position


def played(start: Position, players: tuple[Choose, Choose]) -> Position:
    position = start.copy()
    while not position.over:
        position.play(players[position.mover](position))
    return position


class Match:
    """Pairs of games from the same opening with colours swapped, advanced against baseline of a depth.

    Advanced may take as long for a move as baseline has taken on average so far. Unless `strict`, what forced moves
    leave unused may be spent later, an eighth of it at a time, so that on average it takes no longer. Time is
    processor time, since a clock on the wall says little where other work shares the machine: the limit is given in
    nodes, as many as advanced makes in that time.
    """

    def __init__(self, depth: int = 6, strict: bool = False):
        self.depth, self.strict, self.nodes = depth, strict, 0
        self.processor: dict[str, list[float]] = {"baseline": [0.006], "advanced": []}
        for search in (gomoku_baseline.search, gomoku_advanced.search):  # compiling is nobody's time
            search(random_opening(np.random.default_rng(0), 4), Limits(depth=2))

    def baseline(self, position: Position) -> int:
        return self.timed("baseline", position, gomoku_baseline.search, Limits(depth=self.depth))

    def advanced(self, position: Position) -> int:
        share, used = float(np.mean(self.processor["baseline"])), self.processor["advanced"]
        saved = 0.0 if self.strict else max(0.0, share * len(used) - sum(used)) / 8
        rate = self.nodes / sum(used) if self.nodes > 10_000 else 400_000
        limits = Limits(nodes=int(rate * (share + min(saved, 2 * share))))
        return self.timed("advanced", position, gomoku_advanced.search, limits)

    def timed(self, name: str, position: Position, search: Callable, limits: Limits) -> int:
        begun = time.thread_time()
        found = search(position, limits)
        self.processor[name].append(time.thread_time() - begun)
        self.nodes += found.nodes if name == "advanced" else 0
        return found.action

    def play(self, pairs: int, seed: int) -> np.ndarray:
        """Return advanced's share of each pair: 0, 0.25, 0.5, 0.75 or 1."""
        return shares_of_pairs(self.advanced, self.baseline, pairs, seed)


def shares_of_pairs(one: Choose, other: Choose, pairs: int, seed: int) -> np.ndarray:
    """Return the first player's share of each pair of games."""
    rng, shares = np.random.default_rng(seed), []
    for _ in range(pairs):
        start = random_opening(rng, int(rng.integers(3, 7)))
        first, second = played(start, (one, other)).payoff(0), played(start, (other, one)).payoff(1)
        shares.append((first + second + 2) / 4)
    return np.array(shares)


def score_text(shares: np.ndarray) -> str:
    return f"{shares.mean():.3f} +- {1.96 * shares.std(ddof=1) / np.sqrt(len(shares)):.3f}"


def print_match(pairs: int, seed: int, strict: bool) -> None:
    match = Match(strict=strict)
    shares = match.play(pairs, seed)
    print(f"advanced {score_text(shares)} over {pairs} pairs, seed {seed}, strict {strict}")
    for name, used in match.processor.items():
        print(f"{name}: {1000 * np.mean(used):.2f} ms of processor time a move, {len(used)} moves")


def print_depths(pairs: int, seed: int) -> None:
    """Print advanced's score against baseline of the same depth."""

    def player(search: Callable, depth: int) -> Choose:
        return lambda position: search(position, Limits(depth=depth)).action

    for depth in range(1, 7):
        one, other = player(gomoku_advanced.search, depth), player(gomoku_baseline.search, depth)
        print(
            f"d={depth} advanced {score_text(shares_of_pairs(one, other, pairs, seed))} over {pairs} pairs, seed {seed}"
        )


def print_times(seed: int = 1, each: int = 12, rounds: int = 5) -> None:
    """Print processor time by player and depth, on the same positions for both, in turns."""
    searches = {"baseline": gomoku_baseline.search, "advanced": gomoku_advanced.search}
    for search in searches.values():
        search(random_opening(np.random.default_rng(0), 4), Limits(depth=2))
    for depth in range(1, 7):
        used: dict[str, list[float]] = {name: [] for name in searches}
        nodes: dict[str, list[int]] = {name: [] for name in searches}
        rng = np.random.default_rng(seed)
        for position in [random_opening(rng, stones) for stones in (4, 10, 20) * each] * rounds:
            for name, search in searches.items():
                begun = time.thread_time()
                nodes[name].append(search(position, Limits(depth=depth)).nodes)
                used[name].append(1000 * (time.thread_time() - begun))
        for name, times in used.items():
            spread = f"median {np.median(times):.2f} ms ({min(times):.2f}-{max(times):.2f}), mean {np.mean(times):.2f}"
            rate = 1000 * sum(nodes[name]) / sum(times)
            print(f"d={depth} {name}: {spread}, nodes {np.median(nodes[name]):.0f}, {rate:.0f}/s")


def print_fours() -> None:
    """Print the speed on eight blocked threes far from each other: fours in any order, and no win."""
    rows = ["." * 20] * 20
    for row in (0, 5, 10, 15):
        rows[row] = "ooxxx..o..ooxxx..o.."
    position = load("gomoku", size=20).position(f"{'/'.join(rows)} b - -")
    search_fours(position, 10)
    rates = []
    for _ in range(9):
        begun = time.thread_time()
        found = search_fours(position)
        rates.append(found.nodes / (time.thread_time() - begun))
    print(f"{found.nodes} nodes, median {np.median(rates):.0f}/s ({min(rates):.0f}-{max(rates):.0f})")


if __name__ == "__main__":
    if sys.argv[1] == "match":
        print_match(int(sys.argv[2]), int(sys.argv[3]), "strict" in sys.argv)
    elif sys.argv[1] == "depths":
        print_depths(int(sys.argv[2]), int(sys.argv[3]))
    else:
        {"times": print_times, "fours": print_fours}[sys.argv[1]]()
