"""The messages of Lc0's weight files: field numbers, and what the numbers in a header mean."""

from __future__ import annotations

from enum import IntEnum

from rookery.nets.lc0.wire import Field, Schema

MAGIC = 0x1C0
FIRST_BYTES = b"\x0d\xc0\x01\x00\x00"  # field 1, four bytes, the magic number


class Encoding(IntEnum):
    """How the numbers of a layer are stored."""

    UNKNOWN = 0
    LINEAR16 = 1
    FLOAT16 = 2
    BFLOAT16 = 3
    FLOAT32 = 4


class Input(IntEnum):
    """What the 112 planes hold."""

    UNKNOWN = 0
    CLASSICAL = 1
    CASTLING_PLANE = 2
    CANONICAL = 3
    CANONICAL_HECTOPLIES = 4
    CANONICAL_V2 = 5
    CANONICAL_HECTOPLIES_ARMAGEDDON = 132
    CANONICAL_V2_ARMAGEDDON = 133


class Body(IntEnum):
    """What a network is made of."""

    UNKNOWN = 0
    CLASSICAL = 1
    SE = 2
    CLASSICAL_HEADS = 3
    SE_HEADS = 4
    ONNX = 5
    ATTENTION = 6
    ATTENTION_MULTIHEAD = 7
    ATTENTION_LEGACY_MULTIHEAD = 134


class Policy(IntEnum):
    """How the 1858 numbers of the policy come about."""

    UNKNOWN = 0
    CLASSICAL = 1
    CONVOLUTION = 2
    ATTENTION = 3


class Value(IntEnum):
    """What the value head says."""

    UNKNOWN = 0
    CLASSICAL = 1
    WDL = 2
    PARAM = 3


class MovesLeft(IntEnum):
    """Whether a network tells how long the game will last."""

    NONE = 0
    V1 = 1


class Activation(IntEnum):
    """The functions between layers."""

    DEFAULT = 0
    MISH = 1
    RELU = 2
    NONE = 3
    TANH = 4
    SIGMOID = 5
    SELU = 6
    SWISH = 7
    RELU_2 = 8
    SOFTMAX = 9


DEFAULT_RELU, DEFAULT_MISH = 0, 1  # numbered otherwise than in Activation


class Embedding(IntEnum):
    """What an attention body appends to the planes of a square."""

    NONE = 0
    PE_MAP = 1
    PE_DENSE = 2


# ---- messages ------------------------------------------------------------------------------------


def layers(name: str, *names: str, first: int = 1) -> Schema:
    """Describe a message of layers whose fields are numbered one after another."""
    return Schema(name, {number: one(LAYER, field) for number, field in enumerate(names, start=first)})


def one(schema: Schema, name: str) -> Field:
    """Describe a field that holds a message."""
    return Field(name, "message", schema=schema)


def many(schema: Schema, name: str) -> Field:
    """Describe a field that holds messages."""
    return Field(name, "message", repeated=True, schema=schema)


def number(name: str) -> Field:
    """Describe a field that holds a whole number."""
    return Field(name, "number")


def extended(schema: Schema, more: dict[int, Field]) -> Schema:
    """Add fields to a message."""
    return Schema(schema.name, schema.fields | more)


