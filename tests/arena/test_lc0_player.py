"""Players that search as Lc0 does."""

from __future__ import annotations

import pytest

from arena.scripted import random_lc0_network
from nets.samples import on_one_thread
from rookery import BadInput, lc0, load
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import Turn
from rookery.arena.players import make_player
from rookery.lc0.search import search
from rookery.search.analysis import Limits

pytestmark = pytest.mark.xdist_group("chess")  # so that nothing is compiled twice


@pytest.fixture
def network():
    return random_lc0_network()


def turn(position):
    return Turn(position, position.copy(), (), 0)


def test_the_player_plays_what_the_search_finds(network):
    game = load("chess")
    player = make_player(f"lc0:{network},nodes=30,batch=3,cpuct=2.5", game)
    assert player.name == f"lc0:{network},nodes=30,batch=3,cpuct=2.5"
    position = game.position("startpos moves e2e4 e7e5")
    found = player.choose(turn(position))
    with on_one_thread():
        expected = search(position, Limits(nodes=30), evaluator=lc0.load(network), batch=3, cpuct=2.5)
    assert found.action == expected.action
    assert found.analysis == expected
    assert player.choose(turn(position)) == found


def test_matches_are_played_the_same_every_time(network):
    game = load("chess")

    def moves():
        settings = MatchSettings(games=2, most_plies=12, seed=3)
        text = f"lc0:{network},nodes=8,batch=4"
        match = play_match(game, lambda: make_player(text, game), lambda: make_player("random", game), settings)
        return [match.records[number].moves for number in range(2)]

    assert moves() == moves()


def test_what_cannot_be_is_refused(network, tmp_path):
    with pytest.raises(BadInput, match="plays chess only"):
        make_player(f"lc0:{network}", load("gomoku:size=7"))
    with pytest.raises(BadInput, match="cpuct"):
        make_player(f"lc0:{network},cpuct=-1", load("chess"))
    with pytest.raises(BadInput, match="cannot be read"):
        make_player(f"lc0:{tmp_path}/nothing.pb.gz", load("chess"))
