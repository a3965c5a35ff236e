"""Worlds of hands with house contracts: doubles that bids have promised, a seat that sits out, tiles near to seven."""

from __future__ import annotations

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES
from rookery import load
from rookery.games import texas42
from rookery.games.position import Position
from rookery.games.texas42_setup import allowed_tiles
from rookery.search.worlds import Worlds
from search.slow_worlds import World, all_deals
from support import HOUSE_42


def slow_worlds(position: Position, viewer: int, promised: dict[int, int]) -> set[World]:
    """All that the seats may hold, as the viewer knows it: all deals, less those that break a promise of doubles."""
    plays, held = texas42.record(position), texas42.held(position)
    own = frozenset(ALL_TILES[tile] for tile in held[viewer])
    pool = frozenset(ALL_TILES) - own - {ALL_TILES[tile] for _, tile in plays}
    others = [seat for seat in range(4) if seat != viewer]
    sizes = [7 - sum(player == seat for player, _ in plays) for seat in others]
    allowed = [{t for i, t in enumerate(ALL_TILES) if allowed_tiles(position.state, s) >> i & 1} for s in others]
    worlds = set()
    for deal in all_deals(pool, sizes, allowed):
        world = dict(zip(others, deal, strict=True)) | {viewer: own}
        dealt = {s: [*world[s], *(ALL_TILES[tile] for player, tile in plays if player == s)] for s in others}
        if all(sum(high == low for high, low in dealt[s]) >= promised.get(s, 0) for s in others):
            worlds.add(tuple(world[seat] for seat in range(4)))
    return worlds


def held_in(state: np.ndarray) -> World:
    left = [int(hand) & ~int(state["played"]) for hand in state["hands"]]
    return tuple(frozenset(tile for i, tile in enumerate(ALL_TILES) if hand >> i & 1) for hand in left)


def check_worlds(position: Position, promised: dict[int, int]) -> int:
    """Compare count, listing and marginals with brute force for the seat to move; return the count."""
    worlds, every = Worlds(position), slow_worlds(position, position.mover, promised)
    assert worlds.count == len(every)
    assert {held_in(state) for state in worlds.listed()} == every
    shares = np.array([[np.mean([tile in world[s] for world in every]) for s in range(4)] for tile in ALL_TILES])
    assert np.allclose(worlds.marginals(), shares, rtol=0, atol=1e-12)
    return len(every)


def deal_with_doubles(rng: np.random.Generator, plunger: int, splasher: int) -> list[list[int]]:
    """A deal in which one seat has four doubles and its left neighbour three."""
    doubles = rng.permutation([tile for tile, (high, low) in enumerate(ALL_TILES) if high == low]).tolist()
    others = rng.permutation([tile for tile, (high, low) in enumerate(ALL_TILES) if high != low]).tolist()
    hands: list[list[int]] = [[], [], [], []]
    hands[plunger], hands[splasher] = doubles[:4], doubles[4:]
    return [hand + [others.pop() for _ in range(7 - len(hand))] for hand in hands]


@pytest.mark.parametrize("seed", range(4))
def test_worlds_keep_the_doubles_that_bids_have_promised(seed):
    rng, free = np.random.default_rng(seed), 0
    hands = deal_with_doubles(rng, 1, 0)
    position = load(HOUSE_42).set_up(hands, None, 0, [], ["splash-2m", "plunge-4m", "pass", "pass"])
    position.play(str(rng.choice(position.moves())))
    for plays in range(24):
        if plays >= 16:
            count = check_worlds(position, {0: 3, 1: 4})
            free += len(slow_worlds(position, position.mover, {})) - count
        position.play(int(rng.choice(position.legal())))
    assert free > 0


def test_promised_doubles_are_in_every_world_from_the_auction_on():
    game = load(HOUSE_42)
    hands = deal_with_doubles(np.random.default_rng(5), 1, 0)
    position = game.set_up(hands, None, 0, [], ["splash-2m", "plunge-4m", "pass"])
    states = Worlds(position).sample(2000, 3)
    doubles = np.array([[[t in (0, 2, 5, 9, 14, 20, 27) for t in hand] for hand in state["tiles"]] for state in states])
    assert (doubles.sum(2)[:, :2] >= [3, 4]).all()
    assert Worlds(position).count < 399_072_960 / 20


@pytest.mark.parametrize("name", ["nello", "nello-low", "nello-suit", "sevens"])
def test_worlds_of_nello_and_sevens_are_those_of_brute_force(name):
    rng = np.random.default_rng(6)
    for seed in range(3):
        position = load("texas42", declaration=name, first=seed).start(seed)
        plays = 18 if name == "sevens" else 15
        for _ in range(plays):
            position.play(int(rng.choice(position.legal())))
        assert Worlds(position, (seed + 1) % 4).sizes[(seed + 2) % 4] >= 2
        while not position.over:
            check_worlds(position, {})
            position.play(int(rng.choice(position.legal())))
