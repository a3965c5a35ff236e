"""A small transformer embedded in a large one, so that the large one begins with what the small one knows.

    grown = embed(small, build(LARGE, seed=42))
    verify_embedding(small, grown, random_tokens(LARGE, 64))

Small and large share the width of the stream, so that a LayerNorm sees the same numbers in both. In the layers that the
small one has, the large one's first heads and hidden units are copies, biases included; its further ones are fresh,
but what they would write into the stream (W_O of those heads, columns of W_out) is exactly 0. So the stream behind
those layers is the small network's. The layers above are left as they were made. Embeddings, the last LayerNorm and the
heads of the network are copied.

Controls, for a study of what helps:

    embed(small, large, heads=False)      the last LayerNorm and the heads of the network stay fresh
    embed(small, large, identity=True)    the layers above begin by adding nothing: the answers are the small network's
    embed(build(small.config, 7), large)  a small network that has learned nothing
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.configs import TransformerConfig
from rookery.nets.network import Network
from rookery.nets.transformer import Layer, Transformer

EQUAL = ("rows", "cols", "width", "head_width", "side_token", "states")
EQUAL_IN_HEADS = ("sectors", "policy_hidden")
AT_LEAST = ("layers", "heads", "mlp")
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Differences:
    """The greatest differences at the cut between a small network and the large one that it is embedded in."""

    stream: float
    """of the stream behind the embedded layers"""
    value: float | None
    """of the value's logit, read there; None if the heads of the network are not embedded"""
    policy: float | None
    sectors: float | None


# ---- embedding -----------------------------------------------------------------------------------


def transformer_of(network: Network, which: str) -> Transformer:
    """Refuse a network that is no transformer."""
    if not isinstance(network, Transformer):
        raise BadInput(f"a transformer is embedded in a transformer; the {which} network is a {network.config.kind}")
    return network


def check_fit(small: TransformerConfig, large: TransformerConfig, heads: bool = True) -> None:
    """Refuse a large network that a small one cannot be embedded in."""
    for name in EQUAL + EQUAL_IN_HEADS * heads:
        if getattr(small, name) != getattr(large, name):
            pair = f"{getattr(small, name)} in the small network and {getattr(large, name)} in the large one"
            raise BadInput(f"{name} must be the same in both networks; it is {pair}")
    for name in AT_LEAST:
        if getattr(small, name) > getattr(large, name):
            pair = f"the small network has {getattr(small, name)}, the large one {getattr(large, name)}"
            raise BadInput(f"the large network needs at least as many {name} as the small one: {pair}")


def embed(small: Network, large: Network, heads: bool = True, identity: bool = False) -> Transformer:
    """Return a copy of a large network with a small one embedded in it; both stay as they were.

    heads     whether the last LayerNorm and the heads of the network are copied
    identity  whether the layers above begin by adding nothing to the stream
    """
    small, grown = transformer_of(small, "small"), copy.deepcopy(transformer_of(large, "large"))
    check_fit(small.config, grown.config, heads)
    with torch.no_grad():
        for target, source in copies(small, grown, heads):
            target.copy_(source)
        for tensor in silences(small.config, grown, identity):
            tensor.zero_()
    return grown


def layers_of(network: Transformer) -> list[Layer]:
    """List the layers of a network."""
    return [layer for layer in network.layers if isinstance(layer, Layer)]


def copies(small: Transformer, large: Transformer, heads: bool) -> Iterator[tuple[Tensor, Tensor]]:
    """List what is copied: a part of the large network's weights and the weights of the small one that belong there."""
    whole: list[tuple[nn.Module, nn.Module]] = [
        (large.state_embed, small.state_embed),
        (large.pos_embed, small.pos_embed),
    ]
    for into, layer in zip(layers_of(large), layers_of(small), strict=False):
        whole += [(into.ln1, layer.ln1), (into.ln2, layer.ln2)]
        yield from copies_in_layer(into, layer)
    if heads:
        names = ("final_ln", "value_head", "sector_head", "policy_head")
        whole += [(getattr(large, name), getattr(small, name)) for name in names]
    for into_module, module in whole:
        yield from zip(into_module.parameters(), module.parameters(), strict=True)


