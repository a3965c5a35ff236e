"""Runs that are killed, interrupted, or whose disk fails: resumed, they end with the weights of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learn.tiny_runs import after, losses, same_weights, tiny_file, tiny_settings, trained, weights
from rookery.learn.runs import Run
from support import ROOT

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.xdist_group("learning")]

GAMES, KILLS = 200, 20
CHANGES = (f"selfplay.games={GAMES}", "checkpoints.every=2", "checkpoints.keep.last=2")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    Run.create(folder / "run", tiny_settings(folder, *CHANGES))
    trained(folder / "run")
    return folder / "run"


def rookery(*arguments: str, **more) -> subprocess.Popen[str]:
    """Begin a command in a process of its own."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-m", "rookery", *arguments], stdout=pipe, stderr=pipe, text=True, cwd=ROOT, **more
    )


def resume(run: Path) -> None:
    """Train a run to its end by command."""
    process = rookery("resume", str(run))
    told = process.communicate(timeout=300)[1]
    assert process.returncode == 0, told


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


def wait_until(games: int, run: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a run has played so many games, or its process has ended."""
    begin = time.monotonic()
    while played(run) < games and process.poll() is None:
        assert time.monotonic() - begin < 300
        time.sleep(0.005)


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


def test_a_run_killed_twenty_times_ends_with_the_same_weights(tmp_path, undisturbed):
    run, rng = tmp_path / "run", random.Random(4)
    for kill in range(KILLS):
        before = played(run)
        process = rookery(*(["resume", str(run)] if run.exists() else new_run(tmp_path)))
        if kill % 5:  # while it plays, learns or saves; else at any moment from its start on
            wait_until(before + rng.randint(1, GAMES // KILLS - 2), run, process)
            time.sleep(rng.uniform(0, 0.03))
        else:
            time.sleep(rng.uniform(0, 4))
        process.kill()
        told = process.communicate()[1]
        assert process.returncode == -signal.SIGKILL, told
    assert 50 < played(run) < GAMES
    resume(run)
    check_same(run, undisturbed)


def test_an_interrupt_stops_between_two_moves_and_loses_nothing(tmp_path, undisturbed):
    run = tmp_path / "run"
    process = rookery(*new_run(tmp_path))
    wait_until(20, run, process)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130, told
    assert "goes on" in told
    assert "Traceback" not in told
    stopped_at = played(run)
    assert f"stopped after {stopped_at} games" in told
    snapshot = Run.open(run).load_state()
    assert snapshot is not None
    assert snapshot.values["games"] == stopped_at < GAMES
    resume(run)
    check_same(run, undisturbed)


# ---- disks ---------------------------------------------------------------------------------------


def check_stopped(process: subprocess.Popen[str], complaint: str) -> None:
    """Look at how a process ended that could not write."""
    told = process.communicate(timeout=300)[1]
    assert process.returncode == 1, told
    assert complaint in told
    assert "what was saved before is intact" in told
    assert "Traceback" not in told


def begun(folder: Path) -> int:
    """Make a run that was stopped after some rounds; return its games."""
    Run.create(folder / "run", tiny_settings(folder, *CHANGES))
    whole, training = trained(folder / "run", after(60))
    assert not whole
    return training.games


def test_files_that_may_not_grow_stop_a_run_with_its_last_state_intact(tmp_path, undisturbed):
    resource = pytest.importorskip("resource")
    games = begun(tmp_path)
    limit = 2000  # bytes; a checkpoint has more

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = rookery("resume", str(tmp_path / "run"), preexec_fn=limited)
    check_stopped(process, "cannot be written: File too large")
    snapshot = Run.open(tmp_path / "run").load_state()
    assert snapshot is not None
    assert snapshot.values["games"] == games
    assert trained(tmp_path / "run")[0]
    check_same(tmp_path / "run", undisturbed)


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_a_disk_that_cannot_be_written_stops_a_run_with_its_last_state_intact(tmp_path, undisturbed, state):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        games = begun(disk)
        if state == "full":
            room = shutil.disk_usage(disk).free - 12_000
            (disk / "filler").write_bytes(os.urandom(room))
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        reason = {"full": "No space left on device", "read-only": "Read-only file system"}[state]
        check_stopped(rookery("resume", str(disk / "run")), f"cannot be written: {reason}")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        snapshot = Run.open(disk / "run").load_state()
        assert snapshot is not None
        assert snapshot.values["games"] >= games
        (disk / "filler").unlink(missing_ok=True)
        assert trained(disk / "run")[0]
        check_same(disk / "run", undisturbed)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
