"""Runs that are killed, interrupted, or whose disk fails: resumed, they end with the weights of an undisturbed run."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from faults.disks import largest_file, small_disk
from faults.killing import Child, Starter, Work, kill_again_and_again, rookery
from learn.tiny_runs import after, losses, same_weights, tiny_file, tiny_settings, trained, weights
from rookery.learn.runs import Run
from rookery.nets.files import load_network

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.xdist_group("learning")]

GAMES = 200
CHANGES = (f"selfplay.games={GAMES}", "checkpoints.every=2", "checkpoints.keep.last=2")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    Run.create(folder / "run", tiny_settings(folder, *CHANGES))
    trained(folder / "run")
    return folder / "run"


def new_run(folder: Path) -> list[str]:
    """Return the command that begins a run in a folder."""
    changes = [part for change in CHANGES for part in ("--set", change)]
    return ["train", str(tiny_file(folder)), *changes, "--folder", str(folder / "run")]


def played(run: Path) -> int:
    """Return how many games the progress file tells of; 0 if there is none."""
    try:
        return int(json.loads((run / "training_progress.json").read_text())["current_game"])
    except FileNotFoundError:
        return 0


def check_whole(run: Path) -> None:
    """Look at everything that a killed process has left."""
    if not run.exists():
        return
    opened = Run.open(run)
    snapshot = opened.load_state()
    assert snapshot is None or snapshot.values["games"] <= GAMES
    for entry in opened.checkpoints:
        assert load_network(run / entry["file"]).about.step == entry["step"]


def check_same(run: Path, undisturbed: Path) -> None:
    """Compare a run that was disturbed with one that was not."""
    assert same_weights(weights(run, GAMES), weights(undisturbed, GAMES))
    assert losses(run) == losses(undisturbed)
    games = Run.open(run).games.read()
    assert games == Run.open(undisturbed).games.read()
    assert len(games) > GAMES // 4
    steps = [line["step"] for line in Run.open(run).metrics.read()]
    assert steps == sorted(set(steps))
    assert {path.name for path in run.glob("checkpoint_*")} == {entry["file"] for entry in Run.open(run).checkpoints}


def test_a_run_killed_again_and_again_ends_with_the_same_weights(tmp_path, undisturbed):
    run = tmp_path / "run"

    def finished() -> None:
        check_same(run, undisturbed)
        shutil.rmtree(run)

    def begin(how: Starter) -> Child:
        return how.rookery(*(["resume", str(run)] if run.exists() else new_run(tmp_path)))

    work = Work(
        "self-play and training", begin, lambda: played(run), 0.5, lambda: check_whole(run), finished
    )  # while it plays, learns or saves
    kill_again_and_again(work, seed=4)


def test_an_interrupt_stops_between_two_moves_and_loses_nothing(tmp_path, undisturbed):
    run = tmp_path / "run"
    child = rookery(*new_run(tmp_path))
    child.until(lambda: played(run) >= 20)
    os.kill(child.pid, signal.SIGINT)
    status, said = child.end(60)
    assert status == 130, said
    assert "goes on" in said
    assert "Traceback" not in said
    stopped_at = played(run)
    assert f"stopped after {stopped_at} games" in said
    snapshot = Run.open(run).load_state()
    assert snapshot is not None
    assert snapshot.values["games"] == stopped_at < GAMES
    rookery("resume", str(run)).finish()
    check_same(run, undisturbed)


# ---- disks ---------------------------------------------------------------------------------------


def check_stopped(child: Child, complaint: str) -> None:
    """Look at how a process ended that could not write."""
    status, said = child.end()
    assert status == 1, said
    assert complaint in said
    assert "what was saved before is intact" in said
    assert "Traceback" not in said


def begun(folder: Path) -> int:
    """Make a run that was stopped after some rounds; return its games."""
    Run.create(folder / "run", tiny_settings(folder, *CHANGES))
    whole, training = trained(folder / "run", after(60))
    assert not whole
    return training.games


def test_files_that_may_not_grow_stop_a_run_with_its_last_state_intact(tmp_path, undisturbed):
    games = begun(tmp_path)
    child = rookery("resume", str(tmp_path / "run"), preexec_fn=largest_file(2000))  # a checkpoint has more
    check_stopped(child, "cannot be written: File too large")
    snapshot = Run.open(tmp_path / "run").load_state()
    assert snapshot is not None
    assert snapshot.values["games"] == games
    assert trained(tmp_path / "run")[0]
    check_same(tmp_path / "run", undisturbed)


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_a_disk_that_cannot_be_written_stops_a_run_with_its_last_state_intact(tmp_path, undisturbed, state):
    with small_disk(tmp_path / "disk", "4m") as disk:
        games = begun(disk.folder)
        if state == "full":
            disk.fill_up(leaving=12_000)
        else:
            disk.remount("ro")
        reason = {"full": "No space left on device", "read-only": "Read-only file system"}[state]
        check_stopped(rookery("resume", str(disk.folder / "run")), f"cannot be written: {reason}")
        disk.make_room()
        snapshot = Run.open(disk.folder / "run").load_state()
        assert snapshot is not None
        assert snapshot.values["games"] >= games
        assert trained(disk.folder / "run")[0]
        check_same(disk.folder / "run", undisturbed)
