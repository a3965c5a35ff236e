"""Steps of the Domineering study, beside the same written plainly."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from rookery.nets import transformer
from rookery.nets.transformer import Heads, Transformer
from rookery.studies import domineering_training
from rookery.studies.domineering_batches import Batch, GameTable, Positions
from rookery.studies.domineering_losses import Figures, Weights, figures, learning_rate
from rookery.studies.domineering_plan import RunSettings
from rookery.studies.domineering_training import Speed, Trainer, computing, validated
from rookery.studies.order import Order
from studies.domineering_samples import some_records
from studies.domineering_tiny import network_of, tiny

pytestmark = pytest.mark.xdist_group("domineering")


@pytest.fixture(scope="module")
def positions() -> Positions:
    return Positions(GameTable(some_records(30, seed=6)), "train")


def trainer_of(positions: Positions, settings: RunSettings | None = None, speed: Speed | None = None) -> Trainer:
    settings = settings or tiny("small-aux")
    return Trainer(network_of(settings), settings, positions, speed)


def weights_in(network: Transformer) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in network.parameters()]


def same(first: Transformer, second: Transformer) -> bool:
    return all(torch.equal(one, other) for one, other in zip(weights_in(first), weights_in(second), strict=True))


# ---- losses --------------------------------------------------------------------------------------


def slow_figures(found: Heads, batch: Batch, weights: Weights) -> list[float]:
    """Position by position, move by move."""
    value = policy = sectors = moves = winners = 0.0
    for row in range(len(batch)):
        chance = 1 / (1 + math.exp(-float(found.vertical_win_logit[row])))
        won = float(batch.value[row]) == 1
        value -= math.log(chance if won else 1 - chance)
        winners += (chance > 0.5) == won
        legal = [move for move in range(480) if batch.legal[row, move]]
        logits = {move: float(found.policy[row, move]) for move in legal}
        played = int(batch.policy[row])
        policy -= logits[played] - math.log(sum(math.exp(logit) for logit in logits.values()))
        moves += max(logits, key=logits.__getitem__) == played
        for said, true in zip(found.sectors[row].tolist(), batch.sectors[row].tolist(), strict=True):
            sectors += (said - true / weights.unit) ** 2 / 16
    means = [total / len(batch) for total in (value, policy, sectors, moves, winners)]
    return [means[0] + weights.policy * means[1] + weights.sectors * means[2], *means]


@pytest.mark.parametrize("weights", [Weights(), Weights(0.2, 0.8, 10.0), Weights(sectors=0.0)])
def test_figures_are_those_of_the_definition(positions, weights):
    batch = positions.batch(*Order(len(positions), 12, seed=3).at(0))
    with torch.no_grad():
        found = network_of(tiny("small-aux")).heads(batch.tokens)
        found = found._replace(policy=3 * found.policy, vertical_win_logit=3 * found.vertical_win_logit)
        fast = [float(figure) for figure in figures(found, batch, weights)]
    assert fast == pytest.approx(slow_figures(found, batch, weights), abs=1e-5)


def test_illegal_moves_do_no_harm_in_half_precision_however_likely(positions):
    batch = positions.batch(*Order(len(positions), 8, seed=3).at(0))
    policy = torch.where(batch.legal, 1.0, 60_000.0).half().requires_grad_()
    found = Heads(torch.zeros(8).half(), policy, torch.zeros(8, 16).half())
    answer = figures(found, batch, Weights())
    wanted = sum(math.log(int(legal.sum())) for legal in batch.legal) / 8
    assert float(answer.policy) == pytest.approx(wanted, rel=1e-5)
    answer.loss.backward()
    assert policy.grad.isfinite().all()
    assert (policy.grad[~batch.legal] == 0).all()


def test_the_learning_rate_is_the_cosine_of_pytorch():
    settings = tiny("small-aux", steps=9)
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=9)
    for step in range(9):
        assert learning_rate(settings, step) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-12)
        optimizer.step()
        schedule.step()


# ---- steps ---------------------------------------------------------------------------------------


WITHOUT_GRADIENT = ("policy_head.W_out.bias",)  # it moves all logits alike: its gradient is but rounding


def plain_training(settings: RunSettings, positions: Positions, steps: int) -> Transformer:
    """Training as one would write it first."""
    network = network_of(settings)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, foreach=False
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=settings.steps)
    order = Order(len(positions), settings.batch, settings.seed)
    for step in range(steps):
        batch = positions.batch(*order.at(step))
        found = network.heads(batch.tokens)
        loss = nn.functional.binary_cross_entropy_with_logits(found.vertical_win_logit, batch.value)
        logits = found.policy.masked_fill(~batch.legal, -1e9)
        loss = loss + settings.policy_weight * nn.functional.cross_entropy(logits, batch.policy)
        if settings.teaches_sectors:
            error = (found.sectors - batch.sectors / settings.sector_unit) ** 2
            loss = loss + settings.sector_weight * error.mean()
        optimizer.zero_grad()
        loss.backward()
        if settings.gradient_norm > 0:
            nn.utils.clip_grad_norm_(network.parameters(), settings.gradient_norm)
        optimizer.step()
        schedule.step()
    return network


@pytest.mark.parametrize(
    "changes",
    [{}, {"gradient_norm": 0.05}, {"policy_weight": 0.2, "sector_weight": 0.8, "sector_unit": 10.0}],
    ids=["plain", "clipped", "weights of the original"],
)
@pytest.mark.parametrize("condition", ["small-aux", "small-plain"])
def test_steps_are_those_of_plain_code(positions, condition, changes):
    settings = tiny(condition, **changes)
    trainer = trainer_of(positions, settings)
    for steps in (1, 3):
        trainer.train(steps - trainer.step)
        wanted = plain_training(settings, positions, steps).state_dict()
        for name, mine in trainer.network.state_dict().items():
            if name not in WITHOUT_GRADIENT and (settings.teaches_sectors or "sector" not in name):
                assert torch.allclose(mine, wanted[name], atol=2e-5), name


def test_a_head_that_is_not_taught_keeps_its_weights_and_is_reported(positions):
    trainer = trainer_of(positions, tiny("small-plain"))
    before = trainer.network.sector_head.weight.detach().clone()
    trainer.train(3)
    assert torch.equal(trainer.network.sector_head.weight, before)
    found = trainer.read()
    assert found["sectors"] > 0
    assert found["loss"] == pytest.approx(found["value"] + found["policy"], rel=1e-5)


def test_steps_are_the_same_in_blocks_of_any_size(positions):
    trainers = [trainer_of(positions, speed=Speed(block=block)) for block in (1, 2, 4)]
    for trainer in trainers:
        trainer.train(5)
    assert same(trainers[0].network, trainers[1].network)
    assert same(trainers[0].network, trainers[2].network)
    assert trainers[0].read() == trainers[2].read()


def test_same_seed_same_weights_another_seed_others(positions):
    trainers = [trainer_of(positions, tiny("small-aux", seed=seed)) for seed in (1, 1, 2)]
    for trainer in trainers:
        trainer.train(2)
    assert same(trainers[0].network, trainers[1].network)
    assert not same(trainers[0].network, trainers[2].network)


def test_means_are_of_the_steps_since_they_were_last_asked_for(positions):
    one, other = trainer_of(positions), trainer_of(positions)
    assert one.read() is None
    one.train(3)
    other.train(1)
    first = other.read()
    other.train(2)
    assert one.read()["loss"] == pytest.approx((first["loss"] + 2 * other.read()["loss"]) / 3, rel=1e-5)


def test_loss_falls(positions):
    trainer = trainer_of(positions, tiny("small-aux", steps=60, batch=16))
    trainer.train(5)
    first = trainer.read()["loss"]
    trainer.train(50)
    trainer.read()
    trainer.train(5)
    assert trainer.read()["loss"] < first - 0.1


# ---- precision -----------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["bf16", "fp16", "bf16-all", "fp16-all"])
def test_half_precision_learns_about_the_same(positions, precision):
    exact, rounded = trainer_of(positions), trainer_of(positions, tiny("small-aux", precision=precision))
    if rounded.scale is not None:
        rounded.scale.fill_(1024.0)  # with so small a network the first steps would be left out
    for trainer in (exact, rounded):
        trainer.train(4)
    wanted, found = exact.read(), rounded.read()
    for name in ("loss", "value", "policy", "sectors"):
        assert found[name] == pytest.approx(wanted[name], rel=0.02)
    assert all(weights.dtype == torch.float32 for weights in weights_in(rounded.network))


def test_the_products_of_half_precision_are_of_half_precision(positions):
    tokens = positions.batch(torch.arange(2), torch.zeros(2, dtype=torch.int64)).tokens
    network = network_of(tiny("small-aux"))
    for precision, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)):
        with computing(network, precision):
            assert network.heads(tokens).sectors.dtype == dtype


@pytest.mark.parametrize("precision", ["fp16", "fp16-all"])
def test_a_step_whose_gradients_are_too_large_is_left_out_and_the_scale_halved(positions, precision):
    trainer = trainer_of(positions, tiny("small-aux", precision=precision))
    trainer.scale.fill_(1024.0)
    trainer.train(1)
    before, scale = weights_in(trainer.network), 2.0**100
    trainer.scale.fill_(scale)
    trainer.train(1)
    assert all(torch.equal(one, other) for one, other in zip(before, weights_in(trainer.network), strict=True))
    assert float(trainer.scale) == scale / 2
    trainer.scale.fill_(1024.0)
    trainer.train(1)
    assert not torch.equal(before[0], weights_in(trainer.network)[0])
    assert float(trainer.scale) == 1024.0
    assert int(trainer.good_steps) == 1
    assert all(float(memory["step"]) == 2 for memory in trainer.optimizer.state.values())


# ---- going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_trainer_goes_on_from_its_state_to_the_last_bit(positions, precision):
    settings = tiny("small-aux", precision=precision)
    undisturbed, first, second = (trainer_of(positions, settings) for _ in range(3))
    undisturbed.train(5)
    first.train(3)
    second.load({**first.state(), "network": {k: v.clone() for k, v in first.network.state_dict().items()}})
    second.train(2)
    assert second.step == 5
    assert same(second.network, undisturbed.network)
    assert second.read() == undisturbed.read()


# ---- speed ---------------------------------------------------------------------------------------


def test_kernels_of_our_own_teach_the_same(positions, monkeypatch):
    used, attend = [], transformer.attend
    monkeypatch.setattr(domineering_training, "fits", lambda *size: True)
    monkeypatch.setattr(transformer, "attend", lambda parted: used.append(len(parted)) or attend(parted))
    plain, other = trainer_of(positions), trainer_of(positions, speed=Speed(attention="own"))
    plain.train(2)
    assert not used
    other.train(2)
    assert used
    assert other.read() == pytest.approx(plain.read(), rel=1e-4)
    assert not any(layer.attn.own_kernel for layer in other.network.layers)  # others are not surprised


@pytest.mark.parametrize("way", ["nothing there", "fails"])
def test_training_goes_on_without_a_compiler(positions, way, monkeypatch):
    def failing(function, **settings):
        def compiled(*columns):
            raise RuntimeError("no compiler\nat all")

        return compiled

    if way == "fails":
        monkeypatch.setattr("rookery.studies.steps.why_not_compiled", lambda device: "")
        monkeypatch.setattr(torch, "compile", failing)
    else:
        monkeypatch.setattr("rookery.studies.steps.why_not_compiled", lambda device: "no compiler")
    plain, other = trainer_of(positions), trainer_of(positions, speed=Speed(compile=True))
    for trainer in (plain, other):
        trainer.train(3)
    assert "no compiler" in other.note
    assert same(plain.network, other.network)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_a_step_is_one_graph_for_a_compiler(positions, monkeypatch):
    made = torch.compile
    monkeypatch.setattr("rookery.studies.steps.why_not_compiled", lambda device: "")
    monkeypatch.setattr(torch, "compile", lambda function, mode, **rest: made(function, backend="aot_eager", **rest))
    plain = trainer_of(positions)
    compiled = trainer_of(positions, speed=Speed(compile=True, block=2, attention="own"))
    for trainer in (plain, compiled):
        trainer.train(4)
    assert compiled.note == ""
    assert compiled.judge != compiled.judged
    assert compiled.read() == pytest.approx(plain.read(), rel=1e-4)


# ---- validation ----------------------------------------------------------------------------------


def test_validation_is_the_mean_over_positions(positions):
    settings, numbers = tiny("small-aux"), torch.arange(10)
    network = network_of(settings)
    whole = positions.batch(numbers, numbers % 4)
    found = validated(network, [whole[:7], whole[7:]], settings)
    with torch.no_grad():
        wanted = figures(network.heads(whole.tokens), whole, Weights.of(settings))
    assert list(found) == list(Figures._fields)
    assert list(found.values()) == pytest.approx([float(figure) for figure in wanted], rel=1e-5)
