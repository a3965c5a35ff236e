"""Data of the Texas 42 study, made up well and badly."""

from __future__ import annotations

import numpy as np
import pytest

from checks.verdicts import complains, in_order
from rookery.checks import Sample, Verdict, texas42
from studies.texas42_samples import small_study

FEW = Sample(positions=64)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return small_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def positions(study):
    return texas42.read_rows(study / "data" / "positions-late")[0]


@pytest.fixture(scope="module")
def decisions(study):
    return texas42.read_rows(study / "data" / "decisions-made-up")[0]


def test_sound_data_are_in_order(study):
    folders = sorted((study / "data").iterdir())
    found = texas42.check_data_sets(folders, FEW)
    in_order(found, "rows-sound", "split-part", "masks", "target-range", "label-scale", "illegal-labels", "duplicates")
    in_order(found, "forced-share", "logit-size", "both-teams", "split-leak")


def test_labels_three_times_too_large_are_found(positions):
    q = np.where(positions["q"] == texas42.UNLABELLED, texas42.UNLABELLED, 3 * positions["q"].astype(int))
    found = texas42.check_positions(positions | {"q": q}, "rows")
    complains(found, "target-range", Verdict.WRONG)


def test_labels_divided_by_42_are_found(decisions):
    scaled = (decisions["mean"].astype(float) / 42).astype(np.int16)
    complains(texas42.check_decisions(decisions | {"mean": scaled}, 0.0, "rows"), "label-scale", Verdict.WRONG)


def test_a_position_without_a_legal_tile_is_found(positions):
    q = positions["q"].copy()
    q[0] = texas42.UNLABELLED
    complains(texas42.check_positions(positions | {"q": q}, "rows"), "masks", Verdict.WRONG)


def test_positions_that_are_all_forced_are_found():
    complains(texas42.forced(np.eye(7, dtype=bool), "rows"), "forced-share", Verdict.WRONG)


def test_labels_of_the_other_team_are_found(decisions):
    turned = decisions | {"mean": -decisions["mean"]}
    complains(texas42.check_decisions(turned, 0.0, "rows"), "both-teams")


def test_labels_of_tiles_that_cannot_be_played_are_found(decisions):
    mean = np.where(decisions["mean"] == 0, 512, decisions["mean"]).astype(np.int16)
    complains(texas42.check_decisions(decisions | {"mean": mean}, 0.0, "rows"), "illegal-labels", Verdict.WRONG)


def test_logits_out_of_bounds_are_found(decisions):
    large = decisions | {"logits": (100 * decisions["logits"].astype(np.float32)).astype(np.float16)}
    complains(texas42.check_decisions(large, 0.0, "rows"), "logit-size", Verdict.WRONG)


def test_deals_of_another_part_than_the_plan_names_are_found(positions):
    complains(texas42.one_part(positions, "valid", "rows"), "split-part", Verdict.WRONG)
    assert texas42.one_part(positions, "all", "rows") == []


def test_the_same_position_again_and_again_is_found(positions):
    same = {name: array[np.zeros(100, int)] for name, array in positions.items()}
    complains(texas42.check_positions(same, "rows"), "duplicates", Verdict.WRONG)


def test_a_damaged_shard_is_told(study, tmp_path):
    for path in (study / "data" / "positions-late").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "00000.npz").write_bytes(b"nothing")
    complains(texas42.check_data_sets([tmp_path], FEW), "rows-sound", Verdict.WRONG)
