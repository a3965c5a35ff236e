"""Networks for other programs: safetensors and ONNX.

    export_network("pylos.onnx", loaded.network, loaded.about)

An ONNX file reads `observations` [batch, O] and answers with `logits` [batch, A] and `values` [batch]; what the network
was taught stands in its metadata under `rookery`. The graph is written layer by layer, as the network is in evaluation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.configs import TowerConfig
from rookery.nets.files import SUFFIXES, About, save_network
from rookery.nets.network import Network
from rookery.nets.residual import Block, Perceptron, Residual
from rookery.nets.tower import Squeeze, Tower, TowerBlock
from rookery.nets.transformer import Attention, Layer, PolicyHead, Transformer
from rookery.writing import write_whole

OPSET, IR_VERSION = 17, 8  # old enough for programs of recent years, new enough for all that is used here
ENDINGS = (*SUFFIXES, ".onnx")


def export_network(path: str | Path, network: Network, about: About, half: bool = False) -> None:
    """Write a network for other programs, by the file's ending: .safetensors, .onnx, or .pth; the first and last may
    have numbers of half precision."""
    if Path(path).suffix not in ENDINGS:
        raise BadInput(f"{str(path)!r}: a network is exported to a file that ends in {' or '.join(ENDINGS)}")
    if Path(path).suffix != ".onnx":
        save_network(path, network, about, half)
    elif half:
        raise BadInput(f"{str(path)!r}: ONNX is written in single precision only")
    else:
        write_whole(path, onnx_bytes(network, about))


def onnx_bytes(network: Network, about: About) -> bytes:
    """Write a network as an ONNX file."""
    try:
        import onnx
    except ImportError:
        raise BadInput("writing ONNX needs the package onnx: pip install 'rookery[export]'") from None
    if type(network) not in WRITERS:
        raise BadInput(f"a network of kind {network.config.kind!r} is not written as ONNX; .safetensors holds it")
    graph = Graph()
    logits, values = WRITERS[type(network)](graph, network)
    graph.node("Identity", logits, output="logits")
    graph.node("Reshape", graph.node("Tanh", values), graph.wholes([-1]), output="values")
    made = onnx.helper.make_graph(
        graph.nodes,
        f"rookery {network.config.kind}",
        [described("observations", "batch", network.config.inputs)],
        [described("logits", "batch", network.config.actions), described("values", "batch")],
        graph.constants,
    )
    model = onnx.helper.make_model(
        made, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="rookery"
    )
    facts = {"network": network.config.model_dump(mode="json"), "about": about.model_dump()}
    onnx.helper.set_model_props(model, {"rookery": json.dumps(facts)})
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def described(name: str, *shape: str | int) -> Any:
    """Describe an input or output of a graph; a word stands for any length."""
    import onnx

    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)


class Graph:
    """An ONNX graph while it is written. Values are known by their names."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add an operation; return the name of its output."""
        import onnx

        output = output or f"value{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(self, array: Any) -> str:
        """Add a constant; return its name."""
        import onnx

        name = f"constant{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def weights(self, tensor: Tensor) -> str:
        """Add the weights of a layer."""
        return self.constant(tensor.detach().cpu().float().contiguous().numpy())

    def wholes(self, numbers: list[int]) -> str:
        """Add a short list of whole numbers, such as a shape."""
        import numpy as np

        return self.constant(np.array(numbers, np.int64))

    def linear(self, x: str, layer: nn.Linear) -> str:
        """Add a linear layer."""
        return self.node("Gemm", x, self.weights(layer.weight), self.weights(layer.bias), transB=1)

    def convolution(self, x: str, layer: nn.Conv2d) -> str:
        """Add a convolution that keeps the board's size."""
        bias = [] if layer.bias is None else [self.weights(layer.bias)]
        edge = layer.kernel_size[0] // 2
        return self.node("Conv", x, self.weights(layer.weight), *bias, pads=[edge] * 4)

    def norm(self, x: str, norm: nn.BatchNorm1d | nn.BatchNorm2d) -> str:
        """Add a BatchNorm."""
        assert norm.running_mean is not None
        assert norm.running_var is not None
        tensors = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
        return self.node("BatchNormalization", x, *(self.weights(tensor) for tensor in tensors), epsilon=norm.eps)

    def singles(self, *numbers: float) -> str:
        """Add a list of numbers of single precision."""
        import numpy as np

        return self.constant(np.array(numbers, np.float32))

    def product(self, x: str, weight: Tensor, bias: Tensor | None = None) -> str:
        """Add x weight^T + bias, for x of any number of axes."""
        found = self.node("MatMul", x, self.weights(weight.mT))
        return found if bias is None else self.node("Add", found, self.weights(bias))

    def layer_norm(self, x: str, norm: nn.LayerNorm) -> str:
        """Add a LayerNorm."""
        return self.node("LayerNormalization", x, self.weights(norm.weight), self.weights(norm.bias), epsilon=norm.eps)

    def gelu(self, x: str) -> str:
        """Add a GELU: x (1 + erf(x / sqrt 2)) / 2."""
        share = self.node("Erf", self.node("Mul", x, self.singles(0.5**0.5)))
        return self.node("Mul", self.node("Mul", x, self.singles(0.5)), self.node("Add", share, self.singles(1)))

    def part(self, x: str, axis: int, first: int, last: int) -> str:
        """Add what lies on an axis from first up to last."""
        return self.node("Slice", x, *(self.wholes([number]) for number in (first, last, axis)))

    def relu(self, x: str) -> str:
        """Add a ReLU."""
        return self.node("Relu", x)


