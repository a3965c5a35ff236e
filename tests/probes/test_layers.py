"""Activations are what flows through a network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.errors import BadInput
from rookery.nets.configs import PerceptronConfig, ResidualConfig, TowerConfig
from rookery.nets.residual import build
from rookery.probes.layers import activations


def observations(count, width):
    return np.random.default_rng(1).normal(size=(count, width)).astype(np.float32)


def test_the_last_block_is_what_the_heads_of_a_residual_network_see():
    network = build(ResidualConfig(inputs=6, actions=5, width=8, blocks=3), seed=1).eval()
    seen = observations(7, 6)
    found = activations(network, seen)
    assert list(found) == ["observation", "stem", "block 1", "block 2", "block 3"]
    assert np.array_equal(found["observation"], seen)
    with torch.inference_mode():
        hidden = network.value_bn(network.value_fc1(torch.from_numpy(found["block 3"]))).relu()
        values = network.value_fc2(hidden).squeeze(1).tanh()
        assert torch.equal(values, network(torch.from_numpy(seen))[1])


def test_the_last_layer_is_what_the_heads_of_a_perceptron_see():
    network = build(PerceptronConfig(inputs=6, actions=5, hidden=(8, 4)), seed=1).eval()
    seen = observations(7, 6)
    found = activations(network, seen)
    assert {name: layer.shape for name, layer in found.items()} == {
        "observation": (7, 6), "layer 1": (7, 8), "layer 2": (7, 4),
    }  # fmt: skip
    with torch.inference_mode():
        logits = network.policy_head(torch.from_numpy(found["layer 2"]))
        assert torch.equal(logits, network(torch.from_numpy(seen))[0])


def test_towers_are_refused():
    network = build(TowerConfig(planes=2, rows=3, cols=3, width=4, blocks=1), seed=1)
    with pytest.raises(BadInput, match="not of a tower"):
        activations(network, observations(2, 18))
