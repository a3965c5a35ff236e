"""Linear probes find what lies in a layer as a direction, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.errors import BadInput
from rookery.probes.linear import Scores, area, cross_validated, fit, folds_of


def slow_area(answers, labels):
    """The definition: of all pairs of a true and a false sample, the share in which the true one has more."""
    pairs = [(x, y) for x in answers[labels] for y in answers[~labels]]
    return sum((x > y) + (x == y) / 2 for x, y in pairs) / len(pairs)


def samples(seed, count=1200, width=20, groups=60):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(count, width)), rng.integers(groups, size=count)


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_the_share_of_pairs_in_the_right_order(seed):
    rng = np.random.default_rng(seed)
    answers, labels = rng.integers(8, size=60).astype(float), rng.random(60) < 0.3
    assert area(answers, labels) == pytest.approx(slow_area(answers, labels))


def test_there_is_no_area_where_all_samples_are_alike():
    assert np.isnan(area(np.arange(4.0), np.ones(4, bool)))


def test_a_probe_finds_a_planted_direction():
    rng, inputs, groups = samples(1)
    direction = rng.normal(size=20)
    labels = (inputs @ direction > 2)[:, None]
    score, error = cross_validated(inputs, labels, folds_of(groups, 4, 1)).overall(slice(None))
    assert score > 0.98
    assert error < 0.01


def test_a_probe_finds_nothing_in_truths_that_have_nothing_to_do_with_the_inputs():
    rng, inputs, groups = samples(2)
    labels = rng.random((1200, 6)) < 0.3
    score, _ = cross_validated(inputs, labels, folds_of(groups, 4, 1)).overall(slice(None))
    assert abs(score - 0.5) < 0.03


def test_a_probe_does_not_read_what_no_weighted_sum_tells():
    _, inputs, groups = samples(3)
    labels = (inputs[:, :1] > 0) ^ (inputs[:, 1:2] > 0)
    score, _ = cross_validated(inputs, labels, folds_of(groups, 4, 1)).overall(slice(None))
    assert abs(score - 0.5) < 0.06


def test_a_truth_that_belongs_to_groups_is_not_read_from_marks_of_the_group():
    rng, inputs, groups = samples(4, width=40)
    inputs += rng.normal(size=(60, 40))[groups] * 5  # every group can be told from all others
    labels = (rng.random(60) < 0.5)[groups][:, None]
    by_group, _ = cross_validated(inputs, labels, folds_of(groups, 4, 1)).overall(slice(None))
    by_sample, _ = cross_validated(inputs, labels, np.arange(1200) % 4).overall(slice(None))
    assert by_group < 0.75 < 0.9 < by_sample


def test_the_scale_of_an_input_does_not_matter_and_one_that_never_changes_does_no_harm():
    rng, inputs, _ = samples(5)
    labels = inputs[:, :2] + rng.normal(size=(1200, 2)) > 0
    scaled = inputs * np.geomspace(1e-3, 1e3, 20) + 7
    scaled = np.concatenate([scaled, np.full((1200, 1), 3.0)], axis=1)
    for plain, other in zip(fit(inputs, labels), fit(scaled, labels), strict=True):
        assert np.allclose(plain.read(inputs), other.read(scaled), atol=1e-6)


def test_a_probe_is_the_ridge_regression_of_the_definition():
    _, inputs, _ = samples(6, count=50, width=4)
    labels = inputs[:, :1] > 0.3
    x = (inputs - inputs.mean(0)) / inputs.std(0)
    y = np.where(labels, 1.0, -1.0)
    weights = np.linalg.solve(x.T @ x + 50 * 0.1 * np.eye(4), x.T @ (y - y.mean()))
    assert np.allclose(fit(inputs, labels, [0.1])[0].weights, weights)


def test_groups_are_never_split_and_folds_are_about_equal():
    groups = np.repeat(np.arange(30), 7)
    fold = folds_of(groups, 5, seed=1)
    assert all(len(set(fold[groups == group])) == 1 for group in range(30))
    assert np.bincount(fold).tolist() == [42] * 5
    with pytest.raises(BadInput, match="30 groups of samples cannot be split into 31 folds"):
        folds_of(groups, 31, seed=1)


def test_rare_truths_are_left_out_of_the_score():
    _, inputs, groups = samples(7)
    rare = np.zeros(1200, bool)
    rare[:3] = True
    labels = np.stack([rare, inputs[:, 0] > 0], axis=1)
    scores = cross_validated(inputs, labels, folds_of(groups, 4, 1))
    assert np.isnan(scores.folds[:, 0]).all()
    assert np.isnan(scores.overall(slice(0, 1))).all()
    assert scores.overall(slice(None)) == scores.overall(slice(1, 2))


def test_the_error_is_that_of_the_mean_over_folds():
    score, error = Scores(np.array([[0.6, 0.8], [0.8, np.nan]])).overall(slice(None))
    assert score == pytest.approx(0.75)
    assert error == pytest.approx(0.05)
