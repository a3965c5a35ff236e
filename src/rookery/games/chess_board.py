"""The chess board as sets of squares: who attacks what, who gives check, who is pinned.

Everything is seen by the player to move, as Lc0 does: square = file + 8 * rank with a1 = 0, and where Black moves the
board is turned upside down (ranks only), so that "my" pawns always go up. A set of squares is the bits of a word.

A position is five words. Three hold the kind of the man on each square as a number of three bits, one bit a word:

    1 bishop  2 rook  3 queen  4 pawn  5 knight  6 king     (0 empty)

so that low & ~high are the diagonal sliders and middle & ~high the straight ones. MINE marks my men. RIGHTS has
a bit on each rook that may still castle (rank 1 mine, rank 8 theirs) and, on rank 6, the en passant marker: the square
behind a pawn that has just gone two squares, set if a pawn of mine stands beside it, whether it may capture or not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, highest_bit, lowest_bit, popcount, reverse_bytes

WORDS = 5
MINE, LOW, MIDDLE, HIGH, RIGHTS = range(WORDS)
BISHOP, ROOK, QUEEN, PAWN, KNIGHT, KING = range(1, 7)

FIRST_RANK = uint64(0xFF)
LAST_RANK = uint64(0xFF << 56)
SEVENTH_RANK = uint64(0xFF << 48)
MARKER_RANK = uint64(0xFF << 40)
CASTLING_RANKS = uint64(0xFF | 0xFF << 56)
NOT_A = uint64(0xFEFEFEFEFEFEFEFE)
NOT_H = uint64(0x7F7F7F7F7F7F7F7F)
NOT_AB = uint64(0xFCFCFCFCFCFCFCFC)
NOT_GH = uint64(0x3F3F3F3F3F3F3F3F)
LIGHT = uint64(0x55AA55AA55AA55AA)
NONE = uint64(0)
ONE = uint64(1)
ALL = uint64(0xFFFFFFFFFFFFFFFF)

KNIGHT_STEPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
LINE_STEPS = [(1, 0), (0, 1), (1, 1), (-1, 1)]  # along a rank, a file and both diagonals


def squares_from(square: int, steps: list[tuple[int, int]], most: int) -> list[int]:
    """List the squares reached by up to `most` equal steps (file, rank) from a square, without it."""
    file, rank = square % 8, square // 8
    found = [(file + f * n, rank + r * n) for f, r in steps for n in range(1, most + 1)]
    return [f + 8 * r for f, r in found if 0 <= f < 8 and 0 <= r < 8]


def mask_of(squares: list[int]) -> int:
    """Return the set of some squares as a word."""
    return sum(1 << square for square in set(squares))


def both_ways(steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Add the opposite of each step."""
    return steps + [(-f, -r) for f, r in steps]


LINES = np.array(
    [[mask_of(squares_from(s, both_ways([step]), 7)) for s in range(64)] for step in LINE_STEPS], np.uint64
)
KNIGHT_TARGETS = np.array([mask_of(squares_from(s, KNIGHT_STEPS, 1)) for s in range(64)], np.uint64)
KING_TARGETS = np.array([mask_of(squares_from(s, both_ways(LINE_STEPS), 1)) for s in range(64)], np.uint64)


class Men(NamedTuple):
    """The men of a position: whose they are, and the kinds of both sides together."""

    mine: Word
    theirs: Word
    pawns: Word
    knights: Word
    diagonal: Word
    """bishops and queens"""
    straight: Word
    """rooks and queens"""
    kings: Word


@njit(cache=True, nogil=True)
def men_of(mine: Word, low: Word, middle: Word, high: Word) -> Men:
    """Sort the men of a position's words by kind."""
    occupied = low | middle | high
    return Men(
        mine,
        occupied ^ mine,
        high & ~(low | middle),
        high & low,
        low & ~high,
        middle & ~high,
        high & middle,
    )


@njit(cache=True, nogil=True)
def turned(men: Men) -> Men:
    """Return the men as the other player sees them."""
    return Men(
        reverse_bytes(men.theirs),
        reverse_bytes(men.mine),
        reverse_bytes(men.pawns),
        reverse_bytes(men.knights),
        reverse_bytes(men.diagonal),
        reverse_bytes(men.straight),
        reverse_bytes(men.kings),
    )


@njit(cache=True, nogil=True)
def bit(square: int) -> Word:
    """Return the set of one square."""
    return ONE << uint64(square)


# ---- lines ---------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def along(line: Word, square: int, occupied: Word) -> Word:
    """Return what a slider on a square sees along a line through it, up to and with the first man each way.

    Squares of a line are met in the order of their numbers, so the nearest man below is the highest bit below,
    and the difference of the two neighbours' bits fills all between them.
    """
    below = bit(square) - ONE
    men = line & occupied
    under = ONE << uint64(highest_bit((men & below) | ONE))
    above = men & ~below
    return line & (((above & (~above + ONE)) << ONE) - under)


@njit(cache=True, nogil=True)
def diagonal_view(square: int, occupied: Word) -> Word:
    """Return what a bishop on a square sees."""
    return along(LINES[2, square], square, occupied) | along(LINES[3, square], square, occupied)


@njit(cache=True, nogil=True)
def straight_view(square: int, occupied: Word) -> Word:
    """Return what a rook on a square sees."""
    return along(LINES[0, square], square, occupied) | along(LINES[1, square], square, occupied)


