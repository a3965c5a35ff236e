"""Sets of squares: lines, attacks of many men at once, and the bit operations under them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit, uint64

import chess_rulebook as book
from rookery.games.bits import highest_bit, reverse_bytes
from rookery.games.chess_board import attacked_by_them, between, diagonal_view, men_of, straight_view
from rookery.games.chess_fen import parse_fen

SETS = st.integers(0, 2**64 - 1)
SQUARES = st.integers(0, 63)


@njit(cache=False, nogil=True)
def compiled_highest(word):
    return highest_bit(uint64(word))


@njit(cache=False, nogil=True)
def compiled_reverse(word):
    return reverse_bytes(uint64(word))


@njit(cache=False, nogil=True)
def attacked(mine, low, middle, high):
    return attacked_by_them(men_of(mine, low, middle, high))


@given(word=st.integers(1, 2**64 - 1))
def test_compiled_bit_operations_agree_with_python(word):
    assert compiled_highest(np.uint64(word)) == highest_bit(word) == word.bit_length() - 1
    assert int(compiled_reverse(np.uint64(word))) == reverse_bytes(word)
    assert reverse_bytes(reverse_bytes(word)) == word


def slow_view(square: int, occupied: int, steps: list[tuple[int, int]]) -> int:
    """Walk from a square until a man stands in the way."""
    seen = 0
    for files, ranks in steps:
        at = book.step(square, files, ranks)
        while at is not None:
            seen |= 1 << at
            at = None if occupied >> at & 1 else book.step(at, files, ranks)
    return seen


@given(square=SQUARES, first=SETS, second=SETS)
def test_sliders_see_up_to_the_first_man(square, first, second):
    occupied = first & second  # a quarter of the squares
    assert int(diagonal_view(square, np.uint64(occupied))) == slow_view(square, occupied, book.BISHOP_STEPS)
    assert int(straight_view(square, np.uint64(occupied))) == slow_view(square, occupied, book.ROOK_STEPS)


@given(first=SQUARES, second=SQUARES)
def test_squares_between_two_others_lie_on_their_line(first, second):
    steps = [s for s in book.STEPS["q"] if first != second and slow_view(first, 0, [s]) >> second & 1]
    wanted = slow_view(first, 1 << second, steps) & ~(1 << second) if steps else 0
    assert int(between(first, second)) == wanted


@given(men=st.lists(st.tuples(SQUARES, st.sampled_from("pnbrqPNBRQ")), max_size=14), kings=st.permutations(range(64)))
def test_attacks_of_all_men_at_once_match_the_rule_book(men, kings):
    board = ["."] * 64
    counts: dict[str, int] = {}
    for square, man in men:
        counts[man] = counts.get(man, 0) + 1
        if counts[man] <= (2 if man not in "qQ" else 1) and 8 <= square < 56:
            board[square] = man
    board[kings[0]], board[kings[1]] = "K", "k"
    rows = "/".join("".join(board[8 * rank : 8 * rank + 8]) for rank in reversed(range(8)))
    read = parse_fen(rows.replace(".", "1") + " w - - 0 1", True)
    found = int(attacked(*(np.uint64(word) for word in read.words[:4])))
    board[kings[0]] = "."  # the king does not shield what lies behind him
    slow = book.Board(board, True)
    assert [square for square in range(64) if found >> square & 1] == [s for s in range(64) if slow.attacked(s, False)]
