"""Checks of what is taught: masks, targets of values and policies, and how often a position is the same one."""

from __future__ import annotations

import numpy as np

from rookery.checks.finding import Finding, Verdict, if_above, if_opposed, if_outside, percent, unless

SATURATED, NEARLY_ALL = 0.6, 0.95
NEARLY_ONE = 0.999
DUPLICATES, MOSTLY_DUPLICATES = 0.4, 0.8
ENTROPY, NO_ENTROPY = (0.02, 0.95), (0.001, 0.999)
AGREED, OPPOSED = 0.05, -0.2
SLACK = 1e-4


def masks(counts: np.ndarray, looked: str) -> Finding:
    """Check that every position has a legal move; `counts` [N] says how many it has."""
    none = int((np.asarray(counts) <= 0).sum())
    told = f"{none} of {len(counts)} have no legal move"
    return Finding("masks", unless(none == 0), float(none), told, "none", looked)


def target_range(values: np.ndarray, looked: str, largest: float = 1.0) -> Finding:
    """Check that value targets are numbers within what a value can be."""
    found = np.asarray(values, float)
    bad = int((~np.isfinite(found) | (np.abs(found) > largest + SLACK)).sum())
    finite = found[np.isfinite(found)]
    most = float(np.abs(finite).max()) if len(finite) else float("nan")
    told = f"{bad} of {len(found)} outside, the largest is {most:.4g}"
    return Finding("target-range", unless(bad == 0), float(bad), told, f"all within ± {largest:g}", looked)


def policy_targets(weights: np.ndarray, counts: np.ndarray, looked: str) -> Finding:
    """Check that policy targets are shares that sum to 1 once they are divided by their sum.

    weights  [N, M], of the legal moves of each position, the first counts[n] of row n
    """
    used = np.arange(weights.shape[1]) < np.asarray(counts)[:, None]
    kept = np.where(used, weights, 0.0)
    sums = kept.sum(1)
    bad = int((~np.isfinite(sums) | (sums <= 0) | (kept < 0).any(1)).sum())
    told = f"{bad} of {len(weights)} are none"
    return Finding("policy-targets", unless(bad == 0), float(bad), told, "all are shares of the legal moves", looked)


def entropies(weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the entropy of each row of shares, 1 being that of all moves alike; rows with one move are left out."""
    used = np.arange(weights.shape[1]) < np.asarray(counts)[:, None]
    kept = np.where(used & np.isfinite(weights), weights, 0.0).clip(0)
    shares = kept / np.maximum(kept.sum(1, keepdims=True), 1e-30)
    found = -(shares * np.log(np.maximum(shares, 1e-30))).sum(1)
    several = np.asarray(counts) > 1
    scaled: np.ndarray = found[several] / np.log(np.asarray(counts)[several])
    return scaled


def target_entropy(weights: np.ndarray, counts: np.ndarray, looked: str) -> list[Finding]:
    """Check that the search prefers some moves, and not always a single one."""
    found = entropies(weights, counts)
    if not len(found):
        return []
    mean = float(found.mean())
    expected = f"{ENTROPY[0]:g} to {ENTROPY[1]:g}; 1: all moves alike, 0: one move alone"
    return [Finding("target-entropy", if_outside(mean, ENTROPY, NO_ENTROPY), mean, f"{mean:.3f}", expected, looked)]


def saturation(values: np.ndarray, looked: str) -> list[Finding]:
    """Check that a supervisor's opinions are not all pressed against -1 and 1."""
    if not len(values):
        return []
    share = float((np.abs(values) >= NEARLY_ONE).mean())
    verdict = if_above(share, SATURATED, NEARLY_ALL)
    told = f"{percent(share)} are ± {NEARLY_ONE:g} or beyond"
    return [Finding("target-saturation", verdict, share, told, f"at most {percent(SATURATED)}", looked)]


def duplicates(keys: np.ndarray, looked: str) -> list[Finding]:
    """Check that positions are not taught again and again; equal positions have equal keys."""
    if len(keys) < 2:
        return []
    share = 1 - len(np.unique(keys)) / len(keys)
    verdict = if_above(share, DUPLICATES, MOSTLY_DUPLICATES)
    return [Finding("duplicates", verdict, share, percent(share), f"at most {percent(DUPLICATES)}", looked)]


def signs_agree(values: np.ndarray, outcomes: np.ndarray, looked: str) -> list[Finding]:
    """Check that what was thought of positions goes with how their games ended, both from the mover's side."""
    if len(values) < 2 or np.std(values) < 1e-6 or np.std(outcomes) < 1e-6:
        return []
    correlation = float(np.corrcoef(values, outcomes)[0, 1])
    verdict = if_opposed(correlation, len(values), AGREED, OPPOSED)
    told = f"correlation {correlation:+.2f}"
    return [Finding("signs-agree", verdict, correlation, told, f"at least {AGREED:+g}", looked)]


def label_scale(labels: np.ndarray, usual: tuple[float, float], unit: str, looked: str) -> list[Finding]:
    """Check that labels are of the size they should have: their standard deviation lies in a usual range."""
    finite = np.asarray(labels, float)[np.isfinite(labels)]
    if len(finite) < 2:
        return []
    spread = float(finite.std())
    verdict = if_outside(spread, usual, (usual[0] / 4, usual[1] * 4))
    told, expected = f"they spread by {spread:.3g} {unit}", f"{usual[0]:g} to {usual[1]:g} {unit}"
    return [Finding("label-scale", verdict, spread, told, expected, looked)]


def hashed_rows(rows: np.ndarray) -> np.ndarray:
    """Return a key for each row [N, ...] that is the same for equal rows."""
    flat = np.ascontiguousarray(rows).reshape(len(rows), -1)
    return np.array([hash(row.tobytes()) for row in flat], np.int64)


def no_rows(looked: str) -> Finding:
    """Tell that there is nothing to learn from."""
    return Finding("rows-sound", Verdict.WRONG, 0.0, "there are none", "at least one", looked)
