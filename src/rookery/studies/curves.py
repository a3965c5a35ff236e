"""What runs of self-play say of themselves: losses, draws and seconds by games, and means over parts of them.

Figures come from `metrics.jsonl`, a line about every second: means over what happened since the line before. A mean
over a part of a run weighs each line by the games finished in it. Its interval comes from up to ten blocks of lines,
one after another, taken as independent: it says how much the figure wavers within one run, not how runs differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rookery.learn import runs
from rookery.learn.files import LineLog
from rookery.studies.intervals import Estimate, mean_estimate

VALUE, POLICY, DECISIVE, DRAWS, PLIES = (
    "loss/value", "loss/policy", "loss/decisive", "selfplay/draws", "selfplay/plies",
)  # fmt: skip
SECONDS = "seconds/all"
BLOCKS, LEAST_BLOCKS = 10, 5
LAST_SHARE = 0.1
"""of a run's games that its end is"""
MOST_POINTS = 300  # of a curve that is drawn
SMOOTHED = 0.01  # of all games: what a curve is averaged over where it must fall below something


@dataclass(frozen=True)
class Point:
    """A figure, the games by which it was told, and how many games it is about."""

    games: int
    value: float
    weight: float


@dataclass(frozen=True)
class Curve:
    """One figure of one run."""

    points: tuple[Point, ...]

    @property
    def last(self) -> int:
        """Games at its last point; 0 if it has none."""
        return self.points[-1].games if self.points else 0

    def between(self, low: float, high: float) -> Curve:
        """Return the part after `low` games, up to `high`."""
        return Curve(tuple(point for point in self.points if low < point.games <= high))

    def mean(self) -> float:
        """Return the weighted mean."""
        total = math.fsum(point.weight for point in self.points)
        return math.fsum(point.value * point.weight for point in self.points) / total

    def estimate(self) -> Estimate | None:
        """Return the mean with an interval from blocks; None if there are no points, no interval if few."""
        if not self.points:
            return None
        count = len(self.points)
        if count < LEAST_BLOCKS:
            return Estimate(self.mean(), -math.inf, math.inf, count)
        blocks = min(BLOCKS, count)
        ends = [count * block // blocks for block in range(blocks + 1)]
        parts = [Curve(self.points[ends[i] : ends[i + 1]]).mean() for i in range(blocks)]
        half = mean_estimate(parts)
        mean = self.mean()
        return Estimate(mean, mean - half.mean + half.low, mean + half.high - half.mean, count)

    def at_end(self) -> Estimate | None:
        """Estimate the figure over the last part of the run."""
        return self.between((1 - LAST_SHARE) * self.last, self.last).estimate()

    def near(self, games: int) -> Estimate | None:
        """Estimate the figure around a number of games, a tenth to either side; None if the run is not as long."""
        return self.between(0.9 * games, 1.1 * games).estimate() if self.last >= games else None

    def first(self) -> float | None:
        """Return the first value."""
        return self.points[0].value if self.points else None

    def falls_to(self, level: float) -> int | None:
        """Return by how many games the figure, averaged a little, is first at or below a level; None if never."""
        width = SMOOTHED * self.last
        first = 0
        for last, point in enumerate(self.points):
            while self.points[first].games <= point.games - width:
                first += 1
            if Curve(self.points[first : last + 1]).mean() <= level:
                return point.games
        return None

    def thinned(self) -> tuple[list[float], list[float]]:
        """Return games and values to draw, neighbours averaged where there are too many."""
        width = max(1, math.ceil(len(self.points) / MOST_POINTS))
        groups = [Curve(self.points[i : i + width]) for i in range(0, len(self.points), width)]
        return [float(group.last) for group in groups], [group.mean() for group in groups]

    def on_grid(self, grid: Sequence[float]) -> list[float]:
        """Return the value in each cell of a grid of games; nan where there is none."""
        found, low = [], 0.0
        for high in grid:
            part = self.between(low, high)
            found.append(part.mean() if part.points else math.nan)
            low = high
        return found


def read_curves(folder: Path, keys: Sequence[str]) -> dict[str, Curve]:
    """Read figures of a run."""
    points: dict[str, list[Point]] = {key: [] for key in keys}
    before = 0
    for line in LineLog(folder / runs.METRICS).read():
        games = line.get("step")
        if not isinstance(games, int):
            continue
        for key in keys:
            value = line.get(key)
            if isinstance(value, int | float) and math.isfinite(value):
                points[key].append(Point(games, float(value), float(max(1, games - before))))
        before = games
    return {key: Curve(tuple(found)) for key, found in points.items()}


def seconds_at(curve: Curve, games: int) -> float | None:
    """Return the seconds that a run took for some games, from its curve of seconds, between two lines in proportion."""
    before = Point(0, 0.0, 0.0)
    for point in curve.points:
        if point.games >= games:
            share = (games - before.games) / max(1, point.games - before.games)
            return before.value + share * (point.value - before.value)
        before = point
    return before.value if curve.points else None
