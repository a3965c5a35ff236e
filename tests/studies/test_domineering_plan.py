"""The runs of the Domineering study: who is trained, with which settings, in which order."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rookery import BadInput
from rookery.nets.residual import build
from rookery.studies.domineering_plan import (
    CONDITIONS,
    PRESETS,
    SEEDS,
    chosen_runs,
    main_runs,
    runs_of,
    settings_of,
)  # fmt: skip
from studies.domineering_tiny import LARGE, SMALL, tiny


def names(runs) -> list[str]:
    return [run.name for run in runs]


def test_the_full_study_is_twenty_networks():
    runs = chosen_runs("full", runs_of("full"), [])
    kinds = ("small-aux", "small-plain", "large", "large-aux", "large-plain")
    assert names(runs) == [f"{kind}-s{seed}" for kind in kinds for seed in (42, 123, 456, 789)]
    assert {run.steps for run in runs if run.plan.large} == {30_000}
    assert {run.steps for run in runs if not run.plan.large} == {10_000}


@pytest.mark.parametrize(
    ("preset", "small", "large"), [("full", 398_738, 1_913_618), ("final", 563_730, 1_650_066)]
)  # fmt: skip
def test_networks_have_the_parameters_of_the_plan(preset, small, large):
    found = {run.plan.large: build(run.network).weights for run in runs_of(preset)[::9]}
    assert found == {False: small, True: large}


def test_the_final_preset_probes_large_networks_and_weighs_as_the_original_did():
    runs = chosen_runs("final", runs_of("final"), [])
    assert len(runs) == 20
    large = [run for run in runs if run.plan.large]
    assert names(large)[0] == "large-probe-s42"
    assert not any(run.teaches_sectors for run in large)
    assert {(run.policy_weight, run.sector_weight, run.sector_unit) for run in runs} == {(0.2, 0.8, 10.0)}
    assert [run.condition for run in runs if run.teaches_sectors] == ["small-aux"] * 4


def test_the_quick_preset_has_two_seeds_and_few_steps():
    runs = chosen_runs("quick", runs_of("quick"), [])
    assert len(runs) == 10
    assert sum(run.steps * run.batch for run in runs) < 100_000
    assert all(run.steps // run.every >= 3 for run in runs)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_small_network_is_trained_before_the_large_one_that_embeds_it(preset):
    seen = set()
    for run in runs_of(preset):
        assert not run.small_name or run.small_name in seen
        seen.add(run.name)
    assert len(seen) == (2 + 2 * 6) * len(PRESETS[preset].seeds)  # large ones in both protocols


def test_runs_of_a_seed_differ_by_their_condition_alone():
    for run in main_runs(runs_of("full"), "full"):
        other = replace(runs_of("full")[0], seed=run.seed)
        mine, others = run.as_dict(), other.as_dict()
        differing = {key for key in mine if mine[key] != others[key]}
        assert differing <= {"condition", "network", "small", "steps"}


def test_only_runs_with_the_side_task_teach_the_sectors():
    taught = {name: tiny(name).teaches_sectors for name in CONDITIONS}
    assert taught == {name: name != "small-plain" for name in CONDITIONS}
    assert not tiny("large-aux", auxiliary=False).teaches_sectors
    assert tiny("small-aux", auxiliary=False).teaches_sectors  # a protocol of large networks
    assert not tiny("small-aux", sector_weight=0.0).teaches_sectors


def test_steps_seeds_and_precision_can_be_chosen():
    runs = runs_of("quick", 7, 9, "bf16", seeds=[5])
    assert {(run.plan.large, run.steps, run.seed, run.precision) for run in runs} == {
        (False, 7, 5, "bf16"), (True, 9, 5, "bf16"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("preset", "patterns", "count"),
    [
        ("full", ["large-aux"], 4),
        ("full", ["large"], 4),
        ("full", ["small-*"], 8),
        ("full", ["*-s42"], 14),
        ("full", ["large-identity-s42", "small-aux-s42"], 2),
        ("full", ["large*-probe-s42"], 6),
        ("full", ["large-aux-probe"], 4),
        ("final", ["large-aux"], 4),
        ("quick", ["large-noheads"], 2),
    ],
)
def test_runs_are_chosen_by_name_condition_or_pattern(preset, patterns, count):
    runs = runs_of(preset)
    found = chosen_runs(preset, runs, patterns)
    assert len(found) == count
    assert found == [run for run in runs if run in found]


def test_a_pattern_that_means_nothing_is_refused():
    with pytest.raises(BadInput, match="no run 'huge'; it has small-aux-s42"):
        chosen_runs("full", runs_of("full"), ["large", "huge"])


def test_a_preset_that_is_not_there_is_refused():
    with pytest.raises(BadInput, match="preset must be one of full, final, quick, not 'huge'"):
        runs_of("huge")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"condition": "huge"}, "condition must be one of small-aux, .*, not 'huge'"),
        ({"seed": -1}, "seed must be a whole number in 0..* not -1"),
        ({"steps": 0}, "steps must be a whole number in 1.."),
        ({"batch": 2.5}, "batch must be a whole number .* not 2.5"),
        ({"every": True}, "every must be a whole number"),
        ({"learning_rate": -1.0}, "learning_rate must be a number in 0..1e.06, not -1.0"),
        ({"weight_decay": float("nan")}, "weight_decay must be a number .* not nan"),
        ({"sector_unit": 0}, "sector_unit must be a number"),
        ({"gradient_norm": "1"}, "gradient_norm must be a number .* not '1'"),
        ({"precision": "fp8"}, "precision must be one of fp32, .*, not 'fp8'"),
        ({"probe_reads": ("cls", "nose")}, "probe_reads must be one of cls, mean, all, not 'nose'"),
        ({"probe_reads": ()}, "probe_reads must be some of"),
        ({"auxiliary": 1}, "auxiliary must be true or false, not 1"),
        ({"network": "large"}, "network must be the configuration of a transformer, not 'large'"),
        ({"condition": "large-aux"}, "small must be the configuration of the embedded network"),
        ({"first_ply": 129}, "first_ply must be a whole number in 0..128"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_their_name(changes, message):
    with pytest.raises(BadInput, match=message):
        replace(tiny("small-aux"), **changes)


def test_settings_can_be_written_as_json():
    found = json.loads(json.dumps(tiny("large-aux").as_dict()))
    assert found["network"] == LARGE.model_dump(mode="json")
    assert found["small"] == SMALL.model_dump(mode="json")
    assert (found["condition"], found["seed"], found["probe_reads"]) == ("large-aux", 42, ["cls"])
    assert SEEDS == (42, 123, 456, 789)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_settings_are_read_back_from_what_is_written_of_them(preset):
    for run in runs_of(preset):
        assert settings_of(json.loads(json.dumps(run.as_dict() | {"parameters": 3}))) == run


def test_settings_that_lack_something_are_refused():
    values = tiny("large").as_dict()
    with pytest.raises(BadInput, match="do not say steps"):
        settings_of({key: value for key, value in values.items() if key != "steps"})
    with pytest.raises(BadInput, match="cannot be read"):
        settings_of(values | {"network": {"kind": "transformer"}})
