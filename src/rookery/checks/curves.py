"""Checks of curves: losses while a network learns, its learning rate, and ratings of checkpoints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rookery.checks.finding import Finding, Verdict, if_above, if_below, if_outside, unless

FEWEST_POINTS = {True: 3, False: 20}
"""of a curve of which anything is said, if it is steady and if not"""
TENTH = 0.1
"""of a curve, at its begin and its end, over which means are taken"""
STUCK, RISEN, FAR_RISEN = 0.98, 1.15, 1.5
"""last tenth of a loss against the first, and against the lowest tenth"""
GAP, LARGE_GAP = 1.15, 1.6
"""loss of validation against that of training"""
RATES, IMPOSSIBLE_RATES = (1e-5, 1e-2), (1e-8, 0.2)
FINE_TUNING = 2e-3
"""highest learning rate of a network that was given weights to begin with"""
WIDE_RATING = 100.0
"""Elo to either side"""


# ---- losses --------------------------------------------------------------------------------------


def column(lines: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Return one figure of all lines that have it, which may be null."""
    return [line[name] for line in lines if name in line]


def is_number(value: Any) -> bool:
    """Tell whether a figure is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def loss_numbers(lines: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Finding]:
    """Check that all losses are numbers; a log writes null for those that are none."""
    values = [value for name in names for value in column(lines, name)]
    if not values:
        return []
    bad = sum(not is_number(value) for value in values)
    told = f"{bad} of {len(values)} are no numbers"
    return [Finding("loss-numbers", unless(bad == 0), float(bad), told, "none", f"{len(values)} losses in the log")]


def tenths(values: Sequence[float]) -> np.ndarray:
    """Return the means of the tenths of a curve, in order."""
    return np.array([part.mean() for part in np.array_split(np.asarray(values, float), round(1 / TENTH)) if len(part)])


def loss_course(name: str, values: Sequence[Any], steady: bool = True, stuck: float = STUCK) -> list[Finding]:
    """Check that a loss falls, and does not rise again from its lowest.

    `steady` is False where what is learned changes meanwhile, as in self-play: a rise then need not be a mistake. The
    last tenth should be below `stuck` times the first.
    """
    numbers = [float(value) for value in values if is_number(value)]
    if len(numbers) < FEWEST_POINTS[steady]:
        return []
    means = tenths(numbers)
    first, last, least = float(means[0]), float(means[-1]), float(means.min())
    looked = f"{name}, tenths of {len(numbers)} points"
    fallen, risen = last / max(first, 1e-12), last / max(least, 1e-12)
    falls = if_above(fallen, stuck, 1.1 if steady else FAR_RISEN)
    rises = if_above(risen, RISEN if steady else 2.0, FAR_RISEN if steady else math.inf)
    return [
        Finding(
            "loss-falls", falls, fallen, f"{first:.4g} to {last:.4g}",
            f"the last tenth below {stuck:g} of the first", looked,
        ),
        Finding(
            "loss-rises", rises, risen, f"ends {risen:.2f} times its lowest, {least:.4g}",
            f"at most {RISEN if steady else 2.0:g} times", looked,
        ),
    ]  # fmt: skip


def validation_gap(train: Any, valid: Any, looked: str) -> list[Finding]:
    """Check that what was not learned from is judged nearly as well as what was."""
    if not (is_number(train) and is_number(valid)) or train <= 0:
        return []
    ratio = valid / train
    told = f"{valid:.4g} against {train:.4g} in training, {ratio:.2f} times"
    return [Finding("validation-gap", if_above(ratio, GAP, LARGE_GAP), ratio, told, f"at most {GAP:g} times", looked)]


# ---- learning rate -------------------------------------------------------------------------------


def learning_rate(highest: float, least: float, started: bool) -> list[Finding]:
    """Check that the learning rate is of a usual size and falls; `started`: with weights that were given."""
    verdict = if_outside(highest, RATES, IMPOSSIBLE_RATES)
    expected = f"{RATES[0]:g} to {RATES[1]:g}, and a tenth of that or less at the end"
    if verdict is Verdict.OK and (least > highest / 2 or (started and highest > FINE_TUNING)):
        verdict = Verdict.WARNING
    if started:
        expected += f"; at most {FINE_TUNING:g} for weights that know something"
    return [Finding("learning-rate", verdict, highest, f"{highest:g} to {least:g}", expected, "the settings")]


# ---- ratings -------------------------------------------------------------------------------------


def rating_course(rated: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Check the ratings of checkpoints, in the order of steps, each with `step`, `elo` and maybe `interval`."""
    known = [entry for entry in rated if is_number(entry.get("elo"))]
    if not known:
        return []
    found = [*rating_precision(known)]
    if len(known) >= 3:
        found += [rating_rises(known), rating_drop(known)]
    return found


def half_width(entry: Mapping[str, Any]) -> float:
    """Return how far the interval of a rating reaches to either side; 0 if none is known."""
    interval = entry.get("interval")
    return (float(interval[1]) - float(interval[0])) / 2 if isinstance(interval, list | tuple) else 0.0


def rating_precision(known: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Check that intervals are narrow enough to tell checkpoints apart."""
    widths = [half_width(entry) for entry in known if half_width(entry)]
    if not widths:
        return []
    middle = float(np.median(widths))
    told, expected = f"± {middle:.0f} Elo", f"± {WIDE_RATING:.0f} Elo or less"
    return [
        Finding("rating-precision", if_above(middle, WIDE_RATING), middle, told, expected, f"{len(widths)} ratings")
    ]


def rating_rises(known: Sequence[Mapping[str, Any]]) -> Finding:
    """Check that the last rating is above the first by more than both intervals leave open."""
    gain = float(known[-1]["elo"]) - float(known[0]["elo"])
    doubt = math.hypot(half_width(known[0]), half_width(known[-1]))
    told = f"{gain:+.0f} ± {doubt:.0f} Elo from {known[0]['step']} to {known[-1]['step']} games"
    verdict = Verdict.WRONG if gain < -doubt else if_below(gain, doubt)
    return Finding("rating-rises", verdict, gain, told, "a gain beyond its interval", f"{len(known)} ratings")


def rating_drop(known: Sequence[Mapping[str, Any]]) -> Finding:
    """Check that the last rating is not below the best one by more than both intervals leave open."""
    best = max(known, key=lambda entry: float(entry["elo"]))
    loss = float(best["elo"]) - float(known[-1]["elo"])
    doubt = math.hypot(half_width(best), half_width(known[-1]))
    told = f"{loss:.0f} ± {doubt:.0f} Elo below the best, that of {best['step']} games"
    return Finding("rating-drop", if_above(loss, doubt), loss, told, "no loss beyond its interval", "the last rating")
