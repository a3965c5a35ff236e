"""Points that a team is sure of between two tricks, found without looking ahead.

The leader can lead tiles that nobody else can beat, one after the other, and keep the lead. Trumps that are higher than
all others' come first. Once the opponents are out of trumps, or if there are none, every tile of the leader's that is
the highest of its suit takes a trick too. While an opponent keeps trumps, one more lead is safe if neither opponent
can beat it: he has played nothing but trumps so far. The side that does not lead is sure of the trumps at the top.
"""

from __future__ import annotations

from numba import int64

from rookery.games.bits import lowest_bit, popcount
from rookery.search.inner import inner
from rookery.search.solve.texas42_suits import Suits


@inner
def count_of(suits: Suits, tiles: int) -> int:
    """Return the count of some tiles."""
    return int(10 * popcount(int64(tiles & suits.tens)) + 5 * popcount(int64(tiles & suits.fives)))


@inner
def points_left(suits: Suits, tiles: int) -> int:
    """Return the points to come between two tricks."""
    return int(count_of(suits, tiles) + (popcount(int64(tiles)) >> 2))


@inner
def top_trumps(suits: Suits, hand: int, left: int) -> int:
    """Return the trumps of a hand that are higher than all others'."""
    others = int64(left & suits.trumps & ~hand)
    return int(int64(hand & suits.trumps) & ((others & -others) - 1))


@inner
def sure_of_leader(suits: Suits, left: int, own: int, second: int, fourth: int) -> int:
    """Return points the leader's team is sure of; `second` and `fourth` are the opponents' hands."""
    trumps = int64(suits.trumps)
    tops = int64(top_trumps(suits, own, left))
    drawn = popcount(tops)
    if popcount(int64(second & trumps)) <= drawn:
        second &= ~trumps
    if popcount(int64(fourth & trumps)) <= drawn:
        fourth &= ~trumps
    free = (second | fourth) & trumps == 0
    others, winners, once = int64(left & ~own), tops, int64(0)
    rest = int64(own & ~trumps)
    while rest != 0:
        tile = lowest_bit(rest)
        rest &= rest - 1
        suit = suits.leads[tile]
        higher = suits.beats[suit, tile] & ~trumps
        if free and higher & others == 0:
            winners |= int64(1) << tile
        elif higher & (second | fourth) == 0:
            stopped = second & trumps != 0 and second & suits.follow[suit] == 0
            if not stopped and not (fourth & trumps != 0 and fourth & suits.follow[suit] == 0):
                once |= int64(1) << tile
    tricks = popcount(winners)
    if tricks >= popcount(int64(own)):
        return points_left(suits, left)
    sure = tricks + count_of(suits, winners)
    if once == 0:
        return int(sure)
    if tricks + 1 >= popcount(int64(own)):
        return points_left(suits, left)
    return int(sure + 1 + (10 if once & suits.tens != 0 else 5 if once & suits.fives != 0 else 0))


@inner
def sure_of_trumps(suits: Suits, left: int, hand: int) -> int:
    """Return points a hand's team is sure of by its highest trumps."""
    tops = top_trumps(suits, hand, left)
    return int(popcount(int64(tops)) + count_of(suits, tops))
