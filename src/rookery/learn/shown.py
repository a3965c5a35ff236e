"""A run as a table and its losses as curves, for a notebook."""

from __future__ import annotations

from pathlib import Path

from rookery.drawing import MARK, MUTED, RULE, block, line, sheet, table, words
from rookery.learn.summaries import loss_curve, rating_curve, summarise

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 320.0, 200.0, 46.0, 26.0, 24.0
TICKS = 4


def run_html(folder: Path) -> str:
    """Write what is known of a run, with its losses and ratings drawn."""
    found = summarise(folder)
    facts = [
        ("game", found.game),
        ("status", found.status),
        ("games", f"{found.games:,} of {found.planned:,}"),
        ("checkpoints", found.checkpoints),
        ("rating", "" if found.elo is None else f"{found.elo:.0f}"),
    ]
    curves = {"value loss": loss_curve(folder, "value_loss"), "policy loss": loss_curve(folder, "policy_loss")}
    curves["rating (Elo)"] = rating_curve(folder)
    drawn = [curve_svg(title, *curve) for title, curve in curves.items() if len(curve[0]) > 1]
    return block(table(("run", found.name), facts), *drawn)


def curve_svg(title: str, games: list[float], values: list[float]) -> str:
    """Draw a curve over games, from 0 or its least value up."""
    right, bottom = WIDTH - 12, HEIGHT - BOTTOM
    least, most = min(0.0, *values), max(values)
    height = (most - least) or 1.0

    def place(game: float, value: float) -> tuple[float, float]:
        return LEFT + (right - LEFT) * game / max(games[-1], 1.0), bottom - (bottom - TOP) * (value - least) / height

    parts = [words(LEFT, 12, title, 12, "start")]
    for i in range(TICKS):
        value = least + height * i / (TICKS - 1)
        y = place(0, value)[1]
        parts += [line([(LEFT, y), (right, y)], RULE, 1), words(LEFT - 6, y, f"{value:.3g}", 10, "end", MUTED)]
    parts.append(words(right, bottom + 14, f"{games[-1]:,.0f} games", 10, "end", MUTED))
    parts.append(line([place(game, value) for game, value in zip(games, values, strict=True)], MARK))
    return sheet(WIDTH, HEIGHT, *parts, label=f"{title} over games")
