"""A convolutional residual tower whose heads fit a board of any size.

No weight depends on rows or columns: the policy gives each cell its logits from what the tower knows about that cell,
and the value and the actions that belong to no cell are read from the mean and the greatest answer over all cells. So
weights learned on 9x9 load for 15x15 (`resized`).

Blocks are of the first kind of residual networks, relu(x + bn2(conv2(relu(bn1(conv1(x)))))): every BatchNorm follows a
convolution and can be folded into it.

Where actions are pairs of neighbouring cells (Domineering), a cell's two planes are the logits of the pair with the
cell below and of the pair with the cell to its right; those that would leave the board are left out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.configs import TowerConfig, read_config
from rookery.nets.network import Answers, Network


def convolution(inputs: int, outputs: int, size: int = 3) -> nn.Conv2d:
    """Make a convolution that keeps the board's size; a BatchNorm follows, so it has no bias."""
    return nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)


class TowerBlock(nn.Module):
    """relu(x + bn2(conv2(relu(bn1(conv1(x))))))."""

    def __init__(self, width: int):
        super().__init__()
        self.conv1 = convolution(width, width)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = convolution(width, width)
        self.bn2 = nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        """Add what the two layers find to what came in."""
        inner: Tensor = self.bn1(self.conv1(x)).relu()
        outer: Tensor = self.bn2(self.conv2(inner))
        return (x + outer).relu()


class Tower(Network):
    """A stem, residual blocks of 3x3 convolutions, and two heads that fit a board of any size."""

    config: TowerConfig

    def __init__(self, config: TowerConfig):
        super().__init__()
        self.config = config
        self.input_conv = convolution(config.planes, config.width)
        self.input_bn = nn.BatchNorm2d(config.width)
        self.blocks = nn.ModuleList(TowerBlock(config.width) for _ in range(config.blocks))
        self.policy_conv1 = convolution(config.width, config.policy_hidden, 1)
        self.policy_bn = nn.BatchNorm2d(config.policy_hidden)
        self.policy_conv2 = nn.Conv2d(config.policy_hidden, config.policy_planes, 1)
        self.value_fc1 = nn.Linear(2 * config.width, config.value_hidden)
        self.value_fc2 = nn.Linear(config.value_hidden, 1)
        self.extra_fc = nn.Linear(2 * config.width, config.extra_actions) if config.extra_actions else None

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions."""
        logits, scores = self.scored(observations)
        return logits, scores.tanh()

    def scored(self, observations: Tensor) -> Answers:
        """Judge N positions; values come before their tanh, for those who teach them."""
        x = observations.view(-1, self.config.planes, self.config.rows, self.config.cols)
        x = self.input_bn(self.input_conv(x)).relu()
        for block in self.blocks:
            x = block(x)
        policy = self.policy_bn(self.policy_conv1(x)).relu()
        logits = cell_logits(self.policy_conv2(policy), self.config)
        pooled = torch.cat((x.mean((2, 3)), x.amax((2, 3))), 1)
        if self.extra_fc is not None:
            logits = torch.cat((logits, self.extra_fc(pooled)), 1)
        value: Tensor = self.value_fc2(self.value_fc1(pooled).relu())
        return logits, value.squeeze(1)


def cell_logits(planes: Tensor, config: TowerConfig) -> Tensor:
    """Bring the logits of cells [N, policy_planes, rows, cols] into the order of actions."""
    if not config.pairs:
        return planes.flatten(1)
    below, beside = planes[:, 0, :-1], planes[:, 1, :, :-1].mT
    return torch.cat((below.flatten(1), beside.flatten(1)), 1)


def resized(network: Network, rows: int, cols: int) -> Tower:
    """Return a tower with the same weights for a board of another size."""
    if not isinstance(network, Tower):
        raise BadInput(f"only a tower fits boards of several sizes; this network is a {network.config.kind}")
    config = read_config(network.config.model_dump() | {"rows": rows, "cols": cols}, "resized")
    assert isinstance(config, TowerConfig)
    other = Tower(config)
    other.load_state_dict(network.state_dict())
    return other.train(network.training)
