"""The worlds of Texas 42 by trying all deals of the unseen tiles. Slow and plain."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from games.slow_texas42 import ALL_TILES, SlowHand, Tile, suit_tiles

World = tuple[frozenset[Tile], ...]
"""what each seat still holds"""


def all_deals(
    pool: frozenset[Tile], sizes: list[int], allowed: list[set[Tile]]
) -> Iterator[tuple[frozenset[Tile], ...]]:
    """Give the tiles of a pool to hands of given sizes, each tile to a hand that may hold it."""
    if not sizes:
        yield ()
        return
    for chosen in combinations(sorted(pool & allowed[0]), sizes[0]):
        for rest in all_deals(pool - set(chosen), sizes[1:], allowed[1:]):
            yield (frozenset(chosen), *rest)


def slow_worlds(hand: SlowHand, viewer: int) -> set[World]:
    """All that the four seats may hold, as the viewer knows it."""
    own = frozenset(hand.hands[viewer])
    pool = frozenset(ALL_TILES) - own - {tile for _, tile in hand.plays}
    others = [seat for seat in range(4) if seat != viewer]
    sizes = [7 - sum(player == seat for player, _ in hand.plays) for seat in others]
    barred = [{tile for suit in hand.voids[seat] for tile in suit_tiles(hand.name, suit)} for seat in others]
    worlds = set()
    for deal in all_deals(pool, sizes, [set(ALL_TILES) - tiles for tiles in barred]):
        held = dict(zip(others, deal, strict=True)) | {viewer: own}
        worlds.add(tuple(held[seat] for seat in range(4)))
    return worlds
