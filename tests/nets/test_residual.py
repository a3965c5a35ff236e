"""The perceptron and the residual perceptron."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nets.samples import KINDS, SMALL, V3, V4, V5, worn
from rookery.nets.residual import build


@pytest.mark.parametrize(("config", "count"), [(V3, 226_352), (V4, 893_488), (V5, 1_527_856)])
def test_the_networks_of_pylos_have_the_original_number_of_parameters(config, count):
    assert build(config).weights == count


@pytest.mark.parametrize(("config", "count"), [(V3, 0), (V4, 7_055), (V5, 11_543)])
def test_the_networks_of_pylos_have_the_original_number_of_buffers(config, count):
    assert sum(buffer.numel() for buffer in build(config).buffers()) == count


def test_the_perceptron_names_its_weights_as_the_original_did():
    assert {name.rsplit(".", 1)[0] for name in build(V3).state_dict()} == {"fc1", "fc2", "value_head", "policy_head"}


def test_the_residual_network_names_its_weights_as_the_original_did():
    heads = {"value_fc1", "value_bn", "value_fc2", "policy_fc1", "policy_bn", "policy_fc2"}
    blocks = {f"blocks.{n}.{layer}" for n in range(2) for layer in ("bn1", "fc1", "bn2", "fc2")}
    names = {name.rsplit(".", 1)[0] for name in build(SMALL).state_dict()}
    assert names == {"input_fc", "input_bn"} | blocks | heads


def slow_norm(x: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
    return (x - mean) / (variance + 1e-5).sqrt() * state[f"{name}.weight"] + state[f"{name}.bias"]


def slow_linear(x: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def test_the_perceptron_is_what_the_sheet_says():
    network = build(V3, seed=3)
    state = {name: tensor.double() for name, tensor in network.state_dict().items()}
    x = torch.randn(6, 32, generator=torch.Generator().manual_seed(0))
    hidden = slow_linear(slow_linear(x.double(), state, "fc1").clamp(min=0), state, "fc2").clamp(min=0)
    logits, values = network(x)
    torch.testing.assert_close(logits.double(), slow_linear(hidden, state, "policy_head"), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(
        values.double(), slow_linear(hidden, state, "value_head")[:, 0].tanh(), atol=1e-5, rtol=0
    )


def test_the_residual_network_is_what_the_sheet_says():
    network = worn(build(SMALL, seed=3))
    state = {name: tensor.double() for name, tensor in network.state_dict().items()}
    given = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    x = slow_norm(slow_linear(given.double(), state, "input_fc"), state, "input_bn").clamp(min=0)
    for n in range(2):
        inner = slow_linear(slow_norm(x, state, f"blocks.{n}.bn1").clamp(min=0), state, f"blocks.{n}.fc1")
        x = x + slow_linear(slow_norm(inner, state, f"blocks.{n}.bn2").clamp(min=0), state, f"blocks.{n}.fc2")
    value = slow_norm(slow_linear(x, state, "value_fc1"), state, "value_bn").clamp(min=0)
    policy = slow_norm(slow_linear(x, state, "policy_fc1"), state, "policy_bn").clamp(min=0)
    logits, values = network(given)
    torch.testing.assert_close(logits.double(), slow_linear(policy, state, "policy_fc2"), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(values.double(), slow_linear(value, state, "value_fc2")[:, 0].tanh(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("config", KINDS, ids=lambda config: config.kind)
def test_answers_have_the_shapes_the_configuration_says(config):
    logits, values = build(config)(torch.randn(3, config.inputs))
    assert logits.shape == (3, config.actions)
    assert values.shape == (3,)
    assert bool((values.abs() <= 1).all())


@pytest.mark.parametrize("config", KINDS, ids=lambda config: config.kind)
def test_same_seed_gives_same_weights_and_disturbs_no_other_random_numbers(config):
    before = torch.random.get_rng_state()
    first, second, other = build(config, 1).state_dict(), build(config, 1).state_dict(), build(config, 2).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)
    assert torch.equal(torch.random.get_rng_state(), before)
