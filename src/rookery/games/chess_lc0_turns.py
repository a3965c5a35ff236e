"""How canonical formats of Lc0's input turn a board, so that like positions look the same.

A turn is a set of bits, applied in this order: 1 flips files, 2 mirrors ranks, 4 reflects in the diagonal from a8 to
h1. A position with castling rights is not turned. Else the mover's king comes to the files e to h; without pawns also
to the ranks 1 to 4, and below the diagonal, where ties are broken by the men. The same bits turn moves:
`turned_actions` has the number of each move after each turn.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, lowest_bit, reverse_bytes
from rookery.games.chess_board import CASTLING_RANKS, NONE, ONE
from rookery.games.chess_lc0 import MOVES
from rookery.games.chess_moves import Words

FLIP, MIRROR, REFLECT = 1, 2, 4
PAIRS_MASK, FOURS_MASK = uint64(0x5555555555555555), uint64(0x3333333333333333)
EIGHTS_MASK = uint64(0x0F0F0F0F0F0F0F0F)


@njit(cache=True, nogil=True)
def flipped(word: Word) -> Word:
    """Exchange the files a and h, b and g, and so on."""
    word = ((word >> ONE) & PAIRS_MASK) | ((word & PAIRS_MASK) << ONE)
    word = ((word >> uint64(2)) & FOURS_MASK) | ((word & FOURS_MASK) << uint64(2))
    return ((word >> uint64(4)) & EIGHTS_MASK) | ((word & EIGHTS_MASK) << uint64(4))


@njit(cache=True, nogil=True)
def exchanged(word: Word, where: Word, distance: Word) -> Word:
    """Exchange the bits of a mask with those so far below them."""
    differ = where & (word ^ (word << distance))
    return word ^ differ ^ (differ >> distance)


@njit(cache=True, nogil=True)
def reflected(word: Word) -> Word:
    """Reflect in the diagonal from a8 to h1: exchange files and ranks, then turn the board by half."""
    word = exchanged(word, uint64(0x0F0F0F0F00000000), uint64(28))
    word = exchanged(word, uint64(0x3333000033330000), uint64(14))
    word = exchanged(word, uint64(0x5500550055005500), uint64(7))
    return reverse_bytes(flipped(word))


@njit(cache=True, nogil=True)
def turned_word(word: Word, turn: int) -> Word:
    """Turn a set of squares."""
    if turn & FLIP:
        word = flipped(word)
    if turn & MIRROR:
        word = reverse_bytes(word)
    if turn & REFLECT:
        word = reflected(word)
    return word


@njit(cache=True, nogil=True)
def canonical_turn(words: Words) -> int:
    """Choose how a position is turned, from its mover's point of view."""
    mine, low, middle, high, rights = words
    if rights & CASTLING_RANKS != NONE:
        return 0
    turn = 0
    kings = high & middle
    king = lowest_bit(kings & mine)
    if king & 7 < 4:
        turn |= FLIP
        king ^= 7
    if high & ~(low | middle) != NONE:  # pawns
        return turn
    if king >> 3 >= 4:
        turn |= MIRROR
        king ^= 56
    across = (king & 7) + (king >> 3)
    if across == 7:
        return turn | diagonal_turn(words, turn)
    return turn | REFLECT if across > 7 else turn


@njit(cache=True, nogil=True)
def diagonal_turn(words: Words, turn: int) -> int:
    """Choose whether to reflect where my king stands on the diagonal: the lesser of the first sets that differ."""
    mine, low, middle, high, _ = words
    straight = middle & ~high
    sets = (
        low | middle | high,
        mine,
        high & middle,
        low & straight,
        straight & ~low,
        high & low,
        low & ~middle & ~high,
    )
    for men in sets:
        seen = turned_word(men, turn)
        other = reflected(seen)
        if seen != other:
            return REFLECT if seen > other else 0
    return 0


def turned_square(square: int, turn: int) -> int:
    """Turn a square."""
    file, rank = square % 8, square // 8
    if turn & FLIP:
        file = 7 - file
    if turn & MIRROR:
        rank = 7 - rank
    if turn & REFLECT:
        file, rank = 7 - rank, 7 - file
    return file + 8 * rank


@cache
def turned_actions() -> np.ndarray:
    """Number each of the 1858 moves after each of the eight turns, [8, 1858]; -1 for promotions that cannot be turned
    so, since boards with pawns are only flipped."""
    number_of = {move: number for number, move in enumerate(MOVES)}
    squares = [[turned_square(square, turn) for square in range(64)] for turn in range(8)]
    table = [
        [number_of.get((turned[source], turned[target], kind), -1) for source, target, kind in MOVES]
        for turned in squares
    ]
    return np.array(table, np.int32)
