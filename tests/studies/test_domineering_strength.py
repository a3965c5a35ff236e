"""Games between networks, beside games played move by move through the rules."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery import load
from rookery.arena.evaluator import on_threads
from rookery.nets.configs import TransformerConfig
from rookery.nets.residual import build
from rookery.studies.domineering_strength import Mover, legal_moves, match_facts, openings, play

pytestmark = pytest.mark.xdist_group("domineering")

GAME = load("domineering")
TINY = TransformerConfig(rows=16, cols=16, width=8, heads=1, head_width=8, layers=1, mlp=8, policy_hidden=8)


def position_of(covered, plies=16):
    """Set up a board through the text of the game."""
    rows = ["".join("#" if cell else "." for cell in row) for row in covered.view(16, 16).tolist()]
    return GAME.position(f"{'/'.join(rows)} {'vh'[plies % 2]}")


def slow_choice(network, position, candidates):
    """Ask a network about one position and, with candidates, about what follows."""
    policy, _ = network(torch.from_numpy(position.observe("tokens"))[None])
    legal = position.legal()
    liked = sorted(legal, key=lambda action: -policy[0, action].item())[:candidates]
    if candidates == 1:
        return int(liked[0])

    def worth(action):
        after = position.copy()
        after.play(int(action))
        return 1e9 if after.over else -network(torch.from_numpy(after.observe("tokens"))[None])[1].item()

    return int(max(liked, key=worth))


def slow_game(vertical, horizontal, covered, candidates=1):
    """Play a game through the rules; return whether Vertical won."""
    position = position_of(covered)
    while not position.over:
        network = vertical if position.mover == 0 else horizontal
        position.play(slow_choice(network, position, candidates))
    return position.payoff(0) > 0


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with on_threads(1):
        yield


@pytest.fixture(scope="module")
def networks():
    return [build(TINY, seed) for seed in (1, 2)]


def test_openings_are_positions_of_sixteen_plies_and_always_the_same():
    boards = openings(20, seed=4)
    assert (boards.sum(1) == 32).all()
    assert len(torch.unique(boards, dim=0)) == 20
    assert torch.equal(openings(20, seed=4), boards)
    assert not torch.equal(openings(20, seed=5), boards)


@pytest.mark.parametrize("side", [0, 1])
def test_legal_moves_are_those_of_the_rules(side):
    boards = openings(5, seed=1)
    for board, legal in zip(boards, legal_moves(boards, side), strict=True):
        assert np.flatnonzero(legal.numpy()).tolist() == position_of(board, side).legal().tolist()


def test_every_opening_is_played_twice_as_by_the_rules(networks):
    starts = openings(1, seed=2)
    with torch.no_grad():
        won = play(Mover(networks[0]), Mover(networks[1]), starts)
        for opening, (as_vertical, as_horizontal) in zip(starts, won.tolist(), strict=True):
            assert slow_game(networks[0], networks[1], opening) == as_vertical
            assert (not slow_game(networks[1], networks[0], opening)) == as_horizontal


@pytest.mark.slow
def test_candidates_are_chosen_by_the_value_of_what_follows(networks):
    starts = openings(1, seed=3)
    with torch.no_grad():
        won = play(Mover(networks[0], 4), Mover(networks[1], 4), starts)
        for opening, (as_vertical, as_horizontal) in zip(starts, won.tolist(), strict=True):
            assert slow_game(networks[0], networks[1], opening, 4) == as_vertical
            assert (not slow_game(networks[1], networks[0], opening, 4)) == as_horizontal


def test_a_network_against_itself_wins_one_game_of_every_opening(networks):
    won = play(Mover(networks[0]), Mover(networks[0]), openings(6, seed=1))
    assert (won.sum(1) == 1).all()
    facts = match_facts(won)
    assert (facts["score"], facts["split"]) == (0.5, 6)
    assert facts["low"] < 0.5 < facts["high"]  # six openings that ended alike do not say that all will


def test_a_match_is_told_by_openings():
    won = torch.tensor([[True, True], [True, False], [False, True], [False, False], [True, True]])
    facts = match_facts(won)
    assert (facts["games"], facts["both"], facts["split"], facts["neither"]) == (10, 2, 2, 1)
    assert facts["score"] == pytest.approx(0.6)
    assert facts["as_vertical"] == facts["as_horizontal"] == pytest.approx(0.6)
    scores = [1, 0.5, 0.5, 0, 1]
    half = 2.776 * np.std(scores, ddof=1) / np.sqrt(5)
    assert facts["low"] == pytest.approx(0.6 - half)
    assert facts["high"] == 1.0
