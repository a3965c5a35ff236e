"""The Texas 42 study's judgements, matches, checks and report."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from rookery.arena.texas42_networks import HandsOracle
from rookery.cli import app
from rookery.cli.study_texas42_work import compare_labels, judge_choices
from rookery.errors import BadInput
from rookery.learn.files import LineLog
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.search.texas42_batch import legal_slots
from rookery.search.texas42_replay import replayed
from rookery.search.worlds import SHARE
from rookery.studies import texas42_checks, texas42_evaluate
from rookery.studies.stages import read_notes
from rookery.studies.texas42_checks import TOKENS, Check, all_checks, checks_of_data, checks_of_run, tokens_and_worlds
from rookery.studies.texas42_duels import play_duel, player_of
from rookery.studies.texas42_evaluate import (
    all_choices,
    choices_of,
    evaluate_trial,
    judged,
    logits_against_q,
    paired,
    peers,
    random_choices,
)
from rookery.studies.texas42_files import OF_HAND, DataSet, write_shard
from rookery.studies.texas42_measured import keep, keep_part
from rookery.studies.texas42_pieces import network_marks, trial_mark
from rookery.studies.texas42_report import read_measured, write_report
from rookery.studies.texas42_runs import Run, stage_of
from rookery.studies.texas42_tables import load_tables
from rookery.studies.texas42_trial import (
    as_good,
    drawn_decisions,
    make_trial,
    read_trial,
    refuse_another_trial,
    states_at,
)
from studies.texas42_samples import HANDS, TRANSCRIPT, settings_of, small_study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = small_study(tmp_path_factory.mktemp("texas42"))
    for stage in (1, 2):
        settings = settings_of(stage, f"stage{stage}", steps=6, every=3)
        Run(folder, settings).train(load_tables(folder, settings.kind))
    return folder


@pytest.fixture(scope="module")
def late_trial(study):
    return make_trial(late_decisions(study), 12, seed=3)


def late_decisions(study, least=14):
    drawn = drawn_decisions(study, (), 60)
    late = np.flatnonzero(drawn["plays"] >= least)[:12]
    return {name: array[late] for name, array in drawn.items()}


def test_a_trial_that_was_stopped_goes_on_and_is_the_same(study, tmp_path, monkeypatch):
    monkeypatch.setattr("rookery.studies.texas42_trial.AT_ONCE", 2)
    drawn, file = late_decisions(study, 20), tmp_path / "trial.npz"
    whole = make_trial(drawn, 5, seed=3)
    assert make_trial(drawn, 5, seed=3, file=file, ended=lambda: True) is None
    assert len(read_trial(file)[1]["better"]) == 2
    asked = []
    parts = make_trial(drawn, 5, seed=3, file=file, ended=lambda: asked.append(0))
    assert len(asked) == -(-len(drawn["plays"]) // 2) - 1
    for name in ("chosen_by", "scored_by", "better", "seeds"):
        assert (getattr(parts, name) == getattr(whole, name)).all()
    file.write_bytes(file.read_bytes()[:300])
    with pytest.raises(BadInput, match="is no trial"):
        read_trial(file)


def test_a_trial_has_the_same_bytes_for_any_number_of_threads(study, tmp_path):
    drawn, files = late_decisions(study, 20), [tmp_path / f"{threads}.npz" for threads in (1, 2, 5)]
    worlds = 2 * SHARE // len(drawn["plays"])  # so many that drawing them is shared out, too
    for threads, file in zip((1, 2, 5), files, strict=True):
        make_trial(drawn, worlds, seed=3, threads=threads, file=file)
    assert len({file.read_bytes() for file in files}) == 1


def test_all_threads_draw_the_worlds_in_which_players_are_judged(study, late_trial, monkeypatch):
    asked, usual = [], texas42_evaluate.sample_worlds

    def draw(states, worlds, seeds, threads=1):
        asked.append(threads)
        return usual(states, worlds, seeds, threads)

    alone = all_choices(study, late_trial, few=(1,), device="cpu")
    monkeypatch.setattr(texas42_evaluate, "sample_worlds", draw)
    shared = all_choices(study, late_trial, few=(1,), device="cpu", threads=3)
    assert asked == [3, 3]  # exact search in one world, and Stage 1 in all
    assert all((alone[name] == shared[name]).all() for name in alone)


def test_decisions_are_unforced_of_deals_that_nobody_learns_from_and_spread_over_tricks(study):
    states = states_at(drawn_decisions(study, (), 18))
    assert (legal_slots(states).sum(1) > 1).all()
    assert np.bincount(states["plays"] >> 2, minlength=7).tolist() == [3, 3, 3, 3, 3, 3, 0]
    hands = {rows["hands"].tobytes() for rows in hands_of(study, "decisions-valid")}
    assert {state["hands"].tobytes() for state in states} <= hands


def hands_of(study, name):
    for rows in DataSet(study / "data" / name).read():
        for number in range(len(rows["seed"])):
            yield {key: array[number] for key, array in rows.items()}


def test_slots_not_surely_worse_than_the_best_count_as_good():
    rng = np.random.default_rng(0)
    q = rng.normal(0, 1, (1, 400, 7))
    q[0, :, 1] = q[0, :, 0] - 0.02 + rng.normal(0, 1, 400)  # hardly worse, and nobody can tell
    q[0, :, 2] = q[0, :, 0] - 0.5  # worse by the same in every world
    q[0, :, 3:] -= 9
    q[0, :, 6] += 50  # not legal
    legal = np.array([[True] * 6 + [False]])
    assert as_good(q, legal)[0].tolist() == [True, True, False, False, False, False, False]


def test_the_reference_has_no_regret_and_chance_has(late_trial):
    reference = choices_of(late_trial.chosen_by, late_trial.legal)
    found = judged(late_trial, reference)
    assert found["regret"]["mean"] == 0
    assert found["of_ceiling"] == 1
    chance = judged(late_trial, random_choices(late_trial))
    assert chance["regret"]["mean"] > 0
    by_hand = np.mean(
        [
            late_trial.scored_by[row, reference[row]] - late_trial.scored_by[row, slot]
            for row, slot in enumerate(random_choices(late_trial))
        ]
    )
    assert chance["regret"]["mean"] == pytest.approx(by_hand)
    counted = [each["decisions"] for each in chance["by_trick"] if each]
    assert sum(counted) == chance["decisions"] == len(late_trial.states)


def test_everybody_there_is_gets_judged(study, late_trial):
    found = evaluate_trial(late_trial, all_choices(study, late_trial, few=(1, 100), device="cpu"))
    names = ["random", "exact E[Q], 12 worlds", "exact E[Q], 1 worlds", "E[Q] of stage1, 12 worlds", "stage2"]
    assert list(found) == names


def test_networks_are_judged_once_and_stay_judged_when_they_are_elsewhere(study, late_trial, tmp_path, monkeypatch):
    shutil.copytree(study, tmp_path / "study")
    folder, runs = tmp_path / "study", tmp_path / "study" / "runs"
    make_trial(late_decisions(study), 3, seed=3, file=folder / "trial.npz", asked=12)
    judge_choices(folder, "cpu", 1)
    before = read_measured(folder)["trial"]
    (runs / "stage1" / "network.safetensors").unlink()
    asked = []
    usual = texas42_evaluate.network_choices

    def choose(trial, path, *others):
        asked.append(path.parent.name)
        return usual(trial, path, *others)

    monkeypatch.setattr(texas42_evaluate, "network_choices", choose)
    judge_choices(folder, "cpu", 1)
    assert asked == []
    assert read_measured(folder)["trial"] == before
    assert network_marks(folder).items() < before["networks"].items()
    settings = settings_of(2, "stage2", steps=6, every=3)
    shutil.rmtree(runs / "stage2")
    Run(folder, replace(settings, seed=1)).train(load_tables(folder, settings.kind))
    judge_choices(folder, "cpu", 1)
    assert asked == ["stage2"]
    after = read_measured(folder)["trial"]
    assert set(after["players"]) == set(before["players"])
    assert {"E[Q] of stage1, 3 worlds", "stage2"} < set(after["players"])
    make_trial(late_decisions(study), 2, seed=3, file=folder / "trial.npz", asked=12)
    judge_choices(folder, "cpu", 1)
    assert not [name for name in read_measured(folder)["trial"]["players"] if "stage1" in name]  # another trial


def test_what_another_process_judges_meanwhile_is_kept(study, late_trial, tmp_path, monkeypatch):
    shutil.copytree(study, tmp_path / "study")
    folder = tmp_path / "study"
    make_trial(late_decisions(study), 3, seed=3, file=folder / "trial.npz", asked=12)
    usual = texas42_evaluate.network_choices

    def choose(trial, path, *others):
        chosen, mark = usual(trial, path, *others), trial_mark(folder)
        known = {"mark": mark, "networks": {"away": "0123"}, "choices": {"away": chosen.tolist()}}
        keep(folder, {"trial": known})  # of a network that is nowhere here
        return chosen

    monkeypatch.setattr(texas42_evaluate, "network_choices", choose)
    judge_choices(folder, "cpu", 1)
    found = read_measured(folder)["trial"]
    assert found["networks"].items() == ({"away": "0123"} | network_marks(folder)).items()
    assert found["players"]["away"] == found["players"]["stage2"]
    assert set(found["players"]) == set(found["choices"])


def test_runs_by_logits_are_paired_with_those_by_q_that_are_alike(tmp_path):
    network = {"width": 24, "answers": "q"}
    same = {"stage": 2, "steps": 5, "batch": 4, "data": ["a"], "rows": 0, "seed": 0}
    runs = {
        "plain": (network, same | {"muon": 0.0}), "logits": (network | {"answers": "logits"}, same),
        "longer": (network, same | {"steps": 6}), "wider": (network | {"width": 48}, same),
        "faster": (network, same | {"learning_rate": 0.1}), "otherwise": (network, same | {"muon": 5.0}),
        "one": (network | {"kind": "hands"}, same | {"stage": 1}),  # of before there was a choice of what is read
        "policy": (network | {"kind": "hands", "reads": "all", "answers": "policy"}, same | {"stage": 1}),
        "told": (network | {"kind": "hands", "reads": "open"}, same | {"stage": 1}),
    }  # fmt: skip
    for name, (config, facts) in runs.items():
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "network.safetensors").touch()
        (folder / "settings.json").write_text(json.dumps({"network": config} | facts))
    first = ("E[logits] of policy, 9 worlds", "E[Q] of one, 9 worlds")
    assert sorted(peers(tmp_path, 9)) == sorted([("logits", "plain"), first])


def test_what_one_loses_against_another_is_counted_decision_by_decision(late_trial):
    one, other = random_choices(late_trial), choices_of(late_trial.chosen_by, late_trial.legal)
    found = paired(late_trial, one, other)
    assert found["behind"]["mean"] == pytest.approx(judged(late_trial, one)["regret"]["mean"], abs=1e-6)
    assert found["same"]["mean"] == np.mean(one == other)
    assert paired(late_trial, one, one)["behind"]["high"] == 0


def test_choices_by_logits_are_compared_with_those_by_q(study):
    rows = next(DataSet(study / "data" / "decisions-valid").read())
    assert logits_against_q(rows)["same_choice"]["mean"] == 1  # these logits are Q less 3
    other = rows | {"logits": -rows["logits"]}
    found = logits_against_q(other)
    states = replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    gaps = [
        mean[legal].max() - mean[legal].min()
        for mean, legal in zip(rows["mean"].reshape(-1, 7) / 512, legal_slots(states), strict=True)
        if legal.sum() > 1
    ]
    assert found["regret"]["mean"] == pytest.approx(np.mean(gaps))
    assert logits_against_q(rows | {"logits": 0 * rows["logits"]}) is None


# ---- matches -------------------------------------------------------------------------------------


def test_equal_players_are_equal_and_changing_sides_changes_the_sign(study):
    lowest = lambda states, seeds: legal_slots(states).argmax(1)  # noqa: E731
    highest = lambda states, seeds: 6 - legal_slots(states)[:, ::-1].argmax(1)  # noqa: E731
    assert not play_duel(lowest, lowest, 20).points.any()
    one, other = play_duel(lowest, highest, 20), play_duel(highest, lowest, 20)
    assert (one.points == -other.points).all()
    assert (one.made == other.made[:, ::-1]).all()
    facts = one.facts()
    assert facts["deals"] == 20
    assert facts["points_a_hand"]["mean"] == pytest.approx(one.points.mean() / 2)


def test_rules_of_thumb_beat_chance(study):
    plain, chance = (player_of(text, study) for text in ("heuristic", "random"))
    assert play_duel(plain, chance, 60).points.mean() > 0


@pytest.mark.parametrize(
    "text", ["random", "heuristic", "exact:1", "exact:1:make", "stage1:2", "stage1:1:make", "stage2", "stage2:make"]
)
def test_every_kind_of_player_plays_legal_tiles(study, text):
    states = states_at(late_decisions(study))
    slots = player_of(text, study, "cpu")(states, np.arange(len(states)))
    assert legal_slots(states)[np.arange(len(states)), slots].all()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("heuristic:make", "nothing comes behind heuristic"),
        ("random:", "nothing comes behind random"),
        ("logits:make", "was taught mean logits, and nothing about bids"),
    ],
)
def test_who_knows_nothing_of_bids_does_not_play_for_them(study, tmp_path, text, complaint):
    network = stage_of(build(TRANSCRIPT.model_copy(update={"answers": "logits"}), 0))
    (tmp_path / "runs" / "logits").mkdir(parents=True)
    facts = settings_of(2, "logits", network=network.config).as_dict() | {"stage": 2}
    (tmp_path / "runs" / "logits" / "settings.json").write_text(json.dumps(facts))
    about = About(game="texas42:bid=30", rules_version=1, observation="known")
    save_network(tmp_path / "runs" / "logits" / "network.safetensors", network, about)
    player_of("logits", tmp_path, "cpu")
    with pytest.raises(BadInput, match=complaint):
        player_of(text, tmp_path, "cpu")


def test_every_seed_plays_other_deals(study):
    heuristic, chance = player_of("heuristic", study), player_of("random", study)
    first, again, other = (play_duel(heuristic, chance, 5, seed).points.tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_a_player_that_is_not_there_is_refused(study):
    for text in ("nobody", "exact:few", "exact:3:points", "stage1", "stage1:0", "stage2:7"):
        with pytest.raises(BadInput, match="player"):
            player_of(text, study)


# ---- checks and report ---------------------------------------------------------------------------


def test_checks_hold_for_sound_data_and_fail_for_others(study, tmp_path):
    held = [check for check in all_checks(study) if not check.name.startswith("stage")]
    assert len(held) == 11  # a set of all parts is not checked for one
    assert all(check.holds for check in held)
    rows = next(DataSet(study / "data" / "decisions-valid").read())
    broken = rows | {"mean": -rows["mean"], "seed": rows["seed"] + 100, "logits": rows["logits"] * 100}
    data = DataSet(tmp_path)
    data.begin("decisions", 1, {"part": "valid", "explore": 0.05})
    write_shard(data.shard(0), "decisions", broken, {})
    assert [check.holds for check in checks_of_data(data)] == [False, False, True, False, True, True]
    whole = DataSet(tmp_path / "whole")
    whole.begin("decisions", 1, {"part": "all", "explore": 0.97})
    write_shard(whole.shard(0), "decisions", broken, {})
    names = [check.name.partition(": ")[2] for check in checks_of_data(whole)]
    assert "deals are of one part" not in names
    assert "both teams take the largest mean" not in names


def test_checks_of_a_set_that_stayed_elsewhere_are_told(study, tmp_path):
    shutil.copytree(study, tmp_path / "study")
    checks = checks_of_data(DataSet(study / "data" / "decisions-valid"))
    keep_part(tmp_path / "study", "data", {"decisions-valid": {"checks": [check._asdict() for check in checks]}})
    before = all_checks(tmp_path / "study")
    shutil.rmtree(tmp_path / "study" / "data" / "decisions-valid")
    assert sorted(all_checks(tmp_path / "study")) == sorted(before)


def test_checks_of_networks_that_labelled_are_told_where_networks_labelled(study, tmp_path):
    shutil.copytree(study, tmp_path / "study")
    before, kept = all_checks(tmp_path / "study"), [Check(f"one: {TOKENS}", True, "")._asdict()]
    keep_part(tmp_path / "study", "data", {"decisions-valid": {"settings": {"oracle": "exact"}, "checks": kept}})
    assert all_checks(tmp_path / "study") == before
    keep_part(tmp_path / "study", "data", {"decisions-valid": {"settings": {"oracle": "abc"}, "checks": kept}})
    assert sorted(set(all_checks(tmp_path / "study")) - set(before)) == [Check(**kept[0])]


@pytest.mark.parametrize("reads", ["all", "open"])
def test_what_the_networks_that_labelled_are_told_is_what_the_game_tells(study, reads, monkeypatch):
    states = states_at(late_decisions(study))
    oracle = HandsOracle(build(HANDS.model_copy(update={"reads": reads}), 1), "cpu")
    right = [check for check in tokens_and_worlds("right", states, [oracle, oracle]) if check.name.endswith(TOKENS)]
    assert [(check.holds, check.note) for check in right] == [(True, f"{8 * len(states)} worlds, '{reads}' on cpu")]
    told = oracle.told
    monkeypatch.setattr(oracle, "told", lambda *given: lambda first, last: told(*given)(first, last).flip(0))
    wrong = [check for check in tokens_and_worlds("wrong", states, [oracle]) if not check.holds]
    assert [check.name for check in wrong] == [f"wrong: {TOKENS}"]


@pytest.mark.parametrize(
    ("after", "error", "holds"), [(0.9, 0.0, True), (1.04, 0.0, False), (1.2, 0.05, False), (1.2, 0.1, True)]
)
def test_a_gap_that_grows_by_more_than_two_standard_errors_is_found(tmp_path, after, error, holds):
    log = LineLog(tmp_path / "run" / "progress.jsonl")
    log.path.parent.mkdir()
    for step, gap in ((1, 1.0), (2, after)):
        figures = {"unforced": {"gap": gap, "gap_error": error}}
        log.append({"step": step, "train": {"loss": 1 / step}, "valid": {"some": figures}})
    loss, growth = checks_of_run(tmp_path / "run")
    assert loss.holds
    assert growth.holds == holds
    assert growth.note.endswith(f"two standard errors, if unpaired: {2 * 2**0.5 * error:.3f}")


def test_worlds_and_tokens_that_are_wrong_are_found(study, monkeypatch):
    states = states_at(late_decisions(study))
    assert all(check.holds for check in tokens_and_worlds("right", states))
    draw = texas42_checks.sample_worlds

    def wrong(*arguments):
        drawn = draw(*arguments)
        drawn["hands"] = np.roll(drawn["hands"], 1, 1)
        drawn["tiles"] = np.roll(drawn["tiles"], 1, 1)
        return drawn

    monkeypatch.setattr(texas42_checks, "sample_worlds", wrong)
    assert [check.holds for check in tokens_and_worlds("wrong", states)] == [False, False]


def test_a_set_that_was_only_begun_hinders_nobody(study, tmp_path):
    shutil.copytree(study, tmp_path / "study")
    before = all_checks(tmp_path / "study")
    DataSet(tmp_path / "study" / "data" / "decisions-begun").begin("decisions", 1, {"part": "train"})
    assert all_checks(tmp_path / "study") == before
    compare_labels(tmp_path / "study")
    assert sorted(read_measured(tmp_path / "study")["claim"]) == ["decisions-made-up", "decisions-valid"]


def test_no_report_is_written_where_there_is_no_study(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(BadInput, match=f"there is no study in {place}"):
            write_report(place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_report_names_what_is_missing_and_shows_the_rest(study):
    text = write_report(study).read_text()
    assert "nothing is measured" in text
    assert "| stage2 |" in text
    runner = CliRunner()
    asked = [
        "study",
        "texas42",
        "evaluate",
        "--folder",
        str(study),
        "--decisions",
        "6",
        "--worlds",
        "2",
        "--deals",
        "3",
    ]
    result = runner.invoke(app, [*asked, "--duels", "random/heuristic", "--device", "cpu", "--threads", "1"])
    assert result.exit_code == 0, result.output
    assert set(read_measured(study)) == {"trial", "claim", "duels"}
    trial = (study / "trial.npz").read_bytes()
    for words, complaint in (
        (("--worlds", "3"), r"6 decisions in 2 x 2 worlds, seed 0, not 6 decisions in 2 x 3 worlds"),
        (("--decisions", "7"), "not 7 decisions in 2 x 2 worlds, seed 0; remove it"),
        (("--duels", "nobody/random"), "there is no player 'nobody'"),
    ):
        result = runner.invoke(app, [*asked[:5], *words, "--device", "cpu", "--threads", "1"])
        assert re.search(complaint, str(result.exception)), result.output
    drawn = drawn_decisions(study, (), 6)
    refuse_another_trial(study / "trial.npz", (6, 2, 0), drawn)
    with pytest.raises(BadInput, match="is of decisions from other sets of hands"):
        refuse_another_trial(study / "trial.npz", (6, 2, 0), drawn | {"plays": drawn["plays"][::-1]})
    more = ["--duels", "random/heuristic", "--deals", "2", "--device", "cpu", "--threads", "1"]
    result = runner.invoke(app, [*asked[:5], *more])  # with the trial that is there
    assert result.exit_code == 0, result.output
    assert (study / "trial.npz").read_bytes() == trial
    result = runner.invoke(app, [*asked[:5], *more, "--seed", "1"])
    assert "its decisions stay those of seed 0; seed 1 is for matches alone" in result.output
    assert (study / "trial.npz").read_bytes() == trial
    assert [(each["deals"], each["seed"]) for each in read_measured(study)["duels"]] == [(3, 0), (2, 0), (2, 1)]
    assert {"trial.npz", "choices", "claim", "random/heuristic"} <= set(read_notes(study))
    (study / "remarks.md").write_text("A person says so.")
    result = runner.invoke(app, ["study", "texas42", "report", "--folder", str(study)])
    assert result.exit_code == 0, result.output
    text = (study / "report.md").read_text()
    assert "not complete" not in text
    for heading in (
        "Remarks", "Choices, by exact values", "Where Stage 2 falls short", "Do logits work like Q?",
        "Matches on mirrored deals", "The seed's risks", "Checks", "How it was done",
    ):  # fmt: skip
        assert f"## {heading}" in text
    assert "A person says so." in text
    assert "| Stage 2: mean regret on unforced decisions at most 0.35 point | **" in text
    for name in ("learning", "tricks", "gaps", "matches"):
        assert f"![{name}]({name}.png)" in text
        assert (study / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    assert "| **ceiling** |" in text
    page = (study / "report.html").read_text()
    assert "<table>" in page
    assert page.count("data:image/png") == 4
