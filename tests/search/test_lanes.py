"""Lanes on a CPU: a single one, for which every function is the identity."""

from __future__ import annotations

from numba import njit, uint64

from rookery.search.lanes import lane_argmax, lane_count, lane_max, lane_rank, lane_sum, lane_sync, lane_union


@njit
def compiled(x, index, flag):
    lane_sync()
    return lane_sum(x), lane_max(x), lane_argmax(x, index), lane_rank(flag, 0), lane_count(flag)


@njit
def union(bits):
    return lane_union(uint64(bits))


def test_a_single_lane_agrees_with_itself_compiled_and_in_python():
    for flag in (True, False):
        expected = (2.5, 2.5, 7, 0, int(flag))
        assert compiled(2.5, 7, flag) == expected
        assert (lane_sum(2.5), lane_max(2.5), lane_argmax(2.5, 7), lane_rank(flag, 0), lane_count(flag)) == expected
    assert union(1 << 63) == lane_union(1 << 63) == 1 << 63
