"""The figures of the Gomoku study, as PNG files. Bands go from the lowest seed to the highest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.studies.curves import Curve, Point
from rookery.studies.figures import COLOURS, draw_band, draw_score, finish, new_figure, save, style
from rookery.studies.generations import LOSSES
from rookery.studies.gomoku_answers import BySeed, band
from rookery.studies.gomoku_plan import Milestone

MILLI = 1000  # seconds are whole thousandths where curves are averaged

Lines = Sequence[Mapping[str, Any]]
Marks = Sequence[tuple[int, BySeed]]
"""seconds, and a figure of each seed"""


def draw_milestones(found: Sequence[tuple[Milestone, Mapping[str, Any]]], path: Path) -> None:
    """Draw the score of each milestone's match with its interval, and what was wanted."""
    figure, axes = new_figure(1, width=8.0, height=0.8 + 0.45 * len(found))
    axis = axes[0, 0]
    for row, (milestone, facts) in enumerate(found):
        draw_score(axis, row, facts)
        axis.plot([milestone.share] * 2, [row - 0.35, row + 0.35], color=COLOURS[4], linewidth=2)
    names = [f"{milestone.name}: stage {milestone.stage} against {milestone.opponent}" for milestone, _ in found]
    axis.set_yticks(range(len(found)), names, fontsize="small")
    axis.invert_yaxis()
    axis.axvline(0.5, color="grey", linewidth=0.8, linestyle=":")
    finish(axis, "score with 95 % interval; bars: what was wanted", "share of the points", "",
           xlim=(-0.02, 1.02))  # fmt: skip
    save(figure, path)


# ---- arms ----------------------------------------------------------------------------------------


def loss_curve(lines: Lines, key: str) -> Curve:
    """Return a loss by thousandths of seconds."""
    return Curve(tuple(Point(round(MILLI * line["seconds"]), line[key], 1.0) for line in lines if key in line))


def draw_arm_losses(curves: Mapping[str, Mapping[int, Lines]], path: Path) -> None:
    """Draw the losses of arms by the seconds they were trained: means over seeds, with bands."""
    figure, axes = new_figure(2)
    for axis, (key, title) in zip(axes.flat, LOSSES, strict=True):
        for number, (arm, seeds) in enumerate(curves.items()):
            found = [curve for lines in seeds.values() if (curve := loss_curve(lines, key)).points]
            draw_band(axis, found, f"{arm} ({len(seeds)})", number)
        axis.xaxis.set_major_formatter(lambda value, place: f"{value / MILLI:g}")
        finish(axis, title, "seconds of training", title, ylim=(0, None))
    if axes[0, 0].lines:
        axes[0, 0].legend(fontsize="small")
    figure.suptitle("Losses while training; each arm's are on its own positions, so only their course says something")
    save(figure, path)


def draw_marks(axis: Any, marks: Marks, label: str, number: int) -> None:
    """Draw a figure at the marks of an arm: means over seeds, with a band."""
    if not marks:
        return
    drawn, places = style(number), [seconds for seconds, _ in marks]
    means, lows, highs = zip(*(band(list(seeds.values())) for _, seeds in marks), strict=True)
    axis.plot(places, means, label=label, marker="o", markersize=4, **drawn)
    if len(places) > 1:
        axis.fill_between(places, lows, highs, color=drawn["color"], alpha=0.15)
    else:
        axis.vlines(places, lows, highs, color=drawn["color"])


def draw_arm_scores(scores: Mapping[str, Mapping[str, Marks]], path: Path) -> None:
    """Draw the scores of arms against each player over time; scores[player][arm]."""
    columns = min(2, len(scores))
    figure, axes = new_figure(columns, -(-len(scores) // columns))
    for axis in axes.flat[len(scores) :]:
        axis.set_visible(False)
    for axis, (player, arms) in zip(axes.flat, scores.items(), strict=False):
        for number, (arm, marks) in enumerate(arms.items()):
            draw_marks(axis, marks, arm, number)
        finish(axis, f"against {player}", "seconds of training", "share of the points", ylim=(-0.02, 1.02))
        axis.set_xlim(left=0)
    axes.flat[0].legend(fontsize="small")
    figure.suptitle("Scores of the arms over time; bands from the lowest seed to the highest")
    save(figure, path)


def draw_arm_elo(elos: Mapping[str, Marks], path: Path) -> None:
    """Draw the ratings of arms over time."""
    figure, axes = new_figure(1, width=7.0, height=4.6)
    for number, (arm, marks) in enumerate(elos.items()):
        draw_marks(axes[0, 0], marks, arm, number)
    finish(axes[0, 0], "Rating of the arms over time; bands from the lowest seed to the highest",
           "seconds of training", "Elo, random player = 0")  # fmt: skip
    axes[0, 0].legend(fontsize="small")
    axes[0, 0].set_xlim(left=0)
    save(figure, path)
