"""What the solver of Texas 42 knows of each declaration, as masks of tiles.

The solver numbers tiles anew for each declaration: trumps first, the highest 0, then the others by id. A set of tiles
is the low 28 bits of an integer, so the trumps of a hand that are higher than all others' lie below the others' lowest.

For a declaration the record holds which tiles follow a suit, which tiles beat a tile when a suit is led, and for each
pair of tiles which others set them *apart*. While none of those is left (in a hand, or winning the trick on the table),
two tiles of one hand can be exchanged without changing the game, and only one of them need be tried. Tiles stand apart

- for good, if they are worth different points, or if one is called and the other is not;
- by a tile that ranks between them in a suit both follow;
- by a tile that could lead a suit which only one of them follows;
- if they lead different suits, by all tiles that follow either.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rookery.games.texas42_tiles import (
    ALL,
    ALL_TILES,
    COUNT,
    FOLLOW,
    LEADS,
    POWER,
    SUITS,
    TILES,
    follows,
    is_called,
    power,
    tiles_of,
)

Suits = Any  # one record of SUITS_OF; Any, because Numba types it by the dtype

SUITS_OF = np.dtype(
    [
        ("follow", np.int32, (SUITS,)),  # tiles of a suit
        ("beats", np.int32, (SUITS, TILES)),  # tiles that beat a tile when the suit is led
        ("apart", np.int32, (TILES, TILES)),
        ("strength", np.int8, (SUITS, TILES)),  # the highest wins; 0 cannot
        ("leads", np.int8, (TILES,)),  # suit a tile leads
        ("count", np.int8, (TILES,)),  # points of a tile
        ("number", np.int8, (TILES,)),  # of a tile, by its id
        ("tile", np.int8, (TILES,)),  # id of a tile, by its number
        ("trumps", np.int32),  # called tiles, where they have the power of trump
        ("tens", np.int32),  # tiles of 10 points
        ("fives", np.int32),
    ],
    align=True,
)


def beaten_by(declaration: int, suit: int, tile: int) -> int:
    """Return the set of tiles that beat a tile when a suit is led."""
    own = power(declaration, suit, tile)
    return sum(1 << other for other in range(TILES) if power(declaration, suit, other) > own)


def apart(declaration: int, first: int, second: int) -> int:
    """Return the set of tiles that set two tiles apart."""
    if COUNT[first] != COUNT[second] or is_called(declaration, first) != is_called(declaration, second):
        return ALL_TILES
    between = 0
    for suit in range(SUITS):
        one, other = (follows(declaration, suit, tile) for tile in (first, second))
        if one and other:
            between |= beaten_by(declaration, suit, first) ^ beaten_by(declaration, suit, second)
        elif one or other:
            between |= sum(1 << tile for tile in range(TILES) if LEADS[declaration, tile] == suit)
    led = [int(LEADS[declaration, tile]) for tile in (first, second)]
    if led[0] != led[1]:
        between |= sum(1 << tile for tile in range(TILES) if any(follows(declaration, suit, tile) for suit in led))
    return between & ~(1 << first | 1 << second)


def numbered(declaration: int) -> list[int]:
    """Return the ids of all tiles in the order of their numbers: trumps first, the highest in front."""
    return sorted(range(TILES), key=lambda tile: (-max(power(declaration, 0, tile), 15), tile))


def suits_of(declaration: int) -> np.ndarray:
    """Make the record of a declaration."""
    suits, order = np.zeros((), SUITS_OF), numbered(declaration)
    number = {tile: i for i, tile in enumerate(order)}

    def renumbered(tiles: int) -> int:
        return sum(1 << number[tile] for tile in tiles_of(tiles))

    for suit in range(SUITS):
        suits["follow"][suit] = renumbered(int(FOLLOW[declaration, suit]))
        suits["beats"][suit] = [renumbered(beaten_by(declaration, suit, tile)) for tile in order]
    suits["apart"] = [[renumbered(apart(declaration, first, second)) for second in order] for first in order]
    suits["strength"] = POWER[declaration][:, order]
    suits["leads"], suits["count"] = LEADS[declaration, order], COUNT[order]
    suits["tile"], suits["number"] = order, [number[tile] for tile in range(TILES)]
    suits["trumps"] = sum(1 << number[tile] for tile in order if power(declaration, 0, tile) >= 16)
    suits["tens"], suits["fives"] = (sum(1 << number[t] for t in order if COUNT[t] == n) for n in (10, 5))
    return suits


@functools.cache
def all_suits() -> np.ndarray:
    """Return the records of all declarations, made once and not to be written to."""
    return np.array([suits_of(declaration) for declaration in ALL], SUITS_OF)