@njit(cache=True, nogil=True)
def line_with(first: int, second: int) -> Word:
    """Return the line through two squares, without the first; none if there is no such line."""
    target = bit(second)
    for direction in range(4):
        line = LINES[direction, first]
        if line & target != NONE:
            return line
    return NONE


@njit(cache=True, nogil=True)
def between(first: int, second: int) -> Word:
    """Return the squares strictly between two squares of a line; none if they share no line."""
    low, high = min(first, second), max(first, second)
    return line_with(first, second) & (bit(high) - ONE) & ~((bit(low) << ONE) - ONE)


@njit(cache=True, nogil=True)
def span(first: int, second: int) -> Word:
    """Return the squares of a rank from one square to another, both included."""
    return (bit(max(first, second)) << ONE) - bit(min(first, second))


# ---- attacks of many men at once -----------------------------------------------------------------


@njit(cache=True, nogil=True)
def filled_up(sliders: Word, free: Word, step: int, inside: Word) -> Word:
    """Return what sliders attack in one direction of growing numbers; `inside` keeps them from wrapping round."""
    one, two, four = uint64(step), uint64(2 * step), uint64(4 * step)
    free &= inside
    sliders |= free & (sliders << one)
    free &= free << one
    sliders |= free & (sliders << two)
    free &= free << two
    sliders |= free & (sliders << four)
    return (sliders << one) & inside


@njit(cache=True, nogil=True)
def filled_down(sliders: Word, free: Word, step: int, inside: Word) -> Word:
    """Return what sliders attack in one direction of falling numbers."""
    one, two, four = uint64(step), uint64(2 * step), uint64(4 * step)
    free &= inside
    sliders |= free & (sliders >> one)
    free &= free >> one
    sliders |= free & (sliders >> two)
    free &= free >> two
    sliders |= free & (sliders >> four)
    return (sliders >> one) & inside


@njit(cache=True, nogil=True)
def knight_jumps(knights: Word) -> Word:
    """Return what knights attack."""
    near = ((knights >> ONE) & NOT_H) | ((knights << ONE) & NOT_A)
    far = ((knights >> uint64(2)) & NOT_GH) | ((knights << uint64(2)) & NOT_AB)
    return (near << uint64(16)) | (near >> uint64(16)) | (far << uint64(8)) | (far >> uint64(8))


@njit(cache=True, nogil=True)
def attacked_by_them(men: Men) -> Word:
    """Return the squares where my king would be in check; he does not shield those behind himself."""
    pawns, king = men.pawns & men.theirs, men.kings & men.theirs
    free = ~(men.theirs | (men.mine & ~men.kings))
    attacked = ((pawns >> uint64(7)) & NOT_A) | ((pawns >> uint64(9)) & NOT_H)
    attacked |= knight_jumps(men.knights & men.theirs) | KING_TARGETS[lowest_bit(king)]
    straight, diagonal = men.straight & men.theirs, men.diagonal & men.theirs
    attacked |= filled_up(straight, free, 8, ALL) | filled_down(straight, free, 8, ALL)
    attacked |= filled_up(straight, free, 1, NOT_A) | filled_down(straight, free, 1, NOT_H)
    attacked |= filled_up(diagonal, free, 9, NOT_A) | filled_down(diagonal, free, 9, NOT_H)
    attacked |= filled_up(diagonal, free, 7, NOT_H) | filled_down(diagonal, free, 7, NOT_A)
    return attacked


# ---- checks and pins -----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def near_attackers(men: Men, square: int) -> Word:
    """Return their pawns and knights that attack a square."""
    spot = bit(square)
    pawns = ((spot << uint64(9)) & NOT_A) | ((spot << uint64(7)) & NOT_H)
    return ((KNIGHT_TARGETS[square] & men.knights) | (pawns & men.pawns)) & men.theirs


@njit(cache=True, nogil=True)
def attackers(men: Men, square: int, occupied: Word) -> Word:
    """Return their men other than the king that attack a square."""
    far = (diagonal_view(square, occupied) & men.diagonal) | (straight_view(square, occupied) & men.straight)
    return near_attackers(men, square) | (far & men.theirs)


@njit(cache=True, nogil=True)
def checks_and_pins(men: Men) -> tuple[Word, Word]:
    """Return their men that give check, and my men that may not leave the line to my king."""
    king = lowest_bit(men.kings & men.mine)
    checkers, pinned = near_attackers(men, king), NONE
    far = diagonal_view(king, men.theirs) & men.diagonal
    far = (far | (straight_view(king, men.theirs) & men.straight)) & men.theirs
    while far != NONE:
        shields = between(king, lowest_bit(far)) & men.mine
        if shields == NONE:
            checkers |= far & (~far + ONE)
        elif shields & (shields - ONE) == NONE:
            pinned |= shields
        far &= far - ONE
    return checkers, pinned


@njit(cache=True, nogil=True)
def too_few_men(men: Men) -> bool:
    """Tell whether nobody can mate: bare kings, one minor piece, or bishops on squares of one colour only."""
    if men.pawns | men.straight != NONE:
        return False
    if popcount(men.mine | men.theirs) <= 3:
        return True
    light = men.diagonal & LIGHT
    return bool(men.knights == NONE and (light == NONE or light == men.diagonal))
