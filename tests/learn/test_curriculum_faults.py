"""Curricula whose process is killed, and the packaged tiny one from its first to its last stage."""

from __future__ import annotations

import json
import shutil

import pytest

from faults.killing import Child, Starter, Work, kill_again_and_again
from learn.tiny_curriculum import tiny_file, tiny_settings, worked
from learn.tiny_runs import same_weights
from rookery.learn.curriculum import FILE, Curriculum
from rookery.learn.curriculum_settings import read_curriculum
from rookery.learn.files import LineLog
from rookery.learn.stage_run import MET
from rookery.nets.files import load_network

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("learning")]


def weights(path):
    return dict(load_network(path).network.state_dict())


def judged(folder):
    """Return what was judged in all stages, without times."""
    return {
        path.parent.name: [{**line, "seconds": 0} for line in LineLog(path).read()]
        for path in folder.glob("stages/*/judged.jsonl")
    }


def events(folder):
    """Count what tells that a curriculum goes forward."""
    patterns = ("stages/*/config.yaml", "stages/*/shards/shard_*", "stages/*/outcome.json", "stages/2/checkpoint_*")
    return sum(len(list(folder.glob(pattern))) for pattern in patterns) + sum(map(len, judged(folder).values()))


def check_whole(folder):
    """Look at what a killed process has left: files of the whole, and networks of stages that are done."""
    if (folder / FILE).exists():
        curriculum = Curriculum(folder)
        for number in range(3):
            if done := curriculum.outcome_of(number):
                load_network(curriculum.stage_folder(number) / done["network"])


@pytest.mark.faults
def test_a_curriculum_killed_again_and_again_ends_with_the_same_weights(tmp_path):
    Curriculum.create(tmp_path / "straight", tiny_settings(tmp_path))
    straight = worked(tmp_path / "straight")
    folder = tmp_path / "killed"
    begin = ["train", str(tiny_file(tmp_path)), "--folder", str(folder)]

    def go_on(how: Starter) -> Child:
        return how.rookery(*(["resume", str(folder)] if (folder / FILE).exists() else begin))

    def finished() -> None:
        outcome = worked(folder)
        assert outcome.verdict == straight.verdict == MET
        assert same_weights(weights(outcome.network), weights(straight.network))
        assert judged(folder) == judged(tmp_path / "straight")
        shutil.rmtree(folder)

    work = Work("a curriculum", go_on, lambda: events(folder), 0.5, lambda: check_whole(folder), finished)
    kill_again_and_again(work, seed=7)


@pytest.mark.faults
def test_a_process_killed_while_a_curriculum_is_made_leaves_a_folder_in_which_it_can_be_made(tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / f".part-{FILE}").write_bytes(b"half of it")
    Curriculum.create(tmp_path / "new", tiny_settings(tmp_path))
    assert [path.name for path in (tmp_path / "new").iterdir()] == [FILE]


def test_the_packaged_tiny_curriculum_goes_from_its_first_to_its_last_stage(tmp_path):
    Curriculum.create(tmp_path / "all", read_curriculum("gomoku_curriculum_quick"))
    outcome = worked(tmp_path / "all")
    assert outcome.verdict == MET, outcome.account
    assert load_network(outcome.network).config.rows == 9
    progress = json.loads((tmp_path / "all" / "progress.json").read_text())["stages"]
    assert [stage["status"] for stage in progress] == [MET] * 3
