"""Training in the Domineering study: steps as fast as a card makes them.

Steps are numbered from 0; batch and learning rate follow from the number, so that nothing random has to be saved. The
batches of a block of steps are built at once. On a card a whole block, from the numbers of its positions to the last
new weights, is one CUDA graph: the host sends those numbers and the learning rates, and waits for nothing. Figures are
added up on the device until somebody asks for their means.

Weights are kept in single precision. `bf16` and `fp16` compute products in half precision and the stream from layer to
layer in single; with `-all` a copy of the weights in half precision, made once a step, computes everything, the losses
excepted. The loss of `fp16` is scaled; steps whose gradients are too large are left out and the scale is halved, all
on the device.
"""

from __future__ import annotations

import copy
import gc
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from rookery.games.options import one_of, whole_number
from rookery.nets.attention import fits
from rookery.nets.transformer import Layer, Transformer
from rookery.studies.domineering_batches import Batch, Positions
from rookery.studies.domineering_losses import Figures, Weights, figures, learning_rate, taught
from rookery.studies.domineering_plan import RunSettings
from rookery.studies.order import Order

ATTENTIONS = ("auto", "flash", "cudnn", "efficient", "own")
WARMING = 2  # blocks before capturing, whose effect is undone
FIRST_SCALE, SCALE_GROWTH, SCALE_BACKOFF, GROWTH_STEPS = 65536.0, 2.0, 0.5, 2000


@dataclass(frozen=True)
class Speed:
    """How steps are made; the numbers that come out are the same but for rounding."""

    block: int = 8
    """steps whose batches are built at once; on a card, those of a graph"""
    compile: bool = False
    """whether PyTorch's compiler writes kernels for the network"""
    tune: bool = False
    """whether it also tries kernels for products; takes minutes"""
    attention: str = "auto"
    """which kernel; `own` is that of nets/attention.py"""
    graph: bool = True
    """whether a card is given whole blocks"""

    def __post_init__(self) -> None:
        whole_number("block", self.block, 1, 1024)
        one_of("attention", self.attention, ATTENTIONS)

    @classmethod
    def best(cls, device: str) -> Speed:
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


def has_triton() -> bool:
    """Tell whether there is what kernels are written in."""
    return importlib.util.find_spec("triton") is not None


def why_not_compiled(device: str) -> str:
    """Say what is missing for PyTorch's compiler; empty if nothing is."""
    if device == "cuda" and not has_triton():
        return "Triton is not installed"
    named = os.environ.get("CXX" if device == "cpu" else "CC", "")
    if not any(shutil.which(name) for name in (named, "cc", "gcc", "clang", "g++") if name):
        return "there is no C compiler"
    return ""


