"""Random playouts that judge the leaves of a tree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32, int32, int64

from rookery.games.rng import number
from rookery.games.rules import State, legal, mover, over, payoff, play
from rookery.search.inner import inner
from rookery.search.records import at, copy_front
from rookery.search.tree_arrays import STUCK, Tree
from rookery.search.tree_root import PLAYOUT, tree_key


@inner
def play_out(state: State, moves: np.ndarray, key: Any, counter: int, seat: int) -> float:
    """Play to the end with random moves, with the numbers of a key from `counter` on; return a seat's result.

    A game that cannot go on has none: not a number is returned.
    """
    while not over(state):
        count = legal(state, moves)
        if count == 0:
            return np.nan
        high = number(key, counter) >> np.uint64(32)
        play(state, int(moves[int((high * np.uint64(count)) >> np.uint64(32))]))
        counter += 1
    return payoff(state, seat)


@inner
def judge_by_playouts(t: Tree, playouts: int, longest: int, scratch: State, moves: Any, stop: Any) -> bool:
    """Write the mean result of random playouts from each leaf under way, for its mover.

    False if told to stop before all were judged; the root is judged all the same, by one playout if need be.
    """
    key, known = tree_key(t, PLAYOUT), at(t.nodes, 0).count > 0
    for row in range(t.tree.gathered):
        if at(t.slots, row).over:
            continue
        seat, total, played = mover(at(t.leaves, row)), 0.0, 0
        simulation = int64(t.tree.made) + row + (1 if known else 0)  # the root comes before the first
        while played < playouts and not (stop[0] and (known or played > 0)):
            copy_front(scratch, at(t.leaves, row), t.options.state_words, 0, 1)
            total += play_out(scratch, moves, key, (simulation * playouts + played) * (longest + 1), seat)
            played += 1
        if known and played < playouts:
            return False
        if math.isnan(total):
            t.tree.status = int32(STUCK)
        at(t.values, row).x = float32(total / max(1, played))
    return True