LAYER = Schema(
    "Layer",
    {
        1: Field("min_val", "float"),
        2: Field("max_val", "float"),
        3: Field("params", "bytes"),
        4: number("encoding"),
        5: Field("dims", "number", repeated=True),
    },
)
CONVOLUTION = layers("ConvBlock", "weights", "biases", "bn_means", "bn_stddivs", "bn_gammas", "bn_betas")
SQUEEZE = layers("SEunit", "w1", "b1", "w2", "b2")
RESIDUAL = Schema("Residual", {1: one(CONVOLUTION, "conv1"), 2: one(CONVOLUTION, "conv2"), 3: one(SQUEEZE, "se")})
SMOLGEN = layers(
    "Smolgen", "compress", "dense1_w", "dense1_b", "ln1_gammas", "ln1_betas", "dense2_w", "dense2_b", "ln2_gammas",
    "ln2_betas",
)  # fmt: skip
MHA = extended(
    layers("MHA", "q_w", "q_b", "k_w", "k_b", "v_w", "v_b", "dense_w", "dense_b"),
    {9: one(SMOLGEN, "smolgen"), 10: one(LAYER, "rpe_q"), 11: one(LAYER, "rpe_k"), 12: one(LAYER, "rpe_v")},
)
FFN = layers("FFN", "dense1_w", "dense1_b", "dense2_w", "dense2_b")
ENCODER = Schema(
    "EncoderLayer",
    {
        1: one(MHA, "mha"),
        2: one(LAYER, "ln1_gammas"),
        3: one(LAYER, "ln1_betas"),
        4: one(FFN, "ffn"),
        5: one(LAYER, "ln2_gammas"),
        6: one(LAYER, "ln2_betas"),
    },
)
POLICY_HEAD = extended(
    layers("PolicyHead", "ip_pol_w", "ip_pol_b", "ip2_pol_w", "ip2_pol_b", "ip3_pol_w", "ip3_pol_b", "ip4_pol_w"),
    {
        8: many(ENCODER, "pol_encoder"),
        9: number("pol_headcount"),
        10: one(CONVOLUTION, "policy1"),
        11: one(CONVOLUTION, "policy"),
    },
)
VALUE_HEAD = extended(
    layers(
        "ValueHead", "ip_val_w", "ip_val_b", "ip1_val_w", "ip1_val_b", "ip2_val_w", "ip2_val_b", "ip_val_err_w",
        "ip_val_err_b", "ip_val_cat_w", "ip_val_cat_b",
    ),
    {11: one(CONVOLUTION, "value")},
)  # fmt: skip
POLICY_ENTRY = Schema("PolicyHeadMap", {1: Field("key", "text"), 2: one(POLICY_HEAD, "value")})
VALUE_ENTRY = Schema("ValueHeadMap", {1: Field("key", "text"), 2: one(VALUE_HEAD, "value")})
POLICY_NAMES = ("vanilla", "optimistic_st", "soft", "opponent")
VALUE_NAMES = ("winner", "q", "st")
POLICY_HEADS = extended(
    layers("PolicyHeads", "ip_pol_w", "ip_pol_b"),
    {at: one(POLICY_HEAD, name) for at, name in enumerate(POLICY_NAMES, start=3)}
    | {7: many(POLICY_ENTRY, "policy_head_map")},
)
VALUE_HEADS = Schema(
    "ValueHeads",
    {at: one(VALUE_HEAD, name) for at, name in enumerate(VALUE_NAMES, start=1)}
    | {4: many(VALUE_ENTRY, "value_head_map")},
)
WEIGHTS = Schema(
    "Weights",
    {
        1: one(CONVOLUTION, "input"),
        2: many(RESIDUAL, "residual"),
        3: one(CONVOLUTION, "policy"),
        6: one(CONVOLUTION, "value"),
        11: one(CONVOLUTION, "policy1"),
        12: one(CONVOLUTION, "moves_left"),
        21: many(ENCODER, "pol_encoder"),
        24: number("pol_headcount"),
        27: many(ENCODER, "encoder"),
        28: number("headcount"),
        41: one(FFN, "ip_emb_ffn"),
        44: one(VALUE_HEADS, "value_heads"),
        45: one(POLICY_HEADS, "policy_heads"),
    }
    | layers("", "ip_pol_w", "ip_pol_b", first=4).fields
    | layers("", "ip1_val_w", "ip1_val_b", "ip2_val_w", "ip2_val_b", first=7).fields
    | layers("", "ip1_mov_w", "ip1_mov_b", "ip2_mov_w", "ip2_mov_b", first=13).fields
    | layers("", "ip2_pol_w", "ip2_pol_b", "ip3_pol_w", "ip3_pol_b", first=17).fields
    | layers("", "ip4_pol_w", first=22).fields
    | layers("", "ip_emb_w", "ip_emb_b", first=25).fields
    | layers("", "ip_val_w", "ip_val_b", "ip_mov_w", "ip_mov_b", "ip_mult_gate", "ip_add_gate", first=29).fields
    | layers("", "smolgen_w", "smolgen_b", "ip_emb_preproc_w", "ip_emb_preproc_b", first=35).fields
    | layers("", "ip_emb_ln_gammas", "ip_emb_ln_betas", first=39).fields
    | layers("", "ip_emb_ffn_ln_gammas", "ip_emb_ffn_ln_betas", first=42).fields,
)
ENGINE_VERSION = Schema("EngineVersion", {1: number("major"), 2: number("minor"), 3: number("patch")})
NETWORK_FORMAT = Schema(
    "NetworkFormat",
    {
        at: number(name)
        for at, name in enumerate(
            (
                "input", "output", "network", "policy", "value", "moves_left", "default_activation",
                "smolgen_activation", "ffn_activation", "input_embedding",
            ),
            start=1,
        )
    },
)  # fmt: skip
FORMAT = Schema("Format", {1: number("weights_encoding"), 2: one(NETWORK_FORMAT, "network_format")})
TRAINING_PARAMS = Schema(
    "TrainingParams",
    {
        1: number("training_steps"),
        2: Field("learning_rate", "float"),
        3: Field("mse_loss", "float"),
        4: Field("policy_loss", "float"),
        5: Field("accuracy", "float"),
        6: Field("lc0_params", "text"),
    },
)
ONNX_MODEL = Schema(
    "OnnxModel",
    {1: Field("model", "bytes"), 2: number("data_type")}
    | {
        at: Field(name, "text")
        for at, name in enumerate(
            ("input_planes", "output_value", "output_wdl", "output_policy", "output_mlh"), start=3
        )
    },
)
NET = Schema(
    "Net",
    {
        1: Field("magic", "fixed"),
        2: Field("license", "text"),
        3: one(ENGINE_VERSION, "min_version"),
        4: one(FORMAT, "format"),
        5: one(TRAINING_PARAMS, "training_params"),
        10: one(WEIGHTS, "weights"),
        11: one(ONNX_MODEL, "onnx_model"),
    },
)
