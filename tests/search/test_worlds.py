"""Worlds of Texas 42: counted, drawn and listed, beside the listing of all deals by brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES, HAND_22, NAMES, SlowHand, ids, pairs, random_hand
from games.test_texas42_hidden import other_world
from rookery import BadInput, load
from rookery.arena.players import WORLDS
from rookery.games import texas42
from rookery.search.worlds import MOST_WORLDS, Worlds, dealt_out, sample_worlds, worlds_of
from rookery.search.worlds_table import DESK, PLACES, count_holders, count_ways, drawn_rank, next_holder, shift_of
from search.slow_worlds import all_deals, slow_worlds
from support import HOUSE_42

GAME = load("texas42")


def played_to(seed, plays):
    """A random hand after so many plays, as a position and in the slow rules."""
    hands, declaration, leader, choices = random_hand(np.random.default_rng(seed))
    position = GAME.set_up(hands, declaration, leader)
    slow = SlowHand([[ALL_TILES[tile] for tile in hand] for hand in hands], NAMES[declaration], leader)
    for choice in choices[:plays]:
        legal = position.legal()
        slot = int(legal[choice % len(legal)])
        slow.play(ALL_TILES[position.state["tiles"][position.mover, slot]])
        position.play(slot)
    return position, slow


def held_in(state):
    """What the seats hold in a world."""
    return tuple(
        frozenset(tile for i, tile in enumerate(ALL_TILES) if int(hand & ~state["played"]) >> i & 1)
        for hand in state["hands"]
    )


# ---- beside brute force --------------------------------------------------------------------------


def check_beside_brute_force(seed, depths):
    """Count, list and weigh the worlds of a hand at some depths, with the eyes of all seats."""
    for plays in depths:
        position, slow = played_to(seed, plays)
        for viewer in range(4):
            expected = slow_worlds(slow, viewer)
            worlds = Worlds(position, viewer)
            assert worlds.count == len(expected)
            assert worlds.sizes == tuple(len(hand) for hand in slow.hands)
            listed = [held_in(state) for state in worlds.listed()]
            assert len(listed) == len(expected)
            assert set(listed) == expected
            shares = [
                [sum(tile in w[seat] for w in expected) / len(expected) for seat in range(4)] for tile in ALL_TILES
            ]
            assert np.allclose(worlds.marginals(), shares, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_counts_marginals_and_listings_are_those_of_all_deals_by_brute_force(seed):
    check_beside_brute_force(seed, (18, 21, 23, 27, 28))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 23))
def test_counts_marginals_and_listings_are_those_of_brute_force_earlier_in_the_hand(seed):
    check_beside_brute_force(seed, (13, 15))


def test_the_voids_of_these_hands_matter():
    free, bound = 0, 0
    for seed in range(8):
        position, slow = played_to(seed, 18)
        slow.voids = [set(), set(), set(), set()]
        free += len(slow_worlds(slow, position.mover))
        bound += Worlds(position).count
    assert bound < 0.7 * free


@pytest.mark.parametrize("seed", range(3))
def test_worlds_are_drawn_uniformly(seed):
    position, slow = played_to(seed, 16)
    every = slow_worlds(slow, position.mover)
    assert 10 < len(every) < 500
    drawn = Worlds(position).sample(100 * len(every), seed)
    _, first, times = np.unique(drawn["hands"], axis=0, return_index=True, return_counts=True)
    assert {held_in(drawn[i]) for i in first} == every
    chi_square, freedom = ((times - 100) ** 2 / 100).sum(), len(every) - 1
    assert abs(chi_square - freedom) < 4.5 * np.sqrt(2 * freedom)  # passed by chance, either way, 99.99 times in 100


def test_draws_at_the_opening_agree_with_the_marginals_and_hardly_repeat():
    position = GAME.start(5)
    worlds = Worlds(position)
    assert worlds.count == 399_072_960
    states = worlds.sample(20_000, seed=1)
    shares = np.array([[(states["hands"][:, seat] >> tile & 1).mean() for seat in range(4)] for tile in range(28)])
    assert np.abs(shares - worlds.marginals()).max() < 5 * np.sqrt(2 / 9 / 20_000)
    assert len(np.unique(states["hands"][:, 1:], axis=0)) > 19_990


def test_every_world_is_a_position_in_which_the_same_plays_are_legal():
    for seed in range(4):
        for plays in (0, 1, 6, 11, 17, 22):
            position, _ = played_to(seed, plays)
            record = [tile for _, tile in texas42.record(position)]
            for state in Worlds(position).sample(5, seed):
                hands = [list(map(int, hand)) for hand in state["tiles"]]
                again = GAME.set_up(hands, int(position.state["declaration"]), int(position.state["opener"]), record)
                assert again.states.tobytes() == state.tobytes()


# ---- the published vectors -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plays", "viewer", "sizes", "voids", "count"),
    [
        (8, 1, (5, 5, 5, 5), [set(), set(), set(), set()], 756_756),
        (13, 2, (4, 3, 4, 4), [set(), set(), {4}, {4}], 7_350),
        (18, 3, (3, 2, 2, 3), [{4}, set(), {4}, {4}], 60),
    ],
)
def test_vector_24_worlds_of_a_published_hand(plays, viewer, sizes, voids, count):
    position = GAME.set_up(texas42.deal(42), 6, 0, HAND_22.split()[:plays])
    worlds = Worlds(position, viewer)
    assert (worlds.sizes, texas42.voids(position), worlds.count) == (sizes, voids, count)


def puzzle(pool, allowed, sizes):
    """A desk on which a pool of tiles is to be given to three hands."""
    desks = np.zeros(1, DESK)
    desks[0]["tiles"][: len(ids(pool))] = ids(pool)
    may = [sum(1 << hand for hand in range(3) if tile in pairs(allowed[hand])) for tile in pairs(pool)]
    desks[0]["may"][: len(may)] = may
    desks[0]["unseen"] = len(may)
    desks[0]["open"] = sum(size << shift_of(hand) for hand, size in enumerate(sizes))
    return desks[0]


def test_vector_25_a_pool_on_which_greedy_dealing_fails():
    pool, allowed = "2-2 3-3 6-0", ["2-2 6-0", "2-2 3-3", "2-2 3-3"]
    desk = puzzle(pool, allowed, [1, 1, 1])
    assert count_ways(desk) == 2
    assert len(list(all_deals(frozenset(pairs(pool)), [1, 1, 1], [set(pairs(a)) for a in allowed]))) == 2
    holders = np.zeros((28, 3), np.int64)
    count_holders(desk, np.zeros(PLACES, np.int64), holders)
    assert holders[:3].tolist() == [[0, 1, 1], [0, 1, 1], [2, 0, 0]]
    for rank in range(2):
        places = int(desk["open"])
        for i in range(3):
            hand, rank = next_holder(desk, i, places, rank)
            places -= 1 << shift_of(hand)
            assert (hand == 0) == (i == 2)


def test_numbers_below_a_count_are_drawn_alike_up_to_the_largest_count():
    for count in (3, 60, 399_072_960):
        drawn = np.array([drawn_rank(count, np.uint64(99), world) for world in range(30_000)])
        assert drawn.min() >= 0
        assert drawn.max() < count
        thirds = np.bincount(drawn * 3 // count, minlength=3)
        assert np.abs(thirds - 10_000).max() < 400


# ---- what a seat knows ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_dealing_hidden_tiles_anew_changes_no_world(seed):
    rng, differing = np.random.default_rng(seed), 0
    for plays in (0, 3, 8, 13, 18):
        position, _ = played_to(seed, plays)
        for viewer in range(4):
            other = other_world(position, viewer, rng)
            differing += other.text() != position.text()
            mine, theirs = Worlds(position, viewer), Worlds(other, viewer)
            assert mine.sample(20, 7).tobytes() == theirs.sample(20, 7).tobytes()
            assert mine.count == theirs.count
            assert (mine.marginals() == theirs.marginals()).all()
        whole = np.concatenate([position.states, other_world(position, position.mover, rng).states])
        drawn = sample_worlds(whole, 20, np.array([5, 5]))
        assert drawn[:20].tobytes() == drawn[20:].tobytes()
    assert differing > 15


def test_the_hand_of_the_viewer_stands_in_every_world_and_in_the_marginals():
    position, _ = played_to(3, 9)
    worlds = Worlds(position, 2)
    assert (worlds.sample(50)["hands"][:, 2] == position.state["hands"][2]).all()
    marginals = worlds.marginals()
    for tile in range(28):
        if int(position.state["played"]) >> tile & 1:
            assert marginals[tile].tolist() == [0, 0, 0, 0]
        elif int(position.state["hands"][2]) >> tile & 1:
            assert marginals[tile].tolist() == [0, 0, 1, 0]
        else:
            assert marginals[tile].sum() == pytest.approx(1)


def test_before_a_declaration_all_deals_of_the_other_hands_are_possible():
    position = load("texas42:auction=redeal").start(3)
    assert Worlds(position).count == 399_072_960
    assert (Worlds(position).sample(3)["phase"] == position.state["phase"]).all()


@pytest.mark.parametrize("spec", ["texas42", HOUSE_42])
def test_hidden_hands_are_dealt_out_as_the_known_hand_may_think_them(spec):
    rng, game, others = np.random.default_rng(5), load(spec), 0
    position = game.start(5)
    while not position.over:
        seat = int(rng.integers(4))
        whole = dealt_out(position.seen_by(seat), int(rng.integers(100)))
        assert game.hidden_seats(whole.state) == []
        assert whole.seen_by(seat).text() == position.seen_by(seat).text()
        assert game.position(whole.text()).text() == whole.text()
        others += whole.text() != position.text()
        position.play(int(rng.choice(position.legal())))
    assert others > 5
    assert dealt_out(position, 0) is position


def test_a_player_by_worlds_draws_no_more_of_them_than_can_be_drawn():
    assert WORLDS.most == MOST_WORLDS


def test_when_all_is_played_there_is_one_world():
    position, _ = played_to(1, 28)
    assert Worlds(position).listed().tobytes() == position.states.tobytes()
    assert Worlds(position).marginals().sum() == 0


# ---- many positions ------------------------------------------------------------------------------


def test_worlds_of_many_positions_are_those_of_each_alone_for_any_number_of_threads():
    positions = [played_to(seed, plays)[0] for seed in range(5) for plays in (0, 7, 15, 20)]
    states = np.concatenate([position.states for position in positions])
    seeds = np.arange(100, 100 + len(states))
    drawn = sample_worlds(states, 300, seeds)  # more than one share of a thread
    assert drawn.tobytes() == sample_worlds(states, 300, seeds, threads=3).tobytes()
    alone = [Worlds(p).sample(300, int(seed)) for p, seed in zip(positions, seeds, strict=True)]
    assert drawn.tobytes() == b"".join(states.tobytes() for states in alone)
    assert len({state.tobytes() for state in drawn[:300]}) == 300


def test_all_worlds_are_taken_where_there_are_no_more_than_wanted():
    positions = [played_to(2, plays)[0] for plays in (6, 16, 24)]
    drawn = worlds_of(np.concatenate([p.states for p in positions]), 200, np.arange(3), all_if_fewer=True)
    assert drawn.counts.tolist() == [Worlds(p).count for p in positions]
    assert drawn.complete.tolist() == [count <= 200 for count in drawn.counts]
    assert True in drawn.complete
    assert False in drawn.complete
    for p, (begin, end) in zip(positions, pairwise(drawn.begins), strict=True):
        assert end - begin == min(200, Worlds(p).count)
        if Worlds(p).count <= 200:
            assert drawn.states[begin:end].tobytes() == Worlds(p).listed().tobytes()


# ---- what is refused -----------------------------------------------------------------------------


def test_a_record_with_which_no_deal_agrees_is_refused_with_the_reason():
    position, _ = played_to(0, 12)
    seat = (position.mover + 1) % 4
    position.state["voids"][seat] = 0xFF
    with pytest.raises(BadInput, match=f"no deal agrees with the plays: seat {seat} must hold"):
        Worlds(position)
    states = np.concatenate([GAME.start(1).states, position.states])
    with pytest.raises(BadInput, match=f"position 1 of 2: no deal agrees with the plays: seat {seat} must hold"):
        sample_worlds(states, 5, np.arange(2))


def test_a_record_that_does_not_add_up_is_refused():
    position, _ = played_to(0, 12)
    position.state["hands"][(position.mover + 1) % 4] = 0
    with pytest.raises(BadInput, match="the record of plays cannot be: the seats have played"):
        Worlds(position)


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda: Worlds(GAME.start(1).seen_by(0), 1), "the hand of seat 1 is hidden"),
        (lambda: Worlds(GAME.start(1), 4), "a seat of texas42 must be a whole number in 0..3, not 4"),
        (lambda: Worlds(load("pylos").start()), "a position of texas42 is needed here, not one of pylos"),
        (lambda: Worlds(GAME.start(1)).sample(0), "the number of worlds must be a whole number in 1..1000000, not 0"),
        (lambda: Worlds(GAME.start(1)).listed(), "399,072,960 worlds are possible; more than 100,000 are not listed"),
        (lambda: sample_worlds(GAME.start(1).states, 5, np.arange(2)), "seeds must be 1 whole numbers"),
        (lambda: Worlds(GAME.start(1)).sample(1 << 26), "the number of worlds .* in 1..1000000, not 67108864"),
        (lambda: sample_worlds(np.repeat(GAME.start(1).states, 90), 10**6, np.arange(90)), "are more than fit"),
        (lambda: dealt_out(GAME.set_up([texas42.deal(1)[0], texas42.deal(1)[1], None, None], 6), 1), "not from 2"),
        (lambda: dealt_out(GAME.set_up([None] * 4, 6), 1), "begun from all four hands or from one of them, not from 0"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, complaint):
    with pytest.raises(BadInput, match=complaint):
        ask()


def test_a_sample_as_large_as_the_number_of_worlds_is_still_a_sample():
    position, _ = played_to(0, 16)
    count = Worlds(position).count
    drawn = worlds_of(position.states, count, np.arange(1))
    assert count > 20
    assert not drawn.complete[0]
    assert len(np.unique(drawn.states["hands"], axis=0)) < count
