"""The baseline player of Gomoku in many positions at once, as `gomoku_baseline` plays in each by itself.

actions = baseline_moves(game, states, depth=2, threads=16)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rookery.errors import BadInput
from rookery.games.gomoku import Gomoku
from rookery.games.options import whole_number
from rookery.games.rng import number
from rookery.search.gomoku_baseline import DEEPEST, ENTRY, FRAME, begin
from rookery.search.gomoku_groups import BOARD
from rookery.search.gomoku_guided import SEARCHES, best_move
from rookery.search.gomoku_lines import empty_record, new_record
from rookery.search.threads import new_stop, on_threads

SLICE = 32
"""positions that a thread takes at a time"""


@njit(cache=True, nogil=True)
def reply_to_all(
    states: Any, depth: int, boards: np.ndarray, empty: np.ndarray, frames: np.ndarray, table: np.ndarray, stop: Any,
    out: Any,
) -> None:  # fmt: skip
    """Write the player's move in every position; `stop` [1] is looked at before each."""
    place = np.zeros(3, np.int64)
    for row in range(states.shape[0]):
        if stop[0]:
            return
        state, points = states[row], states[row].size * states[row].size
        if state.left == points:
            out[row] = (state.size - 1) // 2 * (state.size + 1)
            continue
        boards[0] = empty[0]
        begin(boards[0], state, frames)
        boards[0].key ^= number(SEARCHES, row)  # depths left differ, so entries of the table must not be shared
        place[:] = 0
        out[row] = best_move(boards[0], frames, place, table, (depth, int(state.colour), int(state.left)))[0]


def baseline_moves(game: Gomoku, states: np.ndarray, depth: int, threads: int = 1) -> np.ndarray:
    """Return the baseline player's move in each of N positions [N] that go on, behind any opening: [N] int32."""
    if game.rule != "freestyle" or game.opening != "none":
        raise BadInput(f"baseline plays many positions of gomoku with rule=freestyle and no opening, not {game.spec}")
    whole_number("depth of baseline", depth, 1, DEEPEST)
    out, stop = np.empty(len(states), np.int32), new_stop()

    def some(first: int) -> None:
        part = slice(first, first + SLICE)
        memory = new_record(BOARD, game.size), empty_record(BOARD, game.size), np.zeros(depth + 1, FRAME)
        table = np.zeros(1 << min(max(2 * depth + 3, 8), 22), ENTRY)
        reply_to_all(states[part], depth, *memory, table, stop, out[part])

    on_threads(some, range(0, len(states), SLICE), threads, stop)
    return out
