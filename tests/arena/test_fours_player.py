"""Players that look for wins by fours beside a search with a network."""

from __future__ import annotations

import pytest

from rookery import BadInput, load
from rookery.arena.player import turn_of
from rookery.arena.players import make_player
from rookery.games.gomoku_board import wall_off
from rookery.nets.configs import TowerConfig
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.search.gomoku_vcf import search_fours
from search.test_gomoku_fours import LOST
from search.test_gomoku_vcf import drawn


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "tiny.pth"
    game = load("gomoku", size=9)
    config = TowerConfig(planes=3, rows=9, cols=9, width=4, blocks=1)
    about = About(game=game.spec, rules_version=game.version, observation="planes")
    save_network(path, build(config, 1).eval(), about)
    return path


def turn(player, position, seed=0):
    return turn_of(player, position, position, (), seed=seed)


@pytest.mark.parametrize("where", ["root", "leaves"])
def test_a_win_by_fours_is_played_and_shown(network, where):
    position = drawn(LOST, "b")
    player = make_player(f"net:{network},sims=4,vcf={where}", position.game)
    line = search_fours(position).line
    for choice in (player.choose(turn(player, position)), *player.choose_many([turn(player, position)] * 2)):
        assert choice.action == line[0]
        assert choice.analysis.proven
        assert choice.analysis.lines[0].moves == line


def test_games_without_such_a_win_are_searched_as_ever(network):
    game = load("gomoku", size=9)
    positions = [game.start(), drawn(LOST, "b"), game.start()]
    positions[2].play(40)
    plain = make_player(f"net:{network},sims=16", game)
    root = make_player(f"net:{network},sims=16,vcf=root", game)
    expected = plain.choose_many([turn(plain, position) for position in positions])
    found = root.choose_many([turn(root, position) for position in positions])
    assert [choice.action for choice in found[::2]] == [choice.action for choice in expected[::2]]
    assert found[1].action == search_fours(positions[1]).line[0]


def test_at_leaves_moves_that_lose_to_fours_are_not_played(network):
    position = drawn(LOST, "w")
    player = make_player(f"net:{network},sims=200,vcf=leaves", position.game)
    choice = player.choose(turn(player, position))
    after = position.copy()
    after.play(choice.action)
    assert search_fours(after).line is None


def test_where_points_are_out_of_the_game_leaves_prove_nothing(network):
    four = "........./........./........./........./..xxxx.../........./........./........./....ooo.. b - -"
    position = load("gomoku", size=9).position(four)
    player = make_player(f"net:{network},sims=40,vcf=leaves", position.game)
    assert player.choose(turn(player, position)).analysis.proven
    dead = position.copy()
    points = [dead.game.parse_move(dead.state, name) for name in ("B5", "G5")]
    wall_off(dead.state, points)
    choice = player.choose(turn(player, dead))
    assert not choice.analysis.proven  # what looks like a five to come is none
    assert choice.action not in points
    assert player.choose(turn(player, position)).analysis.proven  # and afterwards as before


def test_the_text_of_the_player_names_where_it_looks(network):
    game = load("gomoku", size=9)
    assert "vcf=leaves" in make_player(f"net:{network},sims=4,vcf=leaves", game).name
    with pytest.raises(BadInput, match="vcf"):
        make_player(f"net:{network},sims=4,vcf=everywhere", game)
    with pytest.raises(BadInput, match="prove=false does not go with vcf=leaves"):
        make_player(f"net:{network},sims=4,vcf=leaves,prove=false", game)
