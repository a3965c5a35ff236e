"""The lane functions inside a CUDA warp. Importing this module gives `rookery.search.lanes` its second meaning."""

from __future__ import annotations

from typing import Any

from numba import int32, int64, uint64
from numba.extending import overload

from rookery.search.cuda import cuda
from rookery.search.lanes import lane_argmax, lane_count, lane_max, lane_rank, lane_sum, lane_sync, lane_union

WIDTH = 32
ALL = 0xFFFFFFFF
LAST = 0x7FFFFFFF


@cuda.jit(device=True, cache=True)
def warp_sum(x: Any) -> Any:
    step = 16
    while step > 0:
        x += cuda.shfl_xor_sync(ALL, x, step)
        step >>= 1
    return x


@cuda.jit(device=True, cache=True)
def warp_max(x: Any) -> Any:
    step = 16
    while step > 0:
        x = max(x, cuda.shfl_xor_sync(ALL, x, step))
        step >>= 1
    return x


@cuda.jit(device=True, cache=True)
def warp_argmax(x: Any, index: Any) -> Any:
    lowest = index if x == warp_max(x) else int32(LAST)  # a choice between two numbers, no branch that parts the lanes
    step = 16
    while step > 0:
        lowest = min(lowest, cuda.shfl_xor_sync(ALL, lowest, step))
        step >>= 1
    return lowest


@cuda.jit(device=True, cache=True)
def warp_union(bits: Any) -> Any:
    word, step = int64(bits), 16  # lanes hand over words with a sign only
    while step > 0:
        word |= cuda.shfl_xor_sync(ALL, word, step)
        step >>= 1
    return uint64(word)


@cuda.jit(device=True, cache=True)
def warp_rank(flag: Any, lane: Any) -> Any:
    return cuda.popc(cuda.ballot_sync(ALL, flag) & ((1 << lane) - 1))


@cuda.jit(device=True, cache=True)
def warp_count(flag: Any) -> Any:
    return cuda.popc(cuda.ballot_sync(ALL, flag))


overload(lane_sync, target="cuda")(lambda: lambda: cuda.syncwarp())
overload(lane_sum, target="cuda")(lambda x: lambda x: warp_sum(x))
overload(lane_max, target="cuda")(lambda x: lambda x: warp_max(x))
overload(lane_argmax, target="cuda")(lambda x, index: lambda x, index: warp_argmax(x, index))
overload(lane_union, target="cuda")(lambda bits: lambda bits: warp_union(bits))
overload(lane_rank, target="cuda")(lambda flag, lane: lambda flag, lane: warp_rank(flag, lane))
overload(lane_count, target="cuda")(lambda flag: lambda flag: warp_count(flag))
