"""Activations of Lc0's networks by name: one call keeps them, one call puts others in their place.

    found, cache = run_with_cache(network, planes, ["layers.*.out"])
    patched(network, planes, {"layers.1.out": cache["layers.1.out"].roll(1, 0)})

With N positions, H heads; C channels of a tower or the width of an attention body:

    embedded                    [N, C, 8, 8] or [N, 64, C]   before the first block or layer, gates included
    layers.L.hidden, added, out [N, C, 8, 8]    of a tower's block: between its convolutions; what it adds; the stream
    layers.L.attn.queries, keys, values, mixed   [N, H, 64, d]   of a layer of attention
    layers.L.attn.smolgen       [N, H, 64, 64]  what is added to the scores
    layers.L.attn.pattern       [N, H, 64, 64]  how much each square looks at each other; rows sum to 1
    layers.L.attn.out           [N, 64, C]      what all heads write
    layers.L.middle, layers.L.out   [N, 64, C]  the stream, normed, behind attention and behind the hidden units
    layers.L.mlp.hidden, mlp.out    [N, 64, ...]
    body                        what the heads of the network read
    policy.embedded, policy.layers.L.*, policy.queries, policy.keys   [N, 64, ...]   of an attention policy
    policy.hidden               of a convolution or classical policy
    policy.raw                  before its numbers are put in the order of the moves
    policy.logits               [N, 1858]
    value.embedded, hidden, raw, moves_left.embedded, hidden, raw

Patterns are large and otherwise never made: they are kept only if asked for by name. Gradients flow through both calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor

from rookery.errors import BadInput
from rookery.nets.hooks import PATTERN, Keep, Patch, Watch, picked_names
from rookery.nets.lc0.network import Answers, Lc0Network


def run_with_cache(
    network: Lc0Network, planes: Tensor, names: Iterable[str] | None = None, keep: Keep | None = None,
    patches: Mapping[str, Patch] | None = None,
) -> tuple[Answers, dict[str, Tensor]]:  # fmt: skip
    """Judge N positions and keep activations by name.

    names    with * for anything between two dots, like layers.*.out; None: all but the patterns
    keep     applied to each activation before it is kept
    patches  put in their places first, so that what is kept is what went on
    """
    known, patches = network.activation_names(), patches or {}
    for name in patches:
        if name not in known:
            raise BadInput(f"there is no activation {name!r} to patch; there are {', '.join(known)}")
    wanted = [name for name in known if not name.endswith(PATTERN)] if names is None else names
    watch = Watch(picked_names(known, wanted, known), patches, keep)
    return network.heads(planes, watch), watch.cache


def patched(network: Lc0Network, planes: Tensor, patches: Mapping[str, Patch]) -> Answers:
    """Judge N positions with other activations in the place of some."""
    return run_with_cache(network, planes, (), None, patches)[0]
