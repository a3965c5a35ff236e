"""Estimates of the Texas 42 study: decisions of one deal are alike, so intervals are those of deals.

All are for 95 %, by Student's distribution over deals. Where every deal says the same, their scatter says nothing, and
Wilson's interval of shares takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rookery.studies.intervals import Z95, Estimate, share_estimate, student

STEPS = 20_001


def grouped(values: np.ndarray, deals: np.ndarray) -> Estimate:
    """Estimate the mean of values [N], with the deal [N] of each; with a deal for each it is the usual one."""
    return ratio(values, np.ones(len(values)), deals)


def grouped_share(hits: np.ndarray, deals: np.ndarray) -> Estimate:
    """Estimate a share of hits [N]: over deals, and never more narrowly than if all were independent."""
    plain, found = share_estimate(int(hits.sum()), len(hits)), grouped(hits.astype(float), deals)
    low, high = min(plain.low, found.low), max(plain.high, found.high)
    return Estimate(found.mean, max(low, 0.0), min(high, 1.0), len(hits))


def ratio(first: np.ndarray, second: np.ndarray, deals: np.ndarray) -> Estimate:
    """Estimate the mean of the first over that of the second, both [N], decision by decision."""
    total = max(float(second.sum()), 1e-9)
    mean = float(first.sum()) / total
    sums = np.bincount(np.unique(deals, return_inverse=True)[1].reshape(-1), first - mean * second)
    if len(sums) < 2:
        return Estimate(mean, -math.inf, math.inf, len(first))
    half = student(len(sums) - 1) * math.sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1)) / total
    return Estimate(mean, mean - half, mean + half, len(first))


def share_of(hits: np.ndarray, others: np.ndarray, deals: np.ndarray) -> Estimate:
    """Estimate hits [N] as a share of those of others on the same decisions; it may be above 1."""
    found = ratio(hits.astype(float), others.astype(float), deals)
    if not found.known or not others.any():
        return found
    if (hits != others).any():
        return Estimate(found.mean, max(found.low, 0.0), found.high, found.count)
    plain = share_estimate(int(hits.sum()), len(hits))
    return Estimate(found.mean, plain.low / plain.mean, plain.high / plain.mean, len(hits))


# ---- tests ---------------------------------------------------------------------------------------


def chance_beyond(deviations: float, freedom: float) -> float:
    """Return the chance that Student's distribution is farther from 0, on either side.

    With t = sqrt(n) tan(a) its density is that of cos(a)^(n - 1), which is summed up from the angle on.
    """
    begin = math.atan(abs(deviations) / math.sqrt(freedom))
    angles = np.linspace(begin, math.pi / 2, STEPS)
    heights = np.cos(angles).clip(0.0) ** (freedom - 1)
    beyond = float((heights[1:] + heights[:-1]).sum()) / 2 * (angles[1] - angles[0])
    whole = math.sqrt(math.pi) / 2 * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2))
    return min(1.0, float(beyond / whole))


def half_width(figures: Mapping[str, Any], key: str) -> float:
    """Return half the interval of a figure of a tally, by Student's distribution over its deals; one has none.

    Tallies of earlier versions do not tell how many deals they are of.
    """
    deals = figures.get("deals")
    if deals is not None and deals < 2:
        return math.inf
    return (Z95 if deals is None else student(deals - 1)) * float(figures.get(f"{key}_error", math.inf))


def p_value(estimate: Mapping[str, Any]) -> float | None:
    """Return how likely a mean is as far from 0 as one that comes from JSON, if the true one is 0.

    The estimate is of independent values, by Student's distribution; None if it has no interval, or values that are
    all the same make it one of no width.
    """
    if estimate["low"] is None or estimate["high"] is None or estimate["count"] < 2:
        return None
    freedom = estimate["count"] - 1
    error = (estimate["high"] - estimate["low"]) / 2 / student(freedom)
    if error <= 0:
        return 1.0 if estimate["mean"] == 0 else None
    return chance_beyond(estimate["mean"] / error, freedom)


def p_text(chance: float | None) -> str:
    """Write it."""
    if chance is None:
        return "no p"
    return "p < 0.0001" if chance < 0.0001 else f"p = {chance:.4f}" if chance < 0.01 else f"p = {chance:.2f}"
