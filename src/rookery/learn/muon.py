"""Muon: momentum whose matrices are brought near orthogonal ones, so that all directions are learned alike.

Of a gradient's matrix few directions are long, and plain steps follow these alone. Muon brings all singular values of
the momentum near one by a few products (the iteration of Newton and Schulz); a step then goes about equally far in
every direction. It is for the matrices between hidden units, a kernel counting as the matrix from all it reads
to its planes; tables, norms and heads are better off with AdamW.

The numbers are those of `torch.optim.Muon` with rates that match AdamW's. That one reads the rate on the host, which a
CUDA graph cannot; here the rate may be a tensor on the device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from rookery.nets.bf16 import computes_bf16

MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.775, 2.0315)
"""of a step of the iteration: steep at 0, so that short directions grow fast; ends between 0.7 and 1.2, not at 1"""
ITERATIONS = 5
LEAST_NORM = 1e-7
AS_ADAMW = 0.2
"""how large the numbers of AdamW's steps are, about, in units of the rate"""

Rate = Tensor | float


def near_orthogonal(matrices: Tensor) -> Tensor:
    """Return matrices [N, A, B] with their singular values brought near 1, in bf16 where that is fast."""
    x = matrices.bfloat16() if matrices.device.type == "cuda" or computes_bf16() else matrices
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp_min(LEAST_NORM)
    linear, cubic, quintic = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=cubic, alpha=quintic), x, beta=linear)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Makes steps of matrices by Muon and of all other parameters by AdamW.

    Its first group are the others, its second the matrices. Both have the same `lr`; matrices go at `pace` times that.
    """

    def __init__(
        self, others: Sequence[Tensor], matrices: Sequence[Tensor], rate: Rate, weight_decay: float, pace: float,
        **how: Any,
    ):  # fmt: skip
        self.adamw = torch.optim.AdamW(others, lr=rate, weight_decay=weight_decay, **how)
        groups: list[dict[str, Any]] = [{"params": list(others)}, {"params": list(matrices), "pace": pace}]
        super().__init__(groups, {**self.adamw.defaults, "pace": 1.0})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up a state, or become a copy."""
        super().__setstate__(state)
        self.adamw = torch.optim.AdamW(self.param_groups[0]["params"])

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Make a step of every parameter that has a gradient."""
        assert closure is None
        others, matrices = self.param_groups
        self.adamw.param_groups, self.adamw.state = [others], self.state
        self.adamw.step()
        alike: dict[tuple[int, ...], list[Tensor]] = {}
        for matrix in matrices["params"]:
            if matrix.grad is not None:
                alike.setdefault(matrix.shape, []).append(matrix)
        for some in alike.values():
            self.move(some, matrices["lr"], matrices["pace"], matrices["weight_decay"])

    def move(self, matrices: list[Tensor], rate: Rate, pace: float, weight_decay: float) -> None:
        """Make a step of matrices, or kernels, of one shape: together, since each alone is little work for a card."""
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        for matrix, gradient in zip(matrices, gradients, strict=True):
            if "momentum" not in self.state[matrix]:
                self.state[matrix]["momentum"] = torch.zeros_like(gradient)
        momenta = [self.state[matrix]["momentum"] for matrix in matrices]
        torch._foreach_lerp_(momenta, gradients, 1 - MOMENTUM)
        ahead = torch.stack(torch._foreach_lerp(gradients, momenta, MOMENTUM)).flatten(2)
        size = rate * (pace * AS_ADAMW * math.sqrt(max(ahead.shape[1:])))
        steps = near_orthogonal(ahead).to(ahead.dtype) * size
        torch._foreach_mul_(matrices, 1 - rate * (pace * weight_decay))
        torch._foreach_sub_(matrices, list(steps.view(-1, *matrices[0].shape)))


def new_optimizer(
    parameters: Sequence[Tensor], rate: Rate, weight_decay: float, matrices: Sequence[Tensor] = (), pace: float = 0.0,
    **how: Any,
) -> torch.optim.Optimizer:  # fmt: skip
    """Make the optimiser of some parameters: AdamW, or Muon for those of them that are `matrices` if it has a pace.

    how  as AdamW is told: fused, capturable
    """
    if not pace:
        return torch.optim.AdamW(parameters, lr=rate, weight_decay=weight_decay, **how)
    apart = {id(matrix) for matrix in matrices}
    others = [parameter for parameter in parameters if id(parameter) not in apart]
    assert len(others) + len(apart) == len(parameters), "matrices that are no parameters"
    return Muon(others, matrices, rate, weight_decay, pace, **how)
