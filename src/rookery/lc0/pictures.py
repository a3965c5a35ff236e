"""A position with the moves a network likes, as a picture: a board in SVG with an arrow for each likely move."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape

from rookery.games.chess_fen import men_on_board
from rookery.games.chess_text import squares_of
from rookery.games.position import Position
from rookery.lc0.evaluator import Evaluation

SIDE = 45
MEN = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))
SHOWN = 8
LEAST_SHARE = 0.01


def board_svg(position: Position, found: Evaluation) -> str:
    """Draw a position, White below, with arrows as wide as the shares of the likeliest moves."""
    state = position.state
    mover = int(state["chess_mover"])
    men = men_on_board(state["boards"][int(state["plies"]) & 7].tolist(), mover)
    parts = [square_svg(square) for square in range(64)]
    parts += [man_svg(square, man) for square, man in enumerate(men) if man != "."]
    for text, move in list(found.moves.items())[:SHOWN]:
        if move.p >= LEAST_SHARE:
            source, target, _ = squares_of(position.action(text), mover)
            parts.append(arrow_svg(source, target, move.p, f"{text} {move.p:.1%}"))
    size = 8 * SIDE
    title = f"W {found.wdl[0]:.1%}  D {found.wdl[1]:.1%}  L {found.wdl[2]:.1%}  Q {found.q:+.3f}"
    caption = f'<text x="4" y="{size + 18}" font-family="sans-serif" font-size="14">{escape(title)}</text>'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size + 26}" width="{size}" height="{size + 26}">'
    )
    return "\n".join([head, *parts, caption, "</svg>", ""])


def corner(square: int) -> tuple[int, int]:
    """Return the upper left corner of a square."""
    return square % 8 * SIDE, (7 - square // 8) * SIDE


def square_svg(square: int) -> str:
    """Draw an empty square."""
    x, y = corner(square)
    colour = "#f0d9b5" if (square % 8 + square // 8) % 2 else "#b58863"
    return f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="{colour}"/>'


def man_svg(square: int, man: str) -> str:
    """Draw a man."""
    x, y = corner(square)
    place = f'x="{x + SIDE // 2}" y="{y + SIDE - 9}"'
    return f'<text {place} font-size="{SIDE - 9}" text-anchor="middle">{MEN[man]}</text>'


def arrow_svg(source: int, target: int, share: float, title: str) -> str:
    """Draw an arrow from one square to another, wide and dark by the share of its move."""
    (x1, y1), (x2, y2) = ((x + SIDE / 2, y + SIDE / 2) for x, y in (corner(source), corner(target)))
    length = math.hypot(x2 - x1, y2 - y1)
    along = (x2 - x1) / length, (y2 - y1) / length
    width = 2 + 10 * share
    tip = 6 + width
    neck = x2 - along[0] * tip, y2 - along[1] * tip
    wings = [(neck[0] + side * along[1] * tip / 2, neck[1] - side * along[0] * tip / 2) for side in (-1, 1)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in [wings[0], (x2, y2), wings[1]])
    return (
        f'<g opacity="{0.35 + 0.6 * share:.2f}" stroke="#15781b" fill="#15781b"><title>{escape(title)}</title>'
        f'<line x1="{x1}" y1="{y1}" x2="{neck[0]:.1f}" y2="{neck[1]:.1f}" stroke-width="{width:.1f}"/>'
        f'<polygon points="{points}" stroke="none"/></g>'
    )
