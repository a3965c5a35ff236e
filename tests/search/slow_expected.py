"""Expected Q in Texas 42 as its definition says: all worlds, and in each the game looked through to its end."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

import numpy as np

from games.slow_texas42 import SlowHand, Tile, may_play, winner, worth
from search.slow_worlds import World, slow_worlds


def slow_value(name: str, hands: World, leader: int, trick: tuple[Tile, ...]) -> int:
    """Points still to come, team 0 minus team 1, all hands open."""

    @cache
    def value(hands: World, leader: int, trick: tuple[Tile, ...]) -> int:
        seat = (leader + len(trick)) % 4
        if not hands[seat]:
            return 0
        best = max if seat % 2 == 0 else min
        return best(after(hands, leader, trick, tile) for tile in may_play(name, sorted(hands[seat]), list(trick)))

    def after(hands: World, leader: int, trick: tuple[Tile, ...], tile: Tile) -> int:
        seat = (leader + len(trick)) % 4
        left = tuple(hand - {tile} if s == seat else hand for s, hand in enumerate(hands))
        trick = (*trick, tile)
        if len(trick) < 4:
            return value(left, leader, trick)
        taker = (leader + winner(name, list(trick))) % 4
        return (worth(list(trick)) if taker % 2 == 0 else -worth(list(trick))) + value(left, taker, ())

    return value(hands, leader, trick)


def slow_q(hand: SlowHand, world: World) -> dict[Tile, int]:
    """The value of each play of the mover in a world, from the mover's side."""
    values = {}
    for tile in hand.legal():
        tried = deepcopy(hand)
        tried.hands = [sorted(tiles) for tiles in world]
        before = tried.points[0] - tried.points[1]
        tried.play(tile)
        gained = tried.points[0] - tried.points[1] - before
        rest = slow_value(hand.name, tuple(map(frozenset, tried.hands)), tried.leader, tuple(tried.trick))
        values[tile] = (gained + rest) * (1 if hand.mover % 2 == 0 else -1)
    return values


def slow_final(hand: SlowHand, q: int) -> list[int]:
    """The points of both teams in the end, if the mover's team takes `q` more than the other from now on."""
    left = 42 - sum(hand.points)
    mine, theirs = (left + q) // 2, (left - q) // 2
    final = list(hand.points)
    final[hand.mover % 2] += mine
    final[1 - hand.mover % 2] += theirs
    return final


def slow_expected(hand: SlowHand, declarer: int, bid: int) -> dict[Tile, tuple[float, float, float]]:
    """Mean, spread and the share of worlds in which the bid is made, for each legal play."""
    found: dict[Tile, list[int]] = {}
    for world in slow_worlds(hand, hand.mover):
        for tile, value in slow_q(hand, world).items():
            found.setdefault(tile, []).append(value)
    return {
        tile: (
            float(np.mean(values)),
            float(np.std(values)),
            float(np.mean([slow_final(hand, q)[declarer % 2] >= bid for q in values])),
        )
        for tile, values in found.items()
    }
