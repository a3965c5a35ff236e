"""The plan of the Gomoku study."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rookery.errors import BadInput
from rookery.studies.gomoku import STAGE_NAMES, Study
from rookery.studies.gomoku_arms import mark_seconds
from rookery.studies.gomoku_plan import (
    ARMS,
    COMPARISONS,
    FULL,
    HOME,
    PRESETS,
    QUICK,
    chosen,
    patterns_of,
    preset_of,
    run_names,
)
from rookery.studies.stages import chosen_stages


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_can_be_run(name):
    preset = PRESETS[name]
    stages = [stage.name for stage in preset.settings(None, 1, "cpu").stages]
    assert {milestone.stage for milestone in preset.milestones} <= set(stages)
    for arm in preset.arms:
        assert sum(share for _, share in arm.legs) == pytest.approx(1.0)
        assert {stage for stage, _ in arm.legs} <= set(stages)
        if arm.available:
            assert preset.settings(arm, 3, "cpu").seed == 3


def test_the_milestones_are_those_that_were_set():
    plain = [each for each in FULL.milestones if not each.fours]
    wanted = [(each.name, each.opponent, each.share, each.goal) for each in plain]
    assert wanted == [
        ("m1", "random", 0.95, False),
        ("m2", "baseline:depth=2", 0.70, False),
        ("m3", "baseline:depth=6", 0.55, False),
        ("m4", "baseline:depth=2", 0.70, False),
        ("m5", "baseline:depth=6", 0.55, False),
        ("goal-small", "baseline:depth=6", 0.95, True),
        ("goal-large", "baseline:depth=6", 0.95, True),
        ("goal-advanced", "advanced:time=0.5", 0.85, True),
    ]
    games = {stage.name: stage.game for stage in FULL.settings(None, 1, "cpu").stages}
    sizes = [int(re.findall(r"size=(\d+)", games[each.stage])[0]) for each in plain]
    assert sizes == [9, 9, 9, 15, 15, 9, 15, 15]
    assert FULL.milestone_games >= 200


def test_arms_that_are_compared_are_there():
    names = {arm.name for arm in ARMS}
    assert all({pair.first, pair.second} <= names for pair in COMPARISONS)


def last_stages(preset, *names):
    """The last stage's settings of some arms of a preset."""
    arms = {arm.name: arm for arm in preset.arms}
    return [preset.settings(arms[name], 1, "cpu").stages[-1] for name in names]


@pytest.mark.parametrize(("preset", "start", "replay"), [(FULL, "", 200_000), (HOME, "taught-", 60_000)])
def test_arms_with_a_gate_differ_in_nothing_but_what_is_kept_on_promotion(preset, start, replay):
    window, discard = last_stages(preset, f"{start}window", f"{start}discard")
    assert (window.gate.discard, discard.gate.discard) == (False, True)
    assert window.training.replay == replay
    assert window.gate.kind == "share"
    assert window == discard.model_copy(update={"gate": discard.gate.model_copy(update={"discard": False})})


def test_arms_behind_imitation_differ_in_nothing_but_the_opponent():
    alone, fixed = last_stages(HOME, "taught", "taught-fixed")
    assert (alone.selfplay.opponent, fixed.selfplay.opponent) == ("", "baseline:depth=6")
    assert alone == fixed.model_copy(update={"selfplay": fixed.selfplay.model_copy(update={"opponent": ""})})
    legs = {arm.legs for arm in HOME.arms if arm.name.startswith("taught")}
    assert len(legs) == 1


def test_an_arm_without_its_setting_is_not_run():
    lacking = replace(ARMS[0], name="later", needs="selfplay.no_such_setting")
    assert not lacking.available
    assert replace(lacking, needs="selfplay.noise").available
    assert list(run_names(replace(QUICK, arms=(lacking,)))) == []


def test_extra_arms_are_trained_only_if_they_are_named(tmp_path):
    study = Study(tmp_path, QUICK)
    assert "capped-s1" not in [run.name for run in study.arm_runs()]
    assert [run.name for run in study.arm_runs(["capped"])] == ["capped-s1", "capped-s2"]


