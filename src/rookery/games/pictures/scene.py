"""What a board looks like and what a person can do on it, without a browser.

A `Picture` is made by a pure function of a `Scene`. The page's component draws it and turns clicks into actions; `svg`
writes the same as the text of a file. Lengths are in units of the picture, y runs down.

Things on the board are named symbols at places, so that a page which knows the symbols is sent a few bytes a move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rookery.drawing import number
from rookery.games.position import Action, Position, Seat

CELL = 40
"""side of a square of most boards"""


@dataclass(frozen=True)
class Scene:
    """A position with all that its picture depends on."""

    position: Position
    """as the viewer may see it"""
    start: Position
    """the first position of the game, as the viewer may see it"""
    actions: tuple[Action, ...]
    """from `start` to `position`"""
    viewer: Seat
    """whose side is below"""


@dataclass(frozen=True)
class Man:
    """A thing on the board: a symbol with its middle at (x, y)."""

    symbol: str
    x: float
    y: float


@dataclass(frozen=True)
class Spot:
    """A part of the board that can be pointed at: a rectangle with its middle at (x, y)."""

    x: float
    y: float
    width: float
    height: float
    label: str
    """what it is called and what is there, for those who cannot see it"""


@dataclass(frozen=True)
class Way:
    """How a person makes a legal move, and what it would put where."""

    action: Action
    path: tuple[int, ...]
    """numbers of the spots to point at; none: the move is made by a button"""
    man: Man | None
    """what is shown while the move is considered"""
    label: str = ""
    """written on its button, and where several moves have the same path"""


@dataclass(frozen=True)
class Picture:
    """A board and what can be done on it."""

    width: float
    height: float
    symbols: str
    """SVG: the definitions of all symbols, the same in the whole game"""
    ground: str
    """SVG: the board without anything on it, the same in the whole game"""
    men: tuple[Man, ...]
    spots: tuple[Spot, ...]
    ways: tuple[Way, ...]
    anywhere: bool = False
    """whether pointing at any spot of a path makes the move, the nearest one; else the spots come in order"""
    notes: tuple[str, ...] = ()
    """what the board does not show: reserves, points"""

    def changing(self) -> dict[str, Any]:
        """Return what a page must know after each move, in as few bytes as is readable."""
        return {
            "men": [[man.symbol, man.x, man.y] for man in self.men],
            "spots": [[spot.x, spot.y, spot.width, spot.height, spot.label] for spot in self.spots],
            "ways": [
                [way.action, list(way.path), [way.man.symbol, way.man.x, way.man.y] if way.man else None, way.label]
                for way in self.ways
            ],
            "anywhere": self.anywhere,
        }

    def way_of(self, action: Action) -> Way | None:
        """Return how a move is made, if it is legal and shown."""
        return next((way for way in self.ways if way.action == action), None)


def use(man: Man) -> str:
    """Draw a thing."""
    return f'<use href="#{man.symbol}" x="{number(man.x)}" y="{number(man.y)}"/>'


def drawn(picture: Picture) -> str:
    """Write a picture as SVG elements."""
    return f"<defs>{picture.symbols}</defs>{picture.ground}{''.join(use(man) for man in picture.men)}"


def symbol(name: str, *drawn: str) -> str:
    """Define a symbol, drawn around its middle."""
    return f'<g id="{name}">{"".join(drawn)}</g>'
