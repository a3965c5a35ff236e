"""Positions as pictures: what the page draws and what a notebook shows.

A game of the package has a module here with a function `picture(scene)`. Any other game is shown as it is drawn in a
terminal.
"""

from __future__ import annotations

from importlib import import_module

from rookery.drawing import INK, sheet, words
from rookery.games.pictures.scene import Picture, Scene, drawn
from rookery.games.position import Position

DRAWN = ("chess", "domineering", "gomoku", "pylos", "texas42")
LETTER, LINE_HEIGHT, MARGIN = 7.8, 17.0, 10.0  # of a drawing in letters


def picture_of(position: Position) -> Picture | None:
    """Draw a position as its mover may see it; None if the game has no picture."""
    if position.game.name not in DRAWN or position.game.path:
        return None
    module = import_module(f"rookery.games.pictures.{position.game.name}")
    seat = 0 if position.over else position.mover
    seen = position.seen_by(seat) if position.game.information == "hidden" else position
    # A person turns no board after every move: White stays below. A hand of tiles belongs to whoever is to move.
    made: Picture = module.picture(Scene(seen, seen, (), seat if position.game.information == "hidden" else 0))
    return made


def svg_of(position: Position) -> str:
    """Write a position as an SVG picture."""
    picture = picture_of(position)
    if picture is None:
        return letters(position.draw())
    return sheet(picture.width, picture.height, drawn(picture), label=position.text())


def letters(text: str) -> str:
    """Write lines of a terminal as a picture."""
    lines = text.splitlines() or [""]
    width = MARGIN * 2 + LETTER * max(map(len, lines))
    heights = [MARGIN + LINE_HEIGHT * (i + 0.5) for i in range(len(lines))]
    written = [words(MARGIN, y, line, 13, "start", INK, "monospace") for y, line in zip(heights, lines, strict=True)]
    return sheet(width, MARGIN * 2 + LINE_HEIGHT * len(lines), *written)
