"""Expected Q in Texas 42, beside the same by full enumeration with slow rules."""

from __future__ import annotations

import math

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES, HAND_22
from games.test_texas42_hidden import other_world
from rookery import BadInput, load
from rookery.games import texas42
from rookery.search.expected import Exact, Expected, bids_of, expected, expected_many
from rookery.search.posterior import Habits, rewound, weights_of
from rookery.search.worlds import Drawn, Worlds
from search.slow_expected import slow_expected, slow_q
from search.test_worlds import played_to

GAME, EXACT = load("texas42"), Exact()


def by_tile(found, position):
    """Mean, spread and make by tile."""
    mine = position.state["tiles"][position.mover]
    return {
        ALL_TILES[mine[slot]]: (found.mean[slot], found.spread[slot], found.make[slot])
        for slot in range(7)
        if found.legal[slot]
    }


# ---- beside full enumeration ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_means_spreads_and_chances_are_those_of_full_enumeration(seed):
    for plays, bid in ((19, 30), (20, 32), (21, 35), (22, 30), (23, 41), (25, 30), (27, 36)):
        position, slow = played_to(seed, plays)
        wanted = slow_expected(slow, int(position.state["declarer"]), bid)
        found = expected(position, worlds=Worlds(position).count, bid=bid, oracle=EXACT)
        assert found.complete
        assert found.worlds == found.effective == len(Worlds(position).listed())
        assert by_tile(found, position).keys() == wanted.keys()
        for tile, numbers in by_tile(found, position).items():
            assert numbers == pytest.approx(wanted[tile], abs=1e-9)


def test_a_sample_comes_close_to_full_enumeration():
    position, _ = played_to(4, 14)
    whole = expected(position, worlds=Worlds(position).count)
    part = expected(position, worlds=400, seed=3)
    assert not part.complete
    assert part.worlds == 400
    legal = part.legal
    assert (np.abs(part.mean - whole.mean)[legal] < 5 * whole.spread[legal] / 20 + 1e-9).all()
    assert (np.abs(part.make - whole.make)[legal] < 5 * 0.5 / 20).all()


def test_numbers_are_from_the_mover_s_side_in_both_teams():
    for plays in (24, 25, 26, 27):
        position, slow = played_to(8, plays)
        found = expected(position)
        signs = by_tile(found, position)
        held = Worlds(position).listed()
        assert len(held) == found.worlds
        if found.worlds == 1:
            world = tuple(map(frozenset, slow.hands))
            assert {tile: numbers[0] for tile, numbers in signs.items()} == slow_q(slow, world)


def test_what_is_not_legal_is_nan():
    position = GAME.set_up(texas42.deal(42), 6, 0, HAND_22.split()[:17])
    found = expected(position, worlds=5)
    assert found.legal.tolist() == [slot in position.legal() for slot in range(7)]
    for numbers in (found.mean, found.spread, found.make):
        assert np.isnan(numbers).tolist() == (~found.legal).tolist()


# ---- the bid -------------------------------------------------------------------------------------


def test_points_already_taken_count_towards_the_bid():
    position = GAME.set_up(texas42.deal(42), 6, 0, HAND_22.split()[:20])  # 1 to 29, seat 3 to lead, 12 to come
    assert texas42.points(position) == (1, 29)
    assert position.state["declarer"] == 0
    found = expected(position, bid=13)
    assert not found.declaring
    world = Worlds(position).listed()
    q = Exact()(world)
    reached = 1 + (12 - q) / 2  # of team 0, from the side of team 1
    for slot in np.flatnonzero(found.legal):
        assert found.make[slot] == pytest.approx((reached[:, slot] >= 13).mean())
    assert (expected(position, bid=14).make[found.legal] == 0).all()
    assert (expected(position, bid=1).make[found.legal] == 1).all()


