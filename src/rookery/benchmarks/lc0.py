"""How fast a network of Lc0's judges positions, and how fast these are encoded.

What a CPU does is measured in seconds of a core, which others on the same machine cannot take away; a card, in
seconds of the clock. There each size of batch is measured step by step and as a CUDA graph, and beside them stands what
the card can do at most: a product of two large matrices in the same numbers, the network's being counted operation by
operation.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from rookery.games.chess_lc0_input import PLANES, fill_planes, moves_of, pairs_of
from rookery.games.position import Position
from rookery.lc0.evaluator import Evaluator
from rookery.lc0.passes import CardPasses
from rookery.nets.lc0.network import Lc0Network

BLOCK = 256
SIDE, PRODUCTS = 8192, 10
"""of the matrices by which a card's ceiling is measured, and how many products it is given at once"""
CEILING = "matrix ceiling"
Clock = Callable[[], float]


@dataclass(frozen=True)
class Row:
    """One measurement: seconds for a position, in several rounds."""

    what: str
    batch: int
    seconds: list[float]
    operations: float = 0.0
    """floating-point operations of matrix products for a position; 0: not counted"""

    @property
    def rate(self) -> float:
        """Positions a second, by the median round."""
        return 1 / statistics.median(self.seconds)

    @property
    def work(self) -> float:
        """Floating-point operations a second."""
        return self.rate * self.operations


def random_states(evaluator: Evaluator, count: int, seed: int) -> np.ndarray:
    """Return states of random games, one after another."""
    rng = np.random.default_rng(seed)
    position: Position = evaluator.game.start()
    states: list[np.ndarray] = []
    while len(states) < count:
        if position.over:
            position = evaluator.game.start()
        states.append(position.states.copy())
        position.play(int(rng.choice(position.legal())))
    return np.concatenate(states)


def timed(work: Callable[[], None], positions: int, seconds: float, rounds: int, clock: Clock) -> list[float]:
    """Measure seconds a position in rounds of some length each."""
    work()
    found = []
    for _ in range(rounds):
        start, done = clock(), 0
        while clock() - start < seconds:
            work()
            done += positions
        found.append((clock() - start) / done)
    return found


# ---- what the network does -----------------------------------------------------------------------


@torch.no_grad()
def operations(network: Lc0Network) -> float:
    """Count the floating-point operations of matrix products for one position; nothing is computed for it."""
    rows = 2
    shapes = copy.deepcopy(network).to("meta")
    with FlopCounterMode(display=False) as counter:
        shapes.heads(torch.empty(rows, PLANES, 8, 8, dtype=next(shapes.parameters()).dtype, device="meta"))
    return float(counter.get_total_flops()) / rows


def ceiling(device: torch.device, dtype: torch.dtype, seconds: float, rounds: int) -> Row:
    """Measure a product of two large matrices: the most that a card can be hoped to do."""
    made = torch.Generator(device).manual_seed(1)
    one, other = (torch.randn(SIDE, SIDE, device=device, generator=made).to(dtype) for _ in range(2))
    out = torch.empty_like(one)

    def multiply() -> None:
        for _ in range(PRODUCTS):
            torch.mm(one, other, out=out)
        torch.cuda.synchronize(device)

    spent = timed(multiply, PRODUCTS, seconds, rounds, time.perf_counter)
    return Row(CEILING, SIDE, spent, 2.0 * SIDE**3)


# ---- measuring -----------------------------------------------------------------------------------


def bench(evaluator: Evaluator, batches: list[int], seconds: float, rounds: int, seed: int) -> list[Row]:
    """Measure encoding with the list of moves, and the network alone in each size of batch."""
    states = random_states(evaluator, BLOCK, seed)
    masks, values, _ = pairs_of(states, evaluator.format, evaluator.fill)
    planes = np.empty((BLOCK, PLANES, 64), np.float32)

    def encode() -> None:
        masks, values, turns = pairs_of(states, evaluator.format, evaluator.fill)
        fill_planes(masks, values, planes)
        moves_of(states, turns, evaluator.game.most_legal)

    rows = [Row("planes and moves", BLOCK, timed(encode, BLOCK, seconds, rounds, time.process_time))]
    fill_planes(masks, values, planes)
    work = operations(evaluator.network)
    if evaluator.card:
        rows.append(ceiling(evaluator.device, evaluator.dtype, seconds, rounds))
    clock = time.process_time if evaluator.device.type == "cpu" else time.perf_counter
    for batch in batches:
        given = torch.from_numpy(np.resize(planes, (batch, PLANES, 8, 8))).to(evaluator.device, evaluator.dtype)
        ways = {"network": step_by_step(evaluator, given)}
        if evaluator.card:
            ways["as a graph"] = as_graph(evaluator.card, np.resize(masks, (batch, PLANES)))
        for what, judge in ways.items():
            rows.append(Row(what, batch, timed(judge, batch, seconds, rounds, clock), work))
    return rows


def step_by_step(evaluator: Evaluator, planes: torch.Tensor) -> Callable[[], None]:
    """Return what lets the network alone judge planes."""

    def judge() -> None:
        with torch.inference_mode(), evaluator.exactly():
            float(evaluator.network.heads(planes).value[0])  # waits for the device

    return judge


def as_graph(card: CardPasses, masks: np.ndarray) -> Callable[[], None]:
    """Return what lets a graph on a card judge masks [N, 112]; it makes the planes, too."""
    graph = card.graph(len(masks))
    graph.masks[: len(masks)].copy_(torch.from_numpy(masks.view(np.int64)))
    graph.values.fill_(1.0)

    def replay() -> None:
        graph.graph.replay()
        torch.cuda.synchronize(card.device)

    return replay
