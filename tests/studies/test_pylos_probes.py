"""Probes of Pylos networks: the verdicts on made-up scores, and tiny networks from games to table."""

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
from rookery.studies.pylos_concepts import Concept
from rookery.studies.pylos_probes import (
    PREDICTIONS,
    Prediction,
    ProbeSettings,
    Reading,
    deeper,
    first_seen,
    gathered,
    judged,
    layer_scores,
    measure,
    predictions_of,
)
from support import random_walk

pytestmark = pytest.mark.xdist_group("learning")

LAYERS = ["observation", "stem", *(f"block {number}" for number in range(1, 7))]
NOTHING = [0.6] * 8
ERRORS = [0.01] * 8
SAID = Prediction(3, 4, "support", "support chains")


def rising(place, low=0.6, high=0.95):
    """Scores that rise at one layer."""
    return [low if layer < place else high for layer in range(8)]


def made_up(blocks, scores, untrained=0.55):
    """Return the scores of a network in which all concepts have the same score, layer by layer."""
    concepts = [prediction.concept for prediction in PREDICTIONS]
    layers = ["observation", "stem", *(f"block {number}" for number in range(1, blocks + 1))]
    columns = {"scores": scores, "errors": [0.001] * len(scores), "untrained": [untrained] * len(scores)}
    tables = {name: [[figure] * len(concepts) for figure in column] for name, column in columns.items()}
    return {"layers": layers, "concepts": concepts} | tables


def read(scores, untrained=NOTHING, errors=ERRORS):
    return Reading(LAYERS, scores, errors, untrained)


# ---- verdicts ------------------------------------------------------------------------------------


def test_a_concept_is_seen_where_most_of_the_rise_is_made():
    assert first_seen([0.5, 0.6, 0.85, 0.87, 0.9]) == 3
    assert first_seen([0.9, 0.8, 0.7]) == 0


@pytest.mark.parametrize(("place", "verdict"), [(2, "no"), (3, "no"), (4, "yes"), (5, "yes"), (6, "no")])
def test_the_seed_is_right_where_the_score_rises_in_the_blocks_it_names(place, verdict):
    measured, found = judged(SAID, read(rising(place)))
    assert found == verdict
    assert f"from {LAYERS[place]} on" in measured


def test_what_the_observation_shows_is_seen_by_no_block():
    measured, verdict = judged(SAID, read([0.99] * 8))
    assert verdict == "no"
    assert "in the observation already: AUC 0.990 ± 0.028" in measured


def test_what_no_layer_shows_is_not_seen():
    measured, verdict = judged(SAID, read(rising(4, high=0.7)))
    assert (measured, verdict) == ("nowhere clearly: AUC at most 0.700 ± 0.028 (block 3)", "no")


def test_what_an_untrained_network_shows_as_well_is_left_open():
    measured, verdict = judged(SAID, read(rising(4), rising(1, high=0.94)))
    assert verdict == "open"
    assert "an untrained network shows it as well (0.940)" in measured


def test_what_could_not_be_judged_is_left_open():
    assert judged(SAID, None) == ("too few positions to tell", "open")


def test_predictions_are_made_of_the_blocks_a_network_has():
    found = predictions_of({"v4": made_up(6, rising(4))})
    assert {line["blocks"] for line in found} == {"1-2", "3-4", "5-6"}
    assert {line["verdict"] for line in found if line["blocks"] == "3-4"} == {"yes"}
    assert {line["verdict"] for line in found if line["blocks"] == "5-6"} == {"no"}
    assert all({"network", "blocks", "concept", "said", "measured", "verdict"} == line.keys() for line in found)


def test_v5_is_held_against_v4_where_the_seed_says_six_blocks_are_too_few():
    deep = made_up(10, [*rising(4), 0.95, 0.95, 0.95, 0.98])
    lines = predictions_of({"v4": made_up(6, rising(4)), "v5": deep})
    against = [line for line in lines if line["network"] == "v4 against v5"]
    assert [line["concept"] for line in against] == ["take-back in two", "block", "winner"]
    assert {line["verdict"] for line in against} == {"yes"}


