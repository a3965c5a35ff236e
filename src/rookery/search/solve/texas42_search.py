"""The search behind the solver of Texas 42.

A position is the set of tiles still held, who holds them, and the trick on the table. A search asks whether team 0 can
take at least `need` of the points to come, and answers with a bound: the value is at least what is returned if that is
`need` or more, and at most that otherwise. A few such questions close in on the value.

Between two tricks a position of one deal is told by the tiles left and the leader, 30 bits, so the table needs no
hashes that might be mistaken. An entry is one integer:

    bits 0..5     upper bound of the points to come for team 0
    bits 6..11    lower bound
    bits 12..16   the move that was best
    bits 17..44   tiles left
    bits 45..46   leader
    bits 47..62   number of the deal; entries of earlier deals are not found and give way

The walk keeps its place in an array of levels, one for each tile on the way, and never calls itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit

from rookery.games.bits import lowest_bit, popcount
from rookery.games.texas42_tiles import COUNT, COUNTS, HAND, SEATS, TILES
from rookery.search.borrowed import borrowed
from rookery.search.inner import inner
from rookery.search.records import at
from rookery.search.solve.texas42_suits import Suits

Level = Any  # one record of LEVEL; Any, because Numba types it by the dtype
Desk = Any  # one record of DESK

LEVEL = np.dtype(
    [
        ("left", np.int32),  # tiles still held
        ("seat", np.int32),  # to move
        ("place", np.int32),  # tiles in the trick
        ("suit", np.int32),  # led
        ("winner", np.int32),  # seat that wins the trick so far
        ("best", np.int32),  # its tile
        ("worth", np.int32),  # points in the trick so far, 1 for the trick included
        ("gain", np.int32),  # points of team 0 on the way from the level above
        ("need", np.int32),
        ("value", np.int32),  # best for the mover so far
        ("low", np.int32),  # bounds known on arrival
        ("high", np.int32),
        ("move", np.int32),  # tile being searched
        ("chosen", np.int32),  # tile that gave `value`
        ("count", np.int32),
        ("next", np.int32),
        ("moves", np.int32, (HAND + 1,)),  # score * 32 + tile, best first
    ],
    align=True,
)
DESK = np.dtype(
    [
        ("hands", np.int32, (SEATS,)),  # as dealt
        ("declaration", np.int64),
        ("deal", np.int64),  # number of the deal, for the table
        ("nodes", np.int64),
    ],
    align=True,
)
LEVELS = TILES + 1
UNDECIDED, STOPPED = -1, -2
NO_TILE = 31  # in an entry without a move
MOST_DEALS = (1 << 16) - 1
WAYS = 4  # entries that may hold a position
MIXER = 0x2545F4914F6CDD1D  # an odd number: multiplying by it spreads the bits of a key
TENS = sum(1 << (h * (h + 1) // 2 + low) for (h, low), count in COUNTS.items() if count == 10)
FIVES = sum(1 << (h * (h + 1) // 2 + low) for (h, low), count in COUNTS.items() if count == 5)
POLL = (1 << 12) - 1  # positions between two looks at the stop, less one


@inner
def points_of(tiles: int) -> int:
    """Return the count of some tiles."""
    return 10 * popcount(int64(tiles & TENS)) + 5 * popcount(int64(tiles & FIVES))


@inner
def points_left(tiles: int) -> int:
    """Return the points to come between two tricks."""
    return points_of(tiles) + (popcount(int64(tiles)) >> 2)


# ---- the table -----------------------------------------------------------------------------------


@inner
def name_of(desk: Desk, left: int, seat: int) -> int:
    """Return what an entry of a position holds above its lowest 17 bits."""
    return int(int64(desk.deal) << 30 | int64(seat) << 28 | int64(left))


@inner
def first_way(table: np.ndarray, name: int) -> int:
    """Return the first entry that may hold a position."""
    return int(((int64(name) * MIXER) >> 24) & (table.shape[0] - WAYS))


@inner
def looked_up(table: np.ndarray, name: int) -> int:
    """Return the entry of a position, or 0."""
    first = first_way(table, name)
    for way in range(first, first + WAYS):
        if table[way] >> 17 == name:
            return int(table[way])
    return 0


@inner
def store(table: np.ndarray, name: int, low: int, high: int, move: int) -> None:
    """Enter bounds; they take the place of older ones, of an earlier deal's, or of the fewest tiles."""
    first = first_way(table, name)
    entry = int64(name) << 17 | move << 12 | low << 6 | high
    worst, fewest = first, 64
    for way in range(first, first + WAYS):
        held = table[way] >> 17
        if held == name:
            table[way] = entry
            return
        tiles = 0 if held >> 30 != name >> 30 else popcount(held & ((1 << TILES) - 1))
        if tiles < fewest:
            worst, fewest = way, tiles
    table[worst] = entry


