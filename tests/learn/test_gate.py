"""The gate: who plays, when it changes, and that a gated run resumed is the run undisturbed."""

from __future__ import annotations

import copy
import json

import pytest
import torch

from learn.support_runs import board_settings
from rookery.arena.player import Choice, Player, PlayerFailed
from rookery.arena.players import make_player
from rookery.learn.gate import Gate
from rookery.learn.loop import Training
from rookery.learn.runs import Run
from rookery.nets.files import load_network
from rookery.search.gomoku_fours import SeesFours

GATE = {"kind": "share", "games": 4, "share": 0.5, "simulations": 4}
OTHER_STOPS = [("share", 7), ("sprt", 7), ("sprt", 23)]


def weights(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def equal(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def noted(run):
    return run.manifest.get("gate", [])


@pytest.fixture
def trained(tmp_path):
    """Return a function that trains a run of some settings to its end."""

    def train(name="run", **changes):
        run = Run.create(tmp_path / name, board_settings(**changes))
        with run.training():
            training = Training(run)
            assert training.train()
        return run, training

    return train


def gomoku_settings(fours):
    network = {"kind": "tower", "observation": "planes", "width": 4, "blocks": 1}
    return board_settings(game="gomoku:size=6", network=network, selfplay__fours=fours, gate=GATE)


@pytest.mark.parametrize("fours", [True, False])
def test_the_match_looks_for_wins_by_fours_where_self_play_does(tmp_path, fours):
    run = Run.create(tmp_path / "run", gomoku_settings(fours))
    with run.training():
        network = Training(run).player
    player = Gate(run, network).player(network, "challenger")
    assert isinstance(player.judge, SeesFours) == fours


def test_without_a_gate_the_newest_network_plays(trained):
    run, training = trained()
    assert training.player is training.trainer.player
    assert noted(run) == []


def test_a_challenger_that_reaches_the_share_plays_from_then_on(trained):
    run, training = trained(gate=GATE | {"share": 0.0})
    assert all(entry["taken"] for entry in noted(run))
    assert equal(weights(training.player), weights(training.trainer.player))
    assert training.player is not training.trainer.player


def test_a_champion_that_is_never_beaten_plays_to_the_end_and_is_what_is_saved(trained):
    run, training = trained(gate=GATE | {"kind": "sprt", "elo0": 1000.0, "elo1": 1999.0})
    assert noted(run)
    assert not any(entry["taken"] for entry in noted(run))
    first = load_network(run.checkpoint_path(run.checkpoints[0]["step"])).network
    last = load_network(run.checkpoint_path(run.checkpoints[-1]["step"])).network
    assert equal(weights(first), weights(last))
    assert equal(weights(last), weights(training.player))
    assert not equal(weights(last), weights(training.trainer.player))


def test_challenges_come_as_often_as_checkpoints_and_at_the_end(trained):
    run, _ = trained(gate=GATE, selfplay__games=36)
    steps = [entry["step"] for entry in noted(run)]
    assert [step // 10 for step in steps] == [1, 2, 3, 3]
    assert steps[-1] == 36


def test_how_a_challenge_went_stands_in_the_manifest_and_among_the_figures(trained):
    run, _ = trained(gate=GATE)
    logged = [line for line in run.metrics.read() if "gate/score" in line]
    assert logged
    last = noted(run)[-1]
    assert last["games"] == 4
    assert logged[-1]["gate/score"] == last["score"]
    assert logged[-1]["gate/taken"] == float(last["taken"])


def test_an_undecided_test_keeps_the_champion(trained):
    run, _ = trained(gate=GATE | {"kind": "sprt", "elo0": 0.0, "elo1": 1.0})
    assert {(entry["verdict"], entry["taken"]) for entry in noted(run)} == {("", False)}


class Solver(Player):
    """A player that looks at everything that can come: it loses only what is lost."""

    def __init__(self, name):
        self.name, self.known = name, {}

    def wins(self, position):
        """Tell whether the side to move wins."""
        if position.over:
            return position.payoff(position.mover) > 0
        text = position.text()
        if text not in self.known:
            self.known[text] = any(not self.wins(after(position, action)) for action in position.legal())
        return self.known[text]

    def choose(self, turn):
        legal = [int(action) for action in turn.position.legal()]
        return Choice(next((a for a in legal if not self.wins(after(turn.position, a))), legal[0]))


def after(position, action):
    position = position.copy()
    position.play(int(action))
    return position


@pytest.mark.parametrize(
    ("settings", "verdict"), [({"kind": "sprt", "elo0": 0.0, "elo1": 100.0}, True), ({"share": 0.55}, False)]
)
def test_a_better_challenger_takes_over_and_a_worse_one_does_not(tmp_path, monkeypatch, settings, verdict):
    run = Run.create(tmp_path / "run", board_settings(gate=GATE | {"games": 60} | settings))
    strong, weak = Solver("solver"), make_player("random", run.game)
    with run.training():
        training = Training(run)
        gate, newest = training.gate, copy.deepcopy(training.trainer.player)
        with torch.no_grad():
            next(newest.parameters()).add_(1)
        monkeypatch.setattr(gate, "player", lambda network, name: players[name])
        before, players = weights(gate.champion), {"challenger": weak, "champion": strong}
        assert gate.challenge(newest, 10, 1)["gate/taken"] == 0.0
        assert equal(before, weights(gate.champion))
        players = {"challenger": strong, "champion": weak}
        assert gate.challenge(newest, 20, 2)["gate/taken"] == 1.0
        assert equal(weights(newest), weights(gate.champion))
    assert [entry.get("verdict") for entry in noted(run)] == (["H0", "H1"] if verdict else [None, None])
    assert all(entry["games"] <= 60 for entry in noted(run))


def test_nothing_is_challenged_before_something_was_learnt(tmp_path):
    run = Run.create(tmp_path / "run", board_settings(gate=GATE))
    with run.training():
        training = Training(run)
        assert not training.gate.is_due(10, 0)
        assert training.gate.is_due(10, 1)
        assert not training.gate.is_due(9, 1)


def filled_after_challenges(run):
    """Train a run; return the positions in the replay after each challenge, with whether the challenger took over."""
    found = []
    with run.training():
        training = Training(run)
        challenge = training.gate.challenge

        def noting(*how):
            figures = challenge(*how)
            found.append([bool(figures["gate/taken"]), training.replay.filled, None])
            return figures

        training.gate.challenge = noting
        while training.games < run.settings.selfplay.games:
            training.turn()
            if found and found[-1][2] is None:
                found[-1][2] = training.replay.filled
    return found


def test_a_network_that_takes_over_empties_the_replay_if_asked(tmp_path):
    for name, share, discard in (("taken", 0.0, True), ("kept", 0.0, False)):
        run = Run.create(tmp_path / name, board_settings(gate=GATE | {"share": share, "discard": discard}))
        found = filled_after_challenges(run)
        assert len(found) > 1
        for taken, before, filled in found:
            assert taken
            assert before > 0
            assert filled == (0 if discard else before)


def test_a_network_that_does_not_take_over_leaves_the_replay(tmp_path):
    never = GATE | {"kind": "sprt", "elo0": 1000.0, "elo1": 1999.0, "discard": True}
    for taken, before, filled in filled_after_challenges(Run.create(tmp_path / "run", board_settings(gate=never))):
        assert not taken
        assert filled == before > 0


def test_a_match_follows_from_seed_and_games(tmp_path):
    run = Run.create(tmp_path / "run", board_settings(gate=GATE))
    with run.training():
        training = Training(run)
        network = training.trainer.player
        first, again, other = (training.gate.meet(network, games) for games in (10, 10, 20))
    moves = [[match.records[number].actions for number in range(4)] for match in (first, again, other)]
    assert moves[0] == moves[1] != moves[2]


@pytest.mark.parametrize("games", [12, 23])
def test_a_run_that_discards_positions_stopped_and_resumed_is_the_run_undisturbed(trained, tmp_path, games):
    settings = {"gate": GATE | {"share": 0.0, "discard": True}}
    _, undisturbed = trained("whole", **settings)
    run = Run.create(tmp_path / "stopped", board_settings(**settings))
    with run.training():
        training = Training(run)
        assert not training.train(lambda: training.games >= games)
    with run.training():
        again = Training(run)
        assert again.replay.filled == training.replay.filled
        assert again.train()
    assert equal(weights(again.trainer.network), weights(undisturbed.trainer.network))


@pytest.mark.parametrize(
    ("kind", "games"), [("share", 23), *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHER_STOPS)]
)
def test_a_gated_run_that_was_stopped_and_resumed_is_the_run_undisturbed(trained, tmp_path, kind, games):
    settings = {"gate": GATE | {"kind": kind, "elo0": -200.0, "elo1": 1.0}, "training__average": "ema"}
    whole, undisturbed = trained("whole", **settings)
    run = Run.create(tmp_path / "stopped", board_settings(**settings))
    with run.training():
        training = Training(run)
        assert not training.train(lambda: training.games >= games)
    resumed = Run.open(run.folder)
    with resumed.training():
        second = Training(resumed)
        assert second.games >= games
        assert second.train()
    assert equal(weights(second.player), weights(undisturbed.player))
    assert equal(weights(second.trainer.network), weights(undisturbed.trainer.network))
    assert noted(resumed) == noted(whole)


def test_a_challenge_after_the_snapshot_is_forgotten_and_comes_again(trained, tmp_path):
    settings = {"gate": GATE, "checkpoints__least_seconds": 1e6}
    whole, undisturbed = trained("whole", **settings)
    run = Run.create(tmp_path / "killed", board_settings(**settings))
    with run.training():
        training = Training(run)
        while training.games < 12:
            training.turn()
        training.save_state()
        while training.games < 25:
            training.turn()  # killed here: nothing is saved of this
    assert max(entry["step"] for entry in noted(run)) > 15
    with Run.open(run.folder).training() as resumed:
        second = Training(resumed)
        assert max(entry["step"] for entry in noted(resumed)) < 15
        second.train()
    assert equal(weights(second.player), weights(undisturbed.player))
    assert json.dumps(noted(run)) == json.dumps(noted(whole))


def test_a_network_that_cannot_play_ends_the_run_and_takes_no_title(tmp_path, monkeypatch):
    run = Run.create(tmp_path / "run", board_settings(gate=GATE))
    with run.training():
        training = Training(run)
        made = training.gate.player

        def broken(network, name):
            player = made(network, name)
            if name == "champion":
                monkeypatch.setattr(player.evaluator, "one_pass", None)
            return player

        monkeypatch.setattr(training.gate, "player", broken)
        with pytest.raises(PlayerFailed, match="champion: "):
            training.gate.challenge(training.trainer.player, 10, 1)
    assert noted(run) == []