@pytest.mark.parametrize(("high", "error", "verdict"), [(0.95, 0.01, "no"), (1.0, 0.005, "yes"), (1.0, 0.03, "open")])
def test_a_deeper_network_sees_more_only_beyond_the_errors(high, error, verdict):
    assert deeper(read(rising(4)), read(rising(4, high=high), errors=[error] * 8))[1] == verdict


def test_a_concept_without_scores_is_left_open():
    found = made_up(2, [0.6, 0.6, 0.6, None])
    assert {line["verdict"] for line in predictions_of({"v5": found})} == {"open"}


# ---- scores --------------------------------------------------------------------------------------


def test_concepts_are_scored_each_by_its_own_truths_and_positions():
    rng = np.random.default_rng(1)
    inputs, fold = rng.normal(size=(900, 6)), np.arange(900) % 3
    clear, dark = inputs[:, :2] > 0, rng.random((900, 3)) < 0.5
    some = rng.random(900) < 0.5
    partly = np.where(some, inputs[:, 0] > 0, rng.random(900) < 0.5)[:, None]  # true only where it is asked
    every = np.ones(900, bool)
    known = [Concept("dark", dark, every), Concept("partly", partly, some), Concept("clear", clear, every)]
    known.append(Concept("never", partly, ~every))
    scores = [score for score, _ in layer_scores(inputs, known, fold)]
    assert abs(scores[0] - 0.5) < 0.06
    assert scores[1] > 0.97
    assert scores[2] > 0.97
    assert np.isnan(scores[3])


def test_no_position_is_gathered_twice():
    game = load("pylos:removal=greedy")
    games = []
    for seed in (1, 2, 1):
        actions = [action for _, action in random_walk(game, seed) if action is not None]
        games.append(Ended(tuple(actions), np.resize([0.5, -0.5], len(actions)), "by the rules"))
    drawn = gathered(games, 10_000, seed=1)
    texts = [game.text(state) for state in drawn.states]
    assert len(set(texts)) == len(texts) <= len(games[0].actions) + len(games[1].actions) - 1
    assert set(drawn.groups) == {0, 1}
    assert drawn.outcomes[:3].tolist() == [1, -1, 1]
    assert drawn.observations("rich").shape == (len(texts), 92)
    assert len(gathered(games, 20, seed=1).states) == 20


# ---- from networks to the table ------------------------------------------------------------------


def tiny(folder, name, observation, inputs, blocks):
    config = ResidualConfig(inputs=inputs, actions=303, width=8, blocks=blocks, value_hidden=4, policy_hidden=4)
    about = About(game="pylos:removal=greedy", rules_version=1, observation=observation, step=3)
    save_network(folder / f"{name}.pth", build(config, seed=2), about)
    return folder / f"{name}.pth"


def test_tiny_networks_are_probed_from_games_to_predictions(tmp_path):
    networks = {"v4": tiny(tmp_path, "v4", "basic", 32, 1), "v5": tiny(tmp_path, "v5", "rich", 92, 2)}
    said = []
    settings = ProbeSettings(positions=250, games=8, simulations=2, at_once=4, folds=3, device="cpu", threads=1)
    found = measure(networks, settings, lambda *told: said.append(told))
    assert json.loads(json.dumps(found)) == found
    assert found["networks"]["v5"]["layers"] == ["observation", "stem", "block 1", "block 2"]
    for facts in found["networks"].values():
        shape = (len(facts["layers"]), len(facts["concepts"]))
        assert {np.array(facts[table], float).shape for table in ("scores", "errors", "untrained")} == {shape}
        assert facts["scores"][0] == facts["untrained"][0]
    support = found["networks"]["v5"]["concepts"].index("support")
    assert found["networks"]["v5"]["scores"][0][support] > 0.98  # the rich observation tells it
    assert found["networks"]["v4"]["scores"][0][support] < 0.98
    assert {line["blocks"] for line in found["predictions"]} == {"1-2", "7-10"}
    assert said[0][1] == 8
    assert said[-1] == (2, 2, "probes")


def test_without_networks_nothing_is_probed():
    with pytest.raises(BadInput, match="no networks to probe"):
        measure({}, ProbeSettings(), lambda *told: None)
