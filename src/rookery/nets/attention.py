"""Attention over the squares of a board and the board's own token, with kernels made for that size.

The usual kernels are made for long texts and wide heads: they go through queries and keys in tiles of 128, so that 257
tokens are nine tiles instead of four, fill heads of 16 numbers up to 32 or 64, and want queries, keys and values apart.
Here one product has put all three into one tensor, and it stays whole (`attention_kernels.py`).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

MOST_SQUARES = 256
"""squares whose keys fit in one program"""
FORWARDS = {"block": 64, "num_warps": 4}
BACKWARDS = {"block": 32, "num_warps": 4}
"""queries at once and warps of a program: the fastest on an H200"""


def fits(tokens: int, width: int) -> bool:
    """Tell whether the kernels take so many tokens and heads of such a width."""
    return 2 <= tokens <= MOST_SQUARES + 1 and width in (16, 32)


def attend(parted: Tensor) -> Tensor:
    """Return what every token mixes, [N, T, heads, width], from queries, keys and values [N, T, 3, heads, width].

    On a card in half precision; elsewhere by plain products.
    """
    mixed: Tensor = mix(parted)[0]
    return mixed


# ---- two operations that a compiler takes as they are ---------------------------------------------


@torch.library.custom_op("rookery::mix", mutates_args=())
def mix(parted: Tensor) -> tuple[Tensor, Tensor]:
    """Mix values; return also the logarithm, with base 2, of each query's sum, [N, heads, T]."""
    if parted.device.type == "cuda":
        return mix_on_card(parted.contiguous())
    queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))
    scores = queries @ keys.transpose(-2, -1) * queries.shape[-1] ** -0.5
    mixed = (scores.softmax(-1) @ values).transpose(1, 2).contiguous()
    return mixed, scores.logsumexp(-1) / math.log(2)


@mix.register_fake
def _(parted: Tensor) -> tuple[Tensor, Tensor]:
    rows, tokens, _, heads, width = parted.shape
    sums = torch.promote_types(parted.dtype, torch.float32) if parted.device.type == "cuda" else parted.dtype
    return parted.new_empty(rows, tokens, heads, width), parted.new_empty(rows, heads, tokens, dtype=sums)


@torch.library.custom_op("rookery::mix_back", mutates_args=())
def mix_back(parted: Tensor, mixed: Tensor, sums: Tensor, gradient: Tensor) -> Tensor:
    """Return the gradient for queries, keys and values, [N, T, 3, heads, width]."""
    if parted.device.type == "cuda":
        return mix_back_on_card(parted.contiguous(), mixed, sums, gradient.contiguous())
    queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))
    scale, slope = queries.shape[-1] ** -0.5, gradient.transpose(1, 2)
    shares = (queries @ keys.transpose(-2, -1) * scale - sums[..., None] * math.log(2)).exp()
    through = (gradient * mixed).sum(-1).transpose(1, 2)[..., None]
    slopes = shares * (slope @ values.transpose(-2, -1) - through) * scale
    found = (slopes @ keys, slopes.transpose(-2, -1) @ queries, shares.transpose(-2, -1) @ slope)
    return torch.stack([part.transpose(1, 2) for part in found], 2)


@mix_back.register_fake
def _(parted: Tensor, mixed: Tensor, sums: Tensor, gradient: Tensor) -> Tensor:
    return torch.empty_like(parted, memory_format=torch.contiguous_format)


def keep(ctx: Any, inputs: tuple[Tensor], output: tuple[Tensor, Tensor]) -> None:
    """Keep what the way back needs."""
    ctx.save_for_backward(*inputs, *output)


def back(ctx: Any, gradient: Tensor, of_sums: Tensor | None) -> Tensor:
    """Go back; nothing is made of the sums."""
    found: Tensor = mix_back(*ctx.saved_tensors, gradient)
    return found


mix.register_autograd(back, setup_context=keep)


# ---- on a card -----------------------------------------------------------------------------------


def mix_on_card(parted: Tensor) -> tuple[Tensor, Tensor]:
    """Mix values by the kernel."""
    from rookery.nets.attention_kernels import mix_kernel

    rows, tokens, _, heads, width = parted.shape
    mixed = parted.new_empty(rows, tokens, heads, width)
    sums = parted.new_empty(rows, heads, tokens, dtype=torch.float32)
    scale = width**-0.5 * math.log2(math.e)
    mix_kernel[(rows * heads,)](parted, mixed, sums, scale, **shape_of(parted), **FORWARDS)
    return mixed, sums


def mix_back_on_card(parted: Tensor, mixed: Tensor, sums: Tensor, gradient: Tensor) -> Tensor:
    """Find the gradient by the kernel."""
    from rookery.nets.attention_kernels import mix_back_kernel

    rows, _, _, heads, width = parted.shape
    found, scale = torch.empty_like(parted), width**-0.5
    mix_back_kernel[(rows * heads,)](
        parted, mixed, sums, gradient, found, scale * math.log2(math.e), scale, **shape_of(parted), **BACKWARDS
    )
    return found


def shape_of(parted: Tensor) -> dict[str, int]:
    """Return what a kernel is made for."""
    _, tokens, _, heads, width = parted.shape
    return {"tokens": tokens, "heads": heads, "width": width, "keys": max(16, 1 << (tokens - 2).bit_length())}
