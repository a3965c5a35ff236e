"""Any network grown into a larger one of its kind, which begins with what the small one knows.

    config = larger_config(small.config, {"width": 384, "blocks": 12})
    grown = grow(small, config, seed=42)

A transformer is embedded by `surgery`. In the other kinds a BatchNorm looks at each number of the stream by itself, so
that the stream may grow wider, too: the small network's weights go into the first rows and columns of the large one's,
and what its numbers would read from fresh ones is exactly 0. Blocks above the small network's are fresh.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.configs import AnyConfig, NetworkConfig, PerceptronConfig, TowerConfig, read_config
from rookery.nets.lc0.trained import AttentionBodyNetwork
from rookery.nets.network import Network
from rookery.nets.residual import Block, Perceptron, Residual, build
from rookery.nets.surgery import TOLERANCE, embed, greatest, random_tokens, verify_embedding
from rookery.nets.texas42 import Hands, Transcript
from rookery.nets.tower import Tower, TowerBlock, resized
from rookery.nets.transformer import Transformer

HEADS = ("value_", "policy_", "extra_")
"""what the names of weights of the heads begin with"""
POOLED = ("value_fc1.weight", "extra_fc.weight", ".pool_fc.weight")
"""how weights of a tower end that read means, then greatest numbers, over all cells"""
BEGUN = ("squeeze", "pooling")
"""parts of a block that may grow, and cannot be put into blocks that learned without them"""
EQUAL = ("inputs", "actions", "planes", "policy_planes", "extra_actions", "pairs")
POSITIONS = 64


def larger_config(small: AnyConfig, values: Mapping[str, Any], source: str = "network") -> NetworkConfig:
    """Make the configuration of a larger network; what `values` do not say is as in the small one."""
    kind = values.get("kind", small.kind)
    if kind != small.kind:
        raise BadInput(f"{source}: a {small.kind} grows into a {small.kind}, not into a {kind}")
    return read_config(small.model_dump() | dict(values), source)


def grow(small: Network, config: NetworkConfig, seed: int = 0, heads: bool = True, identity: bool = False) -> Network:
    """Make a network of a larger configuration with a small one embedded in it; it is compared with it at the cut.

    seed      of the fresh weights
    heads     whether the heads of the network are copied (of a transformer, its last LayerNorm too)
    identity  whether the layers or blocks above begin by adding nothing
    """
    if isinstance(small, Hands | Transcript | AttentionBodyNetwork):
        raise BadInput(f"a network of kind {small.config.kind!r} does not grow: its norms look at the whole stream")
    large = build(config, seed)
    if isinstance(small, Transformer):
        grown = embed(small, large, heads, identity)
        verify_embedding(small, grown, random_tokens(small.config, POSITIONS // 4, seed), heads)
        return grown.eval()
    check_fit(small, large, heads)
    inset(small, large, heads)
    if identity:
        silence(large, getattr(small.config, "blocks", 0))
    verify_inset(small, large, heads)
    return large.eval()


def check_fit(small: Network, large: Network, heads: bool) -> None:
    """Refuse a large network that is smaller somewhere, or reads or answers something else."""
    one, other = small.config, large.config
    if one.kind != other.kind:
        raise BadInput(f"a {one.kind} grows into a {one.kind}, not into a {other.kind}")
    for name in EQUAL:
        # an action of a board belongs to a cell: there may be more of them on a larger board
        free = isinstance(one, TowerConfig) and name in ("inputs", "actions")
        if not free and getattr(one, name, None) != getattr(other, name, None):
            raise BadInput(f"{name} must stay {getattr(one, name)}, not {getattr(other, name)}")
    for name in BEGUN:
        if getattr(other, name, 0) and not getattr(one, name, 0):
            raise BadInput(f"{name} must stay 0, not {getattr(other, name)}: the small network's blocks have none")
    if (
        isinstance(one, PerceptronConfig)
        and isinstance(other, PerceptronConfig)
        and len(one.hidden) != len(other.hidden)
    ):
        raise BadInput(
            f"a perceptron grows wider, not deeper: {one.hidden} has {len(one.hidden)} layers, {other.hidden} not"
        )
    wanted = large.state_dict()
    for name, tensor in small.state_dict().items():
        if (heads or not name.startswith(HEADS)) and not room_for(tensor, wanted.get(name)):
            raise BadInput(f"the large network has no room for the small one's weights {name!r}: {other!r}")


def room_for(tensor: Tensor, larger: Tensor | None) -> bool:
    """Tell whether weights fit into the first rows and columns of others."""
    return larger is not None and all(map(int.__le__, tensor.shape, larger.shape))


@torch.no_grad()
def inset(small: Network, large: Network, heads: bool) -> None:
    """Write the weights of a small network into the first rows and columns of a large one's."""
    into = large.state_dict()
    for name, tensor in small.state_dict().items():
        if name.startswith(HEADS) and not heads:
            continue
        target = into[name]
        if tensor.ndim == 0:
            target.copy_(tensor)  # BatchNorm's counter
        elif tensor.ndim == 1:
            target[: len(tensor)] = tensor
        else:
            target[: len(tensor)] = 0
            target[: len(tensor), columns(name, small, tensor, target)] = tensor


