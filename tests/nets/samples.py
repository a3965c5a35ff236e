"""Networks that several tests use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from rookery.nets.configs import PerceptronConfig, ResidualConfig, TowerConfig, TransformerConfig
from rookery.nets.network import Network

V3 = PerceptronConfig(inputs=32, actions=303)
V4 = ResidualConfig(inputs=32, actions=303)
V5 = ResidualConfig(inputs=92, actions=303, blocks=10, value_hidden=128, policy_hidden=256)
SMALL = ResidualConfig(inputs=5, actions=7, width=8, blocks=2, value_hidden=3, policy_hidden=4)
PAIRS = TowerConfig(planes=2, rows=3, cols=5, policy_planes=2, pairs=True, width=8, blocks=1, policy_hidden=3)
KINDS = [
    PerceptronConfig(inputs=5, actions=7, hidden=(8, 6, 4)),
    SMALL,
    TowerConfig(planes=2, rows=3, cols=4, extra_actions=2, width=8, blocks=2, policy_hidden=3, value_hidden=4),
    TransformerConfig(rows=3, cols=4, width=8, heads=3, head_width=4, mlp=6, sectors=2, policy_hidden=5),
]


def worn(network: Network, seed: int = 1) -> Network:
    """Give the BatchNorms of a network statistics and scales as training leaves them, some of them negative or zero."""
    random = torch.Generator().manual_seed(seed)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
            size = module.weight.shape
            module.running_mean = torch.randn(size, generator=random) * 0.5
            module.running_var = torch.rand(size, generator=random) + 0.2
            module.weight.data = torch.randn(size, generator=random)
            module.bias.data = torch.randn(size, generator=random) * 0.5
            module.weight.data[0] = 0
    return network.eval()


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Let PyTorch use a single thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
