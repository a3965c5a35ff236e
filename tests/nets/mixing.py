"""Attention that is tried out: random tokens mixed, and gradients brought back."""

from __future__ import annotations

import torch


def mixed_and_gradient(mix, tokens: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Mix random values, and go back from random gradients; queries, keys and values lie as a network has them.

    The numbers are those of bfloat16, and 4 times such a number is one again: every type begins with the same ones.
    """
    random = torch.Generator().manual_seed(tokens)
    parted = torch.randn(3, tokens, 3, 2, 8, generator=random).bfloat16().to(dtype).requires_grad_()
    queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))
    out = mix(4 * queries, keys, values)
    wanted = torch.randn(out.shape, generator=random).bfloat16().to(dtype)
    return out.detach(), torch.autograd.grad((out * wanted).sum(), parted)[0]
