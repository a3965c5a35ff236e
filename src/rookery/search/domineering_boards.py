"""Many positions of Domineering on 16 x 16 side by side: random openings, a move in each, and a short search in each.

Positions are records of the rules (`games/domineering.py`), whose covered squares are those of `domineering_gains` that
are not free, in the same two views.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, uint64

from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.games.rng import below, random_bits, stream_of
from rookery.games.rules import over, play, start
from rookery.search.domineering_gains import OWN, PLACES, PLANES, count_plane, lay, nth_move, set_empty, survey
from rookery.search.domineering_guided import DEPTH_ONE, DEPTH_TWO, Guidance, choose
from rookery.search.threads import new_stop, on_threads

LONGEST_OPENING = 64
"""plies; a move takes seven of the 480 moves at most, so nobody can have lost before"""
SLICE = 64
"""positions that a thread takes at a time"""


@njit(cache=True, nogil=True)
def fill_openings(seed: int, first: int, moves: np.ndarray) -> None:
    """Write random openings into `moves` [G, plies]: game `first` + g draws from its own stream of the seed."""
    free = np.empty((2, 4), np.uint64)
    planes = np.empty((PLANES, 4), np.uint64)
    for g in range(moves.shape[0]):
        key = stream_of(seed, first + g)
        set_empty(free)
        for ply in range(moves.shape[1]):
            seat = ply & 1
            survey(free, seat, planes)
            place = nth_move(planes, int64(below(count_plane(planes, OWN), key, ply)))
            lay(free, seat, place)
            moves[g, ply] = seat * PLACES + place


def random_openings(games: int, plies: int, seed: int, first: int = 0) -> np.ndarray:
    """Return the random openings [games, plies] int16 of games `first`, `first` + 1, ... of a seed."""
    whole_number("plies of an opening", plies, 0, LONGEST_OPENING)
    moves = np.empty((whole_number("games", games, 0, 1 << 40), plies), np.int16)
    fill_openings(whole_number("seed", seed, 0, (1 << 63) - 1), first, moves)
    return moves


@njit(cache=True, nogil=True)
def set_up(states: np.ndarray, moves: np.ndarray) -> None:
    """Set positions to what comes after moves [G, plies] from the start."""
    for g in range(states.shape[0]):
        start(states[g], 0)
        for ply in range(moves.shape[1]):
            play(states[g], int(moves[g, ply]))


@njit(cache=True, nogil=True)
def play_all(states: np.ndarray, actions: np.ndarray, ended: np.ndarray) -> None:
    """Play a move in each position, and note whether that ended the game."""
    for g in range(states.shape[0]):
        play(states[g], int(actions[g]))
        ended[g] = over(states[g])


def after_openings(moves: np.ndarray) -> np.ndarray:
    """Return the positions after openings [G, plies], as records of the rules."""
    states: np.ndarray = load("domineering").empty_states(len(moves))
    set_up(states, moves)
    return states


@njit(cache=True, nogil=True)
def choose_some(
    states: np.ndarray, seeds: np.ndarray, guidance: np.ndarray, stop: np.ndarray, actions: np.ndarray
) -> None:
    """Write the move of a short search in each position, as guided games have it but for their random moves."""
    desk = np.empty((3, PLANES, 4), np.uint64)
    order = np.empty((2, PLACES), np.int64)
    free = np.empty((2, 4), np.uint64)
    for g in range(states.shape[0]):
        if stop[0]:
            return
        seat = states[g].domineering_mover
        for view in range(2):
            for word in range(4):
                free[view, word] = ~states[g].covered[view, word]
        survey(free, seat, desk[0])
        count = count_plane(desk[0], OWN)
        depth = 1 if count >= guidance[DEPTH_ONE] else 2 if count >= guidance[DEPTH_TWO] else 3
        place = choose(free, seat, depth, stream_of(seeds[g], 0), 0, desk, order)
        actions[g] = seat * PLACES + place


def guided_moves(
    states: np.ndarray, seeds: np.ndarray, guidance: Guidance | None = None, threads: int = 1
) -> np.ndarray:
    """Return the move [G] of a short search in each position; of equal moves a seed [G] decides."""
    actions, numbers, stop = np.empty(len(states), np.int64), (guidance or Guidance()).numbers, new_stop()

    def look(begin: int) -> None:
        some = slice(begin, begin + SLICE)
        choose_some(states[some], seeds[some], numbers, stop, actions[some])

    on_threads(look, range(0, len(states), SLICE), threads, stop)
    return actions


@njit(cache=True, nogil=True)
def fill_seeds(seed: int, numbers: np.ndarray, ply: int, seeds: np.ndarray) -> None:
    """Write the seeds of the moves that are made at a ply in games of the given numbers."""
    for g in range(numbers.shape[0]):
        seeds[g] = int64(random_bits(seed, numbers[g], ply) >> uint64(1))


def turn_seeds(seed: int, numbers: np.ndarray, ply: int) -> np.ndarray:
    """Return the seeds [G] of the moves that are made at a ply in games of the given numbers [G]."""
    seeds = np.empty(len(numbers), np.int64)
    fill_seeds(seed, numbers, ply, seeds)
    return seeds
