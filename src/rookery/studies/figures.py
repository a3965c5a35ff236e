"""What the figures of all studies share: panels, lines that are told apart, bands over seeds, scores.

Colours are those of Okabe and Ito, which people who see colours differently tell apart; lines differ in dashes, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.learn.files import save_whole
from rookery.studies.curves import Curve

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#7F7F7F")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
CELLS = 40
"""of the grid on which seeds are averaged"""


def new_figure(columns: int, rows: int = 1, width: float = 5.6, height: float = 4.0) -> tuple[Any, Any]:
    """Make a figure of some panels; return it with its axes, [rows, columns]."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def save(figure: Any, path: Path) -> None:
    """Write a figure whole."""
    save_whole(path, lambda part: figure.savefig(part, dpi=130, format="png"))


def style(number: int) -> dict[str, Any]:
    """Return colour and dashes of a line by its number; colours that come again are thicker."""
    again = number // len(COLOURS)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[(number + again) % len(DASHES)],
        "linewidth": 1.5 + 1.5 * again,
    }


def finish(axis: Any, title: str, across: str, up: str, **limits: Any) -> None:
    """Write the names of a panel."""
    axis.set(title=title, xlabel=across, ylabel=up, **limits)
    axis.grid(alpha=0.3)


def draw_band(axis: Any, seeds: Sequence[Curve], label: str, number: int) -> None:
    """Draw the mean of a figure over seeds and the band that holds all of them."""
    if not seeds:
        return
    most = max(curve.last for curve in seeds)
    grid = [most * (cell + 1) / CELLS for cell in range(CELLS)]
    columns = [
        (games, [value for value in values if not math.isnan(value)])
        for games, *values in zip(grid, *(curve.on_grid(grid) for curve in seeds), strict=True)
    ]
    there = [(games, values) for games, values in columns if values]
    games = [games for games, _ in there]
    drawn = style(number)
    axis.plot(games, [math.fsum(values) / len(values) for _, values in there], label=label, **drawn)
    lows, highs = [min(values) for _, values in there], [max(values) for _, values in there]
    axis.fill_between(games, lows, highs, color=drawn["color"], alpha=0.15)


def draw_score(axis: Any, row: int, facts: Mapping[str, Any]) -> None:
    """Draw a score with its interval, lying in a row."""
    score = facts["score"]
    ends = [[score - facts["low"]], [facts["high"] - score]]
    axis.errorbar([score], [row], xerr=ends, fmt="o", color=COLOURS[0], capsize=4)
