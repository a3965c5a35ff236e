"""The layers of Lc0's networks. Parameters bear the names they have in weight files, so that a path names both.

Matrices are [out, in] and convolutions [out, in, 3, 3] or [out, in, 1, 1], as PyTorch has them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.nets.lc0.config import SQUARES, EncoderConfig, SmolgenConfig
from rookery.nets.lc0.schema import Activation
from rookery.nets.transformer import SILENT, Tap

SMOLGEN_EPS = 1e-3
IN_ENCODER = (
    "attn.queries", "attn.keys", "attn.values", "attn.smolgen", "attn.pattern", "attn.mixed", "attn.out", "middle",
    "mlp.hidden", "mlp.out", "out",
)  # fmt: skip
"""activations of an encoder layer, in the order in which they come about"""

Function = Callable[[Tensor], Tensor]


def relu_squared(x: Tensor) -> Tensor:
    """Return relu(x) squared."""
    return functional.relu(x).square()


def unchanged(x: Tensor) -> Tensor:
    """Return x."""
    return x


FUNCTIONS: dict[Activation, Function] = {
    Activation.MISH: functional.mish,
    Activation.RELU: functional.relu,
    Activation.NONE: unchanged,
    Activation.TANH: torch.tanh,
    Activation.SIGMOID: torch.sigmoid,
    Activation.SELU: functional.selu,
    Activation.SWISH: functional.silu,
    Activation.RELU_2: relu_squared,
}


def numbers(*shape: int) -> nn.Parameter:
    """Make a parameter that is to be filled."""
    return nn.Parameter(torch.empty(shape))


class Convolution(nn.Module):
    """A convolution that keeps the board's size."""

    def __init__(self, inputs: int, outputs: int, kernel: int):
        super().__init__()
        self.weights, self.biases = numbers(outputs, inputs, kernel, kernel), numbers(outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Return [N, outputs, 8, 8] from [N, inputs, 8, 8]."""
        return functional.conv2d(x, self.weights, self.biases, padding=self.weights.shape[-1] // 2)


class Squeeze(nn.Module):
    """Squeeze and excitation: each channel is scaled and shifted by what the whole board says."""

    def __init__(self, channels: int, hidden: int):
        super().__init__()
        self.w1, self.b1 = numbers(hidden, channels), numbers(hidden)
        self.w2, self.b2 = numbers(2 * channels, hidden), numbers(2 * channels)

    def forward(self, x: Tensor, function: Function) -> Tensor:
        """Scale and shift x [N, C, 8, 8]; only the scale goes through the sigmoid."""
        hidden = function(functional.linear(x.mean((2, 3)), self.w1, self.b1))
        scale, shift = functional.linear(hidden, self.w2, self.b2)[:, :, None, None].chunk(2, 1)
        return torch.sigmoid(scale) * x + shift


class ResidualBlock(nn.Module):
    """Two convolutions whose result is added to what they read."""

    def __init__(self, filters: int, squeeze: int):
        super().__init__()
        self.conv1, self.conv2 = Convolution(filters, filters, 3), Convolution(filters, filters, 3)
        self.se = Squeeze(filters, squeeze) if squeeze else None

    def forward(self, x: Tensor, function: Function, tap: Tap, place: str) -> Tensor:
        """Return the stream behind the block."""
        hidden = tap(f"{place}.hidden", function(self.conv1(x)))
        added = self.conv2(hidden)
        if self.se is not None:
            added = self.se(added, function)
        return tap(f"{place}.out", function(tap(f"{place}.added", added) + x))


class Smolgen(nn.Module):
    """What is added to the attention of a layer, made from the whole board."""

    def __init__(self, width: int, heads: int, config: SmolgenConfig):
        super().__init__()
        self.heads = heads
        self.compress = numbers(config.channels, width)
        self.dense1_w, self.dense1_b = numbers(config.hidden, SQUARES * config.channels), numbers(config.hidden)
        self.ln1_gammas, self.ln1_betas = numbers(config.hidden), numbers(config.hidden)
        self.dense2_w, self.dense2_b = numbers(heads * config.size, config.hidden), numbers(heads * config.size)
        self.ln2_gammas, self.ln2_betas = numbers(heads * config.size), numbers(heads * config.size)

    def forward(self, x: Tensor, common: Tensor, function: Function) -> Tensor:
        """Return [N, H, 64 queries, 64 keys] from x [N, 64, width] and the matrix [4096, size] all layers share."""
        squares = functional.linear(x, self.compress).flatten(1)
        hidden = function(functional.linear(squares, self.dense1_w, self.dense1_b))
        hidden = normed(hidden, self.ln1_gammas, self.ln1_betas, SMOLGEN_EPS)
        made = function(functional.linear(hidden, self.dense2_w, self.dense2_b))
        made = normed(made, self.ln2_gammas, self.ln2_betas, SMOLGEN_EPS)
        added = functional.linear(made.view(len(x), self.heads, -1), common)
        return added.view(len(x), self.heads, SQUARES, SQUARES)


def normed(x: Tensor, gammas: Tensor, betas: Tensor, eps: float) -> Tensor:
    """Return a layer norm of the last axis."""
    return functional.layer_norm(x, gammas.shape, gammas, betas, eps)


class Attention(nn.Module):
    """Heads that look from every square at every square."""

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.heads = config.heads
        self.q_w, self.q_b = numbers(config.model, config.width), numbers(config.model)
        self.k_w, self.k_b = numbers(config.model, config.width), numbers(config.model)
        self.v_w, self.v_b = numbers(config.model, config.width), numbers(config.model)
        self.dense_w, self.dense_b = numbers(config.width, config.model), numbers(config.width)
        self.smolgen = Smolgen(config.width, config.heads, config.smolgen) if config.smolgen else None

    def forward(self, x: Tensor, common: Tensor | None, function: Function, tap: Tap, place: str) -> Tensor:
        """Return what the heads write, [N, 64, width]; `function` is the activation of smolgen."""
        queries = tap(f"{place}.queries", self.split(functional.linear(x, self.q_w, self.q_b)))
        keys = tap(f"{place}.keys", self.split(functional.linear(x, self.k_w, self.k_b)))
        values = tap(f"{place}.values", self.split(functional.linear(x, self.v_w, self.v_b)))
        added = None
        if self.smolgen is not None:
            assert common is not None
            added = tap(f"{place}.smolgen", self.smolgen(x, common, function))
        if tap.wants(f"{place}.pattern"):
            scores = queries @ keys.transpose(-2, -1) * queries.shape[-1] ** -0.5
            scores = scores if added is None else scores + added
            mixed = tap(f"{place}.pattern", scores.softmax(-1)) @ values
        else:
            mixed = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=added)
        mixed = tap(f"{place}.mixed", mixed)
        return tap(f"{place}.out", functional.linear(mixed.transpose(1, 2).flatten(2), self.dense_w, self.dense_b))

    def split(self, x: Tensor) -> Tensor:
        """Give each head its consecutive channels: [N, H, 64, d]."""
        return x.view(len(x), SQUARES, self.heads, -1).transpose(1, 2)


class FeedForward(nn.Module):
    """Hidden units of each square."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.dense1_w, self.dense1_b = numbers(hidden, width), numbers(hidden)
        self.dense2_w, self.dense2_b = numbers(width, hidden), numbers(width)

    def forward(self, x: Tensor, function: Function, tap: Tap = SILENT, place: str = "") -> Tensor:
        """Return what the units write, [N, 64, width]."""
        hidden = tap(f"{place}.hidden", function(functional.linear(x, self.dense1_w, self.dense1_b)))
        return tap(f"{place}.out", functional.linear(hidden, self.dense2_w, self.dense2_b))


class Encoder(nn.Module):
    """Attention, then hidden units; the stream is normed behind each."""

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.mha = Attention(config)
        self.ln1_gammas, self.ln1_betas = numbers(config.width), numbers(config.width)
        self.ffn = FeedForward(config.width, config.hidden)
        self.ln2_gammas, self.ln2_betas = numbers(config.width), numbers(config.width)

    def forward(
        self, x: Tensor, alpha: float, eps: float, functions: tuple[Function, Function], common: Tensor | None,
        tap: Tap, place: str,
    ) -> Tensor:  # fmt: skip
        """Return the stream behind the layer.

        alpha      what is written is multiplied by it, the stream itself is not
        functions  of the hidden units, and of smolgen
        common     the matrix that smolgen shares among layers
        """
        attended = self.mha(x, common, functions[1], tap, f"{place}.attn")
        middle = tap(
            f"{place}.middle", normed(torch.add(x, attended, alpha=alpha), self.ln1_gammas, self.ln1_betas, eps)
        )
        thought = self.ffn(middle, functions[0], tap, f"{place}.mlp")
        return tap(
            f"{place}.out", normed(torch.add(middle, thought, alpha=alpha), self.ln2_gammas, self.ln2_betas, eps)
        )


def encoder_names(place: str, config: EncoderConfig) -> list[str]:
    """List the activations of an encoder layer."""
    return [f"{place}.{name}" for name in IN_ENCODER if config.smolgen or not name.endswith("smolgen")]
