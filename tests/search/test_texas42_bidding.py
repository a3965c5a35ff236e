"""What a hand of Texas 42 can be bid on: counts, intervals, deals, and the bidder's rule."""

from __future__ import annotations

import numpy as np
import pytest

from games.test_texas42_values import ROOT_VALUES
from rookery import BadInput, load
from rookery.games import texas42
from rookery.games.texas42_auction import BID_TEXTS
from rookery.games.texas42_tiles import NAMES
from rookery.search.texas42_bidding import (
    BIDS,
    STRAIGHT,
    Chances,
    ExactPlay,
    chance_of_bid,
    chances_of,
    choose_bid,
    choose_declaration,
    contracts,
    hand_position,
    promising,
    wilson,
)
from rookery.search.threads import Stopped
from support import HOUSE_42

GAME = load("texas42:auction=redeal")
SURE = "6-6,6-5,6-4,6-3,6-2,6-1,6-0"
SIXES, DOUBLES, NELLO = NAMES.index("sixes"), NAMES.index("doubles"), NAMES.index("nello")


def fake_play(states: np.ndarray) -> np.ndarray:
    """Points that depend on the deal and the declaration, without any play."""
    return (states["hands"][:, 1].astype(np.int64) + 7 * states["declaration"]) % 43


def test_shares_are_counted_over_the_deals():
    points = np.array([[42, 30, 29, 41], [0, 35, 35, 35]])
    chances = Chances((SIXES, DOUBLES), points)
    for k, bid in enumerate(BIDS):
        wanted = [sum(p >= bid for p in row) for row in points.tolist()]
        assert chances.made[:, k].tolist() == wanted
        assert chances.share(bid).tolist() == [count / 4 for count in wanted]
    assert [chances.best(bid) for bid in (30, 31, 36, 42)] == [SIXES, DOUBLES, SIXES, SIXES]


@pytest.mark.parametrize(
    ("made", "tries", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962), (81, 263, 0.2553, 0.3662)],
)
def test_intervals_are_wilson_s_published_ones(made, tries, low, high):
    ends = wilson(np.array(made), tries)
    assert ends[0] == pytest.approx(low, abs=1e-4)
    assert ends[1] == pytest.approx(high, abs=1e-4)


def test_every_declaration_is_played_out_on_the_same_deals_of_the_other_hands():
    seen = {}

    def play(states):
        seen[int(states["declaration"][0])] = states["hands"].copy()
        assert (states["texas42_mover"] == 2).all()
        assert (states["declarer"] == 2).all()
        return fake_play(states)

    position = load("texas42:auction=redeal,first=2").start(4)
    chances_of(position, 30, 5, STRAIGHT, play)
    assert sorted(seen) == sorted(STRAIGHT)
    first = seen[0]
    assert all((hands == first).all() for hands in seen.values())
    assert (first[:, 2] == position.state["hands"][2]).all()
    assert len(np.unique(first[:, 1])) > 20


def test_hidden_hands_change_nothing():
    hands, other = texas42.deal(3), texas42.deal(3)
    other[1], other[2] = other[2], other[1]
    results = [chances_of(GAME.set_up(deal, None, 0), 20, 1, (3, 6), fake_play).points for deal in (hands, other)]
    assert (results[0] == results[1]).all()


