"""Games against a fixed opponent, played again ply by ply."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from learn.slow_selfplay import SEED, ending_of, outcomes_of, positions_of, recorded
from rookery import load
from rookery.arena.player import turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.errors import BadInput
from rookery.learn.book import BY_RULES, GAME
from rookery.learn.opponent import SEED as OPPONENT_SEED
from rookery.learn.opponent import Opponent
from rookery.learn.replay import Replay
from rookery.learn.sections import SelfplaySettings
from rookery.learn.selfplay import SelfPlay
from rookery.learn.settings import check_settings
from search.test_gomoku_vcf import random_fight
from support import CONNECT_FOUR

pytestmark = pytest.mark.xdist_group("learning")

WAYS = {
    "random": (CONNECT_FOUR, 40, {"opponent": "random"}),
    "taught": (CONNECT_FOUR, 40, {"opponent": "random", "opponent_taught": True, "random_plies": 3, "ply_limit": 25}),
    "take-backs": ("pylos", 40, {"opponent": "random", "ply_limit": 45}),
}
EACH = pytest.mark.parametrize("way", ["random", "taught", pytest.param("take-backs", marks=pytest.mark.slow)])


@cache
def games(way):
    spec, rounds, values = WAYS[way]
    return recorded(load(spec), SelfplaySettings(**{"at_once": 12, "simulations": 8, **values}), rounds)


def seats_of(found, number):
    """Tell of each ply of a game whether the opponent moved."""
    positions = positions_of(found, number)[:-1]
    return positions, [found.game.teams[position.mover] != number % 2 for position in positions]


@EACH
def test_the_opponent_holds_one_side_and_plays_what_it_would_choose(way):
    found = games(way)
    player = make_player("random", found.game)
    theirs = 0
    for number, rows in found.games().items():
        positions, opponents = seats_of(found, number)
        for k, (position, opponent) in enumerate(zip(positions, opponents, strict=True)):
            if opponent and k >= found.settings.random_plies:
                seed = turn_seed(SEED ^ OPPONENT_SEED, number, k)
                choice = player.choose(turn_of(player, position, position, (), seed=seed))
                assert found.rows["played"][rows[k]] == choice.action
                theirs += 1
    assert theirs > 50


@EACH
def test_the_networks_moves_alone_are_taught_unless_both_are(way):
    found = games(way)
    both = found.settings.opponent_taught
    for number, rows in found.games().items():
        positions, opponents = seats_of(found, number)
        for k, (row, opponent) in enumerate(zip(rows, opponents, strict=True)):
            opening = k < found.settings.random_plies
            assert found.rows["taught"][row] == (not opening and (both or not opponent))
            assert found.rows["values"][row] == 0 or not opponent
            if opponent and both and not opening:
                count, legal = found.rows["counts"][row], positions[k].legal()
                assert found.rows["actions"][row, :count].tolist() == legal.tolist()
                played = (legal == found.rows["played"][row]).astype(float)
                assert found.rows["weights"][row, :count].tolist() == played.tolist()


@EACH
def test_games_end_and_count_as_always(way):
    found = games(way)
    score = 0.0
    for number, rows in found.games().items():
        positions = positions_of(found, number)
        assert ending_of(positions, found.settings)
        np.testing.assert_allclose(found.rows["outcomes"][rows], outcomes_of(positions, found.settings), rtol=1e-5)
        last = positions[-2].mover
        result = found.rows["outcomes"][rows[-1]]
        score += result if found.game.teams[last] == number % 2 else -result
    assert found.finished.learner == pytest.approx(score, abs=1e-4)
    assert {number % 2 for number in found.games()} == {0, 1}


def test_games_taken_up_again_go_on_as_if_nothing_had_happened():
    found = games("taught")

    def fresh():
        return SelfPlay(found.game, found.settings, SEED, Replay(found.game, found.judge.kind, 250))

    straight, stopped = fresh(), fresh()
    for _ in range(20):
        straight.round(found.judge)
        stopped.round(found.judge)
        other = fresh()
        other.load(stopped.state())
        other.replay.load(stopped.replay.state())
        stopped = other
    for name, array in straight.replay.rows._asdict().items():
        assert (array == getattr(stopped.replay.rows, name)).all(), name


def test_answers_do_not_depend_on_the_threads():
    game, found = load(CONNECT_FOUR), games("random")
    roots, records = found.play.trees.arrays.roots.copy(), found.play.book.games.copy()
    records["number"] += 1  # so that the opponent is to move
    one, three = (Opponent("random", game, 5, threads).replies(roots, records) for threads in (1, 3))
    assert (one == three).all()
    assert (one >= 0).sum() > 6


def run_settings(**selfplay):
    return {
        "game": CONNECT_FOUR,
        "network": {"kind": "perceptron", "observation": next(iter(load(CONNECT_FOUR).observations))},
        "selfplay": selfplay,
    }


@pytest.mark.parametrize(
    ("selfplay", "complaint"),
    [
        ({"opponent": "baseline:depth=2"}, r"selfplay\.opponent: player 'baseline:depth=2' does not fit"),
        ({"opponent": "nobody"}, r"selfplay\.opponent: .*nobody"),
        ({"opponent": "human"}, r"selfplay\.opponent: player 'human' is a person, who cannot play many games at once"),
        ({"opponent_taught": True}, r"selfplay\.opponent_taught: must be false where there is no opponent"),
    ],
)
def test_opponents_that_cannot_be_are_refused(selfplay, complaint):
    with pytest.raises(BadInput, match=complaint):
        check_settings(run_settings(**selfplay), "run")


def test_moves_without_a_value_are_not_taught_by_value():
    values = run_settings(opponent="random", opponent_taught=True) | {"training": {"root_value_share": 0.5}}
    with pytest.raises(
        BadInput, match=r"training\.root_value_share: must be 0 where selfplay\.opponent_taught is true"
    ):
        check_settings(values, "run")


def test_baseline_is_asked_by_compiled_code_and_answers_the_same():
    game, rng = load("gomoku:size=7"), np.random.default_rng(0)
    positions = [random_fight(rng, 7, int(rng.integers(0, 20))) for _ in range(40)]
    records = np.zeros(40, GAME)
    records["number"], records["ending"][5] = np.arange(40), BY_RULES
    found = Opponent("baseline:depth=2", game, 1, 2).replies(
        np.concatenate([position.states for position in positions]), records
    )
    player, asked = make_player("baseline:depth=2", game), 0
    for number, (position, action) in enumerate(zip(positions, found.tolist(), strict=True)):
        if number == 5 or position.mover == number % 2:
            assert action == -1
        else:
            assert action == player.choose(turn_of(player, position, position, (), seed=0)).action
            asked += 1
    assert asked > 10
