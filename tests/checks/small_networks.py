"""Small networks in files, healthy and broken."""

from __future__ import annotations

from pathlib import Path

import torch

from rookery.games.library import load
from rookery.nets.configs import PerceptronConfig, ResidualConfig
from rookery.nets.files import About, pth_bytes, save_network
from rookery.nets.network import Network
from rookery.nets.residual import build

BOARD = "domineering:rows=4,cols=4"


def small_network(seed: int = 0, residual: bool = True) -> Network:
    """Make a network for a small board; larger weights than usual make its answers differ."""
    game = load(BOARD)
    shape = {"inputs": 1, "actions": game.actions}
    for length in game.observations["planes"]:
        shape["inputs"] *= length
    network = build(
        ResidualConfig(**shape, width=16, blocks=1) if residual else PerceptronConfig(**shape, hidden=(16,))
    )
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if weights.ndim >= 2:
                weights.copy_(torch.randn(weights.shape, generator=generator) / weights.shape[1] ** 0.5)
                if "2" in name:
                    weights.mul_(3)
    return network.eval()


def kept(path: Path, network: Network, **changes) -> Path:
    """Write a network, also one that would be refused when it is read."""
    game = load(BOARD)
    facts = {"game": game.spec, "rules_version": game.version, "observation": "planes", "step": 100} | changes
    if all(bool(torch.isfinite(each).all()) for each in network.state_dict().values()):
        save_network(path, network, About(**facts))
    else:
        path.write_bytes(pth_bytes(network, About(**facts)))
    return path
