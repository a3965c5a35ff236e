"""How fast networks judge positions on one core: the evaluator beside the plain module and itself in bf16, in the same
rounds.

Processor time is counted, not the clock's, and every round measures everything once; medians are reported.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from rookery.arena.evaluator import NetworkEvaluator, on_threads
from rookery.nets.configs import SMALL, NetworkConfig, PerceptronConfig, ResidualConfig, TowerConfig
from rookery.nets.network import Network
from rookery.nets.residual import build

CONFIGS: dict[str, NetworkConfig] = {
    "Pylos V3": PerceptronConfig(inputs=32, actions=303),
    "Pylos V4": ResidualConfig(inputs=32, actions=303),
    "Pylos V5": ResidualConfig(inputs=92, actions=303, blocks=10, value_hidden=128, policy_hidden=256),
    "tower 6x64, 15x15": TowerConfig(planes=17, rows=15, cols=15),
    "Domineering small": SMALL,
}
BATCHES = (1, 16, 64, 256, 1024)
SECONDS = 0.1  # of processor time for one measurement, at least


@dataclass(frozen=True)
class Row:
    """Positions judged a second in batches of one size: the median of the rounds, the lowest and the highest."""

    network: str
    batch: int
    speed: float
    low: float
    high: float
    plain: float
    """the module in evaluation mode, asked the same"""
    bf16: float
    """the evaluator computing in bf16"""

    def as_dict(self) -> dict[str, Any]:
        """Return the row with its ratio, for JSON."""
        return asdict(self) | {"against_plain": self.speed / self.plain, "bf16_against": self.bf16 / self.speed}


def positions_a_second(judge: Callable[[], object], batch: int, seconds: float) -> float:
    """Measure by processor time, after one pass that does not count."""
    judge()
    passes, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < seconds or not passes:
        judge()
        passes += 1
    return passes * batch / spent


def plain_pass(network: Network, rows: np.ndarray) -> Callable[[], object]:
    """Return what asks the module itself."""
    observations = torch.from_numpy(rows)

    def judge() -> object:
        with torch.inference_mode():
            return network(observations)

    return judge


def bench_networks(
    configs: dict[str, NetworkConfig], batches: Sequence[int], rounds: int, tick: Callable[[], None],
    seconds: float = SECONDS,
) -> list[Row]:  # fmt: skip
    """Measure all networks at all sizes; `tick` is called after each round."""
    speeds: dict[tuple[str, int], list[tuple[float, ...]]] = {}
    networks = {name: build(config).eval() for name, config in configs.items()}
    judges = {
        (name, precision): NetworkEvaluator(network, "", "cpu", precision, threads=1)
        for name, network in networks.items()
        for precision in ("32", "bf16")
    }
    for _ in range(rounds):
        for name, network in networks.items():
            for batch in batches:
                rows = np.random.default_rng(batch).standard_normal((batch, network.config.inputs)).astype(np.float32)
                with on_threads(1):
                    ours, rough = (partial(judges[name, precision], rows) for precision in ("32", "bf16"))
                    ways = (ours, plain_pass(network, rows), rough)
                    found = tuple(positions_a_second(way, batch, seconds) for way in ways)
                speeds.setdefault((name, batch), []).append(found)
        tick()
    return [made_row(name, batch, measured) for (name, batch), measured in speeds.items()]


def made_row(name: str, batch: int, measured: list[tuple[float, ...]]) -> Row:
    """Sum up the rounds."""
    ours, plain, bf16 = zip(*measured, strict=True)
    middle = statistics.median
    return Row(name, batch, middle(ours), min(ours), max(ours), middle(plain), middle(bf16))
