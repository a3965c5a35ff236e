"""Attention over a few tokens, some of which stand for nothing, with kernels made for that size.

The usual kernels go through queries and keys in tiles of 64 and 128: of 32 tokens they compute sixteen times too much.
Here one program has one head of one row whole, so that nothing but queries, keys, values and the mask is read and
nothing is kept for the way back (`short_kernels.py`). Queries, keys and values stay in the tensor one product has put
them into.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

HAS_TRITON = importlib.util.find_spec("triton") is not None
"""whether the kernels' compiler is installed: it comes with PyTorch for cards, but not on every system"""
MOST_TOKENS = 64
WIDTHS = (16, 32, 64)
"""of a head"""
WARPS = {16: 1, 32: 1, 64: 4}
"""of a program, by tokens rounded up to a power of two"""


def attend(parted: Tensor, mask: Tensor | None) -> Tensor:
    """Return what every token mixes, [N, T, heads, width], from queries, keys and values [N, T, 3, heads, width].

    mask  which keys a query sees, bool, [N, 1, 1, T] or [N, 1, T, T]; every query sees one at least. None: all
    """
    if fits(parted):
        mixed: Tensor = mix_few(parted, mask)
        return mixed
    if parted.device.type == "cpu" and parted.dtype == torch.bfloat16:  # PyTorch's own takes many times as long back
        _, _, values, shares = shares_of(parted, mask)
        return (shares @ values).transpose(1, 2)
    queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))
    return functional.scaled_dot_product_attention(queries, keys, values, mask).transpose(1, 2)


def fits(parted: Tensor) -> bool:
    """Tell whether the kernels take such queries, keys and values."""
    half = parted.dtype in (torch.bfloat16, torch.float16)
    small = parted.shape[1] <= MOST_TOKENS and parted.shape[-1] in WIDTHS
    return parted.device.type == "cuda" and half and small and HAS_TRITON


# ---- two operations that a compiler takes as they are ---------------------------------------------


@torch.library.custom_op("rookery::mix_few", mutates_args=())
def mix_few(parted: Tensor, mask: Tensor | None) -> Tensor:
    """Mix values."""
    if parted.device.type == "cuda":
        return mix_on_card(parted.contiguous(), mask)
    _, _, values, shares = shares_of(parted, mask)
    return (shares @ values).transpose(1, 2).contiguous()


@mix_few.register_fake
def _(parted: Tensor, mask: Tensor | None) -> Tensor:
    rows, tokens, _, heads, width = parted.shape
    return parted.new_empty(rows, tokens, heads, width)


@torch.library.custom_op("rookery::mix_few_back", mutates_args=())
def mix_few_back(parted: Tensor, mask: Tensor | None, gradient: Tensor) -> Tensor:
    """Return the gradient for queries, keys and values, [N, T, 3, heads, width]."""
    if parted.device.type == "cuda":
        return mix_back_on_card(parted.contiguous(), mask, gradient.contiguous())
    queries, keys, values, shares = shares_of(parted, mask)
    slope = gradient.transpose(1, 2)
    to_shares = slope @ values.transpose(-2, -1)
    slopes = shares * (to_shares - (shares * to_shares).sum(-1, keepdim=True)) * queries.shape[-1] ** -0.5
    found = (slopes @ keys, slopes.transpose(-2, -1) @ queries, shares.transpose(-2, -1) @ slope)
    return torch.stack([part.transpose(1, 2) for part in found], 2)


@mix_few_back.register_fake
def _(parted: Tensor, mask: Tensor | None, gradient: Tensor) -> Tensor:
    return torch.empty_like(parted, memory_format=torch.contiguous_format)


def shares_of(parted: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return queries, keys, values and the share of each key in each query, by plain products."""
    queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))
    scores = queries @ keys.transpose(-2, -1) * queries.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return queries, keys, values, scores.softmax(-1)


def keep(ctx: Any, inputs: tuple[Tensor, Tensor | None], output: Tensor) -> None:
    """Keep what the way back needs."""
    ctx.save_for_backward(*inputs)


def back(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
    """Go back."""
    parted, mask = ctx.saved_tensors
    return mix_few_back(parted, mask, gradient), None


mix_few.register_autograd(back, setup_context=keep)


# ---- on a card -----------------------------------------------------------------------------------


def mix_on_card(parted: Tensor, mask: Tensor | None) -> Tensor:
    """Mix values by the kernel."""
    from rookery.nets.short_kernels import mix_few_kernel

    rows, tokens, _, heads, width = parted.shape
    mixed = parted.new_empty(rows, tokens, heads, width)
    mix_few_kernel[(rows * heads,)](parted, *seen(parted, mask), mixed, **shape_of(parted, mask))
    return mixed


def mix_back_on_card(parted: Tensor, mask: Tensor | None, gradient: Tensor) -> Tensor:
    """Find the gradient by the kernel."""
    from rookery.nets.short_kernels import mix_few_back_kernel

    found, programs = torch.empty_like(parted), parted.shape[0] * parted.shape[3]
    mix_few_back_kernel[(programs,)](parted, *seen(parted, mask), gradient, found, **shape_of(parted, mask))
    return found


def seen(parted: Tensor, mask: Tensor | None) -> tuple[Tensor, int, int, float]:
    """Return the mask, its steps from row to row and from query to query, and the scale of scores.

    Without a mask there is something else to point at.
    """
    scale = parted.shape[-1] ** -0.5
    if mask is None:
        return parted, 0, 0, scale
    rows, tokens = parted.shape[:2]
    spread = mask.expand(rows, 1, tokens, tokens)
    if spread.stride(-1) != 1:
        spread = spread.contiguous()
    return spread.view(torch.uint8), spread.stride(0), spread.stride(2), scale


def shape_of(parted: Tensor, mask: Tensor | None) -> dict[str, int | bool]:
    """Return what a kernel is made for: `size` is the number of tokens, rounded up to a power of two."""
    _, tokens, _, heads, width = parted.shape
    size = max(16, 1 << (tokens - 1).bit_length())
    shape: dict[str, int | bool] = {"tokens": tokens, "heads": heads, "width": width, "size": size}
    return shape | {"masked": mask is not None, "num_warps": WARPS[size]}