# ---- the kinds: each returns logits and the value before tanh -------------------------------------


def write_perceptron(graph: Graph, network: Perceptron) -> tuple[str, str]:
    """Write a perceptron."""
    x = "observations"
    for layer in network.layers():
        x = graph.relu(graph.linear(x, layer))
    return graph.linear(x, network.policy_head), graph.linear(x, network.value_head)


def write_residual(graph: Graph, network: Residual) -> tuple[str, str]:
    """Write a residual perceptron."""
    x = graph.relu(graph.norm(graph.linear("observations", network.input_fc), network.input_bn))
    for block in network.blocks:
        assert isinstance(block, Block)
        inner = graph.linear(graph.relu(graph.norm(x, block.bn1)), block.fc1)
        outer = graph.linear(graph.relu(graph.norm(inner, block.bn2)), block.fc2)
        x = graph.node("Add", x, outer)
    policy = graph.relu(graph.norm(graph.linear(x, network.policy_fc1), network.policy_bn))
    value = graph.relu(graph.norm(graph.linear(x, network.value_fc1), network.value_bn))
    return graph.linear(policy, network.policy_fc2), graph.linear(value, network.value_fc2)


def write_tower(graph: Graph, network: Tower) -> tuple[str, str]:
    """Write a convolutional tower."""
    config = network.config
    x = graph.node("Reshape", "observations", graph.wholes([-1, config.planes, config.rows, config.cols]))
    x = graph.relu(graph.norm(graph.convolution(x, network.input_conv), network.input_bn))
    for block in network.blocks:
        assert isinstance(block, TowerBlock)
        inner = graph.norm(graph.convolution(x, block.conv1), block.bn1)
        if block.pool_fc is not None:
            pooled = write_over_board(graph, graph.relu(graph.part(inner, 1, 0, block.pooling)))
            inner = graph.node("Add", inner, for_cells(graph, graph.linear(pooled, block.pool_fc)))
        outer = graph.norm(graph.convolution(graph.relu(inner), block.conv2), block.bn2)
        if block.squeeze is not None:
            outer = write_squeeze(graph, outer, block.squeeze)
        x = graph.relu(graph.node("Add", x, outer))
    cells = graph.relu(graph.norm(graph.convolution(x, network.policy_conv1), network.policy_bn))
    logits = write_cell_logits(graph, graph.convolution(cells, network.policy_conv2), config)
    pooled = write_over_board(graph, x)
    if network.extra_fc is not None:
        logits = graph.node("Concat", logits, graph.linear(pooled, network.extra_fc), axis=1)
    return logits, graph.linear(graph.relu(graph.linear(pooled, network.value_fc1)), network.value_fc2)


def write_over_board(graph: Graph, x: str) -> str:
    """Write the mean and the greatest number of each plane."""
    pools = [graph.node("Flatten", graph.node(kind, x)) for kind in ("GlobalAveragePool", "GlobalMaxPool")]
    return graph.node("Concat", *pools, axis=1)


def for_cells(graph: Graph, x: str) -> str:
    """Let a number of each plane, [N, planes], stand for all its cells."""
    return graph.node("Unsqueeze", x, graph.wholes([2, 3]))


def write_squeeze(graph: Graph, x: str, squeeze: Squeeze) -> str:
    """Write squeeze-excitation."""
    means = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    units = graph.relu(graph.linear(means, squeeze.read))
    scale = for_cells(graph, graph.node("Sigmoid", graph.linear(units, squeeze.scale)))
    return graph.node("Add", graph.node("Mul", x, scale), for_cells(graph, graph.linear(units, squeeze.shift)))


def write_cell_logits(graph: Graph, planes: str, config: TowerConfig) -> str:
    """Write how the logits of cells become those of actions."""
    if not config.pairs:
        return graph.node("Flatten", planes)
    rows, cols = config.rows, config.cols
    parts = []
    for plane, bounds in ((0, (rows - 1, cols)), (1, (rows, cols - 1))):
        starts, ends = graph.wholes([plane, 0, 0]), graph.wholes([plane + 1, *bounds])
        part = graph.node("Slice", planes, starts, ends, graph.wholes([1, 2, 3]))
        parts.append(graph.node("Flatten", graph.node("Transpose", part, perm=[0, 1, 3, 2]) if plane else part))
    return graph.node("Concat", *parts, axis=1)


