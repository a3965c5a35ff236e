"""Concepts of Pylos that a network might see: what is true of a position, worked out from the rules.

All are told from the side of the mover, who is about to place or raise. A concept is one truth for the whole position,
or several of a kind: one for each cell, pair of cells or square. Some are asked only where they are a question.

    neighbours         two cells side by side both hold spheres of the mover (each of 40 pairs)
    partial square     the mover has two cells of a square, the other two are empty (each of 14 squares)
    support            all four cells below a cell are filled (each of the 14 upper cells)
    freedom            the mover's sphere on a cell carries nothing, so it may be lifted (each of 30 cells)
    own near-square    the mover has three cells of a square; the fourth is empty and supported (each of 14)
    other near-square  the same of the other player
    take-back in one   the mover has a move that completes a square or line of his: he takes back this turn
    take-back in two   the mover has a move after which, whatever the other answers, he has a move that completes a
                       square or line; asked where he has none this turn. An answer that ends the game breaks it
    block              the mover has a move after which the other has none that completes a square or line, or which
                       wins; asked where the other would have one if it were his turn
    winner             the mover went on to win the game; asked in games that were not drawn

Moves, answers and take-backs within a concept are those of the game the positions belong to, in which taking back must
be greedy: the two lowest free spheres come back, so that an answer is one move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from rookery.errors import BadInput
from rookery.games import pylos_board as board
from rookery.games.bits import Word
from rookery.games.pylos import Pylos
from rookery.games.pylos_board import CELLS, bit, carrying, raised, supported
from rookery.games.pylos_turns import PLACING, completes_shape
from rookery.games.rules import State, legal, over, play

UPPER = list(range(16, CELLS))


@dataclass(frozen=True)
class Concept:
    """Truths about N positions."""

    name: str
    labels: np.ndarray
    """[N, T] bool"""
    asked: np.ndarray
    """[N] bool: positions in which it is a question"""

    def facts(self) -> dict[str, Any]:
        """Say how often it is true."""
        labels = self.labels[self.asked]
        return {
            "truths": labels.shape[1],
            "positions": len(labels),
            "share": float(labels.mean()) if labels.size else 0,
        }


# ---- compiled ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def completes(state: State, action: int) -> bool:
    """Tell whether a placement or raise of the mover completes a shape of his; the state is as before afterwards."""
    seat, cell = state.pylos_mover, action
    before = state.spheres[seat]
    if action >= CELLS:
        source, cell = raised(action)
        state.spheres[seat] &= ~bit(source)
    state.spheres[seat] |= bit(cell)
    found = completes_shape(state, seat, cell)
    state.spheres[seat] = before
    return bool(found)


@njit(cache=True, nogil=True)
def can_complete(state: State, moves: Any) -> bool:
    """Tell whether the mover has a move that completes a shape."""
    for i in range(legal(state, moves)):
        if completes(state, moves[i]):
            return True
    return False


@njit(cache=True, nogil=True)
def wherever_completes(state: State, answers: Any, moves: Any, after: Any) -> bool:
    """Tell whether after each move of the mover the game goes on and the other side has a move that completes."""
    for i in range(legal(state, answers)):
        after[0] = state
        play(after[0], answers[i])
        if over(after[0]) or not can_complete(after[0], moves):
            return False
    return True


@njit(cache=True, nogil=True)
def completes_in_two(state: State, moves: Any, stack: Any) -> bool:
    """Tell whether the mover has a move after which every answer leaves him one that completes a shape."""
    for i in range(legal(state, moves[0])):
        stack[0] = state
        play(stack[0], moves[0, i])
        if not over(stack[0]) and wherever_completes(stack[0], moves[1], moves[2], stack[1:]):
            return True
    return False


@njit(cache=True, nogil=True)
def is_threatened(state: State, moves: Any, stack: Any) -> bool:
    """Tell whether the other player could complete a shape if it were his turn."""
    stack[0] = state
    stack[0].pylos_mover = 1 - state.pylos_mover
    return bool(can_complete(stack[0], moves[0]))


@njit(cache=True, nogil=True)
def can_block(state: State, moves: Any, stack: Any) -> bool:
    """Tell whether the mover has a move after which the other player completes nothing, or after which he has won."""
    for i in range(legal(state, moves[0])):
        stack[0] = state
        play(stack[0], moves[0, i])
        if over(stack[0]) or not can_complete(stack[0], moves[1]):
            return True
    return False


@njit(cache=True, nogil=True)
def look_ahead(states: Any, moves: Any, stack: Any, out: Any) -> None:
    """Write for every position: take-back in one, take-back in two, threatened, block."""
    for n in range(len(states)):
        out[n, 0] = can_complete(states[n], moves[0])
        out[n, 1] = completes_in_two(states[n], moves, stack)
        out[n, 2] = is_threatened(states[n], moves, stack)
        out[n, 3] = can_block(states[n], moves, stack)


@njit(cache=True, nogil=True)
def layout(states: Any, own: Any, other: Any, held: Any, free: Any) -> None:
    """Write sets of cells: the mover's spheres, the other's, supported cells, the mover's spheres that are free."""
    for n in range(len(states)):
        seat = states[n].pylos_mover
        own[n], other[n] = states[n].spheres[seat], states[n].spheres[1 - seat]
        both = own[n] | other[n]
        held[n], free[n] = supported(both), own[n] & ~carrying(both)


