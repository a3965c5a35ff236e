"""Runs of self-play, made up well and badly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from checks.small_networks import kept, small_network
from checks.verdicts import complains, in_order, silent
from learn.support_runs import board_settings, run_of_networks
from rookery.checks import Sample, Verdict, selfplay
from rookery.checks.fit import policy_fit, value_fit
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.kept import Kept
from rookery.learn.replay import Replay, empty_rows
from rookery.learn.runs import Run
from rookery.learn.sections import GateSettings, SelfplaySettings
from rookery.learn.snapshots import Snapshot

FEW = Sample(positions=64)
HEALTHY = {
    "selfplay/plies": 7.0, "selfplay/first_wins": 0.5, "selfplay/second_wins": 0.4, "selfplay/draws": 0.1,
    "selfplay/ply limit": 0.05, "selfplay/repetition": 0.0,
}  # fmt: skip


# ---- settings ------------------------------------------------------------------------------------


def test_simulations_are_compared_with_fifty_and_the_legal_moves():
    in_order(selfplay.simulations(SelfplaySettings(simulations=64), 20.0), "simulations")
    complains(selfplay.simulations(SelfplaySettings(simulations=32), 20.0), "simulations", Verdict.WARNING)
    complains(selfplay.simulations(SelfplaySettings(simulations=100), 180.0), "simulations", Verdict.WARNING)
    complains(selfplay.simulations(SelfplaySettings(simulations=4), 20.0), "simulations", Verdict.WRONG)
    in_order(selfplay.simulations(SelfplaySettings(simulations=16, gumbel=8, noise=0), 200.0), "simulations")


def test_games_without_any_chance_are_found():
    in_order(selfplay.exploration(SelfplaySettings()), "exploration")
    complains(selfplay.exploration(SelfplaySettings(noise=0)), "exploration", Verdict.WARNING)
    complains(selfplay.exploration(SelfplaySettings(noise=0, temperature_plies=0)), "exploration", Verdict.WRONG)


def test_a_reduced_urgency_is_found_in_gomoku_alone():
    reduced, parent = SelfplaySettings(), SelfplaySettings(urgency="parent")
    complains(selfplay.urgency(reduced, load("gomoku")), "urgency", Verdict.WARNING)
    in_order(selfplay.urgency(parent, load("gomoku")), "urgency")
    assert selfplay.urgency(reduced, load("pylos")) == []


def test_positions_that_are_learned_from_too_often_are_found():
    fair = board_settings(selfplay__games=10_000, training__replay=4096, training__batch=32)
    in_order(selfplay.replay_checks(fair, 12.0), "replay-reuse", "replay-window")
    greedy = board_settings(training__steps_per_game=200.0, training__batch=64, selfplay__games=10_000)
    complains(selfplay.replay_checks(greedy, 12.0), "replay-reuse", Verdict.WRONG)


def test_a_replay_of_few_games_or_of_the_whole_run_is_found():
    tight = board_settings(selfplay__games=10_000, training__replay=64)
    complains(selfplay.replay_checks(tight, 12.0), "replay-window", Verdict.WARNING)
    whole = board_settings(selfplay__games=2000, training__replay=100_000)
    complains(selfplay.replay_checks(whole, 12.0), "replay-window", Verdict.WARNING)


def test_a_run_that_never_learns_is_found():
    settings, played = board_settings(training__batch=8), [HEALTHY | {"step": 100}]
    in_order(selfplay.learning_began(settings, played, 50), "learning-began")
    complains(selfplay.learning_began(settings, played, 0), "learning-began", Verdict.WRONG)
    assert selfplay.learning_began(settings, [HEALTHY | {"step": 1}], 0) == []


# ---- gate ----------------------------------------------------------------------------------------


def test_the_chance_of_an_equal_network_is_the_binomial_one():
    assert selfplay.luck_of(0.55, 100) == pytest.approx(0.1841, abs=1e-4)
    assert selfplay.luck_of(0.59, 100) == pytest.approx(0.0443, abs=1e-4)
    exact = sum(math.comb(2000, k) for k in range(1040, 2001)) / 2**2000
    assert selfplay.luck_of(0.52, 2000) == pytest.approx(exact, rel=0.01)


def test_a_gate_that_luck_passes_is_found():
    complains(selfplay.gate_checks(GateSettings(kind="share"), []), "gate-luck", Verdict.WARNING)
    in_order(selfplay.gate_checks(GateSettings(kind="share", share=0.6), []), "gate-luck")
    assert selfplay.gate_checks(GateSettings(), []) == []


@pytest.mark.parametrize(("taken", "fine"), [([1, 0, 1, 0, 0], True), ([0] * 5, False), ([1] * 5, False)])
def test_a_gate_that_takes_none_or_all_is_found(taken, fine):
    found = selfplay.gate_checks(GateSettings(kind="sprt"), [{"taken": bool(each)} for each in taken])
    if fine:
        in_order(found, "gate-takes")
    else:
        complains(found, "gate-takes", Verdict.WARNING)


# ---- what networks explain -----------------------------------------------------------------------


def test_values_that_explain_nothing_are_found():
    target = np.random.default_rng(0).choice([-1.0, 1.0], 200)
    in_order(value_fit(0.5 * target, target, ""), "value-fit")
    complains(value_fit(0 * target, target, "rows"), "value-fit", Verdict.WARNING)
    complains(value_fit(-target, target, "rows"), "value-fit", Verdict.WRONG)


def test_policies_no_nearer_than_even_ones_are_found():
    in_order(policy_fit(0.5, 1.0, ""), "policy-fit")
    complains(policy_fit(1.0, 1.0, "rows"), "policy-fit", Verdict.WARNING)
    complains(policy_fit(3.0, 1.0, "rows"), "policy-fit", Verdict.WRONG)


# ---- whole runs ----------------------------------------------------------------------------------


def filled_replay(run: Run, collapsed: bool) -> Replay:
    """Make a replay of random positions, with targets that are sound or not."""
    rng, replay = np.random.default_rng(0), Replay(run.game, "planes", 64)
    rows = empty_rows(run.game, "planes", 64)
    rows.observations[:] = rng.integers(0, 2, rows.observations.shape)
    rows.counts[:], rows.taught[:] = 4, 1
    rows.actions[:, :4] = np.sort(rng.permuted(np.tile(np.arange(run.game.actions), (64, 1)), axis=1)[:, :4])
    rows.weights[:, :4] = np.exp(2 * rng.standard_normal((64, 4)))
    rows.outcomes[:] = rng.choice([-1.0, 1.0], 64)
    rows.values[:] = 0.5 * rows.outcomes
    if collapsed:
        rows.counts[3], rows.weights[5] = 0, 0
        rows.values[:] *= -10
    replay.add(rows)
    return replay


def made_up_run(folder, collapsed: bool = False) -> Run:
    """Make a run with logs, games, ratings, a replay and a network; a collapsed one has every trouble there is."""
    rng = np.random.default_rng(1)
    changes = {"selfplay__simulations": 64, "training__learning_rate": 1e-3, "selfplay__games": 10_000}
    changes |= {"training__replay": 4096}
    run = run_of_networks(folder, [40], **changes)
    figures = HEALTHY if not collapsed else HEALTHY | {
        "selfplay/draws": 0.97, "selfplay/first_wins": 0.03, "selfplay/second_wins": 0.0, "selfplay/repetition": 0.9,
        "selfplay/against_opponent": 0.99,
    }  # fmt: skip
    with run.training():
        kept(run.checkpoint_path(40), small_network())
        for step in range(1, 41):
            loss = float("nan") if collapsed and step == 30 else 1 / step if not collapsed else float(step)
            run.append_loss(step, loss, 2 / step)
            run.metrics.append({"step": step} | figures)
            actions = [0] * 9 if collapsed else rng.integers(0, 24, 9).tolist()
            run.append_game(Kept(step, 1.0, "by the rules", tuple(actions), (0.0,) * 9).as_dict(step))
        replay = filled_replay(run, collapsed)
        arrays = {f"replay/{name}": array for name, array in replay.state().items()}
        run.save_state(Snapshot(arrays, {}, None))
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What is found in a healthy and in a collapsed run."""
    folder = tmp_path_factory.mktemp("runs")
    made_up_run(folder / "healthy"), made_up_run(folder / "collapsed", collapsed=True)
    return {name: selfplay.check_run(folder / name, FEW) for name in ("healthy", "collapsed")}


