"""The advanced player of Gomoku: alpha-beta over patterns and threats, by depth, nodes or time. Freestyle.

Iterative deepening with a table, principal-variation search and late-move reductions. What is known of a position
without looking ahead, and when its moves need not be searched, is in `gomoku_judge`; which moves are searched, in
`gomoku_moves`. At the root a search for a win by continuous fours (`gomoku_vcf`) comes before all else.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games.gomoku_board import LARGEST, PLAY
from rookery.games.options import whole_number
from rookery.games.position import Action, Position
from rookery.games.rules import State
from rookery.search import gomoku_vcf as fours
from rookery.search.analysis import Analysis, Limits, Line, Watch
from rookery.search.gomoku_judge import (
    BEST,
    DEPTH,
    DONE,
    ENTRY,
    LEVEL,
    MOST,
    NODES,
    PLIES,
    REACHED,
    SCORE,
    SURE,
    WORK,
    Tools,
    judge,
    store,
    table_move,
)
from rookery.search.gomoku_lines import POINTS, add_near, checked, find_near, new_record, out_of_time, point_of
from rookery.search.gomoku_moves import IN_DANGER, MOVES, list_moves
from rookery.search.gomoku_patterns import BOARD, IS_FIVE, lay, put, take
from rookery.search.gomoku_swap2 import opening_choice

SCALE = 250.0  # a score of so much is a value of tanh 1
SLICE = 500  # work between two looks at the outside world, about a millisecond
DEEPEST = 60
BIGGEST_TABLE = 20  # bits
LONGEST_TIME = 1000.0  # seconds; more of them do not make a table larger or a search for fours longer
ROOT_FOURS = 20_000  # nodes of a search for fours
LATE, VERY_LATE = 3, 8  # moves of this number and after are searched with one ply less, or two
NEW, FULL_DEPTH, FULL_WINDOW = 0, 1, 2  # how a move is searched: as all are at first, or once more

FRAME = np.dtype(
    [
        ("near", np.uint64, (LARGEST,)),
        ("moves", np.int64, (MOVES,)),
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


# ---- the search ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def open_root(board: State, frames: np.ndarray, tools: Tools, place: np.ndarray, colour: int) -> None:
    """Stand before the root's first move, for a search of the next depth."""
    root = frames[0]
    root.floor, root.alpha, root.beta = -MOST, -MOST, MOST
    root.depth = DEEPEST  # for the number of moves looked at
    open_frame(board, root, tools, colour)
    root.depth = place[DEPTH]
    place[LEVEL] = 0


@njit(cache=True, nogil=True)
def open_frame(board: State, frame: State, tools: Tools, colour: int) -> None:
    """List the moves of a position and stand before the first."""
    table = tools[5]
    first = table_move(table[board.key & uint64(table.shape[0] - 1)], board.key)
    kind = list_moves(board, colour, frame.near, frame.moves, first, frame.killers, tools[4], frame.depth)
    frame.count, frame.forced = kind
    frame.next, frame.stage, frame.reduced = 0, NEW, 0
    frame.best, frame.best_move = -MOST, -1


@njit(cache=True, nogil=True)
def begin(
    boards: np.ndarray, states: np.ndarray, frames: np.ndarray, tools: Tools, place: np.ndarray, most: int
) -> bool:
    """Set up the board of a search; return whether a win by fours was found in so many nodes."""
    board, state = boards[0], states[0]
    lay(board, state)
    find_near(board, state, frames[0].near)
    fours.begin(tools[0][0], board.lines, state.colour, board.key, tools[1], tools[2])
    status = fours.solve(tools[0][0], tools[1], tools[2], tools[3], most, tools[6])
    place[NODES] = tools[2][fours.NODES]
    open_root(board, frames, tools, place, state.colour)
    place[LEVEL], place[BEST] = -1, point_of(frames[0].moves[0])  # a move to make, should there be no time to search
    return bool(status == fours.WON)


@njit(cache=True, nogil=True)
def set_window(frame: State, below: State) -> None:
    """Give the position behind a frame's next move its depth and window."""
    below.depth = frame.depth if frame.forced == IN_DANGER else frame.depth - 1
    frame.reduced = 0
    if frame.next == 0 or frame.stage == FULL_WINDOW:
        below.alpha, below.beta = -frame.beta, -frame.alpha
    else:
        below.alpha, below.beta = -frame.alpha - 1, -frame.alpha
        if frame.stage == NEW and frame.next >= LATE and frame.depth >= 2 and frame.forced == 0:
            frame.reduced = 2 if frame.next >= VERY_LATE and frame.depth >= 5 else 1
            below.depth -= frame.reduced
    below.floor = below.alpha


