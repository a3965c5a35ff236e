"""Training in the Texas 42 study: steps of either stage, on a card by CUDA graphs.

Steps are numbered from 0; batch and learning rate follow from the number, so that nothing random has to be saved. On a
card a block of steps, from the numbers of its rows to the last new weights, is one graph. Weights are kept in single
precision; `bf16` computes products in half. Figures are added up on the device until somebody asks for their means.

Shuffling the slots of hands would change nothing: Stage 1 has no notion of a slot's place, and its answers come in
whatever order the tiles are in; a test holds it to that.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rookery.games.options import whole_number
from rookery.nets.texas42 import Expectation, Hands, Judged, Transcript
from rookery.studies.domineering_training import why_not_compiled
from rookery.studies.order import Order
from rookery.studies.texas42_losses import (
    STAGE1_FIGURES,
    STAGE2_FIGURES,
    Decisions,
    Positions,
    Tally,
    gaps,
    stage1_figures,
    stage1_loss,
    stage2_figures,
    stage2_loss,
)
from rookery.studies.texas42_plan import TrainSettings
from rookery.studies.texas42_tables import Table

WARMING = 2
"""steps before capturing, whose effect is undone"""
SHOWN = ("loss", "gap")
VALID_ROWS = 4096
LEADER = 11
"""the feature of Stage 1's tokens that tells where the leader sits, 0 for the mover itself"""

Stage = Hands | Transcript


@dataclass(frozen=True)
class Speed:
    """How steps are made; the numbers that come out are the same but for rounding."""

    block: int = 1
    """steps of a graph on a card"""
    compile: bool = False
    """whether PyTorch's compiler writes kernels for the network"""
    graph: bool = True
    """whether a card is given whole blocks"""

    def __post_init__(self) -> None:
        whole_number("block", self.block, 1, 1024)

    @classmethod
    def best(cls, device: str) -> Speed:
        """Return what suits a device."""
        return cls(block=8, compile=True) if device == "cuda" else cls()


def computing(device: torch.device, precision: str) -> torch.autocast:
    """Let products be computed in some precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16", cache_enabled=False)


class Trainer:
    """A network on the way through the steps of a run."""

    def __init__(self, network: Stage, settings: TrainSettings, table: Table, speed: Speed | None = None):
        self.settings, self.table, self.device = settings, table, table.device
        self.speed = speed or Speed.best(self.device.type)
        self.network = network.to(self.device).train()
        self.order = Order(len(table), settings.batch, settings.seed, self.device)
        self.step = 0
        """steps made"""
        self.parameters = list(self.network.parameters())
        self.rate = torch.tensor(settings.learning_rate, device=self.device)
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=self.rate, weight_decay=settings.weight_decay, fused=True,
            capturable=self.device.type == "cuda",
        )  # fmt: skip
        self.numbers = torch.zeros(self.speed.block * settings.batch, dtype=torch.int64, device=self.device)
        self.rates = torch.zeros(self.speed.block, device=self.device)
        self.totals = torch.zeros(len(SHOWN), device=self.device)
        self.counted = 0
        """steps whose figures are in the totals"""
        self.graphs: dict[int, Any] = {}
        self.judge: Callable[..., Tensor] = self.judged
        self.prepared = False
        self.note = ""
        """why the network is not compiled though it should be"""

    # -- one step --

    def judged(self, *columns: Tensor) -> Tensor:
        """Return loss and mean gap [2] of a batch, given by its columns."""
        answers, advantage = self.settings.network.answers, self.settings.advantage
        if isinstance(self.network, Hands):
            batch, found = Positions(*columns), self.network.judge(columns[0])
            with torch.autocast(self.device.type, enabled=False):
                loss, gap = stage1_loss(found, batch, answers, advantage), gaps(batch.q, found.slots, batch.legal)
        else:
            hands, said = Decisions(*columns), self.network.expect(columns[0])
            with torch.autocast(self.device.type, enabled=False):
                loss, gap = stage2_loss(said, hands, answers, advantage), gaps(hands.mean, said.mean, hands.legal)
        return torch.stack((loss, gap.mean().detach()))

    def make_step(self, columns: tuple[Tensor, ...], rate: Tensor) -> None:
        """Make one step."""
        with computing(self.device, self.settings.precision):
            figures = self.judge(*columns)
        gradients = torch.autograd.grad(figures[0], self.parameters, allow_unused=True)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        if self.settings.gradient_norm > 0:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.gradient_norm)
        self.rate.copy_(rate)
        self.optimizer.step()
        self.totals += figures.detach()

    # -- many steps --

    def train(self, count: int) -> None:
        """Make so many steps more; on a card they may still be under way."""
        left = count
        while left:
            steps = self.speed.block if left >= self.speed.block else 1
            numbers, _ = self.order.at(self.step, steps)
            self.numbers[: len(numbers)].copy_(numbers)
            rates = [self.settings.rate(step) for step in range(self.step, self.step + steps)]
            self.rates[:steps].copy_(torch.tensor(rates))
            self.launch(steps)
            self.step += steps
            self.counted += steps
            left -= steps

    def work(self, steps: int) -> None:
        """Make the steps whose rows and learning rates stand ready."""
        size = self.settings.batch
        for number in range(steps):
            batch = self.table.batch(self.numbers[number * size : (number + 1) * size])
            self.make_step(tuple(batch), self.rates[number])

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
        """Have the network compiled, if that is wanted and can be done; else note why not."""
        if self.prepared:
            return
        self.prepared = True
        if not self.speed.compile:
            return
        self.note = why_not_compiled(self.device.type)
        if not self.note:
            self.judge = torch.compile(self.judged, fullgraph=True, dynamic=False)
            kept = [tensor.clone() for tensor in self.changed()]
            try:
                self.work(1)
            except Exception as error:  # a compiler fails in a hundred ways; steps are right without it
                self.note = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
                self.judge = self.judged
            self.put_back(kept)

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
        found = [tensor.detach() for tensor in (*self.parameters, self.totals)]
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
        gc.collect()
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
        return dict(zip(SHOWN, means, strict=True))

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
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
        self.totals.copy_(state["totals"])
        self.step, self.counted = state["step"], state["counted"]
        self.graphs.clear()
        self.prepared = False


@torch.no_grad()
def measured(network: Stage, table: Table, precision: str = "fp32") -> dict[str, Any]:
    """Return the figures of a network on a table: of all, unforced, forced, by trick."""
    names = STAGE1_FIGURES if table.stage == 1 else STAGE2_FIGURES
    count, deals = table.deals
    tally, size = Tally(names, count, table.device), VALID_ROWS if table.device.type == "cuda" else 512
    answers = network.config.answers
    for batch, deal in zip(table.in_order(size), torch.split(deals, size), strict=True):
        with computing(table.device, precision):
            if isinstance(network, Hands):
                assert isinstance(batch, Positions)
                figures = stage1_figures(wide(network.judge(batch.tokens)), batch, answers)
                leads = (batch.trick == 0) & (batch.tokens[:, 0, LEADER] == 0)
                tally.add(figures, batch.legal, batch.trick, deal, leads)
            else:
                assert isinstance(batch, Decisions)
                said = Expectation(*(part.float() for part in network.expect(batch.tokens)))
                tally.add(stage2_figures(said, batch, answers), batch.legal, batch.trick, deal)
    return tally.read()


def wide(found: Judged) -> Judged:
    """Return answers in single precision."""
    return Judged(*(part.float() for part in found))
