"""What flows through a network: the numbers after each of its layers."""

from __future__ import annotations

import numpy as np
import torch

from rookery.errors import BadInput
from rookery.nets.network import Network
from rookery.nets.residual import Perceptron, Residual

OBSERVATION = "observation"


@torch.inference_mode()
def activations(network: Network, observations: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a network of linear layers makes of observations [N, O], layer by layer, each [N, width] float32.

    The first is the observation itself. A residual network follows with its stem and its blocks, numbered from 1,
    a perceptron with its layers.
    """
    found, x = {OBSERVATION: np.asarray(observations, np.float32)}, torch.from_numpy(np.float32(observations))
    if isinstance(network, Residual):
        x = network.input_bn(network.input_fc(x)).relu()
        found["stem"] = x.numpy()
        for number, block in enumerate(network.blocks, start=1):
            x = block(x)
            found[f"block {number}"] = x.numpy()
    elif isinstance(network, Perceptron):
        for number, layer in enumerate(network.layers(), start=1):
            x = layer(x).relu()
            found[f"layer {number}"] = x.numpy()
    else:
        raise BadInput(f"layers are read of perceptrons and residual perceptrons, not of a {network.config.kind}")
    return found
