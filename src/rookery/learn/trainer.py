"""The trainer: gradient steps on batches of the replay, with AdamW, for matrices with Muon if that is asked for, and
a cosine over the steps that are planned.

On a card a step, from the rows of its batch to the new weights, is one CUDA graph. Steps are numbered, and everything
drawn for a step follows from its number and the seed, so that no state of a random generator has to be saved.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rookery.learn.losses import Losses, losses
from rookery.learn.muon import Rate, new_optimizer
from rookery.learn.replay import Batch, Replay, draw
from rookery.learn.sections import TrainingSettings
from rookery.nets.network import Network

if TYPE_CHECKING:
    from rookery.learn.others import Others, Shared

WARMING = 3  # steps before capturing, whose effect is undone


def learning_rate(settings: TrainingSettings, step: int, planned: int) -> float:
    """Return the learning rate of a step: a rise from nothing, then a cosine down to the least at the last step."""
    if step < settings.warmup_steps:
        return settings.learning_rate * (step + 1) / settings.warmup_steps
    left = max(1, planned - 1 - settings.warmup_steps)
    done = min(1.0, (step - settings.warmup_steps) / left)
    span = settings.learning_rate - settings.least_learning_rate
    return settings.least_learning_rate + span * (1 + math.cos(math.pi * done)) / 2


def optimizer_of(network: Network, settings: TrainingSettings, rate: Rate) -> torch.optim.Optimizer:
    """Make the optimiser of a network; on a card the learning rate is a tensor, which a graph can read."""
    how = dict.fromkeys(("fused", "capturable"), isinstance(rate, Tensor))
    parameters, matrices = list(network.parameters()), network.matrices()
    return new_optimizer(parameters, rate, settings.weight_decay, matrices, settings.muon, **how)


@contextmanager
def precision(kind: str, device: str) -> Iterator[None]:
    """Compute in the numbers the settings ask for."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    try:
        with torch.autocast(device, torch.bfloat16, enabled=kind == "bf16", cache_enabled=False):
            yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def make_step(
    network: Network, optimizer: torch.optim.Optimizer, settings: TrainingSettings, batch: Batch,
    shared: Shared | None = None,
) -> Losses:  # fmt: skip
    """Make a gradient step on a batch, or on a share of one where several processes make it, and return its losses."""
    optimizer.zero_grad(set_to_none=True)
    with precision(settings.precision, batch.observations.device.type):
        said = (shared or network).taught(batch.observations)
        share, mask = settings.root_value_share, settings.mask_policy
        found = losses(said.logits, said.values, batch, share, mask, said.chances)
        total = settings.value_weight * found.value + found.policy
        if shared:
            shared.backward(total)
        else:
            total.backward()  # type: ignore[no-untyped-call]
    if settings.gradient_norm > 0:
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.gradient_norm)
    optimizer.step()
    return found


