"""Ridge probes: how much of a number that is true of a position can be read from a layer by a weighted sum?

A probe is ridge regression on T targets from a layer's D numbers, each brought to mean 0 and deviation 1. It is judged
by R2: 1 is a perfect reading, 0 what the mean of the targets would get, and less than 0 is worse than that.

Samples come in groups (the positions of one game), and a group is never both taught and asked. How much large weights
are held down is chosen anew for every fold that is asked, within the others: by the folds among them, each read by what
was learned from the rest. So no answer has helped to choose what gave it.

Samples are looked at once, for sums of products in each fold; what any set of folds teaches and how well it reads
another follows from these sums. All fits are one batch of eigendecompositions, for all penalties at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rookery.arena.evaluator import on_threads
from rookery.errors import BadInput
from rookery.probes.linear import folds_of

PENALTIES = tuple(10 ** (power / 2) for power in range(-14, 5))
"""of the squared weights against the mean squared error, for inputs of deviation 1: 1e-7 to 100"""
FOLDS = 5
SEED = 1
"""of the folds: the same groups always fall into the same"""
SAME = 1e-7
"""an input whose deviation is this small beside its mean never changes"""


@dataclass(frozen=True)
class RidgeProbe:
    """Weighted sums that read T numbers."""

    mean: Tensor
    """[D] of the inputs it was fitted to"""
    scale: Tensor
    """[D] their deviation; 1 where an input never changes"""
    weights: Tensor
    """[D, T]"""
    bias: Tensor
    """[T]"""

    def read(self, inputs: Tensor) -> Tensor:
        """Read N samples: [N, D] to [N, T], in double precision."""
        return (exact(inputs) - self.mean) / self.scale @ self.weights + self.bias


@dataclass(frozen=True)
class RidgeScores:
    """What was read from samples, each by a probe that had not seen its group."""

    r2: Tensor
    """[T] of those answers; not a number where a target never changes"""
    penalties: Tensor
    """[T] those that read best, over all folds"""
    probe: RidgeProbe
    """fitted to all samples with these penalties"""
    held_out: list[RidgeProbe]
    """fitted to all folds but one, which is asked"""
    fold: Tensor
    """[N] the fold of each sample"""

    @property
    def mean_r2(self) -> float:
        """The mean over targets that change; not a number if none does."""
        return float(self.r2[~self.r2.isnan()].mean())


def exact(x: Tensor) -> Tensor:
    """Return numbers in double precision, on the CPU where their device has none."""
    return (x.cpu() if x.device.type == "mps" else x).double()


def r2(answers: Tensor, targets: Tensor) -> Tensor:
    """Return the share of the variance of targets [N, T] that answers [N, T] explain, [T]."""
    targets, answers = exact(targets), exact(answers)
    return shares(((targets - answers) ** 2).sum(0), ((targets - targets.mean(0)) ** 2).sum(0))


def shares(errors: Tensor, spread: Tensor) -> Tensor:
    """Return R2 from squared errors and squared distances from the mean; not a number where there is no distance."""
    return torch.where(spread > 0, 1 - errors / spread, torch.nan)


def read_by_fold(probes: Sequence[RidgeProbe], inputs: Tensor, fold: Tensor) -> Tensor:
    """Let each probe read the fold that it has not seen: [N, T] from inputs [N, D] and folds [N]."""
    answers = torch.stack([probe.read(inputs) for probe in probes])
    return answers[fold, torch.arange(len(fold), device=fold.device)]


# ---- sums ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sums:
    """Sums over the samples of sets, B of them; inputs and targets are counted from a common centre."""

    count: Tensor
    """[B]"""
    x: Tensor
    """[B, D]"""
    y: Tensor
    """[B, T]"""
    xx: Tensor
    """[B, D, D]"""
    xy: Tensor
    """[B, D, T]"""
    yy: Tensor
    """[B, T]"""

    def __getitem__(self, some: Any) -> Sums:
        """Return the sums of some sets."""
        return Sums(*(getattr(self, field.name)[some] for field in fields(self)))

    def without(self, left_out: Sequence[Sequence[int]]) -> Sums:
        """Return the sums of all sets but some, for each list of those."""
        kept = torch.ones(len(left_out), len(self.count), dtype=torch.float64)
        for row, numbers in enumerate(left_out):
            kept[row, list(numbers)] = 0
        kept = kept.to(self.x.device)
        return Sums(*(torch.tensordot(kept, getattr(self, field.name), 1) for field in fields(self)))


def sums_of(x: Tensor, y: Tensor, fold: Tensor, folds: int) -> Sums:
    """Sum up the samples of each fold."""
    parts = []
    for number in range(folds):
        inputs, targets = x[fold == number], y[fold == number]
        count = torch.tensor(float(len(inputs)), dtype=torch.float64, device=x.device)
        products = (inputs.T @ inputs, inputs.T @ targets, (targets**2).sum(0))
        parts.append((count, inputs.sum(0), targets.sum(0), *products))
    return Sums(*(torch.stack(column) for column in zip(*parts, strict=True)))


@dataclass(frozen=True)
class Fits:
    """Probes of B sets of samples under P penalties, in the numbers of the common centre."""

    mean: Tensor
    """[B, D]"""
    scale: Tensor
    """[B, D]"""
    weights: Tensor
    """[B, P, D, T] for inputs brought to deviation 1"""
    bias: Tensor
    """[B, T] what is answered for the mean input"""

    def errors(self, probes: Tensor, asked: Sums) -> Tensor:
        """Return the squared errors [K, P, T] of some of the probes [K] on as many other sets."""
        slopes = self.weights[probes] / self.scale[probes][:, None, :, None]
        base = self.bias[probes][:, None] - torch.einsum("kd,kpdt->kpt", self.mean[probes], slopes)
        along_x = torch.einsum("kpdt,kd->kpt", slopes, asked.x)
        along_y = torch.einsum("kpdt,kdt->kpt", slopes, asked.xy)
        squares = (slopes * (asked.xx[:, None] @ slopes)).sum(2)
        known = asked.yy[:, None] - 2 * (along_y + base * asked.y[:, None])
        found = known + squares + 2 * base * along_x + base**2 * asked.count[:, None, None]
        return found.clamp_min(0)

    def probe(self, number: int, chosen: Tensor, centre: Tensor, height: Tensor) -> RidgeProbe:
        """Return one of the probes, with one of the penalties for each target [T], in the samples' own numbers."""
        weights = self.weights[number][chosen, :, torch.arange(len(chosen), device=chosen.device)].T
        return RidgeProbe(self.mean[number] + centre, self.scale[number], weights, self.bias[number] + height)


