"""The heads of Lc0's networks: policy in three kinds, value, moves left.

A head on a tower reads [N, C, 8, 8] and flattens channel by channel; one on an attention body reads [N, 64, C] and
flattens square by square.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.nets.lc0.config import MOVES, SQUARES, Lc0Config, PolicyConfig, ValueConfig
from rookery.nets.lc0.layers import FUNCTIONS, Convolution, Encoder, encoder_names, numbers
from rookery.nets.lc0.maps import attention_map, convolution_map, places_of
from rookery.nets.lc0.schema import Activation, Policy
from rookery.nets.transformer import Tap

POLICY_EPS = 1e-6
Pair = tuple[Tensor, Tensor]
"""weights and biases"""


class DensePolicy(nn.Module):
    """A convolution of single squares, then one matrix for all moves."""

    def __init__(self, config: Lc0Config, head: PolicyConfig):
        super().__init__()
        self.function = FUNCTIONS[config.activation]
        self.policy = Convolution(config.body.channels, head.channels, 1)
        self.ip_pol_w, self.ip_pol_b = numbers(MOVES, head.channels * SQUARES), numbers(MOVES)

    def forward(self, x: Tensor, shared: Pair | None, tap: Tap) -> Tensor:
        """Return the logits of the moves [N, 1858]."""
        hidden = tap("policy.hidden", self.function(self.policy(x)))
        return functional.linear(hidden.flatten(1), self.ip_pol_w, self.ip_pol_b)


class ConvolutionPolicy(nn.Module):
    """Two convolutions; planes are ways to go, squares are where from."""

    def __init__(self, config: Lc0Config, head: PolicyConfig):
        super().__init__()
        self.function = FUNCTIONS[config.activation]
        self.policy1 = Convolution(config.body.channels, head.channels, 3)
        self.policy = Convolution(head.channels, head.planes, 3)
        self.register_buffer("places", torch.from_numpy(places_of(convolution_map())), persistent=False)

    def forward(self, x: Tensor, shared: Pair | None, tap: Tap) -> Tensor:
        """Return the logits of the moves [N, 1858]."""
        hidden = tap("policy.hidden", self.function(self.policy1(x)))
        raw = tap("policy.raw", self.policy(hidden)).flatten(1)
        assert isinstance(self.places, Tensor)
        return raw[:, self.places]


class AttentionPolicy(nn.Module):
    """Queries of the squares a man leaves, keys of those he goes to."""

    def __init__(self, config: Lc0Config, head: PolicyConfig):
        super().__init__()
        # On a tower this head has activations of its own, whatever those of the tower are.
        selu = FUNCTIONS[Activation.SELU]
        self.function = FUNCTIONS[config.activation] if config.attention else selu
        self.ffn_function = FUNCTIONS[config.ffn_activation] if config.attention else selu
        if head.own_embedding:
            self.ip_pol_w, self.ip_pol_b = numbers(head.width, config.body.channels), numbers(head.width)
        self.own_embedding = head.own_embedding
        self.pol_encoder = nn.ModuleList(Encoder(encoder) for encoder in head.encoders)
        self.ip2_pol_w, self.ip2_pol_b = numbers(head.model, head.width), numbers(head.model)
        self.ip3_pol_w, self.ip3_pol_b = numbers(head.model, head.width), numbers(head.model)
        self.ip4_pol_w = numbers(4, head.model)
        self.register_buffer("places", torch.from_numpy(places_of(attention_map())), persistent=False)

    def forward(self, x: Tensor, shared: Pair | None, tap: Tap) -> Tensor:
        """Return the logits of the moves [N, 1858]; `shared` is the embedding of a head without its own."""
        squares = x if x.dim() == 3 else x.flatten(2).transpose(1, 2)
        weights, biases = (self.ip_pol_w, self.ip_pol_b) if self.own_embedding else shared or (None, None)
        assert weights is not None
        e = tap("policy.embedded", self.function(functional.linear(squares, weights, biases)))
        for number, layer in enumerate(self.pol_encoder):
            functions = (self.ffn_function, self.ffn_function)
            e = layer(e, 1.0, POLICY_EPS, functions, None, tap, f"policy.layers.{number}")
        queries = tap("policy.queries", functional.linear(e, self.ip2_pol_w, self.ip2_pol_b))
        keys = tap("policy.keys", functional.linear(e, self.ip3_pol_w, self.ip3_pol_b))
        pairs = queries @ keys.transpose(1, 2) * keys.shape[2] ** -0.5
        raw = torch.cat((pairs.flatten(1), self.promotions(pairs, keys).flatten(1)), 1)
        assert isinstance(self.places, Tensor)
        return tap("policy.raw", raw)[:, self.places]

    def promotions(self, pairs: Tensor, keys: Tensor) -> Tensor:
        """Return promotions [N, from file, to file, piece]: the plain move, and what a piece adds on a file."""
        offsets = functional.linear(keys[:, 56:], self.ip4_pol_w)  # [N, to file, queen rook bishop and all]
        added = offsets[:, :, :3] + offsets[:, :, 3:]
        return pairs[:, 48:56, 56:, None] + added[:, None]


KINDS = {Policy.CLASSICAL: DensePolicy, Policy.CONVOLUTION: ConvolutionPolicy, Policy.ATTENTION: AttentionPolicy}
IN_POLICY = {
    Policy.CLASSICAL: ["policy.hidden"],
    Policy.CONVOLUTION: ["policy.hidden", "policy.raw"],
    Policy.ATTENTION: ["policy.queries", "policy.keys", "policy.raw"],
}


def policy_names(head: PolicyConfig) -> list[str]:
    """List the activations of a policy head."""
    inside = [
        name for at, encoder in enumerate(head.encoders) for name in encoder_names(f"policy.layers.{at}", encoder)
    ]
    return [*(["policy.embedded"] if head.kind == Policy.ATTENTION else []), *inside, *IN_POLICY[head.kind]]


class SquaresHead(nn.Module):
    """A few channels of each square, hidden units that read them all, outputs; parameters are named by `kind`."""

    def __init__(self, config: Lc0Config, head: ValueConfig, kind: str, convolution: str):
        super().__init__()
        self.kind, self.convolution, self.name = kind, convolution, "value" if kind == "val" else "moves_left"
        self.function = FUNCTIONS[config.activation]
        self.attention = config.attention
        shapes = {f"ip1_{kind}": (head.hidden, SQUARES * head.channels), f"ip2_{kind}": (head.outputs, head.hidden)}
        if config.attention:
            shapes |= {f"ip_{kind}": (head.channels, config.body.channels)}
        else:
            self.add_module(convolution, Convolution(config.body.channels, head.channels, 1))
        for name, shape in shapes.items():
            self.register_parameter(f"{name}_w", numbers(*shape))
            self.register_parameter(f"{name}_b", numbers(shape[0]))

    def dense(self, name: str, x: Tensor) -> Tensor:
        """Apply one of the matrices."""
        return functional.linear(x, getattr(self, f"{name}_{self.kind}_w"), getattr(self, f"{name}_{self.kind}_b"))

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        """Return the outputs before their last function, [N, outputs]."""
        squares = self.dense("ip", x) if self.attention else self.get_submodule(self.convolution)(x)
        squares = tap(f"{self.name}.embedded", self.function(squares))
        hidden = tap(f"{self.name}.hidden", self.function(self.dense("ip1", squares.flatten(1))))
        return tap(f"{self.name}.raw", self.dense("ip2", hidden))


def squares_names(name: str) -> list[str]:
    """List the activations of a value head, or of that of the moves left."""
    return [f"{name}.{part}" for part in ("embedded", "hidden", "raw")]
