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
from rookery.games.texas42_tiles import HAND, SEATS, TILES
from rookery.search.borrowed import borrowed
from rookery.search.inner import inner
from rookery.search.records import at
from rookery.search.solve.texas42_bounds import count_of, points_left, sure_of_leader, sure_of_trumps
from rookery.search.solve.texas42_endings import following, last_trick, two_tricks
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
POLL = (1 << 12) - 1  # positions between two looks at the stop, less one


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
    seat, place = int64(level.seat), int64(level.place)
    second, fourth = left & desk.hands[(seat + 1) & 3], left & desk.hands[(seat + 3) & 3]
    if place == 0:
        list_leads(level, suits, left, tiles, second, fourth, known)
    else:
        list_follows(level, suits, left | (1 << level.best), tiles, second)


@inner
def list_leads(level: Level, suits: Suits, left: int, tiles: int, second: int, fourth: int, known: int) -> None:
    """List the leads with their scores."""
    rest = int64(tiles)
    while rest != 0:
        tile = lowest_bit(rest)
        rest &= rest - 1
        if is_repeated(suits, tiles, tile, left):
            continue
        suit = int64(suits.leads[tile])
        count, rank, beats = int64(suits.count[tile]), int64(suits.strength[suit, tile]), int64(suits.beats[suit, tile])
        beaten = (following(suits, second, suit) | following(suits, fourth, suit)) & beats
        score = 100 + count + rank if beaten == 0 else 40 - 2 * count - rank
        add_move(level, tile, score + (1000 if tile == known else 0))


@inner
def list_follows(level: Level, suits: Suits, seen: int, tiles: int, after: int) -> None:
    """List the tiles that may be played to a trick under way, with their scores; `after` is the next hand."""
    suit, best = int64(level.suit), int64(level.best)
    beats = int64(suits.beats[suit, best])
    ours = (level.winner ^ level.seat) & 1 == 0
    threats = int64(0) if level.place == SEATS - 1 else int64(following(suits, after, suit))
    kept = ours and threats & beats == 0
    rest = int64(tiles)
    while rest != 0:
        tile = lowest_bit(rest)
        rest &= rest - 1
        if is_repeated(suits, tiles, tile, seen):
            continue
        count, rank = int64(suits.count[tile]), int64(suits.strength[suit, tile])
        if beats >> tile & 1:
            holds, over = threats & suits.beats[suit, tile] == 0, 8 if ours else 0
        else:
            holds, over = kept, 0
        add_move(level, tile, 100 + 2 * count - rank - over if holds else 40 - 2 * count - rank)


# ---- the walk ------------------------------------------------------------------------------------


@inner
def enter(level: Level, desk: Desk, suits: Suits, table: np.ndarray) -> int:
    """Look at the position on a level: bound its value if that is easy, else list its moves and say UNDECIDED."""
    desk.nodes += 1
    level.value = -1 if level.seat & 1 == 0 else 64
    if level.place > 0:
        list_moves(level, desk, suits, NO_TILE)
        return UNDECIDED
    left = int64(level.left)
    points = points_left(suits, left)
    if level.need <= 0:
        return 0
    if level.need > points:
        return points
    seat, need = int64(level.seat), int64(level.need)
    own, second = left & desk.hands[seat], left & desk.hands[(seat + 1) & 3]
    third, fourth = left & desk.hands[(seat + 2) & 3], left & desk.hands[(seat + 3) & 3]
    if popcount(left) <= 2 * SEATS:
        wanted = need if seat & 1 == 0 else points + 1 - need
        if popcount(left) <= SEATS:
            taken = last_trick(suits, own, second, third, fourth)
        else:
            taken = two_tricks(suits, own, second, third, fourth, wanted)
        return taken if seat & 1 == 0 else points - taken
    ours = sure_of_leader(suits, left, own, second, fourth)
    theirs = 0
    if left & suits.trumps != 0:
        ours = max(ours, sure_of_trumps(suits, left, third))
        theirs = max(sure_of_trumps(suits, left, second), sure_of_trumps(suits, left, fourth))
    low, high, known = (ours, points - theirs, NO_TILE) if seat & 1 == 0 else (theirs, points - ours, NO_TILE)
    if low >= need:
        return int(low)
    if high < need:
        return int(high)
    entry = looked_up(table, name_of(desk, left, seat))
    if entry != 0:
        low, high, known = entry >> 6 & 63, entry & 63, entry >> 12 & 31
        if low >= need:
            return low
        if high < need:
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
    worth = int64(suits.count[tile]) + (1 if place == 0 else level.worth)
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
    low, high, step = 0, points_to_come(first, suits), 1
    need = min(max(guess, 1), high)
    while low < high:
        first.need = need
        value = answer(first, desk, suits, table, stop)
        if value == STOPPED:
            return STOPPED
        if value >= need:
            low = value
            need = min(low + step, (low + high + 1) >> 1)
        else:
            high = value
            need = max(high + 1 - step, (low + high + 1) >> 1)
        step *= 2
    return low


@njit(cache=True, nogil=True)
def points_to_come(level: Level, suits: Suits) -> int:
    """Return all points to come, those of the trick on the table included."""
    left = int64(level.left)
    if level.place == 0:
        return points_left(suits, left)
    return int(count_of(suits, left) + level.worth + ((popcount(left) + level.place) >> 2) - 1)