def fits_of(taught: Sums, penalties: Tensor, centre: Tensor) -> Fits:
    """Fit probes to sets of samples, under all penalties [P]."""
    count = taught.count[:, None]
    mean, height = taught.x / count, taught.y / count
    covariance = taught.xx / count[:, None] - mean[:, :, None] * mean[:, None]
    together = taught.xy / count[:, None] - mean[:, :, None] * height[:, None]
    deviation = covariance.diagonal(dim1=1, dim2=2).clamp_min(0).sqrt()
    changes = deviation > SAME * (1 + centre.abs())
    scale = torch.where(changes, deviation, 1.0)
    used = changes.double() / scale
    lengths, directions = decomposed(covariance * used[:, :, None] * used[:, None])
    found = directions.mT @ (together * used[:, :, None])
    shrunk = found[:, None] / (lengths.clamp_min(0)[:, None] + penalties[:, None])[..., None]
    return Fits(mean, scale, directions[:, None] @ shrunk, height)


def decomposed(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and eigenvectors of symmetric matrices [B, D, D].

    A card takes small ones one after the other, each more slowly than a processor does; so they go there and back.
    """
    with on_threads(1):  # else threads wait for each other
        lengths, directions = torch.linalg.eigh(matrices.cpu())
    return lengths.to(matrices.device), directions.to(matrices.device)


# ---- fitting -------------------------------------------------------------------------------------


def least(errors: Tensor, spread: Tensor, shared: bool) -> Tensor:
    """Return the number of the best penalty for each target: [..., T] from errors [..., P, T]."""
    if shared:
        relative = torch.where(spread > 0, errors / spread, 0.0).sum(-1, keepdim=True)
        return relative.argmin(-2).expand(*errors.shape[:-2], errors.shape[-1])
    return errors.argmin(-2)


def fit_ridge(
    inputs: Tensor, targets: Tensor, groups: Tensor | np.ndarray, penalties: Sequence[float] = PENALTIES,
    folds: int = FOLDS, shared: bool = False, seed: int = SEED,
) -> RidgeScores:  # fmt: skip
    """Score ridge probes for targets [N, T] from inputs [N, D] by cross-validation over groups [N].

    penalties  that are tried, of the squared weights against the mean squared error
    folds      into which groups are dealt; at least 3, since the penalty is chosen within what is taught
    shared     whether all targets have the same penalty
    """
    if folds < 3:
        raise BadInput(f"folds must be 3 or more, not {folds}: one is asked, one chooses the penalty, one teaches")
    if not penalties or min(penalties) <= 0:
        raise BadInput(f"penalties must be numbers above 0, at least one, not {list(penalties)}")
    if not len(inputs) == len(targets) == len(groups):
        raise BadInput(
            f"{len(inputs)} inputs, {len(targets)} targets and {len(groups)} groups are not the same samples"
        )
    named = groups.cpu().numpy() if isinstance(groups, Tensor) else groups
    x, y = exact(inputs), exact(targets)
    fold = torch.from_numpy(folds_of(named, folds, seed)).to(x.device)
    with on_threads(1) if x.device.type == "cpu" else nullcontext():  # else threads wait for each other
        return scored(x, y, fold, folds, torch.tensor(penalties, dtype=torch.float64, device=x.device), shared)


def scored(x: Tensor, y: Tensor, fold: Tensor, folds: int, penalties: Tensor, shared: bool) -> RidgeScores:
    """Fit and score probes of samples in double precision."""
    centre, height = x.mean(0), y.mean(0)
    parts = sums_of(x - centre, y - height, fold, folds)
    pairs = list(combinations(range(folds), 2))
    fits = fits_of(parts.without([*pairs, *([number] for number in range(folds)), []]), penalties, centre)
    spread = parts.yy.sum(0)
    chosen = least(errors_within(fits, parts, pairs), spread, shared)
    outer = torch.arange(folds, device=x.device)
    errors = fits.errors(len(pairs) + outer, parts)
    best = least(errors.sum(0), spread, shared)
    answered = errors[outer[:, None], chosen, torch.arange(y.shape[1], device=x.device)].sum(0)
    held_out = [fits.probe(len(pairs) + number, chosen[number], centre, height) for number in range(folds)]
    whole = fits.probe(len(pairs) + folds, best, centre, height)
    return RidgeScores(shares(answered, spread), penalties[best], whole, held_out, fold)


def errors_within(fits: Fits, parts: Sums, pairs: Sequence[tuple[int, int]]) -> Tensor:
    """Return for each fold the errors [F, P, T] on all others, each read by what neither of the two has taught."""
    folds = len(parts.count)
    found = torch.zeros(folds, *fits.weights.shape[1::2], dtype=torch.float64, device=fits.mean.device)
    probes = torch.arange(len(pairs), device=fits.mean.device)
    first, second = (torch.tensor(column, device=fits.mean.device) for column in zip(*pairs, strict=True))
    found.index_add_(0, first, fits.errors(probes, parts[second]))
    return found.index_add_(0, second, fits.errors(probes, parts[first]))
