"""Wins by fours in many positions at once, and a tree search that knows them."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.search.gomoku_fours import SeesFours
from rookery.search.gomoku_vcf import search_fours
from rookery.search.trees import Trees, TreeSettings
from search.slow_trees import Hashed
from search.test_gomoku_vcf import drawn, random_fight

SIZE = 9
LOST = """
.........
.........
..xxx....
.........
....o....
...o.....
.........
......o..
.........
"""
"""White is to move and must stop an open three; most moves let Black win by fours"""


def evaluator(game, kind="planes"):
    return Hashed(game, kind, policy="logits")


@pytest.mark.parametrize("kind", ["planes", "history"])
def test_moves_are_those_of_a_search_of_each_position_by_itself(kind):
    game, rng = load("gomoku", size=SIZE), np.random.default_rng(1)
    positions = [random_fight(rng, SIZE, int(rng.integers(16, 50))) for _ in range(300)]
    observations = np.stack([position.observe(kind).ravel() for position in positions])
    found = SeesFours(evaluator(game, kind), game, 100_000).moves(observations)
    won = 0
    for position, move in zip(positions, found.tolist(), strict=True):
        line = search_fours(position).line
        assert (move >= 0) == (line is not None), position.text()
        if line is not None:
            won += 1
            after = position.copy()
            after.play(move)  # another first move than the search's may win as well, but it must begin a win
            assert after.over or len(line) > 1
    assert 20 < won < 280


def test_what_is_found_does_not_depend_on_what_was_asked_before():
    game, rng = load("gomoku", size=SIZE), np.random.default_rng(3)
    positions = [random_fight(rng, SIZE, int(rng.integers(10, 50))) for _ in range(200)]
    observations = np.stack([position.observe("planes").ravel() for position in positions])
    seeing = SeesFours(evaluator(game), game, nodes=8)  # few, so that what is remembered would decide
    found, order = seeing.moves(observations), rng.permutation(len(observations))
    assert 0 < np.count_nonzero(found >= 0) < len(found)
    assert (seeing.moves(observations[order]) == found[order]).all()
    assert (seeing.moves(observations) == found).all()


def test_answers_are_the_networks_where_there_is_no_win_by_fours():
    game = load("gomoku", size=SIZE)
    rng = np.random.default_rng(2)
    positions = [random_fight(rng, SIZE, 30) for _ in range(60)]
    observations = np.stack([position.observe("planes").ravel() for position in positions])
    plain, seeing = evaluator(game)(observations), SeesFours(evaluator(game), game)(observations)
    won = [search_fours(position).line is not None for position in positions]
    for row, wins in enumerate(won):
        if wins:
            assert seeing[1][row] > 1
            assert seeing[0][row].argmax() in positions[row].legal()
        else:
            assert seeing[1][row] == plain[1][row]
            assert (seeing[0][row] == plain[0][row]).all()
    assert 0 < sum(won) < len(won)


def searched(position, judge, simulations=300, **settings):
    trees = Trees(position.game, TreeSettings(simulations=simulations, **settings))
    trees.begin([position])
    trees.run(judge)
    return trees


def test_moves_that_let_the_other_side_win_by_fours_are_proven_to_lose():
    position = drawn(LOST, "w")
    game = position.game
    trees = searched(position, SeesFours(evaluator(game), game), prove=True, c=20.0)
    first, count = trees.edges_of(0, 0)
    losing = 0
    for edge in trees.arrays.edges[0, first : first + count]:
        after = position.copy()
        after.play(int(edge["action"]))
        if edge["visits"]:
            wins = search_fours(after).line is not None
            losing += wins
            assert (edge["proof"] == -1) == wins or edge["proof"] != 0  # deeper proofs may come on top
    assert losing > 10
    assert search_fours(moved(position, trees.choose()[0])).line is None


def moved(position, action):
    after = position.copy()
    after.play(action)
    return after


def test_a_win_that_is_sure_counts_as_one_without_proofs():
    position = drawn(LOST, "b")
    game = position.game
    trees = searched(position, SeesFours(evaluator(game), game), simulations=1)
    assert trees.arrays.nodes[0, 0]["value"] == 1
    assert trees.arrays.nodes[0, 0]["proof"] == 0
    assert trees.choose()[0] == search_fours(position).line[0]
    assert searched(position, SeesFours(evaluator(game), game), simulations=1, prove=True).analysis(0).proven


@pytest.mark.parametrize("spec", ["pylos", "gomoku:rule=renju", "gomoku:opening=swap2"])
def test_other_games_are_refused(spec):
    game = load(spec)
    with pytest.raises(BadInput, match="wins by fours are known in gomoku with rule=freestyle and no opening"):
        SeesFours(evaluator(game, next(iter(game.observations))), game)
