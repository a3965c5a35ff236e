"""Pylos as a picture: the four levels side by side as grids, with the spheres that are still in reserve."""

from __future__ import annotations

from functools import cache

from rookery.drawing import circle, rectangle, words
from rookery.games import pylos_board as board
from rookery.games.pictures.scene import CELL, Man, Picture, Scene, Spot, Way, symbol
from rookery.games.position import Action
from rookery.games.pylos_board import raised
from rookery.games.pylos_turns import MAY_TAKE, PLACING, STOP, reserve
from rookery.games.rules import State

BASE, HOLE = "#B07D4A", "#8A5D30"
CORNERS = ((20.0, 30.0), (220.0, 30.0), (20.0, 230.0), (140.0, 230.0))
"""upper left corner of each level"""
WIDTH, HEIGHT = 360.0, 330.0
RADIUS = 0.46 * CELL
STOCK = (218.0, 245.0)  # first sphere of the reserves
STOCK_STEP, STOCK_ROW, STOCK_GAP = 17.0, 8, 42.0  # between two of them; how many in a row; between the seats
SIGNS = "wb"
FAINT = "var(--muted, #6A645A)"
SYMBOLS = "".join(
    [
        '<radialGradient id="pylos-light" cx="0.35" cy="0.3"><stop offset="0" stop-color="#FFF6DE"/>'
        '<stop offset="1" stop-color="#E3C88F"/></radialGradient>',
        '<radialGradient id="pylos-dark" cx="0.35" cy="0.3"><stop offset="0" stop-color="#8A6040"/>'
        '<stop offset="1" stop-color="#3A2211"/></radialGradient>',
        symbol("pylos-w", circle(0, 0, RADIUS, "url(#pylos-light)", 'stroke="#5E4A22" stroke-width="1.2"')),
        symbol("pylos-b", circle(0, 0, RADIUS, "url(#pylos-dark)", 'stroke="#1E1108" stroke-width="1.2"')),
        symbol("pylos-stock-w", circle(0, 0, 7, "url(#pylos-light)", 'stroke="#5E4A22"')),
        symbol("pylos-stock-b", circle(0, 0, 7, "url(#pylos-dark)", 'stroke="#1E1108"')),
        symbol("pylos-open", circle(0, 0, 6, "#35C7E8", 'opacity="0.7"')),
        symbol("pylos-last", circle(0, 0, RADIUS * 0.4, "none", 'stroke="#FF7A45" stroke-width="3"')),
        symbol("pylos-free", circle(0, 0, RADIUS, "none", 'stroke="#FFB300" stroke-width="3.5"')),
        symbol("pylos-take", '<path d="M-9 -9L9 9M9 -9L-9 9" stroke="#E5392C" stroke-width="5"/>'),
    ]
)


def picture(scene: Scene) -> Picture:
    """Draw a position of Pylos."""
    position, state = scene.position, scene.position.state
    spheres = [int(of_seat) for of_seat in state["spheres"]]
    signs = ["".join(SIGNS[seat] for seat in (0, 1) if spheres[seat] >> cell & 1) for cell in range(board.CELLS)]
    legal = [int(action) for action in position.legal()]
    ways = tuple(way(state, action) for action in legal)
    men = [Man(f"pylos-{sign}", *place(cell)) for cell, sign in enumerate(signs) if sign]
    men += [Man("pylos-last", *place(cell)) for cell in last_cells(scene) if signs[cell]]
    taking = int(state["phase"]) != PLACING
    for move in ways:
        if len(move.path) == 1:
            men.append(Man("pylos-free" if taking else "pylos-open", *place(move.path[0])))
    for seat in (0, 1):
        men += [Man(f"pylos-stock-{SIGNS[seat]}", *stock(seat, i)) for i in range(int(reserve(state, seat)))]
    named = {"": "", "w": ", white", "b": ", black"}
    spots = tuple(
        Spot(*place(cell), CELL, CELL, board.cell_text(cell) + named[sign]) for cell, sign in enumerate(signs)
    )
    notes = tuple(f"{position.game.seat_name(seat)}: {int(reserve(state, seat))} in reserve" for seat in (0, 1))
    return Picture(WIDTH, HEIGHT, SYMBOLS, ground(), tuple(men), spots, ways, notes=notes)


def way(state: State, action: Action) -> Way:
    """Say how a move is made: a cell, a sphere and the cell it is raised to, or a button."""
    mover = SIGNS[int(state["pylos_mover"])]
    if int(state["phase"]) != PLACING:
        if action == STOP:
            return Way(action, (), None, "Done")
        return Way(action, (action,), Man("pylos-take", *place(action)))
    if action < board.CELLS:
        return Way(action, (action,), Man(f"pylos-{mover}", *place(action)))
    source, target = (int(cell) for cell in raised(action))
    return Way(action, (source, target), Man(f"pylos-{mover}", *place(target)))


def last_cells(scene: Scene) -> tuple[int, ...]:
    """Return the cell to which the last sphere came, unless it was a take-back."""
    if not scene.actions or int(scene.position.state["phase"]) == MAY_TAKE or scene.actions[-1] == STOP:
        return ()
    action = scene.actions[-1]
    return (int(raised(action)[1]) if action >= board.CELLS else action,)


def place(cell: int) -> tuple[float, float]:
    """Return the middle of a cell."""
    level, row, col = board.PLACES[cell]
    left, top = CORNERS[level]
    return left + (col + 0.5) * CELL, top + (row + 0.5) * CELL


def stock(seat: int, i: int) -> tuple[float, float]:
    """Return where a sphere of the reserve lies."""
    left, top = STOCK
    return left + STOCK_STEP * (i % STOCK_ROW), top + STOCK_STEP * (i // STOCK_ROW) + STOCK_GAP * seat


@cache
def ground() -> str:
    """Draw the four empty levels."""
    parts = []
    for level, size in enumerate(board.SIZES):
        left, top = CORNERS[level]
        parts.append(words(left, top - 12, f"Level {level + 1}", 11, "start", FAINT))
        parts.append(rectangle(left - 4, top - 4, size * CELL + 8, size * CELL + 8, BASE, 'rx="8"'))
        for i in range(size):
            middle = (i + 0.5) * CELL
            parts.append(words(left + middle, top + size * CELL + 10, "abcd"[i], 9, fill=FAINT))
            parts.append(words(left - 10, top + middle, str(i + 1), 9, fill=FAINT))
    parts += [circle(*place(cell), RADIUS * 0.8, HOLE, 'opacity="0.55"') for cell in range(board.CELLS)]
    parts.append(words(STOCK[0] - 8, STOCK[1] - 27, "Reserves", 11, "start", FAINT))
    return "".join(parts)
