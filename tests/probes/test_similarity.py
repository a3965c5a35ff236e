"""Linear CKA beside its definition by Gram matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.errors import BadInput
from rookery.probes.similarity import cka, debiased_cka


def layers(seed, count=60, first=7, second=11, alike=0.5):
    """Draw two layers that have something in common."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, first)) + 3
    y = alike * x @ rng.normal(size=(first, second)) + rng.normal(size=(count, second))
    return torch.from_numpy(x), torch.from_numpy(y)


def gram_cka(x, y):
    """HSIC of centred Gram matrices, as its authors write it."""
    count = len(x)
    centring = np.eye(count) - 1 / count
    k, ell = centring @ (x @ x.T) @ centring, centring @ (y @ y.T) @ centring
    return np.trace(k @ ell) / np.sqrt(np.trace(k @ k) * np.trace(ell @ ell))


def unbiased_hsic(k, ell):
    """The estimator by sums over tuples of different samples, from Gram matrices without their diagonals."""
    count, ones = len(k), np.ones(len(k))
    k, ell = k - np.diag(np.diag(k)), ell - np.diag(np.diag(ell))
    found = np.trace(k @ ell) + (ones @ k @ ones) * (ones @ ell @ ones) / ((count - 1) * (count - 2))
    return (found - 2 / (count - 2) * ones @ k @ ell @ ones) / (count * (count - 3))


@pytest.mark.parametrize("seed", range(3))
def test_cka_is_that_of_the_gram_matrices(seed):
    x, y = layers(seed)
    assert cka(x, y) == pytest.approx(gram_cka(x.numpy(), y.numpy()))


@pytest.mark.parametrize("seed", range(3))
def test_debiased_cka_is_that_of_the_gram_matrices(seed):
    x, y = layers(seed)
    k, ell = (layer.numpy() @ layer.numpy().T for layer in (x, y))
    slow = unbiased_hsic(k, ell) / np.sqrt(unbiased_hsic(k, k) * unbiased_hsic(ell, ell))
    assert debiased_cka(x, y) == pytest.approx(slow)


def test_a_layer_turned_and_scaled_is_the_same_layer():
    x, _ = layers(1)
    turn, _ = torch.linalg.qr(torch.randn(7, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1)))
    for measure in (cka, debiased_cka):
        assert measure(x, x) == pytest.approx(1)
        assert measure(x, 5 * x @ turn + 2) == pytest.approx(1)


def test_unrelated_layers_look_alike_only_by_the_biased_measure():
    rng = np.random.default_rng(0)
    pairs = [[torch.from_numpy(rng.normal(size=(20, 40))) for _ in range(2)] for _ in range(200)]
    biased, debiased = ([measure(*pair) for pair in pairs] for measure in (cka, debiased_cka))
    assert min(biased) > 0.5
    assert abs(np.mean(debiased)) < 3 * np.std(debiased) / np.sqrt(200) < 0.05


def test_a_layer_that_never_changes_is_like_nothing():
    x, _ = layers(1)
    assert np.isnan(cka(x, torch.ones(60, 3)))
    assert np.isnan(debiased_cka(torch.ones(60, 3), x))


def test_single_precision_is_enough_to_hand_in():
    x, y = layers(2)
    assert cka(x.float(), y.float()) == pytest.approx(cka(x, y), abs=1e-6)


def test_layers_of_other_samples_are_refused():
    x, y = layers(1)
    with pytest.raises(BadInput, match="the first has 60, the second 59"):
        cka(x, y[1:])
    with pytest.raises(BadInput, match="on 4 samples or more, not on 3"):
        debiased_cka(x[:3], y[:3])
