"""The command of the Pylos study, as a person types it."""

from __future__ import annotations

import json
import sys

import pytest

from rookery import BadInput
from rookery.cli import main
from rookery.studies.pylos import STAGES, Sizes, Study, chosen_stages
from rookery.studies.pylos_plan import full_plan
from studies.canned import canned_run

pytestmark = pytest.mark.xdist_group("learning")

TINY = (
    "selfplay.simulations=4", "network.width=8", "network.blocks=1", "network.value_hidden=4",
    "network.policy_hidden=4", "training.batch=64", "threads=1", "device=cpu", "training.precision='32'",
    "checkpoints.every=100",
)  # fmt: skip


def study(monkeypatch, *arguments: str) -> int:
    """Run the command in this process; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["rookery", "study", "pylos", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def changes() -> list[str]:
    return [word for change in TINY for word in ("--set", change)]


def test_stages_are_done_in_their_order_whichever_way_they_are_named():
    assert chosen_stages("report, train") == ["train", "report"]
    assert chosen_stages(None) == list(STAGES)
    with pytest.raises(BadInput, match="there is no stage 'play'; the stages are train, rate"):
        chosen_stages("train,play")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only", "play"], "there is no stage 'play'"),
        (["--runs", "v7"], "the study has no run 'v7'"),
        (["--games", "5"], "games must"),
        (["--rating-games", "3"], "rating-games must be even"),
        (["--only", "rate"], "has no network of v3, v4, v5, best yet; the stage train makes them"),
        (["--only", "empty", "--runs", "v5"], "has no network of best yet"),
        (["--only", "train", "--set", "training.speed=3"], "training.speed: there is no such key"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_made(tmp_path, monkeypatch, capsys, arguments, complaint):
    assert study(monkeypatch, "--folder", str(tmp_path / "study"), *arguments) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "study").exists()


def test_a_stage_that_was_not_asked_for_by_name_is_left_out_where_it_cannot_be_done(tmp_path, monkeypatch, capsys):
    from rookery.cli import study_pylos as commands

    monkeypatch.setattr(commands, "train", lambda made: None)
    assert study(monkeypatch, "--folder", str(tmp_path), "--games", "1000", "--seeds", "1") == 0
    told = capsys.readouterr()
    assert "judge: left out;" in told.err
    assert told.out.strip() == str(tmp_path / "report.md")


def test_a_complete_run_is_left_alone_also_where_it_differs_from_the_plan(tmp_path, monkeypatch, capsys):
    made = Study(tmp_path, [run for run in full_plan(1000, 1) if run.name == "v5"])
    planned = made.plan[0]
    settings = planned.settings().model_copy(update={"seed": 7})
    canned_run(made.run_folder(planned), settings, 0.3, 0.1)
    assert study(monkeypatch, "--folder", str(tmp_path), "--games", "1000", "--runs", "v5", "--only", "train") == 0
    told = capsys.readouterr().err
    assert "is complete" in told
    assert "it differs from the plan: seed=7 (planned 1)" in told


def test_a_run_that_was_stopped_is_not_trained_on_with_other_settings(tmp_path, monkeypatch, capsys):
    made = Study(tmp_path, [run for run in full_plan(1000, 1) if run.name == "v5"])
    planned = made.plan[0]
    canned_run(made.run_folder(planned), planned.settings().model_copy(update={"seed": 7}), 0.3, 0.1, "training")
    assert study(monkeypatch, "--folder", str(tmp_path), "--games", "1000", "--runs", "v5", "--only", "train") == 2
    assert "is a run with other settings" in capsys.readouterr().err


def test_a_result_is_done_for_the_same_inputs_alone(tmp_path):
    made = Study(tmp_path, [])
    assert not made.is_done("judge", {"networks": {"v5": "a"}})
    made.keep("judge", {"networks": {"v5": "a"}}, {"found": 1})
    assert made.is_done("judge", {"networks": {"v5": "a"}})
    assert not made.is_done("judge", {"networks": {"v5": "b"}})


def test_a_small_study_measures_floor_and_probes_with_less():
    full, small = (Sizes.for_games(games, None, None, 1) for games in (500_000, 2_000))
    assert (full.rating_games, full.positions, full.floor, full.probe) == (40, 200, {}, {})
    assert (small.rating_games, small.positions, small.floor["positions"]) == (8, 40, 64)
    assert Sizes.for_games(2_000, 40, 200, 1).rating_games == 40
    assert [Sizes.for_games(games, None, None, 1, 4).floor["replays"] for games in (500_000, 2_000)] == [4, 4]
    assert "replays" not in full.floor


@pytest.mark.slow
def test_a_tiny_study_goes_from_training_to_its_report_and_is_not_done_twice(tmp_path, monkeypatch, capsys):
    stages = "train,rate,judge,empty,report"
    arguments = [
        "--folder", str(tmp_path), "--runs", "v5,best,v5-basic", "--games", "100", "--seeds", "1", "--only", stages,
        "--rating-games", "2", "--positions", "2", *changes(),
    ]  # fmt: skip
    assert study(monkeypatch, *arguments) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert "**This study is not complete.** Stages not done: floor, probe." in text
    for figure in ("losses", "ablations", "ratings", "exact-greedy", "exact-official"):
        assert (tmp_path / f"{figure}.png").exists()
    ratings = json.loads((tmp_path / "ratings.json").read_text())["contests"]
    assert {row["run"] for row in ratings["greedy"]["checkpoints"]} == {"v5", "best", "v5-basic-s1"}
    assert {row["run"] for row in ratings["official"]["checkpoints"]} == {"v5", "best"}
    empty = json.loads((tmp_path / "empty.json").read_text())["networks"]["best"]
    assert [search["simulations"] for search in empty["searches"]] == [100, 1000, 10000]
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert study(monkeypatch, *arguments) == 0
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")} == before
    assert "is there, found from the same networks" in capsys.readouterr().err
