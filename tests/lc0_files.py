"""Random networks of every kind that Lc0 has, as the messages of weight files: what the tests read and run."""

from __future__ import annotations

import numpy as np

from rookery.nets.lc0.numbers import encoded
from rookery.nets.lc0.schema import NET, Activation, Embedding, Encoding, Policy, Value
from rookery.nets.lc0.wire import Message

RELU, MISH = 0, 1

KINDS = {
    "plain tower, dense policy": {"policy": Policy.CLASSICAL, "value": Value.CLASSICAL, "network": 3},
    "tower of an old header": {"policy": Policy.CLASSICAL, "value": Value.CLASSICAL, "network": 1, "norm": True},
    "tower without header": {"policy": Policy.CLASSICAL, "value": Value.CLASSICAL, "network": None, "norm": True},
    "squeezed tower of an old header": {"policy": Policy.CLASSICAL, "value": Value.CLASSICAL, "network": 2, "se": True},
    "squeezed tower, convolution policy": {
        "policy": Policy.CONVOLUTION, "value": Value.WDL, "network": 4, "se": True, "moves_left": True,
    },
    "squeezed tower with batch norm": {
        "policy": Policy.CONVOLUTION, "value": Value.WDL, "network": 4, "se": "some", "norm": True, "moves_left": True,
    },
    "mish tower, attention policy": {
        "policy": Policy.ATTENTION, "value": Value.WDL, "network": 4, "se": True, "default": MISH, "moves_left": True,
    },
    "tower, attention policy with encoders": {
        "policy": Policy.ATTENTION, "value": Value.WDL, "network": 3, "policy_encoders": 2, "default": MISH,
    },
    "attention, map": {"policy": Policy.ATTENTION, "value": Value.WDL, "network": 6, "moves_left": True},
    "attention, scalar value, convolutionless": {"policy": Policy.ATTENTION, "value": Value.CLASSICAL, "network": 6},
    "attention, old header with smolgen": {
        "policy": Policy.ATTENTION, "value": Value.WDL, "network": 4, "attention": True, "smolgen": True,
    },
    "attention, policy encoders": {
        "policy": Policy.ATTENTION, "value": Value.WDL, "network": 6, "policy_encoders": 1, "default": MISH,
        "ffn": Activation.SELU, "gates": True,
    },
    "attention, dense, several heads": {
        "policy": Policy.ATTENTION, "value": Value.WDL, "network": 7, "embedding": Embedding.PE_DENSE, "smolgen": True,
        "gates": True, "default": MISH, "smolgen_activation": Activation.SWISH, "moves_left": True, "apart": True,
    },
    "attention, dense, shared embedding": {
        "policy": Policy.ATTENTION, "value": Value.WDL, "network": 134, "embedding": Embedding.PE_DENSE,
        "smolgen": True, "gates": True, "apart": True, "shared": "group", "ffn": Activation.TANH,
    },
    "attention, heads found under an older header": {
        "policy": Policy.ATTENTION, "value": Value.WDL, "network": 6, "embedding": Embedding.PE_DENSE, "apart": True,
        "shared": "top", "ffn": Activation.SIGMOID, "omit_embedding": True,
    },
}  # fmt: skip
"""what each kind has beyond the usual; see `random_net`"""
SMALL = {"filters": 8, "blocks": 2, "width": 16, "layers": 2, "heads": 2, "model": 16, "hidden": 24, "dense": 4}
BT4 = {"width": 1024, "layers": 15, "heads": 32, "model": 1024, "hidden": 1536, "dense": 512}


