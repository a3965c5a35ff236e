"""How many processor threads a run uses.

More are not always faster: a small network spends more time bringing threads together than computing, and on a machine
that has other work they wait for each other. So the number is measured, once, when a run is made. It is kept in the
manifest, because with another number sums would come out in another order.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from rookery.arena.evaluator import on_threads
from rookery.nets.configs import NetworkConfig
from rookery.nets.folded import fold
from rookery.nets.residual import build
from rookery.search.threads import cores

GAIN = 1.15  # how much faster more threads must be
REPEATS = 5
MOST_ROWS = 1024


def candidates() -> list[int]:
    """List the numbers of threads that are tried: powers of two, and all there are."""
    most = cores()
    return sorted({1 << k for k in range(most.bit_length()) if 1 << k <= most} | {most})


def fastest_threads(config: NetworkConfig, batch: int, rows: int = 1, passes: float = 0.0) -> int:
    """Measure with each number of threads and return the best.

    Measured is a step of training and, where a run plays, a pass over so many `rows` of positions, which weighs as many
    `passes` as are made for a step.
    """
    network = build(config).train()
    judge = fold(network, "cpu", torch.float32)
    taught = torch.zeros(max(2, min(batch, MOST_ROWS)), config.inputs)
    asked = torch.zeros(max(judge.steady_rows, min(rows, MOST_ROWS)), config.inputs)

    def step() -> None:
        logits, values = network(taught)
        (logits.mean() + values.mean()).backward()

    best, least = 1, float("inf")
    for count in candidates():
        with on_threads(count):
            found = median_seconds(step)
            if passes:
                with torch.inference_mode():
                    found += passes * median_seconds(lambda: judge(asked))
        if found * (GAIN if count > 1 else 1) < least:
            best, least = count, found
    return best


def median_seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes, the median of a few times."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds)[REPEATS // 2]
