"""Domineering solved: who wins, with either player to move, on any board or from any position.

A board belongs to one of four classes: V or H, won by Vertical or Horizontal whoever starts; N, won by whoever starts
(the next player); P, won by the other (the previous player).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rookery.errors import BadInput
from rookery.games.domineering import LARGEST, Domineering
from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.games.position import Action, Position
from rookery.search.solve.domineering_bounds import TRAIL
from rookery.search.solve.domineering_levels import (
    ENTRY,
    HASHES,
    LEVEL,
    LINES,
    NO_MOVE,
    PASS,
    Level,
    fill_words,
    settle,
)
from rookery.search.solve.domineering_levels import cover as cover_square
from rookery.search.solve.domineering_search import BEST, DEPTH, NODES, RESULT, STARTER, WON, enter, walk
from rookery.search.threads import Stopped, new_stop, on_threads

VERTICAL, HORIZONTAL = 0, 1
CLASSES = {(0, 0): "V", (1, 1): "H", (0, 1): "N", (1, 0): "P"}  # winner if Vertical starts, if Horizontal starts
TABLE_MB, MOST_MB = 256, 1 << 20
SLICE = 4_000  # steps between two looks at the outside world, a few milliseconds
Report = Callable[[int], None]


def ignore(nodes: int) -> None:
    """Take no notice of progress."""


@dataclass(frozen=True)
class Result:
    """What a search from one position with one player to move has proven."""

    winner: int
    """seat that wins: 0 Vertical, 1 Horizontal"""
    best: Action | None
    """a winning move, where the player to move wins"""
    nodes: int
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """Who wins with either player to move."""

    rows: int
    cols: int
    results: tuple[Result, Result]
    """if Vertical is to move, if Horizontal is"""

    @property
    def letter(self) -> str:
        """The class: V, H, N or P."""
        return CLASSES[self.results[0].winner, self.results[1].winner]

    @property
    def nodes(self) -> int:
        """Positions looked at in both searches."""
        return sum(result.nodes for result in self.results)

    @property
    def seconds(self) -> float:
        """Time of both searches."""
        return sum(result.seconds for result in self.results)


class Search:
    """Searches on boards of one shape that share a table."""

    def __init__(self, rows: int, cols: int, table_mb: int = TABLE_MB):
        self.shape = np.array([rows, cols])
        most = whole_number("table_mb", table_mb, 1, MOST_MB) << 20
        self.table = np.zeros(1 << (most // ENTRY.itemsize).bit_length() - 1, ENTRY)
        self.words = np.empty((rows, cols, HASHES), np.uint64)
        fill_words(self.words, self.shape)

    def run(
        self, squares: np.ndarray, starter: int, stop: np.ndarray, report: Report = ignore
    ) -> tuple[bool, int, int]:
        """Find out whether the starter wins from a board; return that, the best move in his view, and the nodes.

        squares  [rows, cols]  True where covered
        """
        levels = np.zeros(squares.size + 4, LEVEL)
        levels["killer"] = NO_MOVE
        begin_board(levels[0], self.shape, self.words, squares)
        trails, place = np.zeros((2, LINES, TRAIL), np.int64), np.zeros(5, np.int64)
        place[BEST], place[STARTER] = NO_MOVE, starter
        place[RESULT] = enter(levels, 0, self.shape, self.table, trails, place)
        reported = 0
        while not walk(levels, self.shape, self.words, self.table, trails, place, SLICE):
            report(int(place[NODES]) - reported)
            reported = int(place[NODES])
            if stop[0]:
                raise Stopped
        report(int(place[NODES]) - reported)
        assert place[DEPTH] == 0
        return bool(place[RESULT] == WON), int(place[BEST]), int(place[NODES])


def begin_board(level: Level, shape: np.ndarray, words: np.ndarray, squares: np.ndarray) -> None:
    """Set a level to a board, with what is settled taken off."""
    for view, count in enumerate(shape):
        level["lines"][view, :count] = (1 << int(shape[1 - view])) - 1
    for row, col in zip(*np.nonzero(squares), strict=True):
        cover_square(level, words, VERTICAL, row, col)
    settle(level, shape, words)


def board_of(position: Position) -> np.ndarray:
    """Return the covered squares of a position, [rows, cols]."""
    if not isinstance(position.game, Domineering):
        raise BadInput(f"this solver is for domineering, not for {position.game.name}")
    return np.array(position.game.covered_squares(position.state))


def solve(
    position: Position,
    table_mb: int = TABLE_MB,
    stop: np.ndarray | None = None,
    report: Report = ignore,
    search: Search | None = None,
) -> Result:
    """Find out who wins a position, and a winning move; `report` is called with the nodes of each slice."""
    squares, begun = board_of(position), time.perf_counter()
    search = search or Search(len(squares), len(squares[0]), table_mb)
    won, best, nodes = search.run(squares, position.mover, new_stop() if stop is None else stop, report)
    action = action_of(position, search, best) if won else None
    winner = position.mover if won else 1 - position.mover
    return Result(winner, action, nodes, time.perf_counter() - begun)


def action_of(position: Position, search: Search, move: int) -> Action:
    """Turn a move in the mover's view into an action; a free move into one that lies on squares taken off the board."""
    mover, shape = position.mover, search.shape
    before = 0 if mover == VERTICAL else int((shape[0] - 1) * shape[1])
    if move != PASS:
        return before + int(shape[1 - mover]) * (move >> 4) + (move & 15)
    level = np.zeros(1, LEVEL)[0]
    begin_board(level, shape, search.words, board_of(position))
    lines = level["lines"][mover]
    for action in position.legal():
        line, place = divmod(int(action) - before, int(shape[1 - mover]))
        if not lines[line] >> place & 1:
            return int(action)  # the first of its run, since actions go line by line
    raise AssertionError("a free move was spent, but there is none")


def solve_both(
    position: Position, table_mb: int = TABLE_MB, stop: np.ndarray | None = None, report: Report = ignore
) -> Outcome:
    """Find out who wins a position with either player to move."""
    rows, cols = board_of(position).shape
    search, results = Search(rows, cols, table_mb), []
    for seat in (VERTICAL, HORIZONTAL):
        turned = position.copy()
        turned.state["domineering_mover"] = seat
        results.append(solve(turned, table_mb, stop, report, search))
    return Outcome(rows, cols, (results[0], results[1]))


def solve_board(
    rows: int, cols: int, table_mb: int = TABLE_MB, stop: np.ndarray | None = None, report: Report = ignore
) -> Outcome:
    """Find the class of an empty board."""
    return solve_both(load("domineering", rows=rows, cols=cols).start(), table_mb, stop, report)


def solve_table(
    size: int,
    table_mb: int = TABLE_MB,
    threads: int = 1,
    report: Callable[[int, int], None] = lambda nodes, boards: None,
) -> list[Outcome]:
    """Solve every board with up to `size` rows and columns, row by row.

    Each thread has a table of its own. `report` is called with the nodes and the boards done since the last call.
    """
    size, stop = whole_number("the size of a table", size, 1, LARGEST), new_stop()
    boards = [(rows, cols) for rows in range(1, size + 1) for cols in range(1, size + 1)]

    def work(board: tuple[int, int]) -> Outcome:
        outcome = solve_board(*board, table_mb, stop, lambda nodes: report(nodes, 0))
        report(0, 1)
        return outcome

    return on_threads(work, boards, threads, stop)
