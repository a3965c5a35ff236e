"""The perceptron and the residual perceptron of Pylos, and `build`, which makes a network of any kind.

Parameters carry the names of the original's files, so that its weights load:

    perceptron   fc1, fc2, value_head, policy_head
    residual     input_fc, input_bn, blocks.N.{bn1, fc1, bn2, fc2}, value_fc1, value_bn, value_fc2,
                 policy_fc1, policy_bn, policy_fc2

The original's modules answer with the logarithm of a softmax; these give the logits before it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rookery.nets.configs import (
    AttentionBodyConfig,
    HandsConfig,
    NetworkConfig,
    PerceptronConfig,
    ResidualConfig,
    TranscriptConfig,
    TransformerConfig,
)
from rookery.nets.lc0.trained import AttentionBodyNetwork
from rookery.nets.network import Answers, Network
from rookery.nets.texas42 import OpenHands, PlainHands, Transcript
from rookery.nets.tower import Tower
from rookery.nets.transformer import Transformer


class Perceptron(Network):
    """Linear layers with ReLU between them, and two linear heads."""

    def __init__(self, config: PerceptronConfig):
        super().__init__()
        self.config = config
        widths = (config.inputs, *config.hidden)
        for number in range(1, len(widths)):
            self.add_module(f"fc{number}", nn.Linear(widths[number - 1], widths[number]))
        self.value_head = nn.Linear(widths[-1], 1)
        self.policy_head = nn.Linear(widths[-1], config.actions)

    def layers(self) -> list[nn.Linear]:
        """List the hidden layers, first to last."""
        found = [getattr(self, f"fc{number}") for number in range(1, len(self.widths()) + 1)]
        return [layer for layer in found if isinstance(layer, nn.Linear)]

    def matrices(self) -> list[Tensor]:
        """List the matrices between hidden layers."""
        return [layer.weight for layer in self.layers()[1:]]

    def widths(self) -> tuple[int, ...]:
        """Return the widths of the hidden layers."""
        assert isinstance(self.config, PerceptronConfig)
        return self.config.hidden

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions."""
        x = observations
        for layer in self.layers():
            x = layer(x).relu()
        return self.policy_head(x), self.value_head(x).squeeze(1).tanh()


class Block(nn.Module):
    """x + fc2(relu(bn2(fc1(relu(bn1(x))))))."""

    def __init__(self, width: int):
        super().__init__()
        self.bn1 = nn.BatchNorm1d(width)
        self.fc1 = nn.Linear(width, width)
        self.bn2 = nn.BatchNorm1d(width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Add what the two layers find to what came in."""
        inner: Tensor = self.fc1(self.bn1(x).relu())
        outer: Tensor = self.fc2(self.bn2(inner).relu())
        return x + outer


class Residual(Network):
    """A stem, residual blocks of linear layers, and two heads with a hidden layer each."""

    def __init__(self, config: ResidualConfig):
        super().__init__()
        self.config = config
        self.input_fc = nn.Linear(config.inputs, config.width)
        self.input_bn = nn.BatchNorm1d(config.width)
        self.blocks = nn.ModuleList(Block(config.width) for _ in range(config.blocks))
        self.value_fc1 = nn.Linear(config.width, config.value_hidden)
        self.value_bn = nn.BatchNorm1d(config.value_hidden)
        self.value_fc2 = nn.Linear(config.value_hidden, 1)
        self.policy_fc1 = nn.Linear(config.width, config.policy_hidden)
        self.policy_bn = nn.BatchNorm1d(config.policy_hidden)
        self.policy_fc2 = nn.Linear(config.policy_hidden, config.actions)

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions."""
        x = self.input_bn(self.input_fc(observations)).relu()
        for block in self.blocks:
            x = block(x)
        value = self.value_bn(self.value_fc1(x)).relu()
        policy = self.policy_bn(self.policy_fc1(x)).relu()
        return self.policy_fc2(policy), self.value_fc2(value).squeeze(1).tanh()


def build(config: NetworkConfig, seed: int = 0) -> Network:
    """Make a network with fresh weights on the CPU: same seed, same weights. No other random numbers are disturbed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if isinstance(config, PerceptronConfig):
            return Perceptron(config)
        if isinstance(config, ResidualConfig):
            return Residual(config)
        if isinstance(config, TransformerConfig):
            return Transformer(config)
        if isinstance(config, HandsConfig):
            return (PlainHands if config.reads == "all" else OpenHands)(config)
        if isinstance(config, TranscriptConfig):
            return Transcript(config)
        if isinstance(config, AttentionBodyConfig):
            return AttentionBodyNetwork(config)
        return Tower(config)
