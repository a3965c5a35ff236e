"""Gomoku as a picture: a wooden board with coordinates on two sides; row 1 is below."""

from __future__ import annotations

from functools import cache

from rookery.drawing import circle, number, rectangle, words
from rookery.games.gomoku_board import BLACK
from rookery.games.gomoku_text import point_text, recent_moves, rows_of
from rookery.games.pictures.scene import CELL, Man, Picture, Scene, Spot, Way, symbol
from rookery.games.position import Action

WOOD, LINES = "#E0B878", "#5B3A12"
EDGE = 42  # from the side of the picture to the first line: stones on it leave room for coordinates
RADIUS = 0.46 * CELL
COLOURS = {".": "", "x": ", black", "o": ", white"}
CHOICE_LABELS = ("Take Black", "Take White", "Put two more stones")
SYMBOLS = (
    symbol("gomoku-x", circle(0, 0, RADIUS, "#1B1B1B")),
    symbol("gomoku-o", circle(0, 0, RADIUS - 0.6, "#FAFAF5", 'stroke="#222" stroke-width="1.2"')),
    symbol("gomoku-last-x", circle(0, 0, RADIUS * 0.45, "none", 'stroke="#FF7A45" stroke-width="3"')),
    symbol("gomoku-last-o", circle(0, 0, RADIUS * 0.45, "none", 'stroke="#C2185B" stroke-width="3"')),
)


def picture(scene: Scene) -> Picture:
    """Draw a position of Gomoku."""
    state, size = scene.position.state, int(scene.position.state["size"])
    signs = "".join(reversed(rows_of(state)))  # by points: row 1 first
    last = last_point(scene, size * size)
    spots, men = [], []
    for point, sign in enumerate(signs):
        spots.append(spot(size, point, sign, point == last))
        if sign != ".":
            men.append(Man(f"gomoku-{sign}", *place(size, point)))
    if last is not None and signs[last] != ".":
        men.append(Man(f"gomoku-last-{signs[last]}", *place(size, last)))
    colour = "x" if int(state["colour"]) == BLACK else "o"
    ways = tuple(way(size, int(action), colour) for action in scene.position.legal())
    side = 2 * EDGE + (size - 1) * CELL
    return Picture(side, side, "".join(SYMBOLS), ground(size), tuple(men), tuple(spots), ways)


def last_point(scene: Scene, points: int) -> int | None:
    """Return the point of the last stone."""
    stones = [action for action in scene.actions if action < points]
    recent = recent_moves(scene.position.state)
    return stones[-1] if stones else recent[-1] if recent else None


@cache
def spot(size: int, point: int, sign: str, is_last: bool) -> Spot:
    """Return a point that can be pointed at, named with what is there."""
    named = point_text(size, point) + COLOURS[sign] + (", last move" if is_last else "")
    return Spot(*place(size, point), CELL, CELL, named)


@cache
def way(size: int, action: Action, colour: str) -> Way:
    """Say how a move is made: by its point, or by a button in the opening."""
    if action >= size * size:
        return Way(action, (), None, CHOICE_LABELS[action - size * size])
    return Way(action, (action,), Man(f"gomoku-{colour}", *place(size, action)))


def place(size: int, point: int) -> tuple[float, float]:
    """Return where a point lies in the picture."""
    row, col = divmod(point, size)
    return EDGE + col * CELL, EDGE + (size - 1 - row) * CELL


@cache
def ground(size: int) -> str:
    """Draw the board: wood, lines, coordinates, and the usual dots of large boards."""
    side, far = 2 * EDGE + (size - 1) * CELL, EDGE + (size - 1) * CELL
    parts = [rectangle(0, 0, side, side, WOOD, 'rx="8"')]
    for i in range(size):
        at = number(EDGE + i * CELL)
        parts.append(f'<path d="M{EDGE} {at}H{far}M{at} {EDGE}V{far}" stroke="{LINES}" stroke-width="1.2"/>')
        parts.append(words(float(at), side - 11, point_text(size, i)[0], fill=LINES))
        parts.append(words(11, float(at), str(size - i), fill=LINES))
    parts += [circle(*place(size, row * size + col), 3.4, LINES) for row in dots(size) for col in dots(size)]
    return "".join(parts)


def dots(size: int) -> tuple[int, ...]:
    """Return the lines whose crossings carry dots."""
    if size < 9 or size % 2 == 0:
        return ()
    edge = 2 if size < 13 else 3
    return edge, size // 2, size - 1 - edge
