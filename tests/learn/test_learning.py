"""A network learns: after a short training it beats itself before."""

from __future__ import annotations

from functools import partial

import pytest

from learn.tiny_runs import tiny_settings
from nets.samples import on_one_thread
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.players import make_player
from rookery.learn.loop import Training
from rookery.learn.runs import Run
from rookery.nets.files import About, save_network

pytestmark = pytest.mark.xdist_group("learning")

CHANGES = (
    "seed=1", "network={kind: residual, observation: planes, width: 64, blocks: 1, value_hidden: 32}",
    "selfplay={games: 1000, at_once: 64, simulations: 32, temperature_plies: 10}",
    "training={batch: 256, replay: 8000, steps_per_game: 1, learning_rate: 3e-3, root_value_share: 0.25,"
    " mask_policy: true, symmetries: true}", "checkpoints.every=100000",
)  # fmt: skip


@pytest.mark.slow
def test_a_network_after_training_beats_itself_before(tmp_path):
    run, before = Run.create(tmp_path / "run", tiny_settings(tmp_path, *CHANGES)), tmp_path / "before.pth"
    with on_one_thread(), run.training():
        training = Training(run)
        about = About(game=run.game.spec, rules_version=run.game.version, observation=training.kind, step=0)
        save_network(before, training.trainer.player, about)
        assert training.train()
    first, second = (
        partial(make_player, f"net:{network},sims=32", run.game) for network in (run.checkpoint_path(1000), before)
    )
    match = play_match(run.game, first, second, MatchSettings(games=200, seed=1))
    low, _ = match.score.interval
    assert low > 0.5, match.score
