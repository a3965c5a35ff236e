"""How fast the networks of Texas 42 label hands and learn, on a device, by the clock on the wall.

Weights are drawn at random, and so are the positions that are learned from: neither changes the work. Compiling, and
the first hands and steps, are done before the clock runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch

from rookery.arena.texas42_networks import HandsOracle
from rookery.benchmarks.texas42 import Row
from rookery.benchmarks.texas42_play import rate_row
from rookery.games.texas42_tiles import DECLARATIONS, HAND, SEATS, TILES
from rookery.nets.configs import HANDS
from rookery.nets.residual import build
from rookery.nets.texas42 import Hands
from rookery.search.solve.texas42 import Solver
from rookery.search.texas42_batch import (
    called,
    dealt,
    known_tokens,
    legal_slots,
    play_random_each,
)
from rookery.studies.texas42_decisions import DecisionSettings, NetworkLabeller, make_shard
from rookery.studies.texas42_plan import TrainSettings, first_stage, second_stage
from rookery.studies.texas42_runs import stage_of
from rookery.studies.texas42_tables import READ, Table
from rookery.studies.texas42_training import Trainer

LABELLED, COMPILED = ("open-128x4", "817k", "3.3M"), ("open-128x4", "3.3M")
"""sizes of Stage 1 that label, and those that do on a card by kernels that PyTorch's compiler writes, too"""
LEARNING = (("open-128x4", 1), ("817k", 1), ("3.3M", 1), ("128x4", 2), ("256x6", 2))
"""sizes that learn, and their stages"""
WORLDS, FLOOR = 50, 200.0
SOLVED_AFTER = (20, 16, 12, 8, 4, 0)
AT_ONCE = 16
"""positions a card solves at once for each hand that is labelled at once"""


def bench_card(
    device: str, games: int, threads: int, rounds: int = 3, tick: Callable[[str], None] = lambda name: None
) -> Iterator[Row]:
    """Measure labelling of so many hands at a time, exact search, learning, last what takes minutes to compile."""
    for size in LABELLED:
        name = f"positions judged by {size} alone"
        yield rate_row(name, "positions/s", alone_rates(size, device, rounds), None)
        tick(name)
        yield label_row(size, False, device, games, threads, rounds, tick)
    if device == "cuda":
        yield from solver_rows(games, threads, tick)
    for size, stage in LEARNING:
        name = f"steps of Stage {stage}, {size}"
        yield rate_row(name, "steps/s", step_rates(size, stage, device, 32 * games, rounds), None)
        tick(name)
    if device == "cuda":
        for size in COMPILED:
            yield label_row(size, True, device, games, threads, rounds, tick)


def label_row(
    size: str, compiled: bool, device: str, games: int, threads: int, rounds: int, tick: Callable[[str], None]
) -> Row:  # fmt: skip
    """Measure labelling by one network."""
    name = f"hands by E[Q] of {size}, {WORLDS} worlds{', compiled' if compiled else ''}"
    rates = label_rates(size, compiled, device, games, threads, rounds)
    tick(name)
    return rate_row(name, "hands/s", rates, FLOOR if size == "3.3M" else None)


def solver_rows(games: int, threads: int, tick: Callable[[str], None]) -> Iterator[Row]:
    """Measure exact search in positions of random play by a card, and by so many threads of processors.

    There are more of the late ones, which are solved in microseconds; a card has most of them at once, since it waits
    for the longest.
    """
    from rookery.search.solve.texas42_cuda import SolverOnCard

    here = f"{threads} threads"
    solvers: dict[str, Solver | SolverOnCard] = {"a card": SolverOnCard(), here: Solver(threads)}
    for plies in SOLVED_AFTER:
        count = games * max(8, 1 << plies // 3)
        states = random_states(max(count, AT_ONCE * games), plies)
        for who, solver in solvers.items():
            some = states[:count] if who == here else states
            solver.q(some[:256])  # and thereby compiled
            begun = time.perf_counter()
            solver.q(some)
            name = f"positions after {plies} plays solved by {who}, {len(some):,} at once"
            yield rate_row(name, "positions/s", [len(some) / (time.perf_counter() - begun)], None)
            tick(name)


def alone_rates(size: str, device: str, rounds: int) -> list[float]:
    """Return positions a second that a Stage 1 judges whose tokens lie ready: what labelling could come to."""
    network = build(HANDS[size], 1)
    assert isinstance(network, Hands)
    oracle = HandsOracle(network, device)
    states = random_states(oracle.rows)
    tokens, rates = torch.from_numpy(READ[oracle.reads](states)).to(oracle.device), []
    times = 64 if device == "cuda" else 1
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        with torch.inference_mode():
            for _ in range(times):
                oracle.points(tokens, None)
        if device == "cuda":
            torch.cuda.synchronize()
        rates.append(times * len(states) / (time.perf_counter() - begun))
    return rates[1:]


def label_rates(size: str, compiled: bool, device: str, games: int, threads: int, rounds: int) -> list[float]:
    """Return hands a second that a Stage 1 labels and plays, of every round."""
    network = build(HANDS[size], 1)
    assert isinstance(network, Hands)
    labeller = NetworkLabeller(HandsOracle(network, device, compiled=compiled), threads=threads)
    settings, rates = DecisionSettings(worlds=WORLDS), []
    for turn in range(rounds + 1):
        begun = time.perf_counter()
        make_shard(settings, np.arange(turn * games, (turn + 1) * games), labeller)
        rates.append(games / (time.perf_counter() - begun))
    return rates[1:]


def step_rates(size: str, stage: int, device: str, rows: int, rounds: int) -> list[float]:
    """Return steps a second of the runs that the study plans, of every round."""
    settings = planned(size, stage, device)
    trainer = Trainer(stage_of(build(settings.network, 1)), settings, random_table(settings, rows, device))
    steps, rates = 256 if device == "cuda" else 2, []
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        trainer.train(steps)
        if device == "cuda":
            torch.cuda.synchronize()
        rates.append(steps / (time.perf_counter() - begun))
    trainer.close()
    return rates[1:]


def planned(size: str, stage: int, device: str) -> TrainSettings:
    """Return the settings of a run of the study, with a small batch where there is no card."""
    run = first_stage(size, "q", 10_000) if stage == 1 else second_stage(size, size, 10_000, "decisions-100")
    return run if device == "cuda" else replace(run, batch=32, precision="fp32")


def random_states(rows: int, plies: int | None = None) -> np.ndarray:
    """Make positions of random play, after so many plays, or any number of them."""
    states, rng = dealt(np.arange(rows)), np.random.default_rng(0)
    called(
        states, rng.integers(len(DECLARATIONS), size=rows), rng.integers(SEATS, size=rows), np.full(rows, 30, np.int8)
    )
    played = rng.integers(TILES, size=rows) if plies is None else np.full(rows, plies)
    play_random_each(states, 0, np.arange(rows), played)
    return states


def random_table(settings: TrainSettings, rows: int, device: str) -> Table:
    """Make a table of positions of random play, with labels that are zero."""
    states = random_states(rows)
    columns = {"legal": legal_slots(states), "trick": (states["plays"] >> 2).astype(np.int8)}
    empty = np.zeros((rows, HAND), np.int8)
    if settings.stage == 1:
        return Table(columns | {"tokens": READ[settings.reads](states), "q": empty}, 1, device)
    labels = {"mean": np.int16, "spread": np.int32, "make": np.int32, "logits": np.float16}
    zeros = {name: empty.astype(kind) for name, kind in labels.items()}
    return Table(columns | {"tokens": known_tokens(states), **zeros}, 2, device)
