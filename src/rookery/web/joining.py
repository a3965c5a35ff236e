"""Runs that differ only in their seed, joined: their mean as one line, and a band. Plain Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from rookery.web.curves import Curve

NOT_COMPARED = ("seed", "folder")
"""settings in which runs may differ and still are the same experiment"""
ERRORS = 1.96  # standard errors of a mean on either side: about 95 %
BANDS = {"range": "band: lowest to highest run", "error": "band: ± 1.96 standard errors"}


def alike(settings: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Sort runs, given with their settings, into groups that differ only in their seed; none settings, no group."""
    groups: dict[Hashable, list[str]] = {}
    for name, values in settings.items():
        kept = tuple(sorted((key, str(value)) for key, value in values.items() if key not in NOT_COMPARED))
        groups.setdefault(kept or name, []).append(name)
    return list(groups.values())


def group_names(groups: Sequence[Sequence[str]]) -> list[str]:
    """Name groups by what their runs' names begin with; names that would come twice say which runs they are."""
    stems = [stem_of(names) for names in groups]
    told = []
    for names, stem in zip(groups, stems, strict=True):
        unclear = Counter(stems)[stem] > 1
        one = ", ".join(names) if unclear or not stem else stem
        told.append(names[0] if len(names) == 1 else f"{one} ({len(names)} runs)")
    return told


def stem_of(names: Sequence[str]) -> str:
    """Return what the names of runs have in common, without the sign of a seed."""
    if len(names) == 1:
        return names[0]
    first, last = min(names), max(names)
    same = next((at for at, sign in enumerate(first) if last[at : at + 1] != sign), len(first))
    return re.sub(r"[-_. ]*(s|seed)?[-_. ]*$", "", first[:same])


def joined(name: str, curves: Sequence[Curve], band: str = "range") -> Curve:
    """Return the mean of several runs, as far as all of them go, with a band of BANDS.

    Between two points of a run its line is taken, so runs may have logged at different steps.
    """
    at = common_steps(curves)
    if not at.size:
        return Curve(name, (), (), (), (), runs=len(curves))
    values = np.array([np.interp(at, curve.steps, curve.means) for curve in curves]).reshape(len(curves), len(at))
    means = values.mean(axis=0)
    if band == "error" and len(curves) > 1:
        reach = ERRORS * values.std(axis=0, ddof=1) / np.sqrt(len(curves))
        lows, highs = means - reach, means + reach
    else:
        lows, highs = values.min(axis=0), values.max(axis=0)
    width = max((curve.width for curve in curves), default=1)
    return Curve(name, numbers(at), numbers(means), numbers(lows), numbers(highs), width, len(curves))


def joined_ratings(name: str, curves: Sequence[Curve]) -> Curve:
    """Return the mean rating of several runs; the band reaches over all their intervals."""
    at = common_steps(curves, of_all=True)
    if not at.size:
        return Curve(name, (), (), (), (), runs=len(curves))

    def of(values: Sequence[Sequence[float]]) -> np.ndarray:
        found = [np.interp(at, curve.steps, each) for curve, each in zip(curves, values, strict=True)]
        return np.array(found).reshape(len(curves), len(at))

    means, lows, highs = (of([getattr(curve, part) for curve in curves]) for part in ("means", "lows", "highs"))
    return Curve(
        name, numbers(at), numbers(means.mean(axis=0)), numbers(lows.min(axis=0)), numbers(highs.max(axis=0)),
        runs=len(curves),
    )  # fmt: skip


def common_steps(curves: Sequence[Curve], of_all: bool = False) -> np.ndarray:
    """Return the steps of all runs, or of the one with most, from where all have begun to where the first ends."""
    if not curves or any(not curve.steps for curve in curves):
        return np.zeros(0)
    begin, end = max(curve.steps[0] for curve in curves), min(curve.steps[-1] for curve in curves)
    longest = max(curves, key=lambda curve: len(curve.steps)).steps
    steps = np.unique(np.concatenate([curve.steps for curve in curves])) if of_all else np.array(longest)
    inside = steps[(steps > begin) & (steps < end)]
    return np.unique([begin, *inside, end]) if begin <= end else np.zeros(0)


def numbers(values: np.ndarray) -> tuple[float, ...]:
    """Return plain numbers, with no more digits than a page can show."""
    return tuple(float(f"{value:.6g}") for value in values)


def caption(curves: Sequence[Curve], band: str) -> str:
    """Say what lines and bands of a plot are."""
    if not any(curve.steps for curve in curves):
        return "No figures yet."
    width = max(curve.width for curve in curves)
    told = f"Each point is the mean of {width} lines of the log" if width > 1 else "Each point is one line of the log"
    if any(curve.runs == 1 for curve in curves) and width > 1:
        told += ", the band their least and greatest"
    if (most := max(curve.runs for curve in curves)) > 1:
        what = "from the lowest run to the highest" if band == "range" else "1.96 standard errors of the mean each way"
        told += f". Runs that differ only in their seed are one line, their mean (n = {most}"
        told += f", as far as all of them go); its band reaches {what}, of ratings over all 95 % intervals"
    else:
        told += "; of ratings, the 95 % interval"
    return told + "."