def write_transformer(graph: Graph, network: Transformer) -> tuple[str, str]:
    """Write a transformer."""
    config = network.config
    tokens = graph.node("Cast", "observations", to=7)  # whole numbers of 64 bits
    if not config.side_token:
        tokens = graph.node("Min", tokens, graph.wholes([config.states - 1]))
    known = graph.wholes(list(range(config.all_states)))
    states = graph.node("Equal", graph.node("Unsqueeze", tokens, graph.wholes([2])), known)
    x = graph.product(graph.node("Cast", states, to=1), network.state_embed.weight.mT)
    x = graph.node("Add", x, graph.weights(network.pos_embed.weight))
    for layer in network.layers:
        assert isinstance(layer, Layer)
        x = graph.node("Add", x, write_attention(graph, graph.layer_norm(x, layer.ln1), layer.attn, config.inputs))
        mlp = layer.mlp
        inner = graph.gelu(graph.product(graph.layer_norm(x, layer.ln2), mlp.W_in.weight, mlp.W_in.bias))
        x = graph.node("Add", x, graph.product(inner, mlp.W_out.weight, mlp.W_out.bias))
    x = graph.layer_norm(x, network.final_ln)
    board = graph.node("Flatten", graph.part(x, 1, config.squares, config.inputs))
    value = graph.node("Mul", graph.linear(board, network.value_head), write_half_sign(graph, tokens, network))
    return write_moves(graph, graph.part(x, 1, 0, config.squares), network.policy_head), value


def write_attention(graph: Graph, x: str, attention: Attention, tokens: int) -> str:
    """Write what the heads of a layer add to the stream."""
    heads, width, _ = attention.W_Q.shape
    shape = graph.wholes([-1, tokens, heads, width])
    parts = [graph.node("Reshape", graph.product(x, w.flatten(0, 1)), shape) for w in (attention.W_Q, attention.W_V)]
    queries, values = (graph.node("Transpose", part, perm=[0, 2, 1, 3]) for part in parts)
    keys = graph.node("Reshape", graph.product(x, attention.W_K.flatten(0, 1)), shape)
    scores = graph.node("MatMul", queries, graph.node("Transpose", keys, perm=[0, 2, 3, 1]))
    pattern = graph.node("Softmax", graph.node("Mul", scores, graph.singles(width**-0.5)), axis=-1)
    mixed = graph.node("Transpose", graph.node("MatMul", pattern, values), perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", mixed, graph.wholes([-1, tokens, heads * width]))
    return graph.product(mixed, attention.W_O.flatten(0, 1).mT)


def write_moves(graph: Graph, squares: str, head: PolicyHead) -> str:
    """Write the logits of moves from what is known of each square."""
    hidden = len(head.W_in.bias)
    grid = graph.wholes([-1, head.rows, head.cols, hidden])
    left, right = head.W_in.weight.chunk(2, 1)
    first = graph.node("Reshape", graph.product(squares, left, head.W_in.bias), grid)
    second = graph.node("Reshape", graph.product(squares, right), grid)
    found = []
    for axis, length in ((1, head.rows), (2, head.cols)):
        pairs = graph.node("Add", graph.part(first, axis, 0, length - 1), graph.part(second, axis, 1, length))
        logits = graph.product(graph.gelu(pairs), head.W_out.weight, head.W_out.bias)
        found.append(graph.node("Transpose", logits, perm=[0, axis, 3 - axis, 3]))
    return graph.node("Concat", *(graph.node("Flatten", logits) for logits in found), axis=1)


def write_half_sign(graph: Graph, tokens: str, network: Transformer) -> str:
    """Write 1/2 where Vertical is to move and -1/2 where Horizontal is, [N, 1]."""
    config = network.config
    if config.side_token:
        board = graph.part(tokens, 1, config.squares, config.inputs)
        other = graph.node("Cast", graph.node("Equal", board, graph.wholes([config.states])), to=1)
    else:
        covered = graph.node("Greater", graph.part(tokens, 1, 0, config.squares), graph.wholes([0]))
        count = graph.node("ReduceSum", graph.node("Cast", covered, to=7), graph.wholes([1]), keepdims=1)
        dominoes = graph.node("Div", count, graph.wholes([2]))
        other = graph.node("Cast", graph.node("Mod", dominoes, graph.wholes([2])), to=1)
    return graph.node("Sub", graph.singles(0.5), other)


WRITERS: dict[type[Network], Any] = {
    Perceptron: write_perceptron, Residual: write_residual, Tower: write_tower, Transformer: write_transformer,
}  # fmt: skip
