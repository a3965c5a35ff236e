"""Side lines: other moves, tried from a position of a game that is looked at again. Plain Python.

The game itself never changes. A line is the game up to some move and then what was tried; lines may leave lines.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from rookery.web.found import LONGEST_GAME
from rookery.web.replays import snapshot
from rookery.web.session import GameSession, plain_number

MOST_LINES = 12
"""beside one game; the oldest go"""
MOST_GAMES = 200
"""games whose lines are remembered; those longest untouched go"""


@dataclass
class SideLine:
    """A game up to some move, and what was tried from there."""

    begin: int
    """ply at which it leaves the game"""
    session: GameSession

    def leaves(self, game: GameSession) -> bool:
        """Tell whether it is the game up to where it begins."""
        return self.session.actions[: self.begin] == game.actions[: self.begin]

    @property
    def title(self) -> str:
        """Its first move with its number, and how many follow."""
        more = self.session.ply - self.begin - 1
        return f"{self.begin + 1}. {self.session.texts[self.begin]}" + (f" and {more} more" if more else "")


class SideLines:
    """A game with the lines beside it, one of which may be on the board."""

    def __init__(self, game: GameSession, lines: list[SideLine] | None = None):
        """Take a game and lines that were tried before; those that do not fit it any more are dropped."""
        self.game = game
        self.lines = [] if lines is None else lines
        self.lines[:] = [each for each in self.lines if each.leaves(game)]
        self.current: SideLine | None = None

    @property
    def session(self) -> GameSession:
        """What is on the board: a line, or the game."""
        return self.game if self.current is None else self.current.session

    def play(self, action: Any, ply: Any) -> int | None:
        """Make a move after so many moves of what is on the board; return the ply it leads to, None if it may not be.

        A move that the game, or a line, has made there leads on in it; any other begins a line or makes one longer.
        """
        session = self.session
        if not plain_number(action) or not plain_number(ply) or not 0 <= ply <= session.ply or ply >= LONGEST_GAME:
            return None
        after: int = ply + 1
        wanted = [*session.actions[:ply], action]
        for line in (self.current, None, *self.lines):
            if (self.game if line is None else line.session).actions[:after] == wanted:
                self.current = line
                return after
        if self.current is not None and ply == session.ply:
            return after if session.accept(action) else None
        return self.branch(action, ply)

    def branch(self, action: int, ply: int) -> int | None:
        """Begin a line with a move."""
        made = cut(self.session, ply)
        if not made.accept(action):
            return None
        begin = ply if self.current is None else min(ply, self.current.begin)
        self.current = SideLine(begin, made)
        self.lines.append(self.current)
        del self.lines[:-MOST_LINES]
        return ply + 1

    def open(self, number: int) -> int:
        """Turn to a line; return the ply of its first move."""
        self.current = self.lines[number]
        return self.current.begin + 1

    def leave(self) -> int:
        """Turn back to the game; return the ply at which the line left it."""
        begin = 0 if self.current is None else self.current.begin
        self.current = None
        return begin

    def drop(self) -> int:
        """Forget the line on the board and turn back to the game."""
        if self.current is not None:
            self.lines[:] = [each for each in self.lines if each is not self.current]
        return self.leave()


def cut(session: GameSession, ply: int) -> GameSession:
    """Copy a game up to a move; nobody has given it up there."""
    made = snapshot(session)
    del made.positions[ply + 1 :], made.actions[ply:], made.texts[ply:]
    made.resigned = None
    return made


class LinesBeside:
    """The side lines of all visitors, in memory, by visitor and key of the game."""

    def __init__(self) -> None:
        self.known: OrderedDict[tuple[str, str], list[SideLine]] = OrderedDict()

    def of(self, visitor: str, key: str) -> list[SideLine]:
        """Return the lines that a visitor has tried beside a game; they are kept as the list changes."""
        lines = self.known.setdefault((visitor, key), [])
        self.known.move_to_end((visitor, key))
        while len(self.known) > MOST_GAMES:
            self.known.popitem(last=False)
        return lines
