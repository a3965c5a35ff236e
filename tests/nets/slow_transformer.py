"""The transformer read straight from its definition: head by head, move by move, one position at a time.

Weights are taken from a network; nothing else of it is used.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rookery.nets.configs import TransformerConfig
from rookery.nets.transformer import Heads, Transformer


def gelu(x: Tensor) -> Tensor:
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


def layer_norm(x: Tensor, norm: torch.nn.LayerNorm) -> Tensor:
    """Shift and scale each token's numbers to mean 0 and variance 1, then by the learned ones."""
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    return centred / (variance + norm.eps).sqrt() * norm.weight + norm.bias


def attention(x: Tensor, attn: torch.nn.Module) -> Tensor:
    """Sum what each head writes; x is [T, width]."""
    out = torch.zeros_like(x)
    for head in range(len(attn.W_Q)):
        queries, keys, values = (x @ weights[head].T for weights in (attn.W_Q, attn.W_K, attn.W_V))
        scores = queries @ keys.T / math.sqrt(queries.shape[1])
        pattern = scores.exp() / scores.exp().sum(1, keepdim=True)
        out = out + pattern @ values @ attn.W_O[head]
    return out


def squares_of_moves(config: TransformerConfig) -> list[tuple[int, int]]:
    """List the two squares of each move, in the order of the game's actions."""
    rows, cols = config.rows, config.cols
    vertical = [(cols * r + c, cols * (r + 1) + c) for r in range(rows - 1) for c in range(cols)]
    horizontal = [(cols * r + c, cols * r + c + 1) for c in range(cols - 1) for r in range(rows)]
    return vertical + horizontal


def slow_stream(network: Transformer, tokens: Tensor, depth: int | None = None) -> Tensor:
    """Return the stream of one position behind so many layers, [T, width]."""
    states = torch.stack([network.state_embed.weight[token] for token in tokens])
    x = states + network.pos_embed.weight
    for layer in list(network.layers)[:depth]:
        x = x + attention(layer_norm(x, layer.ln1), layer.attn)
        mlp = layer.mlp
        hidden = gelu(layer_norm(x, layer.ln2) @ mlp.W_in.weight.T + mlp.W_in.bias)
        x = x + hidden @ mlp.W_out.weight.T + mlp.W_out.bias
    return x


def slow_heads(network: Transformer, tokens: Tensor, depth: int | None = None) -> Heads:
    """Judge positions [N, T] one by one; moves by the whole matrix of pairs."""
    answers = [slow_answer(network, row, depth) for row in tokens]
    return Heads(*(torch.stack(column) for column in zip(*answers, strict=True)))


def slow_answer(network: Transformer, tokens: Tensor, depth: int | None) -> Heads:
    x = layer_norm(slow_stream(network, tokens, depth), network.final_ln)
    board, head = x[-1], network.policy_head
    pairs = torch.stack([torch.cat((x[first], x[second])) for first, second in squares_of_moves(network.config)])
    policy = gelu(pairs @ head.W_in.weight.T + head.W_in.bias) @ head.W_out.weight[0] + head.W_out.bias
    value = board @ network.value_head.weight[0] + network.value_head.bias[0]
    return Heads(value, policy, network.sector_head.weight @ board + network.sector_head.bias)
