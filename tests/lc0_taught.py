"""A network of Lc0's kind so small that tests can teach it, and planes to ask it about."""

from __future__ import annotations

import torch
from torch import Tensor

from rookery.nets.configs import AttentionBodyConfig
from rookery.nets.lc0.trained import AttentionBodyNetwork
from rookery.nets.residual import build

SIZES = {
    "width": 16, "layers": 2, "heads": 2, "hidden": 24, "smolgen_channels": 2, "smolgen_hidden": 8, "smolgen_size": 8,
    "policy_width": 16, "policy_model": 16, "value_channels": 4, "value_hidden": 8,
}  # fmt: skip
TINY = AttentionBodyConfig.model_validate(SIZES)
KINDS = {
    "map": TINY,
    "without smolgen": TINY.model_copy(update={"smolgen_channels": 0, "model": 32, "activation": "relu"}),
    "dense": TINY.model_copy(update={"embedding": "dense", "dense": 4, "embedding_hidden": 20, "gates": True}),
}


def tiny(kind: str = "map", seed: int = 1) -> AttentionBodyNetwork:
    """Make a network in which no weight is 0 or 1, as none is after some steps."""
    network = build(KINDS[kind], seed)
    assert isinstance(network, AttentionBodyNetwork)
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=random)
    return network.eval()


def planes(count: int, seed: int = 2) -> Tensor:
    """Draw observations [N, 7168] of zeros and ones, with counts of plies in plane 109."""
    random = torch.Generator().manual_seed(seed)
    found = (torch.rand(count, 112, 64, generator=random) < 0.1).float()
    found[:, 109] = torch.arange(count)[:, None] * 17.0 % 101
    return found.flatten(1)
