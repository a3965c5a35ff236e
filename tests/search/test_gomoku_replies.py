"""The baseline player in many positions at once."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.search.analysis import Limits
from rookery.search.gomoku_baseline import search
from rookery.search.gomoku_replies import baseline_moves
from search.test_gomoku_vcf import random_fight


@pytest.mark.parametrize(("size", "depth"), [(9, 2), (7, 3)])
def test_moves_are_those_of_each_position_by_itself(size, depth):
    game, rng = load("gomoku", size=size), np.random.default_rng(depth)
    positions = [game.start(), *(random_fight(rng, size, int(rng.integers(1, size * size - 2))) for _ in range(80))]
    states = np.concatenate([position.states for position in positions])
    expected = [search(position, Limits(depth=depth)).action for position in positions]
    for threads in (1, 3):
        assert baseline_moves(game, states, depth, threads).tolist() == expected


def test_no_position_has_no_moves():
    game = load("gomoku", size=9)
    assert baseline_moves(game, game.empty_states(0), 2).tolist() == []


def test_other_rules_are_refused():
    game = load("gomoku:opening=swap2")
    with pytest.raises(BadInput, match="rule=freestyle and no opening"):
        baseline_moves(game, game.empty_states(1), 2)
