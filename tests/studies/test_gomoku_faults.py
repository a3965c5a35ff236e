"""Arms of the Gomoku study that are killed while they are trained."""

from __future__ import annotations

import json
import signal

import pytest

from faults.killing import python
from rookery.learn.files import LineLog

pytestmark = [pytest.mark.slow, pytest.mark.faults]

SCRIPT = """
import sys
from dataclasses import replace
from pathlib import Path
from rookery.studies.gomoku_arms import ArmRun
from studies.gomoku_made_up import tiny
preset = replace(tiny(), arm_seconds=4.0, marks=(0.5, 1.0))
arm = next(arm for arm in preset.arms if arm.name == "curriculum")
print(ArmRun(Path(sys.argv[1]), "curriculum-s1", preset, arm, 1, "cpu").train(lambda: False))
"""


def test_an_arm_that_is_killed_goes_on_from_what_it_kept_and_no_longer_than_its_time(tmp_path):
    folder = tmp_path / "arms" / "curriculum-s1"
    for file in ("run.json", "newest.pth", "marks/00002.pth"):
        child = python(SCRIPT, str(tmp_path))
        child.until((folder / file).exists)
        assert child.kill() == -signal.SIGKILL
    assert python(SCRIPT, str(tmp_path)).finish().strip() == "True"
    assert sorted(path.name for path in (folder / "marks").iterdir()) == ["00002.pth", "00004.pth"]
    newest = json.loads((folder / "run.json").read_bytes())["newest"]
    assert newest["leg"] == 4
    assert 4.0 <= newest["seconds"] < 8.0  # a move of all games too much, on a busy machine
    seconds = [line["seconds"] for line in LineLog(folder / "curve.jsonl").read()]
    assert seconds == sorted(set(seconds))
    assert not list(folder.rglob("*.part"))
