"""Attention over the squares of a board and the board's own token, in two parts.

Kernels for attention go through queries and keys in tiles of 128. A board of 16 x 16 has 256 squares, two tiles; its
own token makes 257, three tiles, of which the last is all but empty: nine pairs of tiles instead of four. So the
squares are given to the kernel alone, and the board's token is added to what comes out:

    the board as a key      each square's sum over 256 keys, e^lse, grows by e^score; what it mixes is weighed anew
    the board as a query    one row of scores for each head

Backwards the kernel is told the sums over all keys. Then its gradients for the squares' keys are those of the whole,
and only what comes through the board's token is added. A compiler makes few kernels of these additions; without one
they cost more than they save.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def attend(queries: Tensor, keys: Tensor, values: Tensor, kernel: str = "flash") -> Tensor:
    """Return what every token mixes; all are [N, heads, T, head_width], the board's token the last.

    kernel  `flash` or `cudnn`: which one a card is given the squares by
    """
    mixed: Tensor = InTwoParts.apply(queries, keys, values, kernel)  # type: ignore[no-untyped-call]
    return mixed


# ---- the kernel, as two operations that a compiler takes as they are ------------------------------


@torch.library.custom_op("rookery::mix_squares", mutates_args=())
def mix_squares(queries: Tensor, keys: Tensor, values: Tensor, kernel: str) -> tuple[Tensor, Tensor]:
    """Mix values by the kernel: [N, T, heads, head_width], and the logarithm of each query's sum [N, heads, T]."""
    aten = torch.ops.aten
    if queries.device.type != "cuda":
        mixed, sums = aten._scaled_dot_product_flash_attention_for_cpu(queries, keys, values)
    elif kernel == "cudnn":
        mixed, sums, *_ = aten._scaled_dot_product_cudnn_attention(queries, keys, values, None, True)
    else:
        mixed, sums, *_ = aten._scaled_dot_product_flash_attention(queries, keys, values)
    return mixed.transpose(1, 2).contiguous(), sums.view(queries.shape[:3]).contiguous()


@mix_squares.register_fake
def _(queries: Tensor, keys: Tensor, values: Tensor, kernel: str) -> tuple[Tensor, Tensor]:
    rows, heads, tokens, width = queries.shape
    wide = torch.promote_types(queries.dtype, torch.float32)
    return queries.new_empty(rows, tokens, heads, width), queries.new_empty(rows, heads, tokens, dtype=wide)


@torch.library.custom_op("rookery::mix_squares_back", mutates_args=())
def mix_squares_back(
    gradient: Tensor, queries: Tensor, keys: Tensor, values: Tensor, mixed: Tensor, sums: Tensor, kernel: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients for queries, keys and values, each [N, T, heads, head_width].

    mixed, sums  of the whole that the squares are part of
    """
    aten, given = torch.ops.aten, (gradient, queries, keys, values, mixed)
    if queries.device.type != "cuda":
        found = aten._scaled_dot_product_flash_attention_for_cpu_backward(*given, sums, 0.0, False)
    else:
        tokens, random = queries.shape[2], torch.empty(2, dtype=torch.uint64, device=queries.device)  # none is drawn
        lengths = (None, None, tokens, tokens)
        if kernel == "cudnn":
            found = aten._scaled_dot_product_cudnn_attention_backward(
                *given, sums.unsqueeze(-1), random, random, None, *lengths, 0.0, False
            )
        else:
            found = aten._scaled_dot_product_flash_attention_backward(
                *given, sums, *lengths, 0.0, False, random, random
            )
    to_queries, to_keys, to_values = (each.transpose(1, 2).contiguous() for each in found)
    return to_queries, to_keys, to_values


@mix_squares_back.register_fake
def _(
    gradient: Tensor, queries: Tensor, keys: Tensor, values: Tensor, mixed: Tensor, sums: Tensor, kernel: str
) -> tuple[Tensor, Tensor, Tensor]:
    rows, heads, tokens, width = queries.shape
    first, second, third = (each.new_empty(rows, tokens, heads, width) for each in (queries, keys, values))
    return first, second, third


# ---- both parts ----------------------------------------------------------------------------------


def products(first: Tensor, second: Tensor) -> Tensor:
    """Return the products of vectors in single precision or better, over the last axis."""
    wide = torch.promote_types(first.dtype, torch.float32)
    return (first.to(wide) * second.to(wide)).sum(-1)


def behind(squares: Tensor, board: Tensor) -> Tensor:
    """Put the board's token behind the squares; in memory heads lie beside one another, as the next product wants."""
    return torch.cat((squares.transpose(1, 2), board.transpose(1, 2)), 1).transpose(1, 2)


class InTwoParts(torch.autograd.Function):
    """Attention whose gradients are written out."""

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, values: Tensor, kernel: str) -> Tensor:
        """Mix values."""
        scale = queries.shape[-1] ** -0.5
        ours, board = (slice(None), slice(None), slice(-1)), (slice(None), slice(None), slice(-1, None))
        mixed, sums = mix_squares(queries[ours], keys[ours], values[ours], kernel)
        score = products(queries[ours], keys[board]) * scale
        total = torch.logaddexp(sums, score)
        share = (score - total).exp()[..., None]
        kept = (sums - total).exp()[..., None]
        squares = (mixed.transpose(1, 2) * kept + values[board] * share).to(queries.dtype)
        pattern = (products(queries[board], keys) * scale).softmax(-1)
        own = (pattern[..., None] * values).sum(2, keepdim=True).to(queries.dtype)
        out = behind(squares, own)
        ctx.kernel = kernel
        ctx.save_for_backward(queries, keys, values, out, total)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Return the gradients for queries, keys and values."""
        queries, keys, values, out, total = ctx.saved_tensors
        scale, dtype = queries.shape[-1] ** -0.5, queries.dtype
        ours, board = (slice(None), slice(None), slice(-1)), (slice(None), slice(None), slice(-1, None))
        to_queries, to_keys, to_values = (
            each.transpose(1, 2)
            for each in mix_squares_back(
                gradient[ours], queries[ours], keys[ours], values[ours], out[ours], total, ctx.kernel
            )
        )
        whole = products(gradient, out)
        share = (products(queries[ours], keys[board]) * scale - total).exp()
        slope = share * (products(gradient[ours], values[board]) - whole[ours]) * scale
        pattern = (products(queries[board], keys) * scale).softmax(-1)
        own = pattern * (products(gradient[board], values) - whole[board]) * scale
        from_keys, from_values = own[..., None] * queries[board], pattern[..., None] * gradient[board]
        return (
            behind(
                (to_queries + slope[..., None] * keys[board]).to(dtype),
                (own[..., None] * keys).sum(2, keepdim=True).to(dtype),
            ),
            behind(
                (to_keys + from_keys[ours]).to(dtype),
                ((slope[..., None] * queries[ours]).sum(2, keepdim=True) + from_keys[board]).to(dtype),
            ),
            behind(
                (to_values + from_values[ours]).to(dtype),
                ((share[..., None] * gradient[ours]).sum(2, keepdim=True) + from_values[board]).to(dtype),
            ),
            None,
        )
