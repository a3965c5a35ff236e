"""How a gap between two conditions shrinks over training: fits of decaying curves, and which of them the data prefer.

With t counted from the first step that is fitted:

    constant      a
    exponential   a + b exp(-t / tau)
    double        a + b exp(-t / tau) + c exp(-t / tau2)
    power         a + b (1 + t / s) ^ -p          with s the distance of two steps

a is the asymptote: what would be left in the end. For given tau, tau2 or p the rest is linear, so they are searched on
a grid, then on finer ones around the best, and the rest is solved for: no fit depends on where it began.

tau goes up to the length of the run. What decays more slowly cannot be told from a straight line, and its asymptote
could be anything; such a fit says `at_edge`, and its asymptote is not to be believed.

Families are compared by BIC and AIC. Residuals of neighbouring steps are alike, so that n steps tell less than n
samples would: BIC counts n (1 - r) / (1 + r) of them, with r the correlation of neighbouring residuals of the best fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rookery.studies.intervals import Estimate, mean_estimate
from rookery.studies.seeds import draws, quantiles

COLUMNS = {"constant": 1, "exponential": 2, "double": 3, "power": 2}
NONLINEAR = {"constant": 0, "exponential": 1, "double": 2, "power": 1}
FAMILIES = ("exponential", "double", "power")
POWERS = (0.05, 8.0)
SHORTEST = 0.3
"""the least tau, in distances of two steps"""
APART = 1.5
"""tau2 is at least so many times tau"""
GRID, FINE, ROUNDS = 32, 9, 4
LEAST_POINTS = 8
"""points that a curve needs before anything is fitted to it"""
HORIZON_POINTS = 6
"""points of the first part of a curve before an exponential is fitted to it"""
POINTS_EACH = 3
"""points for each number that a family with two decays has, or it would follow the noise"""
HORIZONS = (0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Fit:
    """A curve of one family, fitted to one gap."""

    family: str
    asymptote: float
    heights: tuple[float, ...]
    """b, and c"""
    shape: tuple[float, ...]
    """tau, and tau2, in steps; or p"""
    first: float
    spacing: float
    points: int
    errors: float
    """sum of squares"""
    at_edge: bool
    """whether it is the slowest decay that is searched, so that the asymptote says nothing"""

    @property
    def parameters(self) -> int:
        """Numbers that were fitted."""
        return COLUMNS[self.family] + NONLINEAR[self.family]

    def at(self, steps: np.ndarray) -> np.ndarray:
        """Return the curve at some steps."""
        columns = basis(self.family, np.asarray(steps, float) - self.first, self.spacing, np.array([self.shape]))[0]
        found: np.ndarray = columns @ np.array([self.asymptote, *self.heights])
        return found

    def bic(self, samples: float | None = None) -> float:
        """Return the Bayesian information criterion; less is better."""
        counted = self.points if samples is None else samples
        return counted * self.log_variance() + self.parameters * float(np.log(counted))

    def aic(self) -> float:
        """Return Akaike's information criterion."""
        return self.points * self.log_variance() + 2 * self.parameters

    def log_variance(self) -> float:
        """Return the logarithm of the mean squared error, which is never quite 0."""
        return float(np.log(max(self.errors / self.points, 1e-18)))


# ---- fitting -------------------------------------------------------------------------------------


def basis(family: str, t: np.ndarray, spacing: float, shapes: np.ndarray) -> np.ndarray:
    """Return the columns [G, n, k] that are added up, for shapes [G, ...]; before the first step nothing is known."""
    columns = [np.ones((len(shapes), len(t)))]
    for number in range(NONLINEAR[family]):
        shape = shapes[:, number, None]
        columns.append((1 + t / spacing) ** -shape if family == "power" else np.exp(-t / shape))
    return np.stack(columns, 2)


def limits(family: str, t: np.ndarray, spacing: float) -> tuple[float, float]:
    """Return between what a shape is searched."""
    return POWERS if family == "power" else (SHORTEST * spacing, float(t[-1]))


