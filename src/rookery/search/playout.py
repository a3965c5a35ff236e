"""Random play: whole games with uniformly random legal moves.

Game number g of a seed is a pure function of (seed, g): `start` deals with g, and move k is drawn as number k of
stream g. So the same games come out on one thread, on many, and on a card.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import njit

from rookery.games.game import Game
from rookery.games.rng import random_below
from rookery.games.rules import State, key, legal, over, payoff, play, start


@njit(cache=True, nogil=True)
def playout(state: State, moves: np.ndarray, seed: int, stream: int) -> int:
    """Play random moves to the end of the game, in place; return how many. `moves` is room for a legal list."""
    plies = 0
    while not over(state):
        count = legal(state, moves)
        play(state, moves[random_below(count, seed, stream, plies)])
        plies += 1
    return plies


@njit(cache=True, nogil=True)
def play_range(
    options: np.ndarray,
    most_legal: int,
    seed: int,
    first: int,
    keys: np.ndarray,
    payoffs: np.ndarray,
    plies: np.ndarray,
) -> None:
    """Play the games first, first + 1, ... and write each one's last key, payoffs [G, seats] and length."""
    states = options.copy()
    moves = np.empty(most_legal, np.int32)
    for g in range(keys.shape[0]):
        state = states[0]
        start(state, first + g)
        plies[g] = playout(state, moves, seed, first + g)
        keys[g] = key(state)
        for seat in range(payoffs.shape[1]):
            payoffs[g, seat] = payoff(state, seat)


@dataclass(frozen=True)
class RandomGames:
    """What remains of random games 0..G-1 of a seed."""

    keys: np.ndarray  # [G] uint64, of the last position
    payoffs: np.ndarray  # [G, seats] float32
    plies: np.ndarray  # [G] int32

    @classmethod
    def room_for(cls, games: int, seats: int) -> RandomGames:
        """Make empty arrays."""
        return cls(np.zeros(games, np.uint64), np.zeros((games, seats), np.float32), np.zeros(games, np.int32))


def random_games(game: Game, games: int, seed: int = 0, threads: int = 1, slice_games: int = 4096) -> RandomGames:
    """Play random games on CPU threads; the result does not depend on their number.

    Work goes to the threads in slices, so that an interrupt is heard between two of them.
    """
    done = RandomGames.room_for(games, game.seats)

    def play_slice(first: int) -> None:
        part = slice(first, first + slice_games)
        play_range(
            game.empty_states(), game.most_legal, seed, first, done.keys[part], done.payoffs[part], done.plies[part]
        )

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(play_slice, range(0, games, slice_games)):
            pass
    return done
