"""Linear probes: can a property of a position be read from a layer by a weighted sum?

A probe is ridge regression on the truth of the property (1 or -1), from the layer's numbers, each brought to mean 0 and
deviation 1. Its answer is judged by the area under the ROC curve (AUC): the chance that a position with the property
gets more than one without it. 0.5 is chance, whatever the share of positions that have the property; 1 is a clean
reading.

Samples come in groups (the positions of one game), and a group is never both taught and asked: scores are those of
cross-validation by groups. How much large weights are held down is found for each property within what is taught: one
fold of it is set aside and asked. All properties are fitted at once, since they share one matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rookery.arena.evaluator import on_threads
from rookery.errors import BadInput

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
"""of the squared weights against the mean squared error, for inputs of deviation 1"""
LEAST = 5
"""samples with a property, and without it, that a fold must hold for its AUC to count"""


@dataclass(frozen=True)
class Probe:
    """Weighted sums that read T properties."""

    mean: np.ndarray
    """[D] of the inputs it was fitted to"""
    scale: np.ndarray
    """[D] their deviation; 1 where an input never changes"""
    weights: np.ndarray
    """[D, T]"""

    def read(self, inputs: np.ndarray) -> np.ndarray:
        """Return how much each of N samples seems to have each property: [N, D] to [N, T]."""
        x = torch.from_numpy((inputs - self.mean) / self.scale)
        with on_threads(1):
            answers: np.ndarray = (x @ torch.from_numpy(self.weights)).numpy()
        return answers


@dataclass(frozen=True)
class Scores:
    """AUC of the properties in each fold."""

    folds: np.ndarray
    """[F, T]; not a number where a fold holds too few samples with the property or without it"""

    def overall(self, properties: slice) -> tuple[float, float]:
        """Return the mean AUC of some properties and its standard error over folds; not numbers if none was judged."""
        kept = [row[~np.isnan(row)].mean() for row in self.folds[:, properties] if not np.isnan(row).all()]
        if not kept:
            return float("nan"), float("nan")
        error = np.std(kept, ddof=1) / np.sqrt(len(kept)) if len(kept) > 1 else float("nan")
        return float(np.mean(kept)), float(error)


def fit(inputs: np.ndarray, labels: np.ndarray, penalties: Sequence[float] = PENALTIES) -> list[Probe]:
    """Fit probes to inputs [N, D] and truths [N, T], one for each penalty."""
    mean, deviation = inputs.mean(0, dtype=np.float64), inputs.std(0, dtype=np.float64)
    scale = np.where(deviation > 1e-6, deviation, 1.0)
    x, wanted = torch.from_numpy((inputs - mean) / scale), torch.from_numpy(np.where(labels, 1.0, -1.0))
    with on_threads(1):  # on a busy machine several threads wait for each other, many times as long as one works
        lengths, directions = torch.linalg.eigh(x.T @ x / len(x))
        found = directions.T @ (x.T @ (wanted - wanted.mean(0)) / len(x))
        weights = [directions @ (found / (lengths[:, None] + penalty)) for penalty in penalties]
    return [Probe(mean, scale, each.numpy()) for each in weights]


def area(answers: np.ndarray, labels: np.ndarray) -> float:
    """Return the AUC of answers [N] for truths [N]; ties count half. Not a number if all are true, or none."""
    _, places, counts = np.unique(answers, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    true = int(labels.sum())
    pairs = true * (len(labels) - true)
    return float((ranks[labels].sum() - true * (true + 1) / 2) / pairs) if pairs else float("nan")


def folds_of(groups: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Give every sample the number of a fold, [N]: whole groups, shuffled, as many in each as can be."""
    names, places = np.unique(groups, return_inverse=True)
    if len(names) < folds:
        raise BadInput(f"{len(names)} groups of samples cannot be split into {folds} folds")
    shuffled = np.random.default_rng(seed).permutation(len(names)) % folds
    of_samples: np.ndarray = shuffled[places]
    return of_samples


def areas(probe: Probe, inputs: np.ndarray, labels: np.ndarray, least: int) -> np.ndarray:
    """Return the AUC of each property, [T]; not a number where fewer than `least` samples have it, or lack it."""
    answers = probe.read(inputs)
    judged = (least <= labels.sum(0)) & (labels.sum(0) <= len(labels) - least)
    return np.array([area(answers[:, t], labels[:, t]) if judged[t] else np.nan for t in range(labels.shape[1])])


def best_penalties(inputs: np.ndarray, labels: np.ndarray, aside: np.ndarray) -> np.ndarray:
    """Find for each property, [T], the number of the penalty that reads best what is set aside, [N] bool."""
    probes = fit(inputs[~aside], labels[~aside])
    scores = np.array([areas(probe, inputs[aside], labels[aside], least=1) for probe in probes])
    best: np.ndarray = np.nan_to_num(scores).argmax(0)
    return best


def cross_validated(inputs: np.ndarray, labels: np.ndarray, fold: np.ndarray) -> Scores:
    """Score probes of properties [N, T] from inputs [N, D]: each fold is asked what was learned from all others."""
    folds = int(fold.max()) + 1
    scores = np.full((folds, labels.shape[1]), np.nan)
    for number in range(folds):
        asked, aside = fold == number, fold == (number + 1) % folds
        if not asked.any() or not aside.any() or (asked | aside).all():
            continue
        chosen = best_penalties(inputs[~asked], labels[~asked], aside[~asked])
        probes = fit(inputs[~asked], labels[~asked])
        weights = np.stack([probe.weights for probe in probes])[chosen, :, np.arange(labels.shape[1])].T
        probe = Probe(probes[0].mean, probes[0].scale, weights)
        scores[number] = areas(probe, inputs[asked], labels[asked], LEAST)
    return Scores(scores)
