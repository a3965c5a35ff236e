"""The loop of a run: what it does in which order, and that a run taken up again is the same run."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
import torch

from learn.tiny_runs import after, losses, same_weights, tiny_settings, trained, weights
from rookery.arena.player import Turn
from rookery.arena.players import make_player
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn import loop
from rookery.learn.loop import Training
from rookery.learn.runs import Run
from rookery.learn.settings import write_settings
from rookery.learn.threads import candidates, fastest_threads
from rookery.nets.files import load_network

pytestmark = pytest.mark.xdist_group("learning")

GAMES = 40


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("straight")
    Run.create(folder / "run", tiny_settings(folder))
    whole, training = trained(folder / "run")
    assert whole
    return training


class Killed(Exception):
    """Stands for the end of a process."""


def killed_after(rounds):
    """Return what ends training after so many rounds without a word."""
    wish = after(rounds)

    def stop():
        if wish():
            raise Killed
        return False

    return stop


# ---- going on ------------------------------------------------------------------------------------


def check_same(run, training, straight):
    """Compare a run that was disturbed with the one that was not."""
    assert same_weights(weights(run, GAMES), weights(straight.run.folder, GAMES))
    assert same_weights(training.trainer.network.state_dict(), straight.trainer.network.state_dict())
    for one, other in zip(
        training.trainer.optimizer.state.values(), straight.trainer.optimizer.state.values(), strict=True
    ):
        assert same_weights(one, other)
    assert training.trainer.steps == straight.trainer.steps > 20
    for name, rows in training.replay.rows._asdict().items():
        assert torch.equal(rows, getattr(straight.replay.rows, name)), name
    assert losses(run) == losses(straight.run.folder)
    assert Run.open(run).games.read() == straight.run.games.read()
    steps = [line["step"] for line in Run.open(run).metrics.read()]
    assert steps == sorted(set(steps))
    assert steps[-1] == GAMES
    assert Run.open(run).metrics.read()[-1]["train/steps"] == straight.trainer.steps


@pytest.mark.parametrize("rounds", [pytest.param(1, marks=pytest.mark.slow), 9, 23])
def test_a_run_stopped_and_resumed_after_any_number_of_rounds_is_the_same_run(tmp_path, straight, rounds):
    Run.create(tmp_path / "run", tiny_settings(tmp_path))
    stops = 0
    while not (result := trained(tmp_path / "run", after(rounds)))[0]:
        stops += 1
    assert stops > 50 // rounds
    check_same(tmp_path / "run", result[1], straight)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_killed_between_rounds_and_resumed_is_the_same_run(tmp_path, straight, seed):
    rng = np.random.default_rng(seed)
    Run.create(tmp_path / "run", tiny_settings(tmp_path))
    kills, training = 0, None
    while training is None and kills < 100:
        try:
            _, training = trained(tmp_path / "run", killed_after(int(rng.integers(1, 40))))
        except Killed:
            kills += 1
    assert 2 < kills < 100
    check_same(tmp_path / "run", training, straight)


def test_the_loss_history_does_not_depend_on_when_it_is_written(tmp_path, straight, monkeypatch):
    monkeypatch.setattr(loop, "REPORT", 0.0)
    Run.create(tmp_path / "run", tiny_settings(tmp_path))
    trained(tmp_path / "run")
    assert losses(tmp_path / "run") == losses(straight.run.folder)
    steps = [line["step"] for line in losses(tmp_path / "run")]
    assert steps == sorted(set(steps))
    metrics = Run.open(tmp_path / "run").metrics.read()
    assert len(metrics) > len(straight.run.metrics.read())


def test_another_seed_is_another_run(tmp_path, straight):
    Run.create(tmp_path / "run", tiny_settings(tmp_path, "seed=4"))
    trained(tmp_path / "run")
    assert not same_weights(weights(tmp_path / "run", GAMES), weights(straight.run.folder, GAMES))


def test_a_complete_run_is_not_trained_again(tmp_path, straight):
    before = straight.run.manifest["checkpoints"]
    whole, training = trained(straight.run.folder)
    assert whole
    assert training.players.play.rounds == straight.players.play.rounds
    assert [entry["file"] for entry in straight.run.manifest["checkpoints"]] == [entry["file"] for entry in before]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("network.width=9", "does not belong to its settings.*RuntimeError: Error"),
        ("training.replay=151", "does not belong to its settings"),
        ("gate.kind=share", "does not belong to its settings.*KeyError: 'gate'"),
        ("selfplay.at_once=9", "8 games were in play, not 9: selfplay.at_once cannot change"),
    ],
)
def test_settings_that_were_changed_under_a_run_are_refused_and_nothing_is_lost(tmp_path, change, complaint):
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path))
    assert not trained(run.folder, after(45))[0]
    before = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file() and path.name != "lock"}
    write_settings(tiny_settings(tmp_path, change), run.folder / "config.yaml")
    with pytest.raises(BadInput, match=complaint):
        trained(run.folder)
    write_settings(run.settings, run.folder / "config.yaml")
    assert before == {path: path.read_bytes() for path in before}
    assert trained(run.folder)[0]


# ---- steps ---------------------------------------------------------------------------------------


def calls_of(tmp_path, *changes):
    """Train a run and return its training calls as (first step, steps, games, rows that were there)."""
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path, *changes))
    with run.training():
        training, calls = Training(run), []
        real = training.trainer.train

        def train(first, count):
            calls.append(
                (first, count, training.games, int(training.replay.rows.taught[: training.replay.filled].sum()))
            )
            return real(first, count)

        training.trainer.train = train
        training.train()
    return training, calls


def test_steps_are_made_as_games_finish(tmp_path):
    training, calls = calls_of(tmp_path)
    due = 0
    for first, count, games, _ in calls:
        due = due or first
        assert (first, first + count) == (due, int(games * 0.75))
        due = first + count
    assert due == training.settings.planned_steps == 30


def test_steps_due_before_there_is_enough_to_learn_from_are_never_made(tmp_path):
    training, calls = calls_of(tmp_path, "training.fresh=80")
    first = calls[0][0]
    assert first > 2
    assert 80 <= calls[0][3] < 150
    assert training.trainer.steps == sum(count for _, count, _, _ in calls) == 30 - first
    assert [call[0] + call[1] for call in calls[:-1]] == [call[0] for call in calls[1:]]


def test_new_weights_play_from_the_next_round_on(tmp_path):
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path))
    with run.training():
        training = Training(run)
        observations = np.random.default_rng(1).random((8, 84), np.float32)
        before = training.players.evaluator(observations)[1]
        while not training.trainer.steps:
            training.turn()
        training.trainer.player.eval()
        with torch.no_grad():
            expected = training.trainer.player(torch.from_numpy(observations))[1].numpy()
        np.testing.assert_allclose(training.players.evaluator(observations)[1], expected, atol=1e-5)
        assert (before != expected).any()


def test_networks_play_in_the_numbers_of_the_settings(tmp_path):
    settings = tiny_settings(tmp_path, "precision=bf16", "gate.kind=share", "gate.games=2")
    with Run.create(tmp_path / "run", settings).training() as run:
        training = Training(run)
        assert training.players.evaluator.precision == "bf16"
        assert training.gate.player(training.player, "champion").evaluator.precision == "bf16"
    assert tiny_settings(tmp_path, "precision=32").precision == "32"
    with pytest.raises(BadInput, match=r"precision.*auto.*32.*bf16"):
        tiny_settings(tmp_path, "precision=fp8")


# ---- checkpoints ---------------------------------------------------------------------------------


def test_the_last_checkpoint_plays(straight):
    folder, game = straight.run.folder, load(straight.settings.game)
    assert same_weights(weights(folder, GAMES), straight.trainer.player.state_dict())
    assert not same_weights(weights(folder, GAMES), straight.trainer.network.state_dict())
    about = load_network(straight.run.checkpoint_path(GAMES)).about
    assert (about.game, about.observation, about.step) == (game.spec, "planes", GAMES)
    for place in (folder, straight.run.checkpoint_path(GAMES)):
        player, start = make_player(f"net:{place},sims=4", game), game.start()
        player.prepare(start)
        player.new_game(start, 0)
        assert player.choose(Turn(start, start, (), 1)).action in start.legal()


def test_checkpoints_come_with_the_games(tmp_path, monkeypatch):
    played, saved = [], []
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path))
    with run.training():
        training = Training(run)
        turn, checkpoint = training.turn, training.checkpoint
        monkeypatch.setattr(training, "turn", lambda: (turn(), played.append(training.games)))
        monkeypatch.setattr(training, "checkpoint", lambda: (checkpoint(), saved.append(training.games)))
        training.train()
    expected, last = [], 0
    for games in sorted(set(played)):
        if games // 6 > last // 6 or games == GAMES:
            expected.append(games)
            last = games
    assert saved == expected
    assert len(saved) > 4
    assert {path.name for path in run.folder.glob("checkpoint_*")} == {entry["file"] for entry in run.checkpoints}
    assert [entry["step"] for entry in run.checkpoints] == [saved[0], *saved[-5:]]


def test_checkpoints_are_apart_in_time_but_the_last_is_always_saved(tmp_path):
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path, "checkpoints.least_seconds=100000"))
    trained(run.folder)
    steps = [entry["step"] for entry in run.checkpoints]
    assert len(steps) == 2
    assert 6 <= steps[0] < 14
    assert steps[1] == GAMES


@pytest.mark.parametrize(
    ("games", "ago", "took", "expected"),
    [
        (6, 0, 0, ["checkpoint", "state"]),
        (6, 99, 10, ["checkpoint"]),
        (6, 101, 10, ["checkpoint", "state"]),
        (5, 299, 0, []),
        (5, 301, 0, ["state"]),
        (5, 301, 100, ["state"]),
    ],
)
def test_the_state_is_saved_with_checkpoints_as_long_as_that_is_quick_and_every_five_minutes(
    tmp_path, monkeypatch, games, ago, took, expected
):
    run, done = Run.create(tmp_path / "run", tiny_settings(tmp_path)), []
    with run.training():
        training = Training(run)
        monkeypatch.setattr(training, "report", lambda tracker: None)
        monkeypatch.setattr(training, "checkpoint", lambda: done.append("checkpoint"))
        monkeypatch.setattr(training, "save_state", lambda: done.append("state"))
        training.games, training.saved_at, training.saving = games, time.monotonic() - ago, took
        training.maybe_save(None)
    assert done == expected


def test_a_stop_right_behind_a_saved_state_does_not_save_it_again(tmp_path, monkeypatch):
    run, saved = Run.create(tmp_path / "run", tiny_settings(tmp_path)), []
    with run.training():
        training = Training(run)
        save = training.save_state
        monkeypatch.setattr(training, "save_state", lambda: (save(), saved.append(training.games)))
        assert not training.train(lambda: training.checkpointed > 0)
        assert saved == [training.checkpointed]
        assert not training.train(lambda: training.games > saved[0])
        assert saved == [saved[0], training.games]
        assert saved[0] < saved[1]


def test_the_progress_file_says_how_far_a_run_is(tmp_path, straight):
    told = json.loads((straight.run.folder / "training_progress.json").read_text())
    assert (told["status"], told["current_game"], told["percent"]) == ("complete", GAMES, 100)
    Run.create(tmp_path / "run", tiny_settings(tmp_path))
    _, training = trained(tmp_path / "run", after(40))
    told = json.loads((tmp_path / "run" / "training_progress.json").read_text())
    assert (told["status"], told["current_game"]) == ("training", training.games)
    assert 0 < training.games < GAMES


# ---- devices -------------------------------------------------------------------------------------


def test_with_an_apple_card_the_network_judges_there_and_rows_stay_in_plain_memory(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(loop, "chosen_device", lambda name: torch.device("mps"))
    monkeypatch.setattr(
        loop, "NetworkEvaluator", lambda *given, device, precision, batch: asked.append((device, batch))
    )
    training = Training.__new__(Training)
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path))
    with run.training():
        training.__init__(run)
    assert asked == [("mps", 8)]
    assert training.replay.device.type == "cpu"


def test_the_number_of_threads_is_measured_once_and_kept(tmp_path):
    settings = tiny_settings(tmp_path, "threads=0")
    run = loop.new_run(tmp_path / "run", settings)
    assert run.manifest["threads"] in candidates()
    before = torch.get_num_threads()
    with run.training():
        Training(run)
        assert torch.get_num_threads() == run.manifest["threads"]
    torch.set_num_threads(before)


@pytest.mark.parametrize(("passes", "best"), [(0.0, 2), (0.5, 2), (40.0, 1)])
def test_playing_counts_for_the_number_of_threads_as_much_as_it_is_done(straight, monkeypatch, passes, best):
    def faked(work):  # two threads learn in half the time, and play in twice the time
        work()
        playing, threads = torch.is_inference_mode_enabled(), torch.get_num_threads()
        return 0.1 * threads if playing else 1.0 / threads

    monkeypatch.setattr("rookery.learn.threads.candidates", lambda: [1, 2])
    monkeypatch.setattr("rookery.learn.threads.median_seconds", faked)
    assert fastest_threads(straight.trainer.network.config, 16, 8, passes) == best


def test_measuring_leaves_the_number_of_threads_as_it_was(straight):
    before = torch.get_num_threads()
    assert fastest_threads(straight.trainer.network.config, 16) in candidates()
    assert torch.get_num_threads() == before
