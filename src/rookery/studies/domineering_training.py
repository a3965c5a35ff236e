"""Training in the Domineering study: what a step computes, and in which precision (blocks of steps: `studies.steps`).

The batches of a block of steps are built at once. `bf16` and `fp16` compute products in half precision and the stream
from layer to layer in single; with `-all` a copy of the weights in half precision, made once a step, computes
everything, the losses excepted. The loss of `fp16` is scaled; steps whose gradients are too large are left out and the
scale is halved, all on the device.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch
from torch import Tensor

from rookery.games.options import one_of
from rookery.nets.attention import fits
from rookery.nets.transformer import Layer, Transformer
from rookery.studies import steps
from rookery.studies.domineering_batches import Batch, Positions
from rookery.studies.domineering_losses import Figures, Weights, figures, learning_rate, taught
from rookery.studies.domineering_plan import RunSettings
from rookery.studies.steps import BlockTrainer, has_triton

ATTENTIONS = ("auto", "flash", "cudnn", "efficient", "own")
FIRST_SCALE, SCALE_GROWTH, SCALE_BACKOFF, GROWTH_STEPS = 65536.0, 2.0, 0.5, 2000


@dataclass(frozen=True)
class Speed(steps.Speed):
    """How steps are made; the numbers that come out are the same but for rounding."""

    block: int = 8
    tune: bool = False
    """whether PyTorch's compiler also tries kernels for products; takes minutes"""
    attention: str = "auto"
    """which kernel; `own` is that of nets/attention.py"""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("attention", self.attention, ATTENTIONS)

    @classmethod
    def best(cls, device: str) -> Self:
        """Return what suits a device."""
        return cls(compile=True, attention="own") if device == "cuda" else cls(block=1)


# ---- how it is computed --------------------------------------------------------------------------


def half_type(precision: str) -> torch.dtype | None:
    """Return the half precision that is meant; None for single precision."""
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision.removesuffix("-all"))


@contextmanager
def computing(network: Transformer, precision: str, attention: str = "auto") -> Iterator[None]:
    """Let a network compute in some precision, with some kernel for attention."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    device, half = next(network.parameters()).device, half_type(precision)
    own = attention == "own" and (device.type == "cpu" or (half is not None and has_triton()))
    kernels = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}
    chosen = getattr(SDPBackend, kernels[attention]) if attention in kernels else None
    mixed = half is not None and not precision.endswith("-all")
    set_own_kernel(network, own)
    try:
        with (
            sdpa_kernel(chosen) if chosen is not None else nullcontext(),
            torch.autocast(device.type, half or torch.bfloat16, enabled=mixed, cache_enabled=False),
        ):
            yield
    finally:
        set_own_kernel(network, False)


def set_own_kernel(network: Transformer, own: bool) -> None:
    """Say whether tokens are mixed by kernels of our own, where those fit."""
    fitting = fits(network.config.inputs, network.config.head_width)
    for layer in network.layers:
        assert isinstance(layer, Layer)
        layer.attn.own_kernel = own and fitting


class Trainer(BlockTrainer):
    """A network on the way through the steps of a run."""

    network: Transformer
    settings: RunSettings
    speed: Speed

    def __init__(self, network: Transformer, settings: RunSettings, positions: Positions, speed: Speed | None = None):
        self.positions, self.weights = positions, Weights.of(settings)
        device, half = positions.table.device, half_type(settings.precision)
        network.to(device).train()
        self.pass_network = network
        if settings.precision.endswith("-all"):
            self.pass_network = copy.deepcopy(network).to(half)
        parameters, self.pass_parameters = (taught(judge, self.weights) for judge in (network, self.pass_network))
        super().__init__(network, parameters, settings, len(positions), Figures._fields, speed or Speed(), device)
        self.compiler_mode = "max-autotune-no-cudagraphs" if self.speed.tune else None
        self.scale = torch.tensor(FIRST_SCALE, device=device) if half is torch.float16 else None
        self.good_steps = torch.zeros((), dtype=torch.int32, device=device)
        self.too_large = torch.zeros((), device=device)

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        return learning_rate(self.settings, step)

    def batches(self, steps: int) -> Iterator[Batch]:
        """Build the batches of a block at once, and yield them one by one."""
        size = self.settings.batch
        whole = self.positions.batch(self.numbers[: steps * size], self.symmetries[: steps * size])
        for number in range(steps):
            yield whole[number * size : (number + 1) * size]

    def judged(self, *columns: Tensor) -> Figures:
        """Return the figures of a batch, given by its columns."""
        batch = Batch(*columns)
        found = self.pass_network.heads(batch.tokens)
        with torch.autocast(self.device.type, enabled=False):
            return figures(found, batch, self.weights)

    def gradients(self, batch: Batch) -> tuple[Tensor, list[Tensor]]:
        """Return the figures of a batch and the gradients for the weights that are kept."""
        with computing(self.pass_network, self.settings.precision, self.speed.attention):
            found = self.judge(*(getattr(batch, field.name) for field in fields(Batch)))
        loss = found.loss if self.scale is None else found.loss * self.scale
        gradients = list(torch.autograd.grad(loss, self.pass_parameters))
        if self.pass_network is not self.network:
            single = [torch.empty_like(parameter) for parameter in self.parameters]
            torch._foreach_copy_(single, gradients)
            gradients = single
        if self.scale is not None:
            self.too_large.zero_()
            torch._amp_foreach_non_finite_check_and_unscale_(gradients, self.too_large, self.scale.reciprocal())
            self.optimizer.found_inf = self.too_large  # type: ignore[attr-defined]  # the fused step skips by it
        return torch.stack([figure.detach() for figure in found]), gradients

    def make_step(self, batch: Batch, rate: Tensor) -> None:
        """Make one step."""
        if self.pass_network is not self.network:
            with torch.no_grad():
                torch._foreach_copy_(self.pass_parameters, self.parameters)
        super().make_step(batch, rate)
        if self.scale is not None:
            torch._amp_update_scale_(
                self.scale, self.good_steps, self.too_large, SCALE_GROWTH, SCALE_BACKOFF, GROWTH_STEPS
            )

    def compile(self) -> None:
        """Have the network compiled; without a compiler, leave attention to PyTorch, too."""
        super().compile()
        if self.note:
            self.speed = replace(self.speed, attention="auto")

    def also_changed(self) -> list[Tensor]:
        """List what a step changes of the loss scale."""
        return [] if self.scale is None else [self.scale, self.good_steps, self.too_large]

    def state(self) -> dict[str, Any]:
        """Return what is needed to go on."""
        scaler = None if self.scale is None else {"scale": self.scale, "good_steps": self.good_steps}
        return super().state() | {"scaler": scaler}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        super().load(state)
        if self.scale is not None:
            self.scale.copy_(state["scaler"]["scale"])
            self.good_steps.copy_(state["scaler"]["good_steps"])


@torch.no_grad()
def validated(network: Transformer, batches: Iterable[Batch], settings: RunSettings) -> dict[str, float]:
    """Return the mean figures of a network on some positions; weights in single precision, products as in training."""
    device = next(network.parameters()).device
    weights, totals, count = Weights.of(settings), torch.zeros(len(Figures._fields), device=device), 0
    precision = settings.precision.removesuffix("-all")
    for batch in batches:
        with computing(network, precision):
            found = network.heads(batch.tokens)
        totals += len(batch) * torch.stack(figures(found, batch, weights))
        count += len(batch)
    return dict(zip(Figures._fields, (totals / max(1, count)).tolist(), strict=True))
