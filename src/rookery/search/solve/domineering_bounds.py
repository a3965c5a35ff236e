"""Bounds for Domineering: positions decided by counting.

Each player sees the board as lines of places, one integer a line with a bit for each open place, and lays dominoes over the
same place of two neighbouring lines: lines are rows for Vertical and columns for Horizontal. The other's dominoes cover two
neighbouring places of one line. In what follows the owner of the lines counts what is certain for him:

*Safe dominoes* lie on squares the other can never cover. They are as good as laid.

*Units* are disjoint dominoes of which one move of the other spoils at most one: no square of a unit lies beside
another's in its line. The owner and the other take turns, one taking a unit, the other spoiling one, so the owner gets at
least every second, the best first.

A unit is worth more if places beside it have no other neighbour: taken, it shuts the other out of them. If
both lines have such a place on one side, the owner even gets a safe domino there, a *protected area*; with one on both sides,
two of them.

The other's dominoes need two squares each, so he can lay at most half as many as there are squares left that he can use:
not those the owner's units cover or shut off, nor the odd one of a run of odd length that no unit touches. Counting twice the
owner's certain dominoes plus the squares they take from the other gives one number, a unit's *weight*:

    weight = 2 * (dominoes won) + squares covered or shut off

and the owner, to move, wins if the weights he can be sure of exceed the squares the other can use.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rookery.games.bits import popcount

EVEN = 0x5555555
WEIGHTS = np.array([12, 9, 8, 6, 5, 4, 3])  # of the kinds of units, best first
DOMINOES = np.array([3, 2, 2, 1, 1, 1, 1])  # won with each kind
KINDS = len(WEIGHTS)
SAFE, USABLE, CAPACITY, OWN, OTHER, COUNTS = KINDS, KINDS + 1, KINDS + 2, KINDS + 3, KINDS + 4, KINDS + 5


@njit(cache=True, nogil=True)
def alternate(line: int) -> int:
    """Return every second place of each run of ones, beginning with its lowest."""
    starts = line & ~(line << 1)
    even = line & ~(line + (starts & EVEN))  # the runs that begin at an even place: adding carries them away
    return (even & EVEN) | ((line ^ even) & ~EVEN)


@njit(cache=True, nogil=True)
def beside(places: int) -> int:
    """Return some places and their neighbours in the line."""
    return places | (places << 1) | (places >> 1)


@njit(cache=True, nogil=True)
def pick_units(open_pairs: int, left: int, right: int) -> int:
    """Choose dominoes of two lines that are not neighbours, those with protected areas first."""
    picked = alternate(open_pairs & left & right)
    rest = open_pairs & ~beside(picked)
    areas = alternate(rest & (left | right))
    rest &= ~beside(areas)
    return picked | areas | alternate(rest)


@njit(cache=True, nogil=True)
def count_kinds(units: int, upper: int, lower: int, left: tuple[int, int], right: tuple[int, int], out: np.ndarray) -> None:
    """Add the units of two lines to the counts of their kinds.

    upper, lower   the places of either line that the other can use
    left, right    for either line, the places whose left or right neighbour has no other neighbour
    """
    left_area, right_area = left[0] & left[1], right[0] & right[1]
    one_left, one_right = left[0] ^ left[1], right[0] ^ right[1]
    single = units & (left_area ^ right_area)
    with_one = single & (one_left | one_right)
    out[0] += popcount(units & left_area & right_area)
    out[1] += popcount(with_one)
    out[2] += popcount(single & ~with_one)
    plain = units & ~(left_area | right_area)
    full, two, one = upper & lower, one_left & one_right, one_left ^ one_right
    out[3] += popcount(plain & full & two)
    out[4] += popcount(plain & ((full & one) | (~full & two)))
    out[5] += popcount(plain & ((full & ~two & ~one) | (~full & one)))
    out[6] += popcount(plain & ~full & ~two & ~one)


@njit(cache=True, nogil=True)
def odd_ends(usable: int, touched: int) -> int:
    """Count the runs of odd length that contain none of the touched places."""
    ends = usable & ~(usable >> 1) & alternate(usable)
    hit = ((usable + (touched & usable)) & ~usable) >> 1  # a carry runs through to the end of a touched run
    return popcount(ends & ~hit)


@njit(cache=True, nogil=True)
def survey(lines: np.ndarray, count: int, out: np.ndarray) -> None:
    """Count what is certain for the owner of the lines and what the other can use.

    lines  [count + 1]  open places, the line after the last one empty
    out    [COUNTS]     units of each kind; safe dominoes; squares the other can use; the most dominoes he could lay if the
                        owner passed; possible moves of the owner and of the other
    """
    out[:] = 0
    taken, near, units_above = 0, 0, 0
    line = np.int64(lines[0])
    pairs = line & (line >> 1)
    usable = pairs | (pairs << 1)
    for i in range(count):
        below = np.int64(lines[i + 1])
        pairs_below = below & (below >> 1)
        usable_below = pairs_below | (pairs_below << 1)
        own = line & below
        out[OWN] += popcount(own)
        out[OTHER] += popcount(pairs)
        own &= ~taken
        safe = own & ~(usable | usable_below)
        out[SAFE] += popcount(safe)
        units, own = 0, own & ~safe & ~near
        if own != 0:
            left = (usable & ~(usable << 1)) << 1, (usable_below & ~(usable_below << 1)) << 1
            right = (usable & ~(usable >> 1)) >> 1, (usable_below & ~(usable_below >> 1)) >> 1
            units = pick_units(own, left[0] & left[1], right[0] & right[1])
            count_kinds(units, usable, usable_below, left, right, out)
        squares = popcount(usable)
        out[CAPACITY] += squares - popcount(alternate(usable))
        out[USABLE] += squares - odd_ends(usable, units | units_above)
        taken, near, units_above = safe | units, (units << 1) | (units >> 1), units
        line, pairs, usable = below, pairs_below, usable_below


@njit(cache=True, nogil=True)
def margin(counts: np.ndarray, first: int) -> int:
    """Return what the owner of surveyed lines is ahead, in half dominoes; `first` is 1 if he is to move, else 0.

    With n free moves more than the other, he wins if margin + 2 * n is above 0; if the other is to move, above -2.
    """
    weight = dominoes = 0
    turn = first
    for kind in range(KINDS):
        got = (counts[kind] + turn) >> 1
        weight += WEIGHTS[kind] * got
        dominoes += DOMINOES[kind] * got
        turn = (turn + counts[kind]) & 1
    safe = counts[SAFE]
    return int(max(2 * safe + weight - counts[USABLE], 2 * (safe + dominoes - counts[CAPACITY])))
