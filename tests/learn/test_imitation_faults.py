"""Stages of imitation whose process is killed: taken up again, they end with the weights of an undisturbed one."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

import pytest

from learn.tiny_imitation import learned, made
from learn.tiny_runs import same_weights
from rookery.learn.imitation import Imitation
from rookery.nets.files import load_network
from support import ROOT

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.xdist_group("learning")]

CHANGES = {"lessons": {"positions": 6000}, "training": {"passes": 20}}
CODE = """
import sys, torch
torch.set_num_threads(1)
from rookery.learn import imitation
imitation.SNAPSHOT = 0.05
with imitation.Imitation(sys.argv[1]) as stage:
    stage.learn()
"""
KILLS = 6


def files(folder):
    """Count what tells that a stage goes forward."""
    return len(list((folder / "shards").glob("shard_*"))) + Imitation(folder).passes


def test_a_stage_killed_again_and_again_ends_with_the_same_weights(tmp_path):
    straight = made(tmp_path / "straight", **CHANGES)
    assert learned(straight)
    folder, rng = made(tmp_path / "killed", **CHANGES), random.Random(2)
    for kill in range(KILLS):
        process = subprocess.Popen([sys.executable, "-c", CODE, str(folder)], cwd=ROOT)
        before, begun = files(folder), time.monotonic()
        while files(folder) < before + 1 + kill % 3 and process.poll() is None and time.monotonic() - begun < 120:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.1))
        process.kill()
        assert process.wait() == -signal.SIGKILL
    assert 0 < Imitation(folder).passes < 20
    assert learned(folder)
    one, other = (load_network(place / "network.pth").network.state_dict() for place in (folder, straight))
    assert same_weights(dict(one), dict(other))
    assert Imitation(folder).figures.read() == Imitation(straight).figures.read()
    assert not list(folder.rglob(".part-*"))
