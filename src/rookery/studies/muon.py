"""Muon: momentum whose matrices are brought near orthogonal ones, so that all directions are learned alike.

Of a gradient's matrix few directions are long, and plain steps follow these alone. Muon takes the singular values out
of the momentum, all but their signs, by a few products (the iteration of Newton and Schulz); a step then goes equally
far in every direction. It is for the matrices of layers; tables, norms and heads are better off with AdamW.

The numbers are those of `torch.optim.Muon` with rates that match AdamW's. That one reads the rate on the host, which a
CUDA graph cannot; here the rate is a tensor on the device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.775, 2.0315)
"""of a step of the iteration: steep at 0, so that short directions grow fast; ends between 0.7 and 1.2, not at 1"""
ITERATIONS = 5
LEAST_NORM = 1e-7
AS_ADAMW = 0.2
"""how large the numbers of AdamW's steps are, about, in units of the rate"""


def near_orthogonal(matrix: Tensor) -> Tensor:
    """Return a matrix [A, B] with its singular values brought near 1, in bf16."""
    x = matrix.bfloat16()
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / x.norm().clamp_min(LEAST_NORM)
    linear, cubic, quintic = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic), x, beta=linear)
    return x.T if tall else x


class Muon(torch.optim.Optimizer):
    """Makes steps of matrices; `rate` is one number on the device, and whoever changes it changes the next step."""

    def __init__(self, matrices: Iterable[Tensor], rate: Tensor, weight_decay: float):
        super().__init__(matrices, {"lr": rate, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Make a step of every matrix that has a gradient."""
        assert closure is None
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is not None:
                    self.move(matrix, group["lr"], group["weight_decay"])

    def move(self, matrix: Tensor, rate: Tensor, weight_decay: float) -> None:
        """Make a step of one matrix."""
        state, gradient = self.state[matrix], matrix.grad
        assert gradient is not None
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(gradient)
        state["momentum"].lerp_(gradient, 1 - MOMENTUM)
        ahead = gradient.lerp(state["momentum"], MOMENTUM)
        matrix.mul_(1 - rate * weight_decay)
        matrix.sub_(near_orthogonal(ahead).to(matrix.dtype) * (rate * AS_ADAMW * math.sqrt(max(matrix.shape))))
