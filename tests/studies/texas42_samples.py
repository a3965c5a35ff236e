"""A small study of Texas 42 that is made at once: made-up labels of hands, exact ones of late positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rookery.nets.configs import HandsConfig, TranscriptConfig
from rookery.search.solve.texas42 import Solver
from rookery.search.texas42_batch import called, dealt, play_random_each
from rookery.search.texas42_replay import kept_of
from rookery.studies.texas42_decisions import DecisionSettings, Labels, make_decisions
from rookery.studies.texas42_files import DataSet, write_shard
from rookery.studies.texas42_plan import TrainSettings

HANDS = HandsConfig(width=24, heads=2, layers=1, mlp=32)
TRANSCRIPT = TranscriptConfig(width=24, heads=2, layers=1, mlp=32)
LATE = 16
"""plays after which exact values are found at once"""


class Guessing:
    """Labels that are quickly made: numbers that depend on slots and seeds."""

    def begin(self, states, worlds, seeds):
        mean = ((seeds[:, None] + 7 * np.arange(7)) % 11).astype(float)
        return lambda: Labels(mean, mean / 2, mean / 12, mean - 3)


def late_rows(seeds: np.ndarray, seed: int = 0) -> dict[str, np.ndarray]:
    """Make rows of late positions, which are solved at once."""
    count, rng = len(seeds), np.random.default_rng(seed)
    states = dealt(seeds)
    called(states, rng.integers(10, size=count), rng.integers(4, size=count), np.zeros(count, np.int8))
    play_random_each(states, seed, seeds, rng.integers(LATE, 28, size=count))
    return {"seed": seeds, **kept_of(states), "q": Solver().q(states).q}


def small_study(folder: Path) -> Path:
    """Write sets of both kinds, with deals that train, validate and test."""
    positions = DataSet(folder / "data" / "positions-late")
    positions.begin("positions", 1, {"seed": 0})
    write_shard(positions.shard(0), "positions", late_rows(np.arange(860, 990)), {})
    settings = DecisionSettings(worlds=1, per_shard=20, part="all", second="guessed")
    make_decisions(folder / "data" / "decisions-made-up", 8, settings, Guessing())
    valid = DecisionSettings(worlds=1, per_shard=20, part="valid", second="guessed")
    make_decisions(folder / "data" / "decisions-valid", 4, valid, Guessing())
    return folder


def settings_of(stage: int, name: str = "one", **changes) -> TrainSettings:
    """Return settings of a short run."""
    usual = {"steps": 12, "batch": 16, "warmup": 3, "every": 5, "learning_rate": 1e-3, "valid_rows": 60}
    return TrainSettings(name, **({"network": HANDS if stage == 1 else TRANSCRIPT} | usual | changes))
