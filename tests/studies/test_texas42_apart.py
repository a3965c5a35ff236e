"""Runs of Stage 2 that are alike but for one thing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rookery.studies.texas42_apart import hands_of, only_difference, runs_apart
from rookery.studies.texas42_evaluate import apart, judged
from rookery.studies.texas42_plan import full
from rookery.studies.texas42_trial import Trial

HANDS = {"decisions-100": 100_000, "decisions-1000": 10_000, "decisions-claim": 10_000, "decisions-exact": 5_000}


def facts_of(settings):
    """Return what the folder of a run would tell of its settings."""
    hands = settings.rows or HANDS.get(settings.data[0] if settings.data else "", 0)
    known = {"stage": settings.stage, "learned_rows": hands, "parameters": settings.network.width**2}
    return json.loads(json.dumps(settings.as_dict() | known))


@pytest.fixture
def runs():
    plan = full()
    return {run.name: facts_of(run) for run in (*plan.stage1, *plan.stage2)}


def test_the_full_study_compares_hands_sizes_labels_and_its_sweep(runs):
    found = {}
    for pair in runs_apart(runs):
        found.setdefault(pair.differs, []).append((pair.first.removeprefix("stage2-"), pair.second, pair.values))
    assert sorted(values for _, _, values in found.pop("hands")) == [
        ("10,000", "1,000"), ("10,000", "5,000"), ("100,000", "1,000"), ("100,000", "10,000"), ("100,000", "5,000"),
        ("5,000", "1,000"),
    ]  # fmt: skip
    assert sorted(values for _, _, values in found.pop("size")) == [
        ("128x4", "64x2"), ("256x6", "128x4"), ("256x6", "64x2"),
    ]  # fmt: skip
    assert {frozenset((first, second.removeprefix("stage2-"))) for first, second, _ in found.pop("labels")} == {
        frozenset(("128x4-10k", "1000-128x4")),
        frozenset(("128x4-5k", "exact-128x4")),
    }
    assert {name: [(first, second) for first, second, _ in pairs] for name, pairs in found.items()} == {
        "learning_rate": [(f"sweep-rate-{rate}", "stage2-claim-q-64x2") for rate in ("5e-4", "4e-3")],
        "advantage": [("sweep-advantage-0", "stage2-claim-q-64x2")],
        "weight_decay": [("sweep-decay-0.1", "stage2-claim-q-64x2")],
        "muon": [("sweep-muon-0", "stage2-claim-q-64x2")],
        "seed": [("sweep-seed-1", "stage2-claim-q-64x2")],
    }


def test_runs_that_differ_in_two_things_tell_nothing(runs):
    base = runs["stage2-claim-q-64x2"]
    assert only_difference(base, base) is None
    assert only_difference(base, base | {"seed": 3}) == "seed"
    assert only_difference(base, base | {"seed": 3, "batch": 7}) is None
    assert only_difference(base, base | {"steps": 9}) == "steps"
    assert only_difference(base, base | {"steps": 9, "learned_rows": 1000}) == "hands"
    assert hands_of({"rows": 1000}) == 1000  # as runs of earlier versions tell it


def test_what_they_lose_is_counted_decision_by_decision(tmp_path):
    rng = np.random.default_rng(0)
    for name, seed in (("stage2-one", 0), ("stage2-sweep-other", 1)):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        facts = {"stage": 2, "rows": 5, "data": ["a"], "network": {"width": 8, "layers": 1, "answers": "q"}}
        (folder / "settings.json").write_text(json.dumps(facts | {"seed": seed}))
    states = np.zeros(40, [("hands", np.uint32, 4), ("plays", np.int8)])
    states["hands"][:, 0] = np.arange(40) // 2
    scores, legal = rng.random((40, 7)), np.ones((40, 7), bool)
    best = scores >= scores.max(1, keepdims=True)
    trial = Trial(states, legal, np.zeros((40, 2), int), scores, scores, best, 3)
    choices = {"stage2-sweep-other": np.zeros(40, int), "stage2-one": scores.argmax(1), "random": np.ones(40, int)}
    (pair,) = apart(tmp_path, trial, choices)
    assert (pair["first"], pair["second"]) == ("stage2-sweep-other", "stage2-one")
    assert (pair["differs"], pair["values"]) == ("seed", ["1", "0"])
    assert (pair["decisions"], pair["deals"]) == (40, 20)
    regret = judged(trial, choices["stage2-sweep-other"])["regret"]
    assert pair["behind"] == regret
    assert pair["agrees_more"]["mean"] == pytest.approx(best[:, 0].mean() - 1)
