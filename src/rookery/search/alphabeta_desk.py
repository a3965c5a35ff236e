"""The memory of an alpha-beta search: one row of every array for each level of the tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rookery.games.game import Game
from rookery.search.table import Table

FRAME = np.dtype(
    [
        ("key", np.uint64),
        ("lowest", np.int32),  # alpha on arrival
        ("alpha", np.int32),
        ("beta", np.int32),
        ("best", np.int32),  # score of the best move so far; in the end, of the position
        ("best_move", np.int32),
        ("move", np.int32),  # being searched
        ("next", np.int32),  # index of the next move to be tried
        ("count", np.int32),  # of moves
        ("depth", np.int32),  # plies to go; 0 or less: only forcing moves
        ("seat", np.int32),
        ("team", np.int32),
        ("marks", np.int32),  # BY_DEPTH, BY_HISTORY
        ("window", np.int32),  # WIDE, NARROW or AGAIN: how the move is being searched
        ("principal", np.int32),  # 1: on what may become the principal variation
    ],
    align=True,
)
LEVEL, NODES, TIES, BARRED = 0, 1, 2, 3  # numbers kept in `Desk.place`


class Desk(NamedTuple):
    """All memory of one search. L levels, A actions, M most legal moves, S seats."""

    states: np.ndarray  # [L]
    frames: np.ndarray  # [L]
    moves: np.ndarray  # [L, M] legal moves; those before frame.next are done
    orders: np.ndarray  # [L, M] how early each is to be tried
    killers: np.ndarray  # [L, 2] moves that refuted others on the same level
    history: np.ndarray  # [S, A] how often and how deep a move has refuted others
    lines: np.ndarray  # [L, L] best play found from each level on
    lengths: np.ndarray  # [L] of those
    table: Table
    teams: np.ndarray  # [S]
    barred: np.ndarray  # [M] moves not to be looked at from the root; how many is in `place`
    place: np.ndarray  # [4] level the walk is on, -1 when done; positions looked at; equal best moves; moves barred


class Settings(NamedTuple):
    """How to search. What is switched off changes the work, never the value."""

    table: bool = True
    killers: bool = True
    history: bool = True
    promise: bool = True
    windows: bool = True
    """principal-variation search: moves after the first are first asked only whether they are better"""
    quiet_plies: int = 0
    """how far forcing moves are followed beyond the depth"""
    random_ties: bool = False
    """choose among equally good moves of the root by chance"""
    seed: int = 0


def new_desk(game: Game, levels: int, table: Table) -> Desk:
    """Make the memory for searches of up to so many plies, forcing ones included."""
    levels += 1
    return Desk(
        states=np.empty(levels, game.state),
        frames=np.zeros(levels, FRAME),
        moves=np.empty((levels, game.most_legal), np.int32),
        orders=np.empty((levels, game.most_legal), np.int32),
        killers=np.full((levels, 2), -1, np.int32),
        history=np.zeros((game.seats, game.actions), np.int32),
        lines=np.empty((levels, levels), np.int32),
        lengths=np.zeros(levels, np.int32),
        table=table,
        teams=np.array(game.teams, np.int32),
        barred=np.empty(game.most_legal, np.int32),
        place=np.array([-1, 0, 0, 0]),
    )
