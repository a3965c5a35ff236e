"""The figures of the Domineering study, as PNG files.

Each condition has its own colour and dashes in all of them. Thin lines are seeds, thick ones their mean; bands are 95 %
by drawing whole seeds, and too narrow where there are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rookery.studies.domineering_findings import END, FIGURES, LEARNED, Findings
from rookery.studies.domineering_records import COMPARED, CONTROLS, LARGE, MEANINGS, SMALL, Curves
from rookery.studies.figures import COLOURS, DASHES, finish, new_figure, save
from rookery.studies.seeds import band

ORDER = ("large", "large-aux", "large-plain", "small-aux", "small-plain", *CONTROLS)
MAIN = tuple(LARGE)
PANELS = (LEARNED, "policy_accuracy", "value_accuracy", "sectors")


def look(condition: str) -> dict[str, Any]:
    """Return colour and dashes of a condition."""
    number = ORDER.index(condition)
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def draw_curves(axis: Any, curves: Curves, label: str, drawn: dict[str, Any]) -> bool:
    """Draw the seeds of a figure, their mean and its band; tell whether there was anything."""
    if not len(curves.steps) or not curves.seeds:
        return False
    for row in curves.values:
        axis.plot(curves.steps, row, linewidth=0.6, alpha=0.45, color=drawn["color"])
    axis.plot(curves.steps, curves.values.mean(0), linewidth=1.8, label=f"{label} ({len(curves.seeds)})", **drawn)
    if len(curves.seeds) > 1:
        low, high = band(curves.values)
        axis.fill_between(curves.steps, low, high, color=drawn["color"], alpha=0.15, linewidth=0)
    return True


def zoomed(axis: Any, found: Sequence[Curves]) -> None:
    """Let a panel show what comes after the first tenth of training, of which the rest would be a thin line."""
    later = [
        each.values[:, each.steps >= 0.1 * each.steps[-1]] for each in found if len(each.steps) > 4 and each.seeds
    ]  # fmt: skip
    if later:
        low, high = min(float(each.min()) for each in later), max(float(each.max()) for each in later)
        room = 0.08 * (high - low) or 0.01
        axis.set(ylim=(low - room, high + room))


def draw_losses(found: Findings, protocol: str, path: Path) -> bool:
    """Draw figures of validation by step."""
    figure, axes = new_figure(2, 2)
    names = [name for name in ORDER if found.records.of(name, protocol)]
    drawn = False
    for axis, key in zip(axes.flat, PANELS, strict=True):
        curves = {name: found.curves(name, protocol, key) for name in names}
        for name, each in curves.items():
            drawn |= draw_curves(axis, each, name, look(name))
        zoomed(axis, list(curves.values()))
        title = "value + policy loss" if key == LEARNED else FIGURES[key]
        finish(axis, title, "steps", title)
    if drawn:
        axes[0, 0].legend(fontsize="small")
        figure.suptitle(f"Validation by steps, large networks {protocol}; thin: seeds (their number in brackets)")
        save(figure, path)
    return drawn


def draw_layers(found: Findings, protocol: str, path: Path) -> bool:
    """Draw R2 by step, a panel for each layer."""
    layers = found.records.layers(protocol)
    columns = min(4, max(1, layers))
    rows = -(-max(1, layers) // columns)
    figure, axes = new_figure(columns, rows, width=4.2, height=3.4)
    names = [name for name in (*MAIN, *SMALL) if found.records.of(name, protocol)]
    drawn = False
    for layer, axis in enumerate(axes.flat[:layers]):
        for name in names:
            drawn |= draw_curves(axis, found.curves(name, protocol, "r2", layer), name, look(name))
        mark = ", the last embedded" if layer == found.layer else ""
        finish(axis, f"layer {layer}{mark}", "steps", "R2 of the sectors")
    for axis in axes.flat[layers:]:
        axis.set_axis_off()
    if drawn:
        share_heights(axes.flat[:layers])
        axes[0, 0].legend(fontsize="x-small")
        figure.suptitle(f"What each layer shows of the sectors, large networks {protocol}")
        save(figure, path)
    return drawn


def share_heights(axes: Sequence[Any]) -> None:
    """Give panels the same heights, so that layers can be compared."""
    ends = [axis.get_ylim() for axis in axes]
    low, high = max(-0.1, min(end[0] for end in ends)), max(end[1] for end in ends)
    for axis in axes:
        axis.set(ylim=(low, high))


def leave_empty(axis: Any, title: str, reason: str = "nothing of this is there") -> None:
    """Say that there is nothing to draw in a panel, which would look like a figure of its own axes."""
    axis.set(title=title, xticks=[], yticks=[])
    axis.text(0.5, 0.5, reason, ha="center", va="center", color="grey", transform=axis.transAxes)


def draw_gaps(found: Findings, protocol: str, path: Path) -> bool:
    """Draw the three key comparisons at the embedded layer, with fitted curves."""
    figure, axes = new_figure(len(COMPARED), width=5.0)
    drawn = False
    for axis, pair in zip(axes.flat, COMPARED, strict=True):
        curves = found.gap(pair, protocol)
        if not draw_curves(axis, curves, "difference", {"color": COLOURS[0], "linestyle": "-"}):
            leave_empty(axis, " - ".join(pair), "no seed has both to the same step")
            continue
        drawn = True
        decay = found.decay(pair, protocol)
        for number, name in enumerate(dict.fromkeys(("exponential", "power", decay.best())) if decay else ()):
            assert decay is not None
            fit, steps = decay.fits[name], curves.steps[curves.steps > 0]
            label = f"{name}, asymptote {fit.asymptote:.3f}" + (" (not determined)" if fit.at_edge else "")
            style = {"color": COLOURS[(4 + number) % len(COLOURS)], "linestyle": DASHES[1 + number]}
            axis.plot(steps, fit.at(steps), label=label, **style)
        axis.axhline(0, color="grey", linewidth=0.8)
        finish(axis, f"{pair[0]} - {pair[1]}", "steps", f"difference of R2, layer {found.layer}")
        axis.legend(fontsize="small")
    if drawn:
        figure.suptitle(f"The gap at the embedded depth, seed by seed, large networks {protocol}")
        save(figure, path)
    return drawn


def draw_persistence(found: Findings, protocol: str, path: Path) -> bool:
    """Draw what stays of the embedded network: frozen probes and likeness by layer, concentration, the early layers."""
    rows = max(2, found.layer + 1)
    figure, axes = new_figure(3, rows, width=5.0, height=3.6)
    drawn = False
    for layer in range(rows):
        if layer > found.layer:
            for axis in axes[layer, :2]:
                axis.set_axis_off()
            continue
        title = f"R2 of the probe of step 0, layer {layer}"
        drawn |= draw_panel(axes[layer, 0], found, protocol, "frozen_r2", title, layer)
        show_far_below(axes[layer, 0])
        title = f"CKA with the small network, layer {layer}"
        drawn |= draw_panel(axes[layer, 1], found, protocol, "cka_small", title, layer)
    title = f"R2 of layer {found.layer} minus the mean of the others"
    drawn |= draw_panel(axes[0, 2], found, protocol, "concentration", title)
    drawn |= draw_panel(axes[1, 2], found, protocol, "early", f"mean R2 of layers 0 to {found.layer}")
    for axis in axes[2:, 2]:
        axis.set_axis_off()
    if drawn:
        figure.suptitle(f"What stays of the embedded network, large networks {protocol}")
        save(figure, path)
    return drawn


def show_far_below(axis: Any) -> None:
    """Let a panel of R2 show an outdated probe, which may be far below 0: in powers of ten there."""
    heights = [float(value) for line in axis.get_lines() for value in line.get_ydata()]
    if heights and min(heights) < -1:
        axis.set_yscale("symlog", linthresh=1.0)
        axis.set(ylim=(2 * min(heights), 1.0))


def draw_panel(axis: Any, found: Findings, protocol: str, key: str, title: str, layer: int | None = None) -> bool:
    """Draw a figure of all large networks by step."""
    drawn = False
    for name in (*MAIN, *CONTROLS):
        drawn |= draw_curves(axis, found.curves(name, protocol, key, layer), name, look(name))
    if drawn:
        finish(axis, title, "steps", title)
        axis.legend(fontsize="x-small")
    else:
        leave_empty(axis, title)
    return drawn


def draw_profiles(found: Findings, protocol: str, path: Path) -> bool:
    """Draw R2 by layer at step 0 and in the end, with Student's intervals."""
    figure, axes = new_figure(2)
    drawn, late = False, f"over the last {100 * (1 - END[0]):.0f} % of the steps"
    for axis, title in zip(axes.flat, ("at step 0", late), strict=True):
        for name in (name for name in ORDER if found.records.of(name, protocol)):
            layers = range(found.records.layers(protocol))
            get = found.start_level if title == "at step 0" else found.level
            known = [(layer, value) for layer in layers if (value := get(name, protocol, "r2", layer)) is not None]
            if not known:
                continue
            drawn = True
            means = [value.mean for _, value in known]
            spread = [value.high - value.mean if value.known else 0.0 for _, value in known]
            places = [layer for layer, _ in known]
            axis.errorbar(places, means, spread, label=name, capsize=3, marker="o", markersize=4, **look(name))
        axis.axvline(found.layer, color="grey", linewidth=0.8, linestyle=":")
        finish(axis, title, "layer (dotted: the last embedded)", "R2 of the sectors")
    if drawn:
        axes[0, 1].legend(fontsize="small")
        figure.suptitle(f"What each layer shows of the sectors, large networks {protocol}; 95 % intervals over seeds")
        save(figure, path)
    return drawn


