"""Verdicts of the Pylos study on made-up numbers."""

from __future__ import annotations

import math

import pytest

from rookery.studies.intervals import Estimate
from rookery.studies.pylos_answers import (
    below,
    blocks_answer,
    cause_answer,
    cure_answer,
    effects,
    empty_answer,
    floor_answer,
    order_answer,
    plateau_answer,
    reached_answer,
    start_answer,
    target_answer,
    within,
)
from rookery.studies.verdicts import NO, OPEN, YES


def about(mean: float, half: float = 0.01) -> Estimate:
    return Estimate(mean, mean - half, mean + half, 10)


ALONE = Estimate(0.2, -math.inf, math.inf, 1)


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [(about(0.13), YES), (about(0.145), OPEN), (about(0.17), NO), (ALONE, NO), (None, OPEN)],
)
def test_a_number_is_below_a_level_if_its_whole_interval_is(estimate, verdict):
    assert below(estimate, 0.15) == verdict


@pytest.mark.parametrize(
    ("estimate", "verdict"), [(about(0.065), YES), (about(0.075), OPEN), (about(0.2), NO), (about(0.01), NO)]
)
def test_a_number_lies_within_a_range_if_its_whole_interval_does(estimate, verdict):
    assert within(estimate, 0.05, 0.08) == verdict


def test_a_value_loss_that_only_draws_have_lowered_does_not_reach_the_target():
    assert target_answer(about(0.1), about(0.12), about(0.05), 1000).word == YES
    assert target_answer(about(0.1), about(0.4), about(0.7), 1000).word == "no: only draws bring it there"
    assert target_answer(about(0.3), about(0.4), about(0.3), 1000).word == NO
    assert target_answer(None, None, None, 0).word == OPEN


def test_the_start_is_the_first_figure():
    assert start_answer({"v5": 0.8}).word == YES
    assert start_answer({"v5": 0.45, "v4": 0.5}).word == NO
    assert start_answer({"v4": 0.8}).word == OPEN


def test_games_that_ended_first_are_told_to_be_short_where_they_are():
    assert "33 plies, 55 at the end" in start_answer({"v5": 0.4}, 33.0, about(55.0)).reason
    assert "plies" not in start_answer({"v5": 0.4}, 54.0, about(55.0)).reason
    assert "plies" not in start_answer({"v5": 0.4}, None, about(55.0)).reason


def test_a_level_is_reached_in_time_or_not_or_the_run_is_too_short_to_say():
    assert reached_answer("v5", about(0.22), 40_000, 500_000).word == YES
    assert reached_answer("v5", about(0.34), 200_000, 500_000).word == NO
    assert reached_answer("v5", None, None, 2_000).word == OPEN
    assert reached_answer("v4", None, None, 0).reason == "V4 was not trained"


def test_a_plateau_is_near_what_was_said_or_not():
    assert plateau_answer("v4", about(0.26)).word == YES
    assert plateau_answer("v4", about(0.36)).word == NO


def test_the_floor_is_that_of_v5():
    found = {"positions": 100, "floor": 0.06, "interval": [0.055, 0.07]}
    assert floor_answer({"best": found | {"floor": 0.5, "interval": [0.4, 0.6]}, "v5": found}).word == YES
    assert floor_answer({"v5": found | {"floor": 0.3, "interval": [0.25, 0.33]}}).word == NO
    assert floor_answer({}).word == OPEN


FOUR = {
    "v4": [0.40, 0.41, 0.42],
    "v5": [0.30, 0.31, 0.32],
    "v5-basic": [0.40, 0.41, 0.42],
    "v4-rich": [0.3, 0.31, 0.32],
}


def test_effects_of_depth_and_observation_are_told_apart():
    found = effects(FOUR)
    assert found["depth"].mean == pytest.approx(0)
    assert found["observation"].mean == pytest.approx(-0.1)
    assert found["observation"].high < 0 < found["depth"].high
    assert cause_answer(FOUR, {}).word == "observation alone is shown to"
    swapped = FOUR | {"v5-basic": FOUR["v4-rich"], "v4-rich": FOUR["v5-basic"]}
    assert cause_answer(swapped, {}).word == "depth alone is shown to"


def test_one_seed_each_leaves_the_cause_open():
    assert cause_answer({name: values[:1] for name, values in FOUR.items()}, {}).word == OPEN
    assert cause_answer({"v4": [0.4]}, {}).word == OPEN


def test_a_cure_has_fewer_draws_and_is_not_weaker():
    draws = {"v5": [0.30, 0.31, 0.32], "v5-discount": [0.05, 0.06, 0.05], "v5-repeat": [0.05, 0.06, 0.05]}
    elos = {"v5": [1000, 1010, 1020], "v5-discount": [1200, 1210, 1220], "v5-repeat": [700, 710, 720]}
    assert cure_answer(draws, elos, ("v5-discount", "v5-repeat", "v5-root")).word == "v5-discount"
    same = draws | {"v5-discount": draws["v5"], "v5-repeat": draws["v5"]}
    assert cure_answer(same, elos, ("v5-discount", "v5-repeat")).word == "none is shown to"
    assert cure_answer({"v5": [0.3], "v5-root": [0.1]}, {}, ("v5-root",)).word == OPEN


def match(first: str, second: str, low: float | None, high: float | None) -> dict:
    return {
        "first": first, "second": second, "score": 0.6, "elo": 70.0, "elo_low": low, "elo_high": high, "games": 100,
        "wins": 60, "draws": 0, "losses": 40,
    }  # fmt: skip


def test_the_order_of_the_ladder_needs_both_steps_whichever_way_they_met():
    assert order_answer([match("v5", "v4", 10, 100), match("v4", "v3", 10, None)]).word == YES
    assert order_answer([match("v4", "v5", -100, -10), match("v3", "v4", -100, -10)]).word == YES
    assert order_answer([match("v5", "v4", -10, 100), match("v4", "v3", 10, 100)]).word == OPEN
    assert order_answer([match("v5", "v4", -90, -10), match("v4", "v3", 10, 100)]).word == NO
    assert order_answer([match("v5", "v4", 10, 100)]).word == OPEN


def test_the_empty_board_is_judged_by_the_longest_search():
    found = {"network": 0.05, "searches": [{"simulations": 100, "value": 0.2}, {"simulations": 1000, "value": -0.3}]}
    assert empty_answer({"best": found}).word == YES
    assert empty_answer({"best": found | {"searches": found["searches"][:1]}}).word == NO
    assert empty_answer({"best": found | {"searches": []}, "v5": found}).word == OPEN
    assert empty_answer({}).word == OPEN


def test_the_table_of_blocks_holds_if_every_line_does():
    lines = [{"verdict": verdict} for verdict in (YES, YES, OPEN)]
    assert blocks_answer(lines[:2]).word == YES
    assert blocks_answer(lines).word == OPEN
    assert blocks_answer([*lines, {"verdict": NO}]).reason.startswith("of 4 lines 2 hold, 1 do not, 1 are open")
    assert blocks_answer([*lines, {"verdict": NO}]).word == NO
    assert blocks_answer([]).word == OPEN
