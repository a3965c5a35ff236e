"""What a network is taught: the value and the policy, each by a loss that is 0 where nothing is left to learn.

loss = value_weight * mean (value - target)^2 + mean KL(target || policy)

A network that tells the chances to win, draw and lose is taught these: its value loss is mean KL(target || chances).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rookery.learn.replay import Batch


class Losses(NamedTuple):
    """Losses of one step, each a number on the device."""

    value: Tensor
    policy: Tensor
    decisive: Tensor
    """value loss of the positions whose game was won by somebody; 0 if there are none"""
    drawn: Tensor
    """share of positions whose game nobody won"""


def value_target(batch: Batch, root_share: float) -> Tensor:
    """Mix the outcome with the value that the search found."""
    if root_share == 0:
        return batch.outcomes
    return (1 - root_share) * batch.outcomes + root_share * batch.values


def chance_target(batch: Batch, root_share: float) -> Tensor:
    """Mix the outcome as chances [N, 3] with those that the value of the search stands for.

    An outcome is certain; one that is discounted is a draw as far as it is. A value v stands for two halves of a game,
    each won with the chance p = (1 + v) / 2: to win p^2, to lose (1 - p)^2, whose difference is v, and else a draw.
    """
    outcomes = torch.stack((batch.outcomes.relu(), 1 - batch.outcomes.abs(), (-batch.outcomes).relu()), 1)
    if root_share == 0:
        return outcomes
    half = (1 + batch.values) / 2
    values = torch.stack((half**2, 2 * half * (1 - half), (1 - half) ** 2), 1)
    return (1 - root_share) * outcomes + root_share * values


def divergence(logits: Tensor, target: Tensor) -> Tensor:
    """Return KL(target || softmax of logits) of each row."""
    entropies: Tensor = torch.xlogy(target, target)
    return (entropies - target * torch.log_softmax(logits, 1)).sum(1)


def policy_loss(logits: Tensor, batch: Batch, mask: bool) -> Tensor:
    """Return the mean of KL(target || policy), the policy taken over all actions or over the legal ones."""
    if mask:
        logits = logits.masked_fill(~batch.legal, -1e9)
    return divergence(logits, batch.policy).mean()


def losses(
    logits: Tensor, values: Tensor, batch: Batch, root_share: float, mask: bool, chances: Tensor | None = None
) -> Losses:
    """Return all losses of a step, from logits [N, A], values [N] and, if there are any, logits of chances [N, 3]."""
    if chances is None:
        errors = (values.float() - value_target(batch, root_share)) ** 2
    else:
        errors = divergence(chances.float(), chance_target(batch, root_share))
    won = (batch.outcomes != 0).float()
    decisive = (errors.detach() * won).sum() / won.sum().clamp_min(1)
    return Losses(errors.mean(), policy_loss(logits.float(), batch, mask), decisive, 1 - won.mean())
