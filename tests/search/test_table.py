"""The transposition table against its rule, told with dictionaries."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import BadInput
from rookery.search.evaluations import UNIT, WIN
from rookery.search.table import ENTRY, EXACT, Table, find, from_position, from_root, new_search, new_table, store


def small_table() -> Table:
    return Table(np.zeros(8, ENTRY), np.ones(1, np.uint8), np.zeros(3, np.int64))


def slow_store(pairs: dict[int, list[dict[str, int] | None]], age: int, key: int, depth: int, score: int) -> None:
    """The rule: the first of a pair keeps the deeper search of now, the second takes what is left."""
    new = {"key": key, "depth": depth, "score": score, "age": age}
    pair = pairs.setdefault(key & 6, [None, None])
    first = pair[0]
    if first is None or first["key"] == key:
        pair[1] = pair[1] if first is not None else None
        pair[0] = new
    elif first["age"] == age and first["depth"] > depth:
        pair[1] = new
    else:
        pair[:] = [new, first]


@pytest.mark.parametrize("seed", range(10))
def test_entries_are_kept_and_given_up_by_the_rule(seed):
    rng, table, pairs, age = np.random.default_rng(seed), small_table(), {}, 1
    for _ in range(300):
        key, depth, score = int(rng.integers(40)), int(rng.integers(6)), int(rng.integers(-UNIT, UNIT))
        store(table, np.uint64(key), score, 7, depth, EXACT)
        slow_store(pairs, age, key, depth, score)
        if rng.random() < 0.05:
            new_search(table)
            age += 1
        for asked in range(40):
            index = find(table, np.uint64(asked))
            held = next((entry for entry in pairs.get(asked & 6, []) if entry and entry["key"] == asked), None)
            assert (index >= 0) == (held is not None)
            if held:
                assert (table.entries[index]["depth"], table.entries[index]["score"]) == (held["depth"], held["score"])


def test_ages_begin_again_after_255_searches_and_are_never_0():
    table = small_table()
    ages = []
    for _ in range(600):
        new_search(table)
        ages.append(int(table.age[0]))
    assert set(ages) == set(range(1, 256))


def test_an_empty_table_knows_nothing_not_even_key_0():
    assert find(small_table(), np.uint64(0)) == -1


def test_a_win_is_as_far_from_the_position_wherever_that_is_met():
    stored = from_position(WIN - 9, 4)
    assert stored == WIN - 5
    assert from_root(stored, 6) == WIN - 11
    assert from_root(from_position(9 - WIN, 4), 6) == 11 - WIN
    for score in (-UNIT, -3, 0, UNIT):
        assert from_position(score, 4) == from_root(score, 4) == score


@pytest.mark.parametrize("megabytes", [1, 3, 64])
def test_a_table_fills_more_than_half_of_its_room(megabytes):
    size = new_table(megabytes).entries.nbytes
    assert megabytes * 500_000 < size <= megabytes * 1_000_000


def test_no_room_is_refused():
    for megabytes in (0, -1, 1.5, 10**9):
        with pytest.raises(BadInput, match=r"table_megabytes must be a whole number in 1..65536"):
            new_table(megabytes)
