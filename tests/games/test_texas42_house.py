"""House contracts of Texas 42 against the rule book: nello, sevens, splash and plunge."""

from __future__ import annotations

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES, SlowHand, pairs, tile_id
from games.slow_texas42_house import JUMPS, SlowHouseAuction, SlowHouseHand
from rookery import BadInput, load
from rookery.games import texas42
from rookery.games.position import Position
from rookery.games.texas42_setup import allowed_tiles
from rookery.games.texas42_tiles import HOUSE_DECLARATIONS, tiles_of
from support import HOUSE_42


def dealt_tiles(position: Position) -> list[list[tuple[int, int]]]:
    return [[ALL_TILES[tile] for tile in hand] for hand in position.state["tiles"]]


def check_equal(position: Position, slow: SlowHouseHand) -> None:
    """Compare all the rule book tells."""
    assert texas42.record(position) == [(seat, tile_id(tile)) for seat, tile in slow.plays]
    assert texas42.held(position) == [sorted(tile_id(tile) for tile in hand) for hand in slow.hands]
    assert texas42.points(position) == tuple(slow.points)
    assert position.over == slow.over
    barred = [{ALL_TILES[t] for t in tiles_of(~allowed_tiles(position.state, seat))} for seat in range(4)]
    assert barred == slow.impossible
    if not slow.over:
        assert position.mover == slow.mover
        assert sorted(position.moves()) == sorted(f"{high}-{low}" for high, low in slow.legal())


def play_house(position: Position, slow: SlowHouseHand, rng: np.random.Generator) -> None:
    """Play a hand of nello or sevens by both rules, at random, and compare all along."""
    game = position.game
    while not slow.over:
        check_equal(position, slow)
        assert game.position(position.text()).states.tobytes() == position.states.tobytes()
        move = str(rng.choice(position.moves()))
        slow.play(pairs(move)[0])
        position.play(move)
    check_equal(position, slow)


@pytest.mark.parametrize("name", HOUSE_DECLARATIONS)
def test_nello_and_sevens_are_the_rule_book_s_along_random_hands(name):
    rng, made = np.random.default_rng(1), 0
    for seed in range(60):
        position = load("texas42", declaration=name, first=seed % 4).start(seed)
        slow = SlowHouseHand(dealt_tiles(position), name, seed % 4)
        play_house(position, slow, rng)
        made += slow.made
        result = 1 if slow.made else -1
        assert [position.payoff((seed + seat) % 4) for seat in range(4)] == [result, -result, result, -result]
    assert name.startswith("sevens") or made > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", HOUSE_DECLARATIONS)
def test_nello_and_sevens_are_the_rule_book_s_along_hundreds_of_hands(name):
    rng, made = np.random.default_rng(2), 0
    for seed in range(300):
        position = load("texas42", declaration=name, first=seed % 4).start(seed)
        slow = SlowHouseHand(dealt_tiles(position), name, seed % 4)
        play_house(position, slow, rng)
        made += slow.made
        assert position.payoff(seed % 4) == (1 if slow.made else -1)
    assert 0 < made < 300


HOUSES = [
    (HOUSE_42, {2, 3}, 4, "any", "nearest"),
    ("texas42:auction=forced,first=1,nello=low,splash=2,sevens=free", {2}, 0, "low", "free"),
    ("texas42:auction=redeal,plunge=2", set(), 2, "none", "none"),
]


def play_with_auction(spec: str, splash: set[int], plunge: int, nello: str, sevens: str, seed: int) -> str:
    """Play a hand with its auction by both rules; return what was played."""
    game, rng = load(spec), np.random.default_rng(seed)
    position = game.start(seed)
    auction = SlowHouseAuction(game.first, game.auction == "forced", dealt_tiles(position), splash, plunge)
    hands = dealt_tiles(position)
    while len(auction.bids) < 4:
        assert position.mover == auction.mover
        assert sorted(position.moves()) == sorted(auction.legal())
        jumps = [bid for bid in auction.legal() if bid in JUMPS]
        marks = [bid for bid in auction.legal() if bid.endswith("m")]
        bid = str(rng.choice(jumps or (marks if marks and rng.random() < 0.4 else auction.legal())))
        position.play(bid)
        auction.bids.append(bid)
    if auction.high is None:
        assert position.over
        return "pass"
    assert position.mover == auction.namer
    assert sorted(position.moves()) == sorted(auction.names(nello, sevens))
    house = [name for name in position.moves() if name in HOUSE_DECLARATIONS]
    name = str(rng.choice(house if house and rng.random() < 0.7 else position.moves()))
    position.play(name)
    worth = auction.marks(auction.high) or 1
    if name in HOUSE_DECLARATIONS:
        slow_house = SlowHouseHand(hands, name, auction.declarer)
        play_house(position, slow_house, rng)
        made = slow_house.made
    else:
        slow = SlowHand(hands, name, auction.namer)
        while not slow.over:
            assert position.mover == slow.mover
            move = str(rng.choice(position.moves()))
            slow.play(pairs(move)[0])
            position.play(move)
        needed = 42 if auction.high.endswith("m") else int(auction.high)
        made = slow.points[auction.declarer % 2] >= needed
    marks_won = (worth if made else -worth) / 7
    assert [position.payoff((auction.declarer + seat) % 4) for seat in range(4)] == pytest.approx(
        [marks_won, -marks_won] * 2
    )
    return auction.high.partition("-")[0] if auction.high in JUMPS else name