class Trainer:
    """A network, its optimiser, and the average of its weights if one is kept."""

    def __init__(self, network: Network, settings: TrainingSettings, planned: int, seed: int, replay: Replay):
        self.settings, self.planned, self.seed, self.replay = settings, planned, seed, replay
        self.device = replay.device
        self.network = network.to(self.device).train()
        self.averaged = copy.deepcopy(self.network) if settings.average != "none" else None
        self.steps = 0
        """steps made; those that were due before there was enough to learn from were never made"""
        on_card = self.device.type == "cuda"
        self.rate = torch.tensor(settings.learning_rate, device=self.device) if on_card else settings.learning_rate
        self.optimizer = optimizer_of(self.network, settings, self.rate)
        self.share = torch.zeros((), device=self.device)  # of the new weights in the average
        self.rows = torch.zeros(settings.batch, dtype=torch.int64, device=self.device)
        self.turns = torch.zeros_like(self.rows)
        self.totals = torch.zeros(len(Losses._fields), device=self.device)
        self.graph: Any = None
        self.others: Others | None = None
        """processes that make the steps together with this one"""

    @property
    def player(self) -> Network:
        """The network that plays and is saved: the average if there is one."""
        return self.averaged if self.averaged is not None else self.network

    # -- one step --

    def work(self) -> None:
        """Make the step whose rows, symmetries and learning rate stand ready."""
        batch, others = self.replay.batch(self.rows, self.turns), self.others
        if others:
            batch = others.shared.share(batch, others.shapes)
        found = make_step(self.network, self.optimizer, self.settings, batch, others.shared if others else None)
        if self.averaged is not None:
            self.average()
        told = torch.stack([loss.detach() for loss in found])
        self.totals += others.shared.mean(told) if others else told

    def average(self) -> None:
        """Move the average towards the newest weights; BatchNorm's counters are copied."""
        assert self.averaged is not None
        for mean, newest in zip(self.averaged.state_dict().values(), self.network.state_dict().values(), strict=True):
            if mean.is_floating_point():
                mean.lerp_(newest, self.share.to(mean.dtype))
            else:
                mean.copy_(newest)

    def share_at(self, step: int) -> float:
        """Return how much of the average the newest weights are: the first steps count in full."""
        if self.settings.average == "swa":
            return 1 / (step + 1)
        return max(1 - self.settings.average_decay, 1 / (step + 1))

    # -- many steps --

    def ready(self) -> bool:
        """Tell whether there is enough to learn from."""
        filled, batch = self.replay.filled, self.settings.batch
        taught = filled if self.all_taught else int(self.replay.rows.taught[:filled].sum())
        full = filled == self.replay.capacity  # there will never be more, though some positions are not taught
        return taught >= (batch if full else max(self.settings.fresh, batch))

    def train(self, first: int, count: int) -> Losses:
        """Make the steps first, first + 1, ... of the plan; return their mean losses, on the device."""
        taught = self.replay.taught_rows() if not self.all_taught else None
        rows = self.replay.filled if taught is None else len(taught)
        self.totals.zero_()
        rates = [learning_rate(self.settings, number, self.planned) for number in range(first, first + count)]
        if self.others:
            self.others.announce(rates, self.replay.batch(self.rows[:1], self.turns[:1]))
        for number, rate in enumerate(rates, start=first):
            chosen, turns = draw(self.seed, number, rows, self.settings.batch, self.replay.turns)
            indices = torch.from_numpy(chosen).to(self.device, non_blocking=True)
            self.rows.copy_(indices if taught is None else taught[indices])
            self.turns.copy_(torch.from_numpy(turns), non_blocking=True)
            self.set_rate(rate)
            self.share.fill_(self.share_at(self.steps))
            self.launch()
            self.steps += 1
        return Losses(*(self.totals / max(1, count)).clone())

    def set_rate(self, rate: float) -> None:
        """Set the learning rate of the next step, where the optimiser looks for it."""
        if isinstance(self.rate, Tensor):
            self.rate.fill_(rate)
        else:
            for group in self.optimizer.param_groups:
                group["lr"] = rate

    all_taught = True
    """whether every row is taught; False with cheap moves or random openings"""

    def launch(self) -> None:
        """Make one step, on a card by a graph unless others are waited for in it."""
        if self.device.type != "cuda" or self.others:
            self.work()
            return
        if self.graph is None:
            self.graph = self.captured()
        self.graph.replay()

    def captured(self) -> Any:
        """Capture a step; what the steps before that change is put back."""
        kept = [tensor.clone() for tensor in self.tensors()]
        new_stream: Callable[[], torch.cuda.Stream] = torch.cuda.Stream
        aside, present = new_stream(), torch.cuda.current_stream()
        aside.wait_stream(present)
        with torch.cuda.stream(aside):
            for _ in range(WARMING):
                self.work()
        present.wait_stream(aside)
        made = self.tensors()
        for tensor in made[len(kept) :]:
            tensor.zero_()  # the optimiser's memory, which the first step made
        for tensor, before in zip(made, kept, strict=False):
            tensor.copy_(before)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.work()
        return graph

    def tensors(self) -> list[Tensor]:
        """List everything a step changes, the optimiser's memory last."""
        found = [*self.network.state_dict().values(), self.totals]
        if self.averaged is not None:
            found += self.averaged.state_dict().values()
        for memory in self.optimizer.state.values():
            found += [value for value in memory.values() if isinstance(value, Tensor)]
        return found

    # -- going on --

    def state(self) -> dict[str, Any]:
        """Return what is needed to go on."""
        averaged = None if self.averaged is None else self.averaged.state_dict()
        return {
            "network": self.network.state_dict(),
            "averaged": averaged,
            "optimizer": self.optimizer.state_dict(),
            "steps": self.steps,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        if self.averaged is not None:
            self.averaged.load_state_dict(state["averaged"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.steps = state["steps"]
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
