"""The floor of the value loss, on coins whose scatter is known and on a tiny network."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rookery import load
from rookery.errors import BadInput
from rookery.learn.continued import Ended
from rookery.nets.configs import ResidualConfig
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.studies.pylos_floor import FloorSettings, drawn_beginnings, interval, measure, summary, variances
from rookery.studies.pylos_networks import changed, student

pytestmark = pytest.mark.xdist_group("learning")

SMALL = FloorSettings(positions=6, replays=3, games=4, at_once=8, simulations=4, resamples=50, device="cpu", threads=1)


def coins(seed, positions=4000, replays=3):
    """Outcomes of coins that fall +1 with a known chance, one for each position, and the chances."""
    rng = np.random.default_rng(seed)
    chances = rng.random(positions)
    return np.where(rng.random((positions, replays)) < chances[:, None], 1.0, -1.0), chances


@pytest.fixture
def network(tmp_path):
    config = ResidualConfig(inputs=32, actions=303, width=8, blocks=1, value_hidden=4, policy_hidden=4)
    path = tmp_path / "net.pth"
    about = About(game="pylos:removal=greedy", rules_version=1, observation="basic", step=7)
    save_network(path, build(config, seed=1), about)
    return path


@pytest.mark.parametrize("replays", [2, 3, 32])
def test_the_floor_is_the_scatter_of_coins_for_any_number_of_replays(replays):
    outcomes, chances = coins(1, replays=replays)
    found = summary(2 * chances - 1, outcomes, SMALL)
    scatter = (4 * chances * (1 - chances)).mean()
    assert found["interval"][0] < scatter < found["interval"][1]
    assert found["floor"] == pytest.approx(scatter, abs=0.03)
    assert found["value_loss"] == pytest.approx(scatter, abs=0.03)  # nothing is missed by who knows the coins


def test_what_a_network_misses_comes_on_top_of_the_floor():
    outcomes, chances = coins(2, replays=16)
    found = summary(2 * chances - 1 + 0.3, outcomes, SMALL)
    assert found["value_loss"] - found["floor"] == pytest.approx(0.09, abs=0.03)


def test_the_interval_holds_the_truth_about_as_often_as_it_should():
    held = 0
    for seed in range(100):
        outcomes, _ = coins(seed, positions=150, replays=4)
        low, high = interval(variances(outcomes), 200, seed)
        held += low < 2 / 3 < high  # the mean of 4 p (1 - p)
    assert 88 <= held <= 100


def test_draws_and_settled_positions_are_counted_and_a_discount_is_taken_off():
    outcomes = np.array([[0.9, -0.8, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5]])
    found = summary(np.zeros(2), outcomes, SMALL)
    assert (found["positions"], found["replays"]) == (2, 4)
    assert found["draws"] == 0.25
    assert found["settled"] == 0.5
    assert found["floor_without_discount"] == pytest.approx(np.var([1, -1, 0, 0], ddof=1) / 2)


def test_positions_are_drawn_from_all_plies_alike_and_none_twice():
    game = load("pylos:removal=greedy")
    games = [Ended(tuple(range(length)), np.zeros(length), "by the rules") for length in (2, 6, 4)]
    lengths = sorted(len(one.plies) for one in drawn_beginnings(game, games, 12, seed=1))
    assert lengths == [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5]


def test_a_tiny_network_is_measured_and_the_same_seed_finds_the_same(network):
    said = []
    found = measure({"v4": network}, SMALL, lambda *told: said.append(told))
    assert found == measure({"v4": network}, SMALL, lambda *told: None)
    assert json.loads(json.dumps(found)) == found
    facts = found["networks"]["v4"]
    assert (facts["positions"], facts["replays"], facts["step"]) == (6, 3, 7)
    assert facts["interval"][0] <= facts["floor"] <= facts["interval"][1]
    assert facts["value_loss_interval"][0] <= facts["value_loss"] <= facts["value_loss_interval"][1]
    assert 0 <= facts["draws"] <= 1
    assert said[-1] == (4 + 6 * 3, 4 + 6 * 3, "floor of v4")
    assert found["settings"]["simulations"] == 4


def test_self_play_is_that_of_the_run_a_network_lies_in_and_otherwise_that_of_its_game(network):
    assert student(network).selfplay.urgency == "infinite"  # V5's, packaged
    (network.parent / "config.yaml").write_text(
        "game: pylos:removal=greedy\nselfplay: {alpha: 0.7, full_share: 0.5, cheap_simulations: 2}\n"
        "network: {kind: residual, observation: basic, width: 8, blocks: 1, value_hidden: 4, policy_hidden: 4}\n"
    )
    selfplay = changed(student(network).selfplay, at_once=3, simulations=5)
    assert (selfplay.alpha, selfplay.full_share, selfplay.at_once, selfplay.simulations) == (0.7, 1, 3, 5)
    assert changed(selfplay, at_once=3, simulations=None) == selfplay


def test_a_network_of_another_game_is_refused(network):
    config = ResidualConfig(inputs=18, actions=9, width=8, blocks=1, value_hidden=4, policy_hidden=4)
    save_network(network, build(config), About(game="chess", rules_version=1, observation="planes"))
    with pytest.raises(BadInput, match="cannot play pylos: it was taught chess"):
        measure({"v4": network}, SMALL, lambda *told: None)


def test_a_single_replay_tells_no_scatter():
    with pytest.raises(BadInput, match="replays of the floor"):
        FloorSettings(replays=1)