def copies_in_layer(into: Layer, layer: Layer) -> Iterator[tuple[Tensor, Tensor]]:
    """List what is copied of the heads and hidden units of a layer."""
    heads, units = len(layer.attn.W_Q), len(layer.mlp.W_in.weight)
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        for head in range(heads):
            yield getattr(into.attn, name)[head], getattr(layer.attn, name)[head]
    yield into.mlp.W_in.weight[:units], layer.mlp.W_in.weight
    yield into.mlp.W_in.bias[:units], layer.mlp.W_in.bias
    yield into.mlp.W_out.weight[:, :units], layer.mlp.W_out.weight
    yield into.mlp.W_out.bias, layer.mlp.W_out.bias


def silences(small: TransformerConfig, large: Transformer, identity: bool = False) -> Iterator[Tensor]:
    """List the weights that are exactly 0 after embedding: what fresh heads and hidden units write."""
    layers = layers_of(large)
    for layer in layers[: small.layers]:
        yield layer.attn.W_O[small.heads :]
        yield layer.mlp.W_out.weight[:, small.mlp :]
    for layer in layers[small.layers :] if identity else ():
        yield from (layer.attn.W_O, layer.mlp.W_out.weight, layer.mlp.W_out.bias)


# ---- verification --------------------------------------------------------------------------------


def verify_embedding(
    small: Network, large: Network, tokens: Tensor, heads: bool = True, tolerance: float = TOLERANCE
) -> Differences:
    """Compare a large network, cut behind the embedded layers, with the small one; raise BadInput if they differ.

    Weights are compared exactly, answers on tokens [N, T] in double precision, so that nothing but a wrong weight makes
    a difference worth speaking of.
    """
    small, large = transformer_of(small, "small"), transformer_of(large, "large")
    check_fit(small.config, large.config, heads)
    for target, source in copies(small, large, heads):
        if not torch.equal(target, source.to(target.device)):
            raise BadInput("the small network is not embedded in the large one: some weights are no copies")
    if any(bool(tensor.count_nonzero()) for tensor in silences(small.config, large)):
        raise BadInput("the small network is not embedded in the large one: fresh parts write into the stream")
    found = differences(small, large, tokens, heads)
    for place, value in asdict(found).items():
        if value is not None and not value <= tolerance:  # what is no number is no difference that is allowed
            raise BadInput(
                f"the embedded network differs from the small one by {value:.3g} ({place}); allowed is {tolerance:g}"
            )
    return found


@torch.no_grad()
def differences(small: Transformer, large: Transformer, tokens: Tensor, heads: bool = True) -> Differences:
    """Return the greatest differences at the cut, in double precision on the tokens' device."""
    depth = small.config.layers
    first, second = (copy.deepcopy(network).to(tokens.device, torch.float64).eval() for network in (small, large))
    stream = greatest(first.stream(tokens), second.stream(tokens, depth))
    if not heads:
        return Differences(stream, None, None, None)
    pairs = zip(first.heads(tokens), second.heads(tokens, depth), strict=True)
    return Differences(stream, *(greatest(one, other) for one, other in pairs))


def greatest(first: Tensor, second: Tensor) -> float:
    """Return the greatest difference of two tensors."""
    return float((first - second).abs().max())


def random_tokens(config: TransformerConfig, count: int, seed: int = 0) -> Tensor:
    """Draw positions [N, T]: from empty to full boards, any square covered."""
    random = torch.Generator().manual_seed(seed)
    share = torch.rand(count, 1, generator=random)
    covered = torch.rand(count, config.squares, generator=random) < share
    kinds = torch.randint(1, config.states - 1, covered.shape, generator=random) if config.states > 3 else 1
    board = torch.randint(config.states - 1, config.all_states, (count, 1), generator=random)
    return torch.cat((covered.long() * kinds, board), 1)
