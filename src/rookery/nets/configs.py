"""What a network is made of: one small record for each kind, written into every file that holds weights.

A network reads `inputs` numbers and answers with a logit for each of `actions` and a value. Reading this module
needs no PyTorch.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from rookery.errors import BadInput

Size = Annotated[int, Field(ge=1, le=1 << 20)]
Count = Annotated[int, Field(ge=0, le=1 << 20)]
Side = Annotated[int, Field(ge=1, le=256)]
Activated = Literal["mish", "relu", "relu_2", "selu", "sigmoid", "swish", "tanh", "none"]
"""functions that layers of Lc0's networks are followed by"""


class Config(BaseModel):
    """What all kinds share: nothing is changed afterwards, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PerceptronConfig(Config):
    """Linear layers with ReLU between them: V1 to V3 of Pylos."""

    kind: Literal["perceptron"] = "perceptron"
    inputs: Size
    actions: Size
    hidden: Annotated[tuple[Size, ...], Field(min_length=1, max_length=64, strict=False)] = (512, 256)
    """width of each hidden layer"""


class ResidualConfig(Config):
    """A stem and residual blocks of linear layers: V4 and V5 of Pylos."""

    kind: Literal["residual"] = "residual"
    inputs: Size
    actions: Size
    width: Size = 256
    blocks: Count = 6
    value_hidden: Size = 64
    policy_hidden: Size = 128


class TowerConfig(Config):
    """Residual blocks of 3x3 convolutions, with heads that fit a board of any size.

    An observation is planes of rows x cols cells. Actions are numbered plane by plane, each by rows; those that
    belong to no cell (the choices of an opening) come last. With `pairs` an action is a pair of neighbouring cells: one
    below the other, row by row, then side by side, column by column.
    """

    kind: Literal["tower"] = "tower"
    planes: Size
    rows: Side
    cols: Side
    policy_planes: Size = 1
    """actions for each cell"""
    extra_actions: Count = 0
    """actions that belong to no cell"""
    pairs: bool = False
    """whether the two actions of a cell are to cover it with the one below, and with the one to its right"""
    width: Size = 64
    blocks: Count = 6
    policy_hidden: Size = 32
    value_hidden: Size = 64
    squeeze: Count = 0
    """units of squeeze-excitation in each block; 0: none"""
    pooling: Count = 0
    """planes of each second block whose mean and greatest number over the board are told to all cells; 0: none"""

    @model_validator(mode="after")
    def pooling_fits(self) -> TowerConfig:
        """Refuse pooling of planes or in blocks that there are not."""
        if self.pooling > self.width or (self.pooling and self.blocks < 2):
            raise ValueError(f"pooling needs two blocks and as many planes, in 0..{self.width} (width)")
        return self

    @model_validator(mode="after")
    def pairs_fit(self) -> TowerConfig:
        """Refuse pairs of cells beside actions of another kind, or where there is none."""
        if self.pairs and (self.policy_planes != 2 or self.extra_actions or self.rows * self.cols < 2):
            raise ValueError("pairs need two policy_planes, no extra_actions and a board of two cells or more")
        return self

    @property
    def inputs(self) -> int:
        """Numbers of an observation."""
        return self.planes * self.rows * self.cols

    @property
    def actions(self) -> int:
        """Actions that get a logit."""
        if self.pairs:
            return (self.rows - 1) * self.cols + self.rows * (self.cols - 1)
        return self.policy_planes * self.rows * self.cols + self.extra_actions


class TransformerConfig(Config):
    """Layers of attention over the squares of a board on which a move covers two neighbouring squares.

    An observation is the state of each square, row by row, and one more token, the board's. Actions are the pairs of
    squares one below the other, row by row, then the pairs side by side, column by column.
    """

    kind: Literal["transformer"] = "transformer"
    rows: Side
    cols: Side
    width: Size = 128
    """numbers that flow from layer to layer, for each token"""
    heads: Size = 4
    head_width: Size = 16
    layers: Count = 2
    mlp: Size = 512
    """hidden units of each layer"""
    side_token: bool = False
    """whether the board's token tells who is to move, by one state more"""
    sectors: Size = 16
    policy_hidden: Size = 128
    states: Annotated[int, Field(ge=3, le=1 << 10)] = 3
    """states of a token: empty, covered (in one way or several), and last the board's"""

    @model_validator(mode="after")
    def has_moves(self) -> TransformerConfig:
        """Refuse a single square, on which there is no move."""
        if self.rows * self.cols < 2:
            raise ValueError("a board needs two squares for a move")
        return self

    @property
    def squares(self) -> int:
        """Squares of the board."""
        return self.rows * self.cols

    @property
    def inputs(self) -> int:
        """Tokens of an observation."""
        return self.squares + 1

    @property
    def actions(self) -> int:
        """Pairs of neighbouring squares."""
        return (self.rows - 1) * self.cols + self.rows * (self.cols - 1)

    @property
    def all_states(self) -> int:
        """States of a token, that of the other side's turn counted in."""
        return self.states + self.side_token


