"""Runs side by side: which there are, what they are called, and which are gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from learn.support_runs import board_settings
from rookery import BadInput
from rookery.learn.runs import Run
from rookery.learn.settings import read_settings, write_settings
from rookery.learn.sweeps import (
    Variant,
    base_folder,
    combinations_of,
    is_complete,
    opened_variant,
    split_at_commas,
    values_of,
    with_seeds,
)


@pytest.fixture
def config(tmp_path):
    write_settings(board_settings(seed=5), tmp_path / "small.yaml")
    return str(tmp_path / "small.yaml")


def test_seeds_count_from_that_of_the_settings_and_name_the_folders(config, tmp_path):
    variants = with_seeds(config, ["training.batch=4"], 3, tmp_path / "base")
    assert [variant.folder.name for variant in variants] == ["base-seed5", "base-seed6", "base-seed7"]
    assert [variant.settings.seed for variant in variants] == [5, 6, 7]
    assert {variant.settings.training.batch for variant in variants} == {4}


def test_a_sweep_makes_all_combinations_each_in_a_folder_of_its_own(config, tmp_path):
    texts = ["training.batch=4,8", "network.hidden=[8],[8,16]"]
    variants = combinations_of(config, ["seed=2"], texts, tmp_path / "base")
    made = [(variant.settings.training.batch, variant.settings.network.hidden) for variant in variants]
    assert made == [(4, (8,)), (4, (8, 16)), (8, (8,)), (8, (8, 16))]
    assert variants[1].folder == tmp_path / "base-training.batch=4-network.hidden=_8_16_"
    assert len({variant.folder for variant in variants}) == 4
    assert {variant.settings.seed for variant in variants} == {2}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b", ["a", "b"]), ("[1,2],[3]", ["[1,2]", "[3]"]), ("{a: 1, b: 2},c", ["{a: 1, b: 2}", "c"]),
        ("'a,b',c", ["'a,b'", "c"]), ("'[',b", ["'['", "b"]), ("a", ["a"]), ("a,", ["a", ""]),
    ],
)  # fmt: skip
def test_commas_in_brackets_and_quotes_belong_to_a_value(text, parts):
    assert split_at_commas(text) == parts


@pytest.mark.parametrize("text", ["training.batch", "training.batch=", "=4,8", "training.batch=4,,8", "a=1,1"])
def test_a_setting_without_values_or_with_one_twice_is_refused(text):
    with pytest.raises(BadInput, match=text.partition(",")[0]):
        values_of(text)


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["training.batch=4,-8"], r"training\.batch"),
        (["training.bach=4,8"], "did you mean"),
        (["training.batch=4", "training.batch=8"], "stands twice"),
        (["network.hidden=[1],(1)"], "both be kept|hidden"),
        ([f"seed={','.join(map(str, range(40)))}", f"training.batch={','.join(map(str, range(1, 40)))}"], "1560 runs"),
    ],
)
def test_a_wrong_sweep_is_refused_before_anything_begins(config, tmp_path, texts, complaint):
    with pytest.raises(BadInput, match=complaint):
        combinations_of(config, [], texts, tmp_path / "base")
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


def test_a_run_that_is_there_is_gone_on_with_and_one_of_other_settings_is_refused(config, tmp_path):
    first = opened_variant(Variant(tmp_path / "run", read_settings(config)))
    assert opened_variant(Variant(tmp_path / "run", read_settings(config))).folder == first.folder
    with pytest.raises(BadInput, match="other settings"):
        opened_variant(Variant(tmp_path / "run", read_settings(config, ["seed=9"])))
    with pytest.raises(BadInput, match="other settings"):
        opened_variant(Variant(tmp_path / "run", read_settings(config, ["game=domineering:rows=5,cols=5"])))


def test_folders_are_named_by_the_person_the_settings_or_the_file(config):
    settings = read_settings(config)
    assert base_folder(config, settings, None) == Path.cwd() / "runs" / "small"
    assert base_folder(config, settings, Path("here/x")) == Path.cwd() / "here" / "x"
    told = read_settings(config, ["folder=there"])
    assert base_folder(config, told, None) == Path.cwd() / "there"


def test_a_run_is_complete_when_its_progress_says_so(tmp_path):
    run = Run.create(tmp_path / "run", board_settings())
    assert not is_complete(run)
    with run.training():
        run.write_progress("training", 10)
        assert not is_complete(run)
        run.write_progress("complete", 40)
    assert is_complete(run)
