"""The two bodies of Lc0's networks: a residual tower, and attention over the 64 squares.

Both return the board as the heads read it: the tower [N, C, 8, 8], the attention body [N, 64, C].
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.nets.lc0.config import PIECE_PLANES, PLANES, SQUARES, BodyConfig, Lc0Config
from rookery.nets.lc0.layers import (
    FUNCTIONS,
    Convolution,
    Encoder,
    FeedForward,
    ResidualBlock,
    encoder_names,
    normed,
    numbers,
)
from rookery.nets.lc0.maps import reach_table
from rookery.nets.lc0.schema import Embedding
from rookery.nets.transformer import Tap

DENSE_EPS, MAP_EPS = 1e-3, 1e-6


class TowerBody(nn.Module):
    """Convolutions with residual blocks, each with or without squeeze and excitation."""

    def __init__(self, config: Lc0Config):
        super().__init__()
        body = config.body
        self.function = FUNCTIONS[config.activation]
        self.input = Convolution(PLANES, body.filters, 3)
        self.residual = nn.ModuleList(ResidualBlock(body.filters, squeeze) for squeeze in body.squeezes)

    def forward(self, planes: Tensor, tap: Tap) -> Tensor:
        """Return [N, filters, 8, 8] from the planes [N, 112, 8, 8]."""
        x = tap("embedded", self.function(self.input(planes)))
        for number, block in enumerate(self.residual):
            x = block(x, self.function, tap, f"layers.{number}")
        return x


def tower_names(body: BodyConfig) -> list[str]:
    """List the activations of a tower."""
    inside = [f"layers.{number}.{name}" for number in range(len(body.squeezes)) for name in ("hidden", "added", "out")]
    return ["embedded", *inside]


class AttentionBody(nn.Module):
    """Encoder layers over the squares, each of which brings its 112 planes and what the embedding appends."""

    def __init__(self, config: Lc0Config):
        super().__init__()
        body = config.body
        self.dense = body.embedding == Embedding.PE_DENSE
        self.function = FUNCTIONS[config.activation]
        self.functions = (FUNCTIONS[config.ffn_activation], FUNCTIONS[config.smolgen_activation])
        self.alpha = (2 * len(body.encoders)) ** -0.25
        appended = body.dense if self.dense else SQUARES
        if self.dense:
            self.ip_emb_preproc_w = numbers(SQUARES * body.dense, SQUARES * PIECE_PLANES)
            self.ip_emb_preproc_b = numbers(SQUARES * body.dense)
            self.ip_emb_ln_gammas, self.ip_emb_ln_betas = numbers(body.width), numbers(body.width)
            self.ip_emb_ffn = FeedForward(body.width, body.embedding_hidden)
            self.ip_emb_ffn_ln_gammas, self.ip_emb_ffn_ln_betas = numbers(body.width), numbers(body.width)
        else:
            self.register_buffer("reach", torch.from_numpy(reach_table().copy()), persistent=False)
        self.ip_emb_w, self.ip_emb_b = numbers(body.width, PLANES + appended), numbers(body.width)
        self.ip_mult_gate = numbers(body.width, SQUARES) if body.multiplied else None
        self.ip_add_gate = numbers(body.width, SQUARES) if body.added else None
        sizes = {encoder.smolgen.size for encoder in body.encoders if encoder.smolgen}
        self.smolgen_w = numbers(SQUARES * SQUARES, max(sizes)) if sizes else None
        self.encoder = nn.ModuleList(Encoder(encoder) for encoder in body.encoders)

    def forward(self, planes: Tensor, tap: Tap) -> Tensor:
        """Return [N, 64, width] from the planes [N, 112, 8, 8]."""
        x = tap("embedded", self.embedded(planes.flatten(2).transpose(1, 2)))
        eps = DENSE_EPS if self.dense else MAP_EPS
        for number, layer in enumerate(self.encoder):
            x = layer(x, self.alpha, eps, self.functions, self.smolgen_w, tap, f"layers.{number}")
        return x

    def embedded(self, squares: Tensor) -> Tensor:
        """Embed the squares [N, 64, 112], gates and hidden units of the embedding included."""
        x = self.function(
            functional.linear(torch.cat((squares, self.appended(squares)), 2), self.ip_emb_w, self.ip_emb_b)
        )
        if self.dense:
            x = normed(x, self.ip_emb_ln_gammas, self.ip_emb_ln_betas, DENSE_EPS)
        if self.ip_mult_gate is not None:
            x = x * self.ip_mult_gate.mT
        if self.ip_add_gate is not None:
            x = x + self.ip_add_gate.mT
        if self.dense:
            x = torch.add(x, self.ip_emb_ffn(x, self.functions[0]), alpha=self.alpha)
            x = normed(x, self.ip_emb_ffn_ln_gammas, self.ip_emb_ffn_ln_betas, DENSE_EPS)
        return x

    def appended(self, squares: Tensor) -> Tensor:
        """Return what the embedding appends to each square: what it reaches, or what the whole board says."""
        if not self.dense:
            assert isinstance(self.reach, Tensor)
            return self.reach.expand(len(squares), SQUARES, SQUARES)
        men = squares[:, :, :PIECE_PLANES].flatten(1)
        return functional.linear(men, self.ip_emb_preproc_w, self.ip_emb_preproc_b).view(len(men), SQUARES, -1)


def attention_names(body: BodyConfig) -> list[str]:
    """List the activations of an attention body."""
    inside = [name for at, encoder in enumerate(body.encoders) for name in encoder_names(f"layers.{at}", encoder)]
    return ["embedded", *inside]
