"""The bidder of Texas 42: what it bids and names, and that it leaves the play to another player."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import BadInput, load, make_player
from rookery.arena.player import Choice, Player, turn_of
from rookery.arena.texas42_bidder import BidderPlayer
from rookery.games import texas42
from support import HOUSE_42

pytestmark = pytest.mark.xdist_group("bidder")  # what is compiled and made is made once

GAME = load("texas42:auction=redeal")
STRONG = ["6-6", "6-5", "6-4", "6-3", "6-2", "5-5", "4-4"]
WEAK = ["6-0", "5-1", "4-2", "3-1", "2-0", "6-1", "5-2"]
BIDDER = "bidder:random,worlds=16,declarations=2"


def chosen(text, position, seed=3):
    """The choice of a player, handed what it may see."""
    player = make_player(text, position.game)
    return player.choose(turn_of(player, position, position, (), seed=seed))


def said(hand, bids=(), spec=GAME.spec, text=BIDDER):
    """What a bidder says with a hand after some bids."""
    hands = [None] * 4
    hands[len(bids) % 4] = hand
    position = load(spec).set_up(hands, None, 0, [], list(bids))
    found = chosen(text, position)
    assert found.action in position.legal()
    return position.move_text(found.action)


@pytest.mark.slow
def test_a_strong_hand_is_bid_and_a_weak_one_passed():
    assert said(STRONG) not in ("pass", "1m")
    assert said(WEAK) == "pass"
    assert said(WEAK, text="bidder:random,worlds=8,by=heuristic,declarations=1") == "pass"


def test_a_weak_hand_that_may_not_pass_bids_the_least():
    assert said(WEAK, ("pass", "pass", "pass"), "texas42:auction=forced") == "30"


def test_nobody_bids_above_the_limit():
    assert said(STRONG, ("1m",), "texas42:auction=redeal,mark_limit=1") == "pass"


def test_a_threshold_of_one_is_for_sure_things_only():
    assert said(STRONG, text="bidder:random,worlds=16,threshold=1,declarations=1") != "pass"
    assert said(WEAK, text="bidder:random,worlds=16,threshold=0,declarations=1") != "pass"


def test_the_suit_of_a_strong_hand_is_named():
    position = GAME.set_up([STRONG, None, None, None], None, 0, [], ["30", "pass", "pass", "pass"])
    found = chosen(BIDDER, position)
    assert position.move_text(found.action) in ("sixes", "doubles")
    assert found.analysis.lines[0].action == found.action
    assert all(-1 <= line.value <= 1 for line in found.analysis.lines)


def test_nello_is_bid_and_named_with_a_hand_that_loses_every_trick():
    low = ["0-0", "1-0", "2-0", "2-1", "3-0", "3-1", "1-1"]
    spec = "texas42:auction=redeal,nello=high"
    assert said(low, (), spec) == "2m"
    assert said(low, ("2m", "pass", "pass", "pass"), spec) == "nello"


def test_what_it_says_of_a_bid_is_about_a_declaration_that_may_be_named_after_it():
    low = ["1-0", "2-0", "2-1", "3-0", "3-1", "3-2", "4-0"]
    position = load("texas42:auction=forced,nello=high,nello_marks=3").set_up(
        [None, None, None, low], None, 0, [], ["pass"] * 3
    )
    found = chosen(BIDDER, position)
    assert position.move_text(found.action) == "30"
    assert "nello" not in found.analysis.note
    passing = load("texas42:auction=redeal,nello=high,nello_marks=3").set_up([low, None, None, None], None, 0)
    assert chosen(BIDDER, passing).analysis.note == "no declaration makes 30 often enough"


def test_a_hint_says_why_in_the_auction_and_is_that_of_the_player_inside_in_the_play():
    player, inner = (make_player(text, GAME) for text in ("bidder:eq:worlds=5,worlds=16", "eq:worlds=5"))
    bidding = GAME.set_up([STRONG, None, None, None], None, 0)
    playing = GAME.set_up([STRONG, None, None, None], 6, 0, [], ["30", "pass", "pass", "pass"])
    advice = player.advice(turn_of(player, bidding, bidding, (), seed=3))
    assert "would play" in advice
    assert "16 deals: sixes makes" in advice
    turn = turn_of(player, playing, playing, (), seed=3)
    assert player.advice(turn) == inner.advice(turn)
    plain = make_player("bidder:heuristic", GAME)
    assert plain.advice(turn_of(plain, playing, playing, (), seed=3)) == "bidder:heuristic would play 6-6"


def test_the_partner_of_a_splash_names_for_all_the_tricks():
    position = load(HOUSE_42).set_up([None, None, STRONG, None], None, 0, [], ["splash-2m", "pass", "pass", "pass"])
    assert position.mover == 2
    assert position.move_text(chosen(BIDDER, position).action) in ("sixes", "doubles")


def test_the_same_seed_makes_the_same_bid_whatever_lies_in_the_other_hands():
    hands, other = texas42.deal(8), texas42.deal(8)
    other[1:] = other[3], other[1], other[2]
    one, two = (chosen(BIDDER, GAME.set_up(deal, None, 0)) for deal in (hands, other))
    assert (one.action, one.analysis) == (two.action, two.analysis)


class Lowest(Player):
    """Plays the lowest legal slot, and counts how often it is asked together."""

    name = "lowest"

    def __init__(self):
        self.asked = []

    def choose_many(self, turns):
        self.asked.append(len(turns))
        return [Choice(int(turn.position.legal()[0])) for turn in turns]


def test_plays_are_those_of_the_player_inside_asked_together():
    inner = Lowest()
    player = BidderPlayer(inner, 4, declarations=1)
    playing = [GAME.set_up(texas42.deal(seed), 6, 0, [], ["30", "pass", "pass", "pass"]) for seed in range(3)]
    bidding = GAME.set_up([WEAK, None, None, None], None, 0)
    turns = [turn_of(player, p, p, (), seed=1) for p in (playing[0], bidding, playing[1], playing[2])]
    choices = player.choose_many(turns)
    assert inner.asked == [3]
    assert [choices[i].action for i in (0, 2, 3)] == [0, 0, 0]
    assert bidding.move_text(choices[1].action) == "pass"


def test_one_that_is_told_to_stop_answers_at_once():
    player = make_player(BIDDER, GAME)
    position = GAME.set_up([STRONG, None, None, None], None, 0)
    turn = turn_of(player, position, position, (), seed=1, stop=np.ones(1, np.int32))
    assert player.choose(turn).action in position.legal()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bidder:eq", "bidder:eq"),
        ("bidder:eq,worlds=40,threshold=0.9", "bidder:eq"),
        ("bidder:eq:worlds=10,worlds=20", "bidder:eq:worlds=10,worlds=20"),
        ("bidder:'eq:worlds=10,choice=make',threshold=0.5", "bidder:'eq:worlds=10,choice=make',threshold=0.5"),
        ("bidder:heuristic,declarations=9", "bidder:heuristic,declarations=9"),
    ],
)
def test_a_bidder_is_written_with_the_player_inside(text, name):
    player = make_player(text, GAME)
    assert player.name == name
    assert make_player(player.name, GAME).name == name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("bidder", "bidder needs a player behind a colon, like bidder:eq"),
        ("bidder:nobody", "there is no kind 'nobody'"),
        ("bidder:mcts:sims=9", "named oracle:mcts:sims=9"),
        ("bidder:oracle:exact", "oracle:exact cannot play for a bidder"),
        ("bidder:bidder:eq", "bidder:eq cannot play for a bidder"),
        ("bidder:eq,threshold=2", "a number in 0..1, not '2'"),
    ],
)
def test_a_bad_bidder_is_named_with_what_is_allowed(text, complaint):
    with pytest.raises(BadInput, match=complaint):
        make_player(text, GAME)