@pytest.mark.parametrize(("spec", "splash", "plunge", "nello", "sevens"), HOUSES)
def test_hands_with_house_contracts_in_the_auction_are_the_rule_book_s(spec, splash, plunge, nello, sevens):
    played = {play_with_auction(spec, splash, plunge, nello, sevens, seed) for seed in range(80)}
    wanted = {name for name, on in (("splash", splash), ("plunge", plunge)) if on}
    wanted |= {"sevens" if sevens == "nearest" else "sevens-free"} if sevens != "none" else set()
    assert wanted <= played


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "splash", "plunge", "nello", "sevens"), HOUSES)
def test_hundreds_of_hands_with_house_contracts_are_the_rule_book_s(spec, splash, plunge, nello, sevens):
    for seed in range(100, 400):
        play_with_auction(spec, splash, plunge, nello, sevens, seed)


# ---- known answers -------------------------------------------------------------------------------


def test_a_trick_of_nello_has_three_tiles_and_the_partner_keeps_all_seven():
    position = load("texas42").set_up(texas42.deal(42), "nello", 0, ["2-2", "4-2"])
    assert position.mover == 3
    position.play("2-0")
    assert (position.mover, texas42.points(position)) == (0, (1, 0))
    assert texas42.record(position) == [(0, 5), (1, 12), (3, 3)]
    assert [len(hand or ()) for hand in texas42.held(position)] == [6, 6, 7, 6]
    assert "North     | 1-0 1-1 2-1 4-3 5-2 6-4 6-5" in position.draw()


@pytest.mark.parametrize(("name", "winner"), [("nello", 1), ("nello-low", 0), ("nello-suit", 0)])
def test_a_double_wins_its_suit_is_its_worst_tile_or_does_not_belong_to_it(name, winner):
    hands = [["6-5", "0-0", "1-0", "2-0", "3-0", "4-0", "5-0"], None, None, None]
    position = load("texas42").set_up(hands, name, 0, ["6-5", "6-6", "6-4"])
    assert position.mover == winner
    assert texas42.voids(position)[1] == ({6} if name == "nello-suit" else set())


@pytest.mark.parametrize(
    ("trick", "winner"),
    [("5-1 6-1 5-2 6-6", 1), ("6-2 6-0 5-3 4-2", 0), ("0-0 6-6 5-5 1-0", 2), ("4-3 5-2 6-1 6-4", 0)],
)
def test_the_tile_nearest_to_seven_wins_and_the_first_of_equals(trick, winner):
    position = load("texas42").set_up([None] * 4, "sevens-free", 0, trick.split())
    assert position.mover == winner


def test_in_sevens_a_tile_shows_that_nothing_nearer_is_held():
    position = load("texas42").set_up([None] * 4, "sevens", 0, ["5-1", "6-1"])
    assert texas42.voids(position) == [{0}, set(), set(), set()]
    with pytest.raises(BadInput, match="play 5, 4-3 by seat 0: by its earlier plays the seat can only hold 0-0"):
        load("texas42").set_up([None] * 4, "sevens", 0, ["5-1", "6-2", "6-3", "6-4", "4-3"])


def test_the_partner_of_a_plunge_names_and_leads_and_the_bidder_s_team_declares():
    hands = [["6-6", "5-5", "4-4", "3-3", "1-0", "2-0", "3-0"], None, None, None]
    game = load(HOUSE_42)
    position = game.set_up(hands, None, 0, [], ["plunge-4m", "pass", "pass", "pass"])
    assert position.mover == 2
    assert "nello" not in position.moves()
    position.play("fives")
    assert (position.mover, int(position.state["declarer"])) == (2, 0)
    assert position.text().startswith("plunge-4m,pass,pass,pass fives 0 ")
    tokens = position.observe("known")[29:, :6]
    assert tokens[2].tolist() == [42, 4, 3, 1, 2, 0]


def test_splash_needs_three_doubles_in_a_hand_that_is_known():
    two = ["6-6", "5-5", "4-3", "3-2", "1-0", "2-0", "3-0"]
    game = load(HOUSE_42)
    assert not any(move in JUMPS for move in game.set_up([two, None, None, None], None, 0).moves())
    three = ["6-6", "5-5", "4-4", "3-2", "1-0", "2-0", "3-0"]
    assert game.set_up([three, None, None, None], None, 0).moves()[-2:] == ["splash-2m", "splash-3m"]
    hidden = game.set_up([None] * 4, None, 0)
    assert hidden.moves()[-3:] == ["splash-2m", "splash-3m", "plunge-4m"]


