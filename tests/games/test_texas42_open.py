"""Texas 42 with all hands open, tile by tile: what a Stage 1 is told, against the rule book."""

from __future__ import annotations

import numpy as np
import pytest

from games.slow_texas42 import (
    ALL_TILES,
    COUNT,
    NAMES,
    SlowHand,
    Tile,
    called_suit,
    random_hand,
    suit_of_lead,
    suit_tiles,
    winner,
)
from rookery import load
from rookery.games.texas42 import deal, record
from rookery.nets.texas42 import OPEN_SEAT_VALUES, OPEN_TILE_VALUES, OPEN_TRICK_VALUES
from rookery.search.texas42_batch import called, dealt, open_tokens, play_random_each
from rookery.search.texas42_replay import kept_of, positions


def slow_trick(hand: SlowHand) -> list[int]:
    best = (hand.leader + winner(hand.name, hand.trick) - hand.mover) % 4 if hand.trick else -1
    counts = sum(COUNT.get(tile, 0) for tile in hand.trick) // 5
    led = suit_of_lead(hand.name, hand.trick[0]) if hand.trick else 8
    return [NAMES.index(hand.name), led, len(hand.trick), len(hand.plays) // 4, best, counts, *[-1] * 11]


def slow_tile(hand: SlowHand, tile: Tile) -> list[int]:
    """Tell of a tile what is to be seen of it, in words of the rule book."""
    me, name, called = hand.mover, hand.name, called_suit(hand.name)
    face = [*tile, int(tile[0] == tile[1]), COUNT.get(tile, 0) // 5]
    face += [called.index(tile) if tile in called else 7, NAMES.index(name)]
    holder = next((seat for seat in range(4) if tile in hand.hands[seat]), None)
    if holder is None and tile not in hand.trick:
        player = next(seat for seat, other in hand.plays if other == tile)
        return [*face, int(player == me), *[-1] * 10]
    takes = low = -1
    if holder is None:
        seat = (hand.leader + hand.trick.index(tile) - me) % 4
        where, suit = 1 + seat, suit_of_lead(name, hand.trick[0])
        takes = int(hand.trick[winner(name, hand.trick)] == tile)
    else:
        where, suit = 5 + (holder - me) % 4, suit_of_lead(name, tile)
        if tile in hand.hands[me] and tile in hand.legal():
            where = 9
        if hand.trick:
            takes = int(winner(name, [*hand.trick, tile]) == len(hand.trick))
        if suit != 7 and tile[0] != tile[1]:
            ranked = suit_tiles(name, tile[1])
            low = sum(other in own for own in hand.hands for other in ranked[: ranked.index(tile)])
    ranked = suit_tiles(name, suit)
    better = ranked[: ranked.index(tile)] if tile in ranked else []
    hands = [hand.hands[(me + k) % 4] for k in range(4)]
    above = [sum(other in own for other in better) for own in hands]
    company = [sum(other in own for other in ranked) for own in hands]
    return [*face, where, *above, *company, takes, low]


def slow_seat(hand: SlowHand, relative: int) -> list[int]:
    own = hand.hands[(hand.mover + relative) % 4]
    suits = [sum(tile in own for tile in suit_tiles(hand.name, suit)) for suit in range(8)]
    return [relative, len(own), *suits, sum(COUNT.get(tile, 0) for tile in own) // 5, *[-1] * 6]


@pytest.mark.parametrize("seed", range(20))
def test_open_hands_are_told_as_the_rule_book_sees_them(seed):
    hands, declaration, leader, choices = random_hand(np.random.default_rng(seed))
    position = load("texas42").set_up(hands, declaration, leader)
    slow = SlowHand([[ALL_TILES[tile] for tile in map(int, hand)] for hand in position.state["tiles"]],
                    NAMES[int(position.state["declaration"])], leader)  # fmt: skip
    for choice in choices:
        seen = position.observe("open")
        assert seen.shape == (33, 17)
        assert seen[0].tolist() == slow_trick(slow)
        for tile, token in zip(ALL_TILES, seen[1:29].tolist(), strict=True):
            assert token == slow_tile(slow, tile), (tile, slow.name, slow.plays)
        assert seen[29:].tolist() == [slow_seat(slow, k) for k in range(4)]
        legal = slow.legal()
        tile = sorted(legal, key=ALL_TILES.index)[choice % len(legal)]
        position.play("{}-{}".format(*tile))
        slow.play(tile)


def test_what_was_played_in_earlier_tricks_changes_nothing_but_whose_slots_are_empty():
    position = load("texas42").start(5)
    for _ in range(10):
        position.play(int(position.legal()[0]))
    kept = kept_of(position.states)
    again = positions(*(kept[name] for name in ("hands", "played", "trick", "declaration", "leader")))
    assert (open_tokens(position.states) == open_tokens(again)).all()


def test_hidden_hands_are_empty_ones():
    position = load("texas42").start(3)
    seen = position.seen_by(position.mover).observe("open")
    assert sorted(set(seen[1:29, 6].tolist())) == [-1, 9]
    assert seen[29:, 1].tolist() == [7, 0, 0, 0]
    assert (seen[1:29, 8:11] == 0).all()


def test_before_a_declaration_is_named_nothing_is_said_of_suits():
    seen = load("texas42:auction=redeal").start(3).observe("open")
    assert seen[0, 0] == -1
    assert (seen[1:29, 4:6] == -1).all()
    assert (seen[1:29, 7:] == -1).all()
    assert (seen[29:, 2:10] == -1).all()


@pytest.mark.parametrize("name", ["sevens", "nello"])
def test_in_house_contracts_all_hands_are_told_to_the_end(name):
    position = load("texas42").set_up(deal(5), name, 1)
    while not position.over:
        seen, mover = position.observe("open"), position.mover
        held = [7 - sum(seat == player for player, _ in record(position)) for seat in range(4)]
        assert seen[29:, 1].tolist() == [held[(mover + k) % 4] for k in range(4)]
        assert (seen[1:29, 6] == 9).sum() == len(position.legal())
        assert (name == "sevens") == bool((seen[1:29, 7:15] == -1).all())
        position.play(int(position.legal()[0]))


def test_no_number_is_beyond_those_that_networks_have_a_row_for():
    states = dealt(np.arange(2000))
    rng = np.random.default_rng(1)
    called(states, rng.integers(10, size=2000), rng.integers(4, size=2000), np.zeros(2000, np.int8))
    play_random_each(states, 3, np.arange(2000), rng.integers(28, size=2000))
    seen = open_tokens(states)
    parts = ((seen[:, :1], OPEN_TRICK_VALUES), (seen[:, 1:29], OPEN_TILE_VALUES), (seen[:, 29:], OPEN_SEAT_VALUES))
    for tokens, values in parts:
        assert tokens.min() >= -1
        assert (tokens[..., len(values) :] == -1).all()
        most = tokens.max((0, 1))[: len(values)]
        assert (most < values).all()
