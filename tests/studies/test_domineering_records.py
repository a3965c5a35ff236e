"""Runs of the Domineering study are read as far as they went."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rookery.studies.domineering_records import Records, curves_of, difference_of, pairs_of, part_of, read_run
from studies.domineering_made_up import made_up_run, made_up_study


@pytest.mark.parametrize(
    ("name", "condition", "protocol", "seed"),
    [
        ("small-aux-s42", "small-aux", "", 42),
        ("large-s7", "large", "taught", 7),
        ("large-aux-probe-s123", "large-aux", "probed", 123),
        ("large-probe-s1", "large", "probed", 1),
        ("large-identity-s789", "large-identity", "taught", 789),
    ],
)
def test_names_tell_condition_protocol_and_seed(tmp_path, name, condition, protocol, seed):
    run = read_run(made_up_run(tmp_path, name, steps=2000))
    assert run is not None
    assert (run.name, run.condition, run.protocol, run.seed) == (name, condition, protocol, seed)


@pytest.mark.parametrize("name", ["other-s42", "large", "large-s", "large-aux-s42.old", "xlarge-s42"])
def test_other_folders_are_no_runs(tmp_path, name):
    (tmp_path / name).mkdir()
    assert read_run(tmp_path / name) is None


def test_lines_cut_off_and_written_twice_are_dropped(tmp_path):
    folder = made_up_run(tmp_path, "large-s42", steps=3000)
    with (folder / "progress.jsonl").open("a") as file:
        file.write(json.dumps({"step": 2000, "valid": {"policy": 9.0}}) + "\n")
        file.write('{"step": 4000, "valid": {"pol')
    with (folder / "probes.jsonl").open("a") as file:
        file.write('[1]\n{"step": 5000, "layers": 3}\n')
    run = read_run(folder)
    assert run is not None
    assert [row["step"] for row in run.progress] == [0, 1000, 2000, 3000]
    assert run.figure("policy")[2000] == 9.0
    assert run.last_step == 3000


def test_a_run_that_stopped_is_not_finished(tmp_path):
    stopped = read_run(made_up_run(tmp_path, "large-s1", steps=3000, planned=30_000))
    done = read_run(made_up_run(tmp_path, "large-s2", steps=3000))
    empty = tmp_path / "runs" / "large-s3"
    empty.mkdir()
    begun = read_run(empty)
    assert stopped is not None
    assert done is not None
    assert begun is not None
    assert [run.finished for run in (stopped, done, begun)] == [False, True, False]
    assert (begun.last_step, begun.layers, begun.probe(0)) == (0, 0, {})


def test_concentration_is_a_layer_beside_the_mean_of_the_others(tmp_path):
    run = read_run(made_up_run(tmp_path, "large-aux-s42", steps=1000))
    assert run is not None
    for row in run.probes:
        values = [line["r2"] for line in row["layers"]]
        slow = values[1] - np.mean([values[layer] for layer in range(7) if layer != 1])
        assert run.concentration(1)[row["step"]] == pytest.approx(slow)
        assert run.early(1)[row["step"]] == pytest.approx((values[0] + values[1]) / 2)


def test_the_embedded_depth_is_that_of_the_small_networks(tmp_path):
    assert Records(tmp_path).embedded_layer == 1
    assert Records(made_up_study(tmp_path / "three", seeds=[1], steps=1000, depth=3)).embedded_layer == 2
    made_up_run(tmp_path / "alone", "large-aux-s1", steps=1000, depth=4)  # the small networks are elsewhere
    assert Records(tmp_path / "alone").embedded_layer == 3


def test_both_protocols_are_told_apart(tmp_path):
    made_up_study(tmp_path, seeds=[42], steps=1000)
    made_up_study(tmp_path, seeds=[42], suffix="-probe", steps=1000)
    records = Records(tmp_path)
    assert records.protocols == ["taught", "probed"]
    assert [run.name for run in records.of("large", "probed").values()] == ["large-probe-s42"]
    assert records.of("small-aux", "probed") == records.of("small-aux", "taught")


def test_curves_have_the_steps_of_all_seeds_that_went_as_far():
    curves = curves_of({1: {0: 1.0, 10: 2.0, 20: 3.0}, 2: {0: 5.0, 20: 7.0}, 3: {0: 1.0, 10: 1.0}, 4: {}})
    assert curves.steps.tolist() == [0, 20]
    assert curves.seeds == [1, 2]
    assert curves.values.tolist() == [[1.0, 3.0], [5.0, 7.0]]
    assert curves.left_out == [3]


def test_differences_are_of_shared_steps():
    assert difference_of({10: 5.0, 0: 3.0, 30: 1.0}, {0: 1.0, 10: 1.0, 20: 9.0}) == {0: 2.0, 10: 4.0}
    assert difference_of({0: 1.0}, {}) == {}


def test_a_seed_that_stopped_has_the_parts_it_went_through():
    whole = {step: float(step) for step in range(0, 101, 10)}
    series = {1: whole, 2: dict.fromkeys(range(0, 51, 10), 0.0), 3: {}}
    assert part_of(series, 1e-9, 0.2) == {1: 15.0, 2: 0.0}
    assert part_of(series, 0.2, 0.4) == {1: 30.0, 2: 0.0}
    assert part_of(series, 0.4, 0.6) == {1: 50.0}
    assert part_of(series, 0.9, 1.0) == {1: 95.0}
    assert part_of({1: whole, 2: {0: 0.0, 80: 1.0, 100: 3.0}}, 0.8, 1.0) == {1: 90.0, 2: 2.0}  # steps that both have
    assert part_of({1: {0: 1.0}}, 1e-9, 1.0) == part_of({}, 0.0, 1.0) == {}


def test_parts_of_training_are_shares_of_the_steps():
    curves = curves_of({1: {step: float(step) for step in range(0, 101, 10)}})
    assert curves.by_seed(0.9, 1.0) == {1: 95.0}
    assert curves.by_seed(1e-9, 0.2) == {1: 15.0}
    assert curves.by_seed(0.41, 0.49) == {}


def test_only_conditions_that_are_there_are_compared():
    assert list(pairs_of(["large", "large-plain"])) == [("large-plain", "large")]
    assert list(pairs_of(["large-aux", "large", "large-identity"])) == [
        ("large-aux", "large"), ("large-identity", "large-aux"), ("large-identity", "large"),
    ]  # fmt: skip
