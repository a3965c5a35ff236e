"""What the scores of pairs of games tell about the true score.

The two games of a pair begin alike with the seats swapped, so they are not independent; pairs are. A pair gives one of
five scores, 0, 1/4, 1/2, 3/4 or 1 a game. Nothing is assumed of their five chances, only what is to be tested: their
mean. docs/arena.md derives what follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
HALVINGS = 200  # more than a float can tell apart

Counts = Sequence[float]
"""how often each of the five pair scores came"""


def count_pairs(pairs: Sequence[tuple[float, float]]) -> list[int]:
    """Count how often each pair score came."""
    counts = [0] * len(PAIR_SCORES)
    for first, second in pairs:
        counts[round(2 * (first + second))] += 1
    return counts


def mean_score(counts: Counts) -> float:
    """Return the points a game."""
    return sum(count * score for count, score in zip(counts, PAIR_SCORES, strict=True)) / sum(counts)


def most_likely(counts: Counts, mean: float) -> list[float]:
    """Return the chances of the five scores under which `counts` is likeliest, among those with a given mean.

    They are share / (1 + t * (score - mean)) with the t that makes the mean right; it falls as t rises, so t is
    found by halving. If no t does, because the score at an end never came, that end takes what is missing from 1.
    """
    total, away = sum(counts), [score - mean for score in PAIR_SCORES]
    seen = [(count / total, distance) for count, distance in zip(counts, away, strict=True) if count > 0]
    least, most = -1.0 / away[-1], -1.0 / away[0]  # beyond these a chance would be negative
    low, high = least, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        if sum(share * distance / (1.0 + middle * distance) for share, distance in seen) > 0.0:
            low = middle
        else:
            high = middle
    tilt = (low + high) / 2.0
    chances = [
        count / total / (1.0 + tilt * distance) if count > 0 else 0.0
        for count, distance in zip(counts, away, strict=True)
    ]
    missing = max(0.0, 1.0 - sum(chances))
    chances[-1 if tilt < 0.0 else 0] += missing
    return chances


def log_likelihood(counts: Counts, chances: Sequence[float]) -> float:
    """Return the logarithm of the likelihood of the counts, up to a constant."""
    return sum(count * math.log(chance) for count, chance in zip(counts, chances, strict=True) if count > 0)


def deviance(counts: Counts, mean: float) -> float:
    """Return twice the logarithm by which the likeliest chances beat the likeliest ones with a given mean."""
    total = sum(counts)
    free = log_likelihood(counts, [count / total for count in counts])
    return max(0.0, 2.0 * (free - log_likelihood(counts, most_likely(counts, mean))))


def farthest(counts: Counts, limit: float, end: float) -> float:
    """Return the score farthest from the mean towards `end`, 0 or 1, at which the deviance is within a limit."""
    inside, outside = mean_score(counts), end
    if inside == end:
        return end
    for _ in range(60):
        middle = (inside + outside) / 2.0
        if deviance(counts, middle) <= limit:
            inside = middle
        else:
            outside = middle
    return inside
