"""What Lc0's search costs beside its network.

A search is made of some nodes with large batches. Then the network alone judges as many batches of the same sizes, one
always waiting behind the other, so that it never idles. What the search took longer is its overhead. A search whose
answers are made up, and come at once, tells what the tree takes of a core.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rookery.lc0.evaluator import Evaluator
from rookery.lc0.passes import COLUMNS, Answered, UnderWay
from rookery.lc0.positions import chess_game, position_of
from rookery.lc0.search import Searcher
from rookery.search.analysis import Limits
from rookery.search.lc0_settings import Lc0Settings

MIDDLE = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9"
"""a position of the middle of a game"""


class Recorder:
    """An evaluator that notes how large batches are; with answers made up, it asks no network."""

    def __init__(self, evaluator: Evaluator, made_up: np.ndarray | None = None):
        self.evaluator, self.made_up = evaluator, made_up
        self.sizes: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.evaluator, name)

    def run(self, masks: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Judge a batch."""
        self.sizes.append(len(masks))
        return self.evaluator.run(masks, values) if self.made_up is None else self.made_up[: len(masks)]

    def begin(self, masks: np.ndarray, values: np.ndarray) -> Answered | UnderWay:
        """Begin to judge a batch."""
        if self.made_up is not None:
            return Answered(self.run(masks, values))
        self.sizes.append(len(masks))
        return self.evaluator.begin(masks, values)


@dataclass(frozen=True)
class SearchCost:
    """What a search took."""

    nodes: int
    batches: int
    asked: int
    """positions that the network judged; the others were known, or the game was over there"""
    seconds: float
    network_seconds: float
    tree_seconds: float
    """of a search of as many nodes whose answers come at once"""

    @property
    def overhead(self) -> float:
        """What the search took beyond its network, as a share of that."""
        return self.seconds / self.network_seconds - 1


def made_up_answers(rows: int) -> np.ndarray:
    """Draw answers of a network that has no opinion worth following."""
    random = np.random.default_rng(1)
    answers = random.standard_normal((rows, COLUMNS)).astype(np.float32)
    answers[:, -5:] = (0.3, 0.4, 0.3, 0.0, 0.0)
    answers[:, -2] = random.uniform(-0.3, 0.3, rows)
    return answers


def searched(evaluator: Recorder, batch: int, nodes: int) -> float:
    """Search a position from nothing; return the seconds it took, making room for the tree left aside."""
    searcher = Searcher(cast(Evaluator, evaluator), Lc0Settings(batch=batch), nodes=nodes + batch)
    searcher.begin(position_of(MIDDLE, chess_game()))
    begun = time.perf_counter()
    searcher.run(Limits(nodes=nodes))
    return time.perf_counter() - begun


def network_alone(evaluator: Evaluator, sizes: list[int]) -> float:
    """Let the network judge batches of these sizes, one always waiting; return the seconds it took."""
    masks = np.random.default_rng(1).integers(0, 1 << 62, (max(sizes), 112), dtype=np.uint64)
    values = np.ones((max(sizes), 112), np.float32)
    begun, before = time.perf_counter(), None
    for size in sizes:
        after = evaluator.begin(masks[:size], values[:size])
        if before is not None:
            before.wait()
        before = after
    if before is not None:
        before.wait()
    return time.perf_counter() - begun


def bench_search(evaluator: Evaluator, batch: int, nodes: int) -> SearchCost:
    """Measure a search, its network alone, and its tree alone, each after a round that does not count."""
    made_up = made_up_answers(batch)
    for _ in range(2):
        network, tree = Recorder(evaluator), Recorder(evaluator, made_up)
        seconds, tree_seconds = searched(network, batch, nodes), searched(tree, batch, nodes)
        alone = network_alone(evaluator, network.sizes)
    return SearchCost(nodes, len(network.sizes), sum(network.sizes), seconds, alone, tree_seconds)
