"""Losses, learning rates and ratings, made up well and badly."""

from __future__ import annotations

import numpy as np
import pytest

from checks.verdicts import complains, in_order, silent
from rookery.checks import Verdict, curves


def losses(values):
    return [{"loss": value} for value in values]


def test_a_loss_that_is_no_number_is_found():
    in_order(curves.loss_numbers(losses([1.0, 0.5]), ("loss",)), "loss-numbers")
    for bad in (None, float("nan"), float("inf")):
        complains(curves.loss_numbers(losses([1.0, bad]), ("loss",)), "loss-numbers", Verdict.WRONG)


@pytest.mark.parametrize("steady", [True, False])
def test_a_loss_that_falls_is_in_order(steady):
    in_order(curves.loss_course("loss", np.linspace(2, 1, 30).tolist(), steady), "loss-falls", "loss-rises")


def test_a_loss_that_stays_is_found():
    complains(curves.loss_course("loss", [1.0] * 30), "loss-falls", Verdict.WARNING)


def test_a_loss_that_diverges_is_wrong():
    found = curves.loss_course("loss", np.linspace(1, 5, 30).tolist())
    complains(found, "loss-falls", Verdict.WRONG)
    complains(curves.loss_course("loss", [2.0, 1.0, 1.0, 1.9]), "loss-rises", Verdict.WRONG)


def test_of_few_points_nothing_is_said():
    assert curves.loss_course("loss", [1.0, 2.0]) == []
    assert curves.loss_course("loss", [1.0] * 10, steady=False) == []


def test_a_network_that_knows_its_data_by_heart_is_found():
    in_order(curves.validation_gap(1.0, 1.05, ""), "validation-gap")
    complains(curves.validation_gap(0.5, 1.0, "the last line"), "validation-gap", Verdict.WRONG)
    assert curves.validation_gap(None, 1.0, "") == []


@pytest.mark.parametrize(("highest", "least", "started"), [(1e-3, 5e-5, False), (1e-3, 1e-5, True), (3e-4, 0.0, False)])
def test_usual_learning_rates_are_in_order(highest, least, started):
    in_order(curves.learning_rate(highest, least, started), "learning-rate")


@pytest.mark.parametrize(
    ("highest", "least", "started", "verdict"),
    [(0.05, 1e-4, False, Verdict.WARNING), (1.0, 0.0, False, Verdict.WRONG), (1e-3, 1e-3, False, Verdict.WARNING),
     (5e-3, 1e-5, True, Verdict.WARNING), (1e-9, 0.0, False, Verdict.WRONG)],
)  # fmt: skip
def test_unusual_learning_rates_are_found(highest, least, started, verdict):
    complains(curves.learning_rate(highest, least, started), "learning-rate", verdict)


def rated(*elos, width=30):
    return [{"step": 100 * n, "elo": elo, "interval": [elo - width, elo + width]} for n, elo in enumerate(elos)]


def test_ratings_that_rise_are_in_order():
    in_order(curves.rating_course(rated(0, 200, 300)), "rating-rises", "rating-drop", "rating-precision")
    assert curves.rating_course([]) == []
    silent(curves.rating_course(rated(0, 10)), "rating-rises")


def test_ratings_that_stay_within_their_intervals_are_found():
    complains(curves.rating_course(rated(0, 5, 10)), "rating-rises", Verdict.WARNING)
    complains(curves.rating_course(rated(300, 200, 0)), "rating-rises", Verdict.WRONG)


def test_a_rating_far_below_the_best_is_found():
    complains(curves.rating_course(rated(0, 500, 300)), "rating-drop", Verdict.WARNING)


def test_intervals_that_tell_nothing_are_found():
    complains(curves.rating_course(rated(0, 500, 900, width=150)), "rating-precision", Verdict.WARNING)
