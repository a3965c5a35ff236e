"""Players that look one move ahead with a network."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.arena.lookahead import LookAheadPlayer
from rookery.arena.player import Turn
from rookery.arena.players import make_player
from rookery.nets.configs import PerceptronConfig
from rookery.nets.files import About, Loaded
from rookery.nets.residual import build


def some_player(spec: str, observation: str) -> LookAheadPlayer:
    """A player of a random network."""
    game = load(spec)
    inputs = int(np.prod(game.observations[observation]))
    network = build(PerceptronConfig(inputs=inputs, actions=game.actions, hidden=(16,)), 3).eval()
    about = About(game=game.spec, rules_version=game.version, observation=observation)
    return LookAheadPlayer(Loaded(network, network.config, about), device="cpu")


def turn_at(position) -> Turn:
    return Turn(position, position.copy(), (), seed=0)


def slow_worths(player: LookAheadPlayer, position) -> dict[int, float]:
    """What each move is worth, one after another."""
    worths = {}
    for action in position.legal():
        after = position.copy()
        after.play(int(action))
        if after.over:
            worths[int(action)] = after.payoff(position.mover)
            continue
        value = float(player.evaluator(after.observe(player.evaluator.kind).reshape(1, -1))[1][0])
        same = position.game.teams[after.mover] == position.game.teams[position.mover]
        worths[int(action)] = value if same else -value
    return worths


@pytest.mark.parametrize(("spec", "observation"), [("domineering:rows=4,cols=5", "planes"), ("pylos", "rich")])
def test_it_plays_the_move_after_which_the_network_likes_the_position_most(spec, observation):
    player, rng = some_player(spec, observation), np.random.default_rng(1)
    for seed in range(2):
        position = load(spec).start(seed)
        for _ in range(8 if spec == "pylos" else 40):
            if position.over:
                break
            choice, worths = player.choose(turn_at(position)), slow_worths(player, position)
            assert worths[choice.action] == pytest.approx(max(worths.values()), abs=1e-5)
            assert choice.analysis.value == pytest.approx(worths[choice.action], abs=1e-5)
            assert {line.action: pytest.approx(line.value, abs=1e-5) for line in choice.analysis.lines} == worths
            position.play(int(rng.choice(position.legal())))


def test_several_games_are_judged_together_as_one_by_one():
    player = some_player("domineering:rows=4,cols=5", "planes")
    positions = [load("domineering:rows=4,cols=5").start() for _ in range(4)]
    for n, position in enumerate(positions):
        for _ in range(n):
            position.play(int(position.legal()[n]))
    together = player.choose_many([turn_at(position) for position in positions])
    assert [c.action for c in together] == [player.choose(turn_at(position)).action for position in positions]


def test_it_is_made_by_its_text():
    player = make_player("lookahead:zoo:pylos", load("pylos"))
    assert isinstance(player, LookAheadPlayer)
    assert player.name == "lookahead:zoo:pylos"
    with pytest.raises(BadInput, match="cannot play domineering"):
        make_player("lookahead:zoo:pylos", load("domineering"))
