"""Imitation: a network learns what its supervisor does, and a stage taken up again is the same stage."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from learn.tiny_imitation import learned, made, settings
from learn.tiny_runs import after, same_weights
from rookery.errors import BadInput
from rookery.learn import imitation as module
from rookery.learn.imitation import Imitation, judged, make_imitation
from rookery.nets.files import load_network
from rookery.nets.tower import resized

pytestmark = pytest.mark.xdist_group("learning")


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """The folder of a stage that nobody disturbed."""
    folder = made(tmp_path_factory.mktemp("straight") / "stage")
    assert learned(folder)
    return folder


def weights(folder):
    return dict(load_network(folder / "network.pth").network.state_dict())


def check_same(folder, straight):
    assert same_weights(weights(folder), weights(straight))
    assert Imitation(folder).figures.read() == Imitation(straight).figures.read()


def test_the_network_comes_to_agree_with_its_supervisor(straight):
    lines = Imitation(straight).figures.read()
    assert [line["pass"] for line in lines] == [1, 2, 3]
    assert lines[-1]["policy_loss"] < lines[0]["policy_loss"]
    assert lines[-1]["agreed"] > 3 / 40  # by chance one of about forty
    assert lines[-1]["taught_policy_loss"] < lines[0]["taught_policy_loss"]
    assert lines[-1]["learning_rate"] < lines[0]["learning_rate"] < 0.01


def test_figures_are_those_of_the_games_held_out(straight):
    with Imitation(straight) as stage:
        assert stage.prepare()
        assert not set(stage.kept.rows.games.tolist()) & set(stage.replay.rows.games.tolist())
        network = load_network(stage.network).network
        count = stage.kept.filled
        with torch.no_grad():
            logits, values = network(stage.kept.rows.observations)
        agreed, errors, divergence = 0, 0.0, 0.0
        for row in range(count):
            legal = stage.kept.rows.actions[row, : stage.kept.rows.counts[row]].long()
            chosen = int(stage.kept.rows.played[row])
            agreed += int(legal[logits[row, legal].argmax()]) == chosen
            divergence -= float(torch.log_softmax(logits[row, legal], 0)[legal == chosen])
            errors += float(values[row] - stage.kept.rows.values[row]) ** 2
        last = stage.figures.read()[-1]
    assert last["agreed"] == pytest.approx(agreed / count, abs=2 / count)
    assert last["policy_loss"] == pytest.approx(divergence / count, rel=1e-4)
    assert last["value_loss"] == pytest.approx(errors / count, rel=1e-4)


def test_judging_leaves_a_network_as_it_was(straight):
    with Imitation(straight) as stage:
        stage.prepare()
        before = {name: value.clone() for name, value in stage.trainer.network.state_dict().items()}
        judged(stage.trainer.network, stage.kept, stage.settings.training)
        assert stage.trainer.network.training
        assert same_weights(before, stage.trainer.network.state_dict())


@pytest.mark.parametrize("looks", [1, 3])
def test_a_stage_stopped_and_resumed_is_the_same_stage(tmp_path, straight, looks):
    folder, stops = made(tmp_path / "stage"), 0
    while not learned(folder, after(looks)):
        stops += 1
        assert stops < 100
    assert stops >= 2
    check_same(folder, straight)


def test_a_pass_killed_before_its_state_is_saved_is_made_again(tmp_path, straight, monkeypatch):
    class Killed(Exception):
        pass

    def kill(*_):
        raise Killed

    folder = made(tmp_path / "stage")
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(module, "save_snapshot", kill)
            with pytest.raises(Killed):
                learned(folder)
    assert Imitation(folder).passes == 1
    assert learned(folder)
    check_same(folder, straight)


def test_a_state_saved_inside_a_pass_never_counts_as_its_end(tmp_path, straight, monkeypatch):
    class Killed(Exception):
        pass

    def kill(*_):
        raise Killed

    monkeypatch.setattr(module, "SNAPSHOT", 0.0)
    folder = made(tmp_path / "stage")
    with monkeypatch.context() as patch:
        patch.setattr(Imitation, "end_pass", kill)
        with pytest.raises(Killed):
            learned(folder)
    assert learned(folder)
    check_same(folder, straight)


def test_a_complete_stage_is_left_as_it_is(straight):
    before = (straight / "network.pth").read_bytes()
    assert learned(straight)
    assert (straight / "network.pth").read_bytes() == before


def test_another_seed_is_another_network(tmp_path, straight):
    folder = made(tmp_path / "stage", seed=6)
    assert learned(folder)
    assert not same_weights(weights(folder), weights(straight))


def test_a_stage_begins_with_the_weights_of_a_smaller_board(tmp_path, straight):
    folder = made(tmp_path / "stage", game="gomoku:size=9", start=str(straight / "network.pth"))
    with Imitation(folder) as stage:
        stage.prepare()
        found = dict(stage.trainer.network.state_dict())
    smaller = load_network(straight / "network.pth").network
    assert same_weights(found, dict(smaller.state_dict()))
    assert same_weights(found, dict(resized(smaller, 9, 9).state_dict()))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"lessons": {"positions": 60}}, "training.batch: must be at most 54, the positions that are taught, not 64"),
        (
            {"lessons": {"supervisor": "mcts", "temperature": 1.0}},
            "lessons.temperature: must be 0, since mcts does not",
        ),
        ({"lessons": {"supervisor": "nobody"}}, "lessons: "),
        ({"network": {"observation": "tokens"}}, "network.observation: must be one of planes, history"),
        ({"game": "texas42"}, "since something is hidden in it"),
        ({"lessons": {"held_out": 0.0}}, "lessons.held_out"),
    ],
)
def test_what_cannot_be_imitated_is_refused(changes, complaint):
    with pytest.raises(ValidationError, match=re.escape(complaint)):
        settings(**changes)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    for name in ("notes", ".page.part"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(BadInput, match="is not empty"):
        make_imitation(tmp_path, settings())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".page.part", "notes"]
    with pytest.raises(BadInput, match="is no stage of imitation"):
        Imitation(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"passes: 3", b"passes: three", "config.yaml: training.passes: must be a whole number in 1..1000000"),
        (b"passes: 3", b"rounds: 3", "config.yaml: training.rounds: there is no such key"),
        (b"passes: 3", b"passes: \xff", "config.yaml is no text: byte"),
        (b"training:", b"training: [", "config.yaml, line"),
    ],
)
def test_settings_that_somebody_has_changed_are_told_with_the_path_of_the_key(tmp_path, old, new, complaint):
    config = made(tmp_path / "stage") / "config.yaml"
    assert old in config.read_bytes()
    config.write_bytes(config.read_bytes().replace(old, new))
    with pytest.raises(BadInput, match=re.escape(complaint)):
        Imitation(tmp_path / "stage")


def test_values_may_be_outcomes(tmp_path):
    folder = made(tmp_path / "stage", training={"root_value_share": 0.0, "passes": 1})
    assert learned(folder)
    with Imitation(folder) as stage:
        stage.prepare()
        network = load_network(stage.network).network
        with torch.no_grad():
            values = network(stage.kept.rows.observations)[1]
        errors = np.mean((values - stage.kept.rows.outcomes).numpy() ** 2)
        assert stage.figures.read()[-1]["value_loss"] == pytest.approx(errors, rel=1e-4)
