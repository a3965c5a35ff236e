"""The auction of Texas 42 against the rule book: bids, declarations, contracts."""

from __future__ import annotations

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES, HAND_22, LADDER, NAMES, SlowAuction, SlowHand, random_hand
from rookery import BadInput, Game, load
from rookery.games import texas42
from rookery.games.position import Position


def count_auctions(position: Position) -> int:
    """Count the ways to end the bidding."""
    if position.over or position.legal()[0] >= texas42.FIRST_NAME:
        return 1
    total = 0
    for action in position.legal():
        after = position.copy()
        after.play(int(action))
        total += count_auctions(after)
    return total


@pytest.mark.parametrize(
    ("mark_limit", "auctions"), [(1, 2380), (2, 3060), (3, 3196), (4, 3213), (5, 3214), (6, 3214), (7, 3214)]
)
def test_vector_28_number_of_complete_auctions(mark_limit, auctions):
    game = load("texas42", auction="redeal", mark_limit=mark_limit)
    assert count_auctions(game.start()) == auctions
    if mark_limit == 5:
        assert count_auctions(load("texas42", auction="forced", mark_limit=5).start()) == auctions - 1


def slow_observation(auction: SlowAuction, hand: list[int], me: int, naming: bool) -> list[float]:
    """What a bidder sees: its tiles, who has spoken and how high, whether to name."""
    seen = [float(tile in hand) for tile in range(28)]
    for relative in range(4):
        place = (me + relative - auction.opener) % 4
        bid = auction.bids[place] if place < len(auction.bids) else None
        seen += [float(bid is not None), (LADDER.index(bid) + 1) / 19 if bid in LADDER else 0.0]
    return [*seen, float(naming)]


def play_auction(game: Game, seed: int, rng: np.random.Generator) -> None:
    """Play a hand with its auction by both rules and compare."""
    position = game.start(seed)
    dealt = [list(map(int, hand)) for hand in position.state["tiles"]]
    auction = SlowAuction(game.first, game.mark_limit, game.auction == "forced")
    while len(auction.bids) < 4:
        assert position.mover == auction.mover
        assert sorted(position.moves()) == sorted(auction.legal())
        wanted = slow_observation(auction, dealt[auction.mover], auction.mover, naming=False)
        assert position.observe("bidding").tolist() == pytest.approx(wanted)
        assert (position.observe("own")[0] == [0, 0, 0, 0, 0, 0, -1, 0]).all()
        bid = "pass" if "pass" in auction.legal() and rng.random() < 0.5 else str(rng.choice(auction.legal()))
        position.play(bid)
        auction.bids.append(bid)
    if auction.high is None:
        assert position.over
        assert [position.payoff(seat) for seat in range(4)] == [0, 0, 0, 0]
        return
    assert (position.mover, position.over) == (auction.declarer, False)
    assert position.moves() == [name for name in NAMES if name != "doubles-suit"]
    wanted = slow_observation(auction, dealt[auction.declarer], auction.declarer, naming=True)
    assert position.observe("bidding").tolist() == pytest.approx(wanted)
    name = str(rng.choice(position.moves()))
    position.play(name)
    slow = SlowHand([[ALL_TILES[tile] for tile in hand] for hand in dealt], name, auction.declarer)
    while not slow.over:
        assert position.mover == slow.mover
        assert sorted(position.moves()) == sorted(f"{high}-{low}" for high, low in slow.legal())
        action = int(rng.choice(position.legal()))
        slow.play(ALL_TILES[dealt[slow.mover][action]])
        position.play(action)
    assert texas42.points(position) == tuple(slow.points)
    marks = auction.result(slow.points) / 7
    team = auction.declarer % 2
    assert [position.payoff(s) for s in range(4)] == pytest.approx(
        [marks if s % 2 == team else -marks for s in range(4)]
    )


SPECS = ["texas42:auction=redeal", "texas42:auction=forced,mark_limit=1", "texas42:auction=redeal,first=2,mark_limit=4"]


@pytest.mark.parametrize("variant", SPECS)
def test_hands_with_an_auction_are_the_rule_book_s(variant):
    game, rng = load(variant), np.random.default_rng(1)
    for seed in range(60):
        play_auction(game, seed, rng)


@pytest.mark.slow
@pytest.mark.parametrize("variant", SPECS)
def test_thousands_of_hands_with_an_auction_are_the_rule_book_s(variant):
    game, rng = load(variant), np.random.default_rng(2)
    for seed in range(1000):
        play_auction(game, seed, rng)


@pytest.mark.parametrize(("bid", "marks"), [("30", -1), ("41", -1), ("1m", -1), ("2m", -2)])
def test_a_lost_contract_costs_its_marks(bid, marks):
    bids = [bid, "pass", "pass", "pass"]
    position = load("texas42:auction=redeal").set_up(texas42.deal(42), "sixes", 0, HAND_22.split(), bids)
    assert texas42.points(position) == (13, 29)
    assert [position.payoff(seat) for seat in range(4)] == pytest.approx([marks / 7, -marks / 7] * 2)


ALL_42 = [[27, 26, 25, 24, 23, 22, 21], [0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12, 13], [14, 15, 16, 17, 18, 19, 20]]


@pytest.mark.parametrize(("bid", "marks"), [("30", 1), ("41", 1), ("1m", 1), ("2m", 2)])
def test_a_contract_made_is_worth_its_marks(bid, marks):
    game = load("texas42:auction=redeal")
    position = game.set_up(ALL_42, "sixes", 0, [], [bid, "pass", "pass", "pass"])
    while not position.over:
        position.play(int(position.legal()[-1]))
    assert texas42.points(position) == (42, 0)
    assert [position.payoff(seat) for seat in range(4)] == pytest.approx([marks / 7, -marks / 7] * 2)


