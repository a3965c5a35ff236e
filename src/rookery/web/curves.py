"""Curves of figures over games, thinned for a page: means of neighbouring points with a band. Plain Python."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MOST_POINTS = 400
"""of the part of a curve that is looked at"""
MOST_BESIDE = 60
"""of each part beside it, which is seen only while a page moves on"""

Span = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """Means of neighbouring points, with a band."""

    run: str
    """its name"""
    steps: tuple[float, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    width: int = 1
    """how many points each mean is taken of, where the curve is looked at"""
    runs: int = 1
    """how many runs it joins"""


def averaged(run: str, points: Sequence[tuple[float, float]], smoothing: int, looked: Span | None = None) -> Curve:
    """Average neighbouring points, so many at a time, more if there would be too many in the span looked at."""
    steps = [step for step, _ in points]
    begin, end = (bisect_left(steps, looked[0]), bisect_right(steps, looked[1])) if looked else (0, len(points))
    width = width_of(end - begin, smoothing, MOST_POINTS)
    groups = [
        *grouped(points[:begin], width_of(begin, smoothing, MOST_BESIDE)),
        *grouped(points[begin:end], width),
        *grouped(points[end:], width_of(len(points) - end, smoothing, MOST_BESIDE)),
    ]
    values = [[value for _, value in group] for group in groups]
    return Curve(
        run, tuple(group[-1][0] for group in groups), tuple(math.fsum(each) / len(each) for each in values),
        tuple(map(min, values)), tuple(map(max, values)), width,
    )  # fmt: skip


def width_of(points: int, smoothing: int, most: int) -> int:
    """Return how many points are averaged at a time."""
    return max(1, smoothing, math.ceil(points / most))


def grouped(points: Sequence[tuple[float, float]], width: int) -> list[Sequence[tuple[float, float]]]:
    """Cut points into groups of so many."""
    return [points[begin : begin + width] for begin in range(0, len(points), width)]
