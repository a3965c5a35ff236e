"""Intervals of means and shares, all for 95 %."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

Z95 = 1.959964
STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""within so many estimated deviations lie 95 % of Student's distribution of 1, 2, ... degrees of freedom"""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, and how much it was found from."""

    mean: float
    low: float
    high: float
    count: int

    @property
    def known(self) -> bool:
        """Whether there is an interval: one value alone has none."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def facts(self) -> dict[str, Any]:
        """Return the numbers for JSON; an end that is infinite is None."""
        return {name: value if math.isfinite(value) else None for name, value in asdict(self).items()}


def student(freedom: float) -> float:
    """Return how many estimated deviations hold 95 %, rounding degrees of freedom down."""
    if freedom < 1:
        return math.inf
    return STUDENT[int(freedom) - 1] if freedom < len(STUDENT) + 1 else Z95 + 2.4 / freedom


def mean_estimate(values: Sequence[float]) -> Estimate:
    """Estimate a mean from independent values, by Student's distribution."""
    count = len(values)
    if not count:
        raise ValueError("a mean needs values")
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean, -math.inf, math.inf, count)
    half = student(count - 1) * math.sqrt(variance(values) / count)
    return Estimate(mean, mean - half, mean + half, count)


def variance(values: Sequence[float]) -> float:
    """Return the unbiased variance."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Estimate by how much the mean of the first is above that of the second, by Welch's test."""
    return contrast([(1.0, first), (-1.0, second)])


def contrast(parts: Sequence[tuple[float, Sequence[float]]]) -> Estimate:
    """Estimate a weighted sum of means of independent groups, whose variances may differ (Welch, Satterthwaite)."""
    mean = math.fsum(weight * math.fsum(values) / len(values) for weight, values in parts)
    count = sum(len(values) for _, values in parts)
    if any(len(values) < 2 for _, values in parts):
        return Estimate(mean, -math.inf, math.inf, count)
    spreads = [weight**2 * variance(values) / len(values) for weight, values in parts]
    total = math.fsum(spreads)
    if total == 0:
        return Estimate(mean, mean, mean, count)
    below = math.fsum(spread**2 / (len(values) - 1) for spread, (_, values) in zip(spreads, parts, strict=True))
    half = student(total**2 / below) * math.sqrt(total)
    return Estimate(mean, mean - half, mean + half, count)


def share_estimate(hits: int, count: int) -> Estimate:
    """Estimate a share by Wilson's interval; of nothing it may be anything."""
    if not count:
        return Estimate(math.nan, 0.0, 1.0, 0)
    share, weight = hits / count, Z95**2 / count
    centre = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half), count)


def pairs_estimate(both: int, split: int, neither: int) -> Estimate:
    """Estimate points a game from openings played twice: both games won, one of them, neither.

    Where all openings ended alike, their scatter says nothing, and Student's interval would have no width. Then it is
    asked how many openings may end otherwise (Wilson), each as far off as can be.
    """
    count = both + split + neither
    if count < 2 or count not in (both, split, neither):
        return mean_estimate([1.0] * both + [0.5] * split + [0.0] * neither)
    mean, others = (both + split / 2) / count, share_estimate(0, count).high
    return Estimate(mean, mean * (1 - others), mean + (1 - mean) * others, count)


def shown(estimate: Estimate | None, digits: int = 3, unit: float = 1.0) -> str:
    """Write an estimate with its interval, in units such as 0.01 for per cent."""
    if estimate is None or math.isnan(estimate.mean):
        return "-"
    mean, low, high = (f"{value / unit:.{digits}f}" for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low} .. {high})" if estimate.known else f"{mean} (no interval)"
