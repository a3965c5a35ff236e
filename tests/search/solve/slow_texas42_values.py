"""Exact values of Texas 42 by trying everything, with the rule book's own words for suits, following and winning."""

from __future__ import annotations

from functools import cache

from games.slow_texas42 import ALL_TILES, NAMES, suit_of_lead, suit_tiles, tile_id, winner, worth
from rookery.games import texas42
from rookery.games.position import Position


@cache
def followers(name: str, suit: int) -> frozenset:
    return frozenset(suit_tiles(name, suit))


def may_play(name: str, hand: tuple, trick: tuple) -> list:
    if not trick:
        return list(hand)
    led = followers(name, suit_of_lead(name, trick[0]))
    return [tile for tile in hand if tile in led] or list(hand)


def slow_tile_values(name: str, hands: tuple, trick: tuple, mover: int) -> dict:
    """The value of each legal tile: points to come, team 0 minus team 1, with best play by all."""
    values = {}
    for tile in may_play(name, hands[mover], trick):
        after = tuple(tuple(t for t in hand if t != tile) for hand in hands)
        played, seat, points = (*trick, tile), (mover + 1) % 4, 0
        if len(played) == 4:
            seat = (mover + 1 + winner(name, list(played))) % 4
            points = worth(list(played)) * (1 if seat % 2 == 0 else -1)
            played = ()
        values[tile] = points + slow_value(name, after, played, seat)
    return values


@cache
def slow_value(name: str, hands: tuple, trick: tuple, mover: int) -> int:
    if not any(hands):
        return 0
    values = slow_tile_values(name, hands, trick, mover).values()
    return max(values) if mover % 2 == 0 else min(values)


def slow_q(position: Position) -> list:
    """Values by slot of the mover's hand as dealt, None where a tile may not be played."""
    state = position.state
    hands = tuple(tuple(ALL_TILES[tile] for tile in hand) for hand in texas42.held(position))
    begun = int(state["plays"]) & ~3
    trick = tuple(ALL_TILES[tile] for tile in state["history"][begun : state["plays"]])
    values = slow_tile_values(NAMES[state["declaration"]], hands, trick, position.mover)
    slow_value.cache_clear()
    by_id = {tile_id(tile): value for tile, value in values.items()}
    return [by_id.get(int(tile)) for tile in state["tiles"][position.mover]]
