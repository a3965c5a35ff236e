"""Networks made ready for judging: BatchNorm is folded into the layers around it.

    judge = fold(network, "cuda", torch.bfloat16)
    logits, values = judge(observations)     # a plain function: no randomness, nothing that waits for the device
    judge.update(network)                    # new weights into the same memory, so that a captured graph goes on

After a layer, a BatchNorm is a scale and a shift of its outputs and goes into its weights. Before a ReLU in a
pre-activation block it acts on the stream x that all blocks share, and cannot. But relu(a x + b), with a > 0 and
t = b / a, is a (max(x, -t) + t), and with a < 0 it is a (min(x, -t) + t): a clamp, whose factor a and shift t go into
the layer that follows. So a block costs a clamp and two products. Biases that are added to the stream are constants;
they are left out of it and counted in wherever the stream is read.

A transformer has no BatchNorm; a network of Lc0's kind judges by its own modules, on weights in the numbers asked for.
"""

from __future__ import annotations

import copy
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.errors import BadInput
from rookery.nets.configs import ResidualConfig, TowerConfig, TransformerConfig
from rookery.nets.fused import convolve_and_add, is_better, noise
from rookery.nets.lc0.trained import AttentionBodyNetwork
from rookery.nets.network import Answers, Network
from rookery.nets.residual import Block, Perceptron, Residual
from rookery.nets.tower import Tower, TowerBlock, cell_logits, over_board
from rookery.nets.transformer import Layer, Transformer, embedded, move_logits, mover_sign, tokens_of

Weights = dict[str, Tensor]
WIDENED = 16
STEADY_ROWS = 4
"""a product with fewer rows is summed in another order: with one on Intel's processors, with up to three on AMD's"""


def precise(tensor: Tensor) -> Tensor:
    """Copy weights in double precision; Apple's devices have none, so theirs go to the CPU."""
    source = tensor.detach()
    return source.cpu().double() if source.device.type == "mps" else source.double()


def scale_and_shift(norm: nn.Module) -> tuple[Tensor, Tensor]:
    """Return a and b, so that a BatchNorm in evaluation is a x + b."""
    assert isinstance(norm, nn.BatchNorm1d | nn.BatchNorm2d)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = precise(norm.weight) / (precise(norm.running_var) + norm.eps).sqrt()
    return scale, precise(norm.bias) - precise(norm.running_mean) * scale


def plain(layer: nn.Linear, norm: nn.Module | None = None) -> tuple[Tensor, Tensor]:
    """Return weights [inputs, outputs] and bias of a linear layer and the BatchNorm behind it."""
    weight, bias = precise(layer.weight).t(), precise(layer.bias)
    if norm is None:
        return weight, bias
    scale, shift = scale_and_shift(norm)
    return weight * scale, bias * scale + shift


def widened(layer: nn.Linear) -> tuple[Tensor, Tensor]:
    """Return weights and bias of a layer; one with few outputs gets more, up to 16, that are 0.

    Products with few columns are summed in another order for another number of rows, on some processors for another
    place among them; with 16 columns they are not.
    """
    weight, bias = plain(layer)
    more = max(0, WIDENED - len(bias))
    return functional.pad(weight, (0, more)), functional.pad(bias, (0, more))


