"""Which processors compute in bf16 faster than in single precision, as far as PyTorch can be asked."""

from __future__ import annotations

import torch

INSTRUCTIONS = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
"""what PyTorch calls to find out; a version without them, or another kind of processor, has neither"""


def computes_bf16() -> bool:
    """Tell whether this processor has instructions for products in bf16; others take many times as long for them."""
    asked = (getattr(torch.cpu, name, None) for name in INSTRUCTIONS)
    return any(ask() for ask in asked if ask is not None)