@pytest.mark.parametrize("turned", range(4))
def test_exact_play_takes_the_points_of_published_values_whoever_declares(turned):
    """Deal and declaration of a seed, the declarer leading: the values of whole hands, all hands turned about."""
    states = []
    for seed in range(10):
        hands = texas42.deal(seed)
        turned_hands = [hands[(seat - turned) % 4] for seat in range(4)]
        states.append(load("texas42").set_up(turned_hands, seed, turned).states)
    assert ExactPlay()(np.concatenate(states)).tolist() == [(42 + value) // 2 for value in ROOT_VALUES]


def test_a_hand_of_all_sixes_takes_everything_with_sixes():
    chances = chances_of(hand_position(SURE), 10, 0, (SIXES, 0))
    assert chances.points[0].tolist() == [42] * 10
    assert chances.best(42) == SIXES


def test_deals_are_begun_as_after_an_auction():
    position = GAME.start(7)
    by_hand = GAME.set_up(
        [list(map(int, hand)) for hand in position.state["tiles"]], "fives", 0, [], ["30", "pass", "pass", "pass"]
    )
    begun = contracts(position.states, 5, 0, 0)
    for name in ("hands", "tiles", "declaration", "declarer", "texas42_mover", "phase", "leaders", "plays"):
        assert (begun[0][name] == by_hand.state[name]).all()


def test_leaving_hopeless_declarations_out_does_not_change_the_bid():
    for seed in range(40):
        position = GAME.start(seed)
        whole = chances_of(position, 40, seed, STRAIGHT, fake_play)
        part = chances_of(position, 40, seed, STRAIGHT, fake_play, hopeless=(30, 0.3))
        assert set(part.declarations) == {
            d for d, share in zip(whole.declarations, whole.share(30), strict=True) if share >= 0.3
        }
        assert choose_bid(position.state, part, 0.3) == choose_bid(position.state, whole, 0.3)


# ---- the rule ------------------------------------------------------------------------------------


def bid_on(points, threshold, bids=(), spec="texas42:auction=redeal", declarations=(SIXES,)):
    """The bid made with certain points in sampled deals."""
    position = load(spec).set_up([None] * 4, None, 0, [], list(bids))
    return BID_TEXTS[
        choose_bid(position.state, Chances(declarations, np.array([points] * len(declarations))), threshold)
    ]


@pytest.mark.parametrize(
    ("points", "bids", "bid"),
    [
        ([29] * 10, (), "pass"),
        ([30] * 6 + [0] * 4, (), "pass"),
        ([30] * 7 + [0] * 3, (), "30"),
        ([33] * 7 + [0] * 3, (), "33"),
        ([33] * 8 + [30] * 2, (), "30"),
        ([33] * 7 + [0] * 3, ("33",), "pass"),
        ([42] * 10, (), "2m"),
        ([42] * 10, ("2m",), "3m"),
        ([42] * 7 + [41] * 3, (), "41"),
        ([42] * 8 + [30] * 2, (), "2m"),
        ([42] * 7 + [0] * 3, ("2m",), "3m"),
        ([42] * 6 + [0] * 4, ("2m",), "pass"),
    ],
)
def test_the_bid_that_promises_most_marks_is_made_if_it_reaches_the_threshold(points, bids, bid):
    assert bid_on(points, 0.7, bids) == bid


def test_who_may_not_pass_bids_the_least():
    assert bid_on([0] * 10, 0.7, ("pass", "pass", "pass"), "texas42:auction=forced") == "30"


def test_nello_counts_for_bids_of_marks_only():
    assert bid_on([42] * 10, 0.7, (), HOUSE_42, (NELLO,)) == "2m"
    state = load(HOUSE_42).set_up([None] * 4, None, 0).state
    chances = Chances((SIXES, NELLO), np.array([[30] * 10, [42] * 10]))
    assert chance_of_bid(state, chances, BID_TEXTS.index("31")) == 0
    assert chance_of_bid(state, chances, BID_TEXTS.index("1m")) == 1


def test_the_declaration_that_makes_the_contract_most_often_is_named():
    chances = Chances((SIXES, DOUBLES, NELLO), np.array([[42, 42, 0, 0], [35, 35, 35, 35], [42, 42, 42, 0]]))
    for spec, bid, name in (
        (HOUSE_42, "30", "doubles"),
        (HOUSE_42, "1m", "nello"),
        ("texas42:auction=redeal", "1m", "sixes"),
    ):
        state = load(spec).set_up([None] * 4, None, 0, [], [bid, "pass", "pass", "pass"]).state
        assert NAMES[choose_declaration(state, chances)] == name


def test_promising_declarations_are_those_with_trumps_and_doubles():
    state = hand_position("6-6,6-5,6-4,6-3,2-1,3-1,1-0").state
    assert SIXES in promising(state, 0, 1)
    assert len(promising(state, 0, 3)) == 3
    doubles = hand_position("6-6,5-5,4-4,3-3,2-2,1-1,1-0").state
    assert DOUBLES in promising(doubles, 0, 1)
    house = load(HOUSE_42).start(1)
    assert [NAMES[d] for d in promising(house.state, house.mover, 1)[1:]] == [
        "nello",
        "nello-low",
        "nello-suit",
        "sevens",
    ]


def test_house_contracts_are_played_out_as_made_or_set():
    low = "0-0,1-0,2-0,3-0,4-0,5-0,2-1"
    chances = chances_of(hand_position(low), 30, 2, (NELLO, SIXES), ExactPlay(2))
    assert set(chances.points[0].tolist()) <= {0, 42}
    assert 42 in chances.points[0]


@pytest.mark.parametrize("declaration", [NELLO, SIXES])
def test_playing_out_gives_up_when_told_to_stop(declaration):
    stop = np.ones(1, np.int32)
    with pytest.raises(Stopped):
        chances_of(hand_position(SURE), 30, 2, (declaration,), ExactPlay(1, stop))


@pytest.mark.parametrize(
    ("hand", "complaint"),
    [
        ("6-6,6-5", "the hand of seat 0 has 2 tiles; it must have 7"),
        ("6-6,6-6,6-4,6-3,6-2,6-1,6-0", "6-6 stands twice"),
        ("6-7,6-6,6-4,6-3,6-2,6-1,6-0", "'6-7' is no tile"),
        ("27,26,25,24,23,22,21", "'27' is no tile; tiles are 0-0..6-6, written high-low$"),
    ],
)
def test_a_bad_hand_is_named(hand, complaint):
    with pytest.raises(BadInput, match=complaint):
        hand_position(hand)


def test_a_hand_in_play_is_not_bid_on():
    with pytest.raises(BadInput, match="there is nothing to bid on"):
        chances_of(load("texas42").start(1))
