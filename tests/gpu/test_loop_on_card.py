"""Runs on a card that are stopped and resumed: nothing is lost, though sums may differ in their last bits."""

from __future__ import annotations

import numpy as np
import pytest

from learn.tiny_runs import after, losses, same_weights, tiny_settings, trained
from rookery.learn.loop import Training
from rookery.learn.runs import Run

pytestmark = pytest.mark.gpu

torch = pytest.importorskip("torch")

DEVICE, GAMES, PIECES = "cuda", 300, 4


def check_taken_up(again: Training, before: Training) -> None:
    """Compare what a new process holds with what the one before it held when it was stopped."""
    assert again.games == before.games > 0
    assert again.device.type == before.device.type == DEVICE
    assert again.trainer.steps == before.trainer.steps
    for one, other in ((again.trainer.network, before.trainer.network), (again.player, before.player)):
        assert same_weights(one.state_dict(), other.state_dict())
    for one, other in zip(again.trainer.optimizer.state.values(), before.trainer.optimizer.state.values(), strict=True):
        assert same_weights(one, other)
    for one, other in ((again.replay, before.replay), (again.players.play, before.players.play)):
        expected = other.state()
        for name, found in one.state().items():
            assert np.array_equal(found, expected[name]), name


def test_a_run_made_in_pieces_holds_after_each_what_it_held_before(tmp_path):
    settings = tiny_settings(tmp_path, f"device={DEVICE}", f"selfplay.games={GAMES}", "selfplay.at_once=32")
    folder = Run.create(tmp_path / "run", settings).folder
    for _ in range(PIECES):
        whole, before = trained(folder, after(25))
        assert not whole
        assert before.trainer.steps > 0
        with Run.open(folder).training() as run:
            check_taken_up(Training(run), before)
    whole, last = trained(folder)
    assert whole
    assert last.games == GAMES
    steps = [line["step"] for line in losses(folder)]
    assert steps == sorted(set(steps))
    assert steps[-1] == GAMES
    kept = [line["number"] for line in Run.open(folder).games.read()]
    assert len(kept) == len(set(kept)) > GAMES // 4