# ---- truths --------------------------------------------------------------------------------------


def neighbours() -> list[tuple[int, int]]:
    """List the 40 pairs of cells side by side on one level."""
    pairs = []
    for first, (level, row, col) in enumerate(board.PLACES):
        if col + 1 < board.SIZES[level]:
            pairs.append((first, board.cell_of(level, row, col + 1)))
        if row + 1 < board.SIZES[level]:
            pairs.append((first, board.cell_of(level, row + 1, col)))
    return pairs


def members(sets: np.ndarray, cells: Any) -> np.ndarray:
    """Tell which cells are in which sets: [N] words to [N, ...] bool."""
    places = np.asarray(cells, np.uint32)
    found: np.ndarray = sets.reshape(-1, *[1] * places.ndim) >> places & np.uint32(1) == 1
    return found


def near_squares(own: Word, other: Word, held: Word) -> np.ndarray:
    """Tell which squares lack one sphere of a colour on a cell that is empty and supported: [N] words to [N, 14]."""
    squares = board.squares()
    full, empty_held = members(own, squares), members(~(own | other) & held, squares)
    found: np.ndarray = (full.sum(2) == 3) & (empty_held.sum(2) == 1)
    return found


def concepts(game: Pylos, states: np.ndarray, outcomes: np.ndarray) -> list[Concept]:
    """Work out all concepts of positions [N], in which the mover is to place or raise and the game goes on.

    outcomes  [N] of the games they come from, for the mover; 0 for draws
    """
    if game.removal != "greedy" or (states["phase"] != PLACING).any() or states["result"].any():
        raise BadInput(f"concepts are told of positions of pylos:removal=greedy that go on, not of {game.label}")
    states, count = states.copy(), len(states)
    states["turns"] = 0  # what is true of a position does not depend on how late it is
    own, other, held, free = (np.zeros(count, np.uint32) for _ in range(4))
    layout(states, own, other, held, free)
    ahead = np.zeros((count, 4), bool)
    look_ahead(states, np.zeros((3, game.most_legal), np.int32), game.empty_states(2), ahead)
    squares, empty = members(own, board.squares()), members(~(own | other), board.squares())
    partial: np.ndarray = (squares.sum(2) == 2) & (empty.sum(2) == 2)
    every = np.ones(count, bool)
    return [
        Concept("neighbours", np.asarray(members(own, neighbours()).all(2)), every),
        Concept("partial square", partial, every),
        Concept("support", members(held, UPPER), every),
        Concept("freedom", members(free, list(range(CELLS))), every),
        Concept("own near-square", near_squares(own, other, held), every),
        Concept("other near-square", near_squares(other, own, held), every),
        Concept("take-back in one", ahead[:, :1], every),
        Concept("take-back in two", ahead[:, 1:2], ~ahead[:, 0]),
        Concept("block", ahead[:, 3:], ahead[:, 2]),
        Concept("winner", outcomes[:, None] > 0, outcomes != 0),
    ]
