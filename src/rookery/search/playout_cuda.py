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

BLOCK = 128
BLOCKS_PER_PROCESSOR = 8
MOST_LEGAL = 512  # room for a legal list in a thread's own memory
MOST_ACTIONS = 1 << 15


@cuda.jit(cache=True)
def play_on_card(options: Any, seed: Any, first: Any, keys: Any, payoffs: Any, plies: Any) -> None:
    """Let every thread play its share of the games."""
    # A thread's own memory is laid out so that the 32 threads of a warp read neighbouring words. What all threads keep
    # there competes for the cache: 16-bit moves make Domineering half as fast again as 32-bit ones.
    moves = cuda.local.array(MOST_LEGAL, int16)
    states = cuda.local.array(1, options.dtype)
    states[0] = options[0]
    play_games(states[0], moves, seed, first, cuda.grid(1), cuda.gridsize(1), keys, payoffs, plies)


@dataclass(frozen=True)
class GamesOnCard:
    """Random games whose results lie on the card."""

    game: Game
    options: Any
    keys: Any
    payoffs: Any
    plies: Any

    def play(self, seed: int, first: int = 0) -> None:
        """Play the games of a seed from number `first` on. Returns at once; the card works on."""
        processors = cuda.get_current_device().MULTIPROCESSOR_COUNT
        blocks = min(-(-self.keys.shape[0] // BLOCK), BLOCKS_PER_PROCESSOR * processors)
        results = self.keys, self.payoffs, self.plies
        play_on_card[blocks, BLOCK](self.options, np.int64(seed), np.int64(first), *results)

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
    arrays = [cuda.to_device(array) for array in (room.keys, room.payoffs, room.plies)]
    return GamesOnCard(game, cuda.to_device(game.empty_states()), *arrays)


def random_games(game: Game, games: int, seed: int = 0) -> RandomGames:
    """Play random games on the card; equal to those of the CPU, game by game."""
    on_card = room_on_card(game, games)
    on_card.play(seed)
    return on_card.fetch()
