"""Runs on disks that fail, and processes that are killed: the last good state is always there, whole."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faults.disks import small_disk
from faults.killing import KILLS, Nursery, python
from learn.support_runs import filled_run, number_of, small_settings, snapshot_of
from rookery.errors import BadInput
from rookery.learn.files import NotWritten, fill, write_bytes
from rookery.learn.runs import Run, find_runs, is_run

pytestmark = pytest.mark.faults

CHANGING = ("open", "write", "fsync", "replace", "rename", "mkdir", "makedirs", "ftruncate", "unlink", "rmdir")


class FailingDisk:
    """Makes one call that changes the disk fail, or that call and all after it; a write fails when half is written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, lasting: bool, code: int):
        self.left, self.lasting, self.code, self.failed = at, lasting, code, False
        for name in CHANGING:
            monkeypatch.setattr(os, name, partial(self.call, name, getattr(os, name)))

    def call(self, name: str, real: Any, *arguments: Any, **keywords: Any) -> Any:
        changes = name != "open" or bool(arguments[1] & (os.O_WRONLY | os.O_RDWR))
        if changes and (self.left == 0 or (self.failed and self.lasting)):
            self.failed, self.left = True, -1
            if name == "write":
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            raise OSError(self.code, os.strerror(self.code))
        self.left -= changes
        return None if name == "fsync" else real(*arguments, **keywords)  # the disk itself is not what is tested


def save_bytes(path: Path) -> None:
    """Save a network through the functions that can be made to fail."""
    fill(path, partial(write_bytes, b"network" * 100))


OPERATIONS: dict[str, Any] = {
    "append_loss": lambda run: run.append_loss(31, 0.5, 0.5),
    "write_progress": lambda run: run.write_progress("training", 31),
    "write_progress, complete": lambda run: run.write_progress("complete", 31),
    "save_checkpoint": lambda run: run.save_checkpoint(31, save_bytes),
    "save_state": lambda run: run.save_state(snapshot_of(31)),
    "rate": lambda run: run.rate(30, 1300, "Novice"),
    "set_best": lambda run: run.set_best(20),
    "go_back_to": lambda run: run.go_back_to(20),
    "training": lambda run: Run.open(run.folder).training().lock.give_back(),
}


def check_whole(folder: Path, numbers: set[int]) -> None:
    """Look at every file of a run: each must be whole, and the snapshot one of those that were saved."""
    run = Run.open(folder)
    found = run.load_state()
    assert found is not None
    assert number_of(found) in numbers
    for entry in run.checkpoints:
        data = (folder / entry["file"]).read_bytes()
        assert data in (b"network %d" % entry["step"], b"network" * 100), entry
    steps = [line["step"] for line in run.losses.read()]
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) >= 20
    assert json.loads((folder / "training_progress.json").read_text())["current_game"] in (30, 31)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS], ids=["full", "read-only"])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_disk_that_fails_at_any_call_leaves_the_last_good_state(tmp_path, name, lasting, code):
    filled_run(tmp_path / "made")
    for at in range(200):
        shutil.copytree(tmp_path / "made", tmp_path / f"run{at}")
        run = Run.open(tmp_path / f"run{at}")
        if name != "training":
            run.training()
        with pytest.MonkeyPatch.context() as patch:
            disk = FailingDisk(patch, at, lasting, code)
            told = None
            try:
                OPERATIONS[name](run)
            except OSError as error:
                told = error
        if not disk.failed:
            break
        if told is not None:  # clearing away may fail without anybody being told: nothing is lost by it
            assert isinstance(told, NotWritten)
            assert str(run.folder) in str(told)
            assert os.strerror(code) in str(told)
        run.lock.give_back()
        check_whole(run.folder, {30, 31})
        with Run.open(run.folder).training() as again:  # there is room again
            if name != "training":
                OPERATIONS[name](again)
        check_whole(run.folder, {31} if name == "save_state" else {30})
    assert 0 < at < 199
    assert told is None


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_a_run_is_created_whole_or_not_at_all(tmp_path, lasting):
    for at in range(200):
        folder = tmp_path / str(at) / "run"
        with pytest.MonkeyPatch.context() as patch:
            disk = FailingDisk(patch, at, lasting, errno.ENOSPC)
            told = None
            try:
                Run.create(folder, small_settings())
            except OSError as error:
                told = error
        if not disk.failed:
            break
        if told is not None:
            assert isinstance(told, NotWritten)
            assert str(folder) in str(told)
        if is_run(folder):
            Run.open(folder)
        else:
            assert not folder.exists()
            Run.create(folder, small_settings())
    assert 0 < at < 199


# ---- real limits ---------------------------------------------------------------------------------

SAVE_LARGE = """
import resource, sys
from learn.support_runs import snapshot_of
from rookery.learn.runs import Run
with Run.open(sys.argv[1]).training() as run:
    run.load_state()
    if int(sys.argv[2]):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
    try:
        run.save_state(snapshot_of(31, size=1_000_000))
    except OSError as error:
        print(error)
"""


