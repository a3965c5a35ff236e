"""How fast networks of the Domineering study are trained: batches alone, the network alone, whole steps.

A variant is a precision and a way to make steps. Those on a card are there to be compared on that card: which kernels
are fastest depends on it, and on the versions of what drives it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from rookery.benchmarks.learning import on_card_clock, timed
from rookery.errors import BadInput
from rookery.nets.captured import captured
from rookery.nets.configs import TransformerConfig
from rookery.nets.residual import build
from rookery.nets.transformer import Transformer
from rookery.search.domineering_guided import guided_games
from rookery.studies.domineering_batches import GameTable, Positions
from rookery.studies.domineering_files import records_of
from rookery.studies.domineering_plan import PRESETS, RunSettings
from rookery.studies.domineering_training import Speed, Trainer
from rookery.studies.order import Order

GAMES, SEED = 2000, 0
NETWORKS = {"small": PRESETS["full"].small, "large": PRESETS["full"].large}
STEPS = {"cpu": 1, "cuda": 96}
"""steps of a round"""


@dataclass(frozen=True)
class Variant:
    """A way to train."""

    precision: str
    speed: Speed


VARIANTS = {
    "eager": Variant("bf16", Speed()),
    "eager-all": Variant("bf16-all", Speed()),
    "compiled": Variant("bf16", Speed(compile=True)),
    "own": Variant("bf16", Speed(compile=True, attention="own")),
    "own-all": Variant("bf16-all", Speed(compile=True, attention="own")),
    "own-fp16": Variant("fp16", Speed(compile=True, attention="own")),
    "own-fp16-all": Variant("fp16-all", Speed(compile=True, attention="own")),
    "flash": Variant("bf16", Speed(compile=True, attention="flash")),
    "cudnn": Variant("bf16", Speed(compile=True, attention="cudnn")),
    "efficient": Variant("bf16", Speed(compile=True, attention="efficient")),
    "cudnn-all": Variant("bf16-all", Speed(compile=True, attention="cudnn")),
    "tuned": Variant("bf16-all", Speed(compile=True, tune=True, attention="own")),
    "fp32": Variant("fp32", Speed()),
}
USUAL = {
    "cpu": ("fp32",),
    "cuda": ("own-all", "own", "compiled", "cudnn-all", "own-fp16-all", "eager"),
}


@dataclass(frozen=True)
class Row:
    """One network trained in one way: steps a second as medians of the rounds, with the lowest and the highest."""

    network: str
    variant: str
    speed: float
    low: float
    high: float
    alone: float
    """forwards and backwards a second, without batches and new weights"""
    teraflops: float
    """products of a step, times steps a second"""
    memory: float
    """gigabytes of a card"""
    prepared: float
    """seconds until the first step: compiling and capturing"""
    note: str

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return asdict(self)


def step_products(config: TransformerConfig, batch: int) -> float:
    """Count the floating-point operations of a step in products: two for each weight and token, thrice with gradients.

    Attention looks from every token at every token, twice: scores, and the mixture of values.
    """
    tokens, inner = config.inputs, config.heads * config.head_width
    layer = 4 * config.width * inner + 2 * config.width * config.mlp + 2 * tokens * inner
    policy = 2 * config.width * config.policy_hidden
    return 3.0 * 2 * batch * tokens * (config.layers * layer + policy)


def some_positions(device: str) -> Positions:
    """Make games and put them on a device."""
    games = guided_games(GAMES, seed=SEED)
    return Positions(GameTable(records_of(games.moves, games.lengths, games.explored), device), "all")


def clock_of(device: str) -> Callable[[], float]:
    """Return the clock that a device is measured by."""
    return on_card_clock if device == "cuda" else time.perf_counter


def bench_batches(positions: Positions, size: int, rounds: int, repeats: int = 50) -> list[float]:
    """Return how many positions a second are built, of each round; on a card by a graph."""
    device = positions.table.device.type
    numbers, turns = Order(len(positions), size, SEED, positions.table.device).at(0)
    build_: Callable[[], object] = lambda: positions.batch(numbers, turns)  # noqa: E731, one of two
    work = captured(build_).replay if device == "cuda" else build_
    repeats = repeats if device == "cuda" else 2
    clock = clock_of(device)
    work()
    spent = [timed(lambda: [work() for _ in range(repeats)], clock) for _ in range(rounds)]
    return [size * repeats / seconds for seconds in spent]


def bench_variant(network: str, name: str, positions: Positions, batch: int, rounds: int, steps: int) -> Row:
    """Measure one network trained in one way."""
    device, config, variant = positions.table.device.type, NETWORKS[network], VARIANTS[name]
    speed = variant.speed if device == "cuda" else replace(variant.speed, block=1)
    settings = RunSettings("large", SEED, config, steps * (rounds + 1), batch=batch, precision=variant.precision)
    torch.compiler.reset()  # every variant pays for itself
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    fresh = build(config, SEED)
    assert isinstance(fresh, Transformer)
    trainer, clock = Trainer(fresh, settings, positions, speed), clock_of(device)
    prepared = timed(trainer.prepare, clock)
    trainer.train(steps)
    spent = [timed(lambda: trainer.train(steps), clock) for _ in range(rounds)]
    memory = torch.cuda.max_memory_reserved() / 1e9 if device == "cuda" else 0.0
    speeds = [steps / seconds for seconds in spent]
    alone = bench_alone(trainer, rounds, steps)
    trainer.close()
    return Row(
        network, name, statistics.median(speeds), min(speeds), max(speeds), alone,
        step_products(config, batch) * statistics.median(speeds) / 1e12, memory, prepared,
        trainer.note,
    )  # fmt: skip


def bench_alone(trainer: Trainer, rounds: int, steps: int) -> float:
    """Return how often a second a network goes forwards and backwards, the median of the rounds."""
    size, device = trainer.settings.batch, trainer.device.type
    batch = trainer.positions.batch(trainer.numbers[:size], trainer.symmetries[:size])
    work: Callable[[], object] = lambda: trainer.gradients(batch)  # noqa: E731, one of two
    work = captured(work).replay if device == "cuda" else work
    spent = [timed(lambda: [work() for _ in range(steps)], clock_of(device)) for _ in range(rounds)]
    return steps / statistics.median(spent)


def chosen(what: str, wanted: Sequence[str], known: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Return what is wanted, or what is usual if nothing is named; refuse what nobody knows."""
    for name in wanted:
        if name not in known:
            raise BadInput(f"{what} {name!r}: there are {', '.join(known)}")
    return list(wanted or usual)


def bench_study(
    positions: Positions, networks: Sequence[str], variants: Sequence[str], batch: int, rounds: int, steps: int,
    tick: Callable[[str], None],
) -> list[Row]:  # fmt: skip
    """Measure networks in variants; one that a card cannot do is reported with the reason. `tick` follows each."""
    found = []
    for network in networks:
        for name in variants:
            try:
                row = bench_variant(network, name, positions, batch, rounds, steps)
            except RuntimeError as error:  # a kernel that is not there, or too little memory: others may work
                reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:160]}"
                row = Row(network, name, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, reason)
            found.append(row)
            tick(f"{network} {name}: {row.speed:,.1f} steps/s {row.note}".strip())
    return found
