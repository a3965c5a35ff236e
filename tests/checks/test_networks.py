"""Networks: weights and answers, healthy and broken."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from checks.small_networks import BOARD, kept, small_network
from checks.verdicts import complains, in_order, named, silent
from rookery.checks import Sample, Verdict
from rookery.checks.networks import check_network, norm_statistics, points_scale, weights_size
from rookery.checks.positions import sampled_positions
from rookery.errors import BadInput
from rookery.games.library import load

FEW = Sample(positions=64)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """A network that was shown what it is asked about, so that its batch norms are right."""
    network = small_network()
    asked = sampled_positions(load(BOARD), "planes", 64, 0)
    network.train()
    with torch.no_grad():
        for _ in range(60):
            network(torch.from_numpy(asked.observations))
    return network.eval()


@pytest.fixture(scope="module")
def found(healthy, tmp_path_factory):
    return check_network(kept(tmp_path_factory.mktemp("networks") / "one.pth", healthy), FEW)


def test_a_healthy_network_is_in_order(found):
    in_order(found, "weights-numbers", "weights-size", "layers-alive", "policy-numbers", "value-range")
    in_order(found, "value-variety", "value-saturation", "policy-entropy", "dead-outputs", "norm-statistics")
    in_order(found, "cache-hits")
    silent(found, "policy-legal")


def test_weights_that_are_no_numbers_are_found_and_nothing_else_is_asked(tmp_path):
    network = small_network()
    with torch.no_grad():
        network.state_dict()["value_fc1.weight"][0, 0] = float("nan")
    found = check_network(kept(tmp_path / "nan.pth", network), FEW)
    complains(found, "weights-numbers", Verdict.WRONG)
    assert len(found) == 1
    assert "value_fc1.weight" in found[0].measured


def test_weights_out_of_bounds_are_found():
    network = small_network(residual=False)
    with torch.no_grad():
        next(iter(network.parameters()))[0, 0] = 1e6
    complains(weights_size(dict(network.state_dict())), "weights-size", Verdict.WRONG)


def test_a_network_of_nothing_is_found(tmp_path):
    network = small_network(residual=False)
    with torch.no_grad():
        for weights in network.parameters():
            weights.zero_()
    found = check_network(kept(tmp_path / "nothing.pth", network), FEW)
    complains(found, "layers-alive", Verdict.WRONG)
    complains(found, "value-variety", Verdict.WRONG)
    complains(found, "policy-entropy", Verdict.WRONG)
    complains(found, "dead-outputs", Verdict.WRONG)


def test_answers_that_are_no_numbers_are_found_and_nothing_more_is_said(tmp_path):
    network = small_network(residual=False)
    with torch.no_grad():
        for weights in network.parameters():
            weights.fill_(1e30)  # each is a number, and their products are none
    found = check_network(kept(tmp_path / "huge.pth", network), FEW)
    complains(found, "weights-size", Verdict.WRONG)
    complains(found, "policy-numbers", Verdict.WRONG)
    silent(found, "symmetry")


def test_batch_norms_that_were_shown_something_else_are_found(healthy):
    asked = sampled_positions(load(BOARD), "planes", 64, 0)
    in_order(norm_statistics(healthy, asked), "norm-statistics")
    strange = small_network()
    with torch.no_grad():
        for name, kept_numbers in strange.state_dict().items():
            if name.endswith("running_mean"):
                kept_numbers += 100
    complains(norm_statistics(strange, asked), "norm-statistics", Verdict.WRONG)


def test_a_policy_that_has_not_learned_the_rules_is_found_where_it_should(tmp_path, healthy):
    found = check_network(kept(tmp_path / "one.safetensors", healthy), FEW, learns_rules=True)
    complains(found, "policy-legal")


def test_a_search_that_asks_the_same_again_and_again_is_found(tmp_path, healthy, monkeypatch):
    from rookery.checks import networks

    path = kept(tmp_path / "one.pth", healthy)
    monkeypatch.setattr(networks, "HITS", -1.0)
    complains(check_network(path, FEW), "cache-hits", Verdict.WARNING)


def test_a_network_of_an_unknown_game_is_checked_by_its_weights_alone(tmp_path, healthy):
    found = check_network(kept(tmp_path / "one.pth", healthy, game="", observation=""), FEW)
    assert {each.name for each in found} == {"weights-numbers", "weights-size", "layers-alive"}


def test_the_same_seed_gives_the_same_numbers(tmp_path, healthy, found):
    again = check_network(kept(tmp_path / "one.pth", healthy), FEW)
    assert [each.number for each in again] == [each.number for each in found]


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BadInput, match="is not there"):
        check_network(tmp_path / "none.pth", FEW)


class Told:
    """A network of Texas 42 that tells points."""

    def __init__(self, factor):
        self.factor = factor
        self.config = type("Config", (), {"in_points": True})

    def points(self, tokens):
        rng = np.random.default_rng(0)
        return torch.from_numpy(self.factor * rng.normal(0, 10, (len(tokens), 7)))


def test_points_of_another_scale_are_found():
    game = type("Game", (), {"observations": {"all": (2, 3)}})
    asked = type("Asked", (), {
        "game": game, "kind": "all", "observations": np.zeros((64, 6)), "legal": np.ones((64, 7), bool),
        "__len__": lambda self: 64,
    })()  # fmt: skip
    in_order(points_scale(Told(1.0), asked), "points-scale")
    complains(points_scale(Told(10.0), asked), "points-scale", Verdict.WRONG)
    complains(points_scale(Told(0.001), asked), "points-scale", Verdict.WRONG)


@pytest.mark.slow
def test_networks_of_lc0_are_checked(tmp_path):
    from lc0_files import random_net
    from rookery.nets.lc0.files import write_file

    path = tmp_path / "net.pb.gz"
    write_file(path, random_net("attention, map", seed=1))
    found = check_network(path, FEW)
    in_order(found, "weights-numbers", "policy-numbers", "value-range")


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "observation"), [(1, "all"), (1, "open"), (2, "known")])
def test_networks_of_texas_42_are_asked_for_points(tmp_path, stage, observation):
    from rookery.nets.residual import build
    from studies.texas42_samples import HANDS, TRANSCRIPT

    network = build(HANDS.model_copy(update={"reads": observation}) if stage == 1 else TRANSCRIPT, 0).eval()
    game = load("texas42")
    changes = {"game": game.spec, "rules_version": game.version, "observation": observation}
    found = check_network(kept(tmp_path / "one.pth", network, **changes), FEW)
    assert named(found, "points-scale")[0].number > 0
    in_order(found, "value-range", "policy-numbers")
    silent(found, "value-sign")
