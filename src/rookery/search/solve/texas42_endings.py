"""The last one or two tricks of a hand of Texas 42, tried out in nested loops.

Nearly half the positions of a search lie here, so it pays to spare them the table and the list of moves. Seats are
counted from the leader: places 0 and 2 are the leader's team. A place and the strength of its tile are kept together as
4 * strength + place; the highest wins.
"""

from __future__ import annotations

from numba import int64

from rookery.games.bits import lowest_bit
from rookery.search.inner import inner
from rookery.search.solve.texas42_bounds import points_left
from rookery.search.solve.texas42_suits import Suits

NOTHING, EVERYTHING = -1, 64  # below and above all points


@inner
def following(suits: Suits, hand: int, suit: int) -> int:
    """Return the tiles of a hand that may be played to a led suit."""
    able = int64(hand) & int64(suits.follow[suit])
    return int(able if able != 0 else int64(hand))


@inner
def one_trick(suits: Suits, first: int, second: int, third: int, fourth: int, leader: int) -> int:
    """Return the place that wins a trick of four tiles, given by places; `leader` leads it."""
    lead = first if leader == 0 else second if leader == 1 else third if leader == 2 else fourth
    suit = suits.leads[lead]
    best = 4 * int64(suits.strength[suit, first])
    best = max(best, 4 * int64(suits.strength[suit, second]) + 1)
    best = max(best, 4 * int64(suits.strength[suit, third]) + 2)
    return int(max(best, 4 * int64(suits.strength[suit, fourth]) + 3) & 3)


@inner
def last_trick(suits: Suits, own: int, second: int, third: int, fourth: int) -> int:
    """Return the points of the leader's team when each hand is one tile."""
    tiles = lowest_bit(int64(own)), lowest_bit(int64(second)), lowest_bit(int64(third)), lowest_bit(int64(fourth))
    won = one_trick(suits, tiles[0], tiles[1], tiles[2], tiles[3], 0) & 1 == 0
    return points_left(suits, own | second | third | fourth) if won else 0


@inner
def two_tricks(suits: Suits, own: int, second: int, third: int, fourth: int, wanted: int) -> int:
    """Bound the points of the leader's team when each hand is two tiles.

    The value is at least what is returned if that is `wanted` or more, else at most that.
    """
    all_points, value = points_left(suits, own | second | third | fourth), NOTHING
    leads = int64(own)
    while leads != 0 and value < wanted:
        a = lowest_bit(leads)
        leads &= leads - 1
        suit = suits.leads[a]
        seconds, least = int64(following(suits, second, suit)), EVERYTHING
        while seconds != 0 and least >= wanted:
            b = lowest_bit(seconds)
            seconds &= seconds - 1
            best = max(4 * int64(suits.strength[suit, a]), 4 * int64(suits.strength[suit, b]) + 1)
            points = 1 + int64(suits.count[a]) + int64(suits.count[b])
            after = lowest_bit(int64(own ^ (1 << a))), lowest_bit(int64(second ^ (1 << b)))
            thirds, most = int64(following(suits, third, suit)), NOTHING
            while thirds != 0 and most < wanted:
                c = lowest_bit(thirds)
                thirds &= thirds - 1
                found = fourth_plays(
                    suits, suit, max(best, 4 * int64(suits.strength[suit, c]) + 2), points + int64(suits.count[c]),
                    after[0], after[1], lowest_bit(int64(third ^ (1 << c))), fourth, all_points, wanted,
                )  # fmt: skip
                most = max(most, found)
            least = min(least, most)
        value = max(value, least)
    return int(value)


@inner
def fourth_plays(
    suits: Suits, suit: int, best: int, points: int, first: int, second: int, third: int, fourth: int,
    all_points: int, wanted: int,
) -> int:  # fmt: skip
    """Let the fourth hand play to the first of two tricks; the other hands hold one tile each by now."""
    rest, least = int64(following(suits, fourth, suit)), EVERYTHING
    while rest != 0 and least >= wanted:
        d = lowest_bit(rest)
        rest &= rest - 1
        taken = points + int64(suits.count[d])
        winner = max(best, 4 * int64(suits.strength[suit, d]) + 3) & 3
        value = taken if winner & 1 == 0 else 0
        if one_trick(suits, first, second, third, lowest_bit(int64(fourth ^ (1 << d))), winner) & 1 == 0:
            value += all_points - taken
        least = min(least, value)
    return int(least)
