"""Records by address: neighbours, copies, and copies of a record's front."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from rookery.search.records import at, copy_front, copy_of, copy_record, word_bytes, words_of

EVEN = np.dtype([("name", np.uint8, (4,)), ("x", np.int32), ("more", np.uint64, (3,))], align=True)
ODD = np.dtype([("name", np.uint8, (3,)), ("more", np.uint8, (10,))])


def records(kind):
    """Three records of which no two bytes in a row are equal."""
    return (np.arange(3 * kind.itemsize) * 7 % 251).astype(np.uint8).view(kind)


@njit
def copied_by_lanes(target, source, words, width, whole):
    for lane in range(width):
        if whole:
            copy_record(target[1], source[2], lane, width)
        else:
            copy_front(target[1], source[2], words, lane, width)


@njit
def changed_after_copying(array):
    first = array[0]
    copy, same = copy_of(at(first, 2)), at(first, 2)
    same.name[0] += np.uint8(1)
    return copy.name[0], same.name[0]


@pytest.mark.parametrize("kind", [EVEN, ODD], ids=["even", "odd"])
def test_words_cover_what_is_asked_for_and_not_a_word_more(kind):
    size = word_bytes(kind.itemsize)
    for front in range(kind.itemsize + 1):
        assert 0 <= words_of(front, kind.itemsize) * size - front < size


@pytest.mark.parametrize("kind", [EVEN, ODD], ids=["even", "odd"])
@pytest.mark.parametrize("width", [1, 3])
def test_the_lanes_together_copy_the_front_of_a_record_and_nothing_else(kind, width):
    for words in range(words_of(kind.itemsize, kind.itemsize) + 1):
        for whole in (False, True):
            source, target = records(kind), np.zeros(3, kind)
            copied_by_lanes(target, source, words, width, whole)
            expected = np.zeros((3, kind.itemsize), np.uint8)
            front = kind.itemsize if whole else words * word_bytes(kind.itemsize)
            expected[1, :front] = source.view(np.uint8).reshape(3, -1)[2, :front]
            assert target.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", [EVEN, ODD], ids=["even", "odd"])
def test_a_copy_of_a_record_stays_as_it_was(kind):
    array = records(kind)
    before = array.copy()
    was, now = changed_after_copying(array)
    assert was == before[2]["name"][0]
    assert now == was + 1 == array[2]["name"][0]
    assert array[:2].tobytes() == before[:2].tobytes()
