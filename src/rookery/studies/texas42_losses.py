"""What the networks of Texas 42 are taught, and how they are measured.

Stage 1, mode `q`        mean squared error of Q / 42 over legal slots, that of its differences between the slots of a
                         position, weighted by `advantage` (0 in the original), half that of the value / 42
         mode `policy`   0.3 x cross-entropy against the best slots, 0.7 x against softmax(Q / 3); value as above
         mode `both`     that of `q`, and for the logits beside 0.3 x that of `policy`
Stage 2, labels `q`      mean squared error of the mean, of its differences between slots, of the spread, each over 42,
                         cross-entropy of the chance to make the bid, and the squared error of its differences
         labels `logits` mean squared error of mean logits, but for a constant in each decision, which has no meaning

Labels are from the mover's side. Only legal slots count, chosen by `where`, which is done before anything is computed:
else numbers that are none would come back with the gradients. Equal best slots share the target of a policy evenly.

A choice is the legal slot with the largest answer. Its gap is what it loses against the best slot, in points; a blunder
loses more than 10. A network of mode `both` chooses by its policy; what its Q would lose is its gap of Q. Figures are
kept for each trick, decisions with a single legal slot apart. Positions of one deal are alike, so standard errors are
those of deals, not of positions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rookery.nets.texas42 import POINTS, TEMPERATURE, Expectation, Judged

TRICKS = 7
BLUNDER = 10.0
HARD, SOFT, VALUE, CHOICE = 0.3, 0.7, 0.5, 0.3
"""weights of Stage 1's losses; the last is of a policy beside Q"""
SPREAD, MAKE, MAKE_ADVANTAGE = 0.25, 0.02, 0.25
"""weights of Stage 2's losses beside that of the mean; the last is of the differences, as a share of `advantage`"""
SAME = 1e-6


class Positions(NamedTuple):
    """A batch for Stage 1."""

    tokens: Tensor
    """[N, 32, 12] or [N, 33, 17] int8"""
    q: Tensor
    """[N, 7] exact points to come from the mover's side; anything where not legal"""
    legal: Tensor
    """[N, 7] bool"""
    trick: Tensor
    """[N] 0..6"""


class Decisions(NamedTuple):
    """A batch for Stage 2."""

    tokens: Tensor
    """[N, 33, 17] int8"""
    mean: Tensor
    """[N, 7] points from the mover's side"""
    spread: Tensor
    make: Tensor
    """[N, 7] chance that the declaring team makes its bid"""
    logits: Tensor
    legal: Tensor
    trick: Tensor


def legal_mean(values: Tensor, legal: Tensor) -> Tensor:
    """Return the mean of values [N, 7] over all legal slots."""
    return torch.where(legal, values, 0.0).sum() / legal.sum().clamp_min(1)


def row_mean(values: Tensor, legal: Tensor) -> Tensor:
    """Return the mean of values [N, 7] over the legal slots of each row, [N]."""
    return torch.where(legal, values, 0.0).sum(1) / legal.sum(1).clamp_min(1)


def best_of(values: Tensor, legal: Tensor) -> Tensor:
    """Return the largest value of a legal slot, [N]."""
    return torch.where(legal, values, -torch.inf).amax(1)


def chosen_slots(answers: Tensor, legal: Tensor) -> Tensor:
    """Return the legal slot with the largest answer, [N]."""
    return torch.where(legal, answers, -torch.inf).argmax(1)


def log_chances(logits: Tensor, legal: Tensor) -> Tensor:
    """Return the logarithm of a softmax over legal slots; 0 in the others."""
    chances = torch.where(legal, logits, -torch.inf).log_softmax(1)
    return torch.where(legal, chances, 0.0)


# ---- losses --------------------------------------------------------------------------------------


