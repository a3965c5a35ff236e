"""Self-play from given beginnings: each is played to its end, as a run would have played on from there.

    continued = Continued(game, settings, kind="rich", seed=1)
    ended = continued.play([beginning(game, [0, 5]), beginning(game, [0, 5])], evaluator)

Noise, temperature, limits and outcomes are those of a run with the same settings, except that no round is a cheap one
and that no game begins with random plies. Two games with the same beginning draw different random numbers. Every
beginning is played once, so that short games are not told more often than long ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.position import Position
from rookery.learn.book import ENDINGS, PLAYING, PLY, room
from rookery.learn.sections import SelfplaySettings
from rookery.learn.selfplay import note_all
from rookery.search.evaluator import Evaluator
from rookery.search.tree_kernels import begin_all
from rookery.search.trees import Trees


@dataclass(frozen=True)
class Beginning:
    """The first moves of a game, and where they led."""

    position: Position
    plies: np.ndarray
    """[P] PLY: what a book holds of them"""


@dataclass(frozen=True)
class Ended:
    """A game that was played to its end."""

    actions: tuple[int, ...]
    """from the first of the game on, those of its beginning included"""
    outcomes: np.ndarray
    """[P] float32: of each of them, for the seat that moved"""
    ending: str
    """one of `ENDINGS`"""


def beginning(game: Game, actions: Sequence[int]) -> Beginning:
    """Play the first moves of a game."""
    position, plies = game.start(), np.zeros(len(actions), PLY)
    for ply, action in zip(plies, actions, strict=True):
        ply["seat"], ply["action"] = position.mover, action
        position.play(int(action))
        ply["key"] = position.key
    return Beginning(position, plies)


class Continued:
    """Games of one network against itself from given beginnings, `settings.at_once` of them side by side."""

    def __init__(self, game: Game, settings: SelfplaySettings, kind: str, seed: int):
        self.game, self.settings, self.kind, self.seed = game, settings, kind, seed
        self.begun = 0
        """games begun so far; each has a number, from which its random numbers follow"""

    def play(
        self, beginnings: Sequence[Beginning], evaluator: Evaluator, say: Callable[[int], None] = lambda ended: None
    ) -> list[Ended]:
        """Play every beginning to its end; `say` is called with the number of games ended so far."""
        if not beginnings:
            return []
        self.make_room(min(self.settings.at_once, len(beginnings)))
        waiting = iter(enumerate(beginnings))
        playing = {place: self.begin(place, *next(waiting)) for place in range(self.trees.count)}
        ended: dict[int, Ended] = {}
        while playing:
            self.round(evaluator)
            for place in np.flatnonzero(self.book.games["ending"] != PLAYING).tolist():
                if place in playing:
                    ended[playing.pop(place)] = self.ended(place)
                    for following in waiting:
                        playing[place] = self.begin(place, *following)
                        break
            if 0 < len(playing) <= self.trees.count // 2:  # then none is waiting
                playing = self.close_ranks(playing)
            say(len(ended))
        return [ended[number] for number in range(len(beginnings))]

    def make_room(self, count: int) -> None:
        """Make room for so many games side by side."""
        self.trees = Trees(self.game, self.settings.tree(self.seed), trees=count)
        self.book = room(self.game, self.settings, self.kind, self.seed, count)

    def round(self, evaluator: Evaluator) -> None:
        """Make one move in every game."""
        begin_all(self.trees.arrays, np.full(self.trees.count, self.settings.simulations, np.int32), True)
        self.trees.run(evaluator)
        note_all(self.trees.arrays, self.book, 1)

    def close_ranks(self, playing: dict[int, int]) -> dict[int, int]:
        """Move the games in play to less room, since a round asks the evaluator about every place, empty or not."""
        places, arrays, book = list(playing), self.trees.arrays, self.book
        self.make_room(len(places))
        self.trees.arrays.roots[:], self.trees.arrays.trees[:] = arrays.roots[places], arrays.trees[places]
        self.book.games[:], self.book.plies[:] = book.games[places], book.plies[places]
        return dict(enumerate(playing.values()))

    def begin(self, place: int, number: int, begun: Beginning) -> int:
        """Put a beginning into a place and return its number among all that are played."""
        if begun.position.over:
            raise BadInput(f"the game is over in {begun.position.text()!r}; it cannot be played on")
        self.trees.arrays.roots[place] = begun.position.state
        tree, game, plies = self.trees.arrays.trees[place], self.book.games[place], len(begun.plies)
        tree["stream"], tree["ply"], tree["search"] = self.begun, plies, 0
        game["number"], game["plies"], game["ending"], game["result"] = self.begun, plies, PLAYING, 0
        self.book.plies[place, :plies] = begun.plies
        self.begun += 1
        return number

    def ended(self, place: int) -> Ended:
        """Return the game that has ended in a place."""
        game = self.book.games[place]
        plies = self.book.plies[place, : game["plies"]]
        return Ended(tuple(plies["action"].tolist()), plies["outcome"].copy(), ENDINGS[game["ending"]])
