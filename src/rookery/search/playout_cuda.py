"""Random play on a card, one game to a thread: the same games as `rookery.search.playout`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int32

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.rules import key, payoff, start
from rookery.search.cuda import cuda, require_card
from rookery.search.playout import RandomGames, playout

BLOCK = 128
MOST_LEGAL = 512  # room for a legal list in a thread's own memory


@cuda.jit(cache=True)
def play_games(options: Any, seed: Any, first: Any, keys: Any, payoffs: Any, plies: Any) -> None:
    """Play game first + g on thread g."""
    g = cuda.grid(1)
    if g < keys.shape[0]:
        # A thread's own memory is laid out so that the 32 threads of a warp read neighbouring words.
        moves = cuda.local.array(MOST_LEGAL, int32)
        states = cuda.local.array(1, options.dtype)
        states[0] = options[0]
        state = states[0]
        start(state, first + g)
        plies[g] = playout(state, moves, seed, first + g)
        keys[g] = key(state)
        for seat in range(payoffs.shape[1]):
            payoffs[g, seat] = payoff(state, seat)


def random_games(game: Game, games: int, seed: int = 0, first: int = 0) -> RandomGames:
    """Play random games on the card; equal to those of the CPU, game by game."""
    require_card()
    if game.most_legal > MOST_LEGAL:
        raise BadInput(f"{game.name} can have {game.most_legal} legal moves; on a card at most {MOST_LEGAL} fit")
    done = RandomGames.room_for(games, game.seats)
    arrays = [cuda.device_array_like(array) for array in (done.keys, done.payoffs, done.plies)]
    options = cuda.to_device(game.empty_states())
    play_games[(games + BLOCK - 1) // BLOCK, BLOCK](options, np.int64(seed), np.int64(first), *arrays)
    for array, on_card in zip((done.keys, done.payoffs, done.plies), arrays, strict=True):
        on_card.copy_to_host(array)
    return done
