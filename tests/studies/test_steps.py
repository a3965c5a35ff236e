"""Steps in blocks, of the smallest network there is."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from rookery.studies import steps as stepping
from rookery.studies.steps import BlockTrainer, Speed

ROWS = 30


@dataclass(frozen=True)
class Plan:
    steps: int = 9
    batch: int = 4
    seed: int = 1
    learning_rate: float = 0.1
    weight_decay: float = 0.01
    gradient_norm: float = 0.0


class Line(BlockTrainer):
    """Learns that y = 2 x."""

    def __init__(self, speed: Speed | None = None, muon: bool = False):
        torch.manual_seed(3)
        network, self.told = nn.Linear(1, 1), []
        super().__init__(
            network, list(network.parameters()), Plan(), ROWS, ("loss",), speed or Speed(), torch.device("cpu"),
            [network.weight], float(muon),
        )  # fmt: skip

    def learning_rate(self, step):
        return 0.1 / (1 + step)

    def batches(self, steps):
        yield from torch.split(self.numbers[: 4 * steps], 4)

    def judged(self, batch):
        x = batch[:, None] / ROWS
        return (self.network(x) - 2 * x).square().mean()

    def gradients(self, batch):
        loss = self.judge(batch)
        return loss.detach()[None], torch.autograd.grad(loss, self.parameters)

    def make_step(self, batch, rate):
        super().make_step(batch, rate)
        self.told.append(float(rate))


def weights_in(trainer):
    return [parameter.tolist() for parameter in trainer.network.parameters()]


def test_it_learns_and_tells_means_since_it_was_last_asked():
    trainer = Line()
    assert trainer.read() is None
    trainer.train(1)
    first = trainer.read()["loss"]
    trainer.train(8)
    assert trainer.read()["loss"] < first
    assert trainer.read() is None


@pytest.mark.parametrize("sent", [4, 5, 100])
@pytest.mark.parametrize("block", [1, 4])
def test_every_step_has_its_learning_rate_however_many_are_sent_at_once(sent, block, monkeypatch):
    monkeypatch.setattr(stepping, "RATES", sent)
    trainer = Line(Speed(block=block))
    trainer.train(9)
    assert trainer.told == pytest.approx([0.1 / (1 + step) for step in range(9)])
    again = Line(Speed(block=block))
    again.load(trainer.state() | {"step": 2})
    again.train(3)
    assert again.told == pytest.approx([0.1 / 3, 0.1 / 4, 0.1 / 5])


def test_steps_are_the_same_in_blocks_of_any_size():
    one, other = Line(), Line(Speed(block=4))
    one.train(9)
    other.train(9)
    assert weights_in(one) == weights_in(other)


def test_a_state_from_another_device_is_taken():
    """Steps on a card are captured, on a processor they cannot be; a state says how its own were made."""
    first, second = Line(), Line()
    first.train(1)
    state = first.state()
    state["optimizer"]["param_groups"][0]["capturable"] = True
    second.load(state)
    assert second.optimizer.param_groups[0]["capturable"] is False
    second.train(1)


def test_a_compiler_that_fails_is_noted_and_changes_nothing(monkeypatch):
    def failing(batch):
        raise RuntimeError("no compiler\nat all")

    monkeypatch.setattr(stepping, "why_not_compiled", lambda device: "")
    monkeypatch.setattr(torch, "compile", lambda function, **settings: failing)
    plain, other = Line(), Line(Speed(compile=True))
    plain.train(5)
    other.train(5)
    assert other.note == "RuntimeError: no compiler"
    assert weights_in(plain) == weights_in(other)


@pytest.mark.parametrize("muon", [False, True])
def test_what_a_step_changes_can_be_put_back(muon):
    """Before a block is captured its steps are made in earnest, and must leave nothing behind."""
    plain, other = Line(muon=muon), Line(muon=muon)
    kept = [tensor.clone() for tensor in other.changed()]
    other.rates.fill_(0.1)
    other.work(1)
    assert weights_in(plain) != weights_in(other)
    other.put_back(kept)
    for trainer in (plain, other):
        trainer.train(5)
    assert weights_in(plain) == weights_in(other)
    assert plain.read() == other.read()
