"""How fast lessons of Gomoku are made: positions of which a supervisor says what it would do, files included."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rookery.games.library import load
from rookery.learn.lessons import gather_lessons, load_lessons
from rookery.learn.sections import LessonSettings

THREADS = 2
SUPERVISORS = {"baseline:depth=2": (20_000, 20_000.0), "baseline:depth=6": (500, 20.0)}
"""positions that are made, and how many a second there should be at least"""
BOARDS = ("gomoku:size=9", "gomoku:size=15")


@dataclass(frozen=True)
class LessonRow:
    """Positions a second by the clock: the median of the rounds, the lowest and the highest."""

    game: str
    supervisor: str
    speed: float
    low: float
    high: float
    floor: float

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return asdict(self)


def positions_a_second(spec: str, supervisor: str, positions: int, seed: int) -> float:
    """Make lessons in a folder of their own and return how many positions there were in a second."""
    settings = LessonSettings(supervisor=supervisor, positions=positions, threads=THREADS)
    with TemporaryDirectory() as folder:
        begun = time.perf_counter()
        gather_lessons(Path(folder), load(spec), settings, seed)
        spent = time.perf_counter() - begun
        made = [load_lessons(path) for path in Path(folder).glob("shard_*.npz")]  # more than were asked for
    return sum(some.positions for some in made) / spent


def bench_lessons(rounds: int, tick: Callable[[], None], least: int = 0) -> list[LessonRow]:
    """Measure lessons of every supervisor on every board; `least` makes so few positions instead, for a quick look."""
    rows = []
    for spec in BOARDS:
        for supervisor, (positions, floor) in SUPERVISORS.items():
            positions_a_second(spec, supervisor, 1, 0)  # compiles what is not in the cache
            found = [positions_a_second(spec, supervisor, least or positions, seed) for seed in range(rounds)]
            rows.append(LessonRow(spec, supervisor, statistics.median(found), min(found), max(found), floor))
            tick()
    return rows
