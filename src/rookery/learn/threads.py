"""How many processor threads a run uses.

More are not always faster: a small network spends more time bringing threads together than computing, and on a machine
that has other work they wait for each other. So the number is measured, once, when a run is made. It is kept in the
manifest, because with another number sums would come out in another order.
"""

from __future__ import annotations

import time

import torch

from rookery.arena.evaluator import on_threads
from rookery.nets.configs import NetworkConfig
from rookery.nets.residual import build
from rookery.search.threads import cores

GAIN = 1.15  # how much faster more threads must be
REPEATS = 5
MOST_ROWS = 1024


def candidates() -> list[int]:
    """List the numbers of threads that are tried: powers of two, and all there are."""
    most = cores()
    return sorted({1 << k for k in range(most.bit_length()) if 1 << k <= most} | {most})


def fastest_threads(config: NetworkConfig, batch: int) -> int:
    """Measure a step of training with each number of threads and return the best."""
    network, rows = build(config).train(), torch.zeros(max(2, min(batch, MOST_ROWS)), config.inputs)
    best, least = 1, float("inf")
    for count in candidates():
        seconds = []
        with on_threads(count):
            for _ in range(REPEATS):
                begin = time.perf_counter()
                logits, values = network(rows)
                (logits.mean() + values.mean()).backward()
                seconds.append(time.perf_counter() - begin)
        found = sorted(seconds)[REPEATS // 2]
        if found * (GAIN if count > 1 else 1) < least:
            best, least = count, found
    return best
