"""Wins by fours that a card finds are those a processor finds."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import load
from rookery.search.gomoku_fours import LEAF_NODES, SeesFours
from search.test_gomoku_vcf import hard_position

pytestmark = pytest.mark.gpu

ROWS = 3001  # no multiple of the positions to a block


def fights(game, rows, seed):
    """Make observations: stones at random, on a part of the board, few or many of them."""
    rng, size = np.random.default_rng(seed), game.size
    found = np.zeros((rows, 3, size, size), np.float32)
    for planes in found:
        part = int(rng.integers(min(size, 7), size + 1))
        row, col = rng.integers(0, size - part + 1, 2)
        drawn = rng.random((part, part))
        stones = rng.uniform(0.05, 0.6)
        planes[0, row : row + part, col : col + part] = drawn < stones / 2
        planes[1, row : row + part, col : col + part] = (drawn >= stones / 2) & (drawn < stones)
    return found.reshape(rows, -1)


def given(game, rows, seed):
    """Make answers of a network."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, game.actions)).astype(np.float32), rng.uniform(-1, 1, rows).astype(np.float32)


def seen(game, nodes, observations, answers):
    """Return what a processor makes of the answers, and the moves it finds."""

    class Fixed:
        kind = "planes"

        def __call__(self, observations):
            return answers

    seeing = SeesFours(Fixed(), game, nodes)
    return *seeing(observations), seeing.moves(observations)


@pytest.mark.parametrize("nodes", [3, LEAF_NODES])
@pytest.mark.parametrize("size", [5, 9, 15, 20])
def test_moves_and_answers_are_those_of_a_processor(size, nodes):
    from rookery.search.cuda import cuda
    from rookery.search.gomoku_fours_cuda import FoursOnCard

    game = load(f"gomoku:size={size}")
    fours, won = FoursOnCard(game, ROWS, nodes), 0
    for seed in range(3):  # the memory is that of the positions before
        observations, answers = fights(game, ROWS, seed), given(game, ROWS, seed)
        logits, values = (cuda.to_device(answer) for answer in answers)
        fours.find(cuda.to_device(observations))
        fours.apply(logits, values)
        expected_logits, expected_values, moves = seen(game, nodes, observations, answers)
        np.testing.assert_array_equal(fours.moves.copy_to_host(), moves)
        np.testing.assert_array_equal(logits.copy_to_host(), expected_logits)
        np.testing.assert_array_equal(values.copy_to_host(), expected_values)
        won += np.count_nonzero(moves >= 0)
    assert 400 < won < 3 * ROWS


@pytest.mark.parametrize("rows", [1, 7, 64])
def test_long_searches_end_alike_and_others_are_not_made(rows):
    from rookery.search.cuda import cuda
    from rookery.search.gomoku_fours_cuda import FoursOnCard

    position = hard_position(5)
    observation = position.observe("planes").ravel()
    observations, asked = np.stack([observation] * rows), np.arange(rows) % 2 == 0
    fours = FoursOnCard(position.game, rows)
    fours.asked.copy_to_device(asked.astype(np.uint8))
    fours.find(cuda.to_device(observations))
    assert (fours.moves.copy_to_host() == -1).all()
    nodes, free = fours.place.copy_to_host()[:, 1], SeesFours(Judge(), position.game)
    free.moves(observations)
    assert (nodes[asked] == free.place[1]).all()
    assert free.place[1] == LEAF_NODES


class Judge:
    kind = "planes"


def test_rows_that_are_not_asked_for_keep_their_answers():
    from rookery.search.cuda import cuda
    from rookery.search.gomoku_fours_cuda import FoursOnCard

    game = load("gomoku:size=9")
    observations, answers = fights(game, ROWS, 5), given(game, ROWS, 5)
    asked = np.random.default_rng(0).random(ROWS) < 0.5
    fours, (logits, values) = FoursOnCard(game, ROWS), (cuda.to_device(answer) for answer in answers)
    fours.asked.copy_to_device(asked.astype(np.uint8))
    fours.find(cuda.to_device(observations))
    fours.apply(logits, values)
    expected_logits, expected_values, moves = seen(game, LEAF_NODES, observations, answers)
    np.testing.assert_array_equal(fours.moves.copy_to_host(), np.where(asked, moves, -1))
    np.testing.assert_array_equal(logits.copy_to_host(), np.where(asked[:, None], expected_logits, answers[0]))
    np.testing.assert_array_equal(values.copy_to_host(), np.where(asked, expected_values, answers[1]))


def test_trees_tell_which_rows_they_ask_for():
    from rookery.search.cuda import cuda
    from rookery.search.trees import TreeSettings
    from rookery.search.trees_cuda import TreesOnCard

    game = load("gomoku:size=9")
    trees = TreesOnCard(game, TreeSettings(simulations=12, leaves=3), 5)
    trees.begin([game.start() for _ in range(5)])
    observations = cuda.device_array((15, int(np.prod(game.observations["planes"]))), np.float32)
    rows, told = cuda.to_device(np.full(15, 7, np.uint8)), []
    for _ in range(8):
        trees.step(0, observations)
        trees.asked(rows)
        told.append(rows.copy_to_host())
        assert (told[-1] == trees.fetch().asked()).all()
    assert told[0].sum() == 5  # the roots, each alone
    assert max(each.sum() for each in told) > 5
    assert told[-1].sum() == 0  # all simulations are made
