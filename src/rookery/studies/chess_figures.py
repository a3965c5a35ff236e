"""The figures of the chess study, as PNG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.studies.figures import draw_score, finish, new_figure, save, style

CONTROLS = (("score", "this network"), ("untrained", "untrained"), ("shuffled", "shuffled targets"))


def draw_matches(rows: Sequence[tuple[str, Mapping[str, Any]]], path: Path) -> None:
    """Draw the score of each match with its interval."""
    figure, axes = new_figure(1, width=8.0, height=0.9 + 0.4 * len(rows))
    axis = axes[0, 0]
    for row, (_, facts) in enumerate(rows):
        draw_score(axis, row, facts)
    axis.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize="small")
    axis.invert_yaxis()
    axis.axvline(0.5, color="grey", linewidth=0.8, linestyle=":")
    finish(axis, "score of the network with 95 % interval", "share of the points", "", xlim=(-0.02, 1.02))
    save(figure, path)


def draw_probes(concepts: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Draw what each layer shows of every concept, with its controls, a panel for each."""
    figure, axes = new_figure(2, -(-len(concepts) // 2))
    for axis in axes.flat[len(concepts) :]:
        axis.set_visible(False)
    for axis, (name, found) in zip(axes.flat, concepts.items(), strict=False):
        layers = found["layers"]
        for number, (key, label) in enumerate(CONTROLS):
            known = [(place, layer[key]) for place, layer in enumerate(layers) if layer[key] is not None]
            places, values, errors = zip(*((at, each["value"], each["error"]) for at, each in known), strict=True)
            axis.errorbar(places, values, yerr=errors, label=label, marker="o", markersize=3, capsize=3,
                          **style(number))  # fmt: skip
        axis.set_xticks(range(len(layers)), [layer["layer"] for layer in layers], rotation=45, fontsize="small")
        finish(axis, name, "", "right answers, 0.5 is chance" if found["truth"] else "R2")
    axes[0, 0].legend(fontsize="small")
    figure.suptitle("What a weighted sum reads from each layer; bars: standard errors over folds")
    save(figure, path)