def columns(name: str, small: Network, tensor: Tensor, target: Tensor) -> Tensor:
    """List the columns of a large network's weights at which the small one's stand."""
    if isinstance(small, Tower) and name.endswith(POOLED):
        half = torch.arange(tensor.shape[1] // 2)
        return torch.cat((half, half + target.shape[1] // 2))
    return torch.arange(tensor.shape[1])


@torch.no_grad()
def silence(large: Network, depth: int) -> None:
    """Let blocks above a depth begin by adding nothing."""
    for block in list(getattr(large, "blocks", ()))[depth:]:
        last = [block.fc2] if isinstance(block, Block) else [block.bn2, *squeezed(block)]
        for layer in last:
            layer.weight.zero_()
            layer.bias.zero_()


def squeezed(block: nn.Module) -> list[nn.Module]:
    """Return what a squeeze-excitation adds to planes, if a block has one."""
    return [block.squeeze.shift] if isinstance(block, TowerBlock) and block.squeeze is not None else []


# ---- verification --------------------------------------------------------------------------------


@torch.no_grad()
def verify_inset(small: Network, large: Network, heads: bool) -> None:
    """Compare a grown network, cut behind the small one's blocks, with the small one; raise BadInput if they differ."""
    first, second = (copy.deepcopy(network).double().eval() for network in (small, large))
    if isinstance(first, Tower):
        second = resized(second, first.config.rows, first.config.cols).double()
    if isinstance(first, Residual | Tower):
        assert isinstance(second, Residual | Tower)
        second.blocks = second.blocks[: len(first.blocks)]
    random = torch.Generator().manual_seed(0)
    seen = torch.randn(POSITIONS, small.config.inputs, generator=random, dtype=torch.float64)
    stream = trunk(first, seen)
    worst = greatest(stream, trunk(second, seen)[:, : stream.shape[1]])
    if heads:
        worst = max(worst, *(greatest(mine, theirs) for mine, theirs in zip(first(seen), second(seen), strict=True)))
    if not worst <= TOLERANCE:
        raise BadInput(f"the grown network differs from the small one by {worst:.3g}; allowed is {TOLERANCE:g}")


def trunk(network: Network, observations: Tensor) -> Tensor:
    """Return what the heads of a network read, [N, width, ...]."""
    found: list[Tensor] = []
    assert isinstance(network, Perceptron | Residual | Tower)
    reader: nn.Module = network.policy_head if isinstance(network, Perceptron) else first_of_policy(network)
    handle = reader.register_forward_pre_hook(lambda module, given: found.append(given[0]))
    try:
        network(observations)
    finally:
        handle.remove()
    return found[0]


def first_of_policy(network: Residual | Tower) -> nn.Module:
    """Return the first layer of the policy's head."""
    return network.policy_fc1 if isinstance(network, Residual) else network.policy_conv1
