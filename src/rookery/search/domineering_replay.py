"""Games of Domineering on 16 x 16 as lists of moves: whether they can be, and which begin alike."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word
from rookery.games.domineering import is_legal, over, play, start
from rookery.games.rng import hashed
from rookery.games.rules import State
from rookery.search.domineering_gains import PLACES, lay, set_empty

SOUND, BAD_LENGTH, ILLEGAL, UNFINISHED, WRONG_WINNER, NOT_PADDED = range(6)
"""what may be wrong with a game"""

NEIGHBOURS = uint64(0x5555555555555555)
PAIRS = uint64(0x3333333333333333)
FOURS = uint64(0x0F0F0F0F0F0F0F0F)
EIGHTS = uint64(0x00FF00FF00FF00FF)


@njit(cache=True, nogil=True)
def first_fault(
    state: State, moves: np.ndarray, lengths: np.ndarray, winners: np.ndarray, explored: np.ndarray
) -> tuple[int, int, int]:
    """Return what is wrong with the first game that is not as the rules have it, its number, and the ply.

    state     room for a position, with the options set
    moves     [G, L] actions, -1 behind the end
    lengths   [G] plies
    winners   [G] whether Vertical won
    explored  [G, L] False behind the end
    """
    longest = moves.shape[1]
    for g in range(moves.shape[0]):
        length = int(lengths[g])
        if not 0 <= length <= longest:
            return BAD_LENGTH, g, 0
        start(state, 0)
        for ply in range(length):
            action = int(moves[g, ply])
            if not 0 <= action < 2 * PLACES or not is_legal(state, action):
                return ILLEGAL, g, ply
            play(state, action)
        if not over(state):
            return UNFINISHED, g, length
        if bool(winners[g]) != (state.domineering_mover == 1):  # whose turn it is has lost
            return WRONG_WINNER, g, length
        for ply in range(length, longest):
            if moves[g, ply] != -1 or explored[g, ply]:
                return NOT_PADDED, g, ply
    return SOUND, -1, -1


@njit(cache=True, nogil=True)
def mirrored(word: Word) -> Word:
    """Turn each of four lines around."""
    word = ((word >> uint64(1)) & NEIGHBOURS) | ((word & NEIGHBOURS) << uint64(1))
    word = ((word >> uint64(2)) & PAIRS) | ((word & PAIRS) << uint64(2))
    word = ((word >> uint64(4)) & FOURS) | ((word & FOURS) << uint64(4))
    return ((word >> uint64(8)) & EIGHTS) | ((word & EIGHTS) << uint64(8))


@njit(cache=True, nogil=True)
def flipped(word: Word) -> Word:
    """Turn the order of four lines around."""
    word = (word >> uint64(32)) | (word << uint64(32))
    low = uint64(0x0000FFFF0000FFFF)
    return ((word >> uint64(16)) & low) | ((word & low) << uint64(16))


@njit(cache=True, nogil=True)
def board_key(free: np.ndarray) -> Word:
    """Return a hash of the free squares that is the same for a board and its mirror images."""
    least = uint64(0xFFFFFFFFFFFFFFFF)
    for symmetry in range(4):
        key = uint64(0)
        for i in range(4):
            word = flipped(free[0, 3 - i]) if symmetry & 1 else free[0, i]
            key = hashed(key ^ (mirrored(word) if symmetry & 2 else word))
        least = min(least, key)
    return least


@njit(cache=True, nogil=True)
def fill_opening_keys(moves: np.ndarray, plies: int, keys: np.ndarray) -> None:
    """Write the key of the board after so many plies of each game, or at its end if that comes first."""
    free = np.empty((2, 4), np.uint64)
    for g in range(moves.shape[0]):
        set_empty(free)
        for ply in range(min(plies, moves.shape[1])):
            action = int(moves[g, ply])
            if action < 0:
                break
            lay(free, action // PLACES, action % PLACES)
        keys[g] = board_key(free)


def opening_keys(moves: np.ndarray, plies: int) -> np.ndarray:
    """Return a number [G] uint64 for each game that is the same for games that begin alike.

    Two games begin alike if after so many plies the same squares are covered, in whatever order that came about, or the
    squares of a mirror image.
    """
    keys = np.empty(len(moves), np.uint64)
    fill_opening_keys(moves, plies, keys)
    return keys
