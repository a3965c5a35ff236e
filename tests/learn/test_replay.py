"""Batches of the replay: what a row becomes, in every symmetry, and how rows are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from learn.samples import filled_replay
from rookery import load
from rookery.learn.replay import Replay, draw
from support import CONNECT_FOUR

SPECS = [CONNECT_FOUR, "pylos"]


def kind_of(game):
    """Return the game's last kind of observation, which is not always its first."""
    return list(game.observations)[-1]


@pytest.mark.parametrize("spec", SPECS)
def test_a_batch_holds_shares_of_the_weights_on_legal_actions(spec):
    game = load(spec)
    replay, lines = filled_replay(game, kind_of(game), 80, 80)
    rows = torch.tensor([3, 70, 3, 0, 41])
    batch = replay.batch(rows, torch.zeros(5, dtype=torch.int64))
    for i, row in enumerate(rows.tolist()):
        position = game.start()
        for move in lines[row]:
            position.play(move)
        legal, policy = position.legal(), np.zeros(game.actions)
        weights = replay.rows.weights[row, : len(legal)].double().numpy()
        policy[legal] = weights / weights.sum()
        np.testing.assert_allclose(batch.policy[i], policy, atol=1e-6)
        assert torch.nonzero(batch.legal[i]).flatten().tolist() == legal.tolist()
        assert (batch.observations[i].numpy() == position.observe(replay.kind).ravel()).all()
        assert batch.outcomes[i] == replay.rows.outcomes[row]
        assert batch.values[i] == replay.rows.values[row]
    np.testing.assert_allclose(batch.policy.sum(1), 1, atol=1e-6)


@pytest.mark.parametrize("spec", SPECS)
def test_a_symmetry_of_a_row_is_the_row_of_the_transformed_position(spec):
    game = load(spec)
    tables = game.symmetries()
    replay, lines = filled_replay(game, kind_of(game), 120, 120, symmetries=True)
    assert replay.turns == len(tables) > 1
    rows = torch.arange(0, 120, 7).repeat(replay.turns)
    turns = torch.arange(replay.turns).repeat_interleave(len(rows) // replay.turns)
    batch, plain = replay.batch(rows, turns), replay.batch(rows, torch.zeros_like(rows))
    for i, (row, turn) in enumerate(zip(rows.tolist(), turns.tolist(), strict=True)):
        position = game.start()
        for move in lines[row]:
            position.play(int(tables.actions[turn, move]))
        assert (batch.observations[i].numpy() == position.observe(replay.kind).ravel()).all()
        assert torch.nonzero(batch.legal[i]).flatten().tolist() == position.legal().tolist()
        for action in range(game.actions):
            assert batch.policy[i, tables.actions[turn, action]] == plain.policy[i, action]
    assert (batch.policy != plain.policy).any()


def test_without_symmetries_there_is_one_turn():
    assert Replay(load("pylos"), "rich", 8).turns == 1


def test_only_taught_rows_are_offered():
    replay, _ = filled_replay(load(CONNECT_FOUR), "planes", 100, 60, taught=0.5)
    taught = replay.taught_rows().tolist()
    assert taught == [row for row in range(60) if replay.rows.taught[row]]
    assert 0 < len(taught) < 60


@pytest.mark.parametrize("rows", [25, 40, 90])
def test_a_replay_taken_up_again_holds_the_same_rows(rows):
    game = load("pylos")
    replay, _ = filled_replay(game, "basic", 40, rows, taught=0.5)
    other, _ = filled_replay(game, "basic", 40, 13)
    other.load(replay.state())
    assert (other.written, other.filled) == (rows, min(rows, 40))
    for name, array in replay.rows._asdict().items():
        assert (array[: replay.filled] == getattr(other.rows, name)[: replay.filled]).all(), name


# ---- drawing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "batch"), [(10, 10), (1000, 999), (1_000_000, 256)])
def test_no_row_is_drawn_twice_in_a_step(rows, batch):
    for step in range(20):
        chosen, turns = draw(1, step, rows, batch, 8)
        assert len(set(chosen.tolist())) == len(chosen) == len(turns) == batch
        assert 0 <= chosen.min() <= chosen.max() < rows
        assert set(turns.tolist()) <= set(range(8))


def test_what_is_drawn_follows_from_seed_and_step_alone():
    def drawn(seed, step):
        return [part.tolist() for part in draw(seed, step, 500, 20, 8)]

    first = drawn(-1, 3)
    drawn(4, 4)
    assert drawn(-1, 3) == first
    others = [drawn(seed, step) for seed in (-1, 0, 1, 2**63 - 1) for step in (3, 4, 5)]
    assert len({str(other) for other in others}) == len(others)


@pytest.mark.parametrize("rows", [60, 20_000])
def test_rows_and_symmetries_are_drawn_evenly(rows):
    steps, batch, cells = 2000, 20, 60
    counts, turned = np.zeros(cells), np.zeros((cells, 8))
    for step in range(steps):
        chosen, turns = draw(11, step, rows, batch, 8)
        np.add.at(counts, chosen * cells // rows, 1)
        np.add.at(turned, (chosen * cells // rows, turns), 1)
    for found in (counts, turned.ravel()):
        expected, freedom = steps * batch / found.size, found.size - 1
        square = ((found - expected) ** 2 / expected).sum()
        assert square < freedom + 4 * math.sqrt(2 * freedom)  # once in some thousand seeds it would not be
        assert found.std() > 0
