"""What each play of a finished hand of Texas 42 has cost, reckoned at the desk where players think."""

from __future__ import annotations

from rookery.arena.texas42_report import cost_lines
from rookery.games.position import Position
from rookery.games.texas42_tiles import NOT_NAMED
from rookery.search.texas42_costs import costs
from rookery.web.session import GameSession
from rookery.web.thinking import Desk, Thought

WORLDS = 50


class Left(Exception):
    """Nobody waits for the answer any more."""


class Reckoning(Thought):
    """The costs of a hand; `lines` tells them, `done` how many plays have been looked at."""

    def __init__(self, position: Position, seed: int):
        super().__init__((), position, (), position, seed)
        self.done = 0

    def work(self, desk: Desk) -> None:
        """Reckon play by play."""
        try:
            found = costs(self.position, WORLDS, self.seed, report=self.count)
        except Left:
            return
        self.lines = tuple(cost_lines(self.position, found))

    def count(self, plays: int) -> None:
        """Note how far it is, and end if nobody waits."""
        self.done = plays
        if self.stop[0]:
            raise Left


def can_be_reckoned(session: GameSession) -> bool:
    """Tell whether a game is a hand of Texas 42, played to its end, in which plays cost points."""
    position = session.position
    return position.game.name == "texas42" and position.over and int(position.state["declaration"]) < NOT_NAMED
