"""Networks of Texas 42 at work: tokens made on the device, the oracle, the player, and that nothing leaks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.arena.player import turn_of
from rookery.arena.players import make_player
from rookery.arena.texas42_heuristic import HeuristicPlayer
from rookery.arena.texas42_networks import (
    HandsOracle,
    HandTokens,
    TranscriptPlayer,
    as_taught,
    load_stage,
)
from rookery.errors import BadInput
from rookery.games import texas42
from rookery.games.library import load
from rookery.nets.configs import HandsConfig, TranscriptConfig
from rookery.nets.files import About, load_network, save_network
from rookery.nets.residual import build
from rookery.nets.texas42 import Hands, Transcript
from rookery.search.expected import Exact, expected
from rookery.search.texas42_batch import all_tokens, known_tokens, legal_slots, open_tokens
from rookery.search.texas42_replay import replayed
from rookery.search.worlds import sample_worlds
from support import HOUSE_42, random_walk

SMALL = HandsConfig(width=24, heads=2, layers=1, mlp=32)
TINY = TranscriptConfig(width=16, heads=2, layers=1, mlp=32)


def walked(spec: str = "texas42:bid=31,first=2", seeds: range = range(3)) -> np.ndarray:
    """Return every position of some random hands that is not over, as records."""
    game = load(spec)
    found = [p.states.copy() for seed in seeds for p, action in random_walk(game, seed) if action is not None]
    return np.concatenate(found)


def test_tokens_for_many_positions_are_those_the_game_shows():
    game, states = load("texas42:bid=31,first=2"), walked()
    for tokens, kind in (
        (all_tokens(states), "all"),
        (known_tokens(states, 2), "known"),
        (open_tokens(states), "open"),
    ):
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


@pytest.mark.parametrize(("reads", "seen"), [("all", all_tokens), ("open", open_tokens)])
def test_an_oracle_says_what_its_network_says_whatever_the_size_of_its_passes(reads, seen):
    network, states = build(SMALL.model_copy(update={"reads": reads}), 2), walked()
    assert isinstance(network, Hands)
    tokens = torch.from_numpy(seen(states))
    wanted = network.points(tokens).detach().numpy()
    for rows in (7, 1000):
        assert np.allclose(HandsOracle(network, "cpu", rows)(states), wanted, atol=1e-4)


def test_an_oracle_leaves_nello_and_sevens_to_exact_search():
    oracle = HandsOracle(build(SMALL, 2), "cpu")
    for name in ("nello-low", "sevens"):
        late = walked(f"texas42:declaration={name}", range(1))[18:]
        assert (oracle(late) == Exact()(late)).all()
        mixed = np.concatenate([walked(seeds=range(1))[-3:], late])
        assert np.allclose(oracle(mixed), np.concatenate([oracle(mixed[:3]), Exact()(late)]), atol=1e-5)
    assert oracle(late[:0]).shape == (0, 7)


def other_worlds(states: np.ndarray) -> np.ndarray:
    """Return the same positions with other hidden hands that agree with what the mover has seen."""
    return sample_worlds(states, 1, np.arange(len(states)) + 5)


def test_hidden_hands_change_nothing_in_what_stage_2_reads():
    states = walked()
    others = other_worlds(states)
    changed = (states["hands"] != others["hands"]).any(1)
    assert changed.sum() > 40
    assert (known_tokens(states) == known_tokens(others)).all()
    seen = states.copy()
    for number in range(len(seen)):  # as a player is handed them
        load("texas42").hide(seen[number], int(seen[number]["texas42_mover"]))
    assert (known_tokens(states) == known_tokens(seen)).all()
    assert (known_tokens(as_taught(states)) == known_tokens(as_taught(seen))).all()
    assert (known_tokens(as_taught(states)) == known_tokens(as_taught(others))).all()


def test_hidden_hands_change_nothing_in_the_worlds_that_are_drawn():
    states = walked()
    seeds = np.arange(len(states))
    assert (sample_worlds(states, 3, seeds) == sample_worlds(other_worlds(states), 3, seeds)).all()


@pytest.fixture
def stage2_file(tmp_path):
    path = tmp_path / "stage2.safetensors"
    save_network(path, build(TINY, 1), About(game="texas42", rules_version=1, observation="known"))
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
        found = network.expect(torch.from_numpy(position.observe("known"))[None])
        worth = found.mean[0] if choice == "mean" else found.make_logit[0] * (-1) ** (position.mover & 1)
        wanted.append(max(position.legal().tolist(), key=worth.tolist().__getitem__))
    assert [choice.action for choice in player.choose_many(turns)] == wanted
    assert [player.choose(turn).action for turn in turns] == wanted


@pytest.mark.parametrize("choice", ["mean", "make"])
def test_stage_2_tells_values_as_other_players_do_with_the_points_that_are_taken(stage2_file, choice):
    player = TranscriptPlayer(load_network(stage2_file), choice, "cpu")
    for position, action in random_walk(load("texas42:bid=30"), 4):
        if action is None:
            break
        found = player.judge(position.states)
        told = player.choose(turn_of(player, position, position, (), seed=0)).analysis
        for line in told.lines:
            taken = texas42.points(position)
            points = found.mean[0, line.action] + (taken[0] - taken[1]) * (-1) ** (position.mover & 1)
            chance = (found.make_logit[0, line.action] * (-1) ** (position.mover & 1)).sigmoid()
            wanted = points / 42 if choice == "mean" else 2 * chance - 1
            assert line.value == pytest.approx(float(wanted.clamp(-1, 1)), abs=1e-5)


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


@pytest.mark.parametrize(("reads", "told"), [("open", "known"), ("all", "open")])
def test_a_network_that_says_it_was_taught_something_else_than_it_reads_is_refused(reads, told, tmp_path):
    network = build(SMALL.model_copy(update={"reads": reads}))
    save_network(tmp_path / "a.safetensors", network, About(game="texas42", observation=told))
    with pytest.raises(BadInput, match=f"was taught '{told}', but reads '{reads}'"):
        HandsOracle.of(str(tmp_path / "a.safetensors"))


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


# ---- contracts as they were taught ---------------------------------------------------------------

AUCTIONS = [
    (("31", "34", "pass", "pass"), 1, 34),
    (("pass", "pass", "pass", "30"), 3, 30),
    (("30", "1m", "2m", "3m"), 3, 42),
    (("pass", "2m", "pass", "pass"), 1, 42),
    (("splash-2m", "pass", "pass", "pass"), 2, 42),
    (("pass", "30", "plunge-4m", "pass"), 0, 42),
]
"""bids, who leads then, and points that are needed"""


def with_doubles(seed: int) -> list[list[int]]:
    """Deal at random, with four doubles for seat 0 and three for seat 2, so that anything may be bid."""
    rng = np.random.default_rng(seed)
    doubles, others = [0, 2, 5, 9, 14, 20, 27], [tile for tile in range(28) if tile not in (0, 2, 5, 9, 14, 20, 27)]
    rng.shuffle(doubles)
    rng.shuffle(others)
    shares = [doubles[:4] + others[:3], others[3:10], doubles[4:] + others[10:14], others[14:]]
    return [sorted(int(tile) for tile in share) for share in shares]


def played_hand(game, hands, declaration, leader, bids=()) -> list:
    """Return the positions of a hand that are not over, the lowest legal tile being played in each."""
    position = game.set_up(hands, declaration, leader, (), bids)
    found = []
    while not position.over:
        found.append(position.copy())
        position.play(int(position.legal()[0]))
    return found


def as_data_have_it(positions, declaration, leader, bid) -> np.ndarray:
    """Return the records of a hand as they are made of a file of decisions."""
    last = positions[-1].copy()
    last.play(int(last.legal()[0]))
    hands, history = last.states["hands"], last.states["history"]
    return replayed(hands, *(np.array([number], np.int8) for number in (declaration, leader, bid)), history)[0]


@pytest.mark.parametrize(("bids", "leader", "needed"), AUCTIONS)
def test_stage_2_is_told_of_every_contract_as_in_the_hands_it_learned_from(bids, leader, needed):
    options = "texas42:auction=redeal,splash=both,splash_doubles=3,plunge=4,plunge_doubles=3"
    positions = played_hand(load(options), with_doubles(needed), 4, 0, bids)
    states = np.concatenate([position.states for position in positions])
    taught = known_tokens(as_data_have_it(positions, 4, leader, needed))
    assert (known_tokens(as_taught(states)) == taught).all()
    assert (known_tokens(states) != taught).any()  # as an auction tells of it
    assert (states["high_bid"] > 0).all()  # nothing was changed in the positions themselves


def test_a_hand_without_a_bid_is_told_as_one_of_thirty():
    positions = played_hand(load("texas42"), with_doubles(1), 6, 2)
    states = np.concatenate([position.states for position in positions])
    assert (known_tokens(as_taught(states)) == known_tokens(as_data_have_it(positions, 6, 2, 30))).all()


def test_hands_as_they_were_taught_stay_as_they_are():
    states = walked()
    assert (known_tokens(as_taught(states)) == known_tokens(states)).all()


@pytest.mark.parametrize("choice", ["mean", "make"])
def test_stage_2_plays_and_values_the_same_whether_a_contract_was_bid_or_given(stage2_file, choice):
    hands, game = with_doubles(3), load("texas42:auction=redeal")
    bid = played_hand(game, hands, 4, 0, ("31", "pass", "pass", "35"))
    given = played_hand(load("texas42:bid=35"), hands, 4, 3)
    player = TranscriptPlayer(load_network(stage2_file), choice, "cpu")
    found = [
        [player.choose(turn_of(player, each, each, (), seed=0)).analysis for each in hand] for hand in (bid, given)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["nello", "nello-low", "sevens"])
def test_stage_2_leaves_contracts_it_knows_nothing_of_to_rules_of_thumb_and_says_so(stage2_file, name):
    game = load("texas42", declaration=name)
    plain, positions = HeuristicPlayer(), played_hand(game, with_doubles(5), name, 1)
    player = make_player(f"stage2:{stage2_file}", game)
    assert isinstance(player, TranscriptPlayer)
    turns = [turn_of(player, position, position, (), seed=0) for position in positions]
    assert [each.action for each in player.choose_many(turns)] == [plain.choose(turn).action for turn in turns]
    assert f"by rules of thumb: it was not taught {name}" in player.advice(turns[0])
    with pytest.raises(BadInput, match=f"knows nothing of {name}"):
        player.judge(positions[0].states)


@pytest.mark.parametrize("choice", ["mean", "make"])
def test_a_hint_of_stage_2_tells_what_it_expects_of_each_tile(stage2_file, choice):
    game = load("texas42:bid=30")
    player = TranscriptPlayer(load_network(stage2_file), choice, "cpu")
    for seed in range(4):
        position = game.start(seed)
        turn, found = turn_of(player, position, position, (), seed=0), player.judge(position.states)
        first, _, *rows = player.advice(turn).splitlines()
        assert first == "in one pass of a network:"
        chosen = position.move_text(player.choose(turn).action)
        assert [row.split()[0] for row in rows if "*" in row] == [chosen] == [rows[0].split()[0]]
        told = {row.split()[0]: row.replace("*", "").split()[1:4] for row in rows}
        assert set(told) == {position.move_text(slot) for slot in position.legal()}
        for slot in position.legal():
            numbers = [float(part[0, slot]) for part in (found.mean, found.spread, 100 * found.make_logit.sigmoid())]
            assert [float(text) for text in told[position.move_text(slot)]] == pytest.approx(numbers, abs=0.06)


def test_stage_2_plays_whole_games_with_house_contracts_beside_others(stage2_file):
    game = load(HOUSE_42)
    player = make_player(f"stage2:{stage2_file}", game)
    for seed in range(6):
        for position, action in random_walk(game, seed):
            if action is not None:
                assert player.choose(turn_of(player, position, position, (), seed=0)).action in position.legal()
