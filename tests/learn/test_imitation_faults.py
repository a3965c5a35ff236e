"""Stages of imitation whose process is killed: taken up again, they end with the weights of an undisturbed one."""

from __future__ import annotations

import os
import shutil

import pytest

from faults.killing import Work, kill_again_and_again
from learn.tiny_imitation import learned, made, settings
from learn.tiny_runs import same_weights
from rookery.learn.imitation import CONFIG, Imitation, make_imitation
from rookery.learn.lessons import load_lessons
from rookery.learn.runs import START
from rookery.learn.snapshots import load_snapshot
from rookery.nets.files import load_network

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("learning")]

CHANGES = {"lessons": {"positions": 6000}, "training": {"passes": 20}}
CODE = """
import sys, torch
torch.set_num_threads(1)
from rookery.learn import imitation
imitation.SNAPSHOT = 0.05
with imitation.Imitation(sys.argv[1]) as stage:
    stage.learn()
"""


def shards(folder):
    """Return the files of the supervisor's games."""
    return {path.name: path.read_bytes() for path in (folder / "shards").glob("shard_*")}


def files(folder):
    """Count what tells that a stage goes forward."""
    return len(list((folder / "shards").glob("shard_*"))) + Imitation(folder).passes


def check_whole(folder):
    """Look at everything that a killed process has left."""
    for name in shards(folder):
        load_lessons(folder / "shards" / name)
    snapshot = load_snapshot(folder / "state")
    assert snapshot is None or len(snapshot.values["sums"]) == 2
    if Imitation(folder).passes:
        load_network(folder / "network.pth")


@pytest.mark.slow
def test_a_stage_killed_again_and_again_ends_with_the_same_games_and_weights(tmp_path):
    straight = made(tmp_path / "straight", **CHANGES)
    assert learned(straight)
    folder = made(tmp_path / "killed", **CHANGES)

    def finished():
        one, other = (load_network(place / "network.pth").network.state_dict() for place in (folder, straight))
        assert same_weights(dict(one), dict(other))
        assert shards(folder) == shards(straight)
        assert Imitation(folder).figures.read() == Imitation(straight).figures.read()
        assert not list(folder.rglob(".part-*"))
        shutil.rmtree(folder)
        made(folder, **CHANGES)

    work = Work(
        "lessons and imitation", lambda how: how.python(CODE, str(folder)), lambda: files(folder), 0.3,
        lambda: check_whole(folder), finished,
    )  # fmt: skip
    kill_again_and_again(work, seed=2)


@pytest.mark.parametrize("left", [f".part-{CONFIG}", f".part-{START}", START])
def test_a_process_killed_while_a_stage_is_made_leaves_a_folder_in_which_it_can_be_made(tmp_path, left):
    (tmp_path / left).write_bytes(b"half of it")
    make_imitation(tmp_path, settings())
    assert CONFIG in os.listdir(tmp_path)
    assert not list(tmp_path.glob(".part-*"))
