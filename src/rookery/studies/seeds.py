"""Statistics over seeds: whole runs are what varies, never the steps of a run.

Figures of one run at neighbouring steps go up and down together, so that a run is one sample however often it is
looked at. Runs of different conditions that share a seed share their data and its order, so differences are taken seed
by seed.

With few seeds the bootstrap over seeds is too narrow (of 4 seeds its 95 % interval holds the truth in about 80 %),
while Student's interval is right if differences between seeds are normal. Both are given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from rookery.studies.intervals import Estimate, mean_estimate

EXACT = 5000
"""so many ways to draw seeds are all looked at; where there are more, as many are drawn at random"""
TAIL = 0.025


def draws(seeds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return ways to draw as many seeds with replacement as there are.

    shares  [B, S]  how often each seed is drawn, as a share of S
    chances [B]     they sum to 1
    """
    if math.comb(2 * seeds - 1, seeds) > EXACT:
        drawn = np.random.default_rng(seed).multinomial(seeds, np.full(seeds, 1 / seeds), size=EXACT)
        return drawn / seeds, np.full(EXACT, 1 / EXACT)
    counts = np.array([np.bincount(way, minlength=seeds) for way in combinations_with_replacement(range(seeds), seeds)])
    ways = [math.factorial(seeds) / math.prod(math.factorial(count) for count in row) for row in counts.tolist()]
    return counts / seeds, np.array(ways) / seeds**seeds


def quantiles(values: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the lower and the upper tail begin, of values [B, ...] with chances [B]; not a number stays one."""
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, 0)
    reached = np.cumsum(chances[order], axis=0)
    low = (reached < TAIL - 1e-12).sum(0, keepdims=True)
    high = (reached < 1 - TAIL - 1e-12).sum(0, keepdims=True)
    last = len(values) - 1
    ends = [np.take_along_axis(ranked, np.minimum(place, last), 0)[0] for place in (low, high)]
    return ends[0], ends[1]


def band(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % bootstrap band of the mean over seeds, from values [S, ...]: whole seeds are drawn."""
    shares, chances = draws(len(values))
    return quantiles(np.tensordot(shares, values, 1), chances)


@dataclass(frozen=True)
class Paired:
    """By how much one condition is above another, seed by seed."""

    by_seed: dict[int, float]
    estimate: Estimate
    """the mean, with Student's interval"""
    bootstrap: tuple[float, float] | None
    """an interval by drawing seeds; None if there is one alone"""

    @property
    def above(self) -> int:
        """Seeds with a difference above 0."""
        return sum(value > 0 for value in self.by_seed.values())

    @property
    def sign_chance(self) -> float:
        """The chance of as uneven a split of signs if either were as likely (two-sided)."""
        counted = [value for value in self.by_seed.values() if value]
        fewer = min(sum(value > 0 for value in counted), sum(value < 0 for value in counted))
        ways: int = sum(math.comb(len(counted), k) for k in range(fewer + 1))
        return min(1.0, ways / 2.0 ** (len(counted) - 1))

    @property
    def verdict(self) -> int:
        """1 or -1 if Student's interval is above or below 0; else, or without one, 0."""
        if not self.estimate.known:
            return 0
        return 1 if self.estimate.low > 0 else -1 if self.estimate.high < 0 else 0

    def facts(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return self.estimate.facts() | {
            "by_seed": {str(seed): value for seed, value in self.by_seed.items()},
            "bootstrap": list(self.bootstrap) if self.bootstrap else None,
            "above": self.above, "sign_chance": self.sign_chance,
        }  # fmt: skip


def paired(first: Mapping[int, float], second: Mapping[int, float] | None = None) -> Paired | None:
    """Compare two conditions by the seeds that both have, or one with 0; None if there is no such seed."""
    both = sorted(set(first) & set(second)) if second is not None else sorted(first)
    found = {seed: first[seed] - (second[seed] if second is not None else 0.0) for seed in both}
    found = {seed: value for seed, value in found.items() if math.isfinite(value)}
    if not found:
        return None
    values = np.array(list(found.values()))
    ends = tuple(float(end) for end in band(values)) if len(values) > 1 else None
    return Paired(found, mean_estimate(values.tolist()), (ends[0], ends[1]) if ends else None)
