"""Lc0's networks as ONNX, for other programs.

The graph reads `/input/planes` [batch, 112, 8, 8] and answers with `/output/policy` [batch, 1858], `/output/wdl`
[batch, 3] or `/output/value` [batch, 1], and `/output/mlh` [batch, 1] where the network tells the moves left: the names
that Lc0 gives them. It is written layer by layer, with the heads that are chosen.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.export import IR_VERSION, OPSET, Graph, described
from rookery.nets.lc0.bodies import DENSE_EPS, MAP_EPS, AttentionBody, TowerBody
from rookery.nets.lc0.config import PIECE_PLANES, PLANES, SQUARES, Lc0Config
from rookery.nets.lc0.heads import POLICY_EPS, AttentionPolicy, ConvolutionPolicy, DensePolicy, SquaresHead
from rookery.nets.lc0.layers import SMOLGEN_EPS, Attention, Convolution, Encoder, FeedForward, ResidualBlock, Smolgen
from rookery.nets.lc0.network import Lc0Network
from rookery.nets.lc0.schema import Activation

INPUT, POLICY, WDL, VALUE, MOVES_LEFT = "/input/planes", "/output/policy", "/output/wdl", "/output/value", "/output/mlh"
ONE_NODE = {
    Activation.RELU: "Relu",
    Activation.TANH: "Tanh",
    Activation.SIGMOID: "Sigmoid",
    Activation.SELU: "Selu",
}


def onnx_bytes(network: Lc0Network) -> bytes:
    """Write a network with its chosen heads as an ONNX file."""
    try:
        import onnx
    except ImportError:
        raise BadInput("writing ONNX needs the package onnx: pip install 'rookery[export]'") from None
    graph = Writer(network.config)
    outputs = graph.write(network)
    made = onnx.helper.make_graph(
        graph.nodes, "lc0", [described(INPUT, "batch", PLANES, 8, 8)], outputs, graph.constants
    )
    model = onnx.helper.make_model(
        made, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="rookery"
    )
    content: bytes = model.SerializeToString()
    return content


class Writer(Graph):
    """The graph of a network while it is written."""

    def __init__(self, config: Lc0Config):
        super().__init__()
        self.config = config

    # -- small things --

    def reshaped(self, x: str, *shape: int) -> str:
        """Add another shape; 0 keeps an axis."""
        return self.node("Reshape", x, self.wholes(list(shape)))

    def turned(self, x: str, *order: int) -> str:
        """Add another order of the axes."""
        return self.node("Transpose", x, perm=list(order))

    def normed(self, x: str, gammas: Tensor, betas: Tensor, eps: float) -> str:
        """Add a layer norm of the last axis."""
        return self.node("LayerNormalization", x, self.weights(gammas), self.weights(betas), epsilon=eps)

    def activated(self, x: str, activation: Activation) -> str:
        """Add a function between layers."""
        if activation in ONE_NODE:
            return self.node(ONE_NODE[activation], x)
        if activation == Activation.MISH:
            return self.node("Mul", x, self.node("Tanh", self.node("Softplus", x)))
        if activation == Activation.SWISH:
            return self.node("Mul", x, self.node("Sigmoid", x))
        if activation == Activation.RELU_2:
            half = self.node("Relu", x)
            return self.node("Mul", half, half)
        return x

    def convolved(self, x: str, layer: Convolution) -> str:
        """Add a convolution."""
        edge = layer.weights.shape[-1] // 2
        return self.node("Conv", x, self.weights(layer.weights), self.weights(layer.biases), pads=[edge] * 4)

    # -- the network --

    def write(self, network: Lc0Network) -> list[Any]:
        """Write everything; return the descriptions of the outputs."""
        body = network.body
        x = self.tower(body) if isinstance(body, TowerBody) else self.attention_body(body)
        self.node("Identity", self.policy(x, network), output=POLICY)
        outputs = [described(POLICY, "batch", 1858)]
        head = network.value_heads[network.value_head]
        assert isinstance(head, SquaresHead)
        raw = self.squares_head(x, head)
        if self.config.values[network.value_head].outputs == 3:
            self.node("Softmax", raw, output=WDL, axis=1)
            outputs.append(described(WDL, "batch", 3))
        else:
            self.node("Tanh", raw, output=VALUE)
            outputs.append(described(VALUE, "batch", 1))
        if network.moves_left_head is not None:
            self.node("Relu", self.squares_head(x, network.moves_left_head), output=MOVES_LEFT)
            outputs.append(described(MOVES_LEFT, "batch", 1))
        return outputs

    def tower(self, body: TowerBody) -> str:
        """Write a tower."""
        x = self.activated(self.convolved(INPUT, body.input), self.config.activation)
        for block in body.residual:
            assert isinstance(block, ResidualBlock)
            hidden = self.activated(self.convolved(x, block.conv1), self.config.activation)
            added = self.convolved(hidden, block.conv2)
            if block.se is not None:
                mean = self.node("ReduceMean", added, axes=[2, 3], keepdims=0)
                squeezed = self.activated(self.product(mean, block.se.w1, block.se.b1), self.config.activation)
                both = self.reshaped(self.product(squeezed, block.se.w2, block.se.b2), 0, -1, 1, 1)
                channels = block.se.w1.shape[1]
                scale = self.node("Sigmoid", self.part(both, 1, 0, channels))
                shift = self.part(both, 1, channels, 2 * channels)
                added = self.node("Add", self.node("Mul", scale, added), shift)
            x = self.activated(self.node("Add", added, x), self.config.activation)
        return x

    def attention_body(self, body: AttentionBody) -> str:
        """Write an attention body."""
        x = self.embedded(body)
        eps = DENSE_EPS if body.dense else MAP_EPS
        for layer in body.encoder:
            assert isinstance(layer, Encoder)
            x = self.encoder(x, layer, body.alpha, eps, self.config.ffn_activation, body.smolgen_w)
        return x

    def embedded(self, body: AttentionBody) -> str:
        """Write the embedding of an attention body."""
        squares = self.turned(self.reshaped(INPUT, 0, PLANES, SQUARES), 0, 2, 1)
        if body.dense:
            men = self.reshaped(self.part(squares, 2, 0, PIECE_PLANES), 0, SQUARES * PIECE_PLANES)
            appended = self.product(men, body.ip_emb_preproc_w, body.ip_emb_preproc_b)
            appended = self.reshaped(appended, 0, SQUARES, self.config.body.dense)
        else:
            assert isinstance(body.reach, Tensor)
            ones = self.node("Mul", self.part(squares, 2, 0, SQUARES), self.singles(0.0))
            appended = self.node("Add", ones, self.weights(body.reach))
        x = self.product(self.node("Concat", squares, appended, axis=2), body.ip_emb_w, body.ip_emb_b)
        x = self.activated(x, self.config.activation)
        if body.dense:
            x = self.normed(x, body.ip_emb_ln_gammas, body.ip_emb_ln_betas, DENSE_EPS)
        if body.ip_mult_gate is not None:
            x = self.node("Mul", x, self.weights(body.ip_mult_gate.mT))
        if body.ip_add_gate is not None:
            x = self.node("Add", x, self.weights(body.ip_add_gate.mT))
        if body.dense:
            thought = self.feed_forward(x, body.ip_emb_ffn, self.config.ffn_activation)
            x = self.added(x, thought, body.alpha)
            x = self.normed(x, body.ip_emb_ffn_ln_gammas, body.ip_emb_ffn_ln_betas, DENSE_EPS)
        return x

    def added(self, x: str, more: str, alpha: float) -> str:
        """Add x + alpha more."""
        return self.node("Add", x, self.node("Mul", more, self.singles(alpha)))

    def feed_forward(self, x: str, ffn: FeedForward, activation: Activation) -> str:
        """Write hidden units."""
        hidden = self.activated(self.product(x, ffn.dense1_w, ffn.dense1_b), activation)
        return self.product(hidden, ffn.dense2_w, ffn.dense2_b)

    def encoder(
        self, x: str, layer: Encoder, alpha: float, eps: float, activation: Activation, common: Tensor | None
    ) -> str:
        """Write a layer of attention and hidden units."""
        attended = self.attention(x, layer.mha, common)
        middle = self.normed(self.added(x, attended, alpha), layer.ln1_gammas, layer.ln1_betas, eps)
        thought = self.feed_forward(middle, layer.ffn, activation)
        return self.normed(self.added(middle, thought, alpha), layer.ln2_gammas, layer.ln2_betas, eps)

    def attention(self, x: str, mha: Attention, common: Tensor | None) -> str:
        """Write the heads of a layer."""
        width = mha.q_w.shape[0] // mha.heads

        def split(weights: Tensor, biases: Tensor, *order: int) -> str:
            return self.turned(self.reshaped(self.product(x, weights, biases), 0, SQUARES, mha.heads, width), *order)

        queries, values = split(mha.q_w, mha.q_b, 0, 2, 1, 3), split(mha.v_w, mha.v_b, 0, 2, 1, 3)
        scores = self.node("MatMul", queries, split(mha.k_w, mha.k_b, 0, 2, 3, 1))
        scores = self.node("Mul", scores, self.singles(width**-0.5))
        if mha.smolgen is not None:
            assert common is not None
            scores = self.node("Add", scores, self.smolgen(x, mha.smolgen, common))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=3), values)
        mixed = self.reshaped(self.turned(mixed, 0, 2, 1, 3), 0, SQUARES, mha.heads * width)
        return self.product(mixed, mha.dense_w, mha.dense_b)

    def smolgen(self, x: str, smolgen: Smolgen, common: Tensor) -> str:
        """Write what is added to the scores of a layer."""
        activation = self.config.smolgen_activation
        squares = self.reshaped(self.product(x, smolgen.compress), 0, -1)
        hidden = self.activated(self.product(squares, smolgen.dense1_w, smolgen.dense1_b), activation)
        hidden = self.normed(hidden, smolgen.ln1_gammas, smolgen.ln1_betas, SMOLGEN_EPS)
        made = self.activated(self.product(hidden, smolgen.dense2_w, smolgen.dense2_b), activation)
        made = self.normed(made, smolgen.ln2_gammas, smolgen.ln2_betas, SMOLGEN_EPS)
        added = self.product(self.reshaped(made, 0, smolgen.heads, -1), common)
        return self.reshaped(added, 0, smolgen.heads, SQUARES, SQUARES)

    # -- heads --

    def policy(self, x: str, network: Lc0Network) -> str:
        """Write the chosen policy head."""
        head: nn.Module = network.policy_heads[network.policy_head]
        if isinstance(head, DensePolicy):
            hidden = self.activated(self.convolved(x, head.policy), self.config.activation)
            return self.product(self.reshaped(hidden, 0, -1), head.ip_pol_w, head.ip_pol_b)
        if isinstance(head, ConvolutionPolicy):
            hidden = self.activated(self.convolved(x, head.policy1), self.config.activation)
            return self.picked(self.reshaped(self.convolved(hidden, head.policy), 0, -1), head.places)
        assert isinstance(head, AttentionPolicy)
        return self.attention_policy(x, head, network.shared_pair())

    def picked(self, raw: str, places: Tensor | nn.Module) -> str:
        """Put raw numbers in the order of the moves."""
        assert isinstance(places, Tensor)
        return self.node("Gather", raw, self.wholes(places.tolist()), axis=1)

    def attention_policy(self, x: str, head: AttentionPolicy, shared: tuple[Tensor, Tensor] | None) -> str:
        """Write an attention policy."""
        attention = self.config.attention
        squares = x if attention else self.turned(self.reshaped(x, 0, -1, SQUARES), 0, 2, 1)
        weights, biases = (head.ip_pol_w, head.ip_pol_b) if shared is None or head.own_embedding else shared
        e = self.product(squares, weights, biases)
        e = self.activated(e, self.config.activation if attention else Activation.SELU)
        for layer in head.pol_encoder:
            assert isinstance(layer, Encoder)
            ffn = self.config.ffn_activation if attention else Activation.SELU
            e = self.encoder(e, layer, 1.0, POLICY_EPS, ffn, None)
        queries = self.product(e, head.ip2_pol_w, head.ip2_pol_b)
        keys = self.product(e, head.ip3_pol_w, head.ip3_pol_b)
        pairs = self.node("MatMul", queries, self.turned(keys, 0, 2, 1))
        pairs = self.node("Mul", pairs, self.singles(head.ip3_pol_w.shape[0] ** -0.5))
        offsets = self.product(self.part(keys, 1, 56, 64), head.ip4_pol_w)
        offsets = self.node("Add", self.part(offsets, 2, 0, 3), self.part(offsets, 2, 3, 4))
        plain = self.part(self.part(pairs, 1, 48, 56), 2, 56, 64)
        promotions = self.node("Add", self.reshaped(plain, 0, 8, 8, 1), self.reshaped(offsets, 0, 1, 8, 3))
        raw = self.node("Concat", self.reshaped(pairs, 0, -1), self.reshaped(promotions, 0, -1), axis=1)
        return self.picked(raw, head.places)

    def squares_head(self, x: str, head: SquaresHead) -> str:
        """Write a value head, or that of the moves left, before its last function."""
        if head.attention:
            squares = self.dense(x, head, "ip")
        else:
            convolution = head.get_submodule(head.convolution)
            assert isinstance(convolution, Convolution)
            squares = self.convolved(x, convolution)
        squares = self.reshaped(self.activated(squares, self.config.activation), 0, -1)
        return self.dense(self.activated(self.dense(squares, head, "ip1"), self.config.activation), head, "ip2")

    def dense(self, x: str, head: SquaresHead, name: str) -> str:
        """Write one of the matrices of a head."""
        weights, biases = (head.get_parameter(f"{name}_{head.kind}_{part}") for part in "wb")
        return self.product(x, weights, biases)
