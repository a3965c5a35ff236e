"""Verdicts of the Gomoku study on made-up numbers."""

from __future__ import annotations

import math

import pytest

from rookery.arena.score import Score
from rookery.studies.gomoku_answers import (
    claim_answer,
    duel_verdict,
    gap,
    gap_verdict,
    milestone_verdict,
    milestones_answer,
    plateau_verdict,
    score_over_seeds,
)
from rookery.studies.gomoku_plan import COMPARISONS, MILESTONES, Milestone
from rookery.studies.intervals import Estimate
from rookery.studies.verdicts import Verdict

MARK = Milestone("m5", "4", "baseline:depth=6", 0.55)
GOAL = Milestone("goal-large", "4", "baseline:depth=6", 0.95, goal=True)


def facts(score, low, high, complete=True):
    return {"score": score, "low": low, "high": high, "games": 200, "complete": complete}


@pytest.mark.parametrize(
    ("milestone", "found", "word"),
    [
        (MARK, facts(0.70, 0.63, 0.77), "yes"),
        (MARK, facts(0.58, 0.51, 0.65), "yes"),
        (MARK, facts(0.56, 0.49, 0.63), "open"),  # enough, but one half cannot be excluded
        (MARK, facts(0.55, 0.51, 0.59), "open"),  # as much as is wanted is not more
        (MARK, facts(0.53, 0.47, 0.59), "open"),
        (MARK, facts(0.40, 0.33, 0.47), "no"),
        (MARK, facts(0.90, 0.85, 0.95, complete=False), "missing"),
        (MARK, None, "missing"),
        (GOAL, facts(0.95, 0.92, 0.98), "yes"),
        (GOAL, facts(0.94, 0.91, 0.97), "open"),
        (GOAL, facts(0.80, 0.74, 0.86), "no"),
    ],
)
def test_a_milestone_is_reached_by_its_share_with_the_interval_above_one_half(milestone, found, word):
    assert milestone_verdict(milestone, found).word == word


def test_it_is_said_whether_the_whole_interval_is_above():
    assert milestone_verdict(MARK, facts(0.70, 0.63, 0.77)).reason == "the whole interval is above"
    assert "includes" in milestone_verdict(MARK, facts(0.58, 0.51, 0.65)).reason


def scores(*shares, pairs=50):
    """Matches of seeds with these shares of pairs won, all others lost."""
    return {
        seed: Score(tuple((1.0, 1.0) if number < round(share * pairs) else (0.0, 0.0) for number in range(pairs)))
        for seed, share in enumerate(shares, start=1)
    }


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (scores(0.80, 0.82, 0.84), "yes"),
        (scores(0.20, 0.18, 0.16), "no"),
        (scores(0.80, 0.46, 0.70), "open"),
        (scores(0.98), "open"),
        ({}, "missing"),
    ],
)
def test_an_arm_is_better_only_if_the_interval_over_seeds_is_on_one_side(found, word):
    assert duel_verdict(score_over_seeds(found)).word == word


def test_the_interval_of_a_score_is_students_and_ends_where_scores_do():
    found = score_over_seeds(scores(0.2, 0.9, 0.7))
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.mean == pytest.approx(0.6)
    found = score_over_seeds(scores(0.2, 0.5, 0.4, pairs=100))
    half = 4.303 * math.sqrt(0.07 / 3 / 3)  # of 0.2, 0.5, 0.4 the variance is 0.07 / 3
    assert (found.low, found.high) == pytest.approx((0.0, 0.3667 + half), abs=1e-3)


def test_seeds_that_agree_by_chance_are_not_trusted_further_than_their_games():
    found = score_over_seeds(scores(1.0, 1.0, pairs=4))
    assert found.low == Score(((1.0, 1.0),) * 8).interval[0] < 0.9
    assert duel_verdict(score_over_seeds(scores(0.75, 0.75, pairs=4))).word == "open"
    assert gap_verdict(gap(scores(0.25, 0.25, pairs=4), scores(0.0, 0.0, pairs=4))).word == "open"


