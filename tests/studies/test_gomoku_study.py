"""The Gomoku study at work: matches and arms that are stopped and go on, and all of it by one command."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from rookery.arena import crowd
from rookery.arena.networks import network_for
from rookery.cli import app
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.nets.configs import TowerConfig
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.studies import gomoku_arms, gomoku_plan
from rookery.studies.gomoku_arms import ArmRun, Clock
from rookery.studies.gomoku_matches import Found, Meeting, Table, known_of, read_match
from rookery.studies.stages import stage_network
from studies.gomoku_made_up import lines, pairs, tiny


def asked(folder, *words):
    """Give the command; return what it says."""
    result = CliRunner().invoke(
        app, ["study", "gomoku", "--preset", "quick", "--folder", str(folder), "--device", "cpu", *words],
        catch_exceptions=False,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return result.output


def saved(path, size=5, seed=0):
    """Save a network that has learnt nothing."""
    game = load(f"gomoku:size={size}")
    network = build(TowerConfig(planes=3, rows=size, cols=size, width=4, blocks=1), seed)
    save_network(path, network, About(game=game.spec, rules_version=game.version, observation="planes"))
    return path


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


def test_games_of_a_match_are_handed_to_the_fit_by_who_began():
    found = Found({"games": 4}, {0: (1.0, 0.5), 1: (0.0, 1.0)})
    assert found.results("us", "them") == [
        ("us", "them", 1.0, 1), ("us", "them", 0.0, 1), ("them", "us", 0.5, 1), ("them", "us", 0.0, 1),
    ]  # fmt: skip
    assert found.complete
    assert found.facts()["score"] == 0.625


def test_a_damaged_match_is_told(tmp_path):
    (tmp_path / "matches").mkdir()
    (tmp_path / "matches" / "m.json").write_text("{}")
    with pytest.raises(BadInput, match=r"m\.json is damaged"):
        read_match(tmp_path, "m")
    assert read_match(tmp_path, "other") is None


def test_a_match_comes_back_from_its_file(tmp_path):
    found = Found({"first": "x", "games": 20}, pairs(0.6), 3.5)
    Table(tmp_path, "cpu", lambda: False).keep("m", found)
    assert read_match(tmp_path, "m") == found


def test_the_network_of_a_stage_is_what_it_hands_on_else_its_newest(tmp_path):
    assert stage_network(tmp_path) is None
    (tmp_path / "checkpoint_00010.pth").touch()
    lines(tmp_path / "judged.jsonl", [{"file": "checkpoint_00010.pth"}])
    assert stage_network(tmp_path).name == "checkpoint_00010.pth"
    (tmp_path / "outcome.json").write_text(json.dumps({"network": "checkpoint_00005.pth"}))
    assert stage_network(tmp_path).name == "checkpoint_00005.pth"


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
        (("--set", "stages.9.selfplay.games=1"), "stages.9"),
        (("--preset", "tiny"), "--preset"),
        (("--arm-seconds", "0"), "--arm-seconds"),
        (
            ("--only", "train,report", "--ray", "local"),
            "a cluster makes lessons, which are not among the stages: train",
        ),
        (("--workers", "2"), "--workers 2: without --ray there are none"),
    ],
)
def test_the_command_refuses_what_cannot_be(tmp_path, words, complaint):
    result = CliRunner().invoke(app, ["study", "gomoku", "--preset", "quick", "--folder", str(tmp_path), *words])
    assert isinstance(result.exception, BadInput)
    assert complaint in str(result.exception)


# ---- matches -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rival", ["random", "network"])
def test_a_match_that_was_stopped_goes_on_and_ends_as_if_it_had_not(tmp_path, rival):
    first = saved(tmp_path / "first.pth")
    second = rival if rival == "random" else saved(tmp_path / "second.pth", seed=1)
    meeting = Meeting("m", "gomoku:size=5", first, second, 40, 4)
    assert Table(tmp_path / "whole", "cpu", lambda: False).play(meeting)
    answers = iter([False] * 16 + [True] * 1000)  # time is up some games into the match
    assert not Table(tmp_path / "parts", "cpu", lambda: next(answers)).play(meeting)
    between = read_match(tmp_path / "parts", "m")
    assert 0 < len(between.pairs) < 20
    assert Table(tmp_path / "parts", "cpu", lambda: False).play(meeting)
    assert read_match(tmp_path / "parts", "m").pairs == read_match(tmp_path / "whole", "m").pairs


@pytest.mark.slow
def test_a_match_is_played_anew_for_another_network(tmp_path):
    network = saved(tmp_path / "first.pth")
    meeting = Meeting("m", "gomoku:size=5", network, "random", 4, 4)
    table = Table(tmp_path, "cpu", lambda: False)
    table.play(meeting)
    before = read_match(tmp_path, "m").identity
    saved(network, seed=2)
    table.play(meeting)
    assert read_match(tmp_path, "m").identity["first"] != before["first"]


@pytest.mark.slow
def test_a_match_with_fours_is_another_match_and_wins_are_not_missed(tmp_path):
    network = saved(tmp_path / "first.pth", size=7)
    plain = Meeting("m", "gomoku:size=7", network, "random", 40, 4)
    table = Table(tmp_path, "cpu", lambda: False)
    scores = []
    for meeting in (plain, replace(plain, fours=True)):
        assert not known_of(tmp_path, meeting).pairs
        assert table.play(meeting)
        scores.append(known_of(tmp_path, meeting).score.score)
    assert scores[1] > scores[0]


@pytest.mark.slow
def test_games_do_not_depend_on_the_parts_they_are_searched_in(tmp_path, monkeypatch):
    meeting = Meeting("m", "gomoku:size=5", saved(tmp_path / "first.pth"), "random", 20, 4)
    Table(tmp_path / "whole", "cpu", lambda: False).play(meeting)
    monkeypatch.setattr(crowd, "LEAST_OF_PART", 3)
    monkeypatch.setattr(crowd.Crowd, "parts", 4)
    table = Table(tmp_path / "parts", "cpu", lambda: False)
    table.play(meeting)
    assert read_match(tmp_path / "parts", "m").pairs == read_match(tmp_path / "whole", "m").pairs


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
        network_for(str(run.mark_file(mark)), load(preset.game))  # also those of the small board's legs
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
