"""Statistics over seeds, beside loops and simulations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from rookery.studies.seeds import band, draws, paired, quantiles


def test_all_ways_to_draw_seeds_are_counted_once_with_their_chances():
    shares, chances = draws(4)
    slow: dict[tuple[int, ...], float] = {}
    for way in itertools.product(range(4), repeat=4):
        counts = tuple(way.count(seed) for seed in range(4))
        slow[counts] = slow.get(counts, 0) + 1 / 256
    assert len(shares) == len(slow) == 35
    for share, chance in zip(shares, chances, strict=True):
        assert slow[tuple((4 * share).round().astype(int))] == pytest.approx(chance)


def test_many_seeds_are_drawn_at_random_and_always_alike():
    shares, chances = draws(20)
    assert shares.shape == (5000, 20)
    assert chances.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares.sum(1), 1)
    assert (draws(20)[0] == shares).all()


def test_a_band_is_that_of_all_ways_written_out():
    values = np.array([[1.0, 0.0], [2.0, 5.0], [4.0, -3.0]])
    means = np.array([values[list(way)].mean(0) for way in itertools.product(range(3), repeat=3)])
    low, high = band(values)
    for column in range(2):
        ranked = np.sort(means[:, column])
        assert low[column] == pytest.approx(ranked[math.ceil(0.025 * 27) - 1])
        assert high[column] == pytest.approx(ranked[math.ceil(0.975 * 27) - 1])


def test_quantiles_take_chances_into_account():
    low, high = quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.02, 0.02, 0.96]))
    assert (low, high) == (2.0, 2.0)


def test_a_band_of_one_seed_is_that_seed():
    low, high = band(np.array([[1.0, 2.0]]))
    assert low.tolist() == high.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("seeds", "least", "most"), [(4, 0.75, 0.9), (12, 0.87, 0.97)])
def test_the_bootstrap_covers_too_little_with_few_seeds_and_enough_with_many(seeds, least, most):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(seeds, 600))  # so many studies at once
    low, high = band(values)
    assert least < np.mean((low <= 0) & (high >= 0)) < most


@pytest.mark.parametrize("seeds", [2, 4])
def test_students_interval_covers_as_much_as_it_says(seeds):
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(600):
        shared = rng.normal(scale=5, size=seeds)  # what a seed does to both conditions
        first, second = (dict(enumerate(shared + rng.normal(size=seeds))) for _ in range(2))
        found = paired(first, second)
        assert found is not None
        covered += found.estimate.low <= 0 <= found.estimate.high
    assert abs(covered / 600 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 600)


def test_differences_are_taken_seed_by_seed():
    found = paired({1: 5.0, 2: 9.0, 3: 1.0}, {2: 6.0, 1: 4.0, 7: 0.0})
    assert found is not None
    assert found.by_seed == {1: 1.0, 2: 3.0}
    assert found.estimate.mean == 2.0
    assert found.above == 2
    assert found.bootstrap == (1.0, 3.0)
    assert found.verdict == 0  # two seeds: the interval is wide


def test_one_seed_alone_has_no_interval():
    found = paired({42: 0.5}, {42: 0.1})
    assert found is not None
    assert (found.estimate.known, found.bootstrap, found.verdict) == (False, None, 0)
    assert found.facts()["low"] is None


def test_without_shared_seeds_there_is_no_comparison():
    assert paired({1: 2.0}, {2: 2.0}) is None
    assert paired({1: math.nan}, {1: 2.0}) is None


@pytest.mark.parametrize(("signs", "chance"), [("++++", 0.125), ("+++-", 0.625), ("++--", 1.0), ("+" * 6, 0.03125)])
def test_signs_alone_say_little_with_four_seeds(signs, chance):
    found = paired({seed: 1.0 + seed if sign == "+" else -1.0 - seed for seed, sign in enumerate(signs)})
    assert found is not None
    assert found.sign_chance == pytest.approx(chance)
