"""Networks of Lc0's kind that are taught here: an attention body with a policy and the chances to win, draw and lose.

    network = build(AttentionBodyConfig(width=64, layers=3), seed=1)
    save_weights("network.pb.gz", network, steps=20_000)            # what the engine reads
    tuned = network_from("network.pb.gz")                           # and back

The modules are those of weight files. One thing is different: plane 109 counts plies up to 100, far more than any other
plane holds, and a step that suits the others would be too large for its weights. So it is read here in parts of 128,
and the weights of that plane are 128 times those in a file. A power of two costs no bit on the way.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.configs import AttentionBodyConfig, read_config
from rookery.nets.lc0.config import (
    PLANES,
    BodyConfig,
    EncoderConfig,
    Lc0Config,
    PolicyConfig,
    SmolgenConfig,
    ValueConfig,
)
from rookery.nets.lc0.files import write_file
from rookery.nets.lc0.network import Lc0Network, judged
from rookery.nets.lc0.schema import Activation, Embedding, Encoding, Input, Policy
from rookery.nets.lc0.stored import fill_fresh, load_network, message_of
from rookery.nets.network import Answers, Network, Taught
from rookery.nets.transformer import SILENT

CLOCK, CLOCK_PART = 109, 128.0
"""the plane that counts plies without capture or pawn move, and what it is divided by"""
POLICY, VALUE = "vanilla", "winner"
"""the heads that are taught, by their names in files with several"""


class AttentionBodyNetwork(Network):
    """A network of Lc0's kind that can be taught."""

    config: AttentionBodyConfig

    def __init__(self, config: AttentionBodyConfig):
        super().__init__()
        self.config = config
        self.inner = Lc0Network(lc0_config(config))
        fill_fresh(self.inner)
        self.register_buffer("parts", torch.from_numpy(plane_parts()), persistent=False)

    def taught(self, observations: Tensor) -> Taught:
        """Judge N positions by their planes [N, 7168]."""
        assert isinstance(self.parts, Tensor)
        x = self.inner.body(observations.reshape(-1, PLANES, 8, 8) * self.parts, SILENT)
        logits: Tensor = self.inner.policy_heads[POLICY](x, None, SILENT)
        chances: Tensor = self.inner.value_heads[VALUE](x, SILENT)
        return Taught(logits, judged(chances.float())[1], chances)

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions."""
        found = self.taught(observations)
        return found.logits, found.values


def plane_parts() -> np.ndarray:
    """Return what each plane is multiplied by, [112, 1, 1]."""
    parts = np.ones((PLANES, 1, 1), np.float32)
    parts[CLOCK] = 1 / CLOCK_PART
    return parts


def lc0_config(config: AttentionBodyConfig) -> Lc0Config:
    """Say what a network is made of as a weight file would."""
    smolgen = None
    if config.smolgen_channels:
        smolgen = SmolgenConfig(config.smolgen_channels, config.smolgen_hidden, config.smolgen_size)
    encoder = EncoderConfig(config.width, config.model or config.width, config.heads, config.hidden, smolgen)
    dense = config.embedding == "dense"
    body = BodyConfig(
        embedding=Embedding.PE_DENSE if dense else Embedding.PE_MAP, width=config.width,
        dense=config.dense if dense else 0, embedding_hidden=config.embedding_hidden if dense else 0,
        multiplied=config.gates, added=config.gates, encoders=(encoder,) * config.layers,
    )  # fmt: skip
    return Lc0Config(
        Input.CLASSICAL, body,
        {POLICY: PolicyConfig(Policy.ATTENTION, width=config.policy_width, model=config.policy_model)},
        {VALUE: ValueConfig(config.value_channels, config.value_hidden, 3)}, None,
        Activation[config.activation.upper()], Activation[config.ffn_activation.upper()],
        Activation[config.smolgen_activation.upper()],
        # A dense embedding is known to engines as part of files with several heads.
        policies_apart=dense, values_apart=dense,
    )  # fmt: skip


@torch.no_grad()
def clock_scaled(network: Lc0Network, factor: float) -> None:
    """Multiply the weights of the plane that counts plies."""
    weights = network.body.ip_emb_w
    assert isinstance(weights, nn.Parameter)
    weights[:, CLOCK] *= factor


# ---- files ---------------------------------------------------------------------------------------


def as_lc0(network: Network) -> Lc0Network:
    """Copy a network as the weight file would hold it; refuse one of another kind."""
    if not isinstance(network, AttentionBodyNetwork):
        raise BadInput(
            f"a network of kind {network.config.kind!r} cannot be a weight file of Lc0's; one of kind 'lc0' can"
        )
    copied = Lc0Network(network.inner.config)
    copied.load_state_dict(network.inner.state_dict())
    clock_scaled(copied, 1 / CLOCK_PART)
    return copied.eval()


def save_weights(path: str | Path, network: Network, encoding: Encoding = Encoding.LINEAR16, steps: int = 0) -> None:
    """Write a network that was taught here as a weight file; `steps` is what the file says of its training."""
    message = message_of(as_lc0(network), encoding)
    message.need("training_params").values["training_steps"] = steps
    write_file(path, message)


def network_from(path: str | Path) -> AttentionBodyNetwork:
    """Read a weight file as a network that can be taught on; refuse one that is of another kind, saying why.

    Heads that are not taught are left behind: after the first steps they would read a body that they do not know.
    """
    found = load_network(path)
    config = config_from(found.config, str(path))
    network = AttentionBodyNetwork(config)
    weights = found.state_dict()
    network.inner.load_state_dict({name: weights[source] for name, source in sources(network.inner, found).items()})
    clock_scaled(network.inner, CLOCK_PART)
    return network.eval()


def sources(network: Lc0Network, found: Lc0Network) -> dict[str, str]:
    """Say where each parameter of a network stands in one from a file, whose heads may share an embedding."""
    known = found.state_dict().keys()
    places = {name: name for name in network.state_dict()}
    for name in places:
        if name not in known:
            places[name] = f"shared.{name.rpartition('.')[2]}"
    return places


def config_from(found: Lc0Config, name: str) -> AttentionBodyConfig:
    """Say what a network from a file is made of, in words of one that can be taught; refuse what has none."""
    if why := untaught(found):
        raise BadInput(f"{name} cannot be taught on: {why}")
    encoder, policy, value = found.body.encoders[0], found.policies[POLICY], found.values[VALUE]
    dense = found.body.embedding == Embedding.PE_DENSE
    sizes = {
        "kind": "lc0", "width": found.body.width, "layers": len(found.body.encoders), "heads": encoder.heads,
        "model": 0 if encoder.model == encoder.width else encoder.model, "hidden": encoder.hidden,
        "embedding": "dense" if dense else "map", "gates": found.body.multiplied,
        "policy_width": policy.width, "policy_model": policy.model,
        "value_channels": value.channels, "value_hidden": value.hidden, "smolgen_channels": 0,
        "activation": found.activation.name.lower(), "ffn_activation": found.ffn_activation.name.lower(),
    }  # fmt: skip
    if dense:
        sizes |= {"dense": found.body.dense, "embedding_hidden": found.body.embedding_hidden}
    if smolgen := encoder.smolgen:
        sizes |= {
            "smolgen_channels": smolgen.channels, "smolgen_hidden": smolgen.hidden, "smolgen_size": smolgen.size,
            "smolgen_activation": found.smolgen_activation.name.lower(),
        }  # fmt: skip
    config = read_config(sizes, name)
    assert isinstance(config, AttentionBodyConfig)
    return config


def untaught(found: Lc0Config) -> str:
    """Say why a network from a file cannot be taught on; nothing if it can."""
    if not found.attention:
        return "its body is a residual tower; attention bodies are taught"
    if found.input != Input.CLASSICAL:
        return f"it reads planes of format {int(found.input)}; those of format 1 are taught"
    body = found.body
    if body.multiplied != body.added:
        return "it has one of the two gates behind its embedding; both are taught, or none"
    if len(set(body.encoders)) > 1:
        return "its layers differ in size"
    if POLICY not in found.policies or VALUE not in found.values:
        return f"it has no policy head {POLICY!r} or no value head {VALUE!r}, which are taught"
    if found.policies[POLICY].kind != Policy.ATTENTION:
        return f"its policy is of kind {found.policies[POLICY].kind.name}; an attention policy is taught"
    if found.policies[POLICY].encoders:
        return "its policy head has layers of its own, which are not taught"
    if found.values[VALUE].outputs != 3:
        return "its value is a single number; chances to win, draw and lose are taught"
    return ""
