"""Checks of a network against what it is taught: whether it explains any of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from rookery.checks.finding import Finding, Sample, if_above, if_below, percent

EXPLAINED, MISLED = 0.05, -0.2
"""share of the variance of value targets"""
EVEN, WORSE_THAN_EVEN = 0.97, 1.2
"""divergence from the policy targets, against that of a policy that thinks all legal moves alike"""
FEWEST_ROWS = 32


class Lesson(NamedTuple):
    """N positions and what is taught about them."""

    observations: np.ndarray
    """[N, O]"""
    policy: np.ndarray
    """[N, A], rows sum to 1"""
    legal: np.ndarray
    """[N, A] bool"""
    values: np.ndarray
    """[N], for the mover"""


def check_fit(path: Path, lesson: Lesson, sample: Sample, what: str) -> list[Finding]:
    """Compare the answers of a network with what is taught about some positions."""
    import torch

    from rookery.learn.losses import divergence
    from rookery.nets.files import load_network

    if len(lesson.values) < FEWEST_ROWS:
        return []
    sample.say(f"{path.name} against its targets")
    network, legal = load_network(path).network, torch.from_numpy(lesson.legal)
    policy = torch.from_numpy(lesson.policy.astype(np.float32))
    with torch.inference_mode():
        logits, values = network(torch.from_numpy(lesson.observations.astype(np.float32)))
        told = divergence(logits.float().masked_fill(~legal, -1e9), policy).mean().item()
        even = divergence(torch.zeros_like(policy).masked_fill(~legal, -1e9), policy).mean().item()
    looked = f"{len(lesson.values)} {what}"
    return [*value_fit(values.float().numpy(), lesson.values, looked), *policy_fit(told, even, looked)]


def value_fit(values: np.ndarray, target: np.ndarray, looked: str) -> list[Finding]:
    """Check that values explain some of the variance of their targets."""
    spread = float(np.var(target.astype(float)))
    if spread < 1e-9:
        return []
    share = 1 - float(np.mean((values - target) ** 2)) / spread
    verdict = if_below(share, EXPLAINED, MISLED)
    told = f"{percent(share)} of the variance is explained"
    return [Finding("value-fit", verdict, share, told, f"at least {percent(EXPLAINED)}", looked)]


def policy_fit(divergence: float, even: float, looked: str) -> list[Finding]:
    """Check that the policy is nearer to its targets than one that thinks all legal moves alike."""
    if even < 1e-6:
        return []
    ratio = divergence / even
    told = f"{ratio:.2f} times as far from the targets as even shares are"
    verdict = if_above(ratio, EVEN, WORSE_THAN_EVEN)
    return [Finding("policy-fit", verdict, ratio, told, f"at most {EVEN:g} times", looked)]
