"""Tiny networks of the Domineering study, compared from their files; and its commands."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from rookery import BadInput
from rookery.arena.evaluator import on_threads
from rookery.nets.configs import ResidualConfig, TransformerConfig
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.probes.similarity import cka, debiased_cka
from rookery.studies.archives import digest
from rookery.studies.domineering_batches import GameTable, Positions
from rookery.studies.domineering_compare import UNFINISHED, CompareSettings, Comparison, compare
from rookery.studies.domineering_files import write_games
from rookery.studies.domineering_findings import Findings
from rookery.studies.domineering_plan import RunSettings
from rookery.studies.domineering_probes import layer_inputs, probe_layers, probe_set
from studies.domineering_made_up import made_up_run
from studies.domineering_samples import some_records

pytestmark = pytest.mark.xdist_group("domineering")

TINY = TransformerConfig(rows=16, cols=16, width=8, heads=1, head_width=8, layers=2, mlp=8, policy_hidden=8)
SETTINGS = CompareSettings(positions=100, similar=50, openings=2, shuffles=3)
ABOUT = About(game="domineering", rules_version=1, observation="tokens", step=1000)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with on_threads(1):
        yield


def quiet(done, total, note):
    assert 0 <= done < total
    assert note


def tiny_study(folder, names, games=60):
    """Write runs with networks of their own, and games."""
    for number, name in enumerate(names):
        place = made_up_run(folder, name, steps=1000, layers=2)
        save_network(place / "network.safetensors", build(TINY, number), ABOUT)
    if games:
        (folder / "data").mkdir()
        write_games(folder / "data" / "phase1_games.npz", some_records(games, seed=3), {"phase": 1})
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    names = ["large-s1", "large-aux-s1", "large-s2", "large-aux-s2"]
    folder = tiny_study(tmp_path_factory.mktemp("compared"), names)
    compare(folder, SETTINGS, "cpu", quiet)
    return folder


@pytest.fixture(scope="module")
def found(study):
    return json.loads((study / "compare.json").read_text())


def test_networks_are_compared_that_share_their_condition_or_their_seed(found):
    pairs = {(row["kind"], row["first"], row["second"]) for row in found["similarity"]}
    assert pairs == {
        ("seeds", "large-s1", "large-s2"), ("seeds", "large-aux-s1", "large-aux-s2"),
        ("conditions", "large-s1", "large-aux-s1"), ("conditions", "large-s2", "large-aux-s2"),
    }  # fmt: skip


def test_likeness_is_cka_on_positions_of_validation(study, found):
    table = GameTable(some_records(60, seed=3))
    probed = probe_set(Positions(table, "valid"), 100)[::2]
    first, second = (list(layer_inputs(build(TINY, number), probed)) for number in (0, 1))
    row = next(row for row in found["similarity"] if (row["first"], row["second"]) == ("large-s1", "large-aux-s1"))
    assert row["positions"] == 50
    assert row["cka"] == pytest.approx([cka(*pair) for pair in zip(first, second, strict=True)], abs=1e-5)
    assert row["debiased"] == pytest.approx([debiased_cka(*pair) for pair in zip(first, second, strict=True)], abs=1e-5)


def test_reads_and_controls_are_there(found):
    probed = probe_set(Positions(GameTable(some_records(60, seed=3)), "valid"), 100)
    entry = next(entry for entry in found["reads"] if entry["run"] == "large-s1")
    assert entry["layers"][:4] == probe_layers(build(TINY, 0), probed, reads=("cls", "mean"))
    assert [(line["read"], line["layer"]) for line in entry["layers"][4:]] == [("all", 1)]
    controls = found["controls"]
    assert controls["raw"]["read"] == "board"
    assert [each["seed"] for each in controls["random"]] == [1, 2]
    assert [each["run"] for each in controls["shuffled"]] == ["large-s1", "large-aux-s1"]


def test_conditions_of_one_seed_meet_at_equal_steps(found):
    assert [(match["first"], match["second"]) for match in found["strength"]] == [
        ("large-aux-s1", "large-s1"), ("large-aux-s2", "large-s2"),
    ]  # fmt: skip
    assert {match["games"] for match in found["strength"]} == {4}


def test_the_findings_read_what_was_compared(study):
    findings = Findings(study)
    assert findings.strength(("large-aux", "large"), "taught").estimate.count == 2
    assert len(findings.similarity("seeds", "taught")["large"]) == 2


def test_matches_are_not_played_twice(study, found, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a match was played again")

    monkeypatch.setattr("rookery.studies.domineering_compare.play", refuse)
    assert list(Comparison(study, SETTINGS, "cpu").strength(quiet)) == found["strength"]
    with pytest.raises(AssertionError, match="played again"):
        list(Comparison(study, replace(SETTINGS, openings=3), "cpu").strength(quiet))


def test_sectors_are_shuffled_for_the_first_seed_that_has_networks(tmp_path):
    tiny_study(tmp_path, ["large-s2", "large-aux-s2"])
    made_up_run(tmp_path, "large-s1", steps=1000)  # has left no network
    shuffled = Comparison(tmp_path, SETTINGS, "cpu").controls(quiet)["shuffled"]
    assert [row["run"] for row in shuffled] == ["large-s2", "large-aux-s2"]


def test_a_comparison_that_is_killed_leaves_its_own_matches_last(study, found, tmp_path):
    names = ["large-s1", "large-aux-s1", "large-s2", "large-aux-s2"]
    tiny_study(tmp_path, names, games=0)
    old = [match | {"networks": ["other", "weights"], "score": 0.0} for match in found["strength"]]
    (tmp_path / "compare.json").write_text(json.dumps(found | {"strength": old}))

    def kill(done, total, note):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path, SETTINGS, "cpu", kill)
    left = json.loads((tmp_path / "compare.json").read_text())["strength"]
    assert left[:-1] == old
    assert Findings(tmp_path).matches(("large-aux", "large"), "taught")[1]["networks"] != ["other", "weights"]


def test_a_comparison_that_is_killed_among_its_probes_goes_on_there(study, found, tmp_path, monkeypatch):
    tiny_study(tmp_path, ["large-s1", "large-aux-s1", "large-s2", "large-aux-s2"])

    def kill(done, total, note):
        if (done, note) == (2, "probes of large-aux-s1"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path, SETTINGS, "cpu", kill)
    left = json.loads((tmp_path / "compare.json").read_text())
    assert left["reads"] == found["reads"][:2]
    assert left["missing"][-1] == UNFINISHED
    assert UNFINISHED in Findings(tmp_path).missing
    probed, read = [], Comparison.read
    monkeypatch.setattr(Comparison, "read", lambda self, name, *rest: (probed.append(name), read(self, name, *rest))[1])
    again = json.loads(compare(tmp_path, SETTINGS, "cpu", quiet).read_text())
    assert probed == ["large-aux-s1", "large-aux-s2"]
    assert again["reads"] == found["reads"]
    assert again["strength"] == found["strength"]
    for row, whole in zip(again["similarity"], found["similarity"], strict=True):
        assert row["cka"] == pytest.approx(whole["cka"], abs=1e-4)
    assert UNFINISHED not in again["missing"]


def test_other_weights_or_positions_are_probed_again(study):
    names = {"large-s1", "large-aux-s1", "large-s2", "large-aux-s2"}
    assert set(Comparison(study, SETTINGS, "cpu").known) == names
    assert not Comparison(study, replace(SETTINGS, positions=101), "cpu").known
    other = Comparison(study, SETTINGS, "cpu")
    other.prints["large-s1"] = "others"
    known = json.loads((study / "compare.json").read_text())["reads"]
    assert [other.is_known(entry) for entry in known if entry["run"] == "large-s1"] == [False]


def written_settings(folder, settings, **facts):
    """Let a made-up run say what it was trained with."""
    place = folder / "runs" / settings.name / "settings.json"
    place.write_text(json.dumps(settings.as_dict() | facts))


def test_the_probes_of_step_0_are_asked_again_where_a_run_says_what_it_began_with(tmp_path):
    tiny_study(tmp_path, ["small-aux-s1", "large-s1", "large-aux-s1", "large-s2"])
    small = TINY.model_copy(update={"layers": 1})
    made = {name: save_small(tmp_path / "runs" / "small-aux-s1" / name, small) for name in ("network", "best")}
    large = RunSettings("large", 1, TINY, steps=1000)
    embedding = {"small": "small-aux-s1", "sha256": digest(made["best"].read_bytes())}
    written_settings(tmp_path, large)
    written_settings(tmp_path, replace(large, condition="large-aux", small=small), embedding=embedding)
    comparison = Comparison(tmp_path, SETTINGS, "cpu")
    entries = {entry["run"]: entry for entry in comparison.reads(quiet)}
    assert [line["layer"] for line in entries["large-s1"]["kept"]] == [0, 1]
    assert [line["layer"] for line in entries["large-aux-s1"]["kept"]] == [0, 1]
    assert entries["small-aux-s1"]["kept"] == entries["large-s2"]["kept"] == []
    assert [line for line in comparison.missing if "began with" in line] == [
        "What large-s2 began with is not known, so nothing was read from it: its settings do not say network."
    ]
    save_small(made["best"], small, seed=8)
    other = Comparison(tmp_path, SETTINGS, "cpu")
    assert other.first_network(other.records.runs["large-aux-s1"]) is None
    assert "small-aux-s1 is another network now" in other.missing[-1]


def save_small(path, config, seed=7):
    """Write a small network."""
    place = path.with_suffix(".safetensors")
    save_network(place, build(config, seed), ABOUT)
    return place


def test_what_cannot_be_compared_is_named(tmp_path):
    tiny_study(tmp_path, ["large-s1"], games=0)
    other = made_up_run(tmp_path, "large-aux-s1", steps=2000)
    save_network(other / "network.safetensors", build(TINY, 3), ABOUT)
    made_up_run(tmp_path, "large-s2", steps=1000)
    (made_up_run(tmp_path, "large-s3", steps=1000) / "network.safetensors").write_bytes(b"nothing")
    foreign = build(ResidualConfig(inputs=4, actions=2, width=4, blocks=1, value_hidden=2, policy_hidden=2), 1)
    save_network(made_up_run(tmp_path, "large-s4", steps=1000) / "network.safetensors", foreign, ABOUT)
    found = json.loads(compare(tmp_path, SETTINGS, "cpu", quiet).read_text())
    told = "\n".join(found["missing"])
    assert "large-s2 has left no network." in told
    assert "The network of large-s3 cannot be read" in told
    assert "The network of large-s4 is no transformer." in told
    assert "There are no games in data/" in told
    assert "large-aux-s1 and large-s1 have not met: they have 2,000 and 1,000 steps." in told
    assert found["strength"] == found["similarity"] == found["reads"] == []


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(BadInput, match="holds no runs of the Domineering study"):
        compare(tmp_path, SETTINGS, "cpu", quiet)


@pytest.mark.parametrize("change", [{"openings": 1}, {"positions": 0}, {"candidates": 0}, {"candidates": 65}])
def test_settings_that_cannot_be_are_refused(change):
    with pytest.raises(BadInput, match=f"{next(iter(change))} must be a whole number in"):
        CompareSettings(**change)


@pytest.mark.slow
def test_two_comparisons_give_the_same_numbers(study, found, tmp_path):
    names = ["large-s1", "large-aux-s1", "large-s2", "large-aux-s2"]
    tiny_study(tmp_path, names)
    torch.manual_seed(99)  # nothing is drawn from what others share
    assert json.loads(compare(tmp_path, SETTINGS, "cpu", quiet).read_text()) == found


# ---- commands ------------------------------------------------------------------------------------


def test_commands_compare_and_report(tmp_path, capsys, monkeypatch):
    from typer.testing import CliRunner

    from rookery.cli import app

    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    folder = tiny_study(tmp_path / "study", ["large-s1", "large-aux-s1"], games=0)
    runner = CliRunner()
    place = ["--folder", str(folder)]
    compared = runner.invoke(app, ["study", "domineering", "compare", *place, "--openings", "2", "--device", "cpu"])
    assert compared.exit_code == 0, compared.output
    assert (folder / "compare.json").is_file()
    written = runner.invoke(app, ["study", "domineering", "report", *place, "--json"])
    assert written.exit_code == 0, written.output
    assert "taught" in json.loads(capsys.readouterr().out or written.stdout)["protocols"]
    assert (folder / "report.html").is_file()
