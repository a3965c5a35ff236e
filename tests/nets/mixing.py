"""Attention that is tried out: random tokens mixed, and gradients brought back."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def mixed_and_gradient(mix, tokens: int, dtype: torch.dtype, width: int = 8, device: str = "cpu") -> list[Tensor]:
    """Mix random values, and go back from random gradients.

    The numbers are those of bfloat16, and 4 times such a number is one again: every type begins with the same ones.
    """
    random = torch.Generator().manual_seed(tokens)
    parted = torch.randn(3, tokens, 3, 2, width, generator=random).bfloat16()
    parted[:, :, 0] *= 4
    parted = parted.to(device, dtype).requires_grad_()
    out = mix(parted)
    wanted = torch.randn(out.shape, generator=random).bfloat16().to(device, dtype)
    return [each.cpu() for each in (out.detach(), *torch.autograd.grad((out * wanted).sum(), parted))]


def plainly_mixed(parted: Tensor) -> Tensor:
    """Mix by PyTorch's own attention."""
    queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))
    return functional.scaled_dot_product_attention(queries, keys, values).transpose(1, 2)
