"""The course of a turn of Pylos: what can be placed, raised and taken back, and when the game ends.

Compiled functions on a state's record, which `pylos` defines.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint32, uint64

from rookery.games import pylos_board as board
from rookery.games.bits import Word, lowest_bit, popcount
from rookery.games.pylos_board import APEX, RAISES, bit, carrying, supported
from rookery.games.rules import State

SHAPES_COUNTED = np.array([0, 4, 6])  # by rule set: no shapes, squares, squares and lines
SHAPES = board.shapes_through()
SPHERES = 15
STOP = 302  # the action that ends taking back
LONGEST_HISTORY = 256
ENTERED = uint64(1 << 63)  # set in every entry of the history, so that an empty one equals no position
ON, DRAWN = 0, 3  # results; 1 and 2: seat 0 or 1 has won
PLACING, MUST_TAKE, MAY_TAKE = 0, 1, 2  # phases of a turn


@njit(cache=True, nogil=True)
def open_cells(state: State) -> Word:
    """Return the empty cells on which a sphere could be put."""
    both = uint32(state.spheres[0] | state.spheres[1])
    return uint32(supported(both) & ~both)


@njit(cache=True, nogil=True)
def free_spheres(state: State, seat: int) -> Word:
    """Return the spheres of a seat that carry nothing."""
    return uint32(state.spheres[seat] & ~carrying(uint32(state.spheres[0] | state.spheres[1])))


@njit(cache=True, nogil=True)
def reserve(state: State, seat: int) -> int:
    """Count the spheres a seat has not in the pyramid."""
    return SPHERES - popcount(state.spheres[seat])


@njit(cache=True, nogil=True)
def completes_shape(state: State, seat: int, cell: int) -> bool:
    """Tell whether the sphere on a cell is part of a shape of its colour that counts."""
    own = state.spheres[seat]
    for i in range(SHAPES_COUNTED[state.rules]):
        if own & SHAPES[cell, i] == SHAPES[cell, i]:
            return True
    return False


@njit(cache=True, nogil=True)
def can_move(state: State) -> bool:
    """Tell whether the mover can place or raise; with a sphere in reserve there is always a cell for it."""
    seat = state.pylos_mover
    if reserve(state, seat) > 0:
        return True
    cells, free = open_cells(state), free_spheres(state, seat)
    while free != uint32(0):
        if cells & RAISES[lowest_bit(free)] != uint32(0):
            return True
        free &= free - uint32(1)
    return False


@njit(cache=True, nogil=True)
def packed(state: State) -> Word:
    """Put spheres, mover and phase into 63 bits: two positions are the same if these are."""
    spheres = uint64(state.spheres[0]) | (uint64(state.spheres[1]) << uint64(30))
    return spheres | (uint64(state.pylos_mover) << uint64(60)) | (uint64(state.phase) << uint64(61))


@njit(cache=True, nogil=True)
def repeated(state: State) -> bool:
    """Enter the position reached by a turn and tell whether it has now occurred as often as is allowed."""
    position = packed(state) | ENTERED
    state.history[state.turns - 1] = position
    occurrences = 0
    for i in range(state.turns):
        if state.history[i] == position:
            occurrences += 1
    return bool(occurrences >= state.repetition_cap)


@njit(cache=True, nogil=True)
def judge(state: State) -> None:
    """Set the result: an apex, a mover who cannot move, then the cap on turns."""
    for seat in range(2):
        if state.spheres[seat] & bit(APEX) != uint32(0):
            state.result = seat + 1
            return
    if state.phase == PLACING and not can_move(state):
        state.result = 2 - state.pylos_mover
    elif state.turns >= state.ply_cap:
        state.result = DRAWN
    else:
        state.result = ON


@njit(cache=True, nogil=True)
def end_turn(state: State) -> None:
    """Hand the turn to the other seat and see whether the game has ended."""
    state.pylos_mover = 1 - state.pylos_mover
    state.phase = PLACING
    state.turns += 1
    judge(state)
    if state.repetition_cap > 0 and repeated(state) and state.result == ON:
        state.result = DRAWN


@njit(cache=True, nogil=True)
def take_lowest(state: State, seat: int) -> None:
    """Take back the lowest free sphere of a seat, if there is one."""
    free = free_spheres(state, seat)
    state.spheres[seat] &= ~(free & (~free + uint32(1)))


@njit(cache=True, nogil=True)
def take_back(state: State, action: int) -> None:
    """Play an action of the take-back phase."""
    seat = state.pylos_mover
    if action != STOP:
        state.spheres[seat] &= ~bit(action)
        if state.phase == MUST_TAKE and free_spheres(state, seat) != uint32(0):
            state.phase = MAY_TAKE
            return
    end_turn(state)
