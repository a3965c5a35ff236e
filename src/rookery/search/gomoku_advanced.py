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
from rookery.games.gomoku_board import PLAY
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.games.rules import State
from rookery.search import gomoku_vcf as fours
from rookery.search.analysis import Analysis, Limits, Line, Watch, out_of_time
from rookery.search.borrowed import borrowed
from rookery.search.gomoku_judge import (
    BEST,
    DEPTH,
    DONE,
    LENGTH,
    LEVEL,
    LOWEST,
    MOST,
    NODES,
    REACHED,
    SCORE,
    SURE,
    WORK,
    Tools,
    count_fours,
    judge,
    store,
    table_move,
)
from rookery.search.gomoku_lines import add_near, checked, find_near, point_of
from rookery.search.gomoku_memory import DEEPEST, memory_for, spare
from rookery.search.gomoku_moves import IN_DANGER, list_moves
from rookery.search.gomoku_patterns import IS_DOUBLE, IS_FIVE, count_of, lay, put, take
from rookery.search.gomoku_swap2 import opening_choice

SCALE = 250.0  # a score of so much is a value of tanh 1
SLICE = 500  # work between two looks at the outside world, about a millisecond
BIGGEST_TABLE = 20  # bits
LONGEST_TIME = 1000.0  # seconds; more of them do not make a table larger or a search for fours longer
ROOT_FOURS = 20_000  # nodes of a search for fours
LATE, VERY_LATE = 3, 8  # moves of this number and after are searched with one ply less, or two
UNBEGUN = -2  # a level
WON = 2  # how a search is done: by fours
NEW, FULL_DEPTH, FULL_WINDOW = 0, 1, 2  # how a move is searched: as all are at first, or once more

# ---- the search ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def open_root(board: State, frames: np.ndarray, tools: Tools, place: np.ndarray, colour: int) -> None:
    """Stand before the root's first move, for a search of the next depth."""
    root = frames[0]
    root.floor, root.alpha, root.beta = -MOST, -MOST, MOST
    root.depth = place[DEPTH]
    open_frame(board, root, tools, colour)
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
def forget_killers(frame: State) -> None:
    """Say that no move is known to be good on a level."""
    frame.killers[0], frame.killers[1] = -1, -1


@njit(cache=True, nogil=True)
def begin(
    boards: np.ndarray, states: np.ndarray, frames: np.ndarray, tools: Tools, place: np.ndarray, colour: int, most: int
) -> None:
    """Set up the board of a search, and look for a win by fours in so many nodes."""
    board, state = boards[0], states[0]
    lay(board, state)
    find_near(board, state, frames[0].near)
    forget_killers(frames[0])
    if count_fours(board, colour) + count_of(board, colour, IS_DOUBLE) + count_of(board, colour, IS_FIVE) > 0:
        fours.begin(board, tools[0][0], colour, board.key, tools[1], tools[2], 0, 1)
        status = fours.solve(board, tools[0][0], tools[1], tools[2], tools[3], most, tools[6], 0, 1)
        place[NODES] = tools[2][fours.NODES]
        if status == fours.WON:
            place[DONE] = WON
            return
    open_root(board, frames, tools, place, colour)
    place[BEST] = point_of(frames[0].moves[0])  # a move to make, should there be no time to search


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
    put(board, colour, point, frame)
    place[NODES] += 1
    place[WORK] += 1
    known, value = judge(board, tools, place, 1 - colour, level + 1, below, free - level - 1)
    if known:
        take(board, colour, point, frame)
        take_value(frame, -value, tools[4], colour)
        return
    for row in range(board.size):
        below.near[row] = frame.near[row]
    add_near(board, below.near, point)
    if level + 1 > place[LOWEST]:
        place[LOWEST] = level + 1
        forget_killers(below)
    open_frame(board, below, tools, 1 - colour)
    place[LEVEL] += 1


@njit(cache=True, nogil=True)
def leave(board: State, frames: np.ndarray, place: np.ndarray, tools: Tools, colour: int) -> None:
    """Store the value of a position whose moves are done, and give it to the position before."""
    frame, above = frames[place[LEVEL]], frames[place[LEVEL] - 1]
    store(tools[5][board.key & uint64(tools[5].shape[0] - 1)], board.key, frame, place[LEVEL])
    take(board, 1 - colour, point_of(above.moves[above.next]), above)
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


@njit(cache=True, nogil=True, inline="always")
def borrowed_tools(tools: Tools) -> Tools:
    """Return the same memory, its users uncounted: counting them takes longer than a position."""
    return (
        borrowed(tools[0]),
        borrowed(tools[1]),
        borrowed(tools[2]),
        borrowed(tools[3]),
        borrowed(tools[4]),
        borrowed(tools[5]),
        borrowed(tools[6]),
        borrowed(tools[7]),
    )


