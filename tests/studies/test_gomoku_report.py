"""The report of the Gomoku study, from folders in which everything or nothing is."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from rookery.arena.score import Score
from rookery.errors import BadInput
from rookery.learn.curriculum import Curriculum
from rookery.learn.curriculum_settings import packaged
from rookery.studies.gomoku import Study
from rookery.studies.gomoku_findings import Findings
from rookery.studies.gomoku_plan import COMPARISONS, FULL
from rookery.studies.gomoku_report import SECTIONS, write_report
from rookery.studies.matches import known_of, mark
from studies.gomoku_made_up import MARKS, PRESET, keep, made_up, pairs, saved

FIGURES = ("milestones.png", "main.png", "arm_losses.png", "arm_scores.png", "arm_elo.png")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study in which all is there; nobody may change it."""
    return made_up(tmp_path_factory.mktemp("study"))


@pytest.fixture
def study(whole, tmp_path):
    """A copy that may be changed."""
    shutil.copytree(whole.folder, tmp_path / "copy")
    return Study(tmp_path / "copy", PRESET)


def shares(scores):
    return {seed: match.score for seed, match in scores.items()}


def text_of(study):
    found = Findings(study)
    return "\n".join(line for section in SECTIONS for line in section(found))


def test_every_number_and_verdict_is_in_the_report(whole):
    text = text_of(whole)
    assert "| random, 50 simulations | more than 95 | 85.0 (" in text  # of ten pairs two have a draw and a loss
    assert "| 20: +16 =2 -2 | 12 | **open**: less, but the interval includes what is wanted |" in text
    low, high = Score(tuple(pairs(0.9).values()) * 2).interval  # seeds agree: the interval is that of all games
    assert f"| after 16 s curriculum scores 92.5 % ({100 * low:.1f} - {100 * high:.1f}) against scratch" in text
    assert f"| curriculum | scratch | 16 | 92.5 ({100 * low:.1f} .. {100 * high:.1f}) | 92.5, 92.5 | **yes**" in text
    assert "| Are all 5 milestones reached? | the plan leads to all five | reached: " in text
    assert "arm later: not available in this version, which has no setting selfplay.no_such_setting" in text
    assert "main run: stage 1b has no generation yet" in text
    assert "arm run" not in text  # all of them are trained
    assert "capped" not in text  # nobody has asked for it


def test_scores_of_arms_are_told_apart_by_player_mark_and_seed(whole):
    found = Findings(whole)
    assert shares(found.scores("curriculum", "baseline:depth=2", 16)) == pytest.approx({1: 0.925, 2: 0.85})
    assert shares(found.scores("window", "random", 8)) == pytest.approx({1: 0.55, 2: 0.475})
    assert shares(found.duel_scores(COMPARISONS[0], 8)) == pytest.approx({1: 0.925, 2: 0.925})
    marks = dict(found.elos("curriculum"))
    assert set(marks) == {8, 16}
    assert marks[16][1] > dict(found.elos("scratch"))[16][1]


def test_an_empty_folder_makes_a_report_of_what_is_missing(tmp_path):
    text = text_of(Study(tmp_path, PRESET))
    assert "**This study is not complete.**" in text
    assert "milestones without a whole match: m1, m2, m3, m4, m5, goal-small, goal-large, goal-advanced" in text
    assert "arm run scratch-s1: 0 of 16 s are trained" in text
    assert "matches of arms with each other: 0 of 8 are there" in text
    assert "| not played: m1, m2, m3, m4, m5 | **missing** |" in text


def test_a_match_of_another_network_than_is_there_does_not_count(study):
    milestone = PRESET.milestones[0]
    assert study.kept_milestone(milestone) is not None
    study.network(milestone.stage).parent.mkdir()
    study.network(milestone.stage).write_bytes(b"another one")
    assert study.kept_milestone(milestone) is None


def test_a_match_that_was_stopped_is_missing(study):
    keep(study, study.milestone_meeting(PRESET.milestones[1]), 0.8, games=10)
    assert "**missing**: stopped after 10 games" in text_of(study)


@pytest.mark.parametrize(
    "others",
    [{"second": "random"}, {"simulations": 1}, {"game": "gomoku:size=5"}, {"fours": "leaves"}, {"rules_version": 99}],
)
def test_a_match_that_was_another_one_does_not_count(study, others):
    milestone = PRESET.milestones[4]
    keep(study, study.milestone_meeting(milestone), 1.0, **others)
    assert study.kept_milestone(milestone) is None
    assert study.kept_milestone(PRESET.milestones[3]) is not None


def test_where_no_numbers_are_asked_for_a_match_of_any_counts_and_is_not_played_again(study):
    milestone = PRESET.milestones[4]
    meeting = study.milestone_meeting(milestone)
    keep(study, meeting, 1.0, precision="bf16")
    assert study.kept_milestone(milestone) is not None
    precise = replace(study, preset=replace(study.preset, main_changes=("precision=32",)))
    assert precise.kept_milestone(milestone) is None
    study.network(milestone.stage).parent.mkdir()
    first = saved(study.network(milestone.stage))
    here = {"first": mark(first), "precision": "bf16"}
    keep(study, meeting, 1.0, **here)
    assert known_of(study.folder, meeting).complete
    keep(study, meeting, 1.0, games=10, **here)  # stopped: it would go on in other numbers
    assert not known_of(study.folder, meeting).pairs
    assert study.kept_milestone(milestone) is None