@pytest.mark.parametrize(
    ("hand", "bids"),
    [
        ("6-6 5-5 4-4 3-3 1-0 2-0 3-0", ["pass", "plunge-4m"]),
        ("6-6 5-5 1-0 2-0 3-0 4-0 5-0", ["pass", "splash-2m", "splash-3m"]),
    ],
)
def test_doubles_promised_by_hidden_hands_must_be_there(hand, bids):
    game = load(HOUSE_42)
    with pytest.raises(BadInput, match="no deal agrees with the bids: too few doubles are left for those promised"):
        game.set_up([hand.split(), None, None, None], None, 0, [], bids)
    game.set_up([hand.split(), None, None, None], None, 0, [], bids[:-1])


@pytest.mark.parametrize(
    ("spec", "named", "allowed"),
    [
        ("texas42:nello=high", "nello=high", "needs auction=redeal"),
        ("texas42:auction=redeal,nello=maybe", "'maybe'", "none, high, low, suit, any"),
        ("texas42:auction=redeal,splash=4", "'4'", "none, 2, 3, both"),
        ("texas42:auction=redeal,plunge=1", "1", "0 or in 2..7"),
        ("texas42:auction=redeal,plunge=8", "8", "0..7"),
        ("texas42:auction=redeal,plunge=4,mark_limit=3", "plunge", "mark_limit is 3"),
        ("texas42:auction=redeal,nello_marks=2", "nello_marks=2", "needs the option nello"),
        ("texas42:auction=redeal,splash=2,splash_doubles=8", "8", "1..7"),
        ("texas42:declaration=nello,bid=30", "bid=30", "nello"),
    ],
)
def test_a_bad_option_of_a_house_contract_is_named_with_what_is_allowed(spec, named, allowed):
    with pytest.raises(BadInput) as error:
        load(spec)
    assert named in str(error.value)
    assert allowed in str(error.value)


@pytest.mark.parametrize(
    ("options", "moves"),
    [
        ("nello=low", "a bid (pass, 30..41, 1m..7m) or a declaration"),
        ("splash=3", "a bid (pass, 30..41, 1m..7m) or a declaration, splash-3m"),
        ("splash=both,plunge=4,mark_limit=5",
         "a bid (pass, 30..41, 1m..5m) or a declaration, splash-2m, splash-3m, plunge-4m, plunge-5m"),
    ],
)  # fmt: skip
def test_a_wrong_move_is_told_the_bids_that_the_game_has(options, moves):
    with pytest.raises(BadInput) as error:
        load(f"texas42:auction=redeal,{options}").start(1).play("31m")
    assert f"moves are a tile like 6-4, {moves} (in " in str(error.value)


def test_nello_needs_the_marks_of_the_option():
    game = load("texas42:auction=redeal,nello=suit,nello_marks=2")
    one = game.set_up([None] * 4, None, 0, [], ["1m", "pass", "pass", "pass"])
    two = game.set_up([None] * 4, None, 0, [], ["2m", "pass", "pass", "pass"])
    assert "nello-suit" not in one.moves()
    assert two.moves()[-1] == "nello-suit"


# ---- what is hidden ------------------------------------------------------------------------------


def other_world(position: Position, viewer: int, rng: np.random.Generator) -> Position:
    """Deal the tiles a viewer has not seen anew, so that the same record is possible."""
    plays, hands = texas42.record(position), [list(map(int, hand)) for hand in position.state["tiles"]]
    shown = [[tile for player, tile in plays if player == seat] for seat in range(4)]
    unseen = [tile for seat in range(4) if seat != viewer for tile in hands[seat] if tile not in shown[seat]]
    name, bidder = position.text().split()[:2]
    while True:
        pool = rng.permutation(unseen).tolist()
        anew = [
            hands[seat] if seat == viewer else shown[seat] + [pool.pop() for _ in range(7 - len(shown[seat]))]
            for seat in range(4)
        ]
        try:
            return load("texas42").set_up(anew, name, bidder, [tile for _, tile in plays])
        except BadInput:
            continue


@pytest.mark.parametrize("name", ["nello", "nello-suit", "sevens"])
def test_dealing_hidden_tiles_anew_changes_nothing_a_seat_sees_of_a_house_contract(name):
    rng, differing = np.random.default_rng(4), 0
    position = load("texas42").set_up(texas42.deal(5), name, 1)
    while not position.over:
        for viewer in range(4):
            other = other_world(position, viewer, rng)
            differing += other.text() != position.text()
            seen, again = position.seen_by(viewer), other.seen_by(viewer)
            assert seen.states.tobytes() == again.states.tobytes()
            assert (seen.text(), seen.draw(), seen.key) == (again.text(), again.draw(), again.key)
            assert load("texas42").position(seen.text()).states.tobytes() == seen.states.tobytes()
            if viewer == position.mover:
                assert (position.observe("known") == other.observe("known")).all()
        position.play(int(rng.choice(position.legal())))
    assert differing > 20
