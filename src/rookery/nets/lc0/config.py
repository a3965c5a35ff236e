"""What an Lc0 network is made of: every size, read from a weight file or given by a person.

Nothing is fixed here but what the format fixes: sizes follow from the lengths of layers, as the engine has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from rookery.errors import BadInput
from rookery.nets.lc0.files import WeightFile
from rookery.nets.lc0.schema import POLICY_NAMES, VALUE_NAMES, Activation, Body, Embedding, Input, Policy, Value

PLANES, SQUARES, MOVES = 112, 64, 1858
PIECE_PLANES = 12
"""the men of the present board, which a dense embedding reads"""


@dataclass(frozen=True)
class SmolgenConfig:
    """How a layer makes the addition to its attention."""

    channels: int
    """of each square, compressed"""
    hidden: int
    size: int
    """of what each head hands to the common matrix"""


@dataclass(frozen=True)
class EncoderConfig:
    """A layer of attention and hidden units."""

    width: int
    model: int
    """of queries, keys and values, all heads together"""
    heads: int
    hidden: int
    smolgen: SmolgenConfig | None = None


@dataclass(frozen=True)
class PolicyConfig:
    """A policy head."""

    kind: Policy
    channels: int = 0
    """of the convolution that a classical or convolution head begins with"""
    planes: int = 0
    """of moves, in a convolution head: 73, or more of which the rest is not used"""
    width: int = 0
    """of the embedding, in an attention head"""
    own_embedding: bool = True
    """whether the head has its own embedding; heads without share one"""
    model: int = 0
    """of queries and keys, in an attention head"""
    encoders: tuple[EncoderConfig, ...] = ()


@dataclass(frozen=True)
class ValueConfig:
    """A value head, or that of the moves left."""

    channels: int
    """of each square: a convolution on a tower, an embedding on an attention body"""
    hidden: int
    outputs: int
    """3: chances to win, draw and lose; 1: one value"""


@dataclass(frozen=True)
class BodyConfig:
    """A tower, if it has filters, or an attention body."""

    filters: int = 0
    squeezes: tuple[int, ...] = ()
    """size of the squeeze-and-excitation unit of each block; 0 where there is none"""
    embedding: Embedding = Embedding.NONE
    width: int = 0
    dense: int = 0
    """what a dense embedding appends to each square"""
    embedding_hidden: int = 0
    """hidden units behind a dense embedding"""
    multiplied: bool = False
    added: bool = False
    """the two gates behind the embedding"""
    encoders: tuple[EncoderConfig, ...] = ()

    @property
    def channels(self) -> int:
        """What the heads read from each square."""
        return self.filters or self.width


@dataclass(frozen=True)
class Lc0Config:
    """A whole network."""

    input: Input
    body: BodyConfig
    policies: dict[str, PolicyConfig]
    values: dict[str, ValueConfig]
    moves_left: ValueConfig | None
    activation: Activation
    ffn_activation: Activation
    smolgen_activation: Activation
    policies_apart: bool = False
    """whether policy heads stand in a message of their own, as in files with several"""
    values_apart: bool = False
    shared_embedding: str | None = None
    """where the embedding of heads without their own stands: policy_heads, or "" for beside the body"""

    @property
    def attention(self) -> bool:
        """Whether the body is made of attention."""
        return self.body.filters == 0


# ---- from a file ---------------------------------------------------------------------------------


def config_of(file: WeightFile) -> Lc0Config:
    """Read off a file what its network is made of; refuse what is not supported, saying why."""
    header = file.header
    check_supported(file)
    attention = header.body in (Body.ATTENTION, Body.ATTENTION_MULTIHEAD)
    body = attention_body(file) if attention else tower_body(file)
    policies_apart = file.weights.get("policy_heads") is not None
    values_apart = file.weights.get("value_heads") is not None
    policies = {
        name: policy_config(file, place, body)
        for name, place in places(file, "policy_heads", POLICY_NAMES, "vanilla").items()
    }
    values = {
        name: value_config(file, place, attention)
        for name, place in places(file, "value_heads", VALUE_NAMES, "winner").items()
    }
    return Lc0Config(
        header.input, body, policies, values, moves_left_config(file, attention), header.activation,
        header.ffn_activation, header.smolgen_activation, policies_apart, values_apart, shared_place(file, policies),
    )  # fmt: skip


def check_supported(file: WeightFile) -> None:
    """Refuse networks that are known but cannot be run, and headers that leave something open."""
    header, name = file.header, file.name
    if header.body == Body.ONNX:
        raise BadInput(f"{name} is an ONNX network (NETWORK_ONNX), not layers; run its model with onnxruntime")
    for what, value in (("input", header.input), ("network", header.body), ("policy", header.policy)):
        if value == 0:
            raise BadInput(f"{name}: the {what} format in its header is unknown (0); the file is incomplete")
    if header.value not in (Value.CLASSICAL, Value.WDL):
        raise BadInput(f"{name}: a value head of kind {header.value.name} is not supported, by Lc0 neither")
    for path in file.layers:
        if ".mha.rpe_" in f".{path}" and file.has(path):
            raise BadInput(f"{name}: {path}: relative position encodings are not supported, by Lc0 neither")
    for what, activation in (("ffn", header.ffn_activation), ("smolgen", header.smolgen_activation)):
        if activation == Activation.SOFTMAX:
            raise BadInput(f"{name}: the {what} activation is SOFTMAX, which no layer can be followed by")


def tower_body(file: WeightFile) -> BodyConfig:
    """Read off the sizes of a residual tower."""
    filters = quotient(file, "input.weights", PLANES * 9)
    blocks = file.weights.get("residual", [])
    squeezes = []
    for number, block in enumerate(blocks):
        place = f"residual.{number}.se"
        squeezes.append(need(file, f"{place}.b1") if block.get("se") is not None else 0)
    return BodyConfig(filters=filters, squeezes=tuple(squeezes))


def attention_body(file: WeightFile) -> BodyConfig:
    """Read off the sizes of an attention body."""
    embedding = file.header.embedding
    if embedding == Embedding.NONE:
        raise BadInput(
            f"{file.name}: an attention body without input embedding (INPUT_EMBEDDING_NONE) is not supported; real "
            "files have PE_MAP or PE_DENSE"
        )
    if file.weights.get("residual"):
        raise BadInput(f"{file.name}: residual blocks before an attention body are not supported")
    width = need(file, "ip_emb_b")
    dense = embedding == Embedding.PE_DENSE
    encoders = encoder_configs(file, "encoder", width, file.weights.get("headcount", 0))
    if not encoders:
        raise BadInput(f"{file.name}: an attention body without encoder layers is not supported")
    sizes = {encoder.smolgen.size for encoder in encoders if encoder.smolgen}
    if len(sizes) > 1:
        raise BadInput(f"{file.name}: smolgen of its layers has sizes {sorted(sizes)}; all share one matrix")
    return BodyConfig(
        embedding=embedding,
        width=width,
        dense=quotient(file, "ip_emb_preproc_b", SQUARES) if dense else 0,
        embedding_hidden=need(file, "ip_emb_ffn.dense1_b") if dense else 0,
        multiplied=file.has("ip_mult_gate"),
        added=file.has("ip_add_gate"),
        encoders=encoders,
    )


def encoder_configs(file: WeightFile, place: str, width: int, heads: int) -> tuple[EncoderConfig, ...]:
    """Read off the sizes of encoder layers, which stand in a repeated field."""
    message = file.weights
    *parents, field = place.split(".")
    for parent in parents:
        message = message.need(parent)
    found = message.get(field, [])
    if found and heads < 1:
        raise BadInput(f"{file.name}: {place} has layers, but the number of their heads is not given")
    return tuple(
        encoder_config(file, f"{place}.{number}", layer.need("mha").get("smolgen") is not None, width, heads)
        for number, layer in enumerate(found)
    )


def encoder_config(file: WeightFile, place: str, has_smolgen: bool, width: int, heads: int) -> EncoderConfig:
    """Read off the sizes of one encoder layer."""
    model = need(file, f"{place}.mha.q_b")
    if model % heads:
        raise BadInput(f"{file.name}: {place}.mha has {model} channels, which {heads} heads cannot share evenly")
    smolgen = None
    if has_smolgen:
        inside = f"{place}.mha.smolgen"
        smolgen = SmolgenConfig(
            quotient(file, f"{inside}.compress", width),
            need(file, f"{inside}.dense1_b"),
            quotient(file, f"{inside}.dense2_b", heads),
        )
    return EncoderConfig(width, model, heads, need(file, f"{place}.ffn.dense1_b"), smolgen)


def places(file: WeightFile, group: str, names: tuple[str, ...], usual: str) -> dict[str, str]:
    """Return where heads stand in a file, by their names: beside the body, or in a group of their own."""
    if file.weights.get(group) is None:
        return {usual: ""}
    message = file.weights.need(group)
    found = {name: f"{group}.{name}." for name in names if message.get(name) is not None}
    if not found:
        raise BadInput(f"{file.name}: its {group} hold none of {', '.join(names)}")
    return found


def policy_config(file: WeightFile, place: str, body: BodyConfig) -> PolicyConfig:
    """Read off the sizes of a policy head."""
    kind = file.header.policy
    if kind == Policy.CLASSICAL:
        return PolicyConfig(kind, channels=channels_of(file, f"{place}policy", body.channels, 1))
    if kind == Policy.CONVOLUTION:
        channels = channels_of(file, f"{place}policy1", body.channels, 9)
        planes = channels_of(file, f"{place}policy", channels, 9)
        if planes < 73:
            raise BadInput(f"{file.name}: {place}policy has {planes} planes of moves; it needs 73")
        return PolicyConfig(kind, channels=channels, planes=planes)
    own = file.has(f"{place}ip_pol_w")
    width = need(file, f"{place}ip_pol_b" if own else f"{shared_at(file)}ip_pol_b")
    heads = file.weights
    for parent in place.split(".")[:-1]:
        heads = heads.need(parent)
    encoders = encoder_configs(file, f"{place}pol_encoder", width, heads.get("pol_headcount", 0))
    if any(encoder.smolgen for encoder in encoders):
        raise BadInput(f"{file.name}: {place}pol_encoder has smolgen, which is not supported in a policy head")
    return PolicyConfig(kind, width=width, own_embedding=own, model=need(file, f"{place}ip2_pol_b"), encoders=encoders)


def shared_at(file: WeightFile) -> str:
    """Tell where the embedding of policy heads without their own stands."""
    return "policy_heads." if file.has("policy_heads.ip_pol_w") else ""


def shared_place(file: WeightFile, policies: dict[str, PolicyConfig]) -> str | None:
    """Tell where a shared embedding stands, None if no head needs one."""
    if file.header.policy != Policy.ATTENTION or all(head.own_embedding for head in policies.values()):
        return None
    return shared_at(file).removesuffix(".")


def value_config(file: WeightFile, place: str, attention: bool) -> ValueConfig:
    """Read off the sizes of a value head."""
    hidden = need(file, f"{place}ip1_val_b")
    channels = need(file, f"{place}ip_val_b") if attention else quotient(file, f"{place}ip1_val_w", hidden * SQUARES)
    return ValueConfig(channels, hidden, 3 if file.header.value == Value.WDL else 1)


def moves_left_config(file: WeightFile, attention: bool) -> ValueConfig | None:
    """Read off the sizes of the head of the moves left, None if there is none."""
    if not file.header.moves_left:
        return None
    hidden = need(file, "ip1_mov_b")
    channels = need(file, "ip_mov_b") if attention else quotient(file, "ip1_mov_w", hidden * SQUARES)
    return ValueConfig(channels, hidden, 1)


def channels_of(file: WeightFile, path: str, inputs: int, kernel: int) -> int:
    """Count the output channels of a convolution from its weights."""
    return quotient(file, f"{path}.weights", inputs * kernel)


def need(file: WeightFile, path: str) -> int:
    """Count the numbers of a layer that must be there."""
    count = file.count(path)
    if not count:
        raise BadInput(f"{file.name}: {path} is missing or empty; the file is incomplete or its header is wrong")
    return count


def quotient(file: WeightFile, path: str, divisor: int) -> int:
    """Divide the numbers of a layer that must be there evenly."""
    count = need(file, path)
    if count % divisor:
        raise BadInput(f"{file.name}: {path} has {count:,} numbers, which is no multiple of {divisor:,}")
    return count // divisor
