"""What is taught, made up well and badly."""

from __future__ import annotations

import numpy as np

from checks.verdicts import complains, in_order
from rookery.checks import Verdict, targets

RNG = np.random.default_rng(0)
COUNTS = np.full(50, 4)


def shares(sharpness):
    return np.exp(sharpness * RNG.standard_normal((50, 6)))


def test_a_mask_without_a_legal_move_is_found():
    in_order(targets.masks(np.array([1, 5]), ""), "masks")
    complains(targets.masks(np.array([1, 0]), "rows"), "masks", Verdict.WRONG)


def test_targets_ten_times_too_large_are_found():
    values = RNG.uniform(-1, 1, 100)
    in_order(targets.target_range(values, ""), "target-range")
    for bad in (10 * values, np.array([0.0, np.nan]), np.array([np.inf, 0.0])):
        complains(targets.target_range(bad, "rows"), "target-range", Verdict.WRONG)
    in_order(targets.target_range(42 * values, "", 42.0), "target-range")


def test_policy_targets_are_shares_of_legal_moves():
    in_order(targets.policy_targets(shares(1), COUNTS, ""), "policy-targets")
    for bad in (np.zeros((50, 6)), -shares(1), np.full((50, 6), np.nan)):
        complains(targets.policy_targets(bad, COUNTS, "rows"), "policy-targets", Verdict.WRONG)


def test_targets_that_are_even_or_a_single_move_are_found():
    in_order(targets.target_entropy(shares(2), COUNTS, ""), "target-entropy")
    complains(targets.target_entropy(np.ones((50, 6)), COUNTS, "rows"), "target-entropy", Verdict.WRONG)
    complains(targets.target_entropy(shares(0.1), COUNTS, "rows"), "target-entropy", Verdict.WARNING)
    complains(targets.target_entropy(np.eye(6)[np.zeros(50, int)], COUNTS, "rows"), "target-entropy", Verdict.WRONG)


def test_a_supervisor_whose_scores_are_squeezed_too_hard_is_found():
    scores = RNG.standard_normal(200)
    in_order(targets.saturation(np.tanh(scores), ""), "target-saturation")
    complains(targets.saturation(np.tanh(1000 * scores), "opinions"), "target-saturation", Verdict.WRONG)


def test_rows_that_are_taught_again_and_again_are_found():
    rows = RNG.integers(0, 2, (100, 30))
    in_order(targets.duplicates(targets.hashed_rows(rows), ""), "duplicates")
    complains(targets.duplicates(targets.hashed_rows(np.repeat(rows[:10], 10, 0)), "rows"), "duplicates", Verdict.WRONG)


def test_values_that_go_against_the_outcomes_are_found():
    outcomes = RNG.choice([-1.0, 1.0], 200)
    values = 0.5 * outcomes + 0.3 * RNG.standard_normal(200)
    in_order(targets.signs_agree(values, outcomes, ""), "signs-agree")
    complains(targets.signs_agree(-values, outcomes, "rows"), "signs-agree", Verdict.WRONG)
    assert targets.signs_agree(np.zeros(5), np.ones(5), "") == []


def test_labels_of_another_scale_are_found():
    points = RNG.normal(0, 12, 500)
    in_order(targets.label_scale(points, (2, 25), "points", ""), "label-scale")
    complains(targets.label_scale(10 * points, (2, 25), "points", "Q"), "label-scale", Verdict.WRONG)
    complains(targets.label_scale(points / 42, (2, 25), "points", "Q"), "label-scale", Verdict.WRONG)
