"""Training in the Texas 42 study: what a step of either stage computes (blocks of steps: `studies.steps`).

Weights are kept in single precision; `bf16` computes products in half.

Shuffling the slots of hands would change nothing: Stage 1 has no notion of a slot's place, and its answers come in
whatever order the tiles are in; a test holds it to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from rookery.nets.texas42 import Expectation, Hands, Judged, Transcript
from rookery.studies.steps import BlockTrainer, Speed
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

SHOWN = ("loss", "gap")
VALID_ROWS = 4096
Stage = Hands | Transcript


def computing(device: torch.device, precision: str) -> torch.autocast:
    """Let products be computed in some precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16", cache_enabled=False)


class Trainer(BlockTrainer):
    """A network on the way through the steps of a run."""

    network: Stage
    settings: TrainSettings

    def __init__(self, network: Stage, settings: TrainSettings, table: Table, speed: Speed | None = None):
        self.table, device = table, table.device
        network.to(device).train()
        parameters: list[Tensor] = list(network.parameters())
        super().__init__(
            network, parameters, settings, len(table), SHOWN, speed or Speed.best(device.type), device,
            network.matrices(), settings.muon,
        )  # fmt: skip

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        return self.settings.rate(step)

    def batches(self, steps: int) -> Iterator[tuple[Tensor, ...]]:
        """Yield the columns of the batches of a block; a hand has no symmetries."""
        size = self.settings.batch
        for number in range(steps):
            yield tuple(self.table.batch(self.numbers[number * size : (number + 1) * size]))

    def judged(self, *columns: Tensor) -> Tensor:
        """Return loss and mean gap [2] of a batch, given by its columns."""
        answers, advantage = self.settings.network.answers, self.settings.advantage
        if isinstance(self.network, Hands):
            batch, found = Positions(*columns), self.network.judge(columns[0])
            with torch.autocast(self.device.type, enabled=False):
                loss, gap = stage1_loss(found, batch, answers, advantage), gaps(batch.q, found.choice, batch.legal)
        else:
            hands, said = Decisions(*columns), self.network.expect(columns[0])
            with torch.autocast(self.device.type, enabled=False):
                loss, gap = stage2_loss(said, hands, answers, advantage), gaps(hands.mean, said.mean, hands.legal)
        return torch.stack((loss, gap.mean().detach()))

    def gradients(self, batch: tuple[Tensor, ...]) -> tuple[Tensor, Sequence[Tensor | None]]:
        """Return loss and gap of a batch, and the gradients for the weights."""
        with computing(self.device, self.settings.precision):
            figures = self.judge(*batch)
        return figures.detach(), torch.autograd.grad(figures[0], self.parameters, allow_unused=True)


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
                leads = (batch.trick == 0) & network.leads(batch.tokens)
                tally.add(figures, batch.legal, batch.trick, deal, leads)
            else:
                assert isinstance(batch, Decisions)
                said = Expectation(*(part.float() for part in network.expect(batch.tokens)))
                tally.add(stage2_figures(said, batch, answers), batch.legal, batch.trick, deal)
    return tally.read()


def wide(found: Judged) -> Judged:
    """Return answers in single precision."""
    return Judged(*(part.float() for part in found))
