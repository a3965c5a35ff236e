"""Shapes as SVG and tables as HTML: text that a browser or a notebook shows. Whatever is written is escaped.

Lengths are in units of the picture, y runs down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

PAPER, INK, MUTED, RULE = "#FAF8F4", "#23201B", "#6A645A", "#DDD8CE"
FONT = "system-ui, sans-serif"
MARK = "#005A8C"
"""of bars, curves and what a search found"""
CELL_STYLE = "padding:2px 10px;border:0;text-align:{side};font-variant-numeric:tabular-nums"
NUMBER = re.compile(r"[-+±]?[\d,.]*(?: ?%)?")


def number(value: float) -> str:
    """Write a length with no more digits than can be seen."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def words(
    x: float,
    y: float,
    text: str,
    size: float = 13,
    anchor: str = "middle",
    fill: str = "currentColor",
    font: str = FONT,
) -> str:
    """Write words, their middle at a height; runs of spaces are kept."""
    place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}" fill="{fill}"'
    spaced = ' xml:space="preserve"' if "  " in text else ""
    return f'<text {place} dominant-baseline="central" font-family="{font}"{spaced}>{escape(text)}</text>'


def rectangle(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    """Draw a rectangle by its upper left corner."""
    sides = " ".join(
        f'{name}="{number(value)}"'
        for name, value in zip(("x", "y", "width", "height"), (x, y, width, height), strict=True)
    )
    return f'<rect {sides} fill="{fill}"{" " + more if more else ""}/>'


def circle(x: float, y: float, radius: float, fill: str, more: str = "") -> str:
    """Draw a disc."""
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"{" " + more if more else ""}/>'


def line(points: Iterable[tuple[float, float]], stroke: str, width: float = 1.5) -> str:
    """Draw straight lines from point to point."""
    through = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f'<path d="M{through}" fill="none" stroke="{stroke}" stroke-width="{number(width)}"/>'


def sheet(width: float, height: float, *parts: str, label: str = "") -> str:
    """Write a whole SVG picture on light paper, so that it can be read on a dark page too."""
    size = f'viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}"'
    named = f' role="img" aria-label={quoteattr(label)}' if label else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} color="{INK}"{named}>'
    return f"{head}{rectangle(0, 0, width, height, PAPER)}{''.join(parts)}</svg>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Write a table in HTML, columns of numbers to the right and the others to the left; texts are escaped."""
    texts = [[str(cell) for cell in row] for row in rows]
    sides = [side_of(column) for column in zip(*texts, strict=True)] if texts else ["left"] * len(head)

    def cells(kind: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{kind} style="{CELL_STYLE.format(side=side)}">{escape(text)}</{kind}>'
            for side, text in zip(sides, row, strict=True)
        )

    named = f'<caption style="text-align:left;caption-side:top">{escape(caption)}</caption>' if caption else ""
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in texts)
    return f"<table>{named}<thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def side_of(column: Sequence[str]) -> str:
    """Return the side to which a column is put: numbers, or none, to the right."""
    return "right" if all(NUMBER.fullmatch(text) for text in column) else "left"


def block(*parts: str) -> str:
    """Put parts of HTML one below the other."""
    return f"<div>{''.join(parts)}</div>"
