"""Checks of what a network answers at positions: values, policies, signs and symmetry."""

from __future__ import annotations

import numpy as np

from rookery.checks.finding import Finding, Verdict, if_above, if_below, if_opposed, if_outside, percent, unless, worst
from rookery.checks.positions import NEARLY_OVER, Judge, Positions, shares_of

SAME_VALUE, ONE_VALUE = 0.05, 0.01
"""standard deviation of values"""
SATURATED, NEARLY_ALL, NEARLY_ONE = 0.7, 0.98, 0.999
POLICY, NO_POLICY = (0.02, 0.97), (0.001, 0.9995)
"""mean entropy of policies; 1: all legal moves alike"""
DEAD = 0.05
"""share of outputs that never change"""
TURNED_VALUE, TURNED_POLICY = (0.2, 0.6), (0.35, 0.8)
"""how far answers may differ from those at a mirror image: mean difference of values, and of policies"""
SIGN, WRONG_SIGN = 0.2, -0.2
ILLEGAL, MOSTLY_ILLEGAL = 0.2, 0.7
SLACK = 1e-4


def value_range(values: np.ndarray, looked: str) -> Finding:
    """Check that values are numbers within -1 and 1."""
    bad = int((~np.isfinite(values) | (np.abs(values) > 1 + SLACK)).sum())
    told = f"{bad} of {len(values)} outside"
    return Finding("value-range", unless(bad == 0), float(bad), told, "all within ± 1", looked)


def value_variety(values: np.ndarray, looked: str) -> Finding:
    """Check that the value is not the same everywhere."""
    spread = float(np.std(values))
    told = f"they spread by {spread:.3f} around {float(np.mean(values)):+.3f}"
    verdict = if_below(spread, SAME_VALUE, ONE_VALUE)
    return Finding("value-variety", verdict, spread, told, f"a spread of at least {SAME_VALUE:g}", looked)


def value_saturation(values: np.ndarray, looked: str) -> Finding:
    """Check that not all values are pressed against -1 and 1."""
    share = float((np.abs(values) >= NEARLY_ONE).mean())
    told = f"{percent(share)} are ± {NEARLY_ONE:g} or beyond"
    verdict = if_above(share, SATURATED, NEARLY_ALL)
    return Finding("value-saturation", verdict, share, told, f"at most {percent(SATURATED)}", looked)


def policy_numbers(logits: np.ndarray, looked: str) -> Finding:
    """Check that all logits are numbers."""
    bad = int((~np.isfinite(logits)).sum())
    return Finding("policy-numbers", unless(bad == 0), float(bad), f"{bad} are no numbers", "none", looked)


def policy_entropy(shares: np.ndarray, legal: np.ndarray, looked: str) -> list[Finding]:
    """Check that policies are neither even nor a single move everywhere."""
    counts = legal.sum(1)
    several = counts > 1
    if not several.any():
        return []
    rows = shares[several]
    found = -(rows * np.log(np.maximum(rows, 1e-300))).sum(1) / np.log(counts[several])
    mean = float(found.mean())
    expected = f"{POLICY[0]:g} to {POLICY[1]:g}; 1: all legal moves alike, 0: one move alone"
    return [Finding("policy-entropy", if_outside(mean, POLICY, NO_POLICY), mean, f"{mean:.3f}", expected, looked)]


def policy_legal(logits: np.ndarray, legal: np.ndarray, looked: str) -> Finding:
    """Check how much of a policy over all actions falls on illegal ones."""
    shares = shares_of(logits, np.ones_like(legal))
    lost = float(np.where(legal, 0.0, shares).sum(1).mean())
    verdict = if_above(lost, ILLEGAL, MOSTLY_ILLEGAL)
    return Finding("policy-legal", verdict, lost, percent(lost), f"at most {percent(ILLEGAL)} on illegal moves", looked)


def dead_outputs(logits: np.ndarray, looked: str) -> Finding:
    """Check that logits change from position to position."""
    share = float((logits.std(0) < 1e-7).mean())
    told = f"{percent(share)} of {logits.shape[1]} are the same everywhere"
    return Finding("dead-outputs", if_above(share, DEAD, 0.5), share, told, f"at most {percent(DEAD)}", looked)


def value_sign(values: np.ndarray, asked: Positions) -> list[Finding]:
    """Check that values go with how games end that are nearly over, from the mover's side."""
    late = (asked.left <= NEARLY_OVER) & np.isfinite(asked.outcomes)
    if late.sum() < 8 or np.std(asked.outcomes[late]) < 1e-6 or np.std(values[late]) < 1e-6:
        return []
    correlation = float(np.corrcoef(values[late], asked.outcomes[late])[0, 1])
    looked = f"{int(late.sum())} positions at most {NEARLY_OVER} plies before the end"
    verdict = if_opposed(correlation, int(late.sum()), SIGN, WRONG_SIGN)
    told = f"correlation {correlation:+.2f} with the result"
    return [Finding("value-sign", verdict, correlation, told, f"at least {SIGN:+g}", looked)]


def symmetry(judge: Judge, asked: Positions, logits: np.ndarray, values: np.ndarray, seed: int) -> list[Finding]:
    """Check that a position and its mirror image are judged alike."""
    tables = asked.game.symmetries()
    if len(tables) == 1 or asked.kind not in tables.observations:
        return []
    turns = np.random.default_rng(seed).integers(1, len(tables), len(asked))
    rows = np.take_along_axis(asked.observations, tables.observations[asked.kind][turns], 1)
    other_logits, other_values = judge(rows)
    back = np.take_along_axis(other_logits, tables.actions[turns], 1)  # the logit of each move's image
    policy = 0.5 * np.abs(shares_of(back, asked.legal) - shares_of(logits, asked.legal)).sum(1)
    apart, moved = float(np.abs(other_values - values).mean()), float(policy.mean())
    verdict: Verdict = worst((if_above(apart, *TURNED_VALUE), if_above(moved, *TURNED_POLICY)))
    told = f"values differ by {apart:.3f}, policies by {percent(moved)}"
    expected = f"at most {TURNED_VALUE[0]:g} and {percent(TURNED_POLICY[0])}"
    return [Finding("symmetry", verdict, apart, told, expected, f"{len(asked)} positions and mirror images")]
