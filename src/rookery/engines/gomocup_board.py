"""The board as a Gomocup manager tells of it: our stones and the other's, in or out of the order of the game."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.gomoku_board import REMEMBERED, wall_off
from rookery.games.gomoku_text import point_text
from rookery.games.position import Position

OWN, OTHER, NOBODY = 1, 2, 3  # NOBODY: lies there, but counts for neither side
POINT = re.compile(r"\s*(\d{1,18})\s*,\s*(\d{1,18})\s*")
STONE = re.compile(r"\s*(\d{1,18})\s*,\s*(\d{1,18})\s*,\s*(\d)\s*")


class Refused(Exception):
    """What a manager asked for cannot be done; the message says why."""


@dataclass
class Board:
    """The stones on the board, in the order in which they were told."""

    size: int = 0
    stones: list[tuple[int, int]] = field(default_factory=list)
    """point and owner"""
    plays_black: bool | None = None
    """whether our stones are black; not known before the first move"""
    walls: list[int] = field(default_factory=list)
    """points of stones that are out of the game, as those of the rows that won in a continuous game"""
    loose: int = 0
    """how many of the first stones may be in another order than that of the game"""

    def owner(self, point: int) -> int:
        """Return whose stone lies on a point; 0 if none does."""
        return next((owner for at, owner in self.stones if at == point), 0)

    def put(self, point: int, owner: int) -> None:
        """Lay a stone; the first one tells the colours."""
        if self.owner(point) or point in self.walls:
            raise Refused(f"there is a stone on {self.text(point)} already")
        if self.plays_black is None:
            self.plays_black = owner == OWN
        self.stones.append((point, owner))

    def take(self, point: int) -> None:
        """Take a stone back."""
        if not self.owner(point):
            raise Refused(f"there is no stone on {self.text(point)}")
        was_last = self.stones[-1][0] == point
        self.stones = [stone for stone in self.stones if stone[0] != point]
        self.loose = min(self.loose, len(self.stones)) if was_last else len(self.stones)
        if not self.stones:
            self.plays_black = None

    def set_up(self, stones: Iterable[tuple[int, int]]) -> None:
        """Lay stones in no sure order; we are to move, and so Black unless the other has more stones."""
        self.stones, self.walls, self.plays_black = [], [], None
        for point, owner in stones:
            if owner == NOBODY:
                self.walls.append(point)
            else:
                self.put(point, owner)
        if twice := [point for point in self.walls if self.owner(point) or self.walls.count(point) > 1]:
            raise Refused(f"there is a stone on {self.text(twice[0])} already")
        owners = [owner for _, owner in self.stones]
        self.plays_black = owners.count(OWN) >= owners.count(OTHER)
        self.loose = len(self.stones)

    def adopt(self, points: list[int], plays_black: bool) -> None:
        """Lay the stones of an opening, which are black and white in turns."""
        owners = (OWN, OTHER) if plays_black else (OTHER, OWN)
        self.stones = [(point, owners[number % 2]) for number, point in enumerate(points)]
        self.walls, self.plays_black, self.loose = [], plays_black, 0

    def point(self, text: str) -> int:
        """Read a point."""
        found = POINT.fullmatch(text)
        if not found:
            raise Refused(f"{text.strip()[:60]!r} should be a point X,Y, both in 0..{self.size - 1}")
        return self.checked(int(found[1]), int(found[2]))

    def stone(self, text: str) -> tuple[int, int]:
        """Read a stone and whose it is."""
        found = STONE.fullmatch(text)
        if not found or int(found[3]) not in (OWN, OTHER, NOBODY):
            meanings = "X,Y,1 for a stone of ours, X,Y,2 for one of the other's or X,Y,3 for one out of the game"
            raise Refused(f"{text.strip()[:60]!r} should be {meanings}")
        return self.checked(int(found[1]), int(found[2])), int(found[3])

    def checked(self, col: int, row: int) -> int:
        """Return the number of a point; refuse one that is not on the board."""
        if col >= self.size or row >= self.size:
            where = f"{col},{row}" if max(col, row) < 1000 else "the point"
            raise Refused(f"{where} is not on the board of {self.size} x {self.size}: both are in 0..{self.size - 1}")
        return row * self.size + col

    def text(self, point: int) -> str:
        """Write a point."""
        return f"{point % self.size},{point // self.size}"

    def position(self, game: Game) -> Position:
        """Return the position in which we are to move."""
        position = self.position_of_stones(game)
        wall_off(position.state, self.walls)
        return position

    def position_of_stones(self, game: Game) -> Position:
        """Return that position without the stones that are out of the game."""
        black = self.plays_black is not False
        if not self.loose:
            position = game.start(0)
            for number, (point, owner) in enumerate(self.stones):
                if position.over:
                    return position  # whoever lays a stone after the end is told so
                if (owner == OWN) == (black == (number % 2 == 0)):
                    position.play(point)
                else:
                    break
            else:
                if position.over or position.mover == (0 if black else 1):
                    return position
        signs = {point: "x" if (owner == OWN) == black else "o" for point, owner in self.stones}
        rows = ["".join(signs.get(row * self.size + col, ".") for col in range(self.size)) for row in range(self.size)]
        last = ",".join(point_text(self.size, point) for point in self.last_moves())
        try:
            return game.position(f"{'/'.join(reversed(rows))} {'b' if black else 'w'} - {last or '-'}")
        except BadInput as error:
            if "the game had ended before the last move" in str(error):
                raise Refused("the game on this board is over") from None
            raise

    def last_moves(self) -> list[int]:
        """Return the last moves as far as their order is known and they were made in turns, the last one last."""
        found: list[int] = []
        for point, owner in reversed(self.stones[self.loose :]):
            if len(found) == REMEMBERED or owner != (OTHER, OWN)[len(found) % 2]:
                break
            found.append(point)
        return found[::-1]
