"""Arrays whose users are not counted: the same arrays, still owned by whoever handed them in."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from rookery.search.borrowed import borrowed


class Inside(NamedTuple):
    cells: np.ndarray
    weight: int


class Outside(NamedTuple):
    rows: np.ndarray
    inside: Inside
    pair: tuple[np.ndarray, np.ndarray]


@njit
def tripled(held):
    """Write to every array of a tuple, and to its weight's place."""
    held = borrowed(held)
    for _ in range(3):
        for i in range(held.rows.shape[0]):
            held.rows[i, 0] += held.inside.weight
            held.inside.cells[i] += 1
            held.pair[1][i] += held.pair[0][i]
    return held.inside.weight


def test_all_arrays_of_a_tuple_can_be_used_and_keep_their_owners():
    arrays = [np.zeros((4, 2)), np.zeros(4, np.int32), np.arange(4.0), np.zeros(4)]
    held = Outside(arrays[0], Inside(arrays[1], 7), (arrays[2], arrays[3]))
    tripled(held)
    users = [sys.getrefcount(array) for array in arrays]
    for _ in range(50):
        assert tripled(held) == 7
    assert [sys.getrefcount(array) for array in arrays] == users
    assert arrays[0].tolist() == [[51 * 21, 0]] * 4
    assert arrays[1].tolist() == [51 * 3] * 4
    assert arrays[3].tolist() == [51 * 3 * i for i in range(4)]


@njit
def counted(one, other, times):
    held = one
    for i in range(times):
        held = one if held[0] < held[1] else other
        held[i % 2] += 1


@njit
def not_counted(one, other, times):
    one, other = borrowed(one), borrowed(other)
    held = one
    for i in range(times):
        held = one if held[0] < held[1] else other
        held[i % 2] += 1


def test_what_is_borrowed_is_not_counted():
    found = []
    for function in (counted, not_counted):
        function(np.zeros(2), np.zeros(2), 3)
        found.append("".join(function.inspect_llvm().values()).count("call void @NRT_incref"))
    assert found[0] > found[1] == 0


@njit
def a_number(x):
    return borrowed(x)


def test_only_arrays_and_tuples_are_borrowed():
    with pytest.raises(TypingError):
        a_number(3)
