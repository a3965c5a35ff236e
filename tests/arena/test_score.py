"""Elo differences, their intervals and the sequential test, against slow ones and in simulations."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from rookery.arena.pairs import PAIR_SCORES, count_pairs, deviance, log_likelihood, mean_score, most_likely
from rookery.arena.score import Score, elo_of_score, expected_score, student95
from rookery.arena.sprt import Sprt
from rookery.errors import BadInput

SHAPES = {
    "chess": [0.04, 0.21, 0.5, 0.21, 0.04],
    "no draws": [0.25, 0.0, 0.5, 0.0, 0.25],
    "mostly draws": [0.005, 0.04, 0.91, 0.04, 0.005],
    "who begins wins": [0.05, 0.0, 0.9, 0.0, 0.05],
}


def tilted(shape, mean):
    """The chances of a shape, changed smoothly until they have a mean."""
    low, high = -60.0, 60.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        chances = np.array(shape) * np.exp(middle * np.array(PAIR_SCORES))
        chances /= chances.sum()
        low, high = (middle, high) if chances @ PAIR_SCORES < mean else (low, middle)
    return chances


def slow_likelihood(counts, mean, steps=40):
    """The best likelihood with a mean, by trying chances on a grid."""
    best = -math.inf
    for a, b, d in itertools.product(range(steps + 1), repeat=3):
        # the chances of 0, 1/4 and 3/4 are tried; those of 1/2 and 1 follow from mean and sum
        p0, p1, p3 = a / steps, b / steps, d / steps
        p4 = 2 * (mean - 0.5 + p0 / 2 + p1 / 4 - p3 / 4)
        p2 = 1 - p0 - p1 - p3 - p4
        if p4 < -1e-12 or p2 < -1e-12:
            continue
        chances = [max(p, 0.0) for p in (p0, p1, p2, p3, p4)]
        if all(p > 0 or c == 0 for p, c in zip(chances, counts, strict=True)):
            best = max(best, log_likelihood(counts, chances))
    return best


@pytest.mark.parametrize(
    ("counts", "mean"),
    [
        ([1, 2, 5, 4, 3], 0.4),
        ([0, 0, 3, 0, 7], 0.5),
        ([0, 0, 0, 0, 5], 0.7),
        ([0, 6, 0, 2, 0], 0.6),
        ([4, 0, 0, 0, 0], 0.3),
    ],
)
def test_the_likeliest_chances_have_the_mean_and_beat_all_others(counts, mean):
    chances = most_likely(counts, mean)
    assert sum(chances) == pytest.approx(1)
    assert np.dot(chances, PAIR_SCORES) == pytest.approx(mean)
    assert min(chances) >= 0
    slow = slow_likelihood(counts, mean)
    found = log_likelihood(counts, chances)
    assert found >= slow - 1e-9
    assert found - slow < 0.05  # the grid is coarse, but not so coarse that it would miss another solution


def test_deviance_is_zero_at_the_mean_and_grows_away_from_it():
    counts = [2, 3, 10, 5, 4]
    mean = mean_score(counts)
    assert deviance(counts, mean) == pytest.approx(0, abs=1e-9)
    values = [deviance(counts, mean + step) for step in (0.02, 0.05, 0.1, 0.2)]
    assert values == sorted(values)
    assert values[0] > 0


@pytest.mark.parametrize("counts", [[0, 0, 9, 0, 0], [0, 0, 1, 0, 0], [4, 0, 0, 0, 4], [0, 3, 0, 3, 0]])
def test_a_mean_that_is_met_exactly_has_no_deviance(counts):
    assert deviance(counts, 0.5) == pytest.approx(0, abs=1e-12)
    assert most_likely(counts, 0.5) == pytest.approx([count / sum(counts) for count in counts])


def test_elo_and_score_invert_each_other():
    assert elo_of_score(0.5) == 0
    assert expected_score(400) == pytest.approx(10 / 11)
    for elo in (-700, -10, 0.5, 200):
        assert elo_of_score(expected_score(elo)) == pytest.approx(elo)
    with pytest.raises(BadInput, match="a score must lie in"):
        elo_of_score(1.1)


@pytest.mark.parametrize(("pairs", "quantile"), [(5, 2.776445), (8, 2.364624), (20, 2.093024), (100, 1.984217)])
def test_the_series_is_close_to_students_distribution(pairs, quantile):
    assert student95(pairs) == pytest.approx(quantile, rel=0.02)  # quantiles from tables


def test_with_many_pairs_the_interval_is_the_mean_and_two_standard_errors():
    counts = [40, 210, 480, 220, 50]
    pairs = [
        pair for pair, n in zip([(0, 0), (0, 0.5), (0.5, 0.5), (1, 0.5), (1, 1)], counts, strict=True) for _ in range(n)
    ]
    scores = [sum(pair) / 2 for pair in pairs]
    error = np.std(scores) / math.sqrt(len(scores))
    score = Score(tuple(pairs))
    assert score.interval == pytest.approx((np.mean(scores) - 1.96 * error, np.mean(scores) + 1.96 * error), abs=3e-4)
    assert score.superiority == pytest.approx(NormalDist().cdf((np.mean(scores) - 0.5) / error), abs=0.005)
    assert score.elo == pytest.approx(elo_of_score(np.mean(scores)))


def test_pairs_that_always_split_leave_less_doubt_than_coins():
    split = Score(tuple([(1.0, 0.0)] * 50))  # who begins wins: the players are equal for sure
    coins = Score(tuple([(1.0, 0.0)] * 26 + [(1.0, 1.0)] * 12 + [(0.0, 0.0)] * 12))
    assert split.interval[1] - split.interval[0] < (coins.interval[1] - coins.interval[0]) / 3
    assert split.score == coins.score == 0.5


def test_nothing_but_wins_gives_a_finite_elo_and_a_lower_end():
    clean = Score(((1.0, 1.0),) * 10)
    low, high = clean.elo_interval
    assert 150 < low < clean.elo < 1000
    assert high == math.inf
    lost = Score(((0.0, 0.0),) * 10)
    assert (lost.elo, lost.elo_interval[1]) == pytest.approx((-clean.elo, -low))
    assert clean.as_dict()["elo_high"] is None
    assert clean.superiority > 0.99


def test_one_pair_tells_nothing_certain():
    one = Score(((1.0, 1.0),))
    assert one.interval == (0.0, 1.0)
    assert one.superiority == 0.5
    assert Score(()).interval == (0.0, 1.0)


def test_every_match_of_few_pairs_has_an_interval_around_its_score():
    games = ((0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0))
    for number in (1, 2, 3):
        for pairs in itertools.combinations_with_replacement(games, number):
            score = Score(pairs)
            low, high = score.interval
            assert 0.0 <= low <= score.score <= high <= 1.0
            assert (low == 0.0) == (number == 1 or score.score == 0.0)
            assert (high == 1.0) == (number == 1 or score.score == 1.0)
            assert 0.0 <= score.superiority <= 1.0


def test_both_players_see_the_same_match():
    pairs = ((1.0, 0.5), (0.0, 0.5), (1.0, 1.0), (0.0, 1.0), (0.5, 0.5))
    one, other = Score(pairs), Score(tuple((1 - a, 1 - b) for a, b in pairs))
    assert one.elo == pytest.approx(-other.elo)
    assert one.elo_interval == pytest.approx(tuple(-end for end in reversed(other.elo_interval)))
    assert one.superiority == pytest.approx(1 - other.superiority)
    assert (one.wins, one.draws, one.losses) == (other.losses, other.draws, other.wins)


def coverage(shape, elo, pairs, matches, seed):
    """How often the interval holds the true score."""
    rng, mean = np.random.default_rng(seed), expected_score(elo)
    chances = tilted(shape, mean)
    limit = student95(pairs) ** 2
    return np.mean([deviance(rng.multinomial(pairs, chances).tolist(), mean) <= limit for _ in range(matches)])


@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_the_truth_about_as_often_as_they_say(shape):
    assert 0.9 <= coverage(SHAPES[shape], 50, 60, 300, 1) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "elo", "pairs"), [*itertools.product(SHAPES, (0, 100), (10, 40, 200))])
def test_intervals_hold_the_truth_in_93_percent_of_2000_matches_or_more(shape, elo, pairs):
    held = coverage(SHAPES[shape], elo, pairs, 2000, 2)
    telling = pairs * (1 - max(SHAPES[shape]))  # pairs unlike the commonest kind: four of them are like four coins
    assert held >= (0.93 if telling >= 5 else 0.89)
    if telling >= 50:
        assert held <= 0.97


# ---- the sequential test -------------------------------------------------------------------------


def wrong_share(sprt, shape, elo, tests, seed):
    """How often a test accepts what is not true, and how many pairs it takes."""
    rng, wrong, length = np.random.default_rng(seed), 0, 0
    chances = tilted(shape, expected_score(elo))
    for _ in range(tests):
        counts, verdict = [0] * 5, ""
        draws = iter(rng.choice(5, size=100_000, p=chances).tolist())
        while not verdict:
            counts[next(draws)] += 1
            verdict = sprt.verdict(counts)
        wrong += verdict != ("H0" if elo == sprt.elo0 else "H1")
        length += sum(counts)
    return wrong / tests, length / tests


def test_bounds_are_walds():
    sprt = Sprt(0, 10)
    assert (sprt.lower, sprt.upper) == pytest.approx((-math.log(19), math.log(19)))
    careful = Sprt(0, 10, alpha=0.01, beta=0.1)
    assert (careful.lower, careful.upper) == pytest.approx((math.log(0.1 / 0.99), math.log(90)))


def test_the_ratio_is_that_of_normal_theory_after_many_pairs():
    counts = [800, 4000, 9500, 4300, 900]
    mean = mean_score(counts)
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, PAIR_SCORES, strict=True)) / sum(counts)
    low, high = expected_score(0), expected_score(10)
    normal = sum(counts) * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert Sprt(0, 10).ratio(counts) == pytest.approx(normal, rel=0.02)


def test_swapped_players_swap_the_hypotheses():
    counts = [3, 8, 20, 13, 6]
    assert Sprt(-5, 15).ratio(counts) == pytest.approx(-Sprt(-15, 5).ratio(counts[::-1]))


def test_few_pairs_decide_nothing():
    assert all(Sprt(0, 10).verdict([0, 0, n, 0, 0]) == "" for n in range(1, 50))
    assert all(Sprt(0, 100).verdict([0, 0, n, 0, 0]) == "" for n in range(1, 11))


@pytest.mark.parametrize("elo", [0, 100])
def test_a_test_is_rarely_wrong(elo):
    wrong, _ = wrong_share(Sprt(0, 100), SHAPES["no draws"], elo, 30, 4)
    assert wrong <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "elo"), [*itertools.product(SHAPES, (0, 60))])
def test_error_rates_hold_in_1000_tests(shape, elo):
    wrong, _ = wrong_share(Sprt(0, 60), SHAPES[shape], elo, 1000, 3)
    assert wrong <= 0.065  # 5 %, and two standard errors of 1,000 tests


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [((10, 0), "the lower one first"), ((0, 0), "not 0 and 0"), ((0, 1e9), "within"), ((0, 10, 0.7), "alpha")],
)
def test_impossible_tests_are_refused(arguments, complaint):
    with pytest.raises(BadInput, match=complaint):
        Sprt(*arguments)


def test_pairs_are_counted():
    assert count_pairs([(0, 0), (1, 0), (0.5, 0.5), (0, 0.5), (1, 0.5), (1, 1)]) == [1, 1, 2, 1, 1]
