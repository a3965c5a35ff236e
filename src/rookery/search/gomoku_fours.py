"""Wins by continuous fours (`gomoku_vcf`) in many positions at once, and an evaluator that knows them.

    trees = Trees(game, TreeSettings(simulations=400, prove=True))
    trees.run(SeesFours(evaluator, game))

Positions are read off observations, whose first two planes are the stones of the mover and of the other side: so
whatever asks a network can ask this. Where the mover wins by fours, the value is that of a win that is sure, and the
move that begins it has nearly all of the prior.

What is found follows from a position alone, not from those before it. The same source runs on a CPU and in a warp; see
`gomoku_fours_cuda`.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games.bits import lowest_bit
from rookery.games.game import Game
from rookery.games.gomoku import Gomoku
from rookery.games.gomoku_board import DIRECTIONS, MARGIN
from rookery.games.options import whole_number
from rookery.games.rules import State
from rookery.search.evaluator import SURE, Evaluator
from rookery.search.gomoku_lines import empty_record
from rookery.search.gomoku_vcf import ATTACKER, PATH, THREATS, WON, longest_path, solve, stand
from rookery.search.lanes import lane_sync
from rookery.search.threads import new_stop

LEAF_NODES = 200
"""attacks to try for a position that is one of many"""
MOST_NODES = 1 << 40
TABLE_BITS = 10  # with fewer the nodes run out sooner now and then; more take longer to clear
AHEAD = 20.0  # logit of the winning move above all others
KEY = uint64(0)  # of the stones at the root: the table knows no other position yet


@njit(cache=True, nogil=True)
def lay_rows(board: State, threats: State, observation: Any, lane: int, width: int) -> None:
    """Put the stones of an observation on its rows, and none on any other line. The mover is the attacker."""
    size = board.size
    for line in range(lane, 2 * size - 1, width):
        for direction in range(DIRECTIONS):
            for side in range(2):
                threats.lines[side, direction, line] = board.lines[side, direction, line]
    lane_sync()
    for k in range(lane, 2 * size, width):
        side, row = (0, k) if k < size else (1, k - size)
        stones = uint64(0)
        for col in range(size):
            stones |= uint64(observation[k * size + col] > 0.5) << uint64(col + MARGIN)
        threats.lines[side, 0, row] |= stones
    lane_sync()


@njit(cache=True, nogil=True)
def lay_others(board: State, threats: State, side: int, direction: int) -> None:
    """Put the stones of a side that lie on rows on the lines of another direction."""
    for row in range(board.size):
        stones = threats.lines[side, 0, row] & ~board.lines[side, 0, row]
        while stones:
            point = board.origin[0, row] + lowest_bit(stones)
            stones &= stones - uint64(1)
            bit = uint64(1) << uint64(board.shift[point, direction])
            threats.lines[side, direction, board.line[point, direction]] |= bit


@njit(cache=True, nogil=True)
def first_move(
    board: State, threats: State, path: Any, place: Any, failed: Any, observation: Any, nodes: int, stop: Any,
    lane: int, width: int,
) -> int:  # fmt: skip
    """Return the move that begins a win by fours of an observation's mover, on every lane.

    -1 where none was found in so many nodes. Nothing is left from one position to the next.
    """
    lay_rows(board, threats, observation, lane, width)
    for k in range(lane, 2 * (DIRECTIONS - 1), width):
        lay_others(board, threats, k & 1, 1 + (k >> 1))
    stand(board, threats, ATTACKER, KEY, path, place, lane, width)
    if path[0].attack < 0:
        return -1
    for k in range(lane, failed.shape[0], width):
        failed[k] = uint64(0)
    status = solve(board, threats, path, place, failed, nodes, stop, lane, width)
    return int(path[0].attack) if status == WON else -1


@njit(cache=True, nogil=True)
def first_moves(
    board: State, threats: State, path: Any, place: Any, failed: Any, observations: Any, nodes: int, stop: Any, out: Any
) -> None:
    """Write the first move of a win by fours of each observation's mover, -1 where none was found."""
    for row in range(observations.shape[0]):
        out[row] = first_move(board, threats, path, place, failed, observations[row], nodes, stop, 0, 1)


def knows_fours(game: Game) -> TypeGuard[Gomoku]:
    """Tell whether wins by fours are known in a game."""
    return isinstance(game, Gomoku) and game.rule == "freestyle" and game.opening == "none"


def refuse_other_games(game: Game) -> Gomoku:
    """Return the game if it is one whose wins by fours are known; refuse any other."""
    if not knows_fours(game):
        raise BadInput(f"wins by fours are known in gomoku with rule=freestyle and no opening, not in {game.spec}")
    return game


class SeesFours:
    """An evaluator that asks another one, and knows better where the mover wins by continuous fours."""

    def __init__(self, evaluator: Evaluator, game: Game, nodes: int = LEAF_NODES):
        """Take an evaluator of a game; at most so many attacks are tried for a position."""
        size = refuse_other_games(game).size
        self.evaluator, self.kind = evaluator, evaluator.kind
        self.nodes = whole_number("nodes of a search for fours", nodes, 1, MOST_NODES)
        self.board, self.threats = empty_record((), size), np.empty(1, THREATS)
        self.path, self.place = np.empty(longest_path(size * size, self.nodes), PATH), np.empty(4, np.int64)
        self.failed, self.stop = np.empty(1 << TABLE_BITS, np.uint64), new_stop()

    def moves(self, observations: np.ndarray) -> np.ndarray:
        """Return the first move of a win by fours for each of N observations [N, O], -1 where none was found."""
        found = np.empty(len(observations), np.int32)
        memory = self.board[0], self.threats[0], self.path, self.place, self.failed
        first_moves(*memory, observations, self.nodes, self.stop, found)
        return found

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Judge N positions."""
        logits, values = self.evaluator(observations)
        found = self.moves(observations)
        won = np.flatnonzero(found >= 0)
        if len(won):
            logits, values = np.array(logits), np.array(values)
            values[won] = SURE
            logits[won, found[won]] = logits[won].max(1) + AHEAD
        return logits, values
