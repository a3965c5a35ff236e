"""Estimates over decisions of which those of one deal are alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rookery.studies.intervals import mean_estimate, share_estimate, student
from rookery.studies.texas42_estimates import (
    chance_beyond,
    grouped,
    grouped_share,
    half_width,
    p_text,
    p_value,
    ratio,
    share_of,
)


def test_with_a_deal_for_each_value_the_interval_is_the_usual_one():
    values = np.random.default_rng(1).normal(2, 3, 50)
    found, usual = grouped(values, np.arange(50)), mean_estimate(values.tolist())
    assert (found.mean, found.low, found.high) == pytest.approx((usual.mean, usual.low, usual.high))


def test_copies_of_a_value_tell_nothing_new():
    values, deals = np.random.default_rng(2).normal(0, 1, 20), np.arange(20)
    alone, copied = grouped(values, deals), grouped(np.repeat(values, 9), np.repeat(deals, 9))
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high))
    assert copied.count == 180
    assert not grouped(values, np.zeros(20)).known


def test_intervals_hold_what_they_say_where_deals_differ():
    rng, held = np.random.default_rng(3), 0
    for _ in range(400):
        deals = np.repeat(np.arange(40), 6)
        values = rng.normal(0, 1, 40)[deals] + rng.normal(0, 1, 240)
        found = grouped(values, deals)
        held += found.low <= 0 <= found.high
    assert 0.92 < held / 400 < 0.98


def test_shares_are_no_narrower_than_those_of_independent_decisions():
    all_hit = np.ones(30, bool)
    plain = share_estimate(30, 30)
    assert (grouped_share(all_hit, np.arange(30)).low, plain.mean) == (plain.low, 1)
    hits, deals = np.repeat([True, False], 50), np.repeat(np.arange(10), 10)
    wide = grouped_share(hits, deals)
    assert wide.low < share_estimate(50, 100).low
    assert 0 <= wide.low < wide.high <= 1


def test_a_share_of_the_ceiling_is_taken_decision_by_decision():
    rng = np.random.default_rng(4)
    ceiling = rng.random(400) < 0.9
    hits = ceiling & (rng.random(400) < 0.8)
    found = share_of(hits, ceiling, np.arange(400))
    assert found.mean == hits.sum() / ceiling.sum()
    alone = share_estimate(int(hits.sum()), 400)
    assert found.high - found.low < (alone.high - alone.low) / ceiling.mean()
    same = share_of(ceiling, ceiling, np.arange(400))
    assert same.low < same.mean == 1 < same.high  # nobody knows so exactly
    assert ratio(np.array([1.0, 3.0]), np.array([2.0, 2.0]), np.arange(2)).mean == 1


@pytest.mark.parametrize("freedom", [1, 4, 30, 999])
def test_chances_are_those_of_student_s_distribution(freedom):
    assert chance_beyond(student(freedom), freedom) == pytest.approx(0.05, abs=2e-4)
    assert chance_beyond(0, freedom) == pytest.approx(1)
    assert chance_beyond(-2, freedom) == chance_beyond(2, freedom)
    if freedom == 1:
        assert chance_beyond(1, 1) == pytest.approx(0.5)


def test_p_is_found_from_an_interval():
    values = np.random.default_rng(5).normal(0.5, 1, 40)
    by_hand = values.mean() / (values.std(ddof=1) / 40**0.5)
    assert p_value(mean_estimate(values.tolist()).facts()) == pytest.approx(chance_beyond(by_hand, 39), rel=0.02)
    assert p_value(mean_estimate([1.0]).facts()) is None
    assert p_value(mean_estimate([0.0, 0.0]).facts()) == 1
    assert p_value(mean_estimate([3.0, 3.0]).facts()) is None  # two that agree are no proof
    assert [p_text(chance) for chance in (None, 0.3, 0.004, 1e-9)] == ["no p", "p = 0.30", "p = 0.0040", "p < 0.0001"]


def test_half_an_interval_is_that_of_deals_and_one_deal_has_none():
    assert half_width({"deals": 20, "gap_error": 0.1}, "gap") == pytest.approx(0.2093)
    assert half_width({"gap_error": 0.1}, "gap") == pytest.approx(0.1959964)  # as earlier versions tell it
    assert half_width({"deals": 1, "gap_error": 0.0}, "gap") == math.inf
