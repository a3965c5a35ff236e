"""What a network is taught: the value and the policy, each by a loss that is 0 where nothing is left to learn.

loss = value_weight * mean (value - target)^2 + mean KL(target || policy)
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


def policy_loss(logits: Tensor, batch: Batch, mask: bool) -> Tensor:
    """Return the mean of KL(target || policy), the policy taken over all actions or over the legal ones."""
    if mask:
        logits = logits.masked_fill(~batch.legal, -1e9)
    policy = torch.log_softmax(logits, 1)
    entropies: Tensor = torch.xlogy(batch.policy, batch.policy)
    return (entropies - batch.policy * policy).sum(1).mean()


def losses(logits: Tensor, values: Tensor, batch: Batch, root_share: float, mask: bool) -> Losses:
    """Return all losses of a step, from logits [N, A] and values [N]."""
    errors = (values.float() - value_target(batch, root_share)) ** 2
    won = (batch.outcomes != 0).float()
    decisive = (errors.detach() * won).sum() / won.sum().clamp_min(1)
    return Losses(errors.mean(), policy_loss(logits.float(), batch, mask), decisive, 1 - won.mean())