def test_patterns_choose_runs():
    names = ["main", "scratch-s1", "scratch-s2", "curriculum-s1"]
    assert chosen(names, []) == names
    assert chosen(names, ["scratch"]) == ["scratch-s1", "scratch-s2"]
    assert chosen(names, ["*-s1"]) == ["scratch-s1", "curriculum-s1"]
    assert chosen(names, ["main", "scratch-s2"]) == ["main", "scratch-s2"]
    with pytest.raises(BadInput, match="'scratsh' is none of main, scratch-s1"):
        chosen(names, ["scratsh"])


def test_patterns_mean_something_to_one_stage_or_another():
    assert patterns_of(QUICK, "train", ["main", "m3"]) == ["main"]
    assert patterns_of(QUICK, "milestones", ["main", "m3"]) == ["m3"]
    assert patterns_of(QUICK, "milestones", ["scratch"]) is None
    assert patterns_of(QUICK, "compare", []) == []
    with pytest.raises(BadInput, match="'scratsh' is none of main"):
        patterns_of(QUICK, "train", ["main", "scratsh"])


def test_the_time_of_arms_can_be_chosen():
    assert mark_seconds(FULL) == [150, 300, 450, 600]
    assert mark_seconds(preset_of("full", 100, 1)) == [25, 50, 75, 100]
    assert preset_of("full", seeds=1).seeds == 1
    changed = preset_of("quick", changes=["stages.4.selfplay.simulations=64"])
    assert changed.settings(None, 1, "cpu").stages[-1].selfplay.simulations == 64
    assert changed.settings(changed.arms[0], 1, "cpu").stages[-1].selfplay.simulations == 64


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (lambda: preset_of("small"), "--preset"),
        (lambda: preset_of("full", 0), "--arm-seconds"),
        (lambda: preset_of("full", seeds=0), "--seeds"),
        (
            lambda: chosen_stages("train,play", STAGE_NAMES),
            "'play' is none of lessons, train, milestones, compare, report",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(wrong, complaint):
    with pytest.raises(BadInput, match=complaint):
        wrong()


def test_stages_come_in_their_order():
    assert chosen_stages("report,train", STAGE_NAMES) == ["train", "report"]
    assert chosen_stages(None, STAGE_NAMES) == ["lessons", "train", "milestones", "compare", "report"]


def test_no_condition_stops_the_main_run_on_a_card():
    for stage in FULL.settings(None, 1, "cpu").stages:
        assert stage.until.beats == ()
        assert stage.until.plateau.of == "none"
    assert {"random", "advanced:depth=6"} == set(FULL.settings(None, 1, "cpu").stages[-1].until.watched)


def test_what_tells_most_about_arms_is_played_first(tmp_path):
    study = Study(tmp_path, replace(QUICK, seeds=1))
    for run in study.arm_runs(["curriculum", "scratch"]):
        for seconds in run.marks:
            run.mark_file(seconds).parent.mkdir(parents=True, exist_ok=True)
            run.mark_file(seconds).touch()
    assert [match.name for match in study.compare_matches()] == [
        "arm_curriculum-s1_00016_scratch-s1",
        "arm_curriculum-s1_00008_scratch-s1",
        *(
            f"arm_{name}-s1_{seconds:05d}_{player}"
            for player in ("baseline-depth-2", "random")
            for seconds in (16, 8)
            for name in ("curriculum", "scratch")
        ),
    ]


def test_goals_with_fours_are_those_without(tmp_path):
    by_name = {each.name: each for each in FULL.milestones}
    for name in ("small", "large", "advanced"):
        assert by_name[f"fours-{name}"] == replace(by_name[f"goal-{name}"], name=f"fours-{name}", fours=True)
    study = Study(tmp_path, FULL)
    assert len(study.milestones()) == 11
    assert [each.name for each in study.milestones(["fours-*"])] == ["fours-small", "fours-large", "fours-advanced"]
