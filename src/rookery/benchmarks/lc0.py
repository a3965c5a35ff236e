"""How fast a network of Lc0's judges positions, and how fast these are encoded.

What a CPU does is measured in seconds of a core, which others on the same machine cannot take away; a card, in
seconds of the clock.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from rookery.games.chess_lc0_input import PLANES, fill_planes, moves_of, pairs_of
from rookery.games.position import Position
from rookery.lc0.evaluator import Evaluator

BLOCK = 256
Clock = Callable[[], float]


@dataclass(frozen=True)
class Row:
    """One measurement: seconds for a position, in several rounds."""

    what: str
    batch: int
    seconds: list[float]

    @property
    def rate(self) -> float:
        """Positions a second, by the median round."""
        return 1 / statistics.median(self.seconds)


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
    clock = time.process_time if evaluator.device.type == "cpu" else time.perf_counter
    for batch in batches:
        repeated = np.resize(planes, (batch, PLANES, 8, 8))
        given = torch.from_numpy(repeated).to(evaluator.device, evaluator.dtype)

        def judge(given: torch.Tensor = given) -> None:
            with torch.inference_mode():
                float(evaluator.network.heads(given).value[0])  # waits for the device

        rows.append(Row("network", batch, timed(judge, batch, seconds, rounds, clock)))
    return rows
