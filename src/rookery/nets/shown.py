"""A network as a table: its layers with the shapes of their weights, for a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from rookery.drawing import table

SHAPES_SHOWN = 3


def layers_html(network: nn.Module, title: str = "") -> str:
    """Write the layers of a network with their kinds, shapes and numbers of parameters as an HTML table."""
    rows = [(name, type(layer).__name__, shapes(layer), f"{count(layer):,}") for name, layer in layers(network)]
    own = sum(parameter.numel() for parameter in network.parameters(recurse=False))
    if own:
        rows.append(("(its own)", "", "", f"{own:,}"))
    total = f"{title or type(network).__name__}: {count(network):,} parameters"
    return table(("layer", "kind", "shapes", "parameters"), rows, total)


def layers(network: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Yield the parts of a network by name; lists of parts one by one, parts without parameters not at all."""
    for name, part in network.named_children():
        if isinstance(part, (nn.ModuleList, nn.ModuleDict, nn.Sequential)):
            yield from layers(part, f"{prefix}{name}.")
        elif count(part):
            yield prefix + name, part


def count(layer: nn.Module) -> int:
    """Count the parameters of a layer."""
    return sum(parameter.numel() for parameter in layer.parameters())


def shapes(layer: nn.Module) -> str:
    """Write the shapes of a layer's parameters, the first few."""
    found = [" x ".join(map(str, parameter.shape)) or "1" for parameter in layer.parameters()]
    more = f", and {len(found) - SHAPES_SHOWN} more" if len(found) > SHAPES_SHOWN else ""
    return ", ".join(found[:SHAPES_SHOWN]) + more
