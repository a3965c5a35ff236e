"""Networks of Texas 42 at work: tokens made on the device, the oracle, the player, and that nothing leaks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.arena.player import turn_of
from rookery.arena.players import make_player
from rookery.arena.texas42_networks import HandsOracle, HandTokens, TranscriptPlayer, load_stage
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.nets.configs import HandsConfig, TranscriptConfig
from rookery.nets.files import About, load_network, save_network
from rookery.nets.residual import build
from rookery.nets.texas42 import Hands, Transcript
from rookery.search.expected import expected
from rookery.search.texas42_batch import all_tokens, contract_tokens, legal_slots
from rookery.search.worlds import sample_worlds
from support import random_walk

SMALL = HandsConfig(width=24, heads=2, layers=1, mlp=32)
TINY = TranscriptConfig(width=16, heads=2, layers=1, mlp=32)


def walked(spec: str = "texas42:bid=31,first=2", seeds: range = range(3)) -> np.ndarray:
    """Return every position of some random hands that is not over, as records."""
    game = load(spec)
    found = [p.states.copy() for seed in seeds for p, action in random_walk(game, seed) if action is not None]
    return np.concatenate(found)


def test_tokens_for_many_positions_are_those_the_game_shows():
    game, states = load("texas42:bid=31,first=2"), walked()
    for tokens, kind in ((all_tokens(states), "all"), (contract_tokens(states, 2), "contract")):
        for number, state in enumerate(states):
            position = game.start()
            position.states[0] = state
            assert (tokens[number] == position.observe(kind)).all()
            if kind == "all":
                slots = np.flatnonzero(legal_slots(states[number : number + 1])[0])
                assert slots.tolist() == position.legal().tolist()


def test_tokens_made_where_the_network_is_are_the_same():
    states, maker = walked(), HandTokens("cpu")
    tokens = maker(torch.from_numpy(states["tiles"].copy()), maker.public(states))
    assert tokens.dtype == torch.int8
    assert (tokens.numpy() == all_tokens(states)).all()


def test_an_oracle_says_what_its_network_says_whatever_the_size_of_its_passes():
    network, states = build(SMALL, 2), walked()
    assert isinstance(network, Hands)
    tokens = torch.from_numpy(all_tokens(states))
    wanted = network.points(tokens).detach().numpy()
    for rows in (7, 1000):
        assert np.allclose(HandsOracle(network, "cpu", rows)(states), wanted, atol=1e-4)


def other_worlds(states: np.ndarray) -> np.ndarray:
    """Return the same positions with other hidden hands that agree with what the mover has seen."""
    return sample_worlds(states, 1, np.arange(len(states)) + 5)


def test_hidden_hands_change_nothing_in_what_stage_2_reads():
    states = walked()
    others = other_worlds(states)
    changed = (states["hands"] != others["hands"]).any(1)
    assert changed.sum() > 40
    assert (contract_tokens(states) == contract_tokens(others)).all()
    seen = states.copy()
    for number in range(len(seen)):  # as a player is handed them
        load("texas42").hide(seen[number], int(seen[number]["texas42_mover"]))
    assert (contract_tokens(states) == contract_tokens(seen)).all()


def test_hidden_hands_change_nothing_in_the_worlds_that_are_drawn():
    states = walked()
    seeds = np.arange(len(states))
    assert (sample_worlds(states, 3, seeds) == sample_worlds(other_worlds(states), 3, seeds)).all()


@pytest.fixture
def stage2_file(tmp_path):
    path = tmp_path / "stage2.safetensors"
    save_network(path, build(TINY, 1), About(game="texas42", rules_version=1, observation="contract"))
    return path


@pytest.mark.parametrize("choice", ["mean", "make"])
def test_stage_2_plays_the_legal_tile_it_expects_most_of(stage2_file, choice):
    loaded = load_network(stage2_file)
    player, network = TranscriptPlayer(loaded, choice, "cpu"), loaded.network
    assert isinstance(network, Transcript)
    turns, wanted = [], []
    for position, action in random_walk(load("texas42:bid=30"), 3):
        if action is None:
            break
        turns.append(turn_of(player, position, position, (), seed=0))
        found = network.expect(torch.from_numpy(position.observe("contract"))[None])
        worth = found.mean[0] if choice == "mean" else found.make_logit[0] * (-1) ** (position.mover & 1)
        wanted.append(max(position.legal().tolist(), key=worth.tolist().__getitem__))
    assert [choice.action for choice in player.choose_many(turns)] == wanted
    assert [player.choose(turn).action for turn in turns] == wanted


def test_a_network_of_the_other_stage_is_refused(stage2_file):
    with pytest.raises(BadInput, match="kind 'transcript'"):
        load_stage(str(stage2_file), Hands)


def test_a_stage_1_values_the_plays_of_a_player_that_averages_over_worlds(tmp_path):
    path = tmp_path / "one, two.safetensors"
    network = build(SMALL, 3)
    assert isinstance(network, Hands)
    save_network(path, network, About(game="texas42", rules_version=1, observation="all"))
    game = load("texas42:bid=30")
    player = make_player(f"eq:worlds=20,oracle='{path}'", game)
    again = make_player(player.name, game)
    assert again.name == player.name
    for position, action in random_walk(game, 5):
        if action is None:
            break
        turn = turn_of(player, position, position, (), seed=4)
        found = expected(position, 20, 4, HandsOracle(network, "cpu"))
        assert player.choose(turn).action == again.choose(turn).action == found.choice()


def test_an_oracle_must_be_a_stage_1_that_answers_with_points(stage2_file, tmp_path):
    game, policy = load("texas42"), tmp_path / "policy.safetensors"
    save_network(policy, build(SMALL.model_copy(update={"answers": "policy"})), About(game="texas42"))
    for file, complaint in ((stage2_file, "Stage 1"), (policy, "'policy'"), (tmp_path / "no.pth", "is not there")):
        with pytest.raises(BadInput, match=complaint):
            make_player(f"eq:oracle={file}", game)


def test_stage_2_leaves_the_auction_to_rules_of_thumb_and_plays_whole_games(stage2_file):
    game = load("texas42:auction=forced")
    player = make_player(f"stage2:{stage2_file}", game)
    position = game.start(3)
    while not position.over:
        position.play(player.choose(turn_of(player, position, position, (), seed=0)).action)
    assert sum(position.state["points"]) == 42
