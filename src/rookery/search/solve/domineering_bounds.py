"""Bounds for Domineering: positions decided by counting.

Each player sees the board as lines of places, one integer a line with a bit for each open place, and lays dominoes
over the same place of two neighbouring lines: lines are rows for Vertical and columns for Horizontal. The other's
dominoes cover two neighbouring places of one line. In what follows the owner of the lines counts what is certain for
him:

*Safe dominoes* lie on squares the other can never cover. They are as good as laid.

*Units* are disjoint dominoes of which one move of the other spoils at most one: no square of a unit lies beside
another's in its line. The owner and the other take turns, one taking a unit, the other spoiling one, so the owner
gets at least every second, the best first.

A unit is worth more if places beside it have no other neighbour: taken, it shuts the other out of them. If both lines
have such a place on one side, the owner even gets a safe domino there, a *protected area*; with one on both sides,
two of them.

The other's dominoes need two squares each, so he can lay at most half as many as there are squares left that he can
use: not those the owner's units cover or shut off, nor the odd one of a run of odd length that no unit touches.
Counting twice the owner's certain dominoes plus the squares they take from the other gives one number, a unit's
*weight*:

    weight = 2 * (dominoes won) + squares covered or shut off

and the owner, to move, wins if the weights he can be sure of exceed the squares the other can use.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit

from rookery.games.bits import popcount

EVEN = 0x5555555
WEIGHTS = np.array([12, 9, 8, 6, 5, 4, 3])  # of the kinds of units, best first
DOMINOES = np.array([3, 2, 2, 1, 1, 1, 1])  # won with each kind
KINDS = len(WEIGHTS)

# Counts share two words, so that adding up and taking differences are one operation each.
KIND_BITS, SAFE_AT = 7, 7 * KINDS  # first word: units of each kind, safe dominoes
CAPACITY_AT = 12  # second word: squares the other can use, dominoes he can lay
USABLE_MASK = (1 << CAPACITY_AT) - 1
TAKEN, NEAR, ABOVE, FIRST, SECOND, TRAIL = 0, 1, 2, 3, 4, 5  # entries of a trail


@njit(cache=True, nogil=True)
def alternate(line: int) -> int:
    """Return every second place of each run of ones, beginning with its lowest."""
    starts = line & ~(line << 1)
    even = line & ~(line + (starts & EVEN))  # the runs that begin at an even place: adding carries them away
    return (even & EVEN) | ((line ^ even) & ~EVEN)


@njit(cache=True, nogil=True)
def capacity(line: int) -> int:
    """Return how many dominoes fit into the runs of a line."""
    return popcount(line) - popcount(alternate(line))


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
def count_kinds(units: int, upper: int, lower: int, left: tuple[int, int], right: tuple[int, int]) -> int:
    """Count the units of two lines by kind, each kind in its bits of a word.

    upper, lower   the places of either line that the other can use
    left, right    for either line, the places whose left or right neighbour has no other neighbour
    """
    left_area, right_area = left[0] & left[1], right[0] & right[1]
    one_left, one_right = left[0] ^ left[1], right[0] ^ right[1]
    single = units & (left_area ^ right_area)
    with_one = single & (one_left | one_right)
    plain = units & ~(left_area | right_area)
    full, two, one = upper & lower, one_left & one_right, one_left ^ one_right
    return (
        popcount(units & left_area & right_area)
        + (popcount(with_one) << KIND_BITS)
        + (popcount(single & ~with_one) << 2 * KIND_BITS)
        + (popcount(plain & full & two) << 3 * KIND_BITS)
        + (popcount(plain & ((full & one) | (~full & two))) << 4 * KIND_BITS)
        + (popcount(plain & ((full & ~two & ~one) | (~full & one))) << 5 * KIND_BITS)
        + (popcount(plain & ~full & ~two & ~one) << 6 * KIND_BITS)
    )


@njit(cache=True, nogil=True)
def odd_ends(usable: int, touched: int) -> int:
    """Count the runs of odd length that contain none of the touched places."""
    ends = usable & ~(usable >> 1) & alternate(usable)
    hit = ((usable + (touched & usable)) & ~usable) >> 1  # a carry runs through to the end of a touched run
    return popcount(ends & ~hit)


@njit(cache=True, nogil=True)
def usable_in(line: int) -> int:
    """Return the places of a line that the other can cover."""
    pairs = line & (line >> 1)
    return pairs | (pairs << 1)


@njit(cache=True, nogil=True)
def survey_line(line: int, below: int, taken: int, near: int, above: int) -> tuple[int, int, int, int]:
    """Survey one line with the next: return safe dominoes and units there, and what they add to the two words.

    taken, near, above   places of this line that dominoes from the line above take, those beside units, units
    """
    usable, usable_below = usable_in(line), usable_in(below)
    own = line & below
    safe = own & ~taken & ~(usable | usable_below)
    candidates = own & ~taken & ~safe & ~near
    units, first = 0, popcount(safe) << SAFE_AT
    if candidates != 0:
        left = (usable & ~(usable << 1)) << 1, (usable_below & ~(usable_below << 1)) << 1
        right = (usable & ~(usable >> 1)) >> 1, (usable_below & ~(usable_below >> 1)) >> 1
        units = pick_units(candidates, left[0] & left[1], right[0] & right[1])
        first += count_kinds(units, usable, usable_below, left, right)
    second = popcount(usable) - odd_ends(usable, units | above) + (capacity(usable) << CAPACITY_AT)
    return safe, units, first, second


@njit(cache=True, nogil=True)
def survey(lines: np.ndarray, count: int, step: int, trail: np.ndarray) -> tuple[int, int]:
    """Count what is certain for the owner of the lines and what the other can use, as two words; leave a trail.

    lines  [count]             open places, surveyed from the first on with step 1, from the last on with step -1
    trail  [count + 1, TRAIL]  before each line: the masks that matter for what follows, and the words so far
    """
    first = second = taken = near = above = 0
    begin = 0 if step == 1 else count - 1
    line = int64(lines[begin])
    for i in range(count):
        trail[i, TAKEN], trail[i, NEAR], trail[i, ABOVE] = taken, near, above
        trail[i, FIRST], trail[i, SECOND] = first, second
        below = int64(lines[begin + step * (i + 1)]) if i + 1 < count else 0
        safe, above, more_first, more_second = survey_line(line, below, taken, near, above)
        first, second = first + more_first, second + more_second
        taken, near, line = safe | above, (above << 1) | (above >> 1), below
    trail[count, FIRST], trail[count, SECOND] = first, second
    return first, second


@njit(cache=True, nogil=True)
def survey_again(lines: np.ndarray, count: int, changed: int, last: int, trail: np.ndarray) -> tuple[int, int]:
    """Survey lines that differ from those of a trail only from `changed` to `last`, with the same result as `survey`.

    Begins just before the first change, and ends after the last as soon as what matters is the same again.
    """
    begin = max(changed - 1, 0)
    taken, near, above = trail[begin, TAKEN], trail[begin, NEAR], trail[begin, ABOVE]
    first, second = trail[begin, FIRST], trail[begin, SECOND]
    line = int64(lines[begin])
    for i in range(begin, count):
        if i > last and taken == trail[i, TAKEN] and near == trail[i, NEAR] and above == trail[i, ABOVE]:
            return first + trail[count, FIRST] - trail[i, FIRST], second + trail[count, SECOND] - trail[i, SECOND]
        below = int64(lines[i + 1]) if i + 1 < count else 0
        safe, above, more_first, more_second = survey_line(line, below, taken, near, above)
        first, second = first + more_first, second + more_second
        taken, near, line = safe | above, (above << 1) | (above >> 1), below
    return first, second


@njit(cache=True, nogil=True)
def safe_dominoes(first: int) -> int:
    """Read the safe dominoes from a survey's first word."""
    return first >> SAFE_AT


@njit(cache=True, nogil=True)
def other_capacity(second: int) -> int:
    """Read from a survey's second word how many dominoes the other could lay if he were alone."""
    return second >> CAPACITY_AT


@njit(cache=True, nogil=True)
def margin(first: int, second: int, to_move: int) -> int:
    """Return what the owner of surveyed lines is ahead, in half dominoes; `to_move` is 1 if he is, else 0.

    With n free moves more than the other, he wins if margin + 2 * n is above 0; if the other is to move, above -2.
    """
    weight = dominoes = 0
    turn, safe = to_move, safe_dominoes(first)
    for kind in range(KINDS):
        units = (first >> (KIND_BITS * kind)) & ((1 << KIND_BITS) - 1)
        got = (units + turn) >> 1
        weight += WEIGHTS[kind] * got
        dominoes += DOMINOES[kind] * got
        turn = (turn + units) & 1
    return int(max(2 * safe + weight - (second & USABLE_MASK), 2 * (safe + dominoes - other_capacity(second))))
