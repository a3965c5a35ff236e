"""Networks from weight files, and back into them.

    network = load_network("network.pb.gz")
    save_network("tuned.pb.gz", network)
    fresh = fresh_network(config, seed=0)

Parameters are called as in the file (`paths`), so that a path names a layer there and a parameter here. Batch norms of
older files are folded into the convolutions; a network that is written has none. What a file holds beside the numbers
of its network (licence, header, heads that nobody plays with) goes back into the file that is written.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.lc0.config import Lc0Config, config_of
from rookery.nets.lc0.files import MOST_BYTES, WeightFile, mark_encoding, read_file, write_file
from rookery.nets.lc0.layers import Convolution
from rookery.nets.lc0.network import Lc0Network
from rookery.nets.lc0.numbers import encoded
from rookery.nets.lc0.schema import (
    DEFAULT_MISH,
    DEFAULT_RELU,
    MAGIC,
    NET,
    Activation,
    Body,
    Encoding,
    Policy,
    Value,
)
from rookery.nets.lc0.wire import Message

LEAST_ENGINE = {"major": 0, "minor": 31, "patch": 0}
"""asked for by a network that comes from no file; older engines do not know all kinds"""
BATCH_NORM = ("bn_means", "bn_stddivs", "bn_gammas", "bn_betas")


def file_path(config: Lc0Config, name: str) -> str:
    """Return the path in a weight file of a parameter by its name here."""
    for prefix in ("body.", "moves_left_head."):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    if name.startswith("shared."):
        return ".".join([part for part in (config.shared_embedding, name.removeprefix("shared.")) if part])
    group, _, rest = name.partition(".")
    apart = config.policies_apart if group == "policy_heads" else config.values_apart
    return name if apart else rest.partition(".")[2]


def paths(network: Lc0Network) -> dict[str, str]:
    """Return the path in a weight file of each parameter."""
    return {name: file_path(network.config, name) for name, _ in network.named_parameters()}


def load_network(path: str | Path, most_bytes: int = MOST_BYTES) -> Lc0Network:
    """Read a network from a weight file; it is in evaluation mode on the CPU."""
    return network_of(read_file(path, most_bytes))


def network_of(file: WeightFile) -> Lc0Network:
    """Make the network of a file, whose numbers are let go on the way."""
    config = config_of(file)
    with torch.device("meta"):
        network = Lc0Network(config)
    places = paths(network)
    check_sizes(file, network, places)
    for parent, module in network.named_modules():
        if isinstance(module, Convolution):
            place = places[f"{parent}.weights"].removesuffix(".weights")
            weights, biases = file.convolution(place, len(module.weights), release=True)
            put(module, "weights", weights)
            put(module, "biases", biases)
            continue
        for name, _ in list(module.named_parameters(recurse=False)):
            put(module, name, file.numbers(places[f"{parent}.{name}"], release=True))
    network.skeleton = file.net
    return laid_out(network).eval()


def laid_out(network: Lc0Network) -> Lc0Network:
    """Lay out convolutions with their channels last, which costs nothing and is up to twice as fast on a CPU."""
    layout: Any = {"memory_format": torch.channels_last}
    return network.to(**layout)


def put(module: nn.Module, name: str, values: np.ndarray) -> None:
    """Give a parameter its numbers, which it keeps without a copy."""
    shape = getattr(module, name).shape
    setattr(module, name, nn.Parameter(torch.from_numpy(values.reshape(shape))))


def check_sizes(file: WeightFile, network: Lc0Network, places: dict[str, str]) -> None:
    """Refuse a file in which a layer has another size than the rest of the network says."""
    for name, parameter in network.named_parameters():
        place, count = places[name], file.count(places[name])
        absent = count == 0 and place.endswith(".biases")
        if count != parameter.numel() and not absent:
            shape = " x ".join(map(str, parameter.shape))
            raise BadInput(
                f"{file.name}: {place} has {count:,} numbers; with the other layers of the network it should have "
                f"{shape}"
            )


# ---- fresh networks ------------------------------------------------------------------------------


@torch.no_grad()
def fill_fresh(network: Lc0Network, random: torch.Generator | None = None) -> None:
    """Fill a network with what it begins with: matrices at random by what they read, norms 1, the rest 0."""
    for name, parameter in network.named_parameters():
        if name.endswith(("gammas", "mult_gate")):
            parameter.fill_(1)
        elif parameter.dim() > 1 and not name.endswith("add_gate"):
            parameter.normal_(0, parameter[0].numel() ** -0.5, generator=random)
        else:
            parameter.zero_()


def fresh_network(config: Lc0Config, seed: int = 0) -> Lc0Network:
    """Make a network that has learned nothing."""
    network = Lc0Network(config)
    fill_fresh(network, torch.Generator().manual_seed(seed))
    return laid_out(network).eval()


# ---- writing -------------------------------------------------------------------------------------


def save_network(path: str | Path, network: Lc0Network, encoding: Encoding = Encoding.LINEAR16) -> None:
    """Write a network to a weight file, which ends in .pb.gz or .pb."""
    write_file(path, message_of(network, encoding))


def message_of(network: Lc0Network, encoding: Encoding = Encoding.LINEAR16) -> Message:
    """Return a network as the message of a weight file."""
    net = copy.deepcopy(network.skeleton) if network.skeleton is not None else new_message(network.config)
    places = paths(network)
    for name, parameter in network.named_parameters():
        parent, field = layer_place(net.need("weights"), places[name])
        before = parent.get(field)
        dims = tuple(parameter.shape) if before is None else before.get("dims", ())
        try:
            parent.values[field] = encoded(exact(parameter), encoding, dims)
        except BadInput as error:
            raise BadInput(f"{places[name]} cannot be written: {error}") from None
        if field == "biases":
            for part in BATCH_NORM:
                parent.values.pop(part, None)
    mark_encoding(net, encoding)
    return net


def exact(parameter: Tensor) -> np.ndarray:
    """Return a parameter as an array of single precision."""
    found: np.ndarray = parameter.detach().float().cpu().numpy()
    return found


def layer_place(message: Message, path: str) -> tuple[Message, str]:
    """Return the message that holds a layer, and its field there; what is missing on the way is made."""
    *parents, field = path.split(".")
    while parents:
        name = parents.pop(0)
        if not parents or not parents[0].isdigit():
            message = message.need(name)
            continue
        number = int(parents.pop(0))
        while len(message.get(name, [])) <= number:
            message.add(name)
        message = message.get(name)[number]
    return message, field


def new_message(config: Lc0Config) -> Message:
    """Make the message of a network that comes from no file: header and numbers of heads."""
    net = Message(NET, {"magic": MAGIC})
    net.need("min_version").values.update(LEAST_ENGINE)
    net.need("format").need("network_format").values.update(header_fields(config))
    weights = net.need("weights")
    if config.attention:
        weights.values["headcount"] = config.body.encoders[0].heads
    for name, head in config.policies.items():
        if head.encoders:
            place = weights.need("policy_heads").need(name) if config.policies_apart else weights
            place.values["pol_headcount"] = head.encoders[0].heads
    return net


def header_fields(config: Lc0Config) -> dict[str, int]:
    """Return the header that describes a network."""
    squeezed = any(config.body.squeezes)
    tower = Body.SE_HEADS if squeezed else Body.CLASSICAL_HEADS
    attention = Body.ATTENTION_MULTIHEAD if config.policies_apart and config.values_apart else Body.ATTENTION
    wdl = next(iter(config.values.values())).outputs == 3
    policy: Policy = next(iter(config.policies.values())).kind
    return {
        "input": config.input,
        "output": 2 if wdl else 1,
        "network": attention if config.attention else tower,
        "policy": policy,
        "value": Value.WDL if wdl else Value.CLASSICAL,
        "moves_left": int(config.moves_left is not None),
        "default_activation": DEFAULT_MISH if config.activation == Activation.MISH else DEFAULT_RELU,
        "smolgen_activation": config.smolgen_activation,
        "ffn_activation": config.ffn_activation,
        "input_embedding": config.body.embedding,
    }