def stage1_loss(found: Judged, batch: Positions, answers: str, advantage: float = 0.0) -> Tensor:
    """Return what Stage 1 is to make small."""
    batch = batch._replace(q=torch.where(batch.legal, batch.q, 0.0))
    value = best_of(batch.q, batch.legal) / POINTS
    told = VALUE * functional.mse_loss(found.value, value)
    if answers == "policy":
        return told + policy_loss(found.choice, batch)
    told = told + off(found.slots, batch.q / POINTS, batch.legal, advantage)
    return told + CHOICE * policy_loss(found.choice, batch) if answers == "both" else told


def policy_loss(logits: Tensor, batch: Positions) -> Tensor:
    """Return the cross-entropy of logits against the best slots and softmax(Q / 3); Q must be 0 where not legal."""
    said = log_chances(logits, batch.legal)
    best = batch.legal & (batch.q >= best_of(batch.q, batch.legal)[:, None] - SAME)
    hard = best / best.sum(1, keepdim=True)
    soft = torch.where(batch.legal, log_chances(batch.q / TEMPERATURE, batch.legal).exp(), 0.0)
    return -((HARD * hard + SOFT * soft) * said).sum(1).mean()


def stage2_loss(found: Expectation, batch: Decisions, answers: str, advantage: float = 0.0) -> Tensor:
    """Return what Stage 2 is to make small."""
    legal = batch.legal
    batch = batch._replace(
        **{name: torch.where(legal, getattr(batch, name), 0.0) for name in ("mean", "spread", "make", "logits")}
    )
    if answers == "logits":
        return legal_mean((centred(found.mean, legal) - centred(batch.logits, legal)).square(), legal)
    mean = off(found.mean, batch.mean / POINTS, legal, advantage)
    spread = legal_mean((found.spread - batch.spread / POINTS).square(), legal)
    make = functional.binary_cross_entropy_with_logits(found.make_logit, batch.make, reduction="none")
    between = centred(found.make_logit.sigmoid() - batch.make, legal).square()  # by these a play for the bid is chosen
    chance = MAKE * legal_mean(make, legal) + MAKE_ADVANTAGE * advantage * legal_mean(between, legal)
    return mean + SPREAD * spread + chance


def off(said: Tensor, wanted: Tensor, legal: Tensor, advantage: float) -> Tensor:
    """Return the mean squared error over legal slots, and that of differences between the slots of a row."""
    error = said - wanted
    whole = legal_mean(error.square(), legal)
    return whole if advantage == 0 else whole + advantage * legal_mean(centred(error, legal).square(), legal)


def centred(values: Tensor, legal: Tensor) -> Tensor:
    """Return values less their mean over the legal slots of each row."""
    return values - row_mean(values, legal)[:, None]


# ---- figures -------------------------------------------------------------------------------------

STAGE1_FIGURES = ("gap", "blunder", "q_gap", "zero_regret", "q_mae", "value_mae")
STAGE2_FIGURES = ("gap", "blunder", "agreement", "mean_mae", "spread_mae", "make_mae")
WITH_ERROR = ("gap", "blunder", "q_gap")
"""figures of which standard errors are told"""


def stage1_figures(found: Judged, batch: Positions, answers: str) -> Tensor:
    """Return the figures of each position [N, 6]; a policy tells no Q, and has neither a gap nor an error of it."""
    gap, q_gap = (gaps(batch.q, said, batch.legal) for said in (found.choice, found.slots))
    told = torch.nan if answers == "policy" else 1.0
    error = told * row_mean((found.slots * POINTS - batch.q).abs(), batch.legal)
    value = (found.value * POINTS - best_of(batch.q, batch.legal)).abs()
    return torch.stack((gap, (gap > BLUNDER).float(), told * q_gap, (gap < SAME).float(), error, value), 1)


def stage2_figures(found: Expectation, batch: Decisions, answers: str) -> Tensor:
    """Return the figures of each decision [N, 6]; mean logits are no points, and their errors are none."""
    legal, told = batch.legal, 1.0 if answers == "q" else torch.nan
    gap = gaps(batch.mean, found.mean, legal)
    errors = (
        found.mean * POINTS - batch.mean, found.spread * POINTS - batch.spread,
        found.make_logit.sigmoid() - batch.make,
    )  # fmt: skip
    means = [told * row_mean(error.abs(), legal) for error in errors]
    return torch.stack((gap, (gap > BLUNDER).float(), (gap < SAME).float(), *means), 1)


