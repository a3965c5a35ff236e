"""Intervals, against simulated truth and known values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rookery.studies.intervals import (
    contrast,
    difference,
    mean_estimate,
    pairs_estimate,
    share_estimate,
    shown,
    student,
)


def test_three_values_have_students_interval():
    found = mean_estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.high - found.mean == pytest.approx(4.303 * 1.0 / math.sqrt(3), rel=1e-4)


def test_one_value_has_no_interval():
    assert not mean_estimate([1.0]).known
    assert not difference([1.0], [2.0, 3.0]).known
    assert shown(mean_estimate([1.0])) == "1.000 (no interval)"


def test_students_factor_falls_towards_the_normal_one():
    factors = [student(freedom) for freedom in (0.5, 1, 2, 2.9, 3, 30, 31, 100, 1e9)]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] == math.inf
    assert factors[-1] == pytest.approx(1.96, abs=1e-3)
    assert student(40) == pytest.approx(2.021, abs=2e-3)


@pytest.mark.parametrize("spreads", [(1.0, 1.0), (1.0, 5.0)])
def test_intervals_of_differences_hold_the_truth_nineteen_times_of_twenty(spreads):
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        found = difference(list(rng.normal(3, spreads[0], 4)), list(rng.normal(1, spreads[1], 3)))
        held += found.low <= 2 <= found.high
    assert 0.93 < held / 2000 < 0.995


def test_a_contrast_weighs_the_means():
    assert contrast([(0.5, [1, 1]), (0.5, [3, 3]), (-1.0, [0, 0])]).mean == 2


def test_openings_that_end_unlike_have_students_interval():
    assert pairs_estimate(2, 2, 1) == mean_estimate([1.0, 1.0, 0.5, 0.5, 0.0])
    assert not pairs_estimate(1, 0, 0).known


@pytest.mark.parametrize(("both", "split", "neither", "mean"), [(200, 0, 0, 1.0), (0, 200, 0, 0.5), (0, 0, 200, 0.0)])
def test_openings_that_all_end_alike_are_not_certain_to(both, split, neither, mean):
    found, others = pairs_estimate(both, split, neither), share_estimate(0, 200).high
    assert found.mean == mean
    assert found.low == pytest.approx(mean - others * mean)  # so many openings may be lost twice
    assert found.high == pytest.approx(mean + others * (1 - mean))


def test_shares_have_wilsons_interval():
    found = share_estimate(9, 10)
    assert (found.mean, found.low, found.high) == (0.9, pytest.approx(0.596, abs=1e-3), pytest.approx(0.982, abs=1e-3))
    assert share_estimate(10, 10).high == pytest.approx(1.0)
    assert share_estimate(0, 0).count == 0
    assert shown(share_estimate(0, 0)) == "-"