class Trainer:
    """A network on the way through the steps of a run."""

    def __init__(self, network: Transformer, settings: RunSettings, positions: Positions, speed: Speed | None = None):
        self.settings, self.positions = settings, positions
        self.device = positions.table.device
        self.speed = speed or Speed()
        self.weights = Weights.of(settings)
        self.network = network.to(self.device).train()
        self.order = Order(len(positions), settings.batch, settings.seed, self.device)
        self.step = 0
        """steps made"""
        half = half_type(settings.precision)
        self.pass_network = network
        if settings.precision.endswith("-all"):
            self.pass_network = copy.deepcopy(self.network).to(half)
        self.parameters, self.pass_parameters = (
            taught(judge, self.weights) for judge in (self.network, self.pass_network)
        )
        on_card = self.device.type == "cuda"
        self.rate = torch.tensor(settings.learning_rate, device=self.device)
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=self.rate, weight_decay=settings.weight_decay,
            fused=True, capturable=on_card,
        )  # fmt: skip
        block = self.speed.block
        self.numbers = torch.zeros(block * settings.batch, dtype=torch.int64, device=self.device)
        self.symmetries = torch.zeros_like(self.numbers)
        rates = [learning_rate(settings, step) for step in range(settings.steps)]
        self.all_rates = torch.tensor(rates, device=self.device)
        self.rates = torch.zeros(block, device=self.device)
        self.totals = torch.zeros(len(Figures._fields), device=self.device)
        self.counted = 0
        """steps whose figures are in the totals"""
        self.scale = torch.tensor(FIRST_SCALE, device=self.device) if half is torch.float16 else None
        self.good_steps = torch.zeros((), dtype=torch.int32, device=self.device)
        self.too_large = torch.zeros((), device=self.device)
        self.graphs: dict[int, Any] = {}
        self.prepared = False
        self.judge: Callable[..., Figures] = self.judged
        self.note = ""
        """why the network is not compiled though it should be"""

    # -- one step --

    def judged(self, *columns: Tensor) -> Figures:
        """Return the figures of a batch, given by its columns."""
        batch = Batch(*columns)
        found = self.pass_network.heads(batch.tokens)
        with torch.autocast(self.device.type, enabled=False):
            return figures(found, batch, self.weights)

    def make_step(self, batch: Batch, rate: Tensor) -> None:
        """Make one step."""
        if self.pass_network is not self.network:
            with torch.no_grad():
                torch._foreach_copy_(self.pass_parameters, self.parameters)
        found, gradients = self.gradients(batch)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        if self.settings.gradient_norm > 0:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.gradient_norm)
        self.rate.copy_(rate)
        self.optimizer.step()
        if self.scale is not None:
            torch._amp_update_scale_(
                self.scale, self.good_steps, self.too_large, SCALE_GROWTH, SCALE_BACKOFF, GROWTH_STEPS
            )
        self.totals += torch.stack([figure.detach() for figure in found])

    def gradients(self, batch: Batch) -> tuple[Figures, list[Tensor]]:
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
        return found, gradients

    # -- many steps --

    def train(self, count: int) -> None:
        """Make so many steps more, not beyond those that are planned; on a card they may still be under way."""
        left = count
        while left:
            steps = self.speed.block if left >= self.speed.block else 1
            numbers, symmetries = self.order.at(self.step, steps)
            self.numbers[: len(numbers)].copy_(numbers)
            self.symmetries[: len(numbers)].copy_(symmetries)
            self.rates[:steps].copy_(self.all_rates[self.step : self.step + steps])
            self.launch(steps)
            self.step += steps
            self.counted += steps
            left -= steps

    def work(self, steps: int) -> None:
        """Make the steps whose positions and learning rates stand ready."""
        size = self.settings.batch
        batch = self.positions.batch(self.numbers[: steps * size], self.symmetries[: steps * size])
        for number in range(steps):
            self.make_step(batch[number * size : (number + 1) * size], self.rates[number])

    def launch(self, steps: int) -> None:
        """Make steps, on a card by a graph."""
        self.prepare()
        if self.device.type != "cuda" or not self.speed.graph:
            self.work(steps)
            return
        if steps not in self.graphs:
            self.graphs[steps] = self.captured(steps)
        self.graphs[steps].replay()

    def prepare(self) -> None:
        """Compile and capture what a block of steps needs, unless that is done; the first steps do so by themselves."""
        if self.prepared:
            return
        self.prepared = True
        if self.speed.compile:
            self.compile()
        if self.device.type == "cuda" and self.speed.graph and self.settings.steps >= self.speed.block:
            self.graphs[self.speed.block] = self.captured(self.speed.block)

    def compile(self) -> None:
        """Have the network compiled, and try it; if that cannot be done, go on without, and note why.

        A network of the same shape that is taught the same, later in the same process, is compiled already.
        """
        self.note = why_not_compiled(self.device.type) or self.tried()
        if self.note:
            self.judge = self.judged
            self.speed = replace(self.speed, attention="auto")

    def tried(self) -> str:
        """Have the network compiled and go forwards and backwards once; return what went wrong, if anything did."""
        mode = "max-autotune-no-cudagraphs" if self.speed.tune else None
        self.judge = torch.compile(self.judged, fullgraph=True, dynamic=False, mode=mode)
        kept, size = [tensor.clone() for tensor in self.changed()], self.settings.batch
        try:
            self.gradients(self.positions.batch(self.numbers[:size], self.symmetries[:size]))
        except Exception as error:  # a compiler fails in a hundred ways; steps are right without it
            return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
        finally:
            self.put_back(kept)
        return ""

    def captured(self, steps: int) -> Any:
        """Capture a block; what the blocks before that change is put back."""
        kept = [tensor.clone() for tensor in self.changed()]
        new_stream: Callable[[], torch.cuda.Stream] = torch.cuda.Stream
        aside, present = new_stream(), torch.cuda.current_stream()
        aside.wait_stream(present)
        with torch.cuda.stream(aside):
            for _ in range(WARMING):
                self.work(1)
        present.wait_stream(aside)
        self.put_back(kept)
        graph = torch.cuda.CUDAGraph()
        pool = next(iter(self.graphs.values())).pool() if self.graphs else None  # graphs never run side by side
        with torch.cuda.graph(graph, pool=pool):
            self.work(steps)
        return graph

    def changed(self) -> list[Tensor]:
        """List everything a step changes, the optimiser's memory last."""
        scaling = [] if self.scale is None else [self.scale, self.good_steps, self.too_large]
        found = [*self.parameters, self.totals, *scaling]
        found = [tensor.detach() for tensor in found]
        for memory in self.optimizer.state.values():
            found += [value for value in memory.values() if isinstance(value, Tensor)]
        return found

    def put_back(self, kept: list[Tensor]) -> None:
        """Undo what was changed since `kept` was copied; memory that was not there is as it begins, empty."""
        now = self.changed()
        for tensor in now[len(kept) :]:
            tensor.zero_()
        for tensor, before in zip(now, kept, strict=False):
            tensor.copy_(before)

    def close(self) -> None:
        """Give the memory of a card back."""
        self.graphs.clear()
        self.judge = self.judged
        self.optimizer.zero_grad()
        gc.collect()  # what was compiled and this trainer know each other
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    # -- asking --

    def read(self) -> dict[str, float] | None:
        """Return the mean figures of the steps since this was last asked; None if there were none. Waits."""
        if not self.counted:
            return None
        means = (self.totals / self.counted).tolist()
        self.totals.zero_()
        self.counted = 0
        return dict(zip(Figures._fields, means, strict=True))

    def state(self) -> dict[str, Any]:
        """Return what is needed to go on."""
        return {
            "step": self.step,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": None if self.scale is None else {"scale": self.scale, "good_steps": self.good_steps},
            "totals": self.totals,
            "counted": self.counted,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        for group in self.optimizer.param_groups:  # the state may come from another device
            group.update(lr=self.rate, capturable=self.device.type == "cuda")
        if self.scale is not None:
            self.scale.copy_(state["scaler"]["scale"])
            self.good_steps.copy_(state["scaler"]["good_steps"])
        self.totals.copy_(state["totals"])
        self.step, self.counted = state["step"], state["counted"]
        self.graphs.clear()
        self.prepared = False


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
