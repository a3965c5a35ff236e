"""What a search has found, drawn over a picture: discs where something is put, arrows where something moves."""

from __future__ import annotations

import math
from typing import Any

from rookery.arena.findings import shares
from rookery.drawing import number
from rookery.games.pictures.scene import Picture
from rookery.search.analysis import Analysis

MARKS_SHOWN = 6
LEAST_SHARE = 0.01
SMALLEST, LARGEST = 13.0, 18.0  # radius of a disc
NARROW, WIDE = 3.0, 10.0  # of an arrow


def value_text(value: float) -> str:
    """Write a value in few signs."""
    return f"{value:+.2f}"


def marks_of(picture: Picture, analysis: Analysis) -> list[dict[str, Any]]:
    """Draw the likeliest moves over a picture: a disc where something is put, an arrow where something moves."""
    share, marks = shares(analysis), []
    for line in analysis.lines[:MARKS_SHOWN]:
        way, part = picture.way_of(line.action), share[line.action]
        if way is None or way.man is None or (part < LEAST_SHARE and line.action != analysis.action):
            continue
        mark: dict[str, Any] = {"key": line.action, "opacity": round(0.75 + 0.2 * part, 2)}
        if len(way.path) > 1 and not picture.anywhere:
            source, target = (picture.spots[i] for i in way.path[:2])
            mark |= {"arrow": arrow((source.x, source.y), (target.x, target.y), NARROW + (WIDE - NARROW) * part)}
            mark["target"] = [target.x, target.y]
        else:
            at = way.man if picture.anywhere else picture.spots[way.path[0]]
            radius = SMALLEST + (LARGEST - SMALLEST) * math.sqrt(part)
            mark |= {"x": at.x, "y": at.y, "r": round(radius, 1), "text": value_text(line.value).replace("0.", ".")}
        marks.append(mark)
    return marks


def arrow(source: tuple[float, float], target: tuple[float, float], width: float) -> str:
    """Return the outline of an arrow as an SVG path."""
    dx, dy = target[0] - source[0], target[1] - source[1]
    length = math.hypot(dx, dy) or 1.0
    along, across = (dx / length, dy / length), (-dy / length, dx / length)
    head = min(length / 2, 8 + width)

    def at(distance: float, aside: float) -> str:
        x = source[0] + along[0] * distance + across[0] * aside
        y = source[1] + along[1] * distance + across[1] * aside
        return f"{number(x)} {number(y)}"

    neck = length - head
    points = [(0, width / 2), (neck, width / 2), (neck, width), (length, 0), (neck, -width), (neck, -width / 2)]
    return "M" + "L".join(at(*point) for point in [*points, (0, -width / 2)]) + "Z"
