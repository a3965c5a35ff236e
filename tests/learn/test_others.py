"""Several processes that learn together, against one with the whole batch."""

from __future__ import annotations

import copy
import multiprocessing
import sys

import pytest
import torch

from learn import leavers
from learn.samples import filled_replay
from learn.test_trainer import PLANNED, SEED, SETTINGS
from nets.samples import on_one_thread
from rookery import load
from rookery.errors import BadInput
from rookery.learn import others
from rookery.learn.others import accompanied
from rookery.learn.sections import TrainingSettings
from rookery.learn.trainer import Trainer
from rookery.nets.configs import PerceptronConfig
from rookery.nets.residual import build
from support import CONNECT_FOUR, ROOT, run_python

STEPS = 5


@pytest.fixture(autouse=True)
def one_thread():
    with on_one_thread():
        yield


def two_alike() -> tuple[Trainer, Trainer]:
    """Return two trainers of the same network without BatchNorms, on the same replay."""
    replay, _ = filled_replay(load(CONNECT_FOUR), "planes", 64, 100, symmetries=True)
    network = build(PerceptronConfig(inputs=84, actions=7, hidden=(12,)), 2)
    settings = TrainingSettings(**{**SETTINGS, "average": "ema"})
    first, second = (Trainer(copy.deepcopy(network), settings, PLANNED, SEED, replay) for _ in range(2))
    return first, second


def farthest(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@pytest.mark.slow
def test_two_processes_learn_what_one_learns_from_the_whole_batch():
    alone, together = two_alike()
    first = torch.stack(list(alone.train(0, 2)))
    alone.train(2, STEPS - 2)
    with accompanied(together, 2):
        told = torch.stack(list(together.train(0, 2)))
        together.train(2, STEPS - 2)
    assert farthest(alone.network.state_dict(), together.network.state_dict()) < 1e-6
    assert farthest(alone.player.state_dict(), together.player.state_dict()) < 1e-6
    assert (first[:2] - told[:2]).abs().max() < 1e-6  # value and policy; of the others, means of shares differ


@pytest.mark.slow
def test_processes_that_join_later_take_up_the_weights_and_the_optimiser():
    alone, together = two_alike()
    alone.train(0, STEPS)
    together.train(0, 3)
    with accompanied(together, 2):
        together.train(3, STEPS - 3)
    assert farthest(alone.network.state_dict(), together.network.state_dict()) < 1e-6


@pytest.mark.slow
def test_who_leaves_in_the_middle_of_a_step_does_not_wait_for_the_others(monkeypatch):
    trainer, _ = two_alike()
    known = iter([trainer.replay.batch])  # asked once for what batches look like

    def interrupted(*given):
        return next(known, stop)(*given)

    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer.replay, "batch", interrupted)
    with pytest.raises(KeyboardInterrupt), accompanied(trainer, 2):
        trainer.train(0, 2)
    assert trainer.others is None
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_process_that_has_ended_is_told_in_words():
    trainer, _ = two_alike()

    def left_alone() -> None:
        trainer.others.running[0].kill()
        trainer.train(0, STEPS)

    with pytest.raises(BadInput, match="a process that learned along has ended"), accompanied(trainer, 2):
        left_alone()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("leave", "told"),
    [
        (leavers.at_once, "has ended before it began"),
        (leavers.before_weights_come, "has ended; what was saved before is intact"),
        (leavers.within_a_step, "has ended; what was saved before is intact"),
    ],
)
def test_a_process_that_ends_too_early_is_told_and_nobody_waits_for_it(monkeypatch, leave, told):
    trainer, _ = two_alike()
    monkeypatch.setattr(others, "accompany", leave)
    with pytest.raises(BadInput, match=told), accompanied(trainer, 2):
        trainer.train(0, STEPS)
    assert trainer.others is None
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_process_that_ends_while_all_meet_is_told_and_nobody_waits_for_it():
    code = "import sys; sys.path.insert(0, sys.argv[1]); from learn import leavers; leavers.lost_while_all_meet()"
    said = run_python(code, str(ROOT / "tests"), timeout=600)
    told = "--devices 2: a process that was to learn along has ended before it began"
    assert said.splitlines() == [told, f"{told}, in an earlier attempt; begin again in a new process"]


def test_a_batch_that_cannot_be_shared_out_is_refused():
    trainer, _ = two_alike()
    with pytest.raises(BadInput, match="a batch of 16"), accompanied(trainer, 3):
        pass


def test_without_fabric_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    trainer, _ = two_alike()
    with pytest.raises(BadInput, match=r"pip install 'rookery\[cluster\]'"), accompanied(trainer, 2):
        pass