def shapes_of(family: str, axes: Sequence[np.ndarray]) -> np.ndarray:
    """Return all shapes on a grid with these axes; the second tau is well above the first."""
    found = np.array(list(product(*axes))) if axes else np.zeros((1, 0))
    return found[found[:, 1] >= APART * found[:, 0]] if family == "double" else found


def errors_of(columns: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """Return the least sums of squares [G, B] of curves [n, B] over columns [G, n, k]."""
    planes, _ = np.linalg.qr(columns)
    found: np.ndarray = (curves**2).sum(0) - ((planes.transpose(0, 2, 1) @ curves) ** 2).sum(1)
    return found


def fit(family: str, steps: np.ndarray, curves: np.ndarray) -> list[Fit]:
    """Fit curves [n, B] of one family, each by itself, at steps [n] in increasing order."""
    steps = np.asarray(steps, float)
    t, spacing = steps - steps[0], float(np.diff(steps).min())
    low, high = limits(family, t, spacing)
    axis = np.geomspace(low, high, GRID if family == "double" else GRID * 4)
    shapes = shapes_of(family, [axis] * NONLINEAR[family])
    best = shapes[errors_of(basis(family, t, spacing, shapes), curves).argmin(0)]
    width = np.log(axis[1] / axis[0])
    found = []
    for shape, curve in zip(best, curves.T, strict=True):
        refined = finer(family, t, spacing, curve, shape, width) if NONLINEAR[family] else shape
        found.append(solved(family, steps, spacing, curve, refined))
    return found


def finer(family: str, t: np.ndarray, spacing: float, curve: np.ndarray, shape: np.ndarray, width: float) -> np.ndarray:
    """Search on finer and finer grids around a shape."""
    low, high = limits(family, t, spacing)
    for _ in range(ROUNDS):
        axes = [np.clip(value * np.exp(np.linspace(-width, width, FINE)), low, high) for value in shape]
        shapes = np.concatenate([shapes_of(family, axes), shape[None]])
        shape = shapes[errors_of(basis(family, t, spacing, shapes), curve[:, None])[:, 0].argmin()]
        width *= 2 / (FINE - 1)
    return shape


def solved(family: str, steps: np.ndarray, spacing: float, curve: np.ndarray, shape: np.ndarray) -> Fit:
    """Solve for the linear part of a fit."""
    t = steps - steps[0]
    columns = basis(family, t, spacing, shape[None])[0]
    heights = np.linalg.lstsq(columns, curve, rcond=None)[0]
    errors = float(((curve - columns @ heights) ** 2).sum())
    low, high = limits(family, t, spacing)
    slow = shape[-1:] <= low * 1.001 if family == "power" else shape[-1:] >= high * 0.999
    told = tuple(float(value) for value in heights[1:]), tuple(float(value) for value in shape)
    return Fit(family, float(heights[0]), *told, float(steps[0]), spacing, len(steps), errors, bool(slow.any()))


# ---- which family --------------------------------------------------------------------------------


def correlation(steps: np.ndarray, curve: np.ndarray, fits: Sequence[Fit]) -> float:
    """Return how alike neighbouring residuals of the closest fit are; 0 if they are not."""
    closest = min(fits, key=lambda each: each.errors)
    rest = curve - closest.at(steps)
    power = float((rest**2).sum())
    return min(max(float((rest[1:] * rest[:-1]).sum()) / power, 0.0), 0.95) if power > 0 else 0.0


@dataclass(frozen=True)
class Decay:
    """All that fits say of one gap."""

    fits: dict[str, Fit]
    """by family, of the mean over seeds"""
    correlation: float
    """of neighbouring residuals"""
    intervals: dict[str, tuple[float, float] | None]
    """of the asymptotes, by drawing seeds; None if there is one seed alone"""
    alone: dict[str, Estimate]
    """by family, the mean of the asymptotes of each seed's own fit, with Student's interval"""
    by_seed: dict[int, float]
    """asymptotes of an exponential for each seed alone"""
    horizons: list[dict[str, Any]]
    """asymptotes of an exponential if only the first part of the steps is seen"""

    @property
    def samples(self) -> float:
        """Independent points that the steps are worth."""
        points = next(iter(self.fits.values())).points
        return max(points * (1 - self.correlation) / (1 + self.correlation), 2.0)

    def best(self, criterion: str = "bic") -> str:
        """Return the family that a criterion prefers: bic, with the samples that the steps are worth, or aic."""
        scores = {
            name: each.bic(self.samples) if criterion == "bic" else each.aic() for name, each in self.fits.items()
        }
        return min(scores, key=lambda name: scores[name])

    def facts(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "best_by_bic": self.best(), "best_by_aic": self.best("aic"), "correlation": self.correlation,
            "samples": self.samples, "by_seed": {str(seed): value for seed, value in self.by_seed.items()},
            "horizons": self.horizons, "families": {name: self.family_facts(name) for name in self.fits},
        }  # fmt: skip

    def family_facts(self, name: str) -> dict[str, Any]:
        """Return the numbers of one family for JSON."""
        each, interval = self.fits[name], self.intervals[name]
        return {
            "asymptote": each.asymptote, "interval": list(interval) if interval else None, "at_edge": each.at_edge,
            "alone": self.alone[name].facts(),
            "heights": list(each.heights), "shape": list(each.shape), "errors": each.errors, "points": each.points,
            "bic": each.bic(self.samples), "bic_of_all_points": each.bic(), "aic": each.aic(),
        }  # fmt: skip


def decay_of(steps: np.ndarray, gaps: dict[int, np.ndarray]) -> Decay | None:
    """Fit the gap of each seed [n] at steps [n] and their mean; None if there are too few points."""
    if len(steps) < LEAST_POINTS or not gaps:
        return None
    values = np.array(list(gaps.values()))
    mean = values.mean(0)
    fits = {name: fit(name, steps, mean[:, None])[0] for name in families_for(len(steps))}
    own = {name: [each.asymptote for each in fit(name, steps, values.T)] for name in fits}
    return Decay(
        fits, correlation(steps, mean, list(fits.values())),
        {name: interval_of(name, steps, values) for name in fits},
        {name: mean_estimate(asymptotes) for name, asymptotes in own.items()},
        dict(zip(gaps, own["exponential"], strict=True)),
        [horizon(steps, values, share) for share in HORIZONS],
    )  # fmt: skip


def families_for(points: int) -> list[str]:
    """List the families that so many points can tell apart."""
    double = POINTS_EACH * (COLUMNS["double"] + NONLINEAR["double"])
    return [name for name in ("constant", *FAMILIES) if name != "double" or points >= double]


def interval_of(family: str, steps: np.ndarray, values: np.ndarray) -> tuple[float, float] | None:
    """Return the interval of an asymptote, by drawing seeds, from gaps [S, n]."""
    if len(values) < 2:
        return None
    shares, chances = draws(len(values))
    if len(shares) > 500:  # enough for the ends of an interval, and quicker
        chosen = np.random.default_rng(0).choice(len(shares), 500, p=chances)
        shares, chances = shares[chosen], np.full(500, 1 / 500)
    asymptotes = np.array([each.asymptote for each in fit(family, steps, (shares @ values).T)])
    low, high = quantiles(asymptotes, chances)
    return float(low), float(high)


def horizon(steps: np.ndarray, values: np.ndarray, share: float) -> dict[str, Any]:
    """Fit an exponential to the first part of the steps."""
    seen = steps <= steps[0] + share * (steps[-1] - steps[0]) + 1e-9
    facts: dict[str, Any] = {"share": share, "last_step": int(steps[seen][-1]), "points": int(seen.sum())}
    if seen.sum() < HORIZON_POINTS:
        return facts | {"asymptote": None, "interval": None, "at_edge": False}
    found = fit("exponential", steps[seen], values.mean(0)[seen, None])[0]
    interval = interval_of("exponential", steps[seen], values[:, seen])
    return facts | {
        "asymptote": found.asymptote, "interval": list(interval) if interval else None, "at_edge": found.at_edge,
    }  # fmt: skip
