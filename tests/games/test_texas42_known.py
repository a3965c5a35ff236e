"""Texas 42: what the mover knows, tile by tile, against the rule book."""

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
    may_play,
    random_hand,
    suit_of_lead,
    suit_tiles,
    winner,
)
from rookery import load
from rookery.games.texas42 import deal, record
from rookery.nets.texas42 import SEAT_VALUES, TILE_VALUES, TRICK_VALUES
from rookery.search.texas42_batch import called, dealt, known_tokens, play_random_each
from rookery.search.texas42_replay import kept_of, positions


def above(hand: SlowHand, suit: int, tile: Tile, others: list[Tile]) -> int:
    """Count the tiles of a suit that are better than one of it."""
    ranked = suit_tiles(hand.name, suit)
    return sum(other in others for other in ranked[: ranked.index(tile)])


def slow_tile(hand: SlowHand, tile: Tile) -> list[int]:
    """Tell of a tile what the seat to move knows, in words of the rule book."""
    me, name = hand.mover, hand.name
    called = called_suit(name)
    face = [*tile, int(tile[0] == tile[1]), COUNT.get(tile, 0) // 5]
    face += [called.index(tile) if tile in called else 7, NAMES.index(name)]
    played = [other for _, other in hand.plays]
    where = by = number = followed = better = takes = company = better_low = -1
    may = [-1, -1, -1]
    if tile in played:
        number = played.index(tile)
        by = (hand.plays[number][0] - me) % 4
        now = number - (len(played) - len(hand.trick))
        where = 2 if now < 0 else 3 + now
        followed = int(tile in suit_tiles(name, suit_of_lead(name, played[number - number % 4])))
        if now >= 0:
            takes = int(winner(name, hand.trick) == now)
        return [*face, where, by, number, followed, better, takes, *may, company, better_low]
    mine = hand.hands[me]
    unseen = [other for other in ALL_TILES if other not in played and other not in mine]
    others = unseen if tile in mine else unseen + mine
    where = int(tile in may_play(name, mine, hand.trick)) if tile in mine else 6
    suit = suit_of_lead(name, tile)
    better = above(hand, suit, tile, others)
    company = sum(other in unseen for other in suit_tiles(name, suit))
    if hand.trick:
        takes = int(winner(name, [*hand.trick, tile]) == len(hand.trick))
    if tile not in mine:
        may = [int(not any(tile in suit_tiles(name, s) for s in hand.voids[(me + k) % 4])) for k in (1, 2, 3)]
    if suit != 7 and tile[0] != tile[1]:
        better_low = above(hand, tile[1], tile, others)
    return [*face, where, by, number, followed, better, takes, *may, company, better_low]


def slow_trick(hand: SlowHand) -> list[int]:
    played = [tile for _, tile in hand.plays]
    unseen = [tile for tile in ALL_TILES if tile not in played and tile not in hand.hands[hand.mover]]
    best = (hand.leader + winner(hand.name, hand.trick) - hand.mover) % 4 if hand.trick else -1
    return [
        NAMES.index(hand.name), suit_of_lead(hand.name, hand.trick[0]) if hand.trick else 8, len(hand.trick),
        len(played) // 4, best, sum(COUNT.get(tile, 0) for tile in hand.trick) // 5,
        sum(tile in unseen for tile in called_suit(hand.name)), *[-1] * 10,
    ]  # fmt: skip


def slow_seat(hand: SlowHand, relative: int, declarer: int, bid: int) -> list[int]:
    seat = (hand.mover + relative) % 4
    contract = [bid, 1, 0, 1] if seat == declarer else [0, 0, 0, 0]
    voids = [int(suit in hand.voids[seat]) for suit in range(8)]
    return [*contract, relative, hand.points[seat % 2], len(hand.hands[seat]), *voids, -1, -1]


@pytest.mark.parametrize("seed", range(20))
def test_what_the_mover_knows_is_what_the_rule_book_lets_it_know(seed):
    rng = np.random.default_rng(seed)
    hands, declaration, leader, choices = random_hand(rng)
    position = load("texas42:bid=35").set_up(hands, declaration, leader)
    slow = SlowHand([[ALL_TILES[tile] for tile in map(int, hand)] for hand in position.state["tiles"]],
                    NAMES[int(position.state["declaration"])], leader)  # fmt: skip
    for choice in choices:
        seen = position.seen_by(position.mover).observe("known")
        assert seen.shape == (33, 17)
        assert seen[0].tolist() == slow_trick(slow)
        for tile, token in zip(ALL_TILES, seen[1:29].tolist(), strict=True):
            assert token == slow_tile(slow, tile), (tile, slow.name, slow.plays)
        assert seen[29:].tolist() == [slow_seat(slow, k, leader, 35) for k in range(4)]
        legal = slow.legal()
        tile = sorted(legal, key=ALL_TILES.index)[choice % len(legal)]
        position.play("{}-{}".format(*tile))
        slow.play(tile)


def test_before_a_declaration_is_named_tiles_have_faces_and_a_place_and_nothing_else():
    seen = load("texas42:auction=redeal").start(3).observe("known")
    assert seen[0, 0] == -1
    assert (seen[1:29, 4:6] == -1).all()
    assert sorted(set(seen[1:29, 6].tolist())) == [0, 6]
    assert (seen[1:29, 7:] == -1).all()
    assert (seen[1:29, 6] == 0).sum() == 7


def test_a_position_without_its_past_tricks_tells_of_a_tile_only_that_it_is_played_and_which_were_the_movers():
    position = load("texas42").start(5)
    for _ in range(10):
        position.play(int(position.legal()[0]))
    kept = kept_of(position.states)
    again = positions(*(kept[name] for name in ("hands", "played", "trick", "declaration", "leader")))
    whole, part = known_tokens(position.states)[0, 1:29], known_tokens(again)[0, 1:29]
    past = whole[:, 6] == 2
    assert past.sum() == 8
    assert (part[past, 6] == 2).all()
    assert (part[past, 7] == np.where(whole[past, 7] == 0, 0, -1)).all()
    assert (part[past, 8:] == -1).all()
    assert (part[~past, :12] == whole[~past, :12]).all()


def test_in_nello_the_partner_keeps_its_tiles_and_an_empty_place_is_no_tile():
    position = load("texas42").set_up(deal(5), "nello", 1)
    while not position.over:
        seen, mover = position.observe("known"), position.mover
        plays = record(position)
        assert seen[29 + (3 - mover) % 4, 6] == 7
        assert seen[0, 2] == len(plays) % 3
        for seat in (0, 1, 2):
            assert seen[29 + (seat - mover) % 4, 6] == 7 - sum(player == seat for player, _ in plays)
        position.play(int(position.legal()[0]))


def test_in_sevens_nothing_is_said_of_suits():
    position = load("texas42").set_up(deal(5), "sevens", 1)
    for _ in range(9):
        seen = position.observe("known")
        assert seen[0, 6] == -1
        assert (seen[1:29, [9, 10, 15, 16]] == -1).all()
        position.play(int(position.legal()[0]))


def test_no_number_is_beyond_those_that_networks_have_a_row_for():
    states = dealt(np.arange(2000))
    rng = np.random.default_rng(1)
    called(states, rng.integers(10, size=2000), rng.integers(4, size=2000), rng.integers(30, 43, size=2000))
    play_random_each(states, 3, np.arange(2000), rng.integers(28, size=2000))
    seen = known_tokens(states)
    for tokens, values in ((seen[:, :1], TRICK_VALUES), (seen[:, 1:29], TILE_VALUES), (seen[:, 29:], SEAT_VALUES)):
        assert tokens.min() >= -1
        assert (tokens[..., len(values) :] == -1).all()
        most = tokens.max((0, 1))[: len(values)]
        assert (most < values).all()