def test_a_healthy_run_is_in_order(runs):
    found = runs["healthy"]
    in_order(found, "simulations", "exploration", "learning-rate", "replay-reuse", "replay-window", "learning-began")
    in_order(found, "loss-numbers", "loss-falls", "loss-rises", "draws", "cut-off", "first-mover", "opening-variety")
    in_order(found, "distinct-games", "masks", "target-range", "policy-targets", "target-entropy", "signs-agree")
    in_order(found, "duplicates", "weights-numbers")
    silent(found, "fixed-opponent")


def test_a_collapsed_run_is_found_in_every_respect(runs):
    found = runs["collapsed"]
    for name in ("loss-numbers", "loss-falls", "draws", "cut-off", "opening-variety", "distinct-games", "masks",
                 "target-range", "policy-targets", "signs-agree"):  # fmt: skip
        complains(found, name, Verdict.WRONG)
    complains(found, "fixed-opponent", Verdict.WARNING)
    complains(found, "first-mover", Verdict.WARNING)


def test_an_opponent_that_is_not_beaten_yet_is_in_order():
    found = selfplay.how_games_end(HEALTHY | {"selfplay/against_opponent": 0.6}, opposed=True)
    in_order(found, "fixed-opponent")
    silent(found, "first-mover")


def test_findings_name_the_part_they_are_about(runs):
    targets = {found.target for found in runs["healthy"]}
    assert targets == {"", "replay", "checkpoint_00040.pth"}


def test_a_state_of_something_else_is_told(tmp_path):
    run = run_of_networks(tmp_path / "run", [])
    with run.training():
        run.save_state(Snapshot({"replay/written": np.array(5), "replay/counts": np.zeros(3, np.uint8)}, {}, None))
    with pytest.raises(BadInput, match="does not belong"):
        selfplay.check_run(run.folder, FEW)


def test_lines_that_are_no_games_are_left_out():
    game = load("domineering:rows=4,cols=4")
    lines = [{"actions": [0, 14]}, {"actions": [0, 999]}, {"actions": "x"}, {}]
    assert [selfplay.is_game(line, game) for line in lines] == [True, False, False, False]


def test_only_the_newest_reports_count():
    lines = [HEALTHY | {"step": step, "selfplay/draws": 1.0 if step <= 30 else 0.0} for step in range(1, 41)]
    assert selfplay.newest_reports(lines)["selfplay/draws"] == 0.0
    assert selfplay.newest_reports([]) == {}
    damaged = [{"step": 1, "selfplay/plies": "x"}, HEALTHY | {"step": 2, "selfplay/draws": None}]
    assert selfplay.newest_reports(damaged)["selfplay/draws"] == 0.0


def test_a_run_that_was_only_made_has_settings_to_check(tmp_path):
    Run.create(tmp_path / "new", board_settings())
    found = selfplay.check_run(tmp_path / "new", FEW)
    complains(found, "simulations")
    silent(found, "draws")
