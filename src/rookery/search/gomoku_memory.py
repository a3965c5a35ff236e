"""The memory of a search of the advanced player of Gomoku.

New memory costs a short search almost as much time as all the rest, so a small one is kept for the next search. It is
handed out as if it were new, and to one search at a time: a search takes it out of `SPARE` and puts it back at its end.
"""

from __future__ import annotations

import numpy as np

from rookery.games.gomoku_board import LARGEST
from rookery.search import gomoku_vcf as fours
from rookery.search.gomoku_judge import ENTRY, PLIES
from rookery.search.gomoku_lines import POINTS, empty_record, new_record
from rookery.search.gomoku_moves import MOVES
from rookery.search.gomoku_patterns import BOARD, LOG

DEEPEST = 60  # plies of the longest search
KEPT_TABLE = 12  # bits of the largest table that is kept for the next search
FRAME = np.dtype(
    [
        ("near", np.uint64, (LARGEST,)),
        ("moves", np.int64, (MOVES,)),
        *LOG,  # of the move being searched
        ("killers", np.int32, (2,)),
        ("count", np.int32),
        ("next", np.int32),
        ("depth", np.int32),
        ("forced", np.int32),
        ("stage", np.int32),
        ("reduced", np.int32),
        ("floor", np.int32),
        ("alpha", np.int32),
        ("beta", np.int32),
        ("best", np.int32),
        ("best_move", np.int32),
    ],
    align=True,
)


class Memory:
    """What a search writes to, but for its place: a board, a frame for each level, and tables.

    tools  (threats [1], path, place, failed) of the search for fours, history [2, POINTS], table
    """

    def __init__(self, size: int, bits: int):
        self.key, self.empty = (size, bits), empty_record(BOARD, size).view(np.uint8)
        failed, history = np.zeros(1 << min(14, bits), np.uint64), np.zeros((2, POINTS), np.int32)
        threats, path = np.empty(1, fours.THREATS), np.empty(fours.longest_path(POINTS), fours.PATH)
        table, self.line = np.zeros(1 << bits, ENTRY), np.empty(DEEPEST, np.int32)
        self.boards, self.frames = new_record(BOARD, size), np.empty(PLIES + 1, FRAME)
        self.tools = (threats, path, np.zeros(4, np.int64), failed, history, table)
        self.board_bytes = self.boards.view(np.uint8)
        self.table_bytes = [array.reshape(-1).view(np.uint8) for array in (failed, history, table)]

    def clear(self) -> None:
        """Forget the last search."""
        np.copyto(self.board_bytes, self.empty)
        for part in self.table_bytes:
            part.fill(0)


def memory_for(size: int, bits: int) -> Memory:
    """Return memory for a board and table of a size, as if it were new."""
    memory = SPARE.pop((size, bits), None)
    if memory is None:
        return Memory(size, bits)
    memory.clear()
    return memory


SPARE: dict[tuple[int, int], Memory] = {}


def spare(memory: Memory) -> None:
    """Keep the memory of a search that is over, if it is small."""
    if memory.key[1] <= KEPT_TABLE:
        SPARE[memory.key] = memory
