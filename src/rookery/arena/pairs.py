"""What the scores of pairs of games tell about the true score.

The two games of a pair begin alike with the seats swapped, so they are not independent; pairs are. A pair gives one of
five scores, 0, 1/4, 1/2, 3/4 or 1 a game. Nothing is assumed of their five chances, only what is to be tested: their
mean. docs/arena.md derives what follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
STEPS = 200  # more than halving needs to reach the last digit

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

    They are share / (1 + tilt * (score - mean)) with the tilt that makes the mean right. If none does, because the
    score at an end never came, that end takes what is missing from 1.
    """
    total, away = sum(counts), [score - mean for score in PAIR_SCORES]
    shares = [count / total for count in counts]
    tilt = find_tilt([(share, distance) for share, distance in zip(shares, away, strict=True) if share > 0.0], away)
    chances = [share and share / (1.0 + tilt * distance) for share, distance in zip(shares, away, strict=True)]
    chances[-1 if tilt < 0.0 else 0] += max(0.0, 1.0 - sum(chances))
    return chances


def find_tilt(seen: list[tuple[float, float]], away: list[float]) -> float:
    """Solve sum(share * distance / (1 + tilt * distance)) = 0 by Newton's steps, halving where one leads astray.

    The sum falls as the tilt rises. Where it has no zero, the tilt is the one at which a chance would become infinite.
    """
    low, high, tilt = -1.0 / away[-1], -1.0 / away[0], 0.0
    for _ in range(STEPS):
        terms = [(share, distance / (1.0 + tilt * distance)) for share, distance in seen]
        value = sum(share * term for share, term in terms)
        if value == 0.0:
            break
        low, high = (tilt, high) if value > 0.0 else (low, tilt)
        better = tilt + value / sum(share * term * term for share, term in terms)
        if not low < better < high:
            better = (low + high) / 2.0
        if abs(better - tilt) <= 1e-15 * (1.0 + abs(tilt)) or not low < better < high:
            break
        tilt = better
    return tilt


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
        if middle == end:  # no number lies between
            break
        if deviance(counts, middle) <= limit:
            inside = middle
        else:
            outside = middle
    return inside
