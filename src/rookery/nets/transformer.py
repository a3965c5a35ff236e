"""A transformer for boards on which a move covers two neighbouring squares: the network of the Domineering study.

Each square is a token, numbered row by row; one more, the last, stands for the board. A token's state is 0 (empty), 1
(covered) or 2 (the board's); with a side token the board's is 2 when Vertical is to move and 3 when Horizontal is.

    x = state_embed[token] + pos_embed[place]
    each layer:  x = x + attn(ln1(x));  x = x + mlp(ln2(x))
    x = final_ln(x);  value and sectors are read from the board's token, a move from its two squares

The weights of each head are matrices of their own: attn.W_Q[h], W_K[h], W_V[h] and W_O[h], each [head_width, width].
Row i of the first three says what number i of a head reads from the stream, row i of the last what it writes there. In
memory heads lie behind one another, so that a pass is one product for all heads and queries, keys and values together.

`heads` answers as the study asks: Vertical's chances, the policy, the sectors. `forward` answers as every network does,
from the mover's side. Activations have names (`hooks.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.nets.attention import attend
from rookery.nets.configs import TransformerConfig
from rookery.nets.network import Answers, Network


class Heads(NamedTuple):
    """What a transformer says of N positions."""

    vertical_win_logit: Tensor
    """[N] before the sigmoid: the chance that Vertical wins, whoever is to move"""
    policy: Tensor
    """[N, A] logits of all moves of both players, legal or not"""
    sectors: Tensor
    """[N, sectors] Vertical's moves minus Horizontal's in each part of the board"""


class Tap:
    """What looks at activations on their way and may put others in their place; this one does neither."""

    def wants(self, name: str) -> bool:
        """Tell whether an activation is asked for that is otherwise not computed."""
        return False

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Return what goes on in the place of x."""
        return x


SILENT = Tap()


class Attention(nn.Module):
    """Heads that look from every token at every token."""

    own_kernel = False
    """whether tokens are mixed by the kernels of `attention.py`: the same numbers but for rounding, sooner on a card"""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.W_O = (fresh_heads(config) for _ in range(4))

    def forward(self, x: Tensor, tap: Tap = SILENT, place: str = "") -> Tensor:
        """Return what the heads add to the stream: [N, T, width], from x [N, T, width]."""
        rows, tokens, _ = x.shape
        fused = torch.cat((self.W_Q, self.W_K, self.W_V)).flatten(0, 1)
        parted = functional.linear(x, fused).view(rows, tokens, 3, *self.W_Q.shape[:2])
        if self.own_kernel and tap is SILENT:
            return attend(parted).flatten(2) @ self.W_O.flatten(0, 1)
        queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))  # each [N, heads, T, head_width]
        queries, keys = tap(f"{place}.queries", queries), tap(f"{place}.keys", keys)
        values = tap(f"{place}.values", values)
        if tap.wants(f"{place}.pattern"):
            scores = queries @ keys.transpose(-2, -1) * queries.shape[-1] ** -0.5
            mixed = tap(f"{place}.pattern", scores.softmax(-1)) @ values
        else:
            mixed = functional.scaled_dot_product_attention(queries, keys, values)
        mixed = tap(f"{place}.mixed", mixed)
        return mixed.transpose(1, 2).flatten(2) @ self.W_O.flatten(0, 1)


def fresh_heads(config: TransformerConfig) -> nn.Parameter:
    """Make one matrix for each head."""
    return nn.Parameter(torch.randn(config.heads, config.head_width, config.width) * config.width**-0.5)


class MLP(nn.Module):
    """W_out gelu(W_in x): each hidden unit reads a row of W_in and writes a column of W_out."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.W_in = nn.Linear(config.width, config.mlp)
        self.W_out = nn.Linear(config.mlp, config.width)

    def forward(self, x: Tensor, tap: Tap = SILENT, place: str = "") -> Tensor:
        """Return what the units add to the stream."""
        hidden = tap(f"{place}.hidden", functional.gelu(self.W_in(x)))
        out: Tensor = self.W_out(hidden)
        return out


class Layer(nn.Module):
    """Attention, then hidden units, each reading the normed stream and adding to the stream itself."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.ln1 = nn.LayerNorm(config.width)
        self.attn = Attention(config)
        self.ln2 = nn.LayerNorm(config.width)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, tap: Tap = SILENT, place: str = "") -> Tensor:
        """Return the stream behind the layer."""
        attended = self.attn(tap(f"{place}.attn.in", self.ln1(x)), tap, f"{place}.attn")
        x = tap(f"{place}.middle", x + tap(f"{place}.attn.out", attended))
        thought = self.mlp(tap(f"{place}.mlp.in", self.ln2(x)), tap, f"{place}.mlp")
        return tap(f"{place}.out", x + tap(f"{place}.mlp.out", thought))


