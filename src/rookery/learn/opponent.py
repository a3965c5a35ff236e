"""A fixed opponent: a player of the arena that holds the other side in games the network learns from.

In game number g the network plays team g % 2. After each of its moves the opponent answers at once, until the network
is to move again or the game is over: so all games side by side wait for the network together. What the opponent does
follows from the position and the numbers of game and ply, so a run can be taken up again where it was left, if the
player gives the same answer to the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from rookery.arena.player import Choice, Player, PlayerFailed, Turn, turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.gomoku import Gomoku
from rookery.games.position import Position
from rookery.games.rules import mover
from rookery.learn.book import PLAYING
from rookery.learn.lessons import baseline_depth
from rookery.search.gomoku_replies import baseline_moves
from rookery.search.threads import cores, new_stop, on_threads

TEAMS = 2
SEED = 0x0B0E  # so that an opponent draws other numbers than the games do


@njit(cache=True, nogil=True)
def find_movers(roots: Any, playing: Any, seats: Any) -> None:
    """Write who is to move in every game that goes on."""
    for b in range(roots.shape[0]):
        if playing[b]:
            seats[b] = mover(roots[b])


class Opponent:
    """The other side of all games, asked for as many moves at once as are due."""

    def __init__(self, text: str, game: Game, seed: int, threads: int = 0):
        """Make the player, once for each thread; 0 threads: as many as there are processors."""
        self.text, self.game, self.seed = text, game, seed ^ SEED
        self.players: list[Player] = [make_player(text, game)]
        self.players[0].prepare(game.start())
        self.threads = threads or cores()
        self.depth = baseline_depth(text, game)
        """of Gomoku's baseline, which is asked by compiled code; 0: another player"""

    def replies(self, roots: np.ndarray, games: np.ndarray) -> np.ndarray:
        """Return the opponent's move in every game, -1 where it has none to make: [B] int32.

        roots  [B] states
        games  [B] GAME
        """
        actions = np.full(len(roots), -1, np.int32)
        due = np.flatnonzero(self.is_due(roots, games))
        if self.depth:
            assert isinstance(self.game, Gomoku)
            actions[due] = baseline_moves(self.game, roots[due], self.depth, self.threads)
        else:
            numbers = zip(games["number"][due].tolist(), games["plies"][due].tolist(), strict=True)
            positions = (Position(self.game, roots[b : b + 1].copy()) for b in due)
            actions[due] = self.chosen([(position, *known) for position, known in zip(positions, numbers, strict=True)])
        return actions

    def is_due(self, roots: np.ndarray, games: np.ndarray) -> np.ndarray:
        """Tell in which games the opponent is to move, [B] bool."""
        playing = games["ending"] == PLAYING
        seats = np.zeros(len(roots), np.int64)
        find_movers(roots, playing, seats)
        due: np.ndarray = playing & (np.array(self.game.teams)[seats] != games["number"] % TEAMS)
        return due

    def chosen(self, asked: Sequence[tuple[Position, int, int]]) -> list[int]:
        """Ask for moves of positions, each with the numbers of its game and ply, shared out among threads."""
        parts = min(self.threads, len(asked))
        while len(self.players) < parts:
            self.players.append(make_player(self.text, self.game))
        bounds = [len(asked) * part // max(1, parts) for part in range(parts + 1)]

        def some(part: int) -> list[int]:
            player = self.players[part]
            turns = [self.turn(player, *each) for each in asked[bounds[part] : bounds[part + 1]]]
            return [self.checked(turn, choice) for turn, choice in zip(turns, self.choices(player, turns), strict=True)]

        return [action for found in on_threads(some, range(parts), max(1, parts), new_stop()) for action in found]

    def turn(self, player: Player, position: Position, number: int, ply: int) -> Turn:
        """Make what a player is asked: a position by itself, for the moves before it are not at hand."""
        return turn_of(player, position, position, (), seed=turn_seed(self.seed, number, ply))

    def choices(self, player: Player, turns: Sequence[Turn]) -> list[Choice]:
        """Ask a player."""
        try:
            return player.choose_many(turns)
        except PlayerFailed as error:
            raise BadInput(f"selfplay.opponent: {self.text!r} failed: {error}") from None

    def checked(self, turn: Turn, choice: Choice) -> int:
        """Return a move if it is legal."""
        if choice.action not in turn.position.legal():
            raise BadInput(
                f"selfplay.opponent: {self.text!r} plays {choice.action} in {turn.position.text()!r}, illegal"
            )
        return choice.action
