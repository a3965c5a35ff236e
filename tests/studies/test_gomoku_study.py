"""The Gomoku study at work: arms that are stopped and go on, and all of it by one command."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from rookery.arena.networks import misfit
from rookery.cli import app
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.nets.files import load_network
from rookery.studies import gomoku_arms, gomoku_plan
from rookery.studies.gomoku import Study
from rookery.studies.gomoku_arms import ArmRun, Clock
from rookery.studies.stages import stage_network
from studies.gomoku_made_up import lines, saved, tiny

GENERATION = {"step": 10, "seconds": 1.0, "beats": {}}


def asked(folder, *words):
    """Give the command; return what it says."""
    result = CliRunner().invoke(
        app, ["study", "gomoku", "--preset", "quick", "--folder", str(folder), "--device", "cpu", *words],
        catch_exceptions=False,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return result.output


# ---- pieces --------------------------------------------------------------------------------------


def test_a_clock_counts_neither_the_first_span_nor_pauses(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(gomoku_arms.time, "monotonic", lambda: now[0])

    def after(seconds):
        now[0] += seconds
        return clock.look()

    clock = Clock(5.0)
    assert [after(0), after(30), after(2), after(3)] == [5.0, 5.0, 7.0, 10.0]
    clock.pause()
    assert [after(50), after(4)] == [10.0, 14.0]


def test_the_network_of_a_stage_is_what_it_hands_on_else_its_newest(tmp_path):
    assert stage_network(tmp_path) is None
    (tmp_path / "checkpoint_00010.pth").touch()
    lines(tmp_path / "judged.jsonl", [GENERATION | {"file": "checkpoint_00010.pth"}])
    assert stage_network(tmp_path).name == "checkpoint_00010.pth"
    (tmp_path / "outcome.json").write_text(json.dumps({"network": "checkpoint_00005.pth", "account": "done"}))
    assert stage_network(tmp_path) is None  # it stayed on another machine
    (tmp_path / "checkpoint_00005.pth").touch()
    assert stage_network(tmp_path).name == "checkpoint_00005.pth"


def test_networks_of_stages_that_are_done_are_judged_while_the_next_is_trained_and_none_is_replaced(tmp_path):
    study, stages = Study(tmp_path, tiny()), tmp_path / "main" / "stages"
    for name, done in (("1a", True), ("1b", True), ("2", False)):
        (stages / name).mkdir(parents=True)
        (stages / name / "net.pth").write_bytes(f"of {name}".encode())
        lines(stages / name / "judged.jsonl", [GENERATION | {"file": "net.pth"}])
        if done:
            (stages / name / "outcome.json").write_text(json.dumps({"network": "net.pth", "account": "done"}))
    study.network("1b").parent.mkdir()
    study.network("1b").write_bytes(b"somebody's own")
    study.hand_out_finished()
    found = {path.name: path.read_bytes() for path in (tmp_path / "networks").iterdir()}
    assert found == {"1a.pth": b"of 1a", "1b.pth": b"somebody's own"}


def test_a_network_of_another_board_is_refused_as_that_of_a_stage(tmp_path):
    path = saved(tmp_path / "net.pth", size=9)
    Study(tmp_path, tiny()).check_network(path, "gomoku:size=9")
    with pytest.raises(BadInput, match=r"net\.pth' cannot play gomoku:size=15: it reads 243 numbers"):
        Study(tmp_path, tiny()).check_network(path, "gomoku:size=15")


def test_an_arm_of_another_plan_is_refused(tmp_path):
    preset = tiny()
    ArmRun(tmp_path, "scratch-s1", preset, preset.arms[1], 1, "cpu").facts()
    longer = replace(preset, arm_seconds=3.0)
    with pytest.raises(BadInput, match=r"was begun with seconds 2\.0, not 3\.0"):
        ArmRun(tmp_path, "scratch-s1", longer, preset.arms[1], 1, "cpu").facts()


def test_work_that_a_kill_behind_the_last_mark_left_is_removed(tmp_path):
    preset = tiny()
    run = ArmRun(tmp_path, "scratch-s1", preset, preset.arms[1], 1, "cpu")
    (run.folder / "marks").mkdir(parents=True)
    for seconds in run.marks:
        saved(run.mark_file(seconds))
    (run.folder / "work" / "0-4").mkdir(parents=True)
    assert run.train(lambda: True)
    assert sorted(path.name for path in run.folder.iterdir()) == ["marks"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--only", "rate"), "'rate' is none of lessons, train, milestones, compare, report"),
        (("--runs", "v5", "--only", "train"), "'v5' is none of main, curriculum-s1"),
        (("--runs", "m9", "--only", "milestones"), "'m9' is none of main"),
        (("--runs", "m1", "--only", "lessons"), "--runs m1: lessons has nothing of that name"),
        (("--folder", "/proc/nowhere"), "the folder '/proc/nowhere' cannot be made: "),
        (("--set", "stages.9.selfplay.games=1"), "stages.9"),
        (("--preset", "tiny"), "--preset"),
        (("--arm-seconds", "0"), "--arm-seconds"),
        (
            ("--only", "train,report", "--ray", "local"),
            "a cluster makes lessons, which are not among the stages: train",
        ),
        (("--workers", "2"), "--workers 2: without --ray there are none"),
        (("--only", "report", "--runs", "m1"), "--runs m1: report has nothing of that name"),
        (("--only", "train,compare,report", "--threads", "3"), "--threads 3: it is for players that think by time"),
    ],
)
def test_the_command_refuses_what_cannot_be(tmp_path, words, complaint):
    result = CliRunner().invoke(app, ["study", "gomoku", "--preset", "quick", "--folder", str(tmp_path), *words])
    assert isinstance(result.exception, BadInput)
    assert complaint in str(result.exception)


# ---- arms ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("memory", [True, False])
def test_an_arm_that_was_stopped_goes_on_with_the_time_that_is_left(tmp_path, memory):
    preset = replace(tiny(), arm_seconds=3.0)
    run = ArmRun(tmp_path, "curriculum-s1", preset, preset.arms[0], 1, "cpu")
    for _ in range(30):
        end = time.monotonic() + 1.5
        if run.train(lambda end=end: time.monotonic() >= end):
            break
        assert not run.complete
        if not memory:
            shutil.rmtree(run.folder / "work")
    assert run.complete
    facts = json.loads((run.folder / "run.json").read_bytes())
    assert facts["newest"]["seconds"] >= 3.0
    assert (facts["begun_without_work"] > 0) == (not memory)
    seconds = [line["seconds"] for line in run.curve.read()]
    assert seconds == sorted(seconds)
    for mark in run.marks:
        network = load_network(run.mark_file(mark))
        assert misfit(network, load(preset.game)) == ""  # also those of the small board's legs
    assert run.train(lambda: True)  # nothing is left to do


# ---- all of it -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_command_does_everything_once_and_goes_on_where_time_was_up(tmp_path, monkeypatch):
    monkeypatch.setitem(gomoku_plan.PRESETS, "quick", replace(tiny(), seeds=1))
    for _ in range(60):
        if "stopped in" not in asked(tmp_path, "--seconds", "8"):
            break
    text = (tmp_path / "report.md").read_text()
    assert "arm run" not in text
    assert "milestones without a whole match" not in text
    assert "matches of arms" not in text
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("matches/*")}
    assert len(before) == 8 + 4 * 2 * 2 + 2 * 2
    again = asked(tmp_path)
    assert "scratch-s1 is complete" in again
    assert "positions for" not in again
    assert "8 of 8 matches are there" in again
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.glob("matches/*")}
    assert all(path.stat().st_size < 2_000_000 for path in tmp_path.rglob("*") if path.is_file())