@pytest.mark.parametrize(
    ("spec", "bids", "named", "needed"),
    [
        ("texas42", (), 6, 30),
        ("texas42:bid=36", (), 6, 36),
        ("texas42:auction=redeal", ("30", "pass", "34", "pass"), 6, 34),
        ("texas42:auction=redeal", ("30", "1m", "pass", "2m"), 6, 42),
    ],
)
def test_the_bid_is_that_of_the_contract_or_30(spec, bids, named, needed):
    position = load(spec).set_up(texas42.deal(3), named, 0, (), bids)
    assert bids_of(position.states).tolist() == [needed]


def test_a_choice_by_the_bid_takes_the_safer_play_and_the_mean_decides_ties():
    def made(mean, make, declaring):
        seven = [np.array([*numbers, math.nan, math.nan, math.nan, math.nan]) for numbers in (mean, make)]
        legal = np.array([True] * 3 + [False] * 4)
        return Expected(legal, seven[0], seven[0], seven[1], 10, 10.0, True, declaring)

    assert made([5, 9, 1], [0.8, 0.5, 0.8], True).choice("mean") == 1
    assert made([5, 9, 1], [0.8, 0.5, 0.8], True).choice("make") == 0
    assert made([5, 9, 6], [0.2, 0.5, 0.2], False).choice("make") == 2
    assert made([9, 5, 9], [0.2, 0.5, 0.3], True).choice("mean") == 2
    with pytest.raises(BadInput, match="one of mean, make, not 'best'"):
        made([1, 2, 3], [0, 0, 0], True).choice("best")


# ---- many positions, and what is known ------------------------------------------------------------


def test_many_positions_at_once_are_each_as_alone():
    positions = [played_to(seed, plays)[0] for seed in range(3) for plays in (12, 17, 22)]
    together = expected_many(np.concatenate([p.states for p in positions]), 20, np.arange(9), threads=2)
    for i, position in enumerate(positions):
        alone = expected(position, 20, i)
        assert np.array_equal(together[i].mean, alone.mean, equal_nan=True)
        assert np.array_equal(together[i].make, alone.make, equal_nan=True)
        assert (together[i].worlds, together[i].declaring) == (alone.worlds, alone.declaring)
    assert len(together) == 9


def test_no_positions_have_no_expectations():
    assert len(expected_many(GAME.start(1).states[:0], 5, np.zeros(0, np.int64))) == 0


@pytest.mark.parametrize("seed", range(3))
def test_dealing_hidden_tiles_anew_changes_no_expectation(seed):
    rng = np.random.default_rng(seed)
    for plays in (9, 14, 18):
        position, _ = played_to(seed, plays)
        other = other_world(position, position.mover, rng)
        for habits in (None, Habits(last=4)):
            mine, theirs = (expected(p, 10, seed, habits=habits) for p in (position, other))
            assert np.array_equal(mine.mean, theirs.mean, equal_nan=True)


def test_an_oracle_of_one_s_own_is_asked_about_worlds_with_all_hands():
    asked = []

    def oracle(states):
        asked.append(states)
        return np.tile(np.arange(7.0), (len(states), 1))

    position, _ = played_to(2, 5)
    found = expected(position, 30, oracle=oracle)
    assert len(asked[0]) == 30
    assert (asked[0]["tiles"] < 28).all()
    assert found.mean[found.legal].tolist() == np.flatnonzero(found.legal).tolist()
    assert (found.spread[found.legal] == 0).all()


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda: expected(played_to(1, 28)[0]), "the hand is over"),
        (lambda: expected(load("texas42:auction=redeal").start(1)), "no tile is played before a declaration is named"),
        (
            lambda: expected_many(np.concatenate([GAME.start(1).states, played_to(1, 28)[0].states]), 5, np.arange(2)),
            "position 1 of 2: there is nothing to expect, as nobody is to play a tile",
        ),
        (lambda: expected(GAME.start(1), bid=43), "bid must be a whole number in 1..42, not 43"),
        (lambda: expected(GAME.start(1), worlds=0), "the number of worlds must be a whole number in"),
        (lambda: expected(load("pylos").start()), "a position of texas42 is needed here"),
        (lambda: expected(GAME.start(1).seen_by(2)), "the hand of seat 0 is hidden"),
        (lambda: Habits(tau=0), "tau of habits must be a number above 0, not 0"),
        (lambda: Habits(mix=1.5), "mix of habits must lie in 0..1, not 1.5"),
        (lambda: Habits(last=0), "last of habits must be a whole number in 1..28, not 0"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, complaint):
    with pytest.raises(BadInput, match=complaint):
        ask()


