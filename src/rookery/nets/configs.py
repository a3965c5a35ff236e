"""What a network is made of: one small record for each kind, written into every file that holds weights.

A network reads `inputs` numbers and answers with a logit for each of `actions` and a value. Reading this module
needs no PyTorch.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rookery.errors import BadInput

Size = Annotated[int, Field(ge=1, le=1 << 20)]
Count = Annotated[int, Field(ge=0, le=1 << 20)]
Side = Annotated[int, Field(ge=1, le=256)]


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
    belong to no cell (the choices of an opening) come last.
    """

    kind: Literal["tower"] = "tower"
    planes: Size
    rows: Side
    cols: Side
    policy_planes: Size = 1
    """actions for each cell"""
    extra_actions: Count = 0
    """actions that belong to no cell"""
    width: Size = 64
    blocks: Count = 6
    policy_hidden: Size = 32
    value_hidden: Size = 64

    @property
    def inputs(self) -> int:
        """Numbers of an observation."""
        return self.planes * self.rows * self.cols

    @property
    def actions(self) -> int:
        """Actions that get a logit."""
        return self.policy_planes * self.rows * self.cols + self.extra_actions


NetworkConfig = Annotated[PerceptronConfig | ResidualConfig | TowerConfig, Field(discriminator="kind")]
READER: TypeAdapter[PerceptronConfig | ResidualConfig | TowerConfig] = TypeAdapter(NetworkConfig)


def read_config(values: Any, source: str = "network") -> NetworkConfig:
    """Make a configuration from plain values; an error names `source`, the key, and what is allowed there."""
    try:
        return READER.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join([source, *(str(part) for part in first["loc"])])
        raise BadInput(f"{place}: {first['msg']}, not {first['input']!r}") from None
