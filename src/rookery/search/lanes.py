"""Lanes: one on a CPU thread, thirty-two in a CUDA warp.

Search code is written for `width` lanes that work on one game together: a loop over moves starts at `lane` and goes
in steps of `width`, and the lanes agree through the functions below. On a CPU there is a single lane, and each
function is the identity or nothing at all. `rookery.search.warps` gives them their meaning inside a warp; CUDA kernels
import it.

All lanes of a game call these functions together, never under a condition that holds for some of them only. A state is
changed by lane 0 alone, between two calls of `lane_sync`.
"""

from __future__ import annotations

from typing import Any, TypeVar

from numba import njit
from numba.extending import overload

from rookery.games.rules import State, is_legal

Number = TypeVar("Number")


def lane_sync() -> None:
    """Wait for the other lanes of this game."""


def lane_sum(x: Number) -> Number:
    """Sum `x` over the lanes; every lane gets the same sum."""
    return x


def lane_max(x: Number) -> Number:
    """Return the largest `x` of all lanes."""
    return x


def lane_argmax(x: Any, index: int) -> int:
    """Return the `index` of the lane with the largest `x`; the lowest index on a tie, as on a single lane."""
    return index


def lane_union(bits: Number) -> Number:
    """Return the bits of a 64-bit word that any lane has; every lane gets the same."""
    return bits


def lane_rank(flag: bool, lane: int) -> int:
    """Count the lower lanes whose `flag` is true."""
    return 0


def lane_count(flag: bool) -> int:
    """Count the lanes whose `flag` is true."""
    return 1 if flag else 0


overload(lane_sync)(lambda: lambda: None)
overload(lane_sum)(lambda x: lambda x: x)
overload(lane_max)(lambda x: lambda x: x)
overload(lane_argmax)(lambda x, index: lambda x, index: index)
overload(lane_union)(lambda bits: lambda bits: bits)
overload(lane_rank)(lambda flag, lane: lambda flag, lane: 0)
overload(lane_count)(lambda flag: lambda flag: 1 if flag else 0)


@njit(cache=True, nogil=True)
def lanes_legal(state: State, actions: int, out: Any, lane: int, width: int) -> int:
    """Write the legal actions in increasing order into `out`, the lanes asking `is_legal` side by side."""
    total = 0
    for base in range(0, actions, width):
        action = base + lane
        allowed = action < actions and is_legal(state, action)
        rank = lane_rank(allowed, lane)  # asked by every lane: a lane that stays away is waited for in vain
        if allowed:
            out[total + rank] = action
        total += lane_count(allowed)
    lane_sync()
    return total
