"""What a network is taught in the Domineering study.

    value     binary cross entropy of Vertical's chances against whether he won
    policy    cross entropy of the legal moves' chances against the move played
    sectors   mean squared error of what is said of each sector
    loss      value + policy_weight * policy + sector_weight * sectors, the last only where sectors are taught

A head that is not taught gets no gradient and keeps its weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rookery.nets.transformer import Heads, Transformer, masked
from rookery.studies.domineering_batches import Batch
from rookery.studies.domineering_plan import RunSettings


class Figures(NamedTuple):
    """What is reported of positions: means, each a number on the device."""

    loss: Tensor
    value: Tensor
    policy: Tensor
    sectors: Tensor
    policy_accuracy: Tensor
    """share of positions in which the likeliest legal move was played"""
    value_accuracy: Tensor
    """share of positions whose winner is the likelier one"""


@dataclass(frozen=True)
class Weights:
    """What counts how much in the loss."""

    policy: float = 1.0
    sectors: float = 0.25
    """0: sectors are not taught"""
    unit: float = 1.0
    """sectors are divided by this"""

    @classmethod
    def of(cls, settings: RunSettings) -> Weights:
        """Return the weights of a run."""
        sectors = settings.sector_weight if settings.teaches_sectors else 0.0
        return cls(settings.policy_weight, sectors, settings.sector_unit)


def wide(x: Tensor) -> Tensor:
    """Return numbers in single precision or better."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def figures(found: Heads, batch: Batch, weights: Weights) -> Figures:
    """Compare answers with what is taught; losses are computed in single precision, whatever the answers are in."""
    logits, chances = masked(found.policy, batch.legal), wide(found.vertical_win_logit)
    value = functional.binary_cross_entropy_with_logits(chances, batch.value.to(chances.dtype))
    policy = functional.cross_entropy(logits, batch.policy)
    said = wide(found.sectors if weights.sectors > 0 else found.sectors.detach())
    sectors = functional.mse_loss(said, batch.sectors.to(said.dtype) / weights.unit)
    loss = value + weights.policy * policy
    if weights.sectors > 0:
        loss = loss + weights.sectors * sectors
    right_moves = (logits.argmax(1) == batch.policy).to(loss.dtype).mean()
    right_winners = ((chances > 0) == (batch.value > 0.5)).to(loss.dtype).mean()
    return Figures(loss, value.detach(), policy.detach(), sectors.detach(), right_moves, right_winners)


def learning_rate(settings: RunSettings, step: int) -> float:
    """Return the learning rate of a step: a cosine from the first step to nothing behind the last."""
    return settings.learning_rate * (1 + math.cos(math.pi * step / settings.steps)) / 2


def taught(network: Transformer, weights: Weights) -> list[Tensor]:
    """List the weights that are trained."""
    skipped = "" if weights.sectors > 0 else "sector_head."
    return [parameter for name, parameter in network.named_parameters() if not skipped or not name.startswith(skipped)]
