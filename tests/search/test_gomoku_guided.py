"""Guided games of Gomoku: legal games in which the baseline player says what it would do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rookery import load
from rookery.errors import BadInput
from rookery.search.analysis import Limits
from rookery.search.gomoku_baseline import search, value_of
from rookery.search.gomoku_guided import Guidance, guided_games

SIZE = 9
GAME = load("gomoku", size=SIZE)


def positions(games, number):
    """Yield (ply, position) of a game, before each of its moves."""
    position = GAME.start()
    for ply in range(int(games.lengths[number])):
        yield ply, position.copy()
        assert games.moves[number, ply] in position.legal()
        position.play(int(games.moves[number, ply]))
    yield int(games.lengths[number]), position


def value(analysis_value):
    return pytest.approx(analysis_value, abs=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_noted_is_what_the_player_would_do(depth):
    games = guided_games(6, SIZE, seed=depth, guidance=Guidance(depth=depth, opening=3, explore=30))
    for number in range(6):
        for ply, position in positions(games, number):
            if ply < 3 or position.over:
                continue
            wanted = search(position, Limits(depth=depth))
            assert games.chosen[number, ply] == wanted.action
            assert value_of(int(games.scores[number, ply])) == value(wanted.value)


def test_games_end_as_the_rules_say():
    games = guided_games(30, SIZE, seed=7, guidance=Guidance(opening=4))
    assert set(games.results) == {0, 1, 2}
    for number in range(30):
        *_, (length, position) = positions(games, number)
        assert position.over
        assert {1.0: 1, -1.0: 2, 0.0: 0}[position.payoff(0)] == games.results[number]
        assert (games.moves[number, length:] == -1).all()
        assert (games.chosen[number, length:] == -1).all()
        assert (games.chosen[number, :4] == -1).all()


def test_all_moves_have_their_exact_scores():
    games = guided_games(2, SIZE, seed=3, guidance=Guidance(depth=3, opening=4, explore=20, all_moves=True))
    plain = guided_games(2, SIZE, seed=3, guidance=Guidance(depth=3, opening=4, explore=20))
    assert np.array_equal(games.moves, plain.moves)
    assert np.array_equal(games.scores, plain.scores)
    assert plain.worths.shape == (2, 0, 20)
    for number in range(2):
        for ply, position in positions(games, number):
            if ply < 4 or position.over or ply % 5:
                continue
            for move, worth in zip(games.considered[number, ply], games.worths[number, ply], strict=True):
                if move >= 0:
                    assert value_of(int(worth)) == value(value_after(position, int(move)))


def value_after(position, move):
    """Return what a move is worth by a search of the position behind it, one ply less deep."""
    after = position.copy()
    after.play(move)
    if after.over:
        return after.payoff(position.mover)
    return -search(after, Limits(depth=2)).value


def test_without_an_opening_the_first_move_is_the_centre():
    games = guided_games(2, SIZE, guidance=Guidance(opening=0, explore=0))
    assert games.chosen[:, 0].tolist() == [SIZE * SIZE // 2] * 2
    assert np.array_equal(games.moves[0], games.moves[1])


def test_threads_and_slices_change_nothing():
    one, two = (guided_games(11, SIZE, seed=5, threads=threads) for threads in (1, 2))
    late = guided_games(5, SIZE, seed=5, first=6)
    for name in ("moves", "lengths", "results", "chosen", "scores"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
        assert np.array_equal(getattr(one, name)[6:], getattr(late, name))


def test_exploring_draws_from_the_moves_considered():
    games = guided_games(40, SIZE, seed=1, guidance=Guidance(opening=2, explore=50))
    behind = games.chosen >= 0
    differ = (games.moves != games.chosen)[behind].mean()
    assert 0.35 < differ < 0.5  # a drawn move may be the chosen one
    openings = {tuple(moves) for moves in games.moves[:, :2]}
    assert len(openings) > 30


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Guidance(depth=0), "depth must be"),
        (lambda: Guidance(opening=9), "opening"),
        (lambda: Guidance(explore=101), "explore"),
        (lambda: guided_games(1, 4), "size must be"),
        (lambda: guided_games(1, seed=-1), "seed must be"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(BadInput, match=message):
        wrong()


def test_scores_are_from_the_movers_side():
    games = guided_games(20, SIZE, seed=2)
    for number in range(20):
        last = int(games.lengths[number]) - 1
        if games.results[number] and games.moves[number, last] == games.chosen[number, last]:
            assert games.scores[number, last] == 1_000_000
            assert math.isclose(value_of(int(games.scores[number, last])), 1.0)
