"""Weights without our configuration, recognised by their names and shapes.

The original Pylos project saved, from V5 on, `model_config` beside the weights; before that it saved nothing about
them, and sometimes the bare weights. A perceptron (V1 to V3) is told from a residual network (V4 on) by its names. All
sizes follow from the shapes; a `model_config` that contradicts them is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from rookery.errors import BadInput
from rookery.nets.configs import NetworkConfig, PerceptronConfig, ResidualConfig, read_config

ACTIONS = 303
OBSERVATIONS = {32: "basic", 92: "rich"}  # numbers of an observation -> its kind
GAME = "pylos:removal=greedy"
SIZES = {"hidden": "width", "num_blocks": "blocks", "value_hidden": "value_hidden", "policy_hidden": "policy_hidden"}
"""what the original calls a size -> what we call it"""


def recognised(weights: Mapping[str, Tensor], content: Mapping[str, Any]) -> tuple[NetworkConfig, dict[str, Any]]:
    """Tell what network weights belong to, and what is known about it; `content` is all that their file holds."""
    if "input_fc.weight" in weights:
        config: PerceptronConfig | ResidualConfig = residual_shape(weights)
    elif "fc1.weight" in weights and "policy_head.weight" in weights:
        config = perceptron_shape(weights)
    else:
        some = ", ".join(list(weights)[:4])
        raise BadInput(f"it says nothing about its network, and weights named {some} belong to none that is known")
    check_agreement(config, content.get("model_config"))
    step = content.get("step", 0)
    facts: dict[str, Any] = {"step": step} if isinstance(step, int) and not isinstance(step, bool) else {}
    if config.actions == ACTIONS and config.inputs in OBSERVATIONS:
        facts |= {"game": GAME, "observation": OBSERVATIONS[config.inputs]}
    return config, facts


def shape_of(weights: Mapping[str, Tensor], name: str) -> tuple[int, int]:
    """Return outputs and inputs of a linear layer."""
    tensor = weights.get(f"{name}.weight")
    if tensor is None or tensor.ndim != 2:
        what = "are absent" if tensor is None else f"have {tensor.ndim} dimensions, not 2"
        raise BadInput(f"the weights '{name}.weight' {what}")
    return int(tensor.shape[0]), int(tensor.shape[1])


def perceptron_shape(weights: Mapping[str, Tensor]) -> PerceptronConfig:
    """Read the sizes of a perceptron."""
    layers = [shape_of(weights, f"fc{n}") for n in range(1, len(weights) + 1) if f"fc{n}.weight" in weights]
    actions, _ = shape_of(weights, "policy_head")
    sizes = {"inputs": layers[0][1], "actions": actions, "hidden": tuple(outputs for outputs, _ in layers)}
    config = read_config({"kind": "perceptron"} | sizes, "weights")
    assert isinstance(config, PerceptronConfig)
    return config


def residual_shape(weights: Mapping[str, Tensor]) -> ResidualConfig:
    """Read the sizes of a residual network."""
    width, inputs = shape_of(weights, "input_fc")
    blocks = sum(name.startswith("blocks.") and name.endswith(".fc1.weight") for name in weights)
    sizes = {"inputs": inputs, "width": width, "blocks": blocks, "actions": shape_of(weights, "policy_fc2")[0]}
    heads = {f"{head}_hidden": shape_of(weights, f"{head}_fc1")[0] for head in ("value", "policy")}
    config = read_config({"kind": "residual"} | sizes | heads, "weights")
    assert isinstance(config, ResidualConfig)
    return config


def check_agreement(config: PerceptronConfig | ResidualConfig, said: Any) -> None:
    """Refuse a `model_config` that contradicts the weights; keys it does not have are not looked at."""
    if said is None:
        return
    if not isinstance(said, Mapping):
        raise BadInput(f"its model_config should be a dictionary, not {said!r}")
    for name, ours in SIZES.items():
        size = getattr(config, ours, None)
        if name in said and said[name] != size:
            raise BadInput(f"its model_config says {name} {said[name]!r}, but its weights have {size}")
    rich = OBSERVATIONS.get(config.inputs) == "rich"
    if config.inputs in OBSERVATIONS and "rich_obs" in said and bool(said["rich_obs"]) != rich:
        raise BadInput(f"its model_config says rich_obs {said['rich_obs']!r}, but it reads {config.inputs} numbers")
