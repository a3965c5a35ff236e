"""Players by their text form."""

from __future__ import annotations

from rookery.arena.player import Choice, Player, Turn
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.rng import random_below


class Random(Player):
    """Plays any legal move, each as likely as the others."""

    name = "random"

    def choose(self, turn: Turn) -> Choice:
        legal = turn.position.legal()
        return Choice(int(legal[random_below(len(legal), turn.seed, 0, 0)]))


def make_player(text: str, game: Game) -> Player:
    """Make the player that a text names, for a game."""
    if text != "random":
        raise BadInput(f"there is no player {text!r}; there is random")
    return Random()
