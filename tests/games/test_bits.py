"""Bits in compiled code and in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from rookery.games.bits import lowest_bit, popcount


@njit
def compiled(word):
    return popcount(word), lowest_bit(word)


@given(st.integers(1, 2**64 - 1))
def test_words_are_counted_and_searched_alike_everywhere(word):
    expected = (bin(word).count("1"), len(bin(word)) - 1 - bin(word).rindex("1"))
    assert compiled(np.uint64(word)) == expected == (popcount(word), lowest_bit(word))
    small = word % 2**32 or 1
    assert compiled(np.uint32(small)) == (popcount(small), lowest_bit(small))
