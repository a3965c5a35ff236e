"""Muon's steps: those of PyTorch's own, near orthogonal matrices, and a rate that is read where it lies."""

from __future__ import annotations

import pytest
import torch

from rookery.studies.muon import Muon, near_orthogonal


def matrices(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in ((6, 6), (24, 8), (8, 24))]


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_steps_are_those_of_pytorch(weight_decay):
    rate = torch.tensor(0.1)
    mine, others = ([each.clone() for each in matrices()] for _ in range(2))
    muon = Muon(mine, rate, weight_decay)
    own = torch.optim.Muon(others, 0.1, weight_decay, adjust_lr_fn="match_rms_adamw")
    for step in range(5):
        rate.fill_(0.1 / (1 + step))
        own.param_groups[0]["lr"] = 0.1 / (1 + step)
        for one, other, gradient in zip(mine, others, matrices(step + 1), strict=True):
            one.grad, other.grad = gradient.clone(), gradient.clone()
        muon.step()
        own.step()
    for one, other, before in zip(mine, others, matrices(), strict=True):
        assert (one - before).abs().max() > 0.01
        assert torch.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("shape", [(5, 5), (30, 10), (10, 30)])
def test_all_directions_become_about_equally_long(shape):
    left, _, right = torch.linalg.svd(torch.randn(shape, generator=torch.Generator().manual_seed(1)), False)
    lengths = torch.logspace(0, -2, min(shape))
    found = near_orthogonal(left * lengths @ right).float()
    values = torch.linalg.svdvals(found)
    assert values.max() < 1.35
    assert values.min() > 0.5
    assert torch.linalg.svdvals(found - left @ right).max() < 0.5  # the directions themselves are kept


def test_a_matrix_without_a_gradient_stays_as_it_is():
    one, other = torch.ones(2, 2), torch.ones(2, 2)
    muon = Muon([one, other], torch.tensor(0.1), 0.1)
    one.grad = torch.eye(2)
    muon.step()
    assert not torch.equal(one, torch.ones(2, 2))
    assert torch.equal(other, torch.ones(2, 2))


def test_what_is_kept_goes_on_as_if_nothing_had_been_between():
    whole, parted = (matrices()[1] for _ in range(2))
    first, second = Muon([whole], torch.tensor(0.1), 0.0), Muon([parted], torch.tensor(0.1), 0.0)
    for step in range(4):
        if step == 2:
            kept = second.state_dict()
            second = Muon([parted], torch.tensor(0.1), 0.0)
            second.load_state_dict(kept)
        for muon, matrix in ((first, whole), (second, parted)):
            matrix.grad = matrices(step + 5)[1]
            muon.step()
    assert torch.equal(whole, parted)