class PolicyHead(nn.Module):
    """The logit of a move: W_out gelu(W_in (first square, second square)).

    W_in times two squares behind one another is its left half times the first plus its right half times the second. So
    each square is multiplied once with both halves, and the pairs are only added up: on 16 x 16, 256 products instead
    of 480 as large, and no table of pairs.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.rows, self.cols = config.rows, config.cols
        self.W_in = nn.Linear(2 * config.width, config.policy_hidden)
        self.W_out = nn.Linear(config.policy_hidden, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [N, A] from squares [N, S, width]; a token behind them may come along, and is not read."""
        halves = torch.cat(self.W_in.weight.chunk(2, 1))
        bias = torch.cat((self.W_in.bias, torch.zeros_like(self.W_in.bias)))
        squares = functional.linear(tokens, halves, bias)[:, : self.rows * self.cols]
        return move_logits(squares, self.W_out.weight[0], self.W_out.bias, self.rows, self.cols)


def move_logits(halves: Tensor, weight: Tensor, bias: Tensor, rows: int, cols: int) -> Tensor:
    """Return the logits of all moves [N, A] from what each square gives as first and as second, [N, S, 2 hidden].

    weight  [hidden], bias [1]  of the last layer
    """
    first, second = halves.view(len(halves), rows, cols, 2, len(weight)).unbind(-2)
    vertical = functional.gelu(first[:, :-1] + second[:, 1:]) @ weight
    horizontal = functional.gelu(first[:, :, :-1] + second[:, :, 1:]) @ weight
    return torch.cat((vertical.flatten(1), horizontal.transpose(1, 2).flatten(1)), 1) + bias


class Transformer(Network):
    """A transformer over squares, with heads for the value, the policy and the sectors."""

    config: TransformerConfig

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.state_embed = nn.Embedding(config.all_states, config.width)
        self.pos_embed = nn.Embedding(config.inputs, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.final_ln = nn.LayerNorm(config.width)
        self.value_head = nn.Linear(config.width, 1)
        self.sector_head = nn.Linear(config.width, config.sectors)
        self.policy_head = PolicyHead(config)

    def heads(self, tokens: Tensor, depth: int | None = None, tap: Tap = SILENT) -> Heads:
        """Judge N positions.

        tokens  [N, T] int64, the state of each square and the board's token last; others than the states there are
                count as no state at all
        depth   layers to go through before the heads; None: all
        """
        x = tap("final", self.final_ln(self.stream(tokens, depth, tap)))
        board = x[:, -1]
        # all tokens go to the policy head: without the last, the others would have to be copied together
        return Heads(self.value_head(board).squeeze(1), self.policy_head(x), self.sector_head(board))

    def stream(self, tokens: Tensor, depth: int | None = None, tap: Tap = SILENT) -> Tensor:
        """Return the stream behind so many layers, [N, T, width]."""
        x = tap("embedded", embedded(tokens, self.state_embed.weight, self.pos_embed.weight))
        for number, layer in enumerate(self.layers[:depth]):
            x = layer(x, tap, f"layers.{number}")
        return x

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions from the mover's side; observations are tokens, in numbers of any kind.

        Without a side token the mover follows from the number of covered squares, as Vertical moves first.
        """
        tokens = tokens_of(observations, self.config)
        found = self.heads(tokens)
        return found.policy, (found.vertical_win_logit * mover_sign(tokens, self.config) / 2).tanh()


def embedded(tokens: Tensor, states: Tensor, places: Tensor) -> Tensor:
    """Return the first stream [N, T, width] of tokens [N, T].

    A product instead of a look-up: its gradient is a product too, and needs no sorting of all tokens. States that are
    none make it eight or sixteen wide, as cards multiply fastest.
    """
    states = functional.pad(states, (0, 0, 0, -len(states) % 8))
    known = torch.arange(len(states), device=tokens.device)
    return (tokens[..., None] == known).to(states.dtype) @ states + places


def tokens_of(observations: Tensor, config: TransformerConfig) -> Tensor:
    """Return the tokens of observations; a network without a side token takes no notice of who is said to move."""
    tokens = observations.long()
    return tokens if config.side_token else tokens.clamp_max(config.states - 1)


def mover_sign(tokens: Tensor, config: TransformerConfig) -> Tensor:
    """Return 1 where Vertical is to move and -1 where Horizontal is, [N]."""
    if config.side_token:
        return torch.where(tokens[:, -1] == config.states, -1, 1)
    dominoes = (tokens[:, :-1] > 0).sum(1) // 2
    return 1 - 2 * (dominoes % 2)


def masked(policy: Tensor, legal: Tensor) -> Tensor:
    """Return logits [N, A] under which no illegal move has a chance, in single precision or better.

    Half precision has no number small enough to be sure; and an infinite one, times a target of 0, would be no number.
    """
    wide = policy.to(torch.promote_types(policy.dtype, torch.float32))
    return wide.masked_fill(~legal, torch.finfo(wide.dtype).min / 2)
