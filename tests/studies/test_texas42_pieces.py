"""The pieces of the Texas 42 study: their order, what is done, and what comes next."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rookery.errors import BadInput
from rookery.nets.zoo import zoo_file
from rookery.studies.archives import digest
from rookery.studies.texas42_files import FORMAT, VERSION, DataSet, write_json, write_shard
from rookery.studies.texas42_measured import keep, keep_match, read_measured
from rookery.studies.texas42_pieces import CHOICES, CLAIM, REPORT, STAGES, is_done, pieces_of, to_do
from rookery.studies.texas42_plan import PRESETS, Hands, Positions
from rookery.studies.texas42_trial import TRIAL
from studies.texas42_samples import late_rows

RECORD = Path(__file__).parents[2] / "docs" / "studies" / "texas42" / "full"


def names(pieces):
    return [piece.name for piece in pieces]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_piece_comes_after_what_it_needs_and_nothing_comes_twice(preset, tmp_path):
    plan = PRESETS[preset]()
    order = names(pieces_of(plan))
    assert len(set(order)) == len(order)
    for piece in pieces_of(plan):
        assert piece.stage in STAGES
        assert set(piece.needs) <= set(order[: order.index(piece.name)]) or piece.stage == "stage1"
    following = to_do(tmp_path, plan)
    assert sorted(names(following)) == sorted(order)
    for place, piece in enumerate(following):
        assert set(piece.needs) <= set(names(following[:place]))
    assert following[-1].name == REPORT


def test_a_stage_brings_along_what_it_needs_and_no_more(tmp_path):
    plan = PRESETS["full"]()
    wanted = names(to_do(tmp_path, plan, ("labels",)))
    assert wanted[-3:] == ["decisions-100", "decisions-1000", CLAIM]
    assert "stage1-open-128x4" in wanted
    assert not {"stage1-73k", "decisions-exact", "stage2-128x4", TRIAL} & set(wanted)
    exact = to_do(tmp_path, plan, ("exact",))
    assert {piece.stage for piece in exact} == {"exact"}
    assert names(to_do(tmp_path, plan, ("judge",))) == ["decisions-valid", TRIAL, CHOICES]
    with pytest.raises(BadInput, match="--only"):
        to_do(tmp_path, plan, ("stage3",))


def test_pieces_are_chosen_by_patterns_within_the_stages_that_are_named(tmp_path):
    plan = PRESETS["full"]()
    chosen = names(to_do(tmp_path, plan, (), ("positions-random", "*-played")))
    assert chosen == ["positions-random", "positions-played"]
    complete(tmp_path, *(run.name for run in plan.stage1))
    for data in ("decisions-claim", "decisions-valid"):
        made(tmp_path, plan, data)
    sweep = names(to_do(tmp_path, plan, (), ("stage2-sweep-*",)))
    assert len(sweep) == 6
    assert sweep == names(to_do(tmp_path, plan, ("stage2",), ("*sweep*",)))
    matches = names(to_do(tmp_path, plan, ("matches",), ("*/random", "exact:10/*")))
    assert matches[-3:] == ["stage2-256x6/random", "exact:10/stage1-open-128x4:10", "exact:10/stage2-256x6"]
    assert "exact:10/random" not in matches  # of another stage
    for stages in ((), ("stage2",)):
        with pytest.raises(BadInput, match=r"--pieces 'stage3-\*'.*stage2-128x4"):
            to_do(tmp_path, plan, stages, ("stage2-*", "stage3-*"))


def made(folder, plan, name):
    """Put files of no content where those of a set would be, and say beside them that they are whole."""
    what = next(piece.what for piece in pieces_of(plan) if piece.name == name)
    data = DataSet(folder / "data" / name)
    data.begin("decisions", what.size.shards, {"oracle": "0123"} | what.settings)
    for number in range(what.size.shards):
        data.shard(number).touch()
        facts = {"format": FORMAT, "version": VERSION, "games": what.size.of(number), "sha256": digest(b"")}
        write_json(data.shard(number).with_suffix(".json"), facts)


def complete(folder, *runs):
    for run in runs:
        (folder / "runs" / run).mkdir(parents=True)
        (folder / "runs" / run / "network.safetensors").write_bytes(run.encode())


def test_networks_that_are_there_need_no_data(tmp_path):
    plan = PRESETS["home"]()
    complete(tmp_path, *(run.name for run in plan.stage1))
    wanted = to_do(tmp_path, plan)
    assert not [piece for piece in wanted if isinstance(piece.what, Positions)]
    assert names(wanted)[:2] == ["decisions-valid", TRIAL]
    complete(tmp_path, *(run.name for run in plan.stage2))
    keep(tmp_path, {"claim": {"decisions-claim": {}}})
    wanted = to_do(tmp_path, plan)
    assert [piece.name for piece in wanted if isinstance(piece.what, Hands)] == ["decisions-valid"]
    assert CLAIM not in names(wanted)
    assert "decisions-claim" in names(to_do(tmp_path, plan, ("labels",)))  # asked for by name


def test_a_run_of_the_same_name_with_other_settings_is_not_taken_for_one_of_the_preset(tmp_path):
    plan = PRESETS["home"]()
    complete(tmp_path, "stage2-96x3")
    wanted = next(run for run in plan.stage2 if run.name == "stage2-96x3")
    for precision in ("fp32", "bf16"):  # found out by each machine
        facts = wanted.as_dict() | {"stage": 2, "precision": precision}
        (tmp_path / "runs" / "stage2-96x3" / "settings.json").write_text(json.dumps(facts))
        assert "stage2-96x3" not in names(to_do(tmp_path, plan))
    del facts["muon"]  # as it was before there was a choice
    (tmp_path / "runs" / "stage2-96x3" / "settings.json").write_text(json.dumps(facts | {"steps": 8000}))
    with pytest.raises(BadInput, match=r"stage2-96x3 is another run, with steps 8000, not 24000; muon 0\.0, not 2\.0"):
        to_do(tmp_path, plan)


def test_a_set_is_done_when_its_last_file_is_there_and_none_is_damaged_or_too_small(tmp_path):
    plan = PRESETS["quick"]()
    piece = pieces_of(plan)[0]
    data = DataSet(tmp_path / "data" / piece.name)
    for number in range(2):
        assert not is_done(tmp_path, plan, piece)
        data.begin("positions", 2, piece.what.settings)
        write_shard(data.shard(number), "positions", late_rows(np.arange(3)), {"deals": 150})
    assert is_done(tmp_path, plan, piece)
    content = data.shard(1).read_bytes()
    data.shard(1).write_bytes(content[:-1] + b"?")
    assert not is_done(tmp_path, plan, piece)
    write_shard(data.shard(1), "positions", late_rows(np.arange(3)), {"deals": 149})
    assert not is_done(tmp_path, plan, piece)


def test_data_of_another_preset_are_not_taken_for_those_of_this_one(tmp_path):
    others = {each.name: each for each in PRESETS["home"]().decisions}
    for name in ("decisions-valid", "decisions-exact", "decisions-claim"):
        data = DataSet(tmp_path / "data" / name)
        data.begin("decisions", 1, {"oracle": "0123"} | others[name].settings)
        with pytest.raises(BadInput, match=rf"{name}/plan\.json: these data are made with .*; take another --folder"):
            to_do(tmp_path, PRESETS["full"]())
        shutil.rmtree(data.folder)
    wanted = next(each for each in PRESETS["full"]().decisions if each.name == "decisions-100")
    DataSet(tmp_path / "data" / wanted.name).begin("decisions", 10, wanted.settings | {"oracle": "exact"})
    with pytest.raises(BadInput, match="oracle 'exact', not 'stage1-open-128x4'"):
        to_do(tmp_path, PRESETS["full"]())


def test_a_match_is_played_again_when_a_network_is_another(tmp_path):
    plan = PRESETS["quick"]()
    piece = next(piece for piece in pieces_of(plan) if piece.name == "stage2-quick/random")
    complete(tmp_path, "stage2-quick")
    match = {"first": "stage2-quick", "second": "random", "deals": plan.deals}
    keep_match(tmp_path, match | {"networks": {"stage2-quick": "other"}})
    assert not is_done(tmp_path, plan, piece)
    from rookery.studies.texas42_pieces import network_marks

    keep_match(tmp_path, match | {"networks": network_marks(tmp_path)})
    assert is_done(tmp_path, plan, piece)
    (tmp_path / "runs" / "stage2-quick" / "network.safetensors").unlink()
    assert is_done(tmp_path, plan, piece)  # it has played, wherever it is now
    assert len(read_measured(tmp_path)["duels"]) == 1


def test_choices_that_an_older_program_or_another_trial_judged_are_judged_again(tmp_path):
    plan = PRESETS["quick"]()
    piece = next(piece for piece in pieces_of(plan) if piece.name == CHOICES)
    complete(tmp_path, "stage2-quick")
    from rookery.studies.texas42_pieces import network_marks, trial_mark

    (tmp_path / TRIAL).write_bytes(b"one")
    trial = {"networks": network_marks(tmp_path), "players": {}, "mark": trial_mark(tmp_path)}
    keep(tmp_path, {"trial": trial})
    assert not is_done(tmp_path, plan, piece)
    keep(tmp_path, {"trial": trial | {"apart": []}})
    assert is_done(tmp_path, plan, piece)
    (tmp_path / TRIAL).write_bytes(b"another, with more decisions")
    assert not is_done(tmp_path, plan, piece)


def test_what_the_pages_keep_of_the_study_in_full_is_done_beside_the_network_of_the_package(tmp_path):
    folder, plan = tmp_path / "full", PRESETS["full"]()
    shutil.copytree(RECORD, folder)
    shutil.copy(zoo_file("texas42-open"), folder / "runs" / "stage1-open-128x4" / "network.safetensors")
    done = {piece.name for piece in pieces_of(plan) if piece.name != REPORT and is_done(folder, plan, piece)}
    assert {"stage1-open-128x4", TRIAL, CHOICES, CLAIM} <= done
    assert set(plan.duels) <= done