def gaps(values: Tensor, answers: Tensor, legal: Tensor) -> Tensor:
    """Return what the chosen slot of each row loses against the best, [N]."""
    chosen = chosen_slots(answers, legal)
    return best_of(values, legal) - values.gather(1, chosen[:, None]).squeeze(1)


class Tally:
    """Adds up figures by trick, forced decisions apart, and those of opening leads once more, on the device."""

    def __init__(self, names: tuple[str, ...], deals: int, device: torch.device | str = "cpu"):
        self.names = names
        self.with_error = [name for name in names if name in WITH_ERROR]
        self.columns = [0, *(1 + names.index(name) for name in self.with_error)]
        self.sums = torch.zeros(2 * TRICKS + 1, 1 + len(names), dtype=torch.float64, device=device)
        self.by_deal = torch.zeros(2 * TRICKS + 1, deals, len(self.columns), dtype=torch.float64, device=device)
        """rows of each deal, and the sums of its figures with an error"""

    def add(
        self, figures: Tensor, legal: Tensor, trick: Tensor, deal: Tensor, opening: Tensor | None = None
    ) -> None:  # fmt: skip
        """Count rows [N, F].

        deal     [N] number of each row's deal
        opening  [N] which are opening leads
        """
        group = trick.long() + TRICKS * (legal.sum(1) < 2)
        counted = torch.cat((torch.ones_like(figures[:, :1]), figures), 1).double()
        self.sums.index_add_(0, group, counted)
        self.by_deal.flatten(0, 1).index_add_(0, group * self.by_deal.shape[1] + deal, counted[:, self.columns])
        if opening is not None:
            led = torch.where(opening[:, None], counted, 0.0)
            self.sums[-1] += led.sum(0)
            self.by_deal[-1].index_add_(0, deal, led[:, self.columns])

    def read(self) -> dict[str, Any]:
        """Return means: of all, with a choice, forced, opening leads, and of those with a choice by trick."""
        sums, deals = self.sums.cpu(), self.by_deal.cpu()
        groups = {"all": slice(0, -1), "unforced": slice(0, TRICKS), "forced": slice(TRICKS, -1)}
        found: dict[str, Any] = {
            name: self.means(sums[some].sum(0), deals[some].sum(0)) for name, some in groups.items()
        }
        found["opening"] = self.means(sums[-1], deals[-1])
        return found | {"by_trick": [self.means(sums[trick], deals[trick]) for trick in range(TRICKS)]}

    def means(self, sums: Tensor, deals: Tensor) -> dict[str, float | None]:
        """Return the means of a group by name, how many rows it has, and standard errors.

        A mean of numbers that are none is None.
        """
        count, *rest = sums.tolist()
        means = {name: each / max(count, 1) for name, each in zip(self.names, rest, strict=True)}
        errors = {
            f"{name}_error": each for name, each in zip(self.with_error, errors_by_deal(deals).tolist(), strict=True)
        }
        found = {name: None if math.isnan(each) else each for name, each in (means | errors).items()}
        return {"count": int(count), "deals": int((deals[:, 0] > 0).sum()), **found}


def errors_by_deal(deals: Tensor) -> Tensor:
    """Return standard errors of means over rows, of which those of a deal depend on one another.

    deals  [D, 1 + F]  rows of each deal, and the sums of figures over them
    """
    rows, sums = deals[:, :1], deals[:, 1:]
    count, number = rows.sum().clamp_min(1), (rows > 0).sum()
    off = sums - rows * (sums.sum(0) / count)
    return (off.square().sum(0) * number / (number - 1).clamp_min(1)).sqrt() / count
