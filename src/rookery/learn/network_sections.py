"""The section `network` of a run's settings: the kinds of networks that can be trained, with every key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rookery.learn.sections import Section, Text, YesNo, refuse, span
from rookery.nets.configs import TOWERS, Activated

Widths = Annotated[tuple[Annotated[int, span(1, 65536)], ...], Field(min_length=1, max_length=64)]


class PerceptronSettings(Section):
    """A plain perceptron: layers one after another, then a value and a policy."""

    kind: Literal["perceptron"]
    """which network"""
    observation: Text
    """kind of observation the network sees, one of those the game offers"""
    hidden: Widths = (512, 256)
    """widths of the layers"""


class ResidualSettings(Section):
    """A perceptron of residual blocks, for an observation without a grid."""

    kind: Literal["residual"]
    """which network"""
    observation: Text
    """kind of observation the network sees, one of those the game offers"""
    width: Annotated[int, span(1, 65536)] = 256
    """numbers that flow from block to block"""
    blocks: Annotated[int, span(0, 1000)] = 6
    """residual blocks"""
    value_hidden: Annotated[int, span(1, 65536)] = 64
    """width of the value head's hidden layer"""
    policy_hidden: Annotated[int, span(1, 65536)] = 128
    """width of the policy head's hidden layer"""


class TowerSettings(Section):
    """A tower of convolutions, for an observation of planes; its heads work on every board size."""

    kind: Literal["tower"]
    """which network"""
    observation: Text
    """kind of observation the network sees, one of those the game offers"""
    width: Annotated[int, span(1, 65536)] = 64
    """planes that flow from block to block"""
    blocks: Annotated[int, span(0, 1000)] = 6
    """residual blocks"""
    value_hidden: Annotated[int, span(1, 65536)] = 64
    """width of the value head's hidden layer"""
    policy_hidden: Annotated[int, span(1, 65536)] = 32
    """planes of the policy head's hidden layer"""
    squeeze: Annotated[int, span(0, 65536)] = 0
    """units of squeeze-excitation in each block; 0: none"""
    pooling: Annotated[int, span(0, 65536)] = 0
    """planes of each second block whose mean and greatest number over the board are told to all cells; 0: none"""
    preset: Literal["none", "5x64", "6x64", "10x128"] = "none"
    """blocks and width by name, in place of the two"""

    @model_validator(mode="before")
    @classmethod
    def sized(cls, values: Any) -> Any:
        """Write out what a preset stands for."""
        preset = values.get("preset") if isinstance(values, dict) else None
        if not isinstance(preset, str) or preset not in TOWERS:
            return values
        blocks, width = TOWERS[preset]
        return {"blocks": blocks, "width": width} | values

    @model_validator(mode="after")
    def fits(self) -> TowerSettings:
        """Refuse values that exclude each other."""
        blocks, width = TOWERS.get(self.preset, (self.blocks, self.width))
        refuse(
            self.blocks != blocks and f"blocks: must be {blocks} or left out (preset {self.preset}), not {self.blocks}",
            self.width != width and f"width: must be {width} or left out (preset {self.preset}), not {self.width}",
            self.pooling > self.width and f"pooling: must lie in 0..{self.width} (width), not {self.pooling}",
            self.pooling and self.blocks < 2 and f"pooling: needs two blocks; blocks is {self.blocks}",
        )
        return self


class AttentionBodySettings(Section):
    """A network of Lc0's kind for chess, with an attention body: what it has learned can be written as a weight file.

    Keys, their meanings and what they may be are those of `AttentionBodyConfig`.
    """

    kind: Literal["lc0"]
    """which network"""
    observation: Text = "classical"
    """kind of observation the network sees: Lc0's planes"""
    width: Annotated[int, span(1, 65536)] = 128
    """numbers that flow from layer to layer, for each square"""
    layers: Annotated[int, span(1, 1000)] = 6
    """layers of attention and hidden units"""
    heads: Annotated[int, span(1, 65536)] = 8
    """heads of attention in each layer"""
    model: Annotated[int, span(0, 65536)] = 0
    """of queries, keys and values, all heads together; 0: as the width"""
    hidden: Annotated[int, span(1, 65536)] = 256
    """hidden units of each layer"""
    embedding: Literal["map", "dense"] = "map"
    """what is appended to the planes of a square: the squares it reaches, or what a matrix makes of the whole board"""
    dense: Annotated[int, span(1, 65536)] = 16
    """how many numbers a dense embedding appends to a square"""
    embedding_hidden: Annotated[int, span(1, 65536)] = 256
    """hidden units behind a dense embedding"""
    gates: YesNo = False
    """whether what is embedded is scaled and shifted, each square in its own way"""
    smolgen_channels: Annotated[int, span(0, 65536)] = 8
    """of each square, compressed, for the additions to attention; 0: there are none"""
    smolgen_hidden: Annotated[int, span(1, 65536)] = 64
    """hidden units that make them"""
    smolgen_size: Annotated[int, span(1, 65536)] = 64
    """of what each head hands to the matrix that all share"""
    policy_width: Annotated[int, span(1, 65536)] = 128
    """of the embedding of the policy head"""
    policy_model: Annotated[int, span(1, 65536)] = 128
    """of its queries and keys"""
    value_channels: Annotated[int, span(1, 65536)] = 16
    """of each square, in the value head"""
    value_hidden: Annotated[int, span(1, 65536)] = 128
    """width of the value head's hidden layer"""
    activation: Literal["mish", "relu"] = "mish"
    """function between layers"""
    ffn_activation: Activated = "mish"
    """function of the hidden units"""
    smolgen_activation: Activated = "swish"
    """function of the additions to attention"""

    @model_validator(mode="after")
    def heads_fit(self) -> AttentionBodySettings:
        """Refuse heads that do not share out what they look with."""
        shared = self.model or self.width
        refuse(shared % self.heads and f"heads: must divide {shared}, which {self.heads} does not")
        return self


NetworkSettings = Annotated[
    PerceptronSettings | ResidualSettings | TowerSettings | AttentionBodySettings, Field(discriminator="kind")
]
