"""Networks made ready for judging."""

from __future__ import annotations

import pytest
import torch

from nets.samples import KINDS, PAIRS, V3, V4, V5, worn
from rookery.errors import BadInput
from rookery.nets.configs import SMALL as TRANSFORMER
from rookery.nets.configs import TowerConfig, TransformerConfig
from rookery.nets.folded import fold
from rookery.nets.network import Network
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens

TOWER = TowerConfig(planes=3, rows=9, cols=9, width=16, blocks=3)
BOARD = TransformerConfig(rows=5, cols=6, layers=3, side_token=True)


def observations(network: Network, rows: int = 64, seed: int = 0) -> torch.Tensor:
    return torch.randn(rows, network.config.inputs, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    "config", [*KINDS, PAIRS, V3, V4, V5, TOWER], ids=lambda config: f"{config.kind} {config.inputs}"
)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_folded_network_gives_the_answers_of_the_network(config, seed):
    network = worn(build(config, seed), seed)
    x = observations(network)
    with torch.no_grad():
        logits, values = network(x)
    judge = fold(network)
    torch.testing.assert_close(judge(x)[0], logits, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(judge(x)[1], values, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize(("dtype", "most"), [(torch.bfloat16, 0.06), (torch.float16, 0.008)])
@pytest.mark.parametrize("config", [V3, V4, V5, TOWER, BOARD], ids=lambda config: f"{config.kind} {config.inputs}")
def test_in_half_precision_answers_are_near(config, dtype, most):
    network = worn(build(config))
    x = observations(network)
    with torch.no_grad():
        logits, values = network(x)
    half_logits, half_values = fold(network, "cpu", dtype)(x)
    assert half_logits.dtype == half_values.dtype == torch.float32
    assert (half_values - values).abs().max() < most
    assert (half_logits - logits).abs().max() < most * logits.abs().max()


def test_scales_near_zero_do_no_harm():
    network = worn(build(KINDS[1]))
    sizes = torch.tensor([0.0, 1e-30, -1e-30, 1e-44, -1e-44, 1e-8, 1.0, -1.0])
    for block in network.blocks:
        block.bn1.weight.data = sizes.clone()
    x = observations(network)
    with torch.no_grad():
        logits, values = network(x)
    for dtype, most in [(torch.float32, 1e-5), (torch.float16, 0.01), (torch.bfloat16, 0.05)]:
        half_logits, half_values = fold(network, "cpu", dtype)(x)
        assert (half_logits - logits).abs().max() < most
        assert (half_values - values).abs().max() < most


@pytest.mark.parametrize("config", KINDS, ids=lambda config: config.kind)
def test_new_weights_go_into_the_same_memory(config):
    first, second = worn(build(config, 1), 1), worn(build(config, 2), 2)
    judge = fold(first)
    places = {name: tensor.data_ptr() for name, tensor in judge.weights.items()}
    judge.update(second)
    assert {name: tensor.data_ptr() for name, tensor in judge.weights.items()} == places
    x = observations(first)
    for mine, fresh in zip(judge(x), fold(second)(x), strict=True):
        assert torch.equal(mine, fresh)


def test_training_on_does_not_reach_a_folded_network():
    network = worn(build(KINDS[0]))
    judge, x = fold(network), observations(network)
    before = judge(x)[0].clone()
    with torch.no_grad():
        network.policy_head.weight.zero_()
    assert torch.equal(judge(x)[0], before)


def test_weights_of_another_configuration_are_refused():
    with pytest.raises(BadInput, match="do not fit"):
        fold(build(KINDS[0])).update(build(KINDS[1]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_transformer_of_the_study_is_judged_in_any_precision(dtype):
    network = build(TRANSFORMER, 1).eval()
    x = random_tokens(TRANSFORMER, 4).float()
    with torch.no_grad():
        logits, values = network(x)
    folded_logits, folded_values = fold(network, "cpu", dtype)(x)
    most = {torch.float32: 1e-5, torch.bfloat16: 0.04, torch.float16: 0.005}[dtype]
    assert (folded_logits - logits).abs().max() < most * logits.abs().max()
    assert (folded_values - values).abs().max() < most
    assert values.abs().min() > 1e-3  # there is something to compare


def test_what_is_asked_is_left_as_it_was():
    network = worn(build(V4))
    x = observations(network)
    before = x.clone()
    fold(network)(x)
    assert torch.equal(x, before)
