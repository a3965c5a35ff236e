"""Many games of Domineering at once: openings, look-ahead with a network, and who is better."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from rookery import BadInput, load
from rookery.arena.evaluator import steady
from rookery.games.rng import random_below
from rookery.nets.configs import PerceptronConfig
from rookery.nets.residual import build
from rookery.search.domineering_boards import after_openings, guided_moves, random_openings, turn_seeds
from rookery.search.domineering_guided import Guidance
from rookery.studies.domineering_batches import squares_of_moves
from rookery.studies.domineering_files import check_games
from rookery.studies.domineering_judge import LOST, BoardJudge, LookAhead, planes_of, unpacked, words_of
from rookery.studies.domineering_play import AlphaBeta, Pairs, compare, derived_seed, play_games, sign_test
from rookery.studies.domineering_teaching import new_tower
from search import slow_domineering

pytestmark = pytest.mark.xdist_group("domineering")
GAME = load("domineering")
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread():
    with steady(CPU):
        yield


@pytest.fixture(scope="module")
def judge() -> BoardJudge:
    """A tower of random weights."""
    return BoardJudge(new_tower(4, 1, seed=3).eval())


def positions_after(moves: np.ndarray) -> list:
    """The positions after lists of moves, played by the rules."""
    found = []
    for row in moves:
        position = GAME.start()
        for action in row:
            assert action in position.legal()
            position.play(int(action))
        found.append(position)
    return found


def late_positions(count: int, plies: int, seed: int = 0) -> list:
    """Positions after many random plies; none is over."""
    found, number = [], 0
    while len(found) < count:
        position = GAME.start()
        for ply in range(plies):
            legal = [] if position.over else position.legal()
            if len(legal):
                position.play(int(legal[random_below(len(legal), seed, number, ply)]))
        number += 1
        found += [] if position.over else [position]
    return found


def states_of(positions) -> np.ndarray:
    return np.concatenate([position.states for position in positions])


# ---- openings ------------------------------------------------------------------------------------


def test_openings_are_random_legal_moves_and_games_share_nothing():
    moves = random_openings(40, 16, seed=7)
    for position, state in zip(positions_after(moves), after_openings(moves), strict=True):
        assert position.states[0] == state
    assert (random_openings(10, 16, seed=7, first=20) == moves[20:30]).all()
    assert len({tuple(row) for row in moves}) == 40
    shifted = (moves[:-2, 2:] == moves[2:, :-2]).mean()  # as where games number + ply is the seed
    assert shifted < 0.05
    assert not (random_openings(40, 16, seed=8) == moves).all()


def test_impossible_openings_are_refused():
    with pytest.raises(BadInput, match=r"plies of an opening must be a whole number in 0\.\.64"):
        random_openings(1, 65, seed=0)


def test_seeds_belong_to_a_game_and_a_ply():
    numbers = np.arange(50)
    seeds = np.stack([turn_seeds(3, numbers, ply) for ply in range(20)])
    assert len(np.unique(seeds)) == 1000
    assert (turn_seeds(3, numbers[10:], 4) == seeds[4, 10:]).all()
    assert derived_seed(1, 0) != derived_seed(1, 1) != derived_seed(1, 1, 1)


# ---- the judge -----------------------------------------------------------------------------------


@pytest.mark.parametrize("plies", [0, 16, 61, 90])
def test_planes_are_those_of_the_game(plies):
    positions = late_positions(6, plies)
    states = states_of(positions)
    boards = unpacked(torch.from_numpy(words_of(states)))
    planes = planes_of(boards, torch.from_numpy(states["domineering_mover"] == 0))
    expected = np.stack([position.observe("planes") for position in positions])
    assert (planes.numpy() == expected.reshape(6, 4, 16, 16)).all()


def plain_scores(judge_network, position) -> dict[int, float]:
    """What the network says of the position after each move, before its tanh; LOST where the other cannot move."""
    found = {}
    for action in position.legal():
        after = position.copy()
        after.play(int(action))
        if after.over:
            found[int(action)] = LOST
        else:
            rows = torch.from_numpy(after.observe("planes").reshape(1, -1))
            with torch.no_grad():
                found[int(action)] = float(judge_network.scored(rows)[1][0])
    return found


@pytest.mark.parametrize(("plies", "rows"), [(16, 64), (95, 7), (100, 256)])
def test_a_look_ahead_is_a_plain_loop_over_the_rules(plies, rows):
    network = new_tower(4, 1, seed=5).eval()
    small = BoardJudge(network, rows=rows)
    positions = late_positions(4, plies)
    states = states_of(positions)
    covered = unpacked(torch.from_numpy(words_of(states)))
    chosen, strayed = LookAhead(small).choose(states, np.zeros(4, np.int64), plies)
    for n, position in enumerate(positions):
        expected = plain_scores(network, position)
        moves = torch.tensor(list(expected))
        scores = small.successors(covered, torch.full_like(moves, n), moves)
        assert scores.tolist() == pytest.approx(list(expected.values()), abs=1e-4)
        assert expected[int(chosen[n])] == pytest.approx(min(expected.values()), abs=1e-4)
    assert not strayed.any()


def test_a_win_that_is_certain_is_taken(judge):
    won = []
    for position in late_positions(200, 106, seed=2):
        actions = [int(action) for action in position.legal()]
        after = [position.copy() for _ in actions]
        for each, action in zip(after, actions, strict=True):
            each.play(action)
        wins = {action for action, each in zip(actions, after, strict=True) if each.over}
        if 0 < len(wins) < len(actions):
            won.append((position, wins))
    assert len(won) >= 3
    chosen, _ = LookAhead(judge).choose(states_of([position for position, _ in won]), np.zeros(len(won), np.int64), 0)
    assert all(int(action) in wins for action, (_, wins) in zip(chosen, won, strict=True))


def test_leaves_are_judged_as_the_network_judges_observations(judge):
    positions = late_positions(5, 40) + late_positions(4, 41)
    logits, values = BoardJudge(new_tower(4, 1, seed=3).eval(), rows=4).leaves(states_of(positions))
    rows = torch.from_numpy(np.stack([position.observe("planes").reshape(-1) for position in positions]))
    with torch.no_grad():
        expected = new_tower(4, 1, seed=3).eval()(rows)
    np.testing.assert_allclose(logits, expected[0].numpy(), atol=1e-5)
    np.testing.assert_allclose(values, expected[1].numpy(), atol=1e-5)


def test_other_networks_are_refused():
    with pytest.raises(BadInput, match="asks a tower of 4 planes and 480 actions"):
        BoardJudge(build(PerceptronConfig(inputs=1024, actions=480)))


def test_squares_of_moves_are_those_of_the_rules():
    for action in range(480):
        cells = GAME.cells_of(GAME.start().state, action)
        assert [16 * row + col for _, row, col in cells] == squares_of_moves()[action].tolist()


# ---- games ---------------------------------------------------------------------------------------


def test_games_are_whole_and_each_is_the_same_in_any_company(judge, tmp_path):
    openings = random_openings(6, 60, seed=4)
    seats = np.zeros((6, 2), np.int64)
    records = play_games(openings, (LookAhead(judge),), seats, seed=1)
    check_games(tmp_path, records)
    assert (records.moves[:, :60] == openings).all()
    assert records.explored[:, :60].all()
    assert not records.explored[:, 60:].any()
    alone = play_games(openings[3:5], (LookAhead(judge),), seats[3:5], seed=1, first=3)
    assert (alone.moves == records.moves[3:5]).all()


def test_alpha_beta_plays_the_moves_of_its_definition():
    positions = late_positions(6, 70, seed=1) + late_positions(6, 83, seed=1)
    seeds = np.arange(12) + 5
    found = guided_moves(states_of(positions), seeds, Guidance(), threads=2)
    for n, position in enumerate(positions):
        covered = {(r, c) for r, row in enumerate(GAME.covered_squares(position.state)) for c, x in enumerate(row) if x}
        moves = slow_domineering.all_moves()
        for square in covered:
            moves = slow_domineering.after(moves, frozenset([square]))
        count = len(position.legal())
        key = slow_domineering.key_of(int(seeds[n]), 0)
        domino = slow_domineering.chosen(moves, position.mover, slow_domineering.depth_at(count), key, 0)
        assert int(found[n]) == domino[0]


# ---- who is better -------------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (5, 1), (1, 5), (4, 4), (9, 2)])
def test_the_sign_test_is_the_share_of_coins_that_fall_as_unevenly(wins, losses):
    count = wins + losses
    falls = [sum(coins) for coins in itertools.product((0, 1), repeat=count)]
    extreme = [heads for heads in falls if abs(2 * heads - count) >= abs(wins - losses)]
    assert sign_test(wins, losses) == pytest.approx(len(extreme) / len(falls))


def test_scores_count_pairs():
    pairs = Pairs(both=6, split=3, neither=1)
    assert pairs.score.mean == pytest.approx((6 + 1.5) / 10)
    assert pairs.score.low < 0.75 < pairs.score.high
    assert pairs.facts()["p"] == pytest.approx(2 * (1 + 7) / 2**7)


class Counted:
    """A player that wins: it plays alpha-beta and says how often it was asked."""

    def __init__(self):
        self.inner, self.asked = AlphaBeta(), 0

    def choose(self, states, seeds, ply):
        self.asked += len(states)
        return self.inner.choose(states, seeds, ply)


class First:
    """A player that takes the first legal move."""

    def choose(self, states, seeds, ply):
        moves = []
        for n in range(len(states)):
            position = GAME.start()
            position.states[:] = states[n : n + 1]
            moves.append(int(position.legal()[0]))
        return np.array(moves), np.zeros(len(states), np.bool_)


def test_a_comparison_swaps_colours_and_finds_the_better_player():
    better = Counted()
    pairs, records = compare(better, First(), openings=2, plies=10, seed=3)
    assert (pairs.both, pairs.openings) == (2, 2)
    assert (records.moves[::2, :10] == records.moves[1::2, :10]).all()
    assert records.winners[::2].all()
    assert not records.winners[1::2].any()
    worse, _ = compare(First(), better, openings=2, plies=10, seed=3)
    assert worse.neither == 2


def test_equals_split_every_opening(judge):
    pairs, _ = compare(LookAhead(judge), LookAhead(judge), openings=3, plies=60, seed=1)
    assert (pairs.both, pairs.split, pairs.neither, pairs.chance) == (0, 3, 0, 1.0)
