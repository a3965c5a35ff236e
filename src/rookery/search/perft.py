"""Perft: count the sequences of a given number of actions, to check rules against published counts.

A sequence that ends the game early is not counted. In chess this holds for draws as well as for mate, while published
counts ignore draws: those of bare endings, which soon repeat or run out of men, are higher than ours.

The walk keeps its place in arrays and works in slices, so that it can report progress, be interrupted, and run on
several threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.games.rules import legal, over, play
from rookery.search.threads import new_stop, on_threads

SLICE = 20_000  # moves made between two looks at the outside world, a few milliseconds


@njit(cache=True, nogil=True)
def enter(states: np.ndarray, moves: np.ndarray, tried: np.ndarray, place: np.ndarray, level: int) -> None:
    """Look at the position on a level: count its moves if they are leaves, else go there."""
    if over(states[level]):
        return
    count = legal(states[level], moves[level])
    if level == moves.shape[0] - 1:
        place[1] += count
    else:
        tried[level, 0], tried[level, 1] = 0, count
        place[0] = level


@njit(cache=True, nogil=True)
def walk(states: np.ndarray, moves: np.ndarray, tried: np.ndarray, place: np.ndarray, budget: int) -> bool:
    """Go on counting for at most `budget` moves; return whether all is counted.

    states  [depth]              the position on each level
    moves   [depth, most_legal]  its legal moves
    tried   [depth, 2]           how many of them are done, how many there are
    place   [2]                  the level the walk is on, -1 when done; leaves counted so far
    """
    for _ in range(budget):
        level = place[0]
        while level >= 0 and tried[level, 0] == tried[level, 1]:
            level -= 1
        place[0] = level
        if level < 0:
            return True
        states[level + 1] = states[level]
        play(states[level + 1], moves[level, tried[level, 0]])
        tried[level, 0] += 1
        enter(states, moves, tried, place, level + 1)
    return False


def count_leaves(position: Position, depth: int, stop: np.ndarray, report: Callable[[int], None]) -> int:
    """Count the sequences of `depth` actions from a position; `report` is called with each slice's leaves."""
    if depth == 0:
        report(1)
        return 1
    states = np.repeat(position.states, depth)
    moves = np.empty((depth, position.game.most_legal), np.int32)
    tried, place = np.zeros((depth, 2), np.int64), np.array([-1, 0])
    enter(states, moves, tried, place, 0)
    done, reported = False, 0
    while not done and not stop[0]:
        done = walk(states, moves, tried, place, SLICE)
        report(int(place[1]) - reported)
        reported = int(place[1])
    return reported


def perft(
    position: Position, depth: int, threads: int = 1, report: Callable[[int, int], None] = lambda leaves, moves: None
) -> dict[str, int]:
    """Count the sequences of `depth` actions behind each legal move of a position.

    `report` is called with the leaves and the moves of this position that were finished since the last call.
    """
    depth, stop = whole_number("depth", depth, 1, max(1, position.game.longest)), new_stop()

    def behind(action: int) -> int:
        child = position.copy()
        child.play(action)
        leaves = count_leaves(child, depth - 1, stop, lambda leaves: report(leaves, 0))
        report(0, 1)
        return leaves

    actions = [int(action) for action in position.legal()]
    counts = on_threads(behind, actions, threads, stop)
    return {position.move_text(action): count for action, count in zip(actions, counts, strict=True)}
