"""Domineering on 16 x 16: what every move of a player gains, all moves at once.

A position is `free` [2, 4]: the free squares as each seat sees them, along its own lines, numbered as in
`games/domineering.py`: place j of line i is bit 16 * (i % 4) + j of word i // 4, lines being rows for Vertical and
columns for Horizontal. A move is the place of its first square, 16 * i + j; its second is place j of line i + 1. So
both seats read, play and judge alike, and 16 * i + j is also the action, counted from the seat's first.

A move takes up to three of one's own moves, itself among them, and up to four of the other's: those that use one of
its squares. The difference of moves left then changes by

    gain = other's moves taken - own moves taken, -3 to 3

All gains of a seat are computed together, by adding bits of a word in columns: `planes` has a row for each digit. So
the best move of one ply is found without trying any.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, lowest_bit, popcount

LINES = 16
PLACES = 240
"""moves of a seat on the empty board"""
HIGHEST = 3
"""gain of the best move there can be; the worst gains -3"""

OWN, OTHERS, GAIN, TAKEN, PLANES = 0, 1, 2, 5, 8
"""rows of `planes`: own moves, the other's, three digits of gain + 3, three of the other's moves taken; their number"""

NOT_LAST = uint64(0x7FFF7FFF7FFF7FFF)  # places of a line that have a right neighbour
ALL_FREE = uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def set_empty(free: np.ndarray) -> None:
    """Set up the empty board."""
    for seat in range(2):
        for word in range(4):
            free[seat, word] = ALL_FREE


@njit(cache=True, nogil=True)
def lay(free: np.ndarray, seat: int, place: int) -> None:
    """Cover the squares of a move in both views."""
    line, column, second = place >> 4, place & 15, place + LINES
    free[seat, place >> 6] &= ~(uint64(1) << uint64(place & 63))
    free[seat, second >> 6] &= ~(uint64(1) << uint64(second & 63))
    free[1 - seat, column >> 2] &= ~(uint64(3) << uint64(16 * (column & 3) + line))


@njit(cache=True, nogil=True)
def lift(free: np.ndarray, seat: int, place: int) -> None:
    """Free the squares of a move again."""
    line, column, second = place >> 4, place & 15, place + LINES
    free[seat, place >> 6] |= uint64(1) << uint64(place & 63)
    free[seat, second >> 6] |= uint64(1) << uint64(second & 63)
    free[1 - seat, column >> 2] |= uint64(3) << uint64(16 * (column & 3) + line)


@njit(cache=True, nogil=True)
def line_below(word: Word, following: Word) -> Word:
    """Return, at each place, what a word has one line further on."""
    return (word >> uint64(16)) | (following << uint64(48))


@njit(cache=True, nogil=True)
def survey(free: np.ndarray, seat: int, planes: np.ndarray) -> None:
    """Write the moves of both, and gains and takings of the seat's, into `planes` [PLANES, 4]."""
    for word in range(4):
        here = free[seat, word]
        following = free[seat, word + 1] if word < 3 else uint64(0)
        planes[OWN, word] = here & line_below(here, following)
        planes[OTHERS, word] = here & (here >> uint64(1)) & NOT_LAST
    for word in range(4):
        own, others = planes[OWN, word], planes[OTHERS, word]
        own_next = planes[OWN, word + 1] if word < 3 else uint64(0)
        others_next = planes[OTHERS, word + 1] if word < 3 else uint64(0)
        own_before = planes[OWN, word - 1] if word > 0 else uint64(0)
        others_below = line_below(others, others_next)
        # moves of the other that use the first square, then the second: 0 to 2 each, digit by digit
        first, first_carry = others ^ (others << uint64(1)), others & (others << uint64(1))
        second = others_below ^ (others_below << uint64(1))
        second_carry = others_below & (others_below << uint64(1))
        carry = first & second
        taken0 = first ^ second
        taken1 = first_carry ^ second_carry ^ carry
        taken2 = (first_carry & second_carry) | (carry & (first_carry | second_carry))
        # gain + 3 = taken + own moves kept, of the two that could be lost beside the one played
        kept_below = ~line_below(own, own_next)
        kept_above = ~((own << uint64(16)) | (own_before >> uint64(48)))
        kept, kept_carry = kept_below ^ kept_above, kept_below & kept_above
        carry = taken0 & kept
        planes[TAKEN, word], planes[TAKEN + 1, word], planes[TAKEN + 2, word] = taken0, taken1, taken2
        planes[GAIN, word] = taken0 ^ kept
        planes[GAIN + 1, word] = taken1 ^ kept_carry ^ carry
        planes[GAIN + 2, word] = taken2 ^ ((taken1 & kept_carry) | (carry & (taken1 | kept_carry)))


@njit(cache=True, nogil=True)
def count_plane(planes: np.ndarray, plane: int) -> int:
    """Count the ones of a plane."""
    count = 0
    for word in range(4):
        count += popcount(planes[plane, word])
    return count


@njit(cache=True, nogil=True)
def moves_with(planes: np.ndarray, digits: int, number: int, word: int) -> Word:
    """Return the moves in a word whose number at `digits` (GAIN or TAKEN) is the given one."""
    found = planes[OWN, word]
    for digit in range(3):
        plane = planes[digits + digit, word]
        found &= plane if (number >> digit) & 1 else ~plane
    return found


@njit(cache=True, nogil=True)
def can_end(planes: np.ndarray, others: int) -> bool:
    """Tell whether a move takes all of the other's moves, of which there are `others`, so that the mover wins."""
    if others > 4:
        return False
    for word in range(4):
        if moves_with(planes, TAKEN, others, word) != uint64(0):
            return True
    return False


@njit(cache=True, nogil=True)
def highest_gain(planes: np.ndarray) -> int:
    """Return the gain of the best move; -4 if there is none."""
    for gain in range(HIGHEST, -HIGHEST - 1, -1):
        for word in range(4):
            if moves_with(planes, GAIN, gain + HIGHEST, word) != uint64(0):
                return gain
    return -HIGHEST - 1


@njit(cache=True, nogil=True)
def nth_move(planes: np.ndarray, n: int) -> int:
    """Return the own move that has n own moves before it."""
    for word in range(4):
        left = planes[OWN, word]
        count = popcount(left)
        if n < count:
            for _ in range(n):
                left &= left - uint64(1)
            return 64 * word + lowest_bit(left)
        n -= count
    return -1
