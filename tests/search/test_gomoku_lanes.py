"""Several lanes find the wins by fours that one lane finds: what a card does, watched without a card."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.search.gomoku_fours import TABLE_BITS, first_move, first_moves
from rookery.search.gomoku_lines import empty_record
from rookery.search.gomoku_vcf import NODES, PATH, THREATS, longest_path
from rookery.search.threads import new_stop
from search.several_lanes import Record, Warp
from search.test_gomoku_vcf import hard_position, random_fight

LANES = 5
NODES_AT_MOST = 30


class Records:
    """An array of records, each by its place."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, place):
        return Record(self.array, int(place))


class Memory:
    """What a search writes to."""

    def __init__(self, size):
        self.threats, self.place = np.zeros(1, THREATS), np.zeros(4, np.int64)
        self.path = np.zeros(longest_path(size * size, NODES_AT_MOST), PATH)
        self.failed = np.zeros(1 << TABLE_BITS, np.uint64)

    def found_by_one(self, board, observation):
        found = np.empty(1, np.int32)
        memory = self.threats[0], self.path, self.place, self.failed
        first_moves(board[0], *memory, observation[None], NODES_AT_MOST, new_stop(), found)
        return found[0]

    def found_by(self, warp, board, observation):
        search, found, stop = warp.plain(first_move), np.zeros(warp.width, np.int32), new_stop()
        memory = Record(self.threats, 0), Records(self.path), self.place, self.failed

        def work(lane):
            found[lane] = search(
                Record(board, 0), *memory, observation, NODES_AT_MOST, stop, np.int64(lane), warp.width
            )

        warp.run(work)
        assert (found == found[0]).all()
        return found[0]


def positions():
    """Yield positions of two sizes in which it takes some nodes to tell, and some in which it takes none."""
    rng = np.random.default_rng(3)
    yield hard_position()
    for k in range(80):
        yield random_fight(rng, 9, 20 + k // 2)


@pytest.mark.parametrize("last_first", [False, True])
def test_several_lanes_find_what_one_finds_and_leave_the_same_behind(last_first):
    warp, nodes, won = Warp(LANES, last_first), [], 0
    for position in positions():
        size = position.game.size
        board, observation = empty_record((), size), position.observe("planes").ravel()
        one, several = Memory(size), Memory(size)
        move = one.found_by_one(board, observation)
        assert several.found_by(warp, board, observation) == move
        for name, array in vars(one).items():
            assert (array == vars(several)[name]).all(), (name, position.text())
        nodes.append(int(one.place[NODES]))
        won += move >= 0
    assert max(nodes) == NODES_AT_MOST
    assert 3 < won < len(nodes) - 3
    assert sum(count > 2 for count in nodes) > 5
