"""A network that plays the many games of a match that is only counted: it tells its moves and nothing else.

What a search thinks of every move of every game is written by Python, and takes longer than a short search itself. On a
card games are searched in parts, each on a thread of its own: one part walks its trees while another asks the network.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from rookery.arena.fours_player import FoursPlayer
from rookery.arena.matches import Match, MatchSettings, play_match
from rookery.arena.network_player import NetworkPlayer
from rookery.arena.player import Choice, Player, PlayerFailed, Turn
from rookery.arena.records import GameRecord
from rookery.games.game import Game
from rookery.nets.files import Loaded
from rookery.search.analysis import Limits
from rookery.search.trees import Trees

PARTS, LEAST_OF_PART = 2, 32  # of the games on a card, and games of a part: a pass over few costs as much


class Crowd(NetworkPlayer):
    """A player that plays what a tree search with a network finds, in many games."""

    parts = 1

    def __init__(
        self, loaded: Loaded, limits: Limits, usual: Limits, settings: Mapping[str, Any] | None = None,
        device: str = "auto", cache: int = 0, precision: str = "auto",
    ):  # fmt: skip
        super().__init__(loaded, limits, usual, settings, device, cache, precision)
        if self.evaluator.device.type == "cuda":
            self.parts = PARTS

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Search several games together, in parts where there are many."""
        size = max(LEAST_OF_PART, -(-len(turns) // self.parts))
        groups = [turns[first : first + size] for first in range(0, len(turns), size)]
        if len(groups) == 1:
            return super().choose_many(turns)
        with ThreadPoolExecutor(len(groups)) as pool:
            found = pool.map(super().choose_many, groups)
            return [choice for group in found for choice in group]

    def told(self, trees: Trees) -> list[Choice]:
        """Tell the moves alone."""
        return [Choice(action) for action in trees.choose()]


class FoursCrowd(FoursPlayer, Crowd):
    """The same in Gomoku, with wins by fours at the root and at leaves; who looks for them does so for one part."""

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Look for fours in every game, and search the others together."""
        self.parts = 1
        return super().choose_many(turns)


def crowd_of(
    loaded: Loaded, game: Game, simulations: int, settings: Mapping[str, Any], device: str, precision: str,
    fours: bool = False,
) -> Crowd:  # fmt: skip
    """Make the player of a network for many games, with wins by fours at its leaves or without."""
    limits = Limits(nodes=simulations)
    if fours:
        return FoursCrowd(loaded, game, "leaves", limits, limits, settings, device, precision=precision)
    return Crowd(loaded, limits, limits, settings, device, precision=precision)


class Regulars:
    """Players of networks that come again with other weights: on a card making one takes longer than new weights do."""

    def __init__(self) -> None:
        self.players: dict[Hashable, Crowd] = {}

    def player(self, key: Hashable, name: str, loaded: Loaded, make: Callable[[], Crowd]) -> Crowd:
        """Return the player of a network, which has a name; those of one key differ in weights alone."""
        if key in self.players:
            self.players[key].evaluator.update(loaded.network)
            return self.players[key]
        player = self.players[key] = make()
        player.name = name
        return player


def play_counted(
    game: Game, first: Callable[[], Player], second: Callable[[], Player], how: MatchSettings,
    watch: Callable[[Match, GameRecord], None] | None = None,
) -> Match:  # fmt: skip
    """Play a match that is only counted; a player that fails ends it, since its games would count as lost."""
    threads = torch.get_num_threads()  # a network on a processor judges on one, in a thread of its own
    try:
        match = play_match(game, first, second, how, watch)
    finally:
        torch.set_num_threads(threads)
    for record in match.records.values():
        if record.reason.startswith(tuple(f"{name}: " for name in match.names)):
            raise PlayerFailed(f"the match could not be played: {record.reason}")
    return match