class TokensConfig(Config):
    """What the networks of Texas 42 share: layers of attention over tokens of a few small whole numbers."""

    width: Annotated[int, Field(ge=12, le=1 << 20)] = 128
    """numbers that flow from layer to layer, for each token"""
    heads: Size = 8
    layers: Count = 4
    mlp: Size = 512
    """hidden units of each layer"""
    norm_first: bool = False
    """whether layers read the normed stream and add to the stream itself, instead of norming what they have added to"""

    @model_validator(mode="after")
    def heads_fit(self) -> TokensConfig:
        """Refuse heads that do not share out the width."""
        if self.width % self.heads:
            raise ValueError(f"heads must divide the width: {self.width} is no multiple of {self.heads}")
        return self

    @property
    def actions(self) -> int:
        """Slots of a hand."""
        return 7


class HandsConfig(TokensConfig):
    """Stage 1 of Texas 42: sees all four hands, and judges the seven slots of the mover."""

    kind: Literal["hands"] = "hands"
    answers: Literal["q", "policy", "both"] = "q"
    """what it tells of a slot: the points still to come, from the mover's side, or a logit, or the points and, for the
    choice of a tile, a logit"""
    reads: Literal["all", "open"] = "all"
    """the observation: the hands as they are, or told tile by tile what the rules make of them"""

    @property
    def in_points(self) -> bool:
        """Whether slots are told in points."""
        return self.answers != "policy"

    @property
    def inputs(self) -> int:
        """Numbers of an observation: 32 tokens of 12, or 33 of 17."""
        return 32 * 12 if self.reads == "all" else 33 * 17


class TranscriptConfig(TokensConfig):
    """Stage 2 of Texas 42: reads what the mover knows, the observation `known`, and judges its seven slots."""

    kind: Literal["transcript"] = "transcript"
    answers: Literal["q", "logits"] = "q"
    """what it was taught for a slot: the mean of Q over the possible deals, or the mean of a Stage 1's logits"""

    @property
    def in_points(self) -> bool:
        """Whether slots are told in points."""
        return self.answers == "q"

    @property
    def inputs(self) -> int:
        """Numbers of an observation: 33 tokens of 17."""
        return 33 * 17


