"""Muon's steps: those of PyTorch's own, near orthogonal matrices, and all other parameters by AdamW."""

from __future__ import annotations

import copy

import pytest
import torch

from rookery.learn import muon as muon_steps
from rookery.learn.muon import Muon, near_orthogonal, new_optimizer
from rookery.nets.configs import HandsConfig, PerceptronConfig, ResidualConfig, TowerConfig
from rookery.nets.residual import build


def matrices(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in ((6, 6), (24, 8), (8, 24), (24, 8))]


def changed(parameters, step):
    """Give parameters the gradients of a step."""
    generator = torch.Generator().manual_seed(step)
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, generator=generator)


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_steps_are_those_of_pytorch(weight_decay, on_device, monkeypatch):
    monkeypatch.setattr(muon_steps, "computes_bf16", lambda: True)  # as PyTorch's own does everywhere
    mine, wanted = ([*matrices(), torch.ones(5)] for _ in range(2))
    rate = torch.tensor(0.0) if on_device else 0.0
    muon = new_optimizer(mine, rate, weight_decay, mine[:4], pace=2.0, fused=on_device)
    own = torch.optim.Muon(wanted[:4], 0.1, weight_decay, adjust_lr_fn="match_rms_adamw")
    adamw = torch.optim.AdamW(wanted[4:], 0.1, weight_decay=weight_decay)
    for step in range(5):
        now = 0.1 / (1 + step)
        for group in muon.param_groups:
            group["lr"] = rate.fill_(now) if on_device else now
        own.param_groups[0]["lr"], adamw.param_groups[0]["lr"] = 2 * now, now
        for parameters in (mine, wanted):
            changed(parameters, step)
        for optimizer in (muon, own, adamw):
            optimizer.step()
    for one, other, before in zip(mine, wanted, [*matrices(), torch.ones(5)], strict=True):
        assert (one - before).abs().max() > 0.02
        assert torch.allclose(one, other, atol=1e-4)


def test_a_kernel_goes_as_the_matrix_from_all_it_reads():
    kernel = torch.randn(8, 4, 3, 3, generator=torch.Generator().manual_seed(2))
    matrix = kernel.clone().flatten(1)
    gradient = torch.randn(kernel.shape, generator=torch.Generator().manual_seed(3))
    for each, slope in ((kernel, gradient), (matrix, gradient.flatten(1))):
        each.grad = slope.clone()
        new_optimizer([torch.ones(1), each], 0.1, 0.1, [each], pace=1.0).step()
    assert torch.equal(kernel.flatten(1), matrix)


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("shape", [(5, 5), (30, 10), (10, 30)])
def test_all_directions_become_about_equally_long(shape, half, monkeypatch):
    monkeypatch.setattr(muon_steps, "computes_bf16", lambda: half)
    left, _, right = torch.linalg.svd(torch.randn(shape, generator=torch.Generator().manual_seed(1)), False)
    lengths = torch.logspace(0, -2, min(shape))
    found = near_orthogonal((left * lengths @ right)[None])[0]
    assert found.dtype == (torch.bfloat16 if half else torch.float32)
    found = found.float()
    values = torch.linalg.svdvals(found)
    assert values.max() < 1.35
    assert values.min() > 0.5
    assert torch.linalg.svdvals(found - left @ right).max() < 0.5  # the directions themselves are kept


def test_without_a_pace_there_is_adamw_alone():
    parameters = matrices()
    found = new_optimizer(parameters, 0.1, 0.2, parameters[:1], pace=0.0)
    assert type(found) is torch.optim.AdamW
    assert len(found.param_groups[0]["params"]) == len(parameters)
    assert found.defaults["weight_decay"] == 0.2


def test_what_has_no_gradient_stays_as_it_is():
    parameters = [torch.ones(2, 2), torch.ones(2, 2), torch.ones(2), torch.ones(2)]
    muon = new_optimizer(parameters, 0.1, 0.1, parameters[:2], pace=1.0)
    changed(parameters[::2], 0)
    muon.step()
    assert [bool((each == 1).all()) for each in parameters] == [False, True, False, True]


def test_what_is_kept_goes_on_as_if_nothing_had_been_between():
    whole, parted = ([*matrices(), torch.ones(4)] for _ in range(2))
    first, second = (new_optimizer(each, 0.1, 0.1, each[:3], pace=2.0) for each in (whole, parted))
    for step in range(4):
        if step == 2:
            kept = copy.deepcopy(second.state_dict())
            second = new_optimizer(parted, 0.1, 0.1, parted[:3], pace=2.0)
            second.load_state_dict(kept)
        for optimizer, parameters in ((first, whole), (second, parted)):
            changed(parameters, step)
            optimizer.step()
    assert isinstance(second, Muon)
    assert all(torch.equal(one, other) for one, other in zip(whole, parted, strict=True))


def test_a_copy_makes_the_same_steps():
    parameters = [*matrices(), torch.ones(4)]
    first = new_optimizer(parameters, 0.1, 0.1, parameters[:3], pace=2.0)
    changed(parameters, 0)
    first.step()
    others, second = copy.deepcopy((parameters, first))
    for optimizer, each in ((first, parameters), (second, others)):
        changed(each, 1)
        optimizer.step()
    assert all(torch.equal(one, other) for one, other in zip(parameters, others, strict=True))


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        (PerceptronConfig(inputs=9, actions=4, hidden=(8, 7, 6)), {"fc2.weight", "fc3.weight"}),
        (
            ResidualConfig(inputs=9, actions=4, width=8, blocks=2),
            {f"blocks.{block}.fc{number}.weight" for block in range(2) for number in (1, 2)},
        ),
        (
            TowerConfig(planes=3, rows=5, cols=5, width=8, blocks=2),
            {f"blocks.{block}.conv{number}.weight" for block in range(2) for number in (1, 2)},
        ),
        (
            HandsConfig(width=24, heads=2, layers=1, mlp=32),
            {f"layers.0.{name}.weight" for name in ("attend_in", "attend_out", "mlp_in", "mlp_out")},
        ),
    ],
)
def test_matrices_are_those_between_hidden_units(config, wanted):
    network = build(config, 0)
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    assert {names[id(matrix)] for matrix in network.matrices()} == wanted
