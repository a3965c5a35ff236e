"""The search behind the solver of Texas 42.

A position is the set of tiles still held, who holds them, and the trick on the table. A search asks whether team 0 can
take at least `need` of the points to come, and answers with a bound: the value is at least what is returned if that is
`need` or more, and at most that otherwise. A few such questions close in on the value.

Between two tricks a position is bounded by what the teams are sure of (`texas42_bounds`), then looked up in the table
(`texas42_table`). With two tricks to come it is tried out in loops (`texas42_endings`). Else its moves are listed
(`texas42_moves`) and searched. The walk keeps its place in an array of levels, one for each tile on the way, and
never calls itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit

from rookery.games.bits import lowest_bit, popcount
from rookery.games.texas42_tiles import HAND, SEATS, TILES
from rookery.search.borrowed import borrowed
from rookery.search.inner import inner
from rookery.search.records import at, prefetch
from rookery.search.solve.texas42_bounds import count_of, points_left, sure_of_leader, sure_of_trumps
from rookery.search.solve.texas42_endings import last_trick, two_tricks
from rookery.search.solve.texas42_moves import Level, list_moves
from rookery.search.solve.texas42_suits import Suits
from rookery.search.solve.texas42_table import NO_MOVE, Bucket, bounds_in, bucket_of, looked_up, name_of, store

Desk = Any  # one record of DESK; Any, because Numba types it by the dtype

DESK = np.dtype(
    [
        ("hands", np.int32, (SEATS,)),  # as dealt
        ("declaration", np.int64),
        ("deal", np.int64),  # number of the deal, for the table
        ("buckets", np.int64),  # of the table
        ("trumps", np.int8, (1 << HAND,)),  # the trumps that stand for these trumps, see `gather_trumps`
        ("nodes", np.int64),
    ],
    align=True,
)
LEVELS = TILES + 1
TRUMPS = (1 << HAND) - 1  # trumps have the lowest numbers
UNDECIDED, STOPPED = -1, -2
POLL = (1 << 12) - 1  # positions between two looks at the stop, less one


@inner
def gather_trumps(desk: Desk, suits: Suits) -> None:
    """Find for each set of trumps left the set that stands for it in the search.

    Only ranks among those left matter: sets in which the same seats hold the first, second, ... highest trump, worth
    the same, are one. Each trump gives way to the highest of its owner's, as dealt, that is worth as much and lies
    below what the trumps above it have become.
    """
    for trumps in range(1 << HAND):
        gathered, after, rest = int64(0), int64(0), int64(trumps if suits.trumps != 0 else 0)
        while rest != 0:
            trump = lowest_bit(rest)
            rest &= rest - 1
            while not is_alike(desk, suits, trump, after):
                after += 1
            gathered |= int64(1) << after
            after += 1
        desk.trumps[trumps] = gathered if suits.trumps != 0 else trumps


@inner
def is_alike(desk: Desk, suits: Suits, first: int, second: int) -> bool:
    """Tell whether two tiles were dealt to one seat and are worth the same."""
    for seat in range(SEATS):
        if desk.hands[seat] >> first & 1 and desk.hands[seat] >> second & 1:
            return bool(suits.count[first] == suits.count[second])
    return False


@inner
def enter(level: Level, desk: Desk, suits: Suits, table: Bucket) -> int:
    """Look at the position on a level: bound its value if that is easy, else list its moves and say UNDECIDED."""
    desk.nodes += 1
    left, seat = int64(level.left), int64(level.seat)
    level.value = -1 if seat & 1 == 0 else 64
    points = 0
    if level.place == 0:
        points = points_left(suits, left)
        if level.need <= 0:
            return 0
        if level.need > points:
            return points
        left = left & ~TRUMPS | desk.trumps[left & TRUMPS]
        level.left = left
    own, second = left & desk.hands[seat], left & desk.hands[(seat + 1) & 3]
    third, fourth = left & desk.hands[(seat + 2) & 3], left & desk.hands[(seat + 3) & 3]
    known = NO_MOVE
    if level.place == 0:
        if popcount(left) <= 2 * SEATS:
            return ending(level, suits, points, own, second, third, fourth)
        bucket = bucket_of(table, desk.buckets, name_of(desk.deal, left, seat))
        prefetch(bucket)
        if is_sure(level, suits, points, own, second, third, fourth):
            return int(level.low if level.low >= level.need else level.high)
        entry = looked_up(bucket, name_of(desk.deal, left, seat))
        if entry != 0:
            level.low, level.high, known = bounds_in(entry)
            if level.low >= level.need:
                return int(level.low)
            if level.high < level.need:
                return int(level.high)
    list_moves(level, suits, own, second, third, fourth, known)
    return UNDECIDED


@inner
def ending(level: Level, suits: Suits, points: int, own: int, second: int, third: int, fourth: int) -> int:
    """Bound the value of a position with one or two tricks to come."""
    ours = level.seat & 1 == 0
    if own & (own - 1) == 0:
        taken = last_trick(suits, own, second, third, fourth)
    else:
        wanted = int64(level.need) if ours else points + 1 - level.need
        taken = two_tricks(suits, own, second, third, fourth, wanted)
    return taken if ours else points - taken


@inner
def is_sure(level: Level, suits: Suits, points: int, own: int, second: int, third: int, fourth: int) -> bool:
    """Bound a position by what the teams are sure of; tell whether that answers the question."""
    left, theirs = int64(level.left), 0
    ours = sure_of_leader(suits, left, own, second, fourth)
    if left & suits.trumps != 0:
        ours = max(ours, sure_of_trumps(suits, left, third))
        theirs = max(sure_of_trumps(suits, left, second), sure_of_trumps(suits, left, fourth))
    if level.seat & 1 == 0:
        level.low, level.high = ours, points - theirs
    else:
        level.low, level.high = theirs, points - ours
    return bool(level.low >= level.need or level.high < level.need)


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
def leave(level: Level, desk: Desk, table: Bucket) -> int:
    """Keep what was found about a position between two tricks; return the bound."""
    value = int64(level.value)
    if level.place == 0:
        low, high = int64(level.low), int64(level.high)
        if value >= level.need:
            low = value
        else:
            high = value
        name = name_of(desk.deal, level.left, level.seat)
        store(bucket_of(table, desk.buckets, name), name, low, high, int64(level.chosen))
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
def answer(first: Level, desk: Desk, suits: Suits, table: Bucket, stop: np.ndarray) -> int:
    """Bound the value of the position on the first of some levels as its `need` asks, or return STOPPED."""
    stop = borrowed(stop)
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
def guessed(first: Level, desk: Desk, suits: Suits) -> int:
    """Return the points team 0 takes if everybody plays the most promising tile."""
    k, taken, hands = 0, 0, desk.hands
    while at(first, k).left != 0:
        level = at(first, k)
        left, seat = int64(level.left), int64(level.seat)
        own, second = left & hands[seat], left & hands[(seat + 1) & 3]
        third, fourth = left & hands[(seat + 2) & 3], left & hands[(seat + 3) & 3]
        list_moves(level, suits, own, second, third, fourth, NO_MOVE)
        level.move = level.moves[0] & 31
        k += 1
        make(level, at(first, k), suits)
        taken += at(first, k).gain
    return int(taken)


@njit(cache=True, nogil=True)
def settle(first: Level, desk: Desk, suits: Suits, table: Bucket, stop: np.ndarray, guess: int) -> int:
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
        step += 1
    return low


@njit(cache=True, nogil=True)
def points_to_come(level: Level, suits: Suits) -> int:
    """Return all points to come, those of the trick on the table included."""
    left = int64(level.left)
    if level.place == 0:
        return points_left(suits, left)
    return int(count_of(suits, left) + level.worth + ((popcount(left) + level.place) >> 2) - 1)