class AttentionBodyConfig(Config):
    """A network as Lc0 has them, with an attention body: reads its 112 planes of 8 x 8, judges its 1858 moves.

    Chances to win, draw and lose are its value. Such a network can be written as a weight file of Lc0's.
    """

    kind: Literal["lc0"] = "lc0"
    width: Size = 128
    """numbers that flow from layer to layer, for each square"""
    layers: Annotated[int, Field(ge=1, le=1 << 10)] = 6
    heads: Size = 8
    model: Count = 0
    """of queries, keys and values, all heads together; 0: as the width"""
    hidden: Size = 256
    """hidden units of each layer"""
    embedding: Literal["map", "dense"] = "map"
    """what is appended to the planes of a square: the squares it reaches, or what a matrix makes of the whole board"""
    dense: Size = 16
    """how many numbers a dense embedding appends to a square"""
    embedding_hidden: Size = 256
    """hidden units behind a dense embedding"""
    gates: bool = False
    """whether what is embedded is scaled and shifted, each square in its own way"""
    smolgen_channels: Count = 8
    """of each square, compressed, for the additions to attention; 0: there are none"""
    smolgen_hidden: Size = 64
    smolgen_size: Size = 64
    """of what each head hands to the matrix that all share"""
    policy_width: Size = 128
    """of the embedding of the policy head"""
    policy_model: Size = 128
    """of its queries and keys"""
    value_channels: Size = 16
    """of each square, in the value head"""
    value_hidden: Size = 128
    activation: Literal["mish", "relu"] = "mish"
    ffn_activation: Activated = "mish"
    """of the hidden units of layers"""
    smolgen_activation: Activated = "swish"

    @model_validator(mode="after")
    def heads_fit(self) -> AttentionBodyConfig:
        """Refuse heads that do not share out what they look with."""
        if (self.model or self.width) % self.heads:
            raise ValueError(f"heads must divide {self.model or self.width}, which {self.heads} do not")
        return self

    @property
    def unused(self) -> frozenset[str]:
        """Keys that say nothing, since what they are about is not there."""
        smolgen = frozenset(("smolgen_hidden", "smolgen_size", "smolgen_activation"))
        dense = frozenset(("dense", "embedding_hidden"))
        return (frozenset() if self.smolgen_channels else smolgen) | (
            frozenset() if self.embedding == "dense" else dense
        )

    @property
    def inputs(self) -> int:
        """Numbers of an observation: 112 planes of 64 squares."""
        return 112 * 64

    @property
    def actions(self) -> int:
        """Moves of Lc0's policy."""
        return 1858


AnyConfig = (
    PerceptronConfig
    | ResidualConfig
    | TowerConfig
    | TransformerConfig
    | HandsConfig
    | TranscriptConfig
    | AttentionBodyConfig
)
NetworkConfig = Annotated[AnyConfig, Field(discriminator="kind")]
READER: TypeAdapter[AnyConfig] = TypeAdapter(NetworkConfig)

SMALL = TransformerConfig(rows=16, cols=16)
LARGE = TransformerConfig(rows=16, cols=16, heads=8, layers=7, mlp=768)
SMALL_FINAL = TransformerConfig(rows=16, cols=16, layers=3)
LARGE_FINAL = TransformerConfig(rows=16, cols=16, heads=8, layers=6, mlp=768)
MEDIUM = TransformerConfig(rows=16, cols=16, width=80, layers=5, mlp=320, policy_hidden=80)
PRESETS = {"small": SMALL, "large": LARGE, "small-final": SMALL_FINAL, "large-final": LARGE_FINAL, "medium": MEDIUM}
"""the transformers of the Domineering study: as planned, as its original ended, and its player"""

TOWERS = {"5x64": (5, 64), "6x64": (6, 64), "10x128": (10, 128)}
"""sizes of towers by name: blocks and width"""

HANDS = {
    "73k": HandsConfig(width=64, heads=4, layers=2, mlp=128),
    "817k": HandsConfig(),
    "3.3M": HandsConfig(width=256, heads=8, layers=6, mlp=512),
    "open-64x2": HandsConfig(reads="open", width=64, heads=4, layers=2, mlp=128),
    "open-96x3": HandsConfig(reads="open", width=96, heads=6, layers=3, mlp=384),
    "open-128x4": HandsConfig(reads="open", width=128, heads=4, layers=4, mlp=384),
}
"""the sizes of Stage 1 of Texas 42, by their parameters, or by width and layers of those that are told more"""
TRANSCRIPTS = {
    "64x2": TranscriptConfig(width=64, heads=4, layers=2, mlp=256, norm_first=True),
    "96x3": TranscriptConfig(width=96, heads=6, layers=3, mlp=192, norm_first=True),
    "128x4": TranscriptConfig(norm_first=True),
    "256x6": TranscriptConfig(width=256, heads=8, layers=6, norm_first=True),
}
"""the sizes of Stage 2, by width and layers"""


def read_config(values: Any, source: str = "network") -> NetworkConfig:
    """Make a configuration from plain values; an error names `source`, the key, and what is allowed there."""
    try:
        return READER.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join([source, *(str(part) for part in first["loc"])])
        raise BadInput(f"{place}: {first['msg']}, not {first['input']!r}") from None
