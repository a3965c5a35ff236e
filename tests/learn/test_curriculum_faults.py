"""Curricula whose process is killed, and the packaged tiny one from its first to its last stage."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time

import pytest

from learn.tiny_curriculum import tiny_file, tiny_settings, worked
from learn.tiny_runs import same_weights
from rookery.learn.curriculum import MET, Curriculum
from rookery.learn.curriculum_settings import read_curriculum
from rookery.learn.files import LineLog
from rookery.nets.files import load_network
from support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("learning")]

KILLS = 6


def weights(path):
    return dict(load_network(path).network.state_dict())


def judged(folder):
    """Return what was judged in all stages, without times."""
    return {
        path.parent.name: [{**line, "seconds": 0} for line in LineLog(path).read()]
        for path in folder.glob("stages/*/judged.jsonl")
    }


def rookery(*arguments):
    """Begin a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "rookery", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def events(folder):
    """Count what tells that a curriculum goes forward."""
    patterns = ("stages/*/config.yaml", "stages/*/shards/shard_*", "stages/*/outcome.json", "stages/2/checkpoint_*")
    return sum(len(list(folder.glob(pattern))) for pattern in patterns) + sum(map(len, judged(folder).values()))


@pytest.mark.faults
def test_a_curriculum_killed_again_and_again_ends_with_the_same_weights(tmp_path):
    Curriculum.create(tmp_path / "straight", tiny_settings(tmp_path))
    straight = worked(tmp_path / "straight")
    folder, rng = tmp_path / "killed", random.Random(7)
    begin = ["train", str(tiny_file(tmp_path)), "--folder", str(folder)]
    for kill in range(KILLS):
        before, begun = events(folder), time.monotonic()
        process = rookery(*(["resume", str(folder)] if (folder / "curriculum.yaml").exists() else begin))
        while events(folder) < before + 1 + kill % 3 and process.poll() is None and time.monotonic() - begun < 120:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.2))
        process.kill()
        assert process.wait() == -signal.SIGKILL
    outcome = worked(folder)
    assert outcome.verdict == straight.verdict == MET
    assert same_weights(weights(outcome.network), weights(straight.network))
    assert judged(folder) == judged(tmp_path / "straight")


def test_the_packaged_tiny_curriculum_goes_from_its_first_to_its_last_stage(tmp_path):
    Curriculum.create(tmp_path / "all", read_curriculum("gomoku_curriculum_quick"))
    outcome = worked(tmp_path / "all")
    assert outcome.verdict == MET, outcome.account
    assert load_network(outcome.network).config.rows == 9
    progress = json.loads((tmp_path / "all" / "progress.json").read_text())["stages"]
    assert [stage["status"] for stage in progress] == [MET] * 3
