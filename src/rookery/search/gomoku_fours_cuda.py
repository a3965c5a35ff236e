"""Wins by continuous fours in many positions at once, on a card, one warp to a position: those of `gomoku_fours`.

    fours = FoursOnCard(game, rows)
    fours.find(observations, stream)        # may run beside a network that judges the same observations
    fours.apply(logits, values, stream)     # once the network has answered

What is found depends on a position alone, so it does not matter in which order the card looks at them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32

from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.search import warps
from rookery.search.cuda import cuda, require_card
from rookery.search.evaluator import SURE
from rookery.search.gomoku_fours import AHEAD, LEAF_NODES, MOST_NODES, TABLE_BITS, first_move, refuse_other_games
from rookery.search.gomoku_lines import empty_record
from rookery.search.gomoku_vcf import PATH, THREATS, longest_path
from rookery.search.lanes import lane_max
from rookery.search.threads import new_stop
from rookery.search.tree_arrays import LOW

WARPS = 4  # positions to a block
LANES = warps.WIDTH


@cuda.jit(cache=True)
def find_on_card(
    board: Any, threats: Any, path: Any, place: Any, failed: Any, observations: Any, asked: Any, nodes: Any, stop: Any,
    moves: Any,
) -> None:  # fmt: skip
    """Write the move that begins a win by fours of each position that is asked for; -1 for all others."""
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < moves.shape[0]:
        lane, move = cuda.threadIdx.x, -1
        if asked[row]:
            memory = threats[row], path[row], place[row], failed[row]
            move = first_move(board[0], *memory, observations[row], nodes, stop, lane, LANES)
        if lane == 0:
            moves[row] = move


@cuda.jit(cache=True)
def apply_on_card(moves: Any, logits: Any, values: Any) -> None:
    """Where there is a move that wins, raise its logit above all others, and say that the win is sure."""
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < moves.shape[0] and moves[row] >= 0:
        lane, highest = cuda.threadIdx.x, LOW
        for action in range(lane, logits.shape[1], LANES):
            highest = max(highest, logits[row, action])
        highest = lane_max(highest)
        if lane == 0:
            logits[row, moves[row]] = highest + float32(AHEAD)
            values[row] = float32(SURE)


class FoursOnCard:
    """A search for wins by fours of so many positions. Calls return at once.

    It takes 16 KB of the card for each position of 15 x 15, half of them for the table of those without a win.
    """

    def __init__(self, game: Game, rows: int, nodes: int = LEAF_NODES):
        """Take the memory; at most so many attacks are tried for a position."""
        require_card()
        size = refuse_other_games(game).size
        self.nodes = np.int64(whole_number("nodes of a search for fours", nodes, 1, MOST_NODES))
        self.board, self.stop = cuda.to_device(empty_record((), size)), cuda.to_device(new_stop())
        self.threats = cuda.device_array(rows, THREATS)
        self.path = cuda.device_array((rows, longest_path(size * size, nodes)), PATH)
        self.place = cuda.device_array((rows, 4), np.int64)
        self.failed = cuda.device_array((rows, 1 << TABLE_BITS), np.uint64)
        self.asked = cuda.to_device(np.ones(rows, np.uint8))
        """whether to look at each position; a caller may write here"""
        self.moves = cuda.device_array(rows, np.int32)
        """of each position the one that begins a win, -1 where none was found"""
        self.warps = (-(-rows // WARPS),), (LANES, WARPS)

    def find(self, observations: Any, stream: Any = 0) -> None:
        """Look for wins in observations [rows, O]."""
        find_on_card[(*self.warps, stream)](
            self.board, self.threats, self.path, self.place, self.failed, observations, self.asked, self.nodes,
            self.stop, self.moves,
        )  # fmt: skip

    def apply(self, logits: Any, values: Any, stream: Any = 0) -> None:
        """Let what was found take the place of a network's answers, logits [rows, A] and values [rows]."""
        apply_on_card[(*self.warps, stream)](self.moves, logits, values)
