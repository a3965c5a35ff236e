"""The figures of the Pylos study, as PNG files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.studies.curves import DECISIVE, DRAWS, POLICY, VALUE, Curve
from rookery.studies.figures import draw_band, finish, new_figure, save, style

TITLES = {
    VALUE: "value loss", POLICY: "policy loss", DECISIVE: "value loss of decisive games", DRAWS: "share of draws",
}  # fmt: skip

Curves = Mapping[str, Curve]


def draw_losses(curves: Mapping[str, Curves], path: Path) -> None:
    """Draw losses and draws of the ladder by games, a panel for each figure."""
    figure, axes = new_figure(2, 2)
    for axis, key in zip(axes.flat, (VALUE, POLICY, DECISIVE, DRAWS), strict=True):
        for number, (name, found) in enumerate(curves.items()):
            if found[key].points:
                axis.plot(*found[key].thinned(), label=name, **style(number))
        top = (0, 1) if key == DRAWS else (0, None)
        finish(axis, TITLES[key], "games of self-play", TITLES[key], ylim=top)
    if curves:
        axes[0, 0].legend()
    axes[0, 1].set(ylim=(0, 1.0))  # its first values are high, and all that follows would lie on the floor
    figure.suptitle("Losses of the ladder; read the value loss beside the share of draws")
    save(figure, path)


def draw_ablations(groups: Mapping[str, Sequence[Curves]], path: Path) -> None:
    """Draw losses and draws of the ablations by games: means over seeds, with bands from the lowest to the highest."""
    figure, axes = new_figure(3)
    for axis, key in zip(axes.flat, (VALUE, DECISIVE, DRAWS), strict=True):
        for number, (name, seeds) in enumerate(groups.items()):
            draw_band(axis, [found[key] for found in seeds if found[key].points], f"{name} ({len(seeds)})", number)
        top = (0, 1) if key == DRAWS else (0, None)
        finish(axis, TITLES[key], "games of self-play", TITLES[key], ylim=top)
    if groups:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    figure.suptitle("Ablations: mean over seeds (their number in brackets), bands from the lowest to the highest seed")
    save(figure, path)


def draw_ratings(
    ladder: Mapping[str, Sequence[Mapping[str, Any]]], references: Mapping[str, Mapping[str, float]], path: Path
) -> None:
    """Draw rating by games and by seconds with 95 % bands, and reference players as lines.

    ladder  rows of each run, with step, elo, interval, and seconds where they are known
    """
    figure, axes = new_figure(2, width=6.4, height=4.6)
    panels = (("games of self-play", "step"), ("seconds of training", "seconds"))
    for axis, (across, key) in zip(axes.flat, panels, strict=True):
        for number, (name, rows) in enumerate(ladder.items()):
            known = [row for row in rows if row.get(key) is not None]
            if known:
                drawn, steps = style(number), [row[key] for row in known]
                axis.plot(steps, [row["elo"] for row in known], label=name, marker="o", markersize=3, **drawn)
                lows, highs = zip(*(row["interval"] for row in known), strict=True)
                axis.fill_between(steps, lows, highs, color=drawn["color"], alpha=0.15)
        for number, (name, row) in enumerate(references.items()):
            axis.axhline(row["elo"], color="grey", linewidth=0.8, linestyle=":")
            axis.annotate(
                name, (0.01 + 0.22 * (number % 3), row["elo"]), xycoords=("axes fraction", "data"),
                fontsize="small", color="dimgrey", verticalalignment="bottom",
            )  # fmt: skip
        finish(axis, f"rating by {across}", across, "Elo, random player = 0")
    if ladder:
        axes[0, 0].legend(loc="lower right")
    figure.suptitle("Rating on one scale, with 95 % bands")
    save(figure, path)


def draw_exact(networks: Mapping[str, Any], game: str, path: Path) -> None:
    """Draw the share of right signs and of kept values by spheres left, of the network alone and after a search."""
    panels = (
        ("signs", "right sign: network"), ("search_signs", "right sign: after a search"),
        ("moves", "value kept: policy's first move"), ("search_moves", "value kept: after a search"),
    )  # fmt: skip
    figure, axes = new_figure(2, 2)
    for axis, (key, title) in zip(axes.flat, panels, strict=True):
        for number, (name, found) in enumerate(networks.items()):
            rows = [row for row in found[game]["by_left"] if row[key]["count"]]
            if rows:
                left, drawn = [row["left"] for row in rows], style(number)
                axis.plot(left, [row[key]["mean"] for row in rows], label=name, marker="o", markersize=3, **drawn)
                lows, highs = [row[key]["low"] for row in rows], [row[key]["high"] for row in rows]
                axis.fill_between(left, lows, highs, color=drawn["color"], alpha=0.12)
        finish(axis, title, "spheres left in both reserves", "share of positions")
    if networks:
        axes[0, 0].legend()
    figure.suptitle(f"Late positions with exact values, {game} game; 95 % bands")
    save(figure, path)


def draw_probes(networks: Mapping[str, Any], path: Path) -> None:
    """Draw how well each concept can be read from each layer, a heat map for each network."""
    figure, axes = new_figure(max(1, len(networks)), width=5.2, height=5.6)
    for axis, (name, found) in zip(axes.flat, networks.items(), strict=False):
        scores = found["scores"]
        shades = [[math.nan if value is None else value for value in row] for row in scores]
        image = axis.imshow(shades, vmin=0.5, vmax=1.0, cmap="cividis", aspect="auto")
        axis.set(title=f"{name}: what each layer shows")
        axis.set_xticks(range(len(found["concepts"])), found["concepts"], rotation=60, ha="right", fontsize="small")
        axis.set_yticks(range(len(found["layers"])), found["layers"], fontsize="small")
        for row, values in enumerate(scores):
            for column, value in enumerate(values):
                dark = value is None or value < 0.75
                text, colour = "-" if value is None else f"{value:.2f}", "white" if dark else "black"
                axis.text(column, row, text, ha="center", va="center", fontsize=6.5, color=colour)
        figure.colorbar(image, ax=axis, label="score of a linear probe; 0.5 is chance")
    save(figure, path)