@njit(cache=True, nogil=True)
def search_on(
    boards: np.ndarray,
    states: np.ndarray,
    frames: np.ndarray,
    tools: Tools,
    place: np.ndarray,
    setting: tuple[int, int, int, int],
    budget: int,
) -> None:
    """Begin a search if it has not begun; go on, depth after depth, for about `budget` units of work.

    One entry for all: whatever a search needs is compiled with its first call, and a short search is one call.

    frames   [PLIES + 1]  positions from the root to here, of dtype FRAME
    place    [10]         level (-1 before a depth begins), nodes, work (nodes, and those of searches for fours),
                          whether it is done, the depth under way, the last one finished, best move, its score, length
                          of its line, the lowest level so far
    setting  colour to move at the root, free points there, the last depth, nodes of the search for fours
    """
    boards, frames, place, tools = borrowed(boards), borrowed(frames), borrowed(place), borrowed_tools(tools)
    if place[LEVEL] == UNBEGUN:
        begin(boards, states, frames, tools, place, setting[0], setting[3])
    deepen(boards[0], frames, place, tools, setting, budget)
    place[LENGTH] = 0
    if place[LEVEL] < 0 and place[DONE] != WON:
        place[LENGTH] = main_line(
            boards[0], frames, tools[5], setting[0], place[BEST], tools[7][: max(1, place[REACHED])]
        )


@njit(cache=True, nogil=True)
def deepen(
    board: State,
    frames: np.ndarray,
    place: np.ndarray,
    tools: Tools,
    setting: tuple[int, int, int, int],
    budget: int,
) -> None:
    """Search depth after depth, until done, told to stop, or so much work is done."""
    first, free, last, _ = setting
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
def main_line(board: State, frames: np.ndarray, table: np.ndarray, colour: int, first: int, out: np.ndarray) -> int:
    """Write the best play the table knows, beginning with a move; return its length."""
    count, move = 0, first
    while move >= 0 and count < out.shape[0]:
        out[count] = move
        put(board, colour ^ (count & 1), move, frames[count])
        count += 1
        if count_of(board, 0, IS_FIVE) + count_of(board, 1, IS_FIVE) > 0:
            break
        move = table_move(table[board.key & uint64(table.shape[0] - 1)], board.key)
    for i in range(count - 1, -1, -1):
        take(board, colour ^ (i & 1), out[i], frames[i])
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


def nodes_for_fours(limits: Limits) -> int:
    """Return how long to look for a win by continuous fours at the root: a part of the search."""
    most = [ROOT_FOURS]
    if limits.depth is not None:
        most.append(250 * limits.depth)
    if limits.nodes is not None:
        most.append(max(1, limits.nodes // 4))
    if limits.seconds is not None:
        most.append(max(500, int(min(limits.seconds, LONGEST_TIME) * 200_000)))
    return min(most)


class Search:
    """One search: its board, its stack and what it has found so far."""

    def __init__(self, position: Position, limits: Limits, watch: Watch):
        state, size = position.state, int(position.state["size"])
        last = min(limits.depth or DEEPEST, int(state["left"]))
        self.position, self.limits, self.watch = position, limits, watch
        self.setting = int(state["colour"]), int(state["left"]), last, nodes_for_fours(limits)
        self.memory = memory_for(size, table_bits(limits))
        self.boards, self.frames, self.line = self.memory.boards, self.memory.frames, self.memory.line
        self.tools = (*self.memory.tools, watch.stop, self.line)
        self.place = np.zeros(10, np.int64)
        self.place[LEVEL], self.place[DEPTH] = UNBEGUN, 2 - last % 2

    def slice(self) -> int:
        """Return how much work may be done at once; 0 if a limit is reached."""
        if out_of_time(self.limits, self.watch):
            return 0
        return SLICE if self.limits.nodes is None else max(0, min(SLICE, self.limits.nodes - int(self.place[NODES])))

    def found(self, note: str = "") -> Analysis:
        """Return what is known so far."""
        _, nodes, _, _, _, depth, best, score, length, _ = self.place.tolist()
        value = value_of(score)
        line = Line(best, value, nodes, moves=tuple(self.line[:length].tolist()) or (best,))
        return Analysis(best, value, (line,), nodes, depth, False, note)  # some answers were not looked at

    def win(self) -> Analysis:
        """Return the win by continuous fours that was found."""
        line = fours.winning_line(self.tools[1], self.tools[2])
        win = Line(line[0], 1.0, int(self.place[NODES]), moves=line)
        return Analysis(line[0], 1.0, (win,), win.visits, len(line), True, "wins by continuous fours")

    def go_on(self, budget: int) -> None:
        """Search for so much work; what is to be looked at first comes before that."""
        search_on(self.boards, self.position.states, self.frames, self.tools, self.place, self.setting, budget)

    def run(self) -> Analysis:
        """Deepen until a limit is reached, the game is decided or there is only one move."""
        reported = 0
        limited = self.limits.nodes is not None or self.limits.seconds is not None
        self.go_on(0 if limited else SLICE)  # with a limit, what is left of it is known after the search for fours
        while not self.place[DONE] and (work := self.slice()):
            reported = self.report(reported)
            self.go_on(work)
        if self.place[DONE] == WON:
            return self.win()
        self.report(reported)
        return self.found("" if self.place[DONE] else "stopped at its limit")

    def report(self, reported: int) -> int:
        """Report what is known if another depth is done; return the last depth reported."""
        if self.watch.report is not None and self.place[REACHED] > reported:
            self.watch.report(self.found())
        return int(self.place[REACHED])


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
    running = Search(position, limits, watch or Watch(limits.seconds))
    found = running.run()
    spare(running.memory)
    return found