# ---- moves ---------------------------------------------------------------------------------------


@inner
def add_move(level: Level, tile: int, score: int) -> None:
    """Put a move where its score belongs among those listed."""
    move, i = score * 32 + tile, level.count
    while i > 0 and level.moves[i - 1] < move:
        level.moves[i] = level.moves[i - 1]
        i -= 1
    level.moves[i] = move
    level.count += 1


@inner
def is_repeated(suits: Suits, tiles: int, tile: int, left: int) -> bool:
    """Tell whether a tile can be exchanged for a lower one of these tiles."""
    lower = tiles & ((1 << tile) - 1)
    while lower != 0:
        if suits.apart[tile, lowest_bit(int64(lower))] & left == 0:
            return True
        lower &= lower - 1
    return False


@inner
def legal_tiles(suits: Suits, hand: int, place: int, suit: int) -> int:
    """Return the tiles of a hand that may be played."""
    if place == 0:
        return hand
    following = hand & suits.follow[suit]
    return following if following != 0 else hand


@inner
def list_moves(level: Level, desk: Desk, suits: Suits, known: int) -> None:
    """List the moves of a level, one of each kind, the most promising first."""
    left = int64(level.left)
    tiles = legal_tiles(suits, left & desk.hands[level.seat], level.place, level.suit)
    level.count = level.next = 0
    if tiles & (tiles - 1) == 0:
        level.moves[0] = lowest_bit(int64(tiles))
        level.count = 1
        return
    seen = left if level.place == 0 else left | (1 << level.best)
    rest = tiles
    while rest != 0:
        tile = lowest_bit(int64(rest))
        rest &= rest - 1
        if is_repeated(suits, tiles, tile, seen):
            continue
        score = score_lead(level, desk, suits, tile) if level.place == 0 else score_follow(level, desk, suits, tile)
        add_move(level, tile, score + (1000 if tile == known else 0))


@inner
def can_beat(desk: Desk, suits: Suits, left: int, seat: int, suit: int, tile: int) -> bool:
    """Tell whether a seat that is still to play could beat a tile."""
    return bool(legal_tiles(suits, left & desk.hands[seat], 1, suit) & suits.beats[suit, tile] != 0)


@inner
def score_lead(level: Level, desk: Desk, suits: Suits, tile: int) -> int:
    """Say how early a lead should be tried."""
    suit, seat, left = suits.leads[tile], level.seat, int64(level.left)
    count, rank = int64(COUNT[tile]), int64(suits.strength[suit, tile])
    beaten = can_beat(desk, suits, left, (seat + 1) & 3, suit, tile)
    beaten |= can_beat(desk, suits, left, (seat + 3) & 3, suit, tile)
    if not beaten:
        return int(100 + count + rank)
    return int(40 - 2 * count - rank)


@inner
def score_follow(level: Level, desk: Desk, suits: Suits, tile: int) -> int:
    """Say how early a tile should be tried in a trick that is under way."""
    suit, seat, left = level.suit, level.seat, int64(level.left)
    count, rank = int64(COUNT[tile]), int64(suits.strength[suit, tile])
    best = level.best
    mine = suits.beats[suit, best] >> tile & 1
    ours = (level.winner ^ seat) & 1 == 0
    if mine == 1:
        best = tile
    holds = mine == 1 or ours
    if holds and level.place < 3:
        holds = not can_beat(desk, suits, left, (seat + 1) & 3, suit, best)
    if holds:
        return int(100 + 2 * count - rank - (8 if mine == 1 and ours else 0))
    return int(40 - 2 * count - rank)


# ---- the walk ------------------------------------------------------------------------------------


@inner
def last_trick(level: Level, desk: Desk, suits: Suits) -> int:
    """Return the points of team 0 when each seat holds one tile."""
    left, seat = int64(level.left), int64(level.seat)
    best, winner = lowest_bit(left & desk.hands[seat]), seat
    suit = suits.leads[best]
    for step in range(1, SEATS):
        other = (seat + step) & 3
        tile = lowest_bit(left & desk.hands[other])
        if suits.beats[suit, best] >> tile & 1:
            best, winner = tile, other
    return points_left(left) if winner & 1 == 0 else 0