def test_a_gap_is_that_of_welch_where_seeds_differ_more_than_games_do():
    found = gap(scores(0.9, 0.6, 0.75, pairs=1000), scores(0.4, 0.6, 0.5, pairs=1000))
    assert found.mean == pytest.approx(0.25)
    spread = 0.0225 / 3 + 0.01 / 3
    freedom = spread**2 / ((0.0225 / 3) ** 2 / 2 + (0.01 / 3) ** 2 / 2)
    assert 3 <= freedom < 4  # rounded down to 3
    half = 3.182 * math.sqrt(spread)
    assert (found.low, found.high) == pytest.approx((0.25 - half, 0.25 + half), abs=1e-9)
    assert gap_verdict(found).word == "open"
    assert gap_verdict(gap(scores(0.9, 0.88, 0.92), scores(0.2, 0.22, 0.18))).word == "yes"
    assert gap_verdict(gap(scores(0.2, 0.22, 0.18), scores(0.9, 0.88, 0.92))).word == "no"
    assert gap({}, scores(0.5)) is None
    assert gap_verdict(None).word == "missing"


def test_a_claim_is_answered_in_words_from_the_numbers():
    pair = COMPARISONS[0]
    said = claim_answer(pair, 600, score_over_seeds(scores(0.8, 0.82, 0.84)), [Estimate(0.1, -0.2, 0.4, 6), None])
    assert (said.word, said.said) == ("yes", pair.claim)
    assert said.reason.startswith("after 600 s curriculum scores 82.0 % (")
    assert "over 3 seeds" in said.reason
    assert said.reason.endswith("against the same players, is curriculum ahead? 1 open of 1")
    assert claim_answer(pair, 600, score_over_seeds(scores(0.8)), []).word == "open"
    assert claim_answer(pair, 600, None, []).word == "missing"


@pytest.mark.parametrize(
    ("words", "word", "told"),
    [
        (("yes", "yes"), "yes", "reached: m1, m2"),
        (("yes", "no"), "no", "reached: m1; missed: m2"),
        (("yes", "open"), "open", "reached: m1; open: m2"),
        (("yes", "missing"), "open", "reached: m1; not played: m2"),
        (("missing", "missing"), "missing", "not played: m1, m2"),
    ],
)
def test_milestones_are_answered_together_and_goals_apart(words, word, told):
    names = ("m1", "m2", "goal-small", "fours-small")
    chosen = [next(each for each in MILESTONES if each.name == name) for name in names]
    judged = list(zip(chosen, [Verdict(each, "") for each in (*words, "no", "no")], strict=True))
    found = milestones_answer(judged, goal=False)
    assert (found.word, found.reason, found.question) == (word, told, "Are all 2 milestones reached?")
    assert milestones_answer(judged, goal=True).reason == "missed: goal-small"


@pytest.mark.parametrize(
    ("plain", "fours", "told"),
    [
        ("no", "yes", "reached: fours-small"),
        ("yes", "no", "reached: goal-small"),
        ("yes", "yes", "reached: goal-small"),
        ("missing", "open", "open: fours-small"),
        ("no", "missing", "missed: goal-small"),
    ],
)
def test_a_goal_is_reached_with_fours_or_without(plain, fours, told):
    chosen = [next(each for each in MILESTONES if each.name == name) for name in ("goal-small", "fours-small")]
    judged = [(each, Verdict(word, "")) for each, word in zip(chosen, (plain, fours), strict=True)]
    found = milestones_answer(judged, goal=True)
    assert (found.word, found.reason) == ({"reached": "yes", "open": "open", "missed": "no"}[told.split(":")[0]], told)
    assert found.question == "Are all 1 goals reached?"


@pytest.mark.parametrize(
    ("old", "new", "error", "word"),
    [
        ({1: 100, 2: 110, 3: 105}, {1: 200, 2: 205, 3: 210}, 20, "no"),
        ({1: 100, 2: 110, 3: 105}, {1: 200, 2: 205, 3: 210}, 100, "open"),  # seeds agree, but their games are few
        ({1: 200, 2: 205, 3: 210}, {1: 100, 2: 110, 3: 105}, 20, "yes"),
        ({1: 200, 2: 205, 3: 210}, {1: 201, 2: 204, 3: 211}, 10, "yes"),  # a gain of 55 % of the points is ruled out
        ({1: 200, 2: 205, 3: 210}, {1: 201, 2: 204, 3: 211}, 30, "open"),
        ({1: 100, 2: 110, 3: 105}, {1: 150, 2: 90, 3: 105}, 1, "open"),
        ({1: 100}, {1: 500}, 1, "open"),
        ({1: 100}, {2: 500}, 1, "missing"),
    ],
)
def test_an_arm_has_stopped_if_a_gain_that_counts_is_ruled_out(old, new, error, word):
    errors = [dict.fromkeys(side, error) for side in (old, new)]
    assert plateau_verdict([(300, old), (600, new)], errors).word == word


def test_one_mark_tells_no_plateau():
    assert plateau_verdict([(600, {1: 100.0})], [{1: 5.0}]).word == "missing"