# ---- weights -------------------------------------------------------------------------------------


def slow_weights(position, worlds, habits):
    """The weight of each world, play by play, with positions set up anew."""
    record, weights = texas42.record(position), []
    for state in worlds:
        hands, chance = [list(map(int, hand)) for hand in state["tiles"]], 1.0
        for number, (seat, tile) in list(enumerate(record))[-habits.last :]:
            if seat == position.mover:
                continue
            declaration, opener = int(state["declaration"]), int(state["opener"])
            before = GAME.set_up(hands, declaration, opener, [t for _, t in record[:number]])
            q = EXACT(before.states)[0]
            legal = before.legal()
            shares = np.exp((q[legal] - q[legal].mean()) / habits.tau)
            played = before.action(f"{ALL_TILES[tile][0]}-{ALL_TILES[tile][1]}")
            blind = habits.mix / len(legal)
            chance *= (1 - habits.mix) * shares[list(legal).index(played)] / shares.sum() + blind
        weights.append(chance)
    return np.array(weights) / np.sum(weights)


def weighed(worlds, oracle, habits):
    """The weights of the worlds of one position, with the sum 1."""
    drawn = Drawn(worlds, np.array([0, len(worlds)]), np.array([len(worlds)]), np.array([False]))
    weights = weights_of(drawn, oracle, habits)
    return weights / weights.sum()


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_their_definition(seed):
    for plays, habits in ((14, Habits()), (19, Habits(3.0, 0.2, 5)), (22, Habits(1.0, 0.05, 28))):
        position, _ = played_to(seed, plays)
        worlds = Worlds(position).sample(6, seed)
        wanted = slow_weights(position, worlds, habits)
        assert np.allclose(weighed(worlds, EXACT, habits), wanted)


def test_worlds_of_different_weights_count_as_fewer_of_equal_weight():
    position, _ = played_to(0, 22)
    weights = slow_weights(position, Worlds(position).listed(), Habits(1.0, 0.05, 28))
    found = expected(position, 10_000, habits=Habits(1.0, 0.05, 28))
    assert found.effective == pytest.approx(1 / (weights**2).sum())


def test_weights_differ_between_worlds_and_change_the_means():
    position, _ = played_to(0, 14)
    plain, sharp = (expected(position, 60, 1, habits=habits) for habits in (None, Habits(tau=2.0, last=12)))
    assert plain.effective == plain.worlds == 60
    assert 1 < sharp.effective < 50
    assert np.abs(plain.mean - sharp.mean)[plain.legal].max() > 0.01


def test_without_plays_worlds_weigh_the_same_and_nobody_is_asked():
    def nobody(states):
        raise AssertionError

    worlds = Worlds(GAME.start(1)).sample(8)
    assert weighed(worlds, nobody, Habits()).tolist() == [1 / 8] * 8


def test_going_back_gives_the_position_as_it_was():
    for spec, bids in (("texas42", ()), ("texas42:auction=redeal", ("30", "pass", "31", "pass"))):
        position = load(spec).set_up(texas42.deal(9), "fives", 0, (), bids)
        past = [position.copy()]
        while not position.over:
            position.play(int(position.legal()[-1]))
            past.append(position.copy())
        again = rewound(np.repeat(position.states, 29), np.arange(29))
        assert [state.tobytes() for state in again] == [p.states.tobytes() for p in past]


@pytest.mark.parametrize("name", ["sixes", "nello"])
def test_exact_values_report_every_world_that_is_done(name):
    done = []
    expected(load(f"texas42:declaration={name}").start(2), 20, 0, Exact(2, report=done.append))
    assert sum(done) == 20