def test_points_bid_are_needed_and_no_more():
    tried = 0
    for seed in range(200):
        hands, declaration, _, choices = random_hand(np.random.default_rng(seed))
        open_hand = load("texas42").set_up(hands, declaration)
        for choice in choices:
            legal = open_hand.legal()
            open_hand.play(int(legal[choice % len(legal)]))
        points, plays = texas42.points(open_hand)[0], [tile for _, tile in texas42.record(open_hand)]
        if declaration == 8 or not 30 <= points <= 40:
            continue
        tried += 1
        for bid, result in ((points, 1 / 7), (points + 1, -1 / 7)):
            bids = [bid, "pass", "pass", "pass"]
            position = load("texas42:auction=redeal").set_up(hands, declaration, 0, plays, bids)
            assert position.payoff(0) == pytest.approx(result)
    assert tried > 10


def test_when_all_pass_the_hand_ends_without_a_result_or_the_shaker_must_bid():
    redeal = load("texas42:auction=redeal,first=1").start(4)
    forced = load("texas42:auction=forced,first=1").start(4)
    for position in (redeal, forced):
        for _ in range(3):
            position.play("pass")
    assert forced.mover == redeal.mover == 0
    assert "pass" not in forced.moves()
    assert forced.moves()[0] == "30"
    redeal.play("pass")
    assert redeal.over


def test_bids_are_seen_by_all_and_survive_the_text():
    game = load("texas42:auction=redeal,first=3")
    position = game.start(9)
    for move in ("31", "pass", "1m", "2m", "no-trump"):
        position.play(move)
    assert position.text().startswith("31,pass,1m,2m no-trump 3 ")
    assert position.mover == 2
    for seat in range(4):
        seen = position.seen_by(seat)
        assert seen.text().startswith("31,pass,1m,2m no-trump 3 ")
        assert game.position(seen.text()).states.tobytes() == seen.states.tobytes()


def test_the_contract_is_seen_in_the_play():
    position = load("texas42:auction=redeal,first=3").start(9)
    for move in ("31", "pass", "1m", "2m", "no-trump"):
        position.play(move)
    for me in (2, 3):
        assert position.mover == me
        seen = position.observe("known")[29:, :6]
        bids = {3: [31, 1, 1, 0], 0: [0, 0, 1, 0], 1: [42, 1, 1, 0], 2: [42, 2, 1, 1]}
        assert seen.tolist() == [[*bids[(me + k) % 4], k, 0] for k in range(4)]
        position.play(int(position.legal()[0]))


def test_the_contract_is_that_of_the_option_where_there_is_no_auction():
    for bid in (30, 42):
        position = load("texas42", bid=bid).set_up(texas42.deal(42), "sixes", 2)
        position.play(int(position.legal()[0]))
        leader = [bid, 1, 0, 1, 3, 0]
        assert position.observe("known")[29:, :6].tolist() == [*([0, 0, 0, 0, k, 0] for k in range(3)), leader]
    for _ in range(20):
        position.play(int(position.legal()[0]))
        mine, theirs = texas42.points(position)[:: 1 if position.mover % 2 == 0 else -1]
        assert position.observe("known")[29:, 5].tolist() == [mine, theirs, mine, theirs]
    none = load("texas42").start(1).observe("known")
    assert not none[29:, :4].any()


HIDDEN = "?/?/?/?"


@pytest.mark.parametrize(
    ("text", "named", "allowed"),
    [
        (f"29 - 0 {HIDDEN} -", "'29'", "pass, 30..41 points and 1m..7m"),
        (f"31,30 - 0 {HIDDEN} -", "'30' of seat 1", "allowed: pass, 32, 33"),
        (f"3m - 0 {HIDDEN} -", "'3m' of seat 0", "41, 1m, 2m"),
        (f"1m,3m - 0 {HIDDEN} -", "'3m' of seat 1", "allowed: pass, 2m"),
        (f"30,31,32,33,34 - 0 {HIDDEN} -", "'34' is one too many", "4 seats"),
        (f"30,31,32 fives 0 {HIDDEN} -", "'fives'", "bidding is not over"),
        (f"pass,pass,pass,pass fives 0 {HIDDEN} -", "'fives'", "all have passed"),
        (f"30,pass,pass,pass doubles-suit 0 {HIDDEN} -", "'doubles-suit'", "allowed: blanks, ones"),
        (f"30,pass,pass,pass - 0 {HIDDEN} 6-6", "play 1, 6-6", "no declaration has been named"),
        (f"- 0 {HIDDEN} -", "'- 0 ?/?/?/? -'", "5 parts: bids, declaration"),
    ],
)
def test_a_bad_auction_is_named_with_what_is_allowed(text, named, allowed):
    with pytest.raises(BadInput) as error:
        load("texas42:auction=redeal").position(text)
    assert named in str(error.value)
    assert allowed in str(error.value)


def test_bids_without_an_auction_are_refused():
    with pytest.raises(BadInput, match="auction=redeal or auction=forced"):
        load("texas42").set_up([None] * 4, 6, 0, [], ["30"])


@pytest.mark.parametrize(
    ("move", "allowed"), [("29", "pass, 30..41"), ("6-6", "legal: pass, 30"), ("fives", "legal: pass")]
)
def test_a_bad_move_in_the_auction_is_named_with_what_is_allowed(move, allowed):
    position = load("texas42:auction=redeal").set_up(ALL_42, None, 0)
    with pytest.raises(BadInput) as error:
        position.play(move)
    assert f"{move!r}" in str(error.value)
    assert allowed in str(error.value)
