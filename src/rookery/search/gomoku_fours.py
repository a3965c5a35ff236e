"""Wins by continuous fours (`gomoku_vcf`) in many positions at once, and an evaluator that knows them.

    trees = Trees(game, TreeSettings(simulations=400, prove=True))
    trees.run(SeesFours(evaluator, game))

Positions are read off observations, whose first two planes are the stones of the mover and of the other side: so
whatever asks a network can ask this. Where the mover wins by fours, the value is that of a win that is sure, and the
move that begins it has nearly all of the prior.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games.bits import Word
from rookery.games.game import Game
from rookery.games.gomoku import Gomoku
from rookery.games.options import whole_number
from rookery.games.rules import State
from rookery.search.evaluator import SURE, Evaluator
from rookery.search.gomoku_lines import flip_bits, key_of, new_record
from rookery.search.gomoku_vcf import ATTACKER, PATH, THREATS, WON, begin, solve
from rookery.search.threads import new_stop

LEAF_NODES = 200
"""attacks to try for a position that is one of many"""
TABLE_BITS = 18
AHEAD = 20.0  # logit of the winning move above all others


@njit(cache=True, nogil=True)
def flip_planes(board: State, observation: Any) -> Word:
    """Put the stones of an observation on lines, or take them away again; return their hash. The mover is colour 0."""
    key, points = uint64(0), board.size * board.size
    for colour in range(2):
        for point in range(points):
            if observation[colour * points + point] > 0.5:
                flip_bits(board, colour, point)
                key ^= key_of(colour, point)
    return key


@njit(cache=True, nogil=True)
def first_moves(
    observations: Any, board: State, threats: State, path: Any, place: Any, failed: Any, nodes: int, stop: Any, out: Any
) -> None:
    """Write the move that begins a win by fours of each position's mover; -1 where none was found in so many nodes."""
    for row in range(observations.shape[0]):
        key = flip_planes(board, observations[row])
        begin(threats, board.lines, ATTACKER, key, path, place)
        status = solve(threats, path, place, failed, nodes, stop)
        out[row] = path[0].attack if status == WON else -1
        flip_planes(board, observations[row])


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
        self.nodes = whole_number("nodes of a search for fours", nodes, 1, 1 << 40)
        self.board, self.threats = new_record((), size), new_record(THREATS, size)
        self.path, self.place = np.zeros(size * size // 2 + 2, PATH), np.zeros(4, np.int64)
        self.failed, self.stop = np.zeros(1 << TABLE_BITS, np.uint64), new_stop()

    def moves(self, observations: np.ndarray) -> np.ndarray:
        """Return the first move of a win by fours for each of N observations [N, O], -1 where none was found."""
        found = np.empty(len(observations), np.int32)
        first_moves(
            observations,
            self.board[0],
            self.threats[0],
            self.path,
            self.place,
            self.failed,
            self.nodes,
            self.stop,
            found,
        )
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