class Filler:
    """Random layers of one encoding."""

    def __init__(self, seed: int, encoding: Encoding):
        self.rng, self.encoding = np.random.default_rng(seed), encoding

    def layer(self, *shape: int, mean: float = 0.0, spread: float | None = None) -> Message:
        """Fill a layer; a matrix so that what it returns is about as large as what it reads."""
        size = int(np.prod(shape))
        spread = (size // shape[0]) ** -0.5 if spread is None else spread
        values = self.rng.standard_normal(size, np.float32) * np.float32(spread) + np.float32(mean)
        return encoded(values, self.encoding)

    def dense(self, into: Message, weights: str, biases: str, outputs: int, inputs: int) -> None:
        into.values[weights] = self.layer(outputs, inputs)
        into.values[biases] = self.layer(outputs, spread=0.2)

    def norm(self, into: Message, name: str, size: int) -> None:
        into.values[f"{name}_gammas"] = self.layer(size, mean=1.0, spread=0.2)
        into.values[f"{name}_betas"] = self.layer(size, spread=0.2)

    def convolution(self, into: Message, inputs: int, outputs: int, kernel: int, norm: bool) -> None:
        into.values["weights"] = self.layer(outputs, inputs, kernel, kernel)
        if not norm:
            into.values["biases"] = self.layer(outputs, spread=0.2)
            return
        into.values["bn_means"] = self.layer(outputs, spread=0.3)
        variances = self.rng.uniform(0.2, 2.0, outputs)
        into.values["bn_stddivs"] = encoded(variances, self.encoding)
        if self.rng.random() < 0.7:
            into.values["biases"] = self.layer(outputs, spread=0.2)
        if self.rng.random() < 0.7:
            into.values["bn_gammas"] = self.layer(outputs, mean=1.0, spread=0.2)
            into.values["bn_betas"] = self.layer(outputs, spread=0.2)

    def encoder(self, into: Message, width: int, sizes: dict[str, int], smolgen: dict[str, int] | None) -> None:
        mha, model = into.need("mha"), sizes["model"]
        for letter in "qkv":
            self.dense(mha, f"{letter}_w", f"{letter}_b", model, width)
        self.dense(mha, "dense_w", "dense_b", width, model)
        self.norm(into, "ln1", width)
        self.feed_forward(into.need("ffn"), width, sizes["hidden"])
        self.norm(into, "ln2", width)
        if smolgen:
            made, outputs = mha.need("smolgen"), sizes["heads"] * smolgen["size"]
            made.values["compress"] = self.layer(smolgen["channels"], width)
            self.dense(made, "dense1_w", "dense1_b", smolgen["hidden"], 64 * smolgen["channels"])
            self.norm(made, "ln1", smolgen["hidden"])
            self.dense(made, "dense2_w", "dense2_b", outputs, smolgen["hidden"])
            self.norm(made, "ln2", outputs)

    def feed_forward(self, into: Message, width: int, hidden: int) -> None:
        self.dense(into, "dense1_w", "dense1_b", hidden, width)
        self.dense(into, "dense2_w", "dense2_b", width, hidden)


def random_net(
    kind: str, seed: int = 0, encoding: Encoding = Encoding.FLOAT32, sizes: dict[str, int] | None = None,
    input_format: int = 1,
) -> Message:  # fmt: skip
    """Make a network of a kind; sizes beyond the usual small ones may be given."""
    facts, sizes = KINDS[kind], SMALL | (sizes or {})
    fill = Filler(seed, encoding)
    net = Message(NET, {"magic": 0x1C0, "license": "none"})
    net.need("min_version").values.update(major=0, minor=33)
    net.need("format").values["weights_encoding"] = 1
    if facts["network"] is not None:
        net.need("format").values["network_format"] = header(facts, input_format)
    weights = net.need("weights")
    attention = facts["network"] in (6, 7, 134) or facts.get("attention", False)
    if attention:
        attention_body(fill, weights, facts, sizes)
    else:
        tower(fill, weights, facts, sizes)
    heads(fill, weights, facts, sizes, attention)
    net.need("training_params").values.update(training_steps=1000 + seed, lc0_params="random")
    return net


def header(facts: dict, input_format: int) -> Message:
    made = NET.named("format").schema.named("network_format").schema
    fields = {
        "input": input_format, "output": 2 if facts["value"] == Value.WDL else 1, "network": facts["network"],
        "policy": int(facts["policy"]), "value": int(facts["value"]), "moves_left": int(facts.get("moves_left", False)),
        "default_activation": facts.get("default", RELU),
        "smolgen_activation": int(facts.get("smolgen_activation", 0)), "ffn_activation": int(facts.get("ffn", 0)),
    }  # fmt: skip
    if "embedding" in facts and not facts.get("omit_embedding"):
        fields["input_embedding"] = int(facts["embedding"])
    if facts["network"] in (1, 2):
        del fields["policy"], fields["value"]
    return Message(made, fields)


def tower(fill: Filler, weights: Message, facts: dict, sizes: dict[str, int]) -> None:
    filters, norm = sizes["filters"], facts.get("norm", False)
    fill.convolution(weights.need("input"), 112, filters, 3, norm)
    for number in range(sizes["blocks"]):
        block = weights.add("residual")
        fill.convolution(block.need("conv1"), filters, filters, 3, norm)
        fill.convolution(block.need("conv2"), filters, filters, 3, norm)
        if facts.get("se") is True or (facts.get("se") == "some" and number % 2 == 0):
            fill.dense(block.need("se"), "w1", "b1", 4, filters)
            fill.dense(block.need("se"), "w2", "b2", 2 * filters, 4)


def attention_body(fill: Filler, weights: Message, facts: dict, sizes: dict[str, int]) -> None:
    width, dense = sizes["width"], facts.get("embedding") == Embedding.PE_DENSE
    large = width >= 512
    smolgen = {"channels": 32, "hidden": 256, "size": 256} if large else {"channels": 3, "hidden": 12, "size": 8}
    smolgen = smolgen if facts.get("smolgen") else None
    appended = sizes["dense"] if dense else 64
    if dense:
        fill.dense(weights, "ip_emb_preproc_w", "ip_emb_preproc_b", 64 * sizes["dense"], 64 * 12)
        fill.norm(weights, "ip_emb_ln", width)
        fill.feed_forward(weights.need("ip_emb_ffn"), width, sizes["hidden"])
        fill.norm(weights, "ip_emb_ffn_ln", width)
    fill.dense(weights, "ip_emb_w", "ip_emb_b", width, 112 + appended)
    if facts.get("gates"):
        weights.values["ip_mult_gate"] = fill.layer(width, 64, mean=1.0, spread=0.2)
        weights.values["ip_add_gate"] = fill.layer(width, 64, spread=0.2)
    if smolgen:
        weights.values["smolgen_w"] = fill.layer(4096, smolgen["size"])
    weights.values["headcount"] = sizes["heads"]
    for _ in range(sizes["layers"]):
        fill.encoder(weights.add("encoder"), width, sizes, smolgen)


def heads(fill: Filler, weights: Message, facts: dict, sizes: dict[str, int], attention: bool) -> None:
    channels = sizes["width"] if attention else sizes["filters"]
    large = channels >= 512
    if facts.get("apart"):
        group, values = weights.need("policy_heads"), weights.need("value_heads")
        policy_width = 1024 if large else 12
        if facts.get("shared"):
            place = group if facts["shared"] == "group" else weights
            fill.dense(place, "ip_pol_w", "ip_pol_b", policy_width, channels)
        for name in ("vanilla", "optimistic_st", "soft"):
            policy_head(fill, group.need(name), facts, sizes, channels, own=not facts.get("shared") or name == "soft")
        for name in ("winner", "q"):
            value_head(fill, values.need(name), facts, channels, attention)
    else:
        policy_head(fill, weights, facts, sizes, channels, own=True)
        value_head(fill, weights, facts, channels, attention)
    if facts.get("moves_left"):
        squares_head(
            fill, weights, "mov", "moves_left", facts, channels, attention, (32, 128, 1) if large else (3, 10, 1)
        )


def policy_head(fill: Filler, into: Message, facts: dict, sizes: dict[str, int], channels: int, own: bool) -> None:
    norm = facts.get("norm", False)
    if facts["policy"] == Policy.CLASSICAL:
        fill.convolution(into.need("policy"), channels, 5, 1, norm)
        fill.dense(into, "ip_pol_w", "ip_pol_b", 1858, 5 * 64)
    elif facts["policy"] == Policy.CONVOLUTION:
        fill.convolution(into.need("policy1"), channels, channels, 3, norm)
        fill.convolution(into.need("policy"), channels, 80, 3, False)
    else:
        width, model = (1024, 1024) if channels >= 512 else (12, 20)
        if own:
            fill.dense(into, "ip_pol_w", "ip_pol_b", width, channels)
        for _ in range(facts.get("policy_encoders", 0)):
            into.values["pol_headcount"] = 4
            fill.encoder(into.add("pol_encoder"), width, {"model": 8, "heads": 4, "hidden": 9}, None)
        fill.dense(into, "ip2_pol_w", "ip2_pol_b", model, width)
        fill.dense(into, "ip3_pol_w", "ip3_pol_b", model, width)
        into.values["ip4_pol_w"] = fill.layer(4, model)


def value_head(fill: Filler, into: Message, facts: dict, channels: int, attention: bool) -> None:
    outputs = 3 if facts["value"] == Value.WDL else 1
    shape = (128, 128, outputs) if channels >= 512 else (4, 12, outputs)
    squares_head(fill, into, "val", "value", facts, channels, attention, shape)


def squares_head(
    fill: Filler, into: Message, kind: str, convolution: str, facts: dict, channels: int, attention: bool,
    shape: tuple[int, int, int],
) -> None:  # fmt: skip
    width, hidden, outputs = shape
    if attention:
        fill.dense(into, f"ip_{kind}_w", f"ip_{kind}_b", width, channels)
    else:
        fill.convolution(into.need(convolution), channels, width, 1, facts.get("norm", False))
    fill.dense(into, f"ip1_{kind}_w", f"ip1_{kind}_b", hidden, width * 64)
    fill.dense(into, f"ip2_{kind}_w", f"ip2_{kind}_b", outputs, hidden)
