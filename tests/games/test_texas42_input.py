"""Texas 42: bad hands, plays, texts, moves and options are named, with what is allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.slow_texas42 import ALL_TILES, HAND_22
from rookery import BadInput, load
from rookery.games import texas42

GOOD = "sixes 0 {} -".format(
    "/".join(",".join(f"{h}-{lo}" for h, lo in ALL_TILES[7 * s : 7 * s + 7]) for s in range(4))
)


@pytest.mark.parametrize(
    ("change", "named", "allowed"),
    [
        (("sixes", "eights"), "'eights'", "blanks, ones"),
        (("sixes", "10"), "'10'", "0..9"),
        (("sixes", "1" * 5000), "1' is no declaration", "0..9"),
        (("sixes", "-"), "a declaration is missing", "blanks, ones"),
        (("sixes 0", "sixes 4"), "'4'", "0..3"),
        (("sixes 0", "sixes"), "'sixes 0-0", "4 parts: declaration"),
        (("0-0,", "0-7,"), "'0-7'", "0-0..6-6"),
        (("0-0,", "1-0,"), "1-0 stands twice", "in the hand of seat 0"),
        (("0-0,", "6-6,"), "6-6 stands twice", "seats 0 and 3"),
        (("0-0,", ""), "seat 0 has 6 tiles", "must have 7 or be hidden"),
        (("/3-1", ",3-1"), "number of hands is 3", "4"),
        ((" -", " 6-6"), "play 1, 6-6 by seat 0", "legal: 0-0,1-0"),
        ((" -", " 6-x"), "'6-x'", "0-0..6-6"),
        ((" -", " 0-0,0-0"), "play 2, 0-0 by seat 1", "played before"),
        ((" -", " 3-0,4-0"), "play 2, 4-0 by seat 1", "legal: 3-1,3-2,3-3"),
    ],
)
def test_a_bad_text_is_named_with_what_is_allowed(change, named, allowed):
    assert load("texas42").position(GOOD).text() == GOOD
    with pytest.raises(BadInput) as error:
        load("texas42").position(GOOD.replace(*change, 1))
    assert named in str(error.value)
    assert allowed in str(error.value)


@pytest.mark.parametrize(
    ("hands", "plays", "named", "allowed"),
    [
        ([None] * 3, [], "number of hands is 3", "4"),
        ([["6-6"] * 7, None, None, None], [], "6-6", "twice"),
        ([[0, 1, 2, 3, 4, 5, 28], None, None, None], [], "28", "0..27"),
        ([[0, 1, 2, 3, 4, 5, True], None, None, None], [], "True", "0..27"),
        ([None, [0, 1, 2, 3, 4, 5, 6], None, None], ["1-1"], "play 1, 1-1 by seat 0", "in the hand of seat 1"),
        ([None] * 4, ["5-4", "3-2", "5-3", "5-2", "5-5", "5-0"], "play 6, 5-0 by seat 1", "can only hold 0-0,1-0"),
        (
            [None, None, [0, 1, 2, 3, 4, 5, 6], None],
            ["5-4", "3-2", "3-0", "5-2", "5-5", "5-0"],
            "play 6, 5-0 by seat 1",
            "can only hold 3-1,3-3",
        ),
        ([None] * 4, [*HAND_22.split(), "6-6"], "play 29, 6-6", "the hand is over"),
    ],
)
def test_a_bad_set_up_is_named_with_what_is_allowed(hands, plays, named, allowed):
    with pytest.raises(BadInput) as error:
        load("texas42").set_up(hands, 6, 0, plays)
    assert named in str(error.value)
    assert allowed in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"hands": None}, "hands must be a list, not None"),
        ({"hands": 5}, "hands must be a list, not 5"),
        ({"hands": {0: [1]}}, "hands must be a list, not {0: [1]}"),
        ({"hands": "????"}, "hands must be a list, not '????'"),
        ({"hands": [1, 2, 3, 4]}, "the hand of seat 0, unless it is None, must be a list, not 1"),
        ({"hands": [None, "6-6,5-5", None, None]}, "the hand of seat 1, unless it is None, must be a list, not '6-6,5"),
        ({"plays": None}, "plays must be a list, not None"),
        ({"plays": "6-6"}, "plays must be a list, not '6-6'"),
        ({"plays": {"6-6"}}, "plays must be a list, not {'6-6'}"),
        ({"bids": None}, "bids must be a list, not None"),
        ({"bids": "pass"}, "bids must be a list, not 'pass'"),
    ],
)
def test_what_is_no_list_is_refused_by_its_name(arguments, named):
    with pytest.raises(BadInput) as error:
        load("texas42").set_up(**({"hands": [None] * 4, "declaration": 6} | arguments))
    assert named in str(error.value)


def test_hands_and_plays_may_be_anything_that_gives_its_items_in_order():
    game, hands = load("texas42"), texas42.deal(42)
    lists = game.set_up(hands, 6, 0, ["2-2", "4-2"])
    generated = game.set_up((iter(hand) for hand in hands), 6, 0, (tile for tile in ("2-2", "4-2")))
    assert generated.text() == lists.text()


@pytest.mark.parametrize("seed", [None, -1, 2**63, "42", 1.5, True])
def test_a_bad_seed_of_a_deal_is_named_with_what_is_allowed(seed):
    with pytest.raises(BadInput) as error:
        texas42.deal(seed)
    assert str(error.value) == f"seed must be a whole number in 0..{2**63 - 1}, not {seed!r}"


@pytest.mark.parametrize(
    ("hand", "plays", "message"),
    [
        ("6-6 5-5 4-4 3-3 2-2 1-1 0-0", "6-6 1-0 2-0 2-1", "seats 1 and 2 and 3 must hold 18 more tiles of 3-0,3-1,"),
        (
            "6-6 5-5 4-4 3-3 0-0 1-0 1-1",
            "6-6 2-0 6-5 6-4 5-5 2-1 5-4 5-3 4-4 2-2 4-3 4-2",
            "seat 1 must hold 4 more tiles of 3-0,3-1,3-2",
        ),
        (
            "6-6 5-5 4-4 6-5 6-4 5-4 6-3",
            "6-6 5-0 5-1 6-2 5-5 4-1 3-1 5-2 4-4 3-0 2-0 4-3",
            "seats 1 and 2 must hold 8 more tiles of 0-0,1-0,1-1,2-1,2-2,3-2,3-3",
        ),
    ],
)
def test_plays_with_which_no_deal_agrees_are_refused(hand, plays, message):
    game, hands = load("texas42"), [hand.split(), None, None, None]
    with pytest.raises(BadInput, match=f"no deal agrees with the plays: {message}"):
        game.set_up(hands, "no-trump", 0, plays.split())
    game.set_up(hands, "no-trump", 0, plays.split()[:-4])


@pytest.mark.parametrize(
    ("spec", "named", "allowed"),
    [
        ("texas42:auction=maybe", "'maybe'", "none, redeal, forced"),
        ("texas42:declaration=eights", "'eights'", "or any, drawn with the deal"),
        ("texas42:first=4", "first", "0..3, not 4"),
        ("texas42:auction=redeal,mark_limit=8", "mark_limit", "1..7, not 8"),
        ("texas42:mark_limit=2", "mark_limit=2", "needs auction=redeal"),
        ("texas42:bid=29", "bid", "0 or in 30..42, not 29"),
        ("texas42:auction=redeal,bid=30", "bid=30", "needs auction=none"),
        ("texas42:auction=redeal,declaration=3", "declaration=threes", "needs auction=none"),
        ("texas42:trump=3", "'trump'", "auction, declaration, first, bid, mark_limit, nello"),
    ],
)
def test_a_bad_option_is_named_with_what_is_allowed(spec, named, allowed):
    with pytest.raises(BadInput) as error:
        load(spec)
    assert named in str(error.value)
    assert allowed in str(error.value)


@pytest.mark.parametrize(
    ("move", "named", "allowed"),
    [
        ("6-7", "'6-7'", "a tile like 6-4"),
        ("30", "'30'", "a tile like 6-4"),
        ("3-3", "'3-3'", "South was not dealt that tile, but 2-2"),
        (7, "7", "whole number in 0..6"),
        (-1, "-1", "whole number in 0..6"),
    ],
)
def test_a_bad_move_is_named_with_what_is_allowed(move, named, allowed):
    with pytest.raises(BadInput) as error:
        load("texas42").set_up(texas42.deal(42), 6, 0).play(move)
    assert named in str(error.value)
    assert allowed in str(error.value)


@given(st.data())
def test_a_damaged_text_is_refused_or_read_as_a_position_that_round_trips(data):
    auction = data.draw(st.booleans())
    game = load("texas42", auction="redeal") if auction else load("texas42")
    text = ("30,pass,pass,31 " if auction else "") + GOOD[:-1] + data.draw(st.sampled_from(["-", "0-0,3-1", "2-1,4-4"]))
    hidden = data.draw(st.integers(0, 3))
    parts = text.split("/")
    parts[hidden] = parts[hidden] if hidden in (0, 3) else "?"
    text = "/".join(parts)
    begin, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 6))
    inserted = data.draw(st.text("0123456-,/? pasm", max_size=6))
    damaged = text[:begin] + inserted + text[begin + length :]
    try:
        position = game.position(damaged)
    except BadInput:
        return
    assert game.position(position.text()).states.tobytes() == position.states.tobytes()
    assert len(position.legal()) <= game.most_legal
