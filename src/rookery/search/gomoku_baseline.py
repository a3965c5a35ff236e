"""The baseline player of Gomoku: plain alpha-beta over groups of stones, always to the same depth.

Defined as a negamax of fixed depth. A position that is over is worth 1,000,000 for the winner or 0; one at the full
depth its score by groups (`gomoku_groups`). In every other one the moves are the free points at most two rows and two
columns away from a stone, in order of rank, ties by row then column from the bottom left, and of these only the first
twenty. At the root, a move that wins at once is played without a search; else the first in order among those of highest
value. On an empty board the move is the centre.

The search finds exactly this move. Which moves a position has depends on its stones alone, and so does the depth left,
by their number: values from a table of positions, kept with the bounds they are, are those the definition gives.
Positions at the full depth are never made: what a stone adds to the score is known before.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games.bits import lowest_bit
from rookery.games.gomoku_board import BLACK, LARGEST, PLAY
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.games.rules import State
from rookery.search.analysis import Analysis, Limits, Line, Watch, out_of_time
from rookery.search.gomoku_groups import BOARD, SCALE, flip, lay
from rookery.search.gomoku_lines import (
    add_near,
    checked,
    find_near,
    free_in_row,
    insert_move,
    new_record,
    point_of,
)
from rookery.search.gomoku_swap2 import opening_choice

WIDTH = 20
WIN, MOST = 1_000_000, 10_000_000
EXACT, AT_LEAST, AT_MOST = 1, 2, 3
LEVEL, NODES, DONE = 0, 1, 2  # what `place` holds
SLICE = 10_000  # nodes between two looks at the outside world, a few milliseconds
DEEPEST = 30

FRAME = np.dtype(
    [
        ("near", np.uint64, (LARGEST,)),
        ("moves", np.int64, (WIDTH,)),  # as `insert_move` makes them
        ("values", np.int32, (WIDTH,)),  # of the moves done; of those not better than one before, a bound
        ("count", np.int32),
        ("next", np.int32),
        ("floor", np.int32),  # alpha when the position was entered
        ("alpha", np.int32),
        ("beta", np.int32),
        ("best", np.int32),
    ],
    align=True,
)
ENTRY = np.dtype([("key", np.uint64), ("value", np.int32), ("bound", np.int32)], align=True)


# ---- moves ---------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def list_moves(board: State, colour: int, frame: State) -> None:
    """List the twenty moves of highest rank, best first; ties by row, then column."""
    count = 0
    for row in range(board.size):
        points = frame.near[row] & free_in_row(board, row)
        while points:
            point = row * board.size + lowest_bit(points)
            points &= points - uint64(1)
            count = insert_move(frame.moves, count, WIDTH, board.rank[colour, point], point)
    frame.count, frame.next = count, 0


@njit(cache=True, nogil=True)
def winning_move(board: State, colour: int, frame: State) -> int:
    """Return the move of highest rank that makes a five, -1 if there is none."""
    best = -1
    for row in range(board.size):
        points = frame.near[row] & free_in_row(board, row)
        while points:
            point = row * board.size + lowest_bit(points)
            points &= points - uint64(1)
            if board.fives[colour, point] > 0:
                best = max(best, (board.rank[colour, point] << 9) + 511 - point)
    return point_of(best) if best >= 0 else -1


# ---- the search ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def begin(board: State, state: State, frames: np.ndarray) -> int:
    """Set up board and root of a search; return the move that wins at once, -1 if there is none."""
    lay(board, state)
    root = frames[0]
    find_near(board, state, root.near)
    root.floor, root.alpha, root.beta, root.best = -MOST, -MOST, MOST, -MOST
    list_moves(board, state.colour, root)
    return int(winning_move(board, state.colour, root))


@njit(cache=True, nogil=True)
def take_value(frame: State, value: int) -> None:
    """Note the value of the move being searched, and go on to the next one."""
    frame.values[frame.next] = value
    frame.next += 1
    frame.best = max(frame.best, value)
    frame.alpha = max(frame.alpha, value)


@njit(cache=True, nogil=True)
def known_value(entry: State, key: Any, alpha: int, beta: int) -> bool:
    """Tell whether a table entry answers the question of a window."""
    if entry.key != key or entry.bound == 0:
        return False
    if entry.bound == EXACT:
        return True
    return bool(entry.value >= beta if entry.bound == AT_LEAST else entry.value <= alpha)


@njit(cache=True, nogil=True)
def enter(board: State, frames: np.ndarray, place: np.ndarray, table: np.ndarray, colour: int) -> None:
    """Play the next move of a frame and stand before the position it makes, unless the table knows its value."""
    level = place[LEVEL]
    frame, below = frames[level], frames[level + 1]
    point = point_of(frame.moves[frame.next])
    flip(board, colour, point, 1)
    entry = table[board.key & uint64(table.shape[0] - 1)]
    if known_value(entry, board.key, -frame.beta, -frame.alpha):
        flip(board, colour, point, -1)
        take_value(frame, -entry.value)
        return
    for row in range(board.size):
        below.near[row] = frame.near[row]
    add_near(board, below.near, point)
    below.floor, below.alpha, below.beta, below.best = -frame.beta, -frame.beta, -frame.alpha, -MOST
    list_moves(board, 1 - colour, below)
    place[LEVEL] += 1


@njit(cache=True, nogil=True)
def leave(board: State, frames: np.ndarray, place: np.ndarray, table: np.ndarray, colour: int) -> None:
    """Store the value of a position whose moves are done, and give it to the position before."""
    frame, above = frames[place[LEVEL]], frames[place[LEVEL] - 1]
    entry = table[board.key & uint64(table.shape[0] - 1)]
    entry.key, entry.value = board.key, frame.best
    entry.bound = AT_MOST if frame.best <= frame.floor else AT_LEAST if frame.best >= frame.beta else EXACT
    flip(board, 1 - colour, point_of(above.moves[above.next]), -1)
    take_value(above, -frame.best)
    place[LEVEL] -= 1


@njit(cache=True, nogil=True)
def walk(
    board: State, frames: np.ndarray, place: np.ndarray, table: np.ndarray, setting: tuple[int, int, int], budget: int
) -> bool:
    """Go on searching for at most `budget` nodes; return whether the search is done.

    frames   [depth + 1]  positions from the root to here, of dtype FRAME
    place    [3]          level, nodes so far, 1 once done
    table    [2^n]        of dtype ENTRY, zeroed before the search
    setting  depth, colour to move at the root, free points at the root
    """
    depth, first, free = setting
    last = place[NODES] + budget
    while place[NODES] < last:
        level = place[LEVEL]
        frame, colour = frames[level], first ^ (level & 1)
        if frame.next == frame.count or frame.alpha >= frame.beta or frame.best == WIN:
            if level == 0:
                place[DONE] = 1
                return True
            leave(board, frames, place, table, colour)
            continue
        place[NODES] += 1
        point = point_of(frame.moves[frame.next])
        if board.fives[colour, point] > 0:
            take_value(frame, WIN)
        elif free - level == 1:
            take_value(frame, 0)
        elif depth - level == 1:
            score = board.score + board.gain[colour, point]
            take_value(frame, score if colour == BLACK else -score)
        else:
            enter(board, frames, place, table, colour)
    return False


# ---- for people ----------------------------------------------------------------------------------


def value_of(score: int) -> float:
    """Turn a score into a value in [-1, 1]; a win is exactly 1."""
    return math.copysign(1.0, score) if abs(score) >= WIN else math.tanh(score / SCALE)


def sure(action: int, value: float, note: str) -> Analysis:
    """Return a move that needed no search."""
    return Analysis(action, value, (Line(action, value, moves=(action,)),), 0, 0, value == 1.0, note)


def result(frames: np.ndarray, place: np.ndarray, depth: int) -> Analysis:
    """Read what a search has found off its root, finished or not."""
    root, lines, best = frames[0], list[Line](), -MOST
    for i in range(int(root["next"])):
        score = int(root["values"][i])
        if score > best:  # of other moves only a bound is known
            best, action = score, int(point_of(int(root["moves"][i])))
            lines.insert(0, Line(action, value_of(score), moves=(action,)))
    if not lines:
        return sure(int(point_of(int(root["moves"][0]))), 0.0, "stopped before any move was searched")
    note = "" if place[DONE] else "stopped early: the choice of the moves searched so far"
    return Analysis(lines[0].action, lines[0].value, tuple(lines), int(place[NODES]), depth, False, note)


def search(position: Position, limits: Limits, watch: Watch | None = None) -> Analysis:
    """Choose the baseline player's move. `limits` must give the depth; nodes and seconds only cut a search short."""
    game = checked(position, "baseline")
    if limits.depth is None:
        raise BadInput("baseline needs the depth of its search: Limits(depth=...), in 1..30")
    depth, watch = whole_number("depth of baseline", limits.depth, 1, DEEPEST), watch or Watch(limits.seconds)
    state = position.state
    if state["phase"] != PLAY:
        return opening_choice(position)
    if state["left"] == game.points:
        return sure((game.size - 1) // 2 * (game.size + 1), 0.0, "the centre of an empty board")
    board, frames = new_record(BOARD, game.size), np.zeros(depth + 1, FRAME)
    table, place = np.zeros(1 << min(max(2 * depth + 3, 8), 22), ENTRY), np.zeros(3, np.int64)
    win = int(begin(board[0], state, frames))
    if win >= 0:
        return sure(win, 1.0, "wins at once")
    setting = (depth, int(state["colour"]), int(state["left"]))
    most = limits.nodes or np.iinfo(np.int64).max
    while place[NODES] < most and not out_of_time(limits, watch):
        if walk(board[0], frames, place, table, setting, int(min(SLICE, most - place[NODES]))):
            break
    return result(frames, place, depth)
