"""What networks answer: made-up answers at positions of a small board."""

from __future__ import annotations

import numpy as np
import pytest

from checks.verdicts import complains, in_order
from rookery.checks import Verdict, answers
from rookery.checks.positions import NEARLY_OVER, sampled_positions, shares_of
from rookery.games.library import load

RNG = np.random.default_rng(1)


@pytest.fixture(scope="module")
def asked():
    return sampled_positions(load("domineering:rows=4,cols=4"), "planes", 64, 0)


def test_positions_are_the_same_for_the_same_seed(asked):
    again = sampled_positions(asked.game, "planes", 64, 0)
    assert np.array_equal(asked.observations, again.observations)
    assert (asked.legal.sum(1) > 0).all()
    assert ((asked.left <= NEARLY_OVER).sum()) >= 16
    assert set(asked.outcomes) <= {-1.0, 1.0}


def test_some_games_are_played_by_the_policy():
    game, calls = load("domineering:rows=4,cols=4"), []

    def judge(observations):
        calls.append(len(observations))
        return np.zeros((len(observations), game.actions)), np.zeros(len(observations))

    sampled_positions(game, "planes", 64, 0, judge)
    assert calls


def test_values_beyond_one_or_no_numbers_are_found():
    in_order(answers.value_range(np.array([-1.0, 1.0]), ""), "value-range")
    complains(answers.value_range(np.array([0.0, 1.2]), "values"), "value-range", Verdict.WRONG)
    complains(answers.value_range(np.array([0.0, np.nan]), "values"), "value-range", Verdict.WRONG)


def test_a_value_that_is_the_same_everywhere_is_found():
    in_order(answers.value_variety(RNG.uniform(-1, 1, 99), ""), "value-variety")
    complains(answers.value_variety(np.full(99, 0.3), "values"), "value-variety", Verdict.WRONG)
    in_order(answers.value_saturation(RNG.uniform(-1, 1, 99), ""), "value-saturation")
    complains(answers.value_saturation(np.ones(99), "values"), "value-saturation", Verdict.WRONG)


def test_policies_that_are_even_or_one_move_alone_are_found(asked):
    logits = 2 * RNG.standard_normal(asked.legal.shape)
    in_order(answers.policy_numbers(logits, ""), "policy-numbers")
    complains(answers.policy_numbers(np.full((3, 3), np.nan), "logits"), "policy-numbers", Verdict.WRONG)
    for factor, broken in ((1.0, False), (0.0, True), (1e4, True)):
        found = answers.policy_entropy(shares_of(factor * logits, asked.legal), asked.legal, "policies")
        if broken:
            complains(found, "policy-entropy", Verdict.WRONG)
        else:
            in_order(found, "policy-entropy")


def test_a_policy_on_illegal_moves_is_found(asked):
    in_order(answers.policy_legal(np.where(asked.legal, 5.0, -5.0), asked.legal, ""), "policy-legal")
    complains(answers.policy_legal(np.where(asked.legal, -5.0, 5.0), asked.legal, "x"), "policy-legal", Verdict.WRONG)


def test_outputs_that_never_change_are_found():
    logits = RNG.standard_normal((30, 10))
    in_order(answers.dead_outputs(logits, ""), "dead-outputs")
    logits[:, :3] = 0.5
    complains(answers.dead_outputs(logits, "logits"), "dead-outputs", Verdict.WARNING)


def test_a_value_from_the_wrong_side_is_found(asked):
    values = 0.8 * asked.outcomes + 0.1 * RNG.standard_normal(len(asked))
    in_order(answers.value_sign(values, asked), "value-sign")
    complains(answers.value_sign(-values, asked), "value-sign", Verdict.WRONG)


def test_a_network_that_judges_mirror_images_differently_is_found(asked):
    def fair(rows):
        return np.zeros((len(rows), asked.game.actions)), np.tanh(rows.sum(1) / 10 - 2)

    def unfair(rows):
        return 9.0 * rows[:, : asked.game.actions], np.where(rows[:, 0] > 0, 1.0, -1.0)

    for judge, broken in ((fair, False), (unfair, True)):
        found = answers.symmetry(judge, asked, *judge(asked.observations), seed=0)
        if broken:
            complains(found, "symmetry")
        else:
            in_order(found, "symmetry")
