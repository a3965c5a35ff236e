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


def plainly_mixed(parted: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mix by PyTorch's own attention."""
    queries, keys, values = (part.transpose(1, 2) for part in parted.unbind(2))
    return functional.scaled_dot_product_attention(queries, keys, values, mask).transpose(1, 2)


def masks(tokens: int, device: str = "cpu") -> dict[str, Tensor | None]:
    """Return masks of each shape for three rows: some keys stand for nothing; queries see what is before them."""
    there = torch.rand(3, tokens, generator=torch.Generator().manual_seed(tokens)) > 0.3
    there[:, 0] = True
    keys = there[:, None, None, :].to(device)
    before = torch.ones(tokens, tokens, dtype=torch.bool, device=device).tril()
    return {"none": None, "keys": keys, "pairs": before & keys}


def nearly(mine, usual, exact):
    """Check that nothing is much further from the truth than what PyTorch computes in the same type."""
    for ours, others, truth in zip(mine, usual, exact, strict=True):
        error, usual_error = ((found.double() - truth).norm().item() for found in (ours, others))
        assert error <= 2 * usual_error + 1e-3 * truth.norm().item()
