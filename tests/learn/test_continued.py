"""Games from given beginnings are those a run would have played on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from learn.slow_selfplay import SEED, ending_of, outcomes_of, recorded
from rookery import load
from rookery.errors import BadInput
from rookery.learn.continued import Continued, beginning
from rookery.learn.sections import SelfplaySettings
from search.slow_trees import Hashed
from support import random_walk

pytestmark = pytest.mark.xdist_group("learning")

GAME = load("pylos:removal=greedy")
SETTINGS = SelfplaySettings(
    at_once=5, simulations=4, temperature_plies=4, ply_limit=40, repetition_limit=2, discount=0.97,
    repetition_value=0.5, ply_limit_value=-0.25,
)  # fmt: skip
JUDGE = Hashed(GAME, policy="logits")


def positions_of(actions):
    positions = [GAME.start()]
    for action in actions:
        positions.append(positions[-1].copy())
        positions[-1].play(action)
    return positions


@cache
def continued():
    """Play nine games from the start and then each of them again from its tenth ply, twice."""
    play = Continued(GAME, SETTINGS, JUDGE.kind, SEED)
    games = play.play([beginning(GAME, [])] * 9, JUDGE)
    begun = [game.actions[:10] for game in games for _ in range(2)]
    return games, begun, play.play([beginning(GAME, actions) for actions in begun], JUDGE)


def test_games_from_the_start_are_those_of_self_play():
    found = recorded(GAME, SETTINGS.model_copy(update={"at_once": 9}), 60)
    for number, game in enumerate(continued()[0]):
        rows = found.games()[number]
        assert game.actions == tuple(found.rows["played"][rows].tolist())
        assert np.array_equal(game.outcomes, found.rows["outcomes"][rows])


def test_every_beginning_is_played_to_its_end_in_order():
    _, begun, again = continued()
    assert len(again) == 18
    assert [game.actions[:10] for game in again] == begun


def test_limits_repetitions_and_outcomes_count_the_moves_of_the_beginning():
    games, _, again = continued()
    endings = set()
    for game in (*games, *again):
        positions = positions_of(game.actions)
        assert game.ending == ending_of(positions, SETTINGS)
        assert np.allclose(game.outcomes, outcomes_of(positions, SETTINGS))
        endings.add(game.ending)
    assert len(endings) > 1


def test_the_same_beginning_is_played_on_in_different_ways():
    _, _, again = continued()
    assert sum(one.actions != other.actions for one, other in zip(again[::2], again[1::2], strict=True)) >= 7


def test_where_nothing_is_drawn_any_more_a_game_goes_on_as_it_did():
    settings = SETTINGS.model_copy(update={"noise": 0.0, "ply_limit": 80})  # moves are drawn in the first four plies
    play = Continued(GAME, settings, JUDGE.kind, SEED)
    games = play.play([beginning(GAME, [])] * 12, JUDGE)
    assert "repetition" in {game.ending for game in games}
    for cut in (4, -1):  # at the last move, a repetition is one of a position in the beginning
        again = play.play([beginning(GAME, game.actions[:cut]) for game in games], JUDGE)
        assert [game.actions for game in again] == [game.actions for game in games]
        assert [game.ending for game in again] == [game.ending for game in games]


def test_progress_counts_games_that_have_ended():
    said = []
    Continued(GAME, SETTINGS, JUDGE.kind, SEED).play([beginning(GAME, [])] * 7, JUDGE, said.append)
    assert said == sorted(said)
    assert said[-1] == 7


def test_a_finished_game_is_not_played_on():
    actions = [action for _, action in random_walk(GAME, 1) if action is not None]
    with pytest.raises(BadInput, match="the game is over"):
        Continued(GAME, SETTINGS, JUDGE.kind, SEED).play([beginning(GAME, actions)], JUDGE)


def test_without_beginnings_nothing_is_played():
    assert Continued(GAME, SETTINGS, JUDGE.kind, SEED).play([], JUDGE) == []
