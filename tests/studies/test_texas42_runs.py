"""Runs of the Texas 42 study: tables, steps, stopping and going on."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.nets.files import load_network
from rookery.nets.residual import build
from rookery.nets.texas42 import Hands, Transcript
from rookery.search.texas42_batch import legal_slots
from rookery.search.texas42_replay import positions, replayed
from rookery.search.worlds import counted
from rookery.studies import texas42_plan, texas42_runs
from rookery.studies.texas42_decisions import DecisionSettings, make_decisions
from rookery.studies.texas42_files import OF_HAND, OF_POSITION, DataSet, write_shard
from rookery.studies.texas42_plan import preset_of, sized
from rookery.studies.texas42_runs import Run
from rookery.studies.texas42_tables import decision_columns, load_tables, position_columns
from rookery.studies.texas42_training import Trainer
from studies.texas42_samples import HANDS, Guessing, late_rows, settings_of, small_study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return small_study(tmp_path_factory.mktemp("texas42"))


def tables_of(study, stage, **changes):
    settings = settings_of(stage, **changes)
    return load_tables(
        study, settings.kind, settings.data, "cpu", settings.rows, settings.valid_rows, reads=settings.reads
    )


def reading(observation):
    return HANDS.model_copy(update={"reads": observation})


# ---- tables --------------------------------------------------------------------------------------


def test_q_of_a_table_is_from_the_movers_side():
    rows = late_rows(np.arange(40))
    states, columns = positions(*(rows[name] for name in OF_POSITION)), position_columns(rows)
    for state, q, labels, legal in zip(states, rows["q"], columns["q"], columns["legal"], strict=True):
        sign = 1 if state["texas42_mover"] in (0, 2) else -1
        assert [sign * value if value != -128 else 0 for value in q.tolist()] == labels.tolist()
        assert legal.tolist() == [value != -128 for value in q.tolist()]


def test_deals_that_validate_or_test_are_not_learned_from(study):
    rows = next(DataSet(study / "data" / "positions-late").read())
    tables = tables_of(study, 1)
    assert len(tables.train) == (rows["seed"] % 1000 < 900).sum() == 40
    assert {name: len(table) for name, table in tables.valid.items()} == {"positions-late": 50}
    hands = tables_of(study, 2)
    assert len(hands.train) == free_decisions(study, "decisions-made-up", 8)
    valid = {"decisions-valid": free_decisions(study, "decisions-valid", 3)}
    assert {name: len(table) for name, table in hands.valid.items()} == valid


def free_decisions(study, name, hands):
    """Count the decisions of the first hands of a set that have a choice, ply by ply as the rules say."""
    rows, game, count = next(DataSet(study / "data" / name).read()), load("texas42:bid=30"), 0
    for number in range(hands):
        dealt = [[tile for tile in range(28) if int(hand) >> tile & 1] for hand in rows["hands"][number]]
        position = game.set_up(dealt, int(rows["declaration"][number]), int(rows["leader"][number]))
        for tile in rows["history"][number].tolist():
            count += len(position.legal()) > 1
            position.play(dealt[position.mover].index(tile))
    return count


def test_rows_limit_what_is_learned_from(study):
    assert len(tables_of(study, 2, rows=3).train) == free_decisions(study, "decisions-made-up", 3)
    assert len(tables_of(study, 1, rows=7).train) == 7
    assert [tables_of(study, stage, rows=rows).rows for stage, rows in ((2, 3), (1, 7), (1, 0))] == [3, 7, 40]
    with pytest.raises(BadInput, match=r"rows must be at most 40, which .*positions-late has to learn from, .* not 41"):
        tables_of(study, 1, rows=41)


def test_rows_that_validate_are_taken_evenly_from_all_files_of_a_set(tmp_path):
    data = DataSet(tmp_path / "data" / "positions-parted")
    data.begin("positions", 2, {"seed": 0})
    for number, seeds in enumerate((np.arange(890, 915), np.arange(915, 950))):
        write_shard(data.shard(number), "positions", late_rows(seeds), {})
    tables = load_tables(tmp_path, "positions", valid_rows=10)
    assert tables.valid["positions-parted"].seeds.tolist() == list(range(900, 950, 5))
    assert tables.train.seeds.tolist() == list(range(890, 900))
    whole = load_tables(tmp_path, "positions").valid["positions-parted"]
    assert whole.seeds.tolist() == list(range(900, 950))


def test_decisions_of_a_table_are_those_before_each_play(study):
    rows = next(DataSet(study / "data" / "decisions-valid").read())
    columns, states = decision_columns(rows), replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    states = states[legal_slots(states).sum(1) > 1]
    assert (columns["trick"] == states["plays"] // 4).all()
    for state, legal, mean in zip(states, columns["legal"], columns["mean"], strict=True):
        mine = state["tiles"][state["texas42_mover"]]
        assert all(not int(state["played"]) >> int(tile) & 1 for tile in mine[legal])
        assert not mean[~legal].any()


def test_the_spread_of_worlds_that_were_drawn_is_widened_and_that_of_all_worlds_is_not(tmp_path):
    folder = tmp_path / "data" / "decisions-four"
    make_decisions(folder, 6, DecisionSettings(worlds=4, per_shard=20, part="train"), Guessing())
    rows = next(DataSet(folder).read())
    states = replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    states = states[legal_slots(states).sum(1) > 1]
    worlds = counted(states, states["texas42_mover"].astype(np.int64))
    told, wide = decision_columns(rows)["spread"], load_tables(tmp_path, "decisions").train.columns["spread"].numpy()
    few = worlds <= 4
    assert 0 < few.sum() < len(few)
    assert (wide[few] == told[few]).all()
    assert np.abs(wide[~few] - told[~few] * (4 / 3) ** 0.5).max() <= 0.5
    assert (wide[~few] > told[~few]).any()


def test_worlds_that_a_network_judged_were_drawn_also_where_there_are_few(tmp_path):
    folder = tmp_path / "data" / "decisions-four"
    settings = DecisionSettings(worlds=4, oracle="a network", per_shard=20, part="train")
    make_decisions(folder, 6, settings, Guessing())
    told = decision_columns(next(DataSet(folder).read()))["spread"]
    wide = load_tables(tmp_path, "decisions").train.columns["spread"].numpy()
    assert np.abs(wide - told * (4 / 3) ** 0.5).max() <= 0.5
    assert (wide > told).any()


def test_logits_are_not_learned_from_hands_that_have_none(tmp_path):
    def made(name, part, second=""):
        settings = DecisionSettings(worlds=1, per_shard=20, part=part, second=second)
        make_decisions(tmp_path / "data" / name, 6, settings, Guessing())

    made("decisions-q", "train")
    made("decisions-held", "valid")
    assert len(load_tables(tmp_path, "decisions").train)
    with pytest.raises(BadInput, match=r"decisions-q has no logits to learn from.*--data names other sets"):
        load_tables(tmp_path, "decisions", logits=True)
    made("decisions-logits", "train", "a policy")
    named = ("decisions-logits", "decisions-held")  # from the second nobody learns
    assert len(load_tables(tmp_path, "decisions", named, logits=True).train)


def test_spreads_are_widened_by_the_worlds_of_their_own_trick(tmp_path):
    folder = tmp_path / "data" / "decisions-by-trick"
    make_decisions(folder, 6, DecisionSettings(worlds=(1, 4, 9), per_shard=20, part="train"), Guessing())
    rows = next(DataSet(folder).read())
    found = load_tables(tmp_path, "decisions").train.columns
    told, wide, trick = decision_columns(rows)["spread"], found["spread"].numpy(), found["trick"].numpy()
    assert (wide[trick == 0] == told[trick == 0]).all()  # one world has no spread, and nothing can be known of it
    for some, worlds in ((trick == 1, 4), (trick == 2, 9)):
        assert np.abs(wide[some] - told[some] * (worlds / (worlds - 1)) ** 0.5).max() <= 0.5
        assert (wide[some] > told[some]).any()


def test_a_set_that_is_still_being_made_is_not_learned_from(study, tmp_path):
    whole = study / "data" / "decisions-made-up"
    part = tmp_path / "data" / "decisions-part"
    shutil.copytree(whole, part)
    plan = json.loads((part / "plan.json").read_text())
    (part / "plan.json").write_text(json.dumps(plan | {"shards": plan["shards"] + 2}))
    with pytest.raises(BadInput, match=f"decisions-part is not complete: 2 of {plan['shards'] + 2} files are missing"):
        load_tables(tmp_path, "decisions")


# ---- runs ----------------------------------------------------------------------------------------


def files_of(run):
    return run.network_file.read_bytes(), [line | {"seconds": 0} for line in run.progress.read()]


@pytest.mark.parametrize("muon", [0.0, 2.0])
@pytest.mark.parametrize("stage", [1, 2])
def test_a_run_that_is_stopped_again_and_again_ends_as_one_that_is_not(study, stage, muon, monkeypatch):
    tables = tables_of(study, stage)
    whole, parted = (
        Run(study, settings_of(stage, f"{name}-{stage}-{muon:.0f}", steps=5, every=2, muon=muon))
        for name in ("whole", "parted")
    )
    assert whole.train(tables)
    monkeypatch.setattr(texas42_runs, "PIECE", 1 << 16)
    pieces = 0
    while not parted.train(tables, until=0.0):
        pieces += 1
        assert len(list(parted.folder.glob("state-*.bin"))) > 1
    assert pieces == 4
    first, second = files_of(whole), files_of(parted)
    assert second[1] == first[1]
    one, other = (load_network(run.network_file).network for run in (whole, parted))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert isinstance(one, Hands if stage == 1 else Transcript)
    assert not list(parted.folder.glob("state*"))
    for name in ("state.json", "state-0123-0.bin"):
        (parted.folder / name).write_bytes(b"of a process that was killed behind its network")
    assert parted.train(tables)  # nothing is left to do
    assert not list(parted.folder.glob("state*"))


@pytest.mark.parametrize(
    ("muon", "reads", "answers"), [(0.0, "all", "q"), (1.0, "all", "q"), (1.0, "open", "q"), (1.0, "open", "both")]
)
def test_a_run_learns(study, muon, reads, answers):
    network = reading(reads).model_copy(update={"answers": answers})
    changes = {"steps": 80, "every": 40, "learning_rate": 3e-3, "muon": muon, "network": network}
    run = Run(study, settings_of(1, f"learns-{reads}-{answers}-{muon:.0f}", **changes))
    run.train(tables_of(study, 1, network=reading(reads)))
    first, last = run.progress.read()
    assert last["train"]["loss"] < 0.7 * first["train"]["loss"]
    assert set(last["valid"]) == {"positions-late"}
    figures = last["valid"]["positions-late"]
    assert figures["all"]["count"] == figures["unforced"]["count"] + figures["forced"]["count"] == 50
    assert figures["forced"]["gap"] == 0
    assert load_network(run.network_file).about.observation == reads
    facts = json.loads(run.facts_file.read_bytes())
    assert facts["parameters"] == sum(p.numel() for p in load_network(run.network_file).network.parameters())
    assert list(facts["checksums"]) == ["positions-late/00000"]


@pytest.mark.parametrize("stage", [1, 2])
def test_the_matrices_of_layers_go_by_muon_and_all_else_by_adamw(study, stage):
    settings = settings_of(stage, "none", muon=3.0)
    trainer = Trainer(build(settings.network, 0), settings, tables_of(study, stage).train)
    names = {id(parameter): name for name, parameter in trainer.network.named_parameters()}
    others, matrices = trainer.optimizer.param_groups
    assert {names[id(each)] for each in matrices["params"]} == {
        name for name in names.values() if name.startswith("layers.") and "norm" not in name and "bias" not in name
    }
    assert len(others["params"]) + len(matrices["params"]) == len(names)
    assert (others["pace"], matrices["pace"]) == (1.0, 3.0)
    trainer.train(3)
    assert float(matrices["lr"]) == pytest.approx(trainer.settings.rate(2))


@pytest.mark.parametrize("answers", ["q", "logits"])
def test_stage_2_learns_either_kind_of_labels(study, answers):
    network = settings_of(2).network.model_copy(update={"answers": answers})
    run = Run(study, settings_of(2, f"labels-{answers}", steps=120, every=60, learning_rate=3e-3, network=network))
    run.train(tables_of(study, 2))
    first, last = run.progress.read()
    assert last["train"]["loss"] < first["train"]["loss"]


def test_a_run_is_not_gone_on_with_under_other_settings(study):
    run = Run(study, settings_of(1, "other"))
    assert not run.train(tables_of(study, 1), until=0.0)
    with pytest.raises(BadInput, match=r"learning_rate 0\.001, not 0\.01"):
        Run(study, settings_of(1, "other", learning_rate=0.01)).train(tables_of(study, 1))
    with pytest.raises(BadInput, match="less than a batch"):
        Run(study, settings_of(1, "large", batch=1000)).train(tables_of(study, 1))


def test_a_run_from_before_there_were_muon_and_open_hands_goes_on(study):
    run = Run(study, settings_of(1, "old"))
    assert not run.train(tables_of(study, 1), until=0.0)
    facts = json.loads(run.facts_file.read_bytes())
    del facts["muon"], facts["network"]["reads"]
    run.facts_file.write_text(json.dumps(facts))
    with pytest.raises(BadInput, match=r"muon 0\.0, not 2\.0"):
        Run(study, settings_of(1, "old", muon=2.0)).train(tables_of(study, 1))
    with pytest.raises(BadInput, match=r"'reads': 'all'.*, not .*'reads': 'open'"):
        Run(study, settings_of(1, "old", network=reading("open"))).train(tables_of(study, 1))
    assert Run(study, settings_of(1, "old")).train(tables_of(study, 1))


@pytest.mark.parametrize("able", [True, False])
def test_a_precision_is_found_out_when_a_run_begins_and_kept(study, able, monkeypatch):
    monkeypatch.setattr(texas42_plan, "computes_bf16", lambda: able)
    run = Run(study, settings_of(2, f"auto-{able}", precision="auto"))
    assert not run.train(tables_of(study, 2), until=0.0)
    assert json.loads(run.facts_file.read_bytes())["precision"] == ("bf16" if able else "fp32")
    monkeypatch.setattr(texas42_plan, "computes_bf16", lambda: not able)  # on another machine
    again = Run(study, settings_of(2, f"auto-{able}", precision="auto"))
    assert again.train(tables_of(study, 2))
    assert again.settings.precision == ("bf16" if able else "fp32")


@pytest.mark.faults
@pytest.mark.parametrize("damage", ["flip", "gone", "json"])
def test_a_damaged_state_is_refused(study, damage):
    run = Run(study, settings_of(1, f"damaged-{damage}"))
    run.train(tables_of(study, 1), until=0.0)
    piece = next(run.folder.glob("state-*.bin"))
    if damage == "flip":
        content = piece.read_bytes()
        piece.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "gone":
        piece.unlink()
    else:
        (run.folder / "state.json").write_text("{")
    with pytest.raises(BadInput, match=r"state\.json cannot be read"):
        run.train(tables_of(study, 1))


# ---- the plan ------------------------------------------------------------------------------------


def test_the_learning_rate_rises_and_falls_to_nothing():
    settings = settings_of(1, steps=100, warmup=10)
    rates = [settings.rate(step) for step in range(100)]
    assert rates[0] == pytest.approx(1e-4)
    assert max(rates) == pytest.approx(1e-3, rel=0.03)
    assert rates.index(max(rates)) in (9, 10)
    assert rates[-1] < 1e-6


@pytest.mark.parametrize("name", ["quick", "home", "full"])
def test_presets_train_on_data_that_they_make_from_runs_that_they_train(name):
    plan = preset_of(name)
    runs = [run.name for run in (*plan.stage1, *plan.stage2)]
    assert len(set(runs)) == len(runs)
    positions, hands = ({each.name for each in made} for made in (plan.positions, plan.decisions))
    assert all(set(run.data) <= positions for run in plan.stage1)
    assert all(set(run.data) <= hands for run in plan.stage2)
    first = {run.name: run.network.answers for run in plan.stage1}
    for each in plan.decisions:
        assert each.oracle == "exact" or first[each.oracle] in ("q", "both")
        assert not each.second or first[each.second] == "policy"


def test_a_size_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(BadInput, match="64x2, 96x3, 128x4, 256x6"):
        sized(2, "817k")
