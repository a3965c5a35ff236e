"""Texas 42: the play against the rule book, the published values, setting up, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.slow_texas42 import (
    ALL_TILES,
    HAND_22,
    NAMES,
    SlowHand,
    ids,
    may_play,
    pairs,
    random_hand,
    slow_all_tokens,
    slow_own_tokens,
    suit_tiles,
    tile_id,
)
from rookery import load
from rookery.games import texas42
from rookery.games.position import Position
from rookery.search.playout import random_games


def set_up_slow(hands: list[list[int]], declaration: int, leader: int) -> tuple[Position, SlowHand]:
    """The same hand twice."""
    slow = SlowHand([[ALL_TILES[tile] for tile in hand] for hand in hands], NAMES[declaration], leader)
    return load("texas42").set_up(hands, declaration, leader), slow


def check_equal(position: Position, slow: SlowHand, dealt: list[list[int]], look: bool) -> None:
    """Compare everything the rule book tells about a position; observations only if asked to look."""
    assert texas42.points(position) == tuple(slow.points)
    assert texas42.voids(position) == slow.voids
    assert texas42.record(position) == [(seat, tile_id(tile)) for seat, tile in slow.plays]
    assert texas42.held(position) == [sorted(tile_id(tile) for tile in hand) for hand in slow.hands]
    assert position.over == slow.over
    assert position.mover == slow.mover
    if not slow.over:
        slots = sorted(sorted(dealt[slow.mover]).index(tile_id(tile)) for tile in slow.legal())
        assert position.legal().tolist() == slots
    if look:
        hands = [[ALL_TILES[tile] for tile in hand] for hand in dealt]
        assert position.observe("all").tolist() == slow_all_tokens(slow, hands)
        assert position.observe("own").tolist() == slow_own_tokens(slow)


def play_both(hands: list[list[int]], declaration: int, leader: int, choices: list[int], look: bool) -> None:
    """Play a hand by both rules, choosing by numbers, and compare all along."""
    position, slow = set_up_slow(hands, declaration, leader)
    for choice in choices:
        check_equal(position, slow, hands, look)
        legal = position.legal()
        action = int(legal[choice % len(legal)])
        slow.play(ALL_TILES[sorted(hands[slow.mover])[action]])
        position.play(action)
    check_equal(position, slow, hands, look)
    ours = (slow.points[0] - slow.points[1]) / 42
    assert [position.payoff(seat) for seat in range(4)] == pytest.approx([ours, -ours, ours, -ours])
    assert sum(slow.points) == 42


@pytest.mark.parametrize("seed", range(10))
def test_play_is_the_rule_book_s_along_random_hands(seed):
    rng = np.random.default_rng(seed)
    for number in range(30):
        play_both(*random_hand(rng), look=number % 10 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_play_is_the_rule_book_s_along_thousands_of_random_hands(seed):
    rng = np.random.default_rng(seed)
    for number in range(400):
        play_both(*random_hand(rng), look=number % 10 == 0)


@given(
    st.permutations(range(28)),
    st.integers(0, 9),
    st.integers(0, 3),
    st.lists(st.integers(0, 6), min_size=28, max_size=28),
)
def test_play_is_the_rule_book_s_in_hands_found_by_search(deal, declaration, leader, choices):
    play_both([list(deal[7 * s : 7 * s + 7]) for s in range(4)], declaration, leader, choices, look=False)


# ---- published values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declaration", "led", "hand", "legal"),
    [
        (4, "6-5", "6-4 5-5 6-1 3-3", "6-1"),
        (4, "6-5", "6-4 5-5 3-3", "6-4 5-5 3-3"),
        (4, "4-4", "4-2 6-6 5-3", "4-2"),
        (9, "6-4", "4-4 6-0 2-1", "6-0"),
        (7, "6-5", "6-6 6-1 2-2", "6-1"),
        (7, "4-4", "6-6 2-2 5-3", "2-2 6-6"),
        (8, "6-2", "6-6 6-5 5-3", "6-5"),
        (8, "3-3", "3-2 3-1 6-0", "3-2 3-1 6-0"),
        (0, "5-4", "5-3 5-0 2-1", "5-3"),
    ],
)
def test_vectors_1_to_9_legal_tiles(declaration, led, hand, legal):
    suit = suit_tiles(NAMES[declaration], 7 if pairs(led)[0] in suit_tiles(NAMES[declaration], 7) else int(led[0]))
    filler = [tile for tile in ALL_TILES if tile not in suit and tile not in pairs(hand) and tile != pairs(led)[0]]
    seven = ids(hand) + [tile_id(tile) for tile in filler[: 7 - len(pairs(hand))]]
    position = load("texas42").set_up([None, seven, None, None], declaration, 0, [led])
    allowed = {sorted(seven)[slot] for slot in position.legal()}
    assert allowed & set(ids(hand)) == set(ids(legal))
    assert set(may_play(NAMES[declaration], pairs(hand), pairs(led))) == set(pairs(legal))


@pytest.mark.parametrize(
    ("declaration", "trick", "best", "worth"),
    [
        (9, "6-4 6-6 4-4 6-5", "6-6", 11),
        (7, "6-5 6-1 0-0 5-5", "5-5", 11),
        (8, "3-3 6-5 5-5 3-2", "5-5", 16),
        (8, "6-5 6-6 6-4 1-1", "6-5", 11),
        (0, "5-0 0-0 6-0 5-5", "0-0", 16),
        (5, "4-1 5-0 4-4 5-4", "5-4", 11),
        (6, "2-1 6-2 2-0 2-2", "6-2", 1),
        (9, "2-1 6-2 2-0 2-2", "2-2", 1),
        (3, "4-3 6-4 4-4 5-5", "4-3", 21),
        (1, "1-0 6-1 5-1 1-1", "1-1", 1),
    ],
)
def test_vectors_10_to_19_winner_and_points_of_a_trick(declaration, trick, best, worth):
    position = load("texas42").set_up([None] * 4, declaration, 0, trick.split())
    winner = trick.split().index(best)
    assert position.mover == winner
    assert texas42.points(position)[winner % 2] == worth
    assert sum(texas42.points(position)) == worth


def test_vectors_20_and_21_deals_by_seed():
    assert texas42.deal(0) == [
        [0, 3, 5, 7, 10, 14, 17], [2, 4, 18, 19, 21, 23, 25], [6, 9, 11, 15, 20, 22, 26], [1, 8, 12, 13, 16, 24, 27],
    ]  # fmt: skip
    assert texas42.deal(42) == [
        [5, 6, 10, 16, 18, 21, 27], [9, 11, 12, 14, 15, 19, 24], [1, 2, 4, 13, 17, 25, 26], [0, 3, 7, 8, 20, 22, 23],
    ]  # fmt: skip


def lowest_plays(position: Position, plays: int = 28) -> Position:
    """Let every seat play its legal tile of lowest id."""
    for _ in range(plays):
        position.play(int(position.legal()[0]))
    return position


def winners_and_points(position: Position) -> tuple[list[int], list[int]]:
    """Replay a record and note who took each trick for how much."""
    plays = [tile for _, tile in texas42.record(position)]
    leader = texas42.record(position)[0][0]
    declaration = int(position.state["declaration"])
    after = [load("texas42").set_up([None] * 4, declaration, leader, plays[: 4 * t]) for t in range(8)]
    totals = [sum(texas42.points(p)) for p in after]
    return [p.mover for p in after[1:]], np.diff(totals).tolist()


def test_vector_22_a_whole_hand_with_sixes():
    position = lowest_plays(load("texas42").set_up(texas42.deal(42), 6, 0))
    assert [tile for _, tile in texas42.record(position)] == ids(HAND_22)
    assert [seat for seat, _ in texas42.record(position)][::4] == [0, 0, 1, 1, 1, 3, 2]
    assert winners_and_points(position) == ([0, 1, 1, 1, 3, 2, 0], [1, 1, 6, 6, 16, 11, 1])
    assert texas42.points(position) == (13, 29)
    assert texas42.voids(position) == [{4}, {7}, {4}, {4}]


def test_vector_23_a_whole_hand_with_doubles_as_a_suit():
    position = lowest_plays(load("texas42").set_up(texas42.deal(7), "doubles-suit", 2))
    assert winners_and_points(position) == ([1, 1, 0, 1, 1, 2, 2], [1, 6, 6, 6, 1, 1, 21])
    assert texas42.points(position) == (28, 14)
    assert texas42.voids(position) == [{2, 4, 5}, {2}, set(), {2, 3, 5, 6}]


def count_worlds(seen: Position) -> int:
    """Count the deals of the unseen tiles that agree with a seen position, tile by tile."""
    declaration, held, voids = int(seen.state["declaration"]), texas42.held(seen), texas42.voids(seen)
    plays = texas42.record(seen)
    hidden = [seat for seat in range(4) if held[seat] is None]
    room = tuple(7 - sum(player == seat for player, _ in plays) for seat in hidden)
    known = {tile for _, tile in plays}.union(*(hand for hand in held if hand is not None))
    ways = {room: 1}
    for tile in (t for i, t in enumerate(ALL_TILES) if i not in known):
        after: dict[tuple[int, ...], int] = {}
        for left, number in ways.items():
            for i, seat in enumerate(hidden):
                barred = any(tile in suit_tiles(NAMES[declaration], suit) for suit in voids[seat])
                if left[i] > 0 and not barred:
                    fewer = (*left[:i], left[i] - 1, *left[i + 1 :])
                    after[fewer] = after.get(fewer, 0) + number
        ways = after
    return sum(ways.values())


@pytest.mark.parametrize(
    ("plays", "viewer", "sizes", "voids", "worlds"),
    [
        (8, 1, [5, 5, 5, 5], [set(), set(), set(), set()], 756756),
        (13, 2, [4, 3, 4, 4], [set(), set(), {4}, {4}], 7350),
        (18, 3, [3, 2, 2, 3], [{4}, set(), {4}, {4}], 60),
    ],
)
def test_vector_24_voids_sizes_and_worlds(plays, viewer, sizes, voids, worlds):
    position = lowest_plays(load("texas42").set_up(texas42.deal(42), 6, 0), plays)
    assert [len(hand or ()) for hand in texas42.held(position)] == sizes
    assert texas42.voids(position) == voids
    assert count_worlds(position.seen_by(viewer)) == worlds


def test_vector_25_two_worlds_when_three_tiles_are_left():
    seen = load("texas42").position(
        "blanks 0 1-1,2-1,3-2,4-4,5-1,6-4,6-5/?/?/? 1-1,6-1,4-1,0-0,5-3,6-5,3-0,5-2,2-0,5-0,4-2,2-1,"
        "3-1,4-3,3-2,4-0,1-0,5-4,5-5,6-4,6-6,6-2,6-3,5-1"
    )
    pool = pairs("2-2 3-3 6-0")
    barred = [{tile for suit in shown for tile in suit_tiles("blanks", suit)} for shown in texas42.voids(seen)]
    allowed = [[tile for tile in pool if tile not in barred[seat]] for seat in (1, 2, 3)]
    assert allowed == [pairs("2-2 6-0"), pairs("2-2 3-3"), pairs("2-2 3-3")]
    assert count_worlds(seen) == 2


def value_to_go(position: Position) -> int:
    """Points still to come, team 0 minus team 1, by trying everything."""
    if position.over:
        return 0
    values = [gain_and_value(position, int(action)) for action in position.legal()]
    return max(values) if position.mover % 2 == 0 else min(values)


def gain_and_value(position: Position, action: int) -> int:
    after = position.copy()
    after.play(action)
    (zero, one), (zero_before, one_before) = texas42.points(after), texas42.points(position)
    return zero - zero_before - (one - one_before) + value_to_go(after)


def test_vector_26_exact_values_to_go():
    position = lowest_plays(load("texas42").set_up(texas42.deal(42), 6, 0), 16)
    assert (position.mover, texas42.points(position)) == (1, (1, 13))
    assert {position.move_text(a): gain_and_value(position, a) for a in position.legal()} == {
        "5-0": -4, "5-4": 6, "6-3": -4,
    }  # fmt: skip
    lowest_plays(position, 4)
    assert (position.mover, texas42.points(position)) == (3, (1, 29))
    assert {position.move_text(a): gain_and_value(position, a) for a in position.legal()} == {"6-1": 12, "6-2": 12}


def test_a_random_decision_has_2_63_legal_tiles_on_average_and_38_5_percent_are_forced():
    counts = []
    for seed in range(400):
        hands, declaration, leader, choices = random_hand(np.random.default_rng(seed))
        position = load("texas42").set_up(hands, declaration, leader)
        for choice in choices:
            legal = position.legal()
            counts.append(len(legal))
            position.play(int(legal[choice % len(legal)]))
    assert np.mean(counts) == pytest.approx(2.63, abs=0.06)
    assert np.mean(np.array(counts) == 1) == pytest.approx(0.385, abs=0.015)


# ---- the deal ------------------------------------------------------------------------------------


def test_start_deals_every_tile_to_every_seat_and_every_pair_to_one_hand_equally_often():
    game, deals = load("texas42"), 20_000
    states = [game.start(seed).state for seed in range(deals)]
    assert all(int(np.bitwise_or.reduce(state["hands"])) == (1 << 28) - 1 for state in states)
    assert all((np.diff(state["tiles"], axis=1) > 0).all() for state in states[:1000])
    bits = np.stack([(state["hands"][:, None] >> np.arange(28)) & 1 for state in states]).astype(np.float64)
    assert (bits.sum(2) == 7).all()
    expected, deviation = deals / 4, np.sqrt(deals * 3 / 16)
    assert np.abs(bits.sum(0) - expected).max() < 5 * deviation
    together = np.einsum("dsi,dsj->ij", bits, bits)[~np.eye(28, dtype=bool)]
    chance = 6 / 27
    assert np.abs(together - deals * chance).max() < 5 * np.sqrt(deals * chance * (1 - chance))
    declarations = np.bincount([state["declaration"] for state in states], minlength=11)
    assert np.abs(declarations[:10] - deals / 10).max() < 5 * np.sqrt(deals * 0.09)
    assert declarations[10] == 0


def test_start_deals_the_declaration_and_leader_of_the_options():
    position = load("texas42:declaration=fives,first=3").start(11)
    assert position.text().startswith("fives 3 ")
    assert position.mover == 3
    assert load("texas42", declaration=5).options == load("texas42:declaration=fives").options


@pytest.mark.parametrize(("leader", "taken"), [(0, 30), (1, 34)])
def test_with_a_bid_the_result_is_whether_the_first_leaders_team_takes_it(leader, taken):
    for bid in (30, taken, taken + 1, 42):
        position = lowest_plays(load("texas42", bid=bid).set_up(texas42.deal(65), "twos", leader))
        assert texas42.points(position)[leader] == taken
        result = 1 if taken >= bid else -1
        assert position.payoff(leader) == position.payoff(leader + 2) == result
        assert position.payoff(1 - leader) == position.payoff(3 - leader) == -result


def test_a_game_depends_on_its_seed_alone():
    game = load("texas42")
    assert game.start(5).text() == game.start(5).text() != game.start(6).text()
    many, few = random_games(game, 300, threads=2, slice_games=64), random_games(game, 300, threads=1, slice_games=300)
    assert (many.keys == few.keys).all()


# ---- text and setting up -------------------------------------------------------------------------


def test_a_position_is_set_up_alike_from_ids_from_text_and_from_its_own_text():
    game, hands = load("texas42"), texas42.deal(42)
    one = game.set_up(hands, 6, 0, ids(HAND_22)[:9])
    two = game.set_up(
        [[f"{ALL_TILES[t][0]}-{ALL_TILES[t][1]}" for t in hand[::-1]] for hand in hands],
        "sixes",
        0,
        HAND_22.split()[:9],
    )
    assert one.states.tobytes() == two.states.tobytes() == game.position(one.text()).states.tobytes()
    lowest = lowest_plays(game.set_up(hands, 6, 0), 9)
    assert lowest.states.tobytes() == one.states.tobytes()


def test_moves_are_tiles_in_either_order():
    position = load("texas42").set_up(texas42.deal(42), 6, 0)
    assert position.moves() == ["2-2", "3-0", "4-0", "5-1", "5-3", "6-0", "6-6"]
    assert position.action("0-6") == position.action("6-0") == 5


def test_the_key_forgets_the_order_of_finished_tricks_but_not_points_or_voids():
    game = load("texas42")
    hands = [["6-6", "6-5", "5-5", "4-4", "3-3", "2-2", "1-1"], None, None, None]
    first = ["6-6", "6-4", "6-3", "6-2", "5-5", "5-4", "5-3", "5-2"]
    order = game.set_up(hands, 9, 0, first)
    swapped = game.set_up(hands, 9, 0, first[4:] + first[:4])
    assert order.key == swapped.key
    assert order.text() != swapped.text()
    in_hand = game.set_up(hands, 9, 0, ["6-6", "6-4", "6-3", "6-2", "5-5", "5-4", "5-3", "1-0"])
    assert in_hand.key != order.key


def test_the_key_tells_whose_team_has_to_take_the_bid():
    game = load("texas42", bid=30)
    one = game.set_up([None] * 4, "no-trump", 0, ["6-6", "6-5", "6-4", "6-3"])
    two = game.set_up([None] * 4, "no-trump", 1, ["6-5", "6-4", "6-3", "6-6"])
    assert (one.mover, texas42.points(one), texas42.voids(one)) == (two.mover, texas42.points(two), texas42.voids(two))
    assert one.key != two.key