def test_a_limit_of_file_sizes_stops_a_snapshot_and_leaves_the_old_one(tmp_path):
    run = filled_run(tmp_path / "run")
    said = python(SAVE_LARGE, str(run.folder), "100000").finish()
    assert f"{run.folder / 'state'} cannot be written: File too large; what was saved before is intact" in said
    check_whole(run.folder, {30})


def test_a_full_disk_stops_a_snapshot_and_leaves_the_old_one(tmp_path):
    with small_disk(tmp_path / "disk", "2m") as disk:
        run = filled_run(disk.folder / "run")
        said = python(SAVE_LARGE, str(run.folder), "0").finish()
        assert "cannot be written: No space left on device" in said
        check_whole(run.folder, {30})


WRITE_READ_ONLY = """
import os, sys
from rookery.errors import BadInput
from rookery.learn.files import NotWritten
from rookery.learn.runs import Run
run = Run.open(sys.argv[1])
run.load_state()
if os.getuid() == 0:
    os.setuid(65534)
try:
    run.training()
except NotWritten as error:
    print(error)
try:
    Run.create(os.path.join(sys.argv[1], "inner"), run.settings)
except NotWritten as error:
    print(error)
"""


def test_a_read_only_folder_is_told_and_can_be_read(tmp_path):
    run = filled_run(tmp_path / "run")
    (run.folder / "lock").unlink()
    os.chmod(run.folder, 0o555)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(folder, os.stat(folder).st_mode | 0o055)
    try:
        said = python(WRITE_READ_ONLY, str(run.folder)).finish()
    finally:
        os.chmod(run.folder, 0o755)
    assert f"{run.folder / 'lock'} cannot be written: Permission denied" in said
    assert f"{run.folder / 'inner'} cannot be written: Permission denied" in said
    check_whole(run.folder, {30})


# ---- killed processes ----------------------------------------------------------------------------

TRAIN = """
import sys
import torch  # the first snapshot must not wait for it
from functools import partial
from learn.support_runs import number_of, snapshot_of
from rookery.learn.files import fill, write_bytes
from rookery.learn.runs import Run
from rookery.learn.tracking import Tracker

def save(step, path):
    fill(path, partial(write_bytes, b"network %d" % step * 1000))

with Run.open(sys.argv[1]).training() as run, Tracker(run) as tracker:
    found = run.load_state()
    step = number_of(found) if found else 0
    run.go_back_to(step)
    print("ready", step, flush=True)
    while True:
        step += 1
        run.append_loss(step, 1 / step, 1.0)
        tracker.log(step, {"loss/value": 1 / step})
        run.write_progress("training", step)
        if step % 5 == 0:
            run.save_checkpoint(step, partial(save, step))
        if step % 3 == 0:
            run.save_state(snapshot_of(step, size=20_000))
"""


def check_killed(folder: Path) -> int:
    """Look at every file of a run whose trainer was killed; return the step of its snapshot."""
    run = Run.open(folder)
    found = run.load_state()
    step = number_of(found) if found else 0
    for log in (run.losses, run.metrics):
        steps = [line["step"] for line in log.read()]
        assert steps == list(range(1, len(steps) + 1)), log.path
        assert len(steps) >= step
    assert len(run.losses.path.read_bytes().splitlines()) - len(run.losses.read()) in (0, 1)
    for entry in run.checkpoints:
        assert (folder / entry["file"]).read_bytes() == b"network %d" % entry["step"] * 1000
    json.loads((folder / "training_progress.json").read_text())
    return step


@pytest.mark.slow
def test_a_killed_process_leaves_a_run_that_can_go_on(tmp_path):
    draw, nursery = random.Random(1), Nursery()
    run = Run.create(tmp_path / "run", small_settings(selfplay__games=1_000_000))
    last = 0
    try:
        for kill in range(KILLS["files of a run"]):
            child = nursery.python(TRAIN, str(run.folder))
            child.until(lambda child=child: child.heard())
            assert child.heard() == f"ready {last}\n"
            seconds = draw.uniform(0.05, 0.4)
            time.sleep(seconds)
            with pytest.raises(BadInput, match="is being trained"):
                run.training()
            print(f"files of a run, seed 1, kill {kill}: {seconds:.3f} s after it was ready")
            assert child.kill() == -signal.SIGKILL
            step = check_killed(run.folder)
            assert step >= last
            last = step
    finally:
        nursery.close()
    assert last > 20
    with run.training():
        run.go_back_to(last)
    assert [entry["step"] for entry in run.checkpoints][-1] == last // 5 * 5
    assert not list(run.folder.glob(".part-*"))
    assert len(os.listdir(run.folder / "state")) <= 2  # a part may be left; the next save removes it


def test_a_process_killed_while_a_run_is_made_leaves_no_half_run(tmp_path):
    code = (
        "import os, sys; from rookery.learn import runs; from learn.support_runs import small_settings;"
        "runs.write_json = lambda *a: os.kill(os.getpid(), 9); runs.Run.create(sys.argv[1], small_settings())"
    )
    assert python(code, str(tmp_path / "run")).end()[0] == -signal.SIGKILL
    assert not (tmp_path / "run").exists()
    assert find_runs([tmp_path]) == []
    assert is_run(Run.create(tmp_path / "run", small_settings()).folder)
