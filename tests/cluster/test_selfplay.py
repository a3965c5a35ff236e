"""Self-play on a cluster: chunks can be played again, runs are complete whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster.conftest import ROOM, a_worker, kill_node, on_nodes
from learn.tiny_runs import after, tiny_file, tiny_settings, trained
from nets.samples import on_one_thread
from rookery import load
from rookery.cluster import selfplay
from rookery.cluster.nodes import joined
from rookery.cluster.selfplay import SLOT_GAMES, Chunk, MakesPlayers, Played, SelfplayWorker, Slots
from rookery.learn.loop import Training, new_run
from rookery.learn.runs import Run
from rookery.learn.settings import network_values
from rookery.nets.configs import read_config
from rookery.nets.residual import build


class Store:
    """An object store that holds what is put into it, as itself."""

    def get(self, reference: Any) -> Any:
        return reference


@pytest.fixture(autouse=True)
def one_thread():
    with on_one_thread():
        yield


def weights_of(settings: Any, seed: int) -> dict[str, np.ndarray]:
    config = read_config(network_values(settings.network, load(settings.game)))
    return {name: tensor.numpy() for name, tensor in build(config, seed).state_dict().items()}


def same(one: Played, other: Played) -> bool:
    """Tell whether two chunks are the same: finished games, their rows, and the games in play.

    The plies of games in play have outcomes only when they end; until then anything may stand there.
    """
    states = [(one.state, other.state), *zip(one.rows, other.rows, strict=True)]
    alike = all(
        np.array_equal(a[name], b[name]) for a, b in states for name in a if name != "plies" or "roots" not in a
    )
    return alike and one.finished == other.finished


def test_a_chunk_is_the_same_whoever_plays_it_again(tmp_path, monkeypatch):
    monkeypatch.setattr(selfplay, "imported_ray", Store)
    settings = tiny_settings(tmp_path)
    old, new = weights_of(settings, 1), weights_of(settings, 2)
    worker = SelfplayWorker(settings, 3)
    first = worker(Chunk(1, 0, old, 1, None))
    second = worker(Chunk(1, 1, new, 2, first.state))  # it still holds these games
    assert first.finished.games >= 2
    assert first.finished.kept or second.finished.kept
    other = SelfplayWorker(settings, 3)
    other(Chunk(0, 0, new, 2, None))
    again = other(Chunk(1, 1, new, 2, first.state))
    assert same(again, second)
    assert same(other(Chunk(1, 2, old, 1, again.state)), worker(Chunk(1, 2, old, 1, second.state)))
    assert same(other(Chunk(1, 0, old, 1, None)), first)
    assert not same(other(Chunk(1, 1, old, 1, first.state)), second)


def test_slots_play_games_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(selfplay, "imported_ray", Store)
    settings = tiny_settings(tmp_path)
    weights, worker = weights_of(settings, 1), SelfplayWorker(settings, 1)
    numbers = [{game.number for game in worker(Chunk(slot, 0, weights, 1, None)).finished.kept} for slot in range(2)]
    assert max(numbers[0]) < SLOT_GAMES <= min(numbers[1])


def test_slots_come_back_as_they_were_and_the_first_is_that_of_a_run_in_process():
    slots = Slots({0: {"roots": np.arange(3)}, 2: {"roots": np.arange(4), "count": np.array(1)}})
    state = slots.state()
    assert set(state) == {"roots", "2/roots", "2/count"}
    again = Slots()
    again.load(state)
    assert again.states.keys() == slots.states.keys()
    assert (again.states[2]["roots"] == np.arange(4)).all()


# ---- on nodes ------------------------------------------------------------------------------------


def complete(folder: Path, games: int) -> None:
    """Check that a run has all its games and steps, and that its state can be taken up."""
    run = Run.open(folder)
    lines = run.losses.read()
    assert lines[-1]["step"] == games
    assert [line["step"] for line in lines] == sorted({line["step"] for line in lines})
    assert run.checkpoint_path(games).exists()
    _, training = trained(folder)
    assert training.games == games
    assert training.trainer.steps > 0.5 * run.settings.planned_steps


@on_nodes
def test_a_run_is_complete_though_a_worker_and_a_node_are_killed(nodes, tmp_path):
    node = nodes.add_node(num_cpus=1, object_store_memory=ROOM)
    nodes.wait_for_nodes()
    new_run(tmp_path / "run", tiny_settings(tmp_path, "selfplay.games=1500"))
    said, to_kill = [], ["worker", "node"]

    def strike(figures: dict[str, Any]) -> None:
        if figures["games"] > 100 and "worker" in to_kill:
            to_kill.remove("worker")
            os.kill(a_worker(nodes), signal.SIGKILL)
        if figures["games"] > 400 and "node" in to_kill:
            to_kill.remove("node")
            kill_node(nodes, node)

    run = Run.open(tmp_path / "run")
    with run.training(), joined(nodes.address) as cluster, MakesPlayers(cluster, 3, said.append) as players:
        assert Training(run, strike, players).train()
    assert not to_kill
    assert any("lost" in each for each in said)
    complete(tmp_path / "run", 1500)


@on_nodes
def test_a_run_goes_on_from_process_to_cluster_and_back(nodes, tmp_path):
    new_run(tmp_path / "run", tiny_settings(tmp_path, "selfplay.games=300"))
    done, before = trained(tmp_path / "run", after(20))
    assert not done
    run = Run.open(tmp_path / "run")
    with run.training(), joined(nodes.address) as cluster, MakesPlayers(cluster, 2, lambda what: None) as players:
        training = Training(run, players=players)
        assert training.games == before.games
        assert (training.players.play.state()["counters"] == before.players.play.state()["counters"]).all()
        assert not training.train(lambda: training.games >= 150)
    assert 150 <= training.games < 300
    assert trained(tmp_path / "run")[0]
    complete(tmp_path / "run", 300)


@on_nodes
def test_a_learner_that_is_killed_goes_on(nodes, tmp_path):
    folder, games = tmp_path / "run", 1500
    tiny_file(tmp_path)
    train = ["train", str(tmp_path / "tiny.yaml"), "--folder", str(folder), "--set", f"selfplay.games={games}"]
    learner = subprocess.Popen([sys.executable, "-m", "rookery", *train, "--ray", nodes.address])
    limit = time.monotonic() + 240
    while time.monotonic() < limit and learner.poll() is None:
        if len(list(folder.glob("checkpoint_*.pth"))) > 2:
            break
        time.sleep(0.1)
    assert learner.poll() is None, "it ended before it could be killed"
    learner.kill()
    learner.wait()
    reached = max(int(path.stem.split("_")[1]) for path in folder.glob("checkpoint_*.pth"))
    assert 0 < reached < games
    subprocess.run(
        [sys.executable, "-m", "rookery", "resume", str(folder), "--ray", nodes.address], check=True, timeout=300
    )
    complete(folder, games)
