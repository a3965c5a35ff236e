"""The trainer against a plain loop of PyTorch, and averages against their definitions."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from torch.nn import functional

import rookery.learn.muon
from learn.samples import filled_replay
from nets.samples import on_one_thread
from rookery import load
from rookery.learn.losses import Losses
from rookery.learn.replay import Replay, draw
from rookery.learn.sections import TrainingSettings
from rookery.learn.trainer import Trainer, learning_rate
from rookery.nets.configs import ResidualConfig
from rookery.nets.residual import build
from support import CONNECT_FOUR

SEED, PLANNED = 9, 12
SETTINGS = {
    "batch": 16, "replay": 64, "learning_rate": 0.02, "least_learning_rate": 0.001, "warmup_steps": 3,
    "weight_decay": 0.05, "gradient_norm": 0.3, "value_weight": 1.5, "root_value_share": 0.25, "mask_policy": True,
    "symmetries": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    with on_one_thread():
        yield


def small_network():
    """Return a network with BatchNorms, the same each time."""
    return build(ResidualConfig(inputs=84, actions=7, width=12, blocks=1, value_hidden=4, policy_hidden=6), 2)


def made(replay: Replay | None = None, **changes):
    """Return a trainer on a full replay of connect four."""
    if replay is None:
        replay, _ = filled_replay(load(CONNECT_FOUR), "planes", 64, 100, symmetries=True)
    return Trainer(small_network(), TrainingSettings(**{**SETTINGS, **changes}), PLANNED, SEED, replay)


def same(one, other):
    """Tell whether two sets of weights agree bit for bit."""
    return all(torch.equal(value, other[name]) for name, value in one.items()) and one.keys() == other.keys()


# ---- steps ---------------------------------------------------------------------------------------


def rate_of(step: int) -> float:
    """Return the learning rate of a step: three steps up, then half a cosine over the nine that are left."""
    if step < 3:
        return 0.02 * (step + 1) / 3
    return 0.001 + (0.02 - 0.001) * (1 + math.cos(math.pi * (step - 3) / 8)) / 2


def plain_step(network, optimizer, replay, step):
    """Make a step of training as a textbook writes it; return its losses."""
    rows, turns = (torch.from_numpy(part) for part in draw(SEED, step, replay.filled, 16, 2))
    batch = replay.batch(rows, turns)
    for group in optimizer.param_groups:
        group["lr"] = rate_of(step)
    optimizer.zero_grad()
    logits, values = network(batch.observations)
    target = 0.75 * batch.outcomes + 0.25 * batch.values
    policy = functional.log_softmax(logits.masked_fill(~batch.legal, -1e9), 1)
    value_loss = ((values - target) ** 2).mean()
    policy_loss = (torch.xlogy(batch.policy, batch.policy) - batch.policy * policy).sum(1).mean()
    (1.5 * value_loss + policy_loss).backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 0.3)
    optimizer.step()
    return value_loss.item(), policy_loss.item()


def test_steps_are_those_of_a_plain_loop_bit_for_bit():
    trainer, network = made(), small_network().train()
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.05)
    expected = [plain_step(network, optimizer, trainer.replay, step) for step in range(5)]
    found = [trainer.train(0, 1), trainer.train(1, 4)]
    assert same(trainer.network.state_dict(), network.state_dict())
    assert trainer.player is trainer.network
    assert trainer.steps == 5
    assert (found[0].value.item(), found[0].policy.item()) == expected[0]
    for name, index in (("value", 0), ("policy", 1)):
        mean = sum(losses[index] for losses in expected[1:]) / 4
        assert getattr(found[1], name).item() == pytest.approx(mean, rel=1e-6)


def test_matrices_in_blocks_go_by_muon_if_it_has_a_pace(monkeypatch):
    monkeypatch.setattr(rookery.learn.muon, "computes_bf16", lambda: True)  # as PyTorch's own does everywhere
    trainer, network = made(muon=2.0), small_network().train()
    matrices = [network.blocks[0].fc1.weight, network.blocks[0].fc2.weight]
    others = [each for each in network.parameters() if all(each is not matrix for matrix in matrices)]
    adamw = torch.optim.AdamW(others, weight_decay=0.05)
    muon = torch.optim.Muon(matrices, weight_decay=0.05, adjust_lr_fn="match_rms_adamw")
    for step in range(5):
        for group in muon.param_groups:
            group["lr"] = 2 * rate_of(step)
        plain_step(network, Both(adamw, muon), trainer.replay, step)
    trainer.train(0, 5)
    for name, weights in trainer.network.state_dict().items():
        if name.endswith("weight"):  # what is added before a BatchNorm follows rounding alone
            torch.testing.assert_close(weights, network.state_dict()[name], rtol=1e-3, atol=1e-3)
    assert not same(trainer.network.state_dict(), small_network().state_dict())


class Both:
    """Two optimisers that a plain loop takes for one, which has the learning rate of the first."""

    def __init__(self, first, second):
        self.all, self.param_groups = (first, second), first.param_groups

    def zero_grad(self):
        for each in self.all:
            each.zero_grad()

    def step(self):
        for each in self.all:
            each.step()


def test_the_learning_rate_rises_then_falls_to_the_least_at_the_last_planned_step():
    settings = TrainingSettings(**SETTINGS)
    rates = [learning_rate(settings, step, PLANNED) for step in range(PLANNED)]
    assert rates == pytest.approx([rate_of(step) for step in range(PLANNED)])
    assert rates[0] == pytest.approx(0.02 / 3)
    assert max(rates) == rates[3] == rates[2] == 0.02
    assert rates[-1] == 0.001 < rates[-2]
    assert learning_rate(settings, PLANNED + 5, PLANNED) == 0.001
    single = TrainingSettings(**{**SETTINGS, "warmup_steps": 0})
    assert learning_rate(single, 0, 1) == 0.02


def test_gradients_are_left_alone_without_a_limit():
    weights = {}
    for norm in (0.0, 1e6, 1e-3):
        trainer = made(gradient_norm=norm)
        trainer.train(0, 3)
        weights[norm] = trainer.network.state_dict()
    assert same(weights[0.0], weights[1e6])
    assert not same(weights[0.0], weights[1e-3])


def test_steps_draw_by_their_number_and_not_by_how_many_were_made():
    first, second = made(), made()
    first.train(4, 1)
    second.train(0, 1)
    assert not same(first.network.state_dict(), second.network.state_dict())
    again = made()
    again.train(4, 1)
    assert same(first.network.state_dict(), again.network.state_dict())


def test_only_taught_rows_are_learnt_from():
    replay, _ = filled_replay(load(CONNECT_FOUR), "planes", 64, 64, taught=0.5)
    trainer = made(replay, batch=8)
    trainer.all_taught = False
    seen = []
    work = trainer.work
    trainer.work = lambda: (seen.extend(trainer.rows.tolist()), work())
    trainer.train(0, 40)
    assert set(seen) == {row for row in range(64) if replay.rows.taught[row]}


def test_losses_come_down():
    trainer = made(learning_rate=0.01, batch=64)
    first = trainer.train(0, 1)
    for _ in range(20):
        last = trainer.train(4, 10)
    assert last.value < first.value / 2
    assert last.policy < first.policy * 0.7


def test_half_precision_learns_much_the_same():
    exact, rough = made(symmetries=False), made(precision="bf16", symmetries=False)
    losses = [[x.item() for x in trainer.train(0, 5)] for trainer in (exact, rough)]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert losses[0] != losses[1]


# ---- when there is enough to learn from ----------------------------------------------------------


@pytest.mark.parametrize(("rows", "fresh", "ready"), [(15, 0, False), (16, 0, True), (39, 40, False), (40, 40, True)])
def test_learning_begins_with_a_batch_or_as_many_positions_as_are_asked_for(rows, fresh, ready):
    replay, _ = filled_replay(load(CONNECT_FOUR), "planes", 64, rows)
    assert made(replay, fresh=fresh).ready() is ready


def test_positions_that_are_not_taught_are_not_counted():
    replay, _ = filled_replay(load(CONNECT_FOUR), "planes", 64, 64, taught=0.5)
    taught = int(replay.rows.taught.sum())
    for batch, ready in ((taught, True), (taught + 1, False)):
        trainer = made(replay, batch=batch)
        trainer.all_taught = False
        assert trainer.ready() is ready


def test_a_full_replay_is_enough_though_some_of_its_positions_are_not_taught():
    replay, _ = filled_replay(load(CONNECT_FOUR), "planes", 64, 63, taught=0.5)
    trainer = made(replay, fresh=60)
    trainer.all_taught = False
    assert not trainer.ready()
    replay.written += 1
    assert trainer.ready()


# ---- averages ------------------------------------------------------------------------------------


def histories(trainer, steps):
    """Return the weights after each step, as numbers of double precision."""
    found = []
    for step in range(steps):
        trainer.train(step, 1)
        found.append({name: value.double().clone() for name, value in trainer.network.state_dict().items()})
    return found


def test_swa_is_the_mean_of_all_weights():
    trainer = made(average="swa")
    history = histories(trainer, 7)
    for name, mean in trainer.player.state_dict().items():
        expected = torch.stack([weights[name] for weights in history]).mean(0)
        if name.endswith("num_batches_tracked"):
            assert mean == 7
        else:
            torch.testing.assert_close(mean.double(), expected, rtol=1e-5, atol=1e-6)


def test_ema_moves_by_its_share_and_is_a_plain_mean_at_first():
    trainer = made(average="ema", average_decay=0.75)
    history = histories(trainer, 9)
    for name, mean in trainer.player.state_dict().items():
        expected = torch.stack([weights[name] for weights in history[:4]]).mean(0)  # 1 / 4 is the share of the fourth
        for weights in history[4:]:
            expected = 0.75 * expected + 0.25 * weights[name]
        if not name.endswith("num_batches_tracked"):
            torch.testing.assert_close(mean.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("average", ["ema", "swa"])
def test_an_average_begins_with_the_first_step_that_is_made(average):
    trainer = made(average=average, average_decay=0.5)
    trainer.train(6, 1)  # six steps were due before there was enough to learn from
    assert same(trainer.player.state_dict(), trainer.network.state_dict())


@pytest.mark.parametrize("average", ["ema", "swa"])
def test_averages_hold_batchnorms_statistics_and_change_no_step(average):
    trainer, plain = made(average=average), made()
    trainer.train(0, 6)
    plain.train(0, 6)
    assert same(trainer.network.state_dict(), plain.network.state_dict())
    assert trainer.player is not trainer.network
    averaged, newest = trainer.player.state_dict(), trainer.network.state_dict()
    for name in ("input_bn.running_mean", "input_bn.running_var", "input_fc.weight"):
        assert not torch.equal(averaged[name], newest[name])


# ---- going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", ["none", "ema", "swa"])
@pytest.mark.parametrize("at", [0, 1, 4])
@pytest.mark.parametrize("muon", [0.0, 2.0])
def test_a_trainer_taken_up_again_goes_on_bit_for_bit(average, at, muon):
    straight, stopped, other = (made(average=average, muon=muon) for _ in range(3))
    straight.train(0, 8)
    stopped.train(0, at)
    other.load(copy.deepcopy(stopped.state()))
    other.train(at, 8 - at)
    assert other.steps == 8
    assert same(straight.network.state_dict(), other.network.state_dict())
    assert same(straight.player.state_dict(), other.player.state_dict())


def test_no_step_gives_losses_of_zero():
    assert [x.item() for x in made().train(0, 0)] == [0] * len(Losses._fields)