@njit(cache=True, nogil=True)
def take_value(frame: State, value: int, history: np.ndarray, colour: int) -> None:
    """Note the value of the move being searched; go on to the next one, or search it again more widely."""
    if frame.next > 0 and frame.stage != FULL_WINDOW and value > frame.alpha:
        if frame.reduced > 0:
            frame.stage = FULL_DEPTH
            return
        if value < frame.beta:
            frame.stage = FULL_WINDOW
            return
    point = point_of(frame.moves[frame.next])
    if value > frame.best:
        frame.best, frame.best_move = value, point
    frame.alpha = max(frame.alpha, value)
    frame.next += 1
    frame.stage = NEW
    if frame.alpha >= frame.beta:
        history[colour, point] += frame.depth * frame.depth
        if frame.killers[0] != point:
            frame.killers[1], frame.killers[0] = frame.killers[0], point


@njit(cache=True, nogil=True)
def enter(board: State, frames: np.ndarray, place: np.ndarray, tools: Tools, colour: int, free: int) -> None:
    """Play the next move of a frame and stand before the position it makes, unless its value is known."""
    level = place[LEVEL]
    frame, below = frames[level], frames[level + 1]
    point = point_of(frame.moves[frame.next])
    set_window(frame, below)
    put(board, colour, point)
    place[NODES] += 1
    place[WORK] += 1
    known, value = judge(board, tools, place, 1 - colour, level + 1, below, free - level - 1)
    if known:
        take(board, colour, point)
        take_value(frame, -value, tools[4], colour)
        return
    for row in range(board.size):
        below.near[row] = frame.near[row]
    add_near(board, below.near, point)
    open_frame(board, below, tools, 1 - colour)
    place[LEVEL] += 1


@njit(cache=True, nogil=True)
def leave(board: State, frames: np.ndarray, place: np.ndarray, tools: Tools, colour: int) -> None:
    """Store the value of a position whose moves are done, and give it to the position before."""
    frame, above = frames[place[LEVEL]], frames[place[LEVEL] - 1]
    store(tools[5][board.key & uint64(tools[5].shape[0] - 1)], board.key, frame, place[LEVEL])
    take(board, 1 - colour, point_of(above.moves[above.next]))
    take_value(above, -frame.best, tools[4], 1 - colour)
    place[LEVEL] -= 1


@njit(cache=True, nogil=True)
def close_root(board: State, frames: np.ndarray, tools: Tools, place: np.ndarray, last: int) -> None:
    """Store what a finished depth has found, and go on to the next one unless that is useless."""
    root = frames[0]
    store(tools[5][board.key & uint64(tools[5].shape[0] - 1)], board.key, root, 0)
    place[LEVEL], place[REACHED] = -1, place[DEPTH]
    place[DEPTH] += 2  # values of odd and even depths differ more than two of a kind
    if root.count == 1 or abs(root.best) > SURE or place[DEPTH] > last:
        place[DONE] = 1


@njit(cache=True, nogil=True)
def deepen(
    boards: np.ndarray, frames: np.ndarray, place: np.ndarray, tools: Tools, setting: tuple[int, int, int], budget: int
) -> None:
    """Go on searching, depth after depth, for about `budget` units of work.

    frames   [PLIES + 1]  positions from the root to here, of dtype FRAME
    place    [8]          level (-1 before a depth begins), nodes, work (nodes, and those of searches for fours), 1 once
                          done, the depth under way, the last one finished, best move and its score
    setting  colour to move at the root, free points there, the last depth
    """
    board, (first, free, last) = boards[0], setting
    until = place[WORK] + budget
    while place[WORK] < until and place[DONE] == 0 and tools[6][0] == 0:
        if place[LEVEL] < 0:
            open_root(board, frames, tools, place, first)
        level = place[LEVEL]
        frame, colour = frames[level], first ^ (level & 1)
        if frame.next < frame.count and frame.alpha < frame.beta:
            enter(board, frames, place, tools, colour, free)
        elif level > 0:
            leave(board, frames, place, tools, colour)
        else:
            close_root(board, frames, tools, place, last)
        if frames[0].best_move >= 0:  # the first move of a depth is the best one of the last
            place[BEST], place[SCORE] = frames[0].best_move, frames[0].best


@njit(cache=True, nogil=True)
def main_line(boards: np.ndarray, table: np.ndarray, colour: int, first: int, out: np.ndarray) -> int:
    """Write the best play the table knows, beginning with a move; return its length."""
    board, count, move = boards[0], 0, first
    while move >= 0 and count < out.shape[0]:
        out[count] = move
        put(board, colour ^ (count & 1), move)
        count += 1
        if board.ranks[0, IS_FIVE] + board.ranks[1, IS_FIVE] > 0:
            break
        move = table_move(table[board.key & uint64(table.shape[0] - 1)], board.key)
    for i in range(count - 1, -1, -1):
        take(board, colour ^ (i & 1), out[i])
    return count


