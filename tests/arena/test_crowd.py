"""A network in the many games of a match plays as it does in one."""

from __future__ import annotations

import pytest

from rookery.arena import crowd
from rookery.arena.crowd import Crowd
from rookery.arena.network_player import NetworkPlayer
from rookery.arena.player import turn_of
from rookery.games.library import load
from rookery.nets.configs import TowerConfig
from rookery.nets.files import About, Loaded
from rookery.nets.residual import build
from rookery.search.analysis import Limits

GAME = load("gomoku:size=5")


def positions():
    """Return positions of the beginnings of some games."""
    found = []
    for first in range(10):
        position = GAME.start()
        for move in (first, 12 + first, 11):
            if move in position.legal():
                position.play(move)
        found.append(position)
    return found


def made(kind):
    network = build(TowerConfig(planes=3, rows=5, cols=5, width=4, blocks=1), 3).eval()
    loaded = Loaded(network, network.config, About(game=GAME.spec, observation="planes"))
    return kind(loaded, Limits(nodes=30), Limits(nodes=30), {"urgency": "parent"}, device="cpu")


def turns(player):
    return [turn_of(player, GAME.start(), position, (), seed=n) for n, position in enumerate(positions())]


@pytest.mark.parametrize("parts", [1, 3])
def test_a_crowd_plays_the_moves_of_a_player_and_says_nothing_else(monkeypatch, parts):
    monkeypatch.setattr(crowd, "LEAST_OF_PART", 2)
    monkeypatch.setattr(Crowd, "parts", parts)
    one, many = made(NetworkPlayer), made(Crowd)
    expected = [choice.action for choice in one.choose_many(turns(one))]
    found = many.choose_many(turns(many))
    assert [choice.action for choice in found] == expected
    assert len(set(expected)) > 1
    assert all(choice.analysis is None for choice in found)
