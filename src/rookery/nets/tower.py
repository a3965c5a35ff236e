"""A convolutional residual tower whose heads fit a board of any size.

No weight depends on rows or columns: the policy gives each cell its logits from what the tower knows about that cell,
and the value and the actions that belong to no cell are read from the mean and the greatest answer over all cells. So
weights learned on 9x9 load for 15x15 (`resized`).

Blocks are of the first kind of residual networks, relu(x + bn2(conv2(relu(bn1(conv1(x)))))): every BatchNorm follows a
convolution and can be folded into it.

Two options let a cell know about the whole board, whatever its size (`squeeze`, `pooling`). With squeeze-excitation, as
Lc0 has it, the means of what a block is about to add decide a factor and a shift for each plane. With global pooling,
after KataGo, the mean and the greatest number of some planes are told to all cells in the middle of each second block.

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


def over_board(x: Tensor) -> Tensor:
    """Return the mean and the greatest number of each plane, [N, 2 planes]."""
    return torch.cat((x.mean((2, 3)), x.amax((2, 3))), 1)


class Squeeze(nn.Module):
    """Squeeze-excitation: x sigmoid(scale(u)) + shift(u) with u = relu(read(means of x's planes))."""

    def __init__(self, width: int, units: int):
        super().__init__()
        self.read = nn.Linear(width, units)
        self.scale = nn.Linear(units, width)
        self.shift = nn.Linear(units, width)

    def forward(self, x: Tensor) -> Tensor:
        """Weigh and shift planes by what they are on average."""
        units = self.read(x.mean((2, 3))).relu()
        scale: Tensor = self.scale(units).sigmoid()[:, :, None, None]
        shift: Tensor = self.shift(units)[:, :, None, None]
        return x * scale + shift


class TowerBlock(nn.Module):
    """relu(x + bn2(conv2(relu(bn1(conv1(x)))))), with pooling between the layers and squeeze-excitation behind them."""

    def __init__(self, width: int, squeeze: int = 0, pooling: int = 0):
        super().__init__()
        self.pooling = pooling
        self.conv1 = convolution(width, width)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = convolution(width, width)
        self.bn2 = nn.BatchNorm2d(width)
        self.squeeze = Squeeze(width, squeeze) if squeeze else None
        self.pool_fc = nn.Linear(2 * pooling, width) if pooling else None

    def forward(self, x: Tensor) -> Tensor:
        """Add what the two layers find to what came in."""
        inner: Tensor = self.bn1(self.conv1(x))
        if self.pool_fc is not None:
            inner = inner + self.pool_fc(over_board(inner[:, : self.pooling].relu()))[:, :, None, None]
        outer: Tensor = self.bn2(self.conv2(inner.relu()))
        if self.squeeze is not None:
            outer = self.squeeze(outer)
        return (x + outer).relu()


def new_blocks(config: TowerConfig) -> nn.ModuleList:
    """Make the blocks of a tower; each second one pools."""
    return nn.ModuleList(
        TowerBlock(config.width, config.squeeze, config.pooling if n % 2 else 0) for n in range(config.blocks)
    )


class Tower(Network):
    """A stem, residual blocks of 3x3 convolutions, and two heads that fit a board of any size."""

    config: TowerConfig

    def __init__(self, config: TowerConfig):
        super().__init__()
        self.config = config
        self.input_conv = convolution(config.planes, config.width)
        self.input_bn = nn.BatchNorm2d(config.width)
        self.blocks = new_blocks(config)
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
        if x.is_cuda:  # whose convolutions want the numbers of a cell together, or turn them round each time
            x = x.contiguous(memory_format=torch.channels_last)
        x = self.input_bn(self.input_conv(x)).relu()
        for block in self.blocks:
            x = block(x)
        policy = self.policy_bn(self.policy_conv1(x)).relu()
        logits = cell_logits(self.policy_conv2(policy), self.config)
        pooled = over_board(x)
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