def test_a_stage_that_is_not_done_is_missing_and_told_by_what_it_is_judged(study):
    lacking = Findings(study).lacking()
    assert "main run: stage 2 is not done: judged by its network after 3" in lacking
    assert "main run: stage 4 has no generation yet" in lacking
    folder = study.folder / "main" / "stages" / "2"
    (folder / "outcome.json").write_text('{"network": "network.pth", "account": "done"}')
    assert not [line for line in Findings(study).lacking() if "stage 2" in line]


def test_runs_of_another_time_are_left_out_and_told_of(study):
    facts = study.folder / "arms" / "curriculum-s1" / "run.json"
    content = json.loads(facts.read_bytes())
    content["plan"]["seconds"] = 4.0
    facts.write_text(json.dumps(content))
    for name in ("curriculum-s1", "curriculum-s2", "scratch-s1", "scratch-s2"):
        for seconds in MARKS:
            study.marked(name, seconds).parent.mkdir(parents=True, exist_ok=True)
            study.marked(name, seconds).touch()
    found = Findings(study)
    assert "curriculum-s1" not in found.runs
    assert "curriculum-s2" in found.runs
    told = "arm run curriculum-s1: begun for 4 s, which another report tells of (--arm-seconds)"
    assert told in found.lacking()
    names = [match.name for match in study.compare_matches()]
    assert "arm_curriculum-s2_00016_scratch-s2" in names
    assert not [name for name in names if "curriculum-s1" in name]
    with pytest.raises(BadInput, match=r"curriculum-s1 in .* were begun for another time than 16 s"):
        study.compare_matches(["curriculum"])
    content["plan"]["seconds"] = 16.0
    facts.write_text(json.dumps(content))
    other = study.folder / "arms" / "scratch-s2" / "run.json"
    other.write_text(other.read_text().replace('"seconds": 16.0, "legs"', '"seconds": 9.0, "legs"'))
    names = [match.name for match in study.compare_matches(["curriculum"])]
    assert "arm_curriculum-s1_00016_scratch-s1" in names
    assert "arm_curriculum-s2_00016_scratch-s2" not in names


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"x', ""), ("[1]", ""), ("{}", "newest"), ('{"plan": 3, "newest": null}', ""),
        ('{"plan": {"seconds": 1}, "newest": null}', "plan.legs"),
        ('{"plan": {"seconds": 1, "legs": [], "seed": 1, "changes": []}, "newest": null}', "begun_without_work"),
    ],
)  # fmt: skip
def test_facts_of_a_run_that_are_damaged_are_named(study, content, why):
    (study.folder / "arms" / "scratch-s2" / "run.json").write_text(content)
    complaint = rf"scratch-s2/run\.json is damaged .*{why}.*; remove .*scratch-s2 to train it anew"
    with pytest.raises(BadInput, match=complaint):
        Findings(study)


def test_a_match_with_another_run_counts_as_long_as_its_networks_are_those_that_are_there(study):
    assert study.kept_arm_match("curriculum-s1", 8, "scratch-s1") is not None
    study.marked("scratch-s1", 8).parent.mkdir(parents=True)
    study.marked("scratch-s1", 8).write_bytes(b"trained anew")
    assert study.kept_arm_match("curriculum-s1", 8, "scratch-s1") is None


@pytest.mark.slow
def test_the_report_comes_with_its_figures_and_as_one_page(study):
    write_report(study)
    assert all((study.folder / name).stat().st_size > 5000 for name in FIGURES)
    page = (study.folder / "report.html").read_text()
    assert page.count("data:image/png;base64") == len(FIGURES)
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.slow
def test_an_empty_report_has_no_figures(tmp_path):
    write_report(Study(tmp_path, PRESET))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.md"]


def test_changes_are_told_as_runs_were_made_not_as_they_are_planned_now(tmp_path):
    study = Study(tmp_path, PRESET)
    assert Findings(study).main_changes == list(PRESET.main_changes)
    assert Findings(study).arm_changes == []
    changes = ("stages.4.selfplay.games=60", "stages.1a.until.beats=[{player: random}]", "seed=5")
    Curriculum.create(tmp_path / "main", packaged(PRESET.curriculum, changes))
    told = Findings(study).main_changes
    assert [change.partition("=")[0] for change in told] == ["stages.1a.until.beats", "stages.4.selfplay.games"]
    assert told[1] == changes[0]
    for name, own in (("scratch-s1", []), ("window-s1", ["stages.4.gate.discard=false"])):
        (tmp_path / "arms" / name).mkdir(parents=True)
        plan = {"seconds": PRESET.arm_seconds, "legs": [], "seed": 1}
        plan["changes"] = ["stages.4.selfplay.simulations=9", *own]
        facts = {"plan": plan, "newest": None, "begun_without_work": 0}
        (tmp_path / "arms" / name / "run.json").write_text(json.dumps(facts))
    assert "In all runs: `stages.4.selfplay.simulations=9`." in text_of(study)


def test_goals_with_fours_are_told(tmp_path):
    study = Study(tmp_path, FULL)
    keep(study, study.milestone_meeting(next(each for each in FULL.milestones if each.name == "fours-large")), 0.9)
    assert "| fours-large, " in (text := text_of(study))
    assert "| baseline:depth=6, 400 simulations and fours | 95 or more |" in text
