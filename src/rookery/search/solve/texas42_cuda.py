"""Texas 42 solved on a card: the solver's own source, one position to a thread.

Searches of different positions have little in common, so the threads of a warp wait for each other most of the time;
what is gained comes from there being so many. Each thread has a small table of its own. Values are those of
`rookery.search.solve.texas42`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.games.texas42_tiles import HAND
from rookery.search.cuda import cuda, require_card
from rookery.search.solve.texas42 import ILLEGAL, Solved, check, solve_range
from rookery.search.solve.texas42_moves import LEVEL
from rookery.search.solve.texas42_search import DESK, LEVELS
from rookery.search.solve.texas42_suits import all_suits
from rookery.search.solve.texas42_table import BUCKET

THREADS, BLOCK = 1 << 16, 64
BUCKETS = 1 << 9
"""of one thread's table: 16 KB"""


@cuda.jit(cache=True)
def solve_on_card(
    states: Any, desks: Any, levels: Any, suits: Any, tables: Any, next_one: Any, stop: Any, values: Any, q: Any
) -> None:
    """Solve positions; a thread that is done with one takes the next."""
    thread = cuda.grid(1)
    if thread < desks.shape[0]:
        i = cuda.atomic.add(next_one, 0, 1)
        while i < states.shape[0]:
            solve_range(states, i, i + 1, True, desks[thread], levels[thread], suits, tables[thread], stop, values, q)
            i = cuda.atomic.add(next_one, 0, 1)


class SolverOnCard:
    """A solver whose threads, tables included, are on a card."""

    def __init__(self, threads: int = THREADS, buckets: int = BUCKETS):
        """Make a solver of so many threads, each with a table of so many buckets, a power of two."""
        require_card()
        self.threads = whole_number("threads of a card", threads, 1, 1 << 22)
        if buckets < 1 or buckets & (buckets - 1):
            raise BadInput(f"buckets of one thread's table: must be a power of two, not {buckets}")
        desks = np.zeros(threads, DESK)
        desks["declaration"], desks["buckets"] = -1, buckets
        self.desks = cuda.to_device(desks)
        self.levels = cuda.device_array((threads, LEVELS + 1), LEVEL)
        self.tables = cuda.to_device(np.zeros((threads, buckets), BUCKET))
        self.suits, self.stop = cuda.to_device(all_suits()), cuda.to_device(np.zeros(1, np.int32))

    def q(self, states: np.ndarray) -> Solved:
        """Solve positions, with the value of every legal tile; who interrupts it waits for the card."""
        check(states)
        count = len(states)
        if count == 0:
            return Solved(np.zeros(0, np.int8), np.zeros((0, HAND), np.int8))
        values = cuda.device_array(count, np.int8)
        q = cuda.to_device(np.full((count, HAND), ILLEGAL, np.int8))
        next_one = cuda.to_device(np.zeros(1, np.int32))
        blocks = -(-min(self.threads, count) // BLOCK)
        solve_on_card[blocks, BLOCK](
            cuda.to_device(states), self.desks, self.levels, self.suits, self.tables, next_one, self.stop, values, q
        )
        return Solved(values.copy_to_host(), q.copy_to_host())