# ---- for people ----------------------------------------------------------------------------------


def value_of(score: int) -> float:
    """Turn a score into a value in [-1, 1]; a win is exactly 1."""
    return math.copysign(1.0, score) if abs(score) > SURE else math.tanh(score / SCALE)


def table_bits(limits: Limits) -> int:
    """Choose a table's size by what a search can fill: new memory costs time before it is of use."""
    bits = [BIGGEST_TABLE]
    if limits.depth is not None:
        bits.append(2 * limits.depth + 3)
    if limits.nodes is not None:
        bits.append(limits.nodes.bit_length() + 1)
    if limits.seconds is not None:
        bits.append(int(min(limits.seconds, LONGEST_TIME) * 1_000_000).bit_length())
    return max(8, min(bits))


class Search:
    """One search: its board, its stack and what it has found so far."""

    def __init__(self, position: Position, limits: Limits, watch: Watch):
        state, size = position.state, int(position.state["size"])
        last = min(limits.depth or DEEPEST, int(state["left"]))
        self.position, self.limits, self.watch = position, limits, watch
        self.setting = int(state["colour"]), int(state["left"]), last
        self.boards, self.table = new_record(BOARD, size), np.zeros(1 << table_bits(limits), ENTRY)
        threats, path = new_record(fours.THREATS, size), np.empty(POINTS // 2 + 2, fours.PATH)
        failed, history = np.zeros(1 << min(14, table_bits(limits)), np.uint64), np.zeros((2, POINTS), np.int32)
        self.tools = (threats, path, np.zeros(4, np.int64), failed, history, self.table, watch.stop)
        self.frames, self.place = np.zeros(PLIES + 1, FRAME), np.zeros(8, np.int64)
        self.frames["killers"] = -1
        self.place[DEPTH] = 2 - last % 2

    def fours_first(self) -> tuple[Action, ...] | None:
        """Return a win by continuous fours, if one is found in a part of the time."""
        limits, most = self.limits, [ROOT_FOURS]
        if limits.depth is not None:
            most.append(250 * limits.depth)
        if limits.nodes is not None:
            most.append(max(1, limits.nodes // 4))
        if limits.seconds is not None:
            most.append(max(500, int(min(limits.seconds, LONGEST_TIME) * 200_000)))
        won = begin(self.boards, self.position.states, self.frames, self.tools, self.place, min(most))
        return fours.winning_line(self.tools[1], self.tools[2]) if won else None

    def slice(self) -> int:
        """Return how much work may be done at once; 0 if a limit is reached."""
        if out_of_time(self.limits, self.watch):
            return 0
        return SLICE if self.limits.nodes is None else max(0, min(SLICE, self.limits.nodes - int(self.place[NODES])))

    def found(self, note: str = "") -> Analysis:
        """Return what is known so far."""
        best, score, depth, nodes = (int(self.place[i]) for i in (BEST, SCORE, REACHED, NODES))
        out, value = np.zeros(max(1, depth), np.int32), value_of(score)
        length = int(main_line(self.boards, self.table, self.setting[0], best, out)) if self.place[LEVEL] < 0 else 0
        line = Line(best, value, nodes, moves=tuple(int(move) for move in out[:length]) or (best,))
        return Analysis(best, value, (line,), nodes, depth, False, note)  # some answers were not looked at

    def run(self) -> Analysis:
        """Deepen until a limit is reached, the game is decided or there is only one move."""
        line = self.fours_first()
        if line is not None:
            win = Line(line[0], 1.0, int(self.place[NODES]), moves=line)
            return Analysis(line[0], 1.0, (win,), win.visits, len(line), True, "wins by continuous fours")
        reported = 0
        while not self.place[DONE] and (work := self.slice()):
            deepen(self.boards, self.frames, self.place, self.tools, self.setting, work)
            if self.watch.report is not None and self.place[REACHED] > reported:
                reported = int(self.place[REACHED])
                self.watch.report(self.found())
        return self.found("" if self.place[DONE] else "stopped at its limit")


def search(position: Position, limits: Limits, watch: Watch | None = None) -> Analysis:
    """Choose the advanced player's move. `limits` must give depth, nodes or seconds."""
    game = checked(position, "advanced")
    if limits.depth is None and limits.nodes is None and limits.seconds is None:
        raise BadInput("advanced needs a limit of its search: depth, nodes or seconds")
    if limits.depth is not None:
        whole_number("depth of advanced", limits.depth, 1, DEEPEST)
    if position.state["phase"] != PLAY:
        return opening_choice(position)
    if position.state["left"] == game.points:
        centre = (game.size - 1) // 2 * (game.size + 1)
        return Analysis(centre, 0.0, (Line(centre, 0.0, moves=(centre,)),), 0, 0, False, "the centre of an empty board")
    return Search(position, limits, watch or Watch(limits.seconds)).run()
