"""Weights without our configuration, recognised by their names and shapes.

The original Pylos project saved, from V5 on, `model_config` beside the weights; before that it saved nothing about
them, and sometimes the bare weights. A perceptron (V1 to V3) is told from a residual network (V4 on) by its names. All
sizes follow from the shapes; a `model_config` that contradicts them is an error.

The original Domineering project saved nothing about its transformers, and the matrices of each head one by one, as
layers.N.attn.W_Q.H; `translated` lays them behind one another as ours are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from rookery.errors import BadInput
from rookery.nets.configs import NetworkConfig, PerceptronConfig, ResidualConfig, TransformerConfig, read_config

ACTIONS = 303
OBSERVATIONS = {32: "basic", 92: "rich"}  # numbers of an observation -> its kind
GAME = "pylos:removal=greedy"
SIZES = {"hidden": "width", "num_blocks": "blocks", "value_hidden": "value_hidden", "policy_hidden": "policy_hidden"}
"""what the original calls a size -> what we call it"""

ONE_HEAD = re.compile(r"(layers\.\d+\.attn\.(W_[QKVO]))\.(\d+)", re.ASCII)
RENAMED = {"policy_head.mlp.0.": "policy_head.W_in.", "policy_head.mlp.2.": "policy_head.W_out."}
TABLES = {"positions", "policy_head.sq1_indices", "policy_head.sq2_indices"}
"""what the original's transformers keep beside their weights"""


def recognised(weights: Mapping[str, Tensor], content: Mapping[str, Any]) -> tuple[NetworkConfig, dict[str, Any]]:
    """Tell what network weights belong to, and what is known about it; `content` is all that their file holds."""
    if "input_fc.weight" in weights:
        config: PerceptronConfig | ResidualConfig = residual_shape(weights)
    elif "fc1.weight" in weights and "policy_head.weight" in weights:
        config = perceptron_shape(weights)
    elif "state_embed.weight" in weights:
        transformer = transformer_shape(weights)
        return transformer, transformer_facts(transformer)
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


def transformer_shape(weights: Mapping[str, Tensor]) -> TransformerConfig:
    """Read the sizes of a transformer, whose board must be a square one."""
    layers = sum(name.endswith(".attn.W_Q") for name in weights)
    queries = weights.get("layers.0.attn.W_Q")
    if queries is None or queries.ndim != 3:
        raise BadInput("the weights 'layers.0.attn.W_Q' are absent, or no matrices of heads")
    (states, width), (tokens, _) = shape_of(weights, "state_embed"), shape_of(weights, "pos_embed")
    side = math.isqrt(max(tokens - 1, 0))
    if side * side != tokens - 1:
        raise BadInput(f"its network reads {tokens} tokens; a square board and one more token were expected")
    sizes = {"rows": side, "cols": side, "width": width, "layers": layers, "side_token": states == 4, "states": 3}
    sizes |= {"heads": len(queries), "head_width": queries.shape[1], "mlp": shape_of(weights, "layers.0.mlp.W_in")[0]}
    heads = {"sectors": shape_of(weights, "sector_head")[0], "policy_hidden": shape_of(weights, "policy_head.W_in")[0]}
    config = read_config({"kind": "transformer"} | sizes | heads, "weights")
    assert isinstance(config, TransformerConfig)
    return config


def transformer_facts(config: TransformerConfig) -> dict[str, Any]:
    """Tell what is known of a transformer by its shape alone."""
    game = "domineering" if config.rows == 16 else f"domineering:rows={config.rows},cols={config.cols}"
    return {"game": game, "observation": "tokens_mover" if config.side_token else "tokens"}


def translated(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give the weights of the original's transformers our names and shapes; leave others as they are."""
    if not any(ONE_HEAD.fullmatch(name) for name in weights):
        return dict(weights)
    found: dict[str, Tensor] = {}
    heads: dict[str, dict[int, Tensor]] = {}
    for name, tensor in weights.items():
        one = ONE_HEAD.fullmatch(name)
        if one:
            heads.setdefault(one[1], {})[int(one[3])] = tensor if one[2] == "W_O" else tensor.mT
        elif name not in TABLES:
            first = next((start for start in RENAMED if name.startswith(start)), "")
            found[RENAMED.get(first, "") + name.removeprefix(first)] = tensor
    return found | {name: stacked(name, matrices) for name, matrices in heads.items()}


def stacked(name: str, matrices: Mapping[int, Tensor]) -> Tensor:
    """Lay the matrices of all heads behind one another."""
    if sorted(matrices) != list(range(len(matrices))):
        raise BadInput(f"the weights '{name}.{len(matrices) - 1}' are absent, or heads are not numbered from 0")
    if len({tensor.shape for tensor in matrices.values()}) != 1:
        raise BadInput(f"the weights {name!r} of several heads have several shapes")
    return torch.stack([matrices[head] for head in range(len(matrices))])


def check_agreement(config: PerceptronConfig | ResidualConfig, said: Any) -> None:
    """Refuse a `model_config` that contradicts the weights; keys it does not have are not looked at."""
    if said is None:
        return
    if not isinstance(said, Mapping):
        raise BadInput(f"its model_config should be a dictionary, not {said!r}")
    for name, ours in SIZES.items():
        size = getattr(config, ours, None)
        if name in said and (not isinstance(said[name], int) or said[name] != size):
            raise BadInput(f"its model_config says {name} {said[name]!r}, but its weights have {size}")
    rich, told = OBSERVATIONS.get(config.inputs) == "rich", said.get("rich_obs")
    if config.inputs in OBSERVATIONS and "rich_obs" in said and (not isinstance(told, int) or bool(told) != rich):
        raise BadInput(f"its model_config says rich_obs {said['rich_obs']!r}, but it reads {config.inputs} numbers")
