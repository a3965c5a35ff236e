"""Activations of a transformer by name: one call keeps them, one call puts others in their place.

    found, cache = run_with_cache(network, tokens, ["layers.*.out"])
    cache["layers.1.out"]                                               # [N, T, width]
    patched(network, tokens, {"layers.1.out": cache["layers.1.out"].roll(1, 0)})

For each layer L, with N positions, T tokens (the board's is the last), H heads:

    embedded                           [N, T, width]        state and place, before the first layer
    layers.L.attn.in                   [N, T, width]        the normed stream that the heads read
    layers.L.attn.queries, keys, values, mixed   [N, H, T, head_width]   mixed: the values, weighted by the pattern
    layers.L.attn.pattern              [N, H, T, T]         how much each token looks at each other; rows sum to 1
    layers.L.attn.out                  [N, T, width]        what all heads together add to the stream
    layers.L.middle                    [N, T, width]        the stream between attention and hidden units
    layers.L.mlp.in, layers.L.mlp.out  [N, T, width]        what the hidden units read and add
    layers.L.mlp.hidden                [N, T, mlp]          hidden units, after their GELU
    layers.L.out                       [N, T, width]        the stream behind the layer
    final                              [N, T, width]        the normed stream that the heads of the network read

What head h adds is `mixed[:, h] @ attn.W_O[h]`. Patterns are large and otherwise never made: they are kept only if
asked for by name. Gradients flow through both calls as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

from torch import Tensor

from rookery.errors import BadInput
from rookery.nets.configs import TransformerConfig
from rookery.nets.transformer import Heads, Tap, Transformer

IN_LAYER = (
    "attn.in", "attn.queries", "attn.keys", "attn.values", "attn.pattern", "attn.mixed", "attn.out", "middle",
    "mlp.in", "mlp.hidden", "mlp.out", "out",
)  # fmt: skip
"""activations of a layer, in the order in which they come about"""
PATTERN = ".pattern"

Patch = Tensor | Callable[[Tensor], Tensor]
"""what goes on in the place of an activation, or what makes it from the activation"""
Keep = Callable[[Tensor], Tensor]


def activation_names(config: TransformerConfig) -> list[str]:
    """List the activations of a network in the order in which they come about."""
    in_layers = [f"layers.{number}.{name}" for number in range(config.layers) for name in IN_LAYER]
    return ["embedded", *in_layers, "final"]


def chosen_names(config: TransformerConfig, wanted: Iterable[str] | None) -> list[str]:
    """List the activations that names stand for, with * for anything between dots; without names, all but patterns."""
    names = activation_names(config)
    if wanted is None:
        return [name for name in names if not name.endswith(PATTERN)]
    return picked_names(names, wanted, told(config))


def picked_names(names: list[str], wanted: Iterable[str], listed: list[str]) -> list[str]:
    """List those of the names that are wanted, with * for anything between dots; an error names those listed."""
    found: set[str] = set()
    for text in [wanted] if isinstance(wanted, str) else wanted:
        fitting = {name for name in names if fits(name, text)}
        if not fitting:
            raise BadInput(f"there is no activation {text!r}; there are {', '.join(listed)}")
        found |= fitting
    return [name for name in names if name in found]


def fits(name: str, text: str) -> bool:
    """Tell whether a name is meant by a text, in which * stands for anything between two dots."""
    parts, wanted = name.split("."), text.split(".")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def told(config: TransformerConfig) -> list[str]:
    """List the names of activations in short."""
    place = "layers.0" if config.layers == 1 else f"layers.0..{config.layers - 1}"
    return ["embedded", *(f"{place}.{name}" for name in IN_LAYER if config.layers), "final"]


class Watch(Tap):
    """A tap that puts patches in their places and keeps what goes on."""

    def __init__(self, names: Iterable[str], patches: Mapping[str, Patch], keep: Keep | None):
        self.names, self.patches, self.keep = frozenset(names), patches, keep
        self.cache: dict[str, Tensor] = {}

    def wants(self, name: str) -> bool:
        """Tell whether an activation is to be kept or replaced."""
        return name in self.names or name in self.patches

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Replace and keep an activation as asked."""
        if name in self.patches:
            x = replaced(name, x, self.patches[name])
        if name in self.names:
            self.cache[name] = x if self.keep is None else self.keep(x)
        return x


def replaced(name: str, x: Tensor, patch: Patch) -> Tensor:
    """Return what goes on in the place of an activation; only what has its shape can."""
    new = patch if isinstance(patch, Tensor) else patch(x)
    if new.shape != x.shape:
        raise BadInput(f"the patch for {name!r} is {list(new.shape)}; the activation is {list(x.shape)}")
    return new.to(x.device, x.dtype)


def run_with_cache(
    network: Transformer, tokens: Tensor, names: Iterable[str] | None = None, keep: Keep | None = None,
    patches: Mapping[str, Patch] | None = None, depth: int | None = None,
) -> tuple[Heads, dict[str, Tensor]]:  # fmt: skip
    """Judge N positions and keep activations by name.

    names    with * for anything between two dots, like layers.*.out; None: all but the patterns
    keep     applied to each activation before it is kept, like `lambda x: x[:, -1]` for the board's token alone
    patches  put in their places first, so that what is kept is what went on
    depth    layers to go through; None: all. Activations of later ones are not there
    """
    patches = patches or {}
    for name in patches:
        if name not in activation_names(network.config):
            raise BadInput(f"there is no activation {name!r} to patch; there are {', '.join(told(network.config))}")
    watch = Watch(chosen_names(network.config, names), patches, keep)
    found = network.heads(tokens, depth, watch)
    return found, watch.cache


def patched(network: Transformer, tokens: Tensor, patches: Mapping[str, Patch]) -> Heads:
    """Judge N positions with other activations in the place of some."""
    return run_with_cache(network, tokens, (), None, patches)[0]
