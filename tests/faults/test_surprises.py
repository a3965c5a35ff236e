"""Clocks that jump, folders that vanish, and two processes at one thing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from functools import partial

import pytest

from faults.test_disks import MAKERS, files, stopped
from learn.tiny_runs import losses, same_weights, tiny_file, tiny_settings, trained, weights
from rookery.learn.runs import Run

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.xdist_group("learning")]

JUMPING = """
import datetime, random, sys, time
seconds, parts, utc, here, day = time.time, time.time_ns, time.gmtime, time.localtime, datetime.datetime
jump = lambda draw=random.Random(7): draw.choice([-1_000_000_000, -86400, -1, 0, 3600, 1_000_000_000])
time.time = lambda: seconds() + jump()
time.time_ns = lambda: parts() + jump() * 1_000_000_000
time.gmtime = lambda moment=None: utc(time.time() if moment is None else moment)
time.localtime = lambda moment=None: here(time.time() if moment is None else moment)
class Jumping(day):
    now = classmethod(lambda kind, zone=None: day.fromtimestamp(time.time(), zone))
import rookery.cli
for module in [module for name, module in sys.modules.items() if name.startswith("rookery")]:
    if getattr(module, "datetime", None) is day:
        module.datetime = Jumping
datetime.datetime = Jumping
sys.argv[0] = "rookery"
rookery.cli.main()
"""
"""a command whose clock shows another day each time it is looked at"""


def test_a_run_under_a_clock_that_jumps_is_the_run_it_would_have_been(tmp_path, nursery):
    Run.create(tmp_path / "straight", tiny_settings(tmp_path))
    trained(tmp_path / "straight")
    begun = time.monotonic()
    nursery.python(JUMPING, "train", str(tiny_file(tmp_path)), "--folder", str(tmp_path / "jumping")).finish()
    spent = time.monotonic() - begun
    assert same_weights(weights(tmp_path / "jumping", 40), weights(tmp_path / "straight", 40))
    assert losses(tmp_path / "jumping") == losses(tmp_path / "straight")
    progress = json.loads((tmp_path / "jumping" / "training_progress.json").read_text())
    assert 0 <= progress["elapsed_seconds"] < spent
    assert progress["games_per_second"] >= 0
    said = nursery.python(JUMPING, "runs", str(tmp_path)).finish()
    assert "jumping" in said


def test_a_match_with_clocks_does_not_look_at_the_clock_of_the_day(tmp_path, nursery):
    options = ["--game", "domineering:rows=4,cols=4", "--games", "20", "--tc", "60+1", "--no-store", "--json"]
    said = nursery.python(JUMPING, "match", "random", "random", *options).finish()
    found = json.loads(said[said.index("{") : said.rindex("}") + 1])
    assert found["games"] == 20
    assert not any("time" in reason for reason in found["reasons"])
    assert all(0 <= seconds < 60 for seconds in found["seconds_a_move"])


def test_data_made_under_a_clock_that_jumps_are_those_that_would_have_been_made(tmp_path, nursery):
    maker = MAKERS["domineering"]
    for name, begin in (("straight", nursery.rookery), ("jumping", partial(nursery.python, JUMPING))):
        maker.begin(tmp_path / name, begin).finish()
    assert files(tmp_path / "jumping") == files(tmp_path / "straight")


def test_a_folder_that_vanishes_ends_its_run_with_one_line_and_does_not_come_back(tmp_path, nursery):
    run = tmp_path / "run"
    child = nursery.rookery("train", str(tiny_file(tmp_path)), "--set", "selfplay.games=100000", "--folder", str(run))
    child.until((run / "training_progress.json").exists)
    os.rename(run, tmp_path / "elsewhere")
    stopped(child, str(run), "cannot be written", "its folder was removed or renamed while it was used")
    assert not run.exists()
    assert Run.open(tmp_path / "elsewhere").losses.read() is not None
    shutil.rmtree(tmp_path / "elsewhere")


def test_a_second_process_at_a_run_is_told_who_has_it_and_disturbs_nobody(tmp_path, nursery):
    run = tmp_path / "run"
    first = nursery.rookery("train", str(tiny_file(tmp_path)), "--set", "selfplay.games=100000", "--folder", str(run))
    first.until((run / "training_progress.json").exists)
    stopped(nursery.rookery("resume", str(run)), f"is being trained by process {first.pid}", "wait, or end it first")
    assert not first.ended
    first.kill()


def test_a_second_process_at_data_is_told_who_has_them(tmp_path, nursery):
    maker = MAKERS["domineering"]
    first = maker.begin(tmp_path / "made", nursery.rookery)
    first.until((tmp_path / "made" / "phase1_parts").exists)
    os.kill(first.pid, signal.SIGSTOP)  # or it might be done before the second has begun
    stopped(maker.begin(tmp_path / "made", nursery.rookery), f"is being filled with games by process {first.pid}")
    os.kill(first.pid, signal.SIGCONT)
    first.finish()