def draw_sectors(found: Findings, protocol: str, path: Path) -> bool:
    """Draw R2 of each sector at the embedded layer in the end, a board for each condition."""
    boards = {name: board for name in MAIN if (board := sector_board(found, name, protocol)) is not None}
    if not boards:
        return False
    figure, axes = new_figure(len(boards), width=3.8, height=3.6)
    top = max(0.01, max(float(np.nanmax(board)) for board in boards.values()))
    for axis, (name, board) in zip(axes.flat, boards.items(), strict=True):
        image = axis.imshow(board, vmin=0, vmax=top, cmap="cividis")
        for row, col in np.ndindex(board.shape):
            colour = "black" if board[row, col] > 0.6 * top else "white"
            axis.text(col, row, f"{board[row, col]:.2f}", ha="center", va="center", fontsize=8, color=colour)
        axis.set(title=name, xticks=[], yticks=[])
    figure.colorbar(image, ax=list(axes.flat), label="R2")
    figure.suptitle(f"R2 by sector behind layer {found.layer} at the last step, mean over seeds, {protocol}")
    save(figure, path)
    return True


def sector_board(found: Findings, condition: str, protocol: str) -> np.ndarray | None:
    """Return the R2 of the sectors at the last probe as a square board, of the seeds that went furthest.

    None if there are none.
    """
    curves, runs = found.curves(condition, protocol, "r2"), found.records.of(condition, protocol)
    rows = [runs[seed].sectors(found.layer, int(curves.steps[-1])) for seed in curves.seeds if len(curves.steps)]
    rows = [row for row in rows if row and not all(map(math.isnan, row))]
    rows = [row for row in rows if len(row) == len(rows[0])]
    side = math.isqrt(len(rows[0])) if rows else 0
    return np.mean(rows, 0).reshape(side, side) if rows and side * side == len(rows[0]) else None


