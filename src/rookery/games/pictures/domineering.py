"""Domineering as a picture. The pieces differ in colour, in shape and in the line along their length.

A position does not remember which two squares a domino covers; the moves of the game do. Squares that were covered
before the first move are drawn one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

from rookery.drawing import rectangle, words
from rookery.games.domineering import Domineering
from rookery.games.library import load
from rookery.games.notation import square_text
from rookery.games.pictures.scene import CELL, Man, Picture, Scene, Spot, Way, symbol
from rookery.games.position import Action, Cell

EDGE = 28
GAP = 3
VERTICAL, HORIZONTAL = "var(--vertical, #0072B2)", "var(--horizontal, #C2570C)"
BOARD, LINES, TEXT = "var(--squares, #F3EFE6)", "var(--line, #DDD8CE)", "var(--muted, #6A645A)"
MARK = "var(--surface, #FFFFFF)"


def domino(name: str, width: float, height: float, fill: str) -> str:
    """Define a domino with a line along its length."""
    left, top = -width / 2 + GAP, -height / 2 + GAP
    rounding = 12 if height > width else 5
    body = rectangle(left, top, width - 2 * GAP, height - 2 * GAP, fill, f'rx="{rounding}"')
    x, y = (0.0, height / 2 - 14) if height > width else (width / 2 - 14, 0.0)
    line = f'<path d="M{-x} {-y}L{x} {y}" stroke="{MARK}" stroke-width="3" stroke-linecap="round" opacity="0.7"/>'
    return symbol(name, body, line)


def ring(name: str, width: float, height: float) -> str:
    """Define what marks the last domino."""
    line = f'stroke="var(--text, #23201B)" stroke-width="2.5" rx="{13 if height > width else 6}"'
    return symbol(name, rectangle(-width / 2 + 2, -height / 2 + 2, width - 4, height - 4, "none", line))


SYMBOLS = "".join(
    [
        domino("domineering-0", CELL, 2 * CELL, VERTICAL),
        domino("domineering-1", 2 * CELL, CELL, HORIZONTAL),
        ring("domineering-last-0", CELL, 2 * CELL),
        ring("domineering-last-1", 2 * CELL, CELL),
        symbol("domineering-covered", rectangle(-CELL / 2, -CELL / 2, CELL, CELL, "var(--muted, #6A645A)")),
    ]
)


@dataclass(frozen=True)
class Laid(Way):
    """How a domino is laid, which always shows one."""

    man: Man


def picture(scene: Scene) -> Picture:
    """Draw a position of Domineering."""
    position, game = scene.position, scene.position.game
    assert isinstance(game, Domineering)
    before, now = game.covered_squares(scene.start.state), game.covered_squares(position.state)
    cells = [(row, col) for row in range(game.rows) for col in range(game.cols)]
    men = [Man("domineering-covered", *place(row, col)) for row, col in cells if before[row][col]]
    known = ways_of(game.spec)
    laid = [known[action].man for action in scene.actions]
    men += laid
    if laid:
        last = laid[-1]
        men.append(Man(last.symbol.replace("-", "-last-"), last.x, last.y))
    spots = [spot(row, col, bool(now[row][col])) for row, col in cells]
    ways = tuple(known[action] for action in position.legal().tolist())
    width, height = EDGE + game.cols * CELL + 8, EDGE + game.rows * CELL + 8
    return Picture(width, height, SYMBOLS, ground(game.rows, game.cols), tuple(men), tuple(spots), ways, anywhere=True)


@cache
def spot(row: int, col: int, covered: bool) -> Spot:
    """Return a square that can be pointed at, named with what is there."""
    return Spot(*place(row, col), CELL, CELL, square_text(row, col) + (", covered" if covered else ""))


@lru_cache(maxsize=16)
def ways_of(spec: str) -> tuple[Laid, ...]:
    """Say how each domino of a board is laid, by either of its squares: the same in all games on it."""
    game = load(spec)
    assert isinstance(game, Domineering)
    state = game.start(0).state
    return tuple(way(game.cols, action, game.cells_of(state, action)) for action in range(game.actions))


def way(cols: int, action: Action, squares: tuple[Cell, ...]) -> Laid:
    """Say how a domino is laid."""
    (x1, y1), (x2, y2) = (place(row, col) for _, row, col in squares)
    flat = squares[0][1] == squares[1][1]
    man = Man(f"domineering-{int(flat)}", (x1 + x2) / 2, (y1 + y2) / 2)
    return Laid(action, tuple(row * cols + col for _, row, col in squares), man)


def place(row: int, col: int) -> tuple[float, float]:
    """Return the middle of a square."""
    return EDGE + (col + 0.5) * CELL, EDGE + (row + 0.5) * CELL


@cache
def ground(rows: int, cols: int) -> str:
    """Draw the empty board with its coordinates."""
    width, height = cols * CELL, rows * CELL
    parts = [rectangle(EDGE, EDGE, width, height, BOARD, f'stroke="{LINES}" stroke-width="2"')]
    across = "".join(f"M{EDGE} {EDGE + row * CELL}h{width}" for row in range(1, rows))
    down = "".join(f"M{EDGE + col * CELL} {EDGE}v{height}" for col in range(1, cols))
    parts.append(f'<path d="{across}{down}" stroke="{LINES}" stroke-width="1.2"/>')
    parts += [words(place(0, col)[0], 14, square_text(0, col)[0], fill=TEXT) for col in range(cols)]
    parts += [words(13, place(row, 0)[1], str(row + 1), fill=TEXT) for row in range(rows)]
    return "".join(parts)