@inner
def enter(level: Level, desk: Desk, suits: Suits, table: np.ndarray) -> int:
    """Look at the position on a level: bound its value if that is easy, else list its moves and say UNDECIDED."""
    desk.nodes += 1
    level.value = -1 if level.seat & 1 == 0 else 64
    if level.place > 0:
        list_moves(level, desk, suits, NO_TILE)
        return UNDECIDED
    left = int64(level.left)
    points = points_left(left)
    if level.need <= 0:
        return 0
    if level.need > points:
        return points
    if popcount(left) <= SEATS:
        return last_trick(level, desk, suits)
    entry = looked_up(table, name_of(desk, left, level.seat))
    low, high, known = 0, points, NO_TILE
    if entry != 0:
        low, high, known = entry >> 6 & 63, entry & 63, entry >> 12 & 31
        if low >= level.need:
            return low
        if high < level.need:
            return high
    level.low, level.high = low, high
    list_moves(level, desk, suits, known)
    return UNDECIDED


@inner
def make(level: Level, after: Level, suits: Suits) -> None:
    """Set the level below to the position after the move of a level."""
    tile, place = int64(level.move), int64(level.place)
    after.left = level.left & ~(1 << tile)
    suit = int64(suits.leads[tile]) if place == 0 else int64(level.suit)
    worth = int64(COUNT[tile]) + (1 if place == 0 else level.worth)
    winner, best = int64(level.winner), int64(level.best)
    if place == 0 or suits.beats[suit, best] >> tile & 1:
        winner, best = int64(level.seat), tile
    after.suit, after.winner, after.best, after.worth = suit, winner, best, worth
    if place < SEATS - 1:
        after.seat, after.place, after.gain, after.need = (level.seat + 1) & 3, place + 1, 0, level.need
    else:
        after.gain = worth if winner & 1 == 0 else 0
        after.seat, after.place, after.need = winner, 0, level.need - after.gain


@inner
def leave(level: Level, desk: Desk, table: np.ndarray) -> int:
    """Keep what was found about a position between two tricks; return the bound."""
    value = int64(level.value)
    if level.place == 0:
        low, high = int64(level.low), int64(level.high)
        if value >= level.need:
            low = value
        else:
            high = value
        store(table, name_of(desk, level.left, level.seat), low, high, int64(level.chosen))
    return int(value)


@inner
def take(level: Level, value: int) -> None:
    """Count the value of a move on the level it was made."""
    if level.seat & 1 == 0:
        if value > level.value:
            level.value, level.chosen = value, level.move
        if value >= level.need:
            level.next = level.count
    else:
        if value < level.value:
            level.value, level.chosen = value, level.move
        if value < level.need:
            level.next = level.count


@njit(cache=True, nogil=True)
def answer(first: Level, desk: Desk, suits: Suits, table: np.ndarray, stop: np.ndarray) -> int:
    """Bound the value of the position on the first of some levels as its `need` asks, or return STOPPED."""
    table, stop = borrowed(table), borrowed(stop)
    k = 0
    value = enter(first, desk, suits, table)
    while True:
        level = at(first, k)
        if value != UNDECIDED:
            if k == 0:
                return int(value)
            value += level.gain
            k -= 1
            level = at(first, k)
            take(level, value)
        if level.next == level.count:
            value = leave(level, desk, table)
            continue
        level.move = level.moves[level.next] & 31
        level.next += 1
        k += 1
        make(level, at(first, k), suits)
        value = enter(at(first, k), desk, suits, table)
        if desk.nodes & POLL == 0 and stop[0] != 0:
            return STOPPED


@njit(cache=True, nogil=True)
def settle(first: Level, desk: Desk, suits: Suits, table: np.ndarray, stop: np.ndarray, guess: int) -> int:
    """Return the value of the position on the first of some levels, or STOPPED: points to come for team 0."""
    low, high = 0, points_to_come(first)
    need = min(max(guess, 1), high)
    while low < high:
        first.need = need
        value = answer(first, desk, suits, table, stop)
        if value == STOPPED:
            return STOPPED
        if value >= need:
            low = value
            need = value + 1
        else:
            high = value
            need = value
    return low


@njit(cache=True, nogil=True)
def points_to_come(level: Level) -> int:
    """Return all points to come, those of the trick on the table included."""
    left = int64(level.left)
    if level.place == 0:
        return points_left(left)
    return int(points_of(left) + level.worth + ((popcount(left) + level.place) >> 2) - 1)