def draw_similarity(found: Findings, protocol: str, path: Path) -> bool:
    """Draw CKA by layer, between conditions of one seed and between seeds of one condition."""
    figure, axes = new_figure(2)
    drawn = False
    for axis, kind in zip(axes.flat, ("conditions", "seeds"), strict=True):
        for number, (name, values) in enumerate(found.similarity(kind, protocol).items()):
            drawn = True
            style = {"color": COLOURS[number % 8], "linestyle": DASHES[number % 8]}
            axis.plot(range(len(values)), values, marker="o", markersize=3, label=name, **style)
        title = "different conditions, same seed" if kind == "conditions" else "same condition, different seeds"
        if not axis.get_lines():
            leave_empty(axis, title)
            continue
        finish(axis, title, "layer", "linear CKA of the board's token", ylim=(0, 1.02))
        axis.legend(fontsize="x-small")
    if drawn:
        figure.suptitle(f"How alike networks are in the end, large networks {protocol}")
        save(figure, path)
    return drawn


def draw_strength(found: Findings, protocol: str, path: Path) -> bool:
    """Draw the scores of all matches with their intervals over openings, and their means over seeds."""
    rows = [(pair, matches) for pair in found.pairs(protocol) if (matches := found.matches(pair, protocol))]
    if not rows:
        return False
    figure, axes = new_figure(1, width=8.0, height=1.4 + 0.7 * len(rows))
    axis = axes[0, 0]
    for place, (pair, matches) in enumerate(rows):
        for number, (seed, match) in enumerate(sorted(matches.items())):
            height = place + 0.12 * (number - (len(matches) - 1) / 2)
            ends = [[match["score"] - match["low"]], [match["high"] - match["score"]]]
            axis.errorbar([match["score"]], [height], xerr=ends, fmt="o", markersize=4, capsize=2, color=COLOURS[0])
            axis.annotate(f"s{seed}", (match["high"], height), xytext=(4, 0), textcoords="offset points", fontsize=6)
        mean = found.strength(pair, protocol)
        if mean is not None:
            axis.plot([0.5 + mean.estimate.mean], [place], marker="|", markersize=28, color=COLOURS[4])
    axis.axvline(0.5, color="grey", linewidth=0.8)
    axis.set_yticks(range(len(rows)), [f"{first} against {second}" for (first, second), _ in rows])
    axis.invert_yaxis()
    low, high = axis.get_xlim()
    axis.set(xlim=(low, high + 0.06 * (high - low)))  # room for the name of a seed behind the longest line
    across = "score of the first (95 % over openings; tick: mean of seeds)"
    finish(axis, f"Matches at equal steps, {protocol}", across, "")
    save(figure, path)
    return True


DRAWN = {
    "losses": draw_losses, "layers": draw_layers, "profiles": draw_profiles, "gaps": draw_gaps,
    "persistence": draw_persistence, "sectors": draw_sectors, "similarity": draw_similarity,
    "strength": draw_strength,
}  # fmt: skip


def draw_all(found: Findings) -> set[str]:
    """Draw all figures for which there is something to draw; return their names."""
    assert set(ORDER) == set(MEANINGS)
    names = set()
    for protocol in found.protocols:
        for name, draw in DRAWN.items():
            path = found.folder / f"{name}-{protocol}.png"
            if draw(found, protocol, path):
                names.add(path.name)
            else:
                path.unlink(missing_ok=True)  # of an earlier report, when there was something to draw
    return names
