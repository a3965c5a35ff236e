"""Losses and figures of the Texas 42 study against loops that read like their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from rookery.nets.texas42 import Expectation, Judged
from rookery.studies.texas42_losses import (
    MAKE,
    MAKE_ADVANTAGE,
    SPREAD,
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

NONE = torch.nan


def positions() -> tuple[Judged, Positions]:
    """Three positions: one with a tie of the best, one forced, one a blunder; nothing stands in slots not legal."""
    legal = torch.tensor([[1, 1, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1, 1]]).bool()
    q = torch.tensor([[4.0, -2, 0, 4, 0, 0, 0], [0, 0, -7, 0, 0, 0, 0], [20, 0, 0, 0, 0, 30, 2]])
    said = torch.tensor([[0.1, 0.0, 9, 0.2, 9, 9, 9], [9, 9, -0.2, 9, 9, 9, 9], [0.1, 9, 9, 9, 9, 0.2, 0.4]])
    value = torch.tensor([0.2, -0.1, 0.5])
    return Judged(said, value, said), Positions(torch.zeros(3, 32, 12), q, legal, torch.tensor([0, 3, 3]))


def same(figures: torch.Tensor, others: torch.Tensor, answers: str) -> bool:
    """Whether figures are the same; what answers with Q has all of them, others lack some."""
    whole = answers in ("policy", "logits") or bool(figures.isfinite().all())
    return whole and torch.equal(figures.nan_to_num(nan=-1.0), others.nan_to_num(nan=-1.0))


@pytest.mark.parametrize("rubbish", [0.0, math.inf, -math.inf, math.nan])
def test_what_stands_in_slots_that_are_not_legal_never_enters_a_loss_or_a_figure(rubbish):
    found, batch = positions()
    dirty = batch._replace(q=torch.where(batch.legal, batch.q, rubbish))
    for answers in ("q", "policy", "both"):
        said = found.slots.clone().requires_grad_()
        loss = stage1_loss(Judged(said, found.value, said), dirty, answers)
        assert torch.isclose(loss, stage1_loss(found, batch, answers))
        loss.backward()
        assert said.grad is not None
        assert said.grad.isfinite().all()
        assert not said.grad[~batch.legal].any()
        assert same(stage1_figures(found, dirty, answers), stage1_figures(found, batch, answers), answers)


def test_the_loss_of_q_is_the_mean_over_legal_slots():
    found, batch = positions()
    squares = [
        (float(found.slots[row, slot]) - float(batch.q[row, slot]) / 42) ** 2
        for row in range(3)
        for slot in range(7)
        if batch.legal[row, slot]
    ]
    values = [(0.2 - 4 / 42) ** 2, (-0.1 + 7 / 42) ** 2, (0.5 - 30 / 42) ** 2]
    wanted = sum(squares) / 7 + 0.5 * sum(values) / 3
    assert math.isclose(float(stage1_loss(found, batch, "q")), wanted, rel_tol=1e-5)
    for row in range(3):
        errors = (found.slots - batch.q / 42)[row, batch.legal[row]]
        wanted += 2 * float(((errors - errors.mean()) ** 2).sum()) / 7
    assert math.isclose(float(stage1_loss(found, batch, "q", 2.0)), wanted, rel_tol=1e-5)


def test_the_loss_of_a_policy_shares_the_best_slots_and_softens_the_rest():
    found, batch = positions()
    total = 0.0
    for row in range(3):
        slots = [slot for slot in range(7) if batch.legal[row, slot]]
        said = [float(found.slots[row, slot]) for slot in slots]
        points = [float(batch.q[row, slot]) for slot in slots]
        whole = math.log(sum(map(math.exp, said)))
        softened = [math.exp(p / 3) for p in points]
        best = [float(p == max(points)) for p in points]
        for a, s, b in zip(said, softened, best, strict=True):
            total -= (0.3 * b / sum(best) + 0.7 * s / sum(softened)) * (a - whole)
    values = [(0.2 - 4 / 42) ** 2, (-0.1 + 7 / 42) ** 2, (0.5 - 30 / 42) ** 2]
    assert math.isclose(float(stage1_loss(found, batch, "policy")), total / 3 + sum(values) / 6, rel_tol=1e-5)


def test_a_policy_beside_q_adds_its_loss_and_makes_the_choice():
    found, batch = positions()
    beside = found._replace(choice=found.slots.flip(0))
    value = 0.5 * sum([(0.2 - 4 / 42) ** 2, (-0.1 + 7 / 42) ** 2, (0.5 - 30 / 42) ** 2]) / 3
    of_q = float(stage1_loss(found, batch, "q", 4.0))
    of_policy = float(stage1_loss(found._replace(slots=beside.choice, choice=beside.choice), batch, "policy")) - value
    assert math.isclose(float(stage1_loss(beside, batch, "both", 4.0)), of_q + 0.3 * of_policy, rel_tol=1e-5)
    figures = stage1_figures(beside, batch, "both")
    assert torch.equal(figures[:, 0], gaps(batch.q, beside.choice, batch.legal))
    assert torch.equal(figures[:, 2], gaps(batch.q, beside.slots, batch.legal))
    assert not torch.equal(figures[:, 0], figures[:, 2])
    assert torch.equal(figures[:, 4], stage1_figures(found, batch, "q")[:, 4])


def test_figures_of_stage_1_are_gap_blunder_zero_regret_and_errors():
    found, batch = positions()
    figures = stage1_figures(found, batch, "q")
    assert figures[:, :4].tolist() == [[0, 0, 0, 1], [0, 0, 0, 1], [28, 1, 28, 0]]
    off = [abs(0.1 * 42 - 4) + 2 + abs(0.2 * 42 - 4), 3 * abs(-0.2 * 42 + 7), 15.8 + abs(0.2 * 42 - 30) + 14.8]
    assert figures[:, 4].tolist() == pytest.approx([each / 3 for each in off], rel=1e-4)
    assert figures[:, 5].tolist() == pytest.approx([0.2 * 42 - 4, 7 - 0.1 * 42, 30 - 0.5 * 42], rel=1e-4)


def test_what_is_no_q_has_no_error_of_q():
    found, batch = positions()
    tally = Tally(STAGE1_FIGURES, 3)
    tally.add(stage1_figures(found, batch, "policy"), batch.legal, batch.trick, torch.arange(3))
    assert [tally.read()["all"][name] for name in ("q_mae", "q_gap", "q_gap_error")] == [None] * 3
    assert tally.read()["all"]["value_mae"] > 0
    logits = Tally(STAGE2_FIGURES, 5)
    told, decided = decisions()
    logits.add(stage2_figures(told, decided, "logits"), decided.legal, decided.trick, torch.arange(5))
    assert [logits.read()["all"][name] for name in ("mean_mae", "spread_mae", "make_mae")] == [None] * 3


def test_a_tally_keeps_forced_decisions_apart_and_tells_tricks_apart():
    found, batch = positions()
    tally, leads = Tally(STAGE1_FIGURES, 6), torch.tensor([True, False, False])
    for turn in range(2):
        deal = torch.arange(3) + 3 * turn
        tally.add(stage1_figures(found, batch, "q"), batch.legal, batch.trick, deal, leads)
    read = tally.read()
    gap = float(stage1_figures(found, batch, "q")[0, 0])
    assert (read["opening"]["count"], read["opening"]["gap"], read["opening"]["gap_error"]) == (2, gap, 0)
    assert [read[group]["count"] for group in ("all", "unforced", "forced")] == [6, 4, 2]
    assert [row["count"] for row in read["by_trick"]] == [2, 0, 0, 2, 0, 0, 0]
    assert (read["all"]["gap"], read["unforced"]["gap"], read["forced"]["gap"]) == (pytest.approx(28 / 3), 14, 0)
    assert read["by_trick"][3]["blunder"] == 1
    lost = [float(gap) for gap in stage1_figures(found, batch, "q")[:, 0]] * 2
    assert (read["all"]["q_gap"], read["all"]["q_gap_error"]) == (read["all"]["gap"], read["all"]["gap_error"])
    assert read["all"]["gap_error"] == pytest.approx(np.std(lost, ddof=1) / len(lost) ** 0.5)
    blunders = [each > 10 for each in lost]
    assert read["all"]["blunder_error"] == pytest.approx(np.std(blunders, ddof=1) / len(lost) ** 0.5)


def test_many_positions_of_a_deal_are_no_more_certain_than_the_deal():
    rng = np.random.default_rng(1)
    gap = torch.from_numpy(rng.integers(0, 20, size=30)).float()
    tally = Tally(STAGE1_FIGURES, 30)
    for _ in range(40):
        figures = torch.stack((gap, (gap > 10).float(), gap, gap, gap, gap), 1)
        tally.add(figures, torch.ones(30, 7, dtype=torch.bool), torch.zeros(30), torch.arange(30))
    read = tally.read()["all"]
    assert (read["count"], read["gap"]) == (1200, pytest.approx(float(gap.mean())))
    assert read["gap_error"] == pytest.approx(float(gap.std()) / 30**0.5)


def decisions() -> tuple[Expectation, Decisions]:
    random = torch.Generator().manual_seed(3)
    legal = torch.rand(5, 7, generator=random) < 0.5
    legal[:, 2] = True
    mean, spread, make, logits = (torch.rand(5, 7, generator=random) for _ in range(4))
    found = Expectation(*(torch.rand(5, 7, generator=random) for _ in range(3)))
    return found, Decisions(torch.zeros(5, 33, 17), 9 * mean, spread, make, logits, legal, torch.zeros(5).long())


def test_the_loss_of_stage_2_is_that_of_its_definition():
    found, batch = decisions()
    parts = dict.fromkeys(("mean", "advantage", "spread", "make", "between", "logits"), 0.0)
    slots = 0
    for row in range(5):
        legal = [slot for slot in range(7) if batch.legal[row, slot]]
        slots += len(legal)
        said, wanted = found.mean[row, legal], batch.mean[row, legal] / 42
        parts["mean"] += float(((said - wanted) ** 2).sum())
        parts["advantage"] += float(((said - said.mean() - wanted + wanted.mean()) ** 2).sum())
        told = batch.logits[row, legal]
        parts["logits"] += float(((said - said.mean() - told + told.mean()) ** 2).sum())
        parts["spread"] += float(((found.spread[row, legal] - batch.spread[row, legal] / 42) ** 2).sum())
        chance, made = found.make_logit[row, legal].sigmoid(), batch.make[row, legal]
        parts["make"] -= float((made * chance.log() + (1 - made) * (1 - chance).log()).sum())
        parts["between"] += float(((chance - chance.mean() - made + made.mean()) ** 2).sum())
    wanted = parts["mean"] + 3 * parts["advantage"] + SPREAD * parts["spread"] + MAKE * parts["make"]
    wanted += 3 * MAKE_ADVANTAGE * parts["between"]
    assert math.isclose(float(stage2_loss(found, batch, "q", 3.0)), wanted / slots, rel_tol=1e-4)
    assert math.isclose(float(stage2_loss(found, batch, "logits")), parts["logits"] / slots, rel_tol=1e-4)


def test_mean_logits_are_taught_but_for_a_constant():
    found, batch = decisions()
    shifted = found._replace(mean=found.mean + torch.arange(5.0)[:, None])
    assert torch.isclose(stage2_loss(shifted, batch, "logits"), stage2_loss(found, batch, "logits"), atol=1e-5)
    assert not torch.isclose(stage2_loss(shifted, batch, "q"), stage2_loss(found, batch, "q"), atol=1e-3)


@pytest.mark.parametrize("rubbish", [math.inf, math.nan])
def test_stage_2_does_not_look_at_slots_that_are_not_legal(rubbish):
    found, batch = decisions()
    dirty = batch._replace(
        **{name: torch.where(batch.legal, getattr(batch, name), rubbish) for name in ("mean", "spread", "logits")}
    )
    for answers in ("q", "logits"):
        assert torch.isclose(stage2_loss(found, dirty, answers), stage2_loss(found, batch, answers))
        assert same(stage2_figures(found, dirty, answers), stage2_figures(found, batch, answers), answers)
