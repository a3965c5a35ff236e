"""Random play on a card, one game to a thread: the same games as `rookery.search.playout`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import int16

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.search.cuda import cuda, require_card
from rookery.search.playout import RandomGames, play_games
from rookery.search.threads import new_stop

SHARED_BYTES = 48 * 1024  # of fast memory a block may ask for
PROCESSOR_BYTES = 200 * 1024  # of it on each processor, leaving some for the states
PROCESSOR_THREADS = 1024
MOVE_BYTES = 2
MOST_LEGAL = SHARED_BYTES // (32 * MOVE_BYTES)
MOST_ACTIONS = 1 << 15


@cuda.jit(cache=True)
def play_on_card(options: Any, seed: Any, first: Any, stop: Any, keys: Any, payoffs: Any, plies: Any) -> None:
    """Let every thread play its share of the games.

    Legal lists lie in shared memory, one column to a thread. The threads of a warp write to different places of their
    lists; in a thread's own memory each place is another line of the cache, which made Gomoku eight times slower.
    """
    lists = cuda.shared.array(0, int16)
    moves = lists[cuda.threadIdx.x :: cuda.blockDim.x]
    states = cuda.local.array(1, options.dtype)
    states[0] = options[0]
    play_games(states[0], moves, seed, first, cuda.grid(1), cuda.gridsize(1), stop, keys, payoffs, plies)


@dataclass(frozen=True)
class GamesOnCard:
    """Random games whose results lie on the card."""

    game: Game
    options: Any
    stop: Any
    keys: Any
    payoffs: Any
    plies: Any

    def play(self, seed: int, first: int = 0) -> None:
        """Play the games of a seed from number `first` on. Returns at once; the card works on."""
        block = 64 if 64 * MOVE_BYTES * self.game.most_legal <= SHARED_BYTES else 32
        shared = block * MOVE_BYTES * max(1, self.game.most_legal)
        at_once = min(PROCESSOR_THREADS // block, PROCESSOR_BYTES // shared)
        processors = cuda.get_current_device().MULTIPROCESSOR_COUNT
        blocks = min(-(-self.keys.shape[0] // block), at_once * processors)
        results = self.keys, self.payoffs, self.plies
        play_on_card[blocks, block, 0, shared](self.options, np.int64(seed), np.int64(first), self.stop, *results)

    def fetch(self) -> RandomGames:
        """Copy the results to the host, waiting for the card."""
        return RandomGames(*(array.copy_to_host() for array in (self.keys, self.payoffs, self.plies)))


def room_on_card(game: Game, games: int) -> GamesOnCard:
    """Make room for the results of random games on the card."""
    require_card()
    if game.most_legal > MOST_LEGAL:
        raise BadInput(f"{game.name} can have {game.most_legal} legal moves; on a card at most {MOST_LEGAL} fit")
    if game.actions > MOST_ACTIONS:
        raise BadInput(f"{game.name} has {game.actions} actions; on a card at most {MOST_ACTIONS} can be numbered")
    room = RandomGames.room_for(games, game.seats)
    arrays = [cuda.to_device(array) for array in (new_stop(), room.keys, room.payoffs, room.plies)]
    return GamesOnCard(game, cuda.to_device(game.empty_states()), *arrays)


def random_games(game: Game, games: int, seed: int = 0) -> RandomGames:
    """Play random games on the card; equal to those of the CPU, game by game."""
    on_card = room_on_card(game, games)
    on_card.play(seed)
    return on_card.fetch()
