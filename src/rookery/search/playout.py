"""Random play: whole games with uniformly random legal moves.

Game number g of a seed is a pure function of (seed, g): `start` deals with g, and move k is drawn as number k of
stream g. So the same games come out on one thread, on many, and on a card.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.games.rng import random_below
from rookery.games.rules import State, key, legal, over, payoff, play, start
from rookery.search.threads import new_stop, on_threads


@njit(cache=True, nogil=True)
def play_games(
    state: State,
    moves: np.ndarray,
    seed: int,
    first: int,
    g: int,
    stride: int,
    stop: np.ndarray,
    keys: np.ndarray,
    payoffs: np.ndarray,
    plies: np.ndarray,
) -> None:
    """Play the games g, g + stride, ... of a range that begins with number `first`, one after the other.

    A single loop over plies, not a loop over games around one: on a card the threads of a warp then start their next
    games one by one instead of waiting for the longest.

    state    room for a position, with the options set
    moves    room for a legal list
    stop     [1] looked at after each game; 1: return
    keys     [G] of the last position
    payoffs  [G, seats]
    plies    [G] length of the game
    """
    ply = 0
    start(state, first + g)
    while g < keys.shape[0]:
        if over(state):
            keys[g] = key(state)
            plies[g] = ply
            for seat in range(payoffs.shape[1]):
                payoffs[g, seat] = payoff(state, seat)
            g = keys.shape[0] if stop[0] else g + stride
            ply = 0
            start(state, first + g)
        else:
            count = legal(state, moves)
            play(state, int(moves[random_below(count, seed, first + g, ply)]))
            ply += 1


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


def random_games(game: Game, games: int, seed: int = 0, threads: int = 1, slice_games: int = 512) -> RandomGames:
    """Play random games on CPU threads, handed out in slices; neither number changes the result."""
    done, stop = RandomGames.room_for(whole_number("games", games, 0, 2**40), game.seats), new_stop()

    def play_slice(first: int) -> None:
        part = slice(first, first + slice_games)
        state, moves = game.empty_states()[0], np.empty(game.most_legal, np.int32)
        play_games(state, moves, seed, first, 0, 1, stop, done.keys[part], done.payoffs[part], done.plies[part])

    on_threads(play_slice, range(0, games, slice_games), threads, stop)
    return done
