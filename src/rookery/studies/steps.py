"""Steps of training in blocks, as fast as a card makes them: what the studies that learn from data share.

Steps are numbered from 0; batch and learning rate follow from the number, so that nothing random has to be saved. On a
card a whole block, from the numbers of its positions to the last new weights, is one CUDA graph: the host sends those
numbers and the learning rates, and waits for nothing. Figures are added up on the device until somebody asks for their
means. Weights are kept in single precision, whatever computes with them.

A study says how its batches are built and what they teach (`BlockTrainer.batches`, `judged`, `gradients`).
"""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn

from rookery.games.options import whole_number
from rookery.learn.muon import new_optimizer
from rookery.studies.order import Order

WARMING = 2
"""steps before capturing, whose effect is undone"""
RATES = 4096
"""learning rates that are sent to a device at once; a block has no more"""


@dataclass(frozen=True)
class Speed:
    """How steps are made; the numbers that come out are the same but for rounding."""

    block: int = 1
    """steps whose positions are drawn at once; on a card, those of a graph"""
    compile: bool = False
    """whether PyTorch's compiler writes kernels for the network"""
    graph: bool = True
    """whether a card is given whole blocks"""

    def __post_init__(self) -> None:
        whole_number("block", self.block, 1, 1024)

    @classmethod
    def best(cls, device: str) -> Self:
        """Return what suits a device."""
        return cls(block=8, compile=True) if device == "cuda" else cls()


class StepSettings(Protocol):
    """What a trainer has to know of a run."""

    @property
    def steps(self) -> int: ...
    @property
    def batch(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def gradient_norm(self) -> float: ...


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


class BlockTrainer(ABC):
    """A network on the way through the steps of a run.

    parameters  those that are taught, on the device
    rows        how many positions there are to learn from
    shown       names of the figures of a step
    matrices    those of the parameters that go by Muon if it has a pace, all others by AdamW
    pace        learning rate of the matrices over that of the others
    """

    compiler_mode: str | None = None
    """what PyTorch's compiler is asked to try"""

    def __init__(
        self, network: nn.Module, parameters: list[Tensor], settings: StepSettings, rows: int,
        shown: Sequence[str], speed: Speed, device: torch.device, matrices: Sequence[Tensor] = (), pace: float = 0.0,
    ):  # fmt: skip
        self.network, self.parameters, self.shown = network, parameters, shown
        self.settings = settings
        self.speed, self.device = speed, device
        self.order = Order(rows, settings.batch, settings.seed, device)
        self.step = 0
        """steps made"""
        self.rate = torch.tensor(settings.learning_rate, device=device)
        how = {"fused": True, "capturable": device.type == "cuda"}
        self.optimizer = new_optimizer(parameters, self.rate, settings.weight_decay, matrices, pace, **how)
        self.numbers = torch.zeros(speed.block * settings.batch, dtype=torch.int64, device=device)
        self.symmetries = torch.zeros_like(self.numbers)
        self.rates = torch.zeros(speed.block, device=device)
        self.coming_rates, self.first_rate = torch.zeros(0, device=device), 0
        self.totals = torch.zeros(len(shown), device=device)
        self.counted = 0
        """steps whose figures are in the totals"""
        self.graphs: dict[int, Any] = {}
        self.prepared = False
        self.judge: Callable[..., Any] = self.judged
        self.note = ""
        """why the network is not compiled though it should be"""

    # -- what a study says --

    @abstractmethod
    def learning_rate(self, step: int) -> float:
        """Return the learning rate of a step."""

    @abstractmethod
    def batches(self, steps: int) -> Iterable[Any]:
        """Yield the batches of so many steps, whose numbers and symmetries stand ready; nothing waits for a card."""

    @abstractmethod
    def judged(self, *columns: Tensor) -> Any:
        """Return the figures of a batch, given by its columns; this is what is compiled."""

    @abstractmethod
    def gradients(self, batch: Any) -> tuple[Tensor, Sequence[Tensor | None]]:
        """Return the figures of a batch, one for each that is shown, and the gradients for the parameters."""

    # -- one step --

    def make_step(self, batch: Any, rate: Tensor) -> None:
        """Make one step."""
        figures, gradients = self.gradients(batch)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        if self.settings.gradient_norm > 0:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.gradient_norm)
        self.rate.copy_(rate)
        self.optimizer.step()
        self.totals += figures

    # -- many steps --

    def train(self, count: int) -> None:
        """Make so many steps more; on a card they may still be under way."""
        left = count
        while left:
            steps = self.speed.block if left >= self.speed.block else 1
            numbers, symmetries = self.order.at(self.step, steps)
            self.numbers[: len(numbers)].copy_(numbers)
            self.symmetries[: len(numbers)].copy_(symmetries)
            self.rates[:steps].copy_(self.next_rates(steps))
            self.launch(steps)
            self.step += steps
            self.counted += steps
            left -= steps

    def next_rates(self, steps: int) -> Tensor:
        """Return the learning rates of the next steps; many are sent at once, since sending waits for the device."""
        first = self.step - self.first_rate
        if not 0 <= first <= len(self.coming_rates) - steps:
            rates = [self.learning_rate(step) for step in range(self.step, self.step + RATES)]
            self.coming_rates, self.first_rate, first = torch.tensor(rates, device=self.device), self.step, 0
        return self.coming_rates[first : first + steps]

    def work(self, steps: int) -> None:
        """Make the steps whose positions and learning rates stand ready."""
        for number, batch in enumerate(self.batches(steps)):
            self.make_step(batch, self.rates[number])

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

    def tried(self) -> str:
        """Have the network compiled and go forwards and backwards once; return what went wrong, if anything did."""
        self.judge = torch.compile(self.judged, fullgraph=True, dynamic=False, mode=self.compiler_mode)
        kept = [tensor.clone() for tensor in self.changed()]
        try:
            with warnings.catch_warnings():  # the compiler's advice to take coarser numbers than were asked for
                warnings.filterwarnings("ignore", "TensorFloat32 tensor cores", UserWarning)
                for batch in self.batches(1):
                    self.gradients(batch)
        except Exception as error:  # a compiler fails in a hundred ways; steps are right without it
            return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
        finally:
            self.put_back(kept)
        return ""

    def captured(self, steps: int) -> Any:
        """Capture a block; what the steps before that change is put back."""
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
        found = [tensor.detach() for tensor in (*self.parameters, self.totals, *self.also_changed())]
        for memory in self.optimizer.state.values():
            found += [value for value in memory.values() if isinstance(value, Tensor)]
        return found

    def also_changed(self) -> Sequence[Tensor]:
        """List what a step of this study changes besides."""
        return ()

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
        return dict(zip(self.shown, means, strict=True))

    def state(self) -> dict[str, Any]:
        """Return what is needed to go on."""
        return {
            "step": self.step, "network": self.network.state_dict(), "optimizer": self.optimizer.state_dict(),
            "totals": self.totals, "counted": self.counted,
        }  # fmt: skip

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        for group in self.optimizer.param_groups:  # the state may come from another device
            group.update(lr=self.rate, capturable=self.device.type == "cuda")
        self.totals.copy_(state["totals"])
        self.step, self.counted = state["step"], state["counted"]
        self.graphs.clear()
        self.prepared = False