def relu_linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return relu(x weight + bias), on a card by a single kernel."""
    if x.is_cuda:
        return torch._addmm_activation(bias, x, weight)
    return torch.addmm(bias, x, weight).relu_()


def laid_out(tensor: Tensor) -> Tensor:
    """Put numbers in the order that products are fastest with: of planes, the numbers of one cell together."""
    order = torch.channels_last if tensor.ndim == 4 else torch.contiguous_format
    return tensor.contiguous(memory_format=order)


class Folded:
    """A network for judging only. Same input, same answers."""

    steady_rows = 1
    """a CPU should be asked about so many rows or more, or the answers for a row depend on their number"""
    most_rows: ClassVar[dict[str, int]] = {}
    """rows that a pass on a kind of device should be made of at most, where the network takes much memory for a row"""

    def __init__(self, network: Network, device: torch.device | str, dtype: torch.dtype):
        self.config, self.dtype = network.config, dtype
        self.weights = {name: laid_out(tensor.to(device, dtype)) for name, tensor in self.fold(network).items()}

    def update(self, network: Network) -> None:
        """Take over the weights of a network of the same configuration, into the same memory."""
        if network.config != self.config:
            raise BadInput(f"weights of {network.config!r} do not fit a network of {self.config!r}")
        for name, tensor in self.fold(network).items():
            self.weights[name].copy_(tensor)

    def fold(self, network: Network) -> Weights:
        """Return the weights for judging, in double precision."""
        raise NotImplementedError

    def __call__(self, observations: Tensor) -> Answers:
        """Judge N positions: observations [N, O] of any float type to logits [N, A] and values [N], float32."""
        logits, values = self.answers(observations)
        return logits.float(), values

    def answers(self, observations: Tensor) -> Answers:
        """Judge N positions; the logits come in the numbers that are computed with."""
        raise NotImplementedError

    def relu(self, name: str, x: Tensor) -> Tensor:
        """Apply a linear layer and ReLU."""
        return relu_linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def linear(self, name: str, x: Tensor) -> Tensor:
        """Apply a linear layer."""
        return torch.addmm(self.weights[f"{name}.bias"], x, self.weights[f"{name}.weight"])

    def policy(self, x: Tensor) -> Tensor:
        """Apply the last layer of the policy."""
        return self.linear("policy", x)[:, : self.config.actions].contiguous()

    def value(self, x: Tensor) -> Tensor:
        """Apply the last layer of the value."""
        return self.linear("value", x)[:, 0].float().tanh()


def named(**layers: tuple[Tensor, Tensor]) -> Weights:
    """Give layers their names."""
    return {f"{name}.{part}": both[n] for name, both in layers.items() for n, part in enumerate(("weight", "bias"))}


# ---- the kinds -----------------------------------------------------------------------------------


class FoldedPerceptron(Folded):
    """A perceptron: there is nothing to fold."""

    steady_rows = STEADY_ROWS

    def fold(self, network: Network) -> Weights:
        """Return the weights for judging."""
        assert isinstance(network, Perceptron)
        hidden = {f"hidden{n}": plain(layer) for n, layer in enumerate(network.layers())}
        self.depth = len(hidden)
        return named(**hidden, policy=widened(network.policy_head), value=widened(network.value_head))

    def answers(self, observations: Tensor) -> Answers:
        """Judge N positions; the logits come in the numbers that are computed with."""
        x = observations.to(self.dtype)
        for n in range(self.depth):
            x = self.relu(f"hidden{n}", x)
        return self.policy(x), self.value(x)


class FoldedResidual(Folded):
    """A residual perceptron: one clamp and two products a block, the first layers of both heads in one product."""

    steady_rows = STEADY_ROWS
    config: ResidualConfig

    def fold(self, network: Network) -> Weights:
        """Return the weights for judging."""
        assert isinstance(network, Residual)
        weights = named(stem=plain(network.input_fc, network.input_bn))
        left_out = torch.zeros_like(weights["stem.bias"])  # of the stream: the biases added to it so far
        for n, block in enumerate(network.blocks):
            assert isinstance(block, Block)
            weights |= {f"{n}.{name}": tensor for name, tensor in self.fold_block(block, left_out).items()}
            left_out = left_out + precise(block.fc2.bias)
        policy, value = plain(network.policy_fc1, network.policy_bn), plain(network.value_fc1, network.value_bn)
        weight, bias = torch.cat((policy[0], value[0]), 1), torch.cat((policy[1], value[1]))
        heads = {"heads": (weight, bias + left_out @ weight)}
        return weights | named(**heads, policy=widened(network.policy_fc2), value=widened(network.value_fc2))

    def fold_block(self, block: Block, left_out: Tensor) -> Weights:
        """Fold one block.

        The bias of its first layer is computed from weights and bounds as they are stored: a unit that is off then
        adds exactly nothing.
        """
        scale, shift = scale_and_shift(block.bn1)
        shift = shift + scale * left_out
        weight, bias = plain(block.fc1, block.bn2)
        dead = shift.abs() >= scale.abs() * (torch.finfo(self.dtype).max / 10)  # as good as a constant
        turn = torch.where(dead, 0.0, -shift / scale).to(self.dtype).double()
        low = torch.where((scale > 0) | dead, turn, -torch.inf)
        high = torch.where((scale < 0) | dead, turn, torch.inf)
        scaled = (weight * torch.where(dead, 0.0, scale)[:, None]).to(self.dtype).double()
        bias = bias - turn @ scaled + torch.where(dead, shift.relu(), 0.0) @ weight
        return {"low": low, "high": high, "first.weight": scaled, "first.bias": bias, "second": plain(block.fc2)[0]}

    def answers(self, observations: Tensor) -> Answers:
        """Judge N positions; the logits come in the numbers that are computed with."""
        x = self.relu("stem", observations.to(self.dtype))
        for n in range(self.config.blocks):
            inner = self.relu(f"{n}.first", x.clamp(self.weights[f"{n}.low"], self.weights[f"{n}.high"]))
            x.addmm_(inner, self.weights[f"{n}.second"])
        heads = self.relu("heads", x)
        policy, value = heads[:, : self.config.policy_hidden], heads[:, self.config.policy_hidden :]
        return self.policy(policy), self.value(value)


class FoldedTower(Folded):
    """A tower: every BatchNorm goes into the convolution before it."""

    config: TowerConfig

    def __init__(self, network: Network, device: torch.device | str, dtype: torch.dtype):
        super().__init__(network, device, dtype)
        self.fused = self.fuses()

    def fuses(self) -> bool:
        """Tell whether fused kernels do a block's work, and faster; tried on noise."""
        config, weight = self.config, self.weights["stem.weight"]
        if not (weight.is_cuda and config.blocks) or self.dtype == torch.float32 or config.squeeze or config.pooling:
            return False
        x = noise(config.width, config.rows, config.cols, weight)
        return is_better(lambda: self.fused_block(0, x), lambda: self.block(0, x))

    def fold(self, network: Network) -> Weights:
        """Return the weights for judging."""
        assert isinstance(network, Tower)
        weights = named(stem=folded_convolution(network.input_conv, network.input_bn))
        for n, block in enumerate(network.blocks):
            assert isinstance(block, TowerBlock)
            first, second = folded_convolution(block.conv1, block.bn1), folded_convolution(block.conv2, block.bn2)
            weights |= named(**{f"{n}.first": first, f"{n}.second": second})
            if block.pool_fc is not None:
                weights |= named(**{f"{n}.pool": plain(block.pool_fc)})
            if block.squeeze is not None:
                scale, shift = plain(block.squeeze.scale), plain(block.squeeze.shift)
                both = torch.cat((scale[0], shift[0]), 1), torch.cat((scale[1], shift[1]))
                weights |= named(**{f"{n}.read": plain(block.squeeze.read), f"{n}.excite": both})
        last = network.policy_conv2
        assert last.bias is not None
        weights |= named(
            cells=folded_convolution(network.policy_conv1, network.policy_bn),
            policy=(precise(last.weight), precise(last.bias)),
            hidden=plain(network.value_fc1), value=widened(network.value_fc2),
        )  # fmt: skip
        return weights | (named(extra=plain(network.extra_fc)) if network.extra_fc is not None else {})

    def convolve(self, name: str, x: Tensor) -> Tensor:
        """Apply a convolution that keeps the board's size."""
        weight = self.weights[f"{name}.weight"]
        return functional.conv2d(x, weight, self.weights[f"{name}.bias"], padding=weight.shape[-1] // 2)

    def answers(self, observations: Tensor) -> Answers:
        """Judge N positions; the logits come in the numbers that are computed with."""
        config = self.config
        x = self.trunk(observations.to(self.dtype).view(-1, config.planes, config.rows, config.cols))
        logits = self.cells(x)
        pooled = over_board(x)
        if config.extra_actions:
            logits = torch.cat((logits, self.linear("extra", pooled)), 1)
        return logits, self.value(self.relu("hidden", pooled))

    def trunk(self, planes: Tensor) -> Tensor:
        """Return what the heads read, [N, width, rows, cols], from planes [N, planes, rows, cols]."""
        x = self.convolve("stem", laid_out(planes)).relu_()
        for n in range(self.config.blocks):
            x = self.fused_block(n, x) if self.fused else self.block(n, x)
        return x

    def block(self, n: int, x: Tensor) -> Tensor:
        """Apply a block, a kernel for each part of it."""
        inner = self.convolve(f"{n}.first", x)
        if self.config.pooling and n % 2:
            inner += self.linear(f"{n}.pool", over_board(inner[:, : self.config.pooling].relu()))[:, :, None, None]
        outer = self.convolve(f"{n}.second", inner.relu_())
        if self.config.squeeze:
            outer = self.excited(n, outer)
        return outer.add_(x).relu_()

    def fused_block(self, n: int, x: Tensor) -> Tensor:
        """Apply a block by two kernels of a card's library; the first adds nothing of what came in."""
        inner = convolve_and_add(x, self.weights[f"{n}.first.weight"], self.weights[f"{n}.first.bias"], x, 0.0)
        return convolve_and_add(inner, self.weights[f"{n}.second.weight"], self.weights[f"{n}.second.bias"], x, 1.0)

    def excited(self, n: int, outer: Tensor) -> Tensor:
        """Apply the squeeze-excitation of a block."""
        both = self.linear(f"{n}.excite", self.relu(f"{n}.read", outer.mean((2, 3))))[:, :, None, None]
        scale, shift = both.chunk(2, 1)
        return torch.addcmul(shift, outer, scale.sigmoid())

    def cells(self, x: Tensor) -> Tensor:
        """Return the logits of the actions that belong to cells."""
        return cell_logits(self.convolve("policy", self.convolve("cells", x).relu_()), self.config)


class FoldedTransformer(Folded):
    """A transformer: its weights in half precision if asked, queries, keys and values in one product."""

    config: TransformerConfig
    most_rows: ClassVar[dict[str, int]] = {"cpu": 16, "cuda": 4096, "mps": 512}

    def fold(self, network: Network) -> Weights:
        """Return the weights for judging."""
        assert isinstance(network, Transformer)
        weights = {"states": precise(network.state_embed.weight), "places": precise(network.pos_embed.weight)}
        for n, layer in enumerate(network.layers):
            assert isinstance(layer, Layer)
            attn = layer.attn
            weights[f"{n}.read"] = torch.cat([precise(w) for w in (attn.W_Q, attn.W_K, attn.W_V)]).flatten(0, 1).t()
            weights[f"{n}.write"] = precise(attn.W_O).flatten(0, 1)
            weights |= named(**{f"{n}.ln1": norm_of(layer.ln1), f"{n}.ln2": norm_of(layer.ln2)})
            weights |= named(**{f"{n}.in": plain(layer.mlp.W_in), f"{n}.out": plain(layer.mlp.W_out)})
        weight, bias = plain(network.policy_head.W_in)
        last = network.policy_head.W_out
        halves = torch.cat(weight.chunk(2), 1), torch.cat((bias, torch.zeros_like(bias)))
        weights |= named(halves=halves, policy=(precise(last.weight)[0], precise(last.bias)))
        return weights | named(final=norm_of(network.final_ln), value=widened(network.value_head))

    def normed(self, name: str, x: Tensor) -> Tensor:
        """Apply a LayerNorm."""
        return functional.layer_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def answers(self, observations: Tensor) -> Answers:
        """Judge N positions; the logits come in the numbers that are computed with."""
        config, weights = self.config, self.weights
        tokens = tokens_of(observations, config)
        x = embedded(tokens, weights["states"], weights["places"]).flatten(0, 1)  # [N T, width]
        for n in range(config.layers):
            x.addmm_(self.mixed(n, self.normed(f"{n}.ln1", x)), weights[f"{n}.write"])
            inner = functional.gelu(self.linear(f"{n}.in", self.normed(f"{n}.ln2", x)))
            x += self.linear(f"{n}.out", inner)
        x = self.normed("final", x)
        halves = self.linear("halves", x).view(*tokens.shape, 2 * config.policy_hidden)[:, :-1]
        logits = move_logits(halves, weights["policy.weight"], weights["policy.bias"], config.rows, config.cols)
        board = x.view(*tokens.shape, config.width)[:, -1]
        sign = mover_sign(tokens, config)
        return logits, (self.linear("value", board)[:, 0].float() * sign / 2).tanh()

    def mixed(self, n: int, x: Tensor) -> Tensor:
        """Return what the heads of a layer have gathered, [N T, heads head_width]."""
        config = self.config
        shape = (len(x) // config.inputs, config.inputs, 3, config.heads, config.head_width)
        parted = (x @ self.weights[f"{n}.read"]).view(shape)
        queries, keys, values = parted.permute(2, 0, 3, 1, 4).unbind(0)
        gathered = functional.scaled_dot_product_attention(queries, keys, values)
        return gathered.transpose(1, 2).reshape(len(x), config.heads * config.head_width)


class FoldedAttentionBody(Folded):
    """A network of Lc0's kind: its own modules, on a copy of its weights that `update` writes into."""

    steady_rows = STEADY_ROWS
    most_rows: ClassVar[dict[str, int]] = {"cpu": 64, "cuda": 4096, "mps": 512}

    def __init__(self, network: Network, device: torch.device | str, dtype: torch.dtype):
        super().__init__(network, device, dtype)
        self.module = copy.deepcopy(network).to(device, dtype).eval().requires_grad_(False)
        self.module.load_state_dict(self.weights, assign=True)

    def fold(self, network: Network) -> Weights:
        """Return the weights for judging."""
        return {name: precise(tensor) for name, tensor in network.state_dict().items()}

    def answers(self, observations: Tensor) -> Answers:
        """Judge N positions; the logits come in the numbers that are computed with."""
        logits, values = self.module(observations.to(self.dtype))
        return logits, values


def norm_of(norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """Return scale and shift of a LayerNorm."""
    return precise(norm.weight), precise(norm.bias)


def folded_convolution(layer: nn.Conv2d, norm: nn.Module) -> tuple[Tensor, Tensor]:
    """Return weights and bias of a convolution without bias and the BatchNorm behind it."""
    scale, shift = scale_and_shift(norm)
    return precise(layer.weight) * scale[:, None, None, None], shift


def fold(
    network: Network, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> FoldedPerceptron | FoldedResidual | FoldedTower | FoldedTransformer | FoldedAttentionBody:
    """Make a network ready for judging on a device."""
    if isinstance(network, Perceptron):
        return FoldedPerceptron(network, device, dtype)
    if isinstance(network, Residual):
        return FoldedResidual(network, device, dtype)
    if isinstance(network, Tower):
        return FoldedTower(network, device, dtype)
    if isinstance(network, Transformer):
        return FoldedTransformer(network, device, dtype)
    if isinstance(network, AttentionBodyNetwork):
        return FoldedAttentionBody(network, device, dtype)
    raise BadInput(f"a network of {type(network).__name__} cannot be folded")
