"""The walk of alpha-beta over the tree of a game, compiled, one depth at a time.

There is no recursion: every level of the tree has a state, a frame and a list of moves in arrays that the caller owns.
The walk stands on one level, makes its next move, and either gets the child's score at once or goes down to
the child's level; when a level has run out of moves its score goes up. So it can stop after any position and go on.

Scores are from the side of the mover's *team*: they change sign from level to level only if the team does.

A score depends on two things that a position does not show. Scores that rest on an evaluation belong to the depth that
was searched (BY_DEPTH). Scores that rest on a repetition or the like belong to the path (BY_HISTORY). Both marks
travel up with the scores; the table keeps no score marked BY_HISTORY, and uses one marked BY_DEPTH for the same depth
alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rookery.games.rng import random_below
from rookery.games.rules import State, key, legal, mover, over, payoff, play
from rookery.search.alphabeta_desk import BARRED, LEVEL, NODES, TIES, Desk, Settings
from rookery.search.borrowed import borrowed
from rookery.search.evaluations import UNIT, WIN, ended_by_history, evaluate, forcing, promise
from rookery.search.table import COMPLETE, EXACT, LOWER, NO_BOUND, UPPER, find, from_position, from_root, store

BY_DEPTH, BY_HISTORY = 1, 2
WIDE, NARROW, AGAIN = 0, 1, 2  # AGAIN: the narrow window has shown that the move is better; by how much is to be seen
INFINITE = WIN + 1
POLL = 64  # positions between two looks at the stop array
HISTORY_LIMIT = 1 << 14
KILLER = 1 << 15  # killers stand above history, but give way to promises, which count 1 << 16 each
TABLE_MOVE = 1 << 30
ENDLESS = 1 << 60


# ---- scores --------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def result_score(result: float, level: int) -> int:
    """Turn a payoff into a score, given how many plies from the root the game ended."""
    if result >= 1.0:
        return WIN - level
    if result <= -1.0:
        return level - WIN
    return round(result * UNIT)


@njit(cache=True, nogil=True)
def judged(state: State) -> int:
    """Evaluate a position, held inside the bounds: beyond them it would be taken for a win."""
    return max(1 - UNIT, min(UNIT - 1, int(evaluate(state))))


# ---- the order of moves --------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def arrange(desk: Desk, settings: Settings, level: int, table_move: int) -> None:
    """Tell how early each move of a level is to be tried."""
    state, frame = desk.states[level], desk.frames[level]
    moves, orders, killers = desk.moves[level], desk.orders[level], desk.killers[level]
    for i in range(frame.count):
        action = moves[i]
        order = 0
        if settings.promise:
            order += promise(state, action) << 16
        if settings.history:
            order += desk.history[frame.seat, action]
        if settings.killers and (action == killers[0] or action == killers[1]):
            order += KILLER
        orders[i] = TABLE_MOVE if action == table_move else order


@njit(cache=True, nogil=True, inline="always")
def pick(desk: Desk, level: int) -> int:
    """Take the most promising of the moves of a level that are left."""
    frame, moves, orders = desk.frames[level], desk.moves[level], desk.orders[level]
    place = frame.next
    best = place
    for i in range(place + 1, frame.count):
        if orders[i] > orders[best]:
            best = i
    move, order = moves[best], orders[best]
    moves[best], orders[best] = moves[place], orders[place]
    moves[place], orders[place] = move, order
    frame.next = place + 1
    return int(move)


@njit(cache=True, nogil=True, inline="always")
def praise(desk: Desk, level: int) -> None:
    """Remember a move that was too good for the other side to allow, to try it early elsewhere."""
    frame, killers = desk.frames[level], desk.killers[level]
    move = frame.move
    if killers[0] != move:
        killers[0], killers[1] = move, killers[0]
    bonus = min(frame.depth * frame.depth, HISTORY_LIMIT >> 3)
    old = desk.history[frame.seat, move]
    desk.history[frame.seat, move] = old + bonus - old * bonus // HISTORY_LIMIT  # never reaches the limit


# ---- arriving ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def look_up(desk: Desk, level: int, move_only: bool) -> tuple[bool, int]:
    """Ask the table; return whether it settles the position, the frame then holding its score, and its move."""
    frame, table = desk.frames[level], desk.table
    index = find(table, frame.key)
    if index < 0:
        return False, -1
    entry = table.entries[index]
    move, bound = int(entry.move), entry.bound & 3
    complete = entry.bound & COMPLETE != 0
    if move_only or bound == NO_BOUND:
        return False, move
    if entry.depth != frame.depth and not (complete and entry.depth < frame.depth):
        return False, move
    score = from_root(int(entry.score), level)
    if bound == EXACT or (bound == LOWER and score >= frame.beta) or (bound == UPPER and score <= frame.alpha):
        frame.best, frame.marks = score, 0 if complete else BY_DEPTH
        return True, move
    return False, move


@njit(cache=True, nogil=True, inline="always")
def enter_quietly(desk: Desk, settings: Settings, level: int) -> bool:
    """Arrive where the depth is used up: the mover takes the evaluation or makes a forcing move."""
    state, frame = desk.states[level], desk.frames[level]
    frame.best, frame.marks = judged(state), BY_DEPTH
    if frame.depth <= -settings.quiet_plies or frame.best >= frame.beta:
        return False
    frame.count = forcing(state, desk.moves[level])
    frame.alpha = max(frame.alpha, frame.best)
    if frame.count == 0:
        return False
    arrange(desk, settings, level, -1)
    return True


@njit(cache=True, nogil=True, inline="always")
def enter(desk: Desk, settings: Settings, level: int) -> bool:
    """Arrive at a position whose window is still that of its parent; return whether its moves are to be searched.

    If not, `best` and `marks` of its frame are final.
    """
    state, frame, parent = desk.states[level], desk.frames[level], desk.frames[level - 1]
    desk.place[NODES] += 1
    desk.lengths[level] = 0
    if over(state):
        frame.team = parent.team
        frame.best = result_score(payoff(state, parent.seat), level)
        frame.marks = BY_HISTORY if ended_by_history(state) else 0
        return False
    frame.seat = mover(state)
    frame.team = desk.teams[frame.seat]
    if frame.team != parent.team:
        frame.alpha, frame.beta = -frame.beta, -frame.alpha
    frame.lowest, frame.next, frame.best_move, frame.window = frame.alpha, 0, -1, WIDE
    if frame.depth <= 0:
        return enter_quietly(desk, settings, level)
    table_move = -1
    if settings.table:
        frame.key = key(state)
        settled, table_move = look_up(desk, level, frame.principal != 0)
        if settled:
            return False
    frame.count = legal(state, desk.moves[level])
    if frame.count == 0:  # a hand that is hidden from this position: nobody knows how it goes on
        frame.best, frame.marks = judged(state), BY_DEPTH
        return False
    frame.best, frame.marks = -INFINITE, 0
    arrange(desk, settings, level, table_move)
    return True


# ---- going down and up ---------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def descend(desk: Desk, settings: Settings, level: int) -> bool:
    """Make the next move of a level, or search the last one again; return whether the child is to be searched."""
    frame, child = desk.frames[level], desk.frames[level + 1]
    first, again = frame.next == 0, frame.window == AGAIN
    frame.window = WIDE
    if not again:
        frame.move = pick(desk, level)
        desk.states[level + 1] = desk.states[level]
        play(desk.states[level + 1], frame.move)
        if settings.windows and not first and frame.beta - frame.alpha > 1:
            frame.window = NARROW
    child.principal = frame.principal if first or again else 0
    child.alpha = frame.alpha
    child.beta = frame.alpha + 1 if frame.window == NARROW else frame.beta
    child.depth = frame.depth - 1
    return enter(desk, settings, level + 1)


@njit(cache=True, nogil=True, inline="always")
def absorb(desk: Desk, settings: Settings, level: int) -> None:
    """Take the score of the move that was searched from the level below."""
    frame, child = desk.frames[level], desk.frames[level + 1]
    score = child.best if child.team == frame.team else -child.best
    if frame.window == NARROW and frame.alpha < score < frame.beta:
        frame.window = AGAIN
        return
    if score >= frame.beta:  # this move alone shows that the position is too good
        frame.best, frame.best_move, frame.marks = score, frame.move, child.marks
        if frame.depth > 0:
            praise(desk, level)
        return
    frame.marks |= child.marks
    if score > frame.best or (level == 0 and score == frame.best and wins_tie(desk, settings)):
        if score > frame.best:
            desk.place[TIES] = 1
        frame.best, frame.best_move = score, frame.move
        if score > frame.alpha:
            note_line(desk, level)
            # A move as good as the best must be told from a worse one where chance is to choose among the best.
            frame.alpha = score - 1 if level == 0 and settings.random_ties else score


@njit(cache=True, nogil=True, inline="always")
def wins_tie(desk: Desk, settings: Settings) -> bool:
    """Tell whether a move as good as the best so far takes its place: each of n such moves does with chance 1 / n."""
    if not settings.random_ties:
        return False
    desk.place[TIES] += 1
    ties = desk.place[TIES]
    return random_below(ties, settings.seed, desk.frames[0].key, ties) == 0


@njit(cache=True, nogil=True, inline="always")
def note_line(desk: Desk, level: int) -> None:
    """Note the move of a level, followed by the best play of the level below, as its best play."""
    length = desk.lengths[level + 1]
    desk.lines[level, 0] = desk.frames[level].move
    for i in range(length):
        desk.lines[level, i + 1] = desk.lines[level + 1, i]
    desk.lengths[level] = length + 1


@njit(cache=True, nogil=True, inline="always")
def leave(desk: Desk, settings: Settings, level: int) -> None:
    """Enter what was found on a level into the table."""
    frame = desk.frames[level]
    if not settings.table or frame.depth <= 0:
        return
    bound = LOWER if frame.best >= frame.beta else UPPER if frame.best <= frame.lowest else EXACT
    if frame.marks & BY_DEPTH == 0:
        bound |= COMPLETE
    if frame.marks & BY_HISTORY != 0:
        bound = NO_BOUND
    score = from_position(frame.best, level)
    store(desk.table, frame.key, score, frame.best_move, frame.depth, bound)


# ---- what a caller needs -------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def begin(desk: Desk, settings: Settings, depth: int, first: int) -> None:
    """Stand on the root, the position in `desk.states[0]`, to search it to a depth, trying the move `first` first.

    The game must not be over. The first `place[BARRED]` moves of `barred` are left out.
    """
    frame, moves, place = desk.frames[0], desk.moves[0], desk.place
    frame.key = key(desk.states[0])
    frame.seat = mover(desk.states[0])
    frame.team = desk.teams[frame.seat]
    frame.lowest, frame.alpha, frame.beta, frame.best = -INFINITE, -INFINITE, INFINITE, -INFINITE
    frame.best_move, frame.next, frame.depth, frame.marks = -1, 0, depth, 0
    frame.window, frame.principal = WIDE, 1
    count = 0
    for i in range(legal(desk.states[0], moves)):
        barred = False
        for j in range(place[BARRED]):
            barred = barred or desk.barred[j] == moves[i]
        if not barred:
            moves[count] = moves[i]
            count += 1
    frame.count = count
    desk.lengths[0] = 0
    place[LEVEL], place[TIES] = 0, 0
    arrange(desk, settings, 0, first)


@njit(cache=True, nogil=True)
def walk(desk: Desk, settings: Settings, budget: int, stop: np.ndarray) -> bool:
    """Go on searching for at most `budget` positions, or until told to stop; return whether the depth is finished.

    Finished or not, the frame of level 0 holds the best move so far and its score, `lines[0]` its play; -1 if none.
    """
    desk = borrowed(desk)
    place, frames = desk.place, desk.frames
    end = place[NODES] + budget
    level = place[LEVEL]
    while level >= 0:
        frame = frames[level]
        if frame.window != AGAIN and (frame.next == frame.count or frame.best >= frame.beta):
            if level > 0 or place[BARRED] == 0:  # with moves left out, it is not the score of the position
                leave(desk, settings, level)
            level -= 1
            if level < 0:
                break
        elif place[NODES] >= end or (place[NODES] % POLL == 0 and stop[0] != 0):
            break
        elif descend(desk, settings, level):
            level += 1
            continue
        absorb(desk, settings, level)
    place[LEVEL] = level
    return bool(level < 0)


@njit(cache=True, nogil=True)
def forget(desk: Desk) -> None:
    """Forget what earlier searches have learnt, so that the next one does not depend on them."""
    desk.history[:] = 0
    desk.killers[:] = -1
    for i in range(desk.table.entries.shape[0]):
        desk.table.entries[i].age = 0


@njit(cache=True, nogil=True)
def is_settled(desk: Desk) -> bool:
    """Tell whether looking deeper cannot change the score of a finished root.

    Either every line has ended, or a win or loss was found within the depth: a shorter one would have shown before.
    """
    root = desk.frames[0]
    decided = abs(root.best) > UNIT and WIN - abs(root.best) <= root.depth
    return bool(decided or root.marks & BY_DEPTH == 0)


@njit(cache=True, nogil=True)
def depth_for(moves: int, thresholds: np.ndarray) -> int:
    """Return how deep to look at a position with so many legal moves.

    thresholds  [T, 2]  (least number of moves, depth), the largest number first and 0 last
    """
    for i in range(thresholds.shape[0]):
        if moves >= thresholds[i, 0]:
            return int(thresholds[i, 1])
    return 1


@njit(cache=True, nogil=True)
def choose(desk: Desk, settings: Settings, depth: int, stop: np.ndarray) -> int:
    """Search the position in `desk.states[0]` deeper and deeper and return the best move; -1 if stopped at once.

    For other kernels: no Python, no slices, all memory is the caller's. Threads need a desk each; `forget` at the
    beginning of a game makes its moves independent of the games played at that desk before.
    """
    move = -1
    for goal in range(1, depth + 1):
        begin(desk, settings, goal, move)
        finished = walk(desk, settings, ENDLESS, stop)
        if desk.frames[0].best_move >= 0:
            move = int(desk.frames[0].best_move)
        if not finished or is_settled(desk):
            break
    return move
