"""Which runs the Pylos study makes."""

from __future__ import annotations

import pytest

from rookery import BadInput
from rookery.learn.settings import read_settings
from rookery.studies.pylos_plan import chosen_plan, full_plan


def names(plan) -> list[str]:
    return [run.name for run in plan]


def test_the_full_plan_has_four_runs_on_the_ladder_and_ten_ablations_of_three_seeds():
    plan = full_plan()
    assert names(plan)[:4] == ["v3", "v4", "v5", "best"]
    assert len(plan) == 4 + 10 * 3
    assert {run.settings().selfplay.games for run in plan if not run.ablation} == {500_000}
    assert {run.settings().selfplay.games for run in plan if run.ablation} == {100_000}


@pytest.mark.parametrize(("name", "config"), [("v3", "pylos_v3"), ("v4", "pylos_v4"), ("v5", "pylos_v5")])
def test_larger_steps_have_as_many_samples_a_game(name, config):
    run = next(run for run in full_plan() if run.name == name).settings().training
    original = read_settings(config).training
    assert run.batch == 1024
    assert run.batch * run.steps_per_game == original.batch * original.steps_per_game


def test_the_best_run_is_as_packaged_but_for_its_checkpoints():
    run = next(run for run in full_plan() if run.name == "best").settings()
    packaged = read_settings("pylos_best")
    assert run.model_copy(update={"checkpoints": packaged.checkpoints}) == packaged


def test_an_ablation_differs_from_its_control_in_one_key():
    settings = {run.name: run.settings() for run in full_plan()}
    control = settings["v5-s2"]
    assert control.seed == 2
    assert settings["v5-basic-s2"].network.observation == "basic"
    same = settings["v5-basic-s2"].model_copy(update={"network": control.network})
    assert same == control
    assert settings["v4-rich-s1"].network.observation == "rich"
    assert settings["v5-discount-s1"].selfplay.discount == 0.985
    assert settings["v5-choice-s1"].game == "pylos"
    assert settings["v5-repeat-s1"].selfplay.repetition_limit == 2
    assert settings["v5-root-s1"].training.root_value_share == 0.5


def test_gumbel_search_replaces_the_noise_of_the_best_run():
    settings = {run.name: run.settings() for run in full_plan()}
    control, other = settings["best-s3"], settings["best-gumbel-s3"]
    assert (control.selfplay.gumbel, other.selfplay.gumbel, other.selfplay.noise) == (0, 16, 0)
    assert other.model_copy(update={"selfplay": control.selfplay}) == control


@pytest.mark.parametrize("games", [100, 500, 2_000, 50_000])
def test_small_plans_can_be_run(games):
    for run in full_plan(games, 1):
        settings = run.settings()
        assert settings.planned_steps >= 1
        assert 16 <= settings.selfplay.at_once <= max(16, games // 30)


def test_every_checkpoint_of_the_plan_is_kept():
    for games, every in ((500_000, 31_250), (2_000, 500)):
        kept = full_plan(games, 1)[0].settings().checkpoints
        assert (kept.every, kept.keep.every, kept.least_seconds) == (every, every, 0)


def test_runs_are_chosen_by_name_ablation_or_pattern():
    plan = full_plan(1_000, 2)
    assert names(chosen_plan(plan, ["v5", "best"])) == ["v5", "best"]
    assert names(chosen_plan(plan, ["v5-basic"])) == ["v5-basic-s1", "v5-basic-s2"]
    assert names(chosen_plan(plan, ["v5-s*", "v3"])) == ["v3", "v5-s1", "v5-s2"]
    assert chosen_plan(plan, []) == plan
    with pytest.raises(BadInput, match="the study has no run 'v7'; it has v3, v4"):
        chosen_plan(plan, ["v5", "v7"])


def test_changes_are_made_in_every_run():
    assert {run.settings().selfplay.simulations for run in full_plan(500, 1, ["selfplay.simulations=8"])} == {8}
