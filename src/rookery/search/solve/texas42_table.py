"""The table of the solver of Texas 42: bounds of positions between two tricks.

A position of one deal is told by the tiles left and the leader, 30 bits, so there are no hashes that might be mistaken
for one another. An entry is one integer:

    bits 0..5     upper bound of the points to come for team 0
    bits 6..11    lower bound
    bits 12..16   the move that was best
    bits 17..44   tiles left
    bits 45..46   leader
    bits 47..62   number of the deal; entries of earlier deals are not found and give way

Four entries share a bucket, and with another bucket a line of the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from rookery.games.bits import popcount
from rookery.games.texas42_tiles import ALL_TILES
from rookery.search.inner import inner
from rookery.search.records import at

Bucket = Any  # one record of BUCKET; Any, because Numba types it by the dtype

WAYS = 4
BUCKET = np.dtype([("ways", np.int64, (WAYS,))])
MOST_DEALS = (1 << 16) - 1
NO_MOVE = 31
MIXER = 0x2545F4914F6CDD1D  # an odd number: multiplying by it spreads the bits of a name


@inner
def name_of(deal: int, left: int, seat: int) -> int:
    """Return what an entry of a position holds above its lowest 17 bits."""
    return int(int64(deal) << 30 | int64(seat) << 28 | int64(left))


@inner
def bucket_of(table: Bucket, buckets: int, name: int) -> Bucket:
    """Return the bucket of a position; `table` is the first of so many, a power of two."""
    return at(table, ((int64(name) * MIXER) >> 24) & (buckets - 1))


@inner
def looked_up(bucket: Bucket, name: int) -> int:
    """Return the entry of a position, or 0."""
    for way in range(WAYS):
        if bucket.ways[way] >> 17 == name:
            return int(bucket.ways[way])
    return 0


@inner
def bounds_in(entry: int) -> tuple[int, int, int]:
    """Return the lower bound, the upper bound and the move of an entry."""
    return entry >> 6 & 63, entry & 63, entry >> 12 & 31


@inner
def store(bucket: Bucket, name: int, low: int, high: int, move: int) -> None:
    """Enter bounds in place of older ones, of an earlier deal's, or of those with the fewest tiles left."""
    chosen, fewest = 0, 64
    for way in range(WAYS):
        held = bucket.ways[way] >> 17
        if held == name:
            chosen = way
            break
        tiles = 0 if held >> 30 != name >> 30 else popcount(int64(held & ALL_TILES))
        if tiles < fewest:
            chosen, fewest = way, tiles
    bucket.ways[chosen] = int64(name) << 17 | move << 12 | low << 6 | high
