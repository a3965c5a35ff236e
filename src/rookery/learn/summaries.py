"""What people want to know of a run at a glance, read from its folder without opening it for training.

A run that cannot be understood is listed with what is wrong with it: one damaged folder must not hide the others.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rookery.arena import networks
from rookery.errors import BadInput
from rookery.learn import runs
from rookery.learn.files import LineLog
from rookery.learn.manifest import rated_checkpoints, read_manifest
from rookery.learn.yaml_text import read_yaml

MOST_POINTS = 1000  # of a curve that is drawn
LAST_LOSSES = 50  # training calls whose losses are averaged


@dataclass(frozen=True)
class Summary:
    """One line of the table of runs."""

    name: str
    folder: str
    status: str
    """starting, training or complete; interrupted if nobody trains it any more; damaged"""
    game: str = ""
    games: int = 0
    planned: int = 0
    value_loss: float | None = None
    policy_loss: float | None = None
    elo: float | None = None
    """rating of the newest rated checkpoint"""
    checkpoints: int = 0
    megabytes: float = 0.0
    age_seconds: float = 0.0
    """since something was last written about its progress"""
    note: str = ""
    """what is wrong with it, or how far it is if it is a curriculum"""


def read_progress(folder: Path, file: str = runs.PROGRESS) -> dict[str, Any] | None:
    """Read the progress file; None if there is none, or none that can be understood."""
    try:
        progress = json.loads((folder / file).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return progress if isinstance(progress, dict) else None


def status_of(folder: Path, progress: dict[str, Any] | None) -> str:
    """Say what a run is doing."""
    told = str((progress or {}).get("status", "starting"))
    return told if told == "complete" or runs.being_trained(folder) else "interrupted" if progress else "not begun"


def summarise(folder: Path) -> Summary:
    """Look at a run."""
    name = folder.name or str(folder.resolve().name)
    age = age_of(folder)
    try:
        manifest = read_manifest(folder)
    except BadInput as error:
        return Summary(name, str(folder), "damaged", age_seconds=age, note=str(error))
    progress = read_progress(folder) or {}
    rated = [entry["elo"] for entry in manifest["checkpoints"] if isinstance(entry.get("elo"), int | float)]
    value, policy = recent_losses(folder)
    return Summary(
        name,
        str(folder),
        status_of(folder, progress),
        str(manifest.get("game", "")),
        whole(progress.get("current_game")),
        whole(progress.get("total_games")),
        value,
        policy,
        rated[-1] if rated else None,
        len(manifest["checkpoints"]),
        folder_size(folder) / 1e6,
        age,
    )


def folder_size(folder: Path) -> int:
    """Sum the sizes of all files; some may vanish meanwhile, since somebody may be training."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def whole(value: Any) -> int:
    """Take a whole number as it is and anything else for none."""
    return value if type(value) is int else 0


def age_of(folder: Path) -> float:
    """Return the seconds since something was last written about a run's progress."""
    return max(0.0, time.time() - last_change(folder))  # the clock may have been put back


def last_change(folder: Path) -> float:
    """Return when something was last written about a run's progress."""
    times = []
    for path in (folder / name for name in (runs.PROGRESS, runs.CONFIG, networks.PROGRESS, networks.CURRICULUM)):
        with contextlib.suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times, default=0.0)


def recent_losses(folder: Path) -> tuple[float | None, float | None]:
    """Return the mean value and policy loss of the last training calls."""
    lines = LineLog(folder / runs.LOSSES).tail(LAST_LOSSES)
    value, policy = (mean([line.get(name) for line in lines]) for name in ("value_loss", "policy_loss"))
    return value, policy


def mean(values: Sequence[Any]) -> float | None:
    """Return the mean of what are numbers; None if none is."""
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    return math.fsum(numbers) / len(numbers) if numbers else None


def summary_facts(summary: Summary) -> dict[str, Any]:
    """Return a summary for JSON."""
    return asdict(summary)


def differing_settings(folders: Sequence[Path]) -> dict[str, list[str]]:
    """Return the keys in which the settings of runs differ, by path, with the value in each run."""
    flat = [settings_of(folder) for folder in folders]
    keys = dict.fromkeys(key for values in flat for key in values)
    rows = {key: [str(values.get(key, "-")) for values in flat] for key in keys}
    return {key: row for key, row in rows.items() if len(set(row)) > 1}


def settings_of(folder: Path) -> dict[str, Any]:
    """Return the settings of a run by their paths."""
    path = folder / runs.CONFIG
    try:
        return flattened(read_yaml(path.read_text("utf-8"), str(path)))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no text: byte {error.start} is not UTF-8") from None


def flattened(values: Any, path: str = "") -> dict[str, Any]:
    """Return the values of nested sections by their paths."""
    if not isinstance(values, dict):
        return {path: values}
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flattened(value, f"{path}.{key}" if path else str(key))
    return found


# ---- watching ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """What a run says of itself at one moment."""

    progress: dict[str, Any]
    status: str
    checkpoint: dict[str, Any] | None
    figures: dict[str, Any]
    """the newest figures that were logged"""


def look_at(folder: Path) -> Look:
    """Look at a run while somebody may be training it."""
    progress = read_progress(folder) or {}
    entries, last = read_manifest(folder)["checkpoints"], LineLog(folder / runs.METRICS).tail(1)
    figures = {name: value for name, value in (last or [{}])[0].items() if name not in ("step", "seconds")}
    return Look(progress, status_of(folder, progress), entries[-1] if entries else None, figures)


def looks(folder: Path, every: float, patience: float = 5.0) -> Iterator[Look]:
    """Yield what a run says, each time it says something new, until it is complete or nobody trains it any more."""
    previous, alive = None, time.monotonic()
    while True:
        look = look_at(folder)
        if look != previous:
            yield look
            previous = look
        if look.status in ("starting", "training"):
            alive = time.monotonic()
        if look.status == "complete" or time.monotonic() - alive > patience:
            return
        time.sleep(every)


# ---- curves --------------------------------------------------------------------------------------


def loss_curve(folder: Path, name: str) -> tuple[list[float], list[float]]:
    """Return games and losses of a run, thinned by averaging neighbours where there are too many points."""
    points = [
        (float(line["step"]), float(line[name]))
        for line in LineLog(folder / runs.LOSSES).read()
        if isinstance(line.get("step"), int | float) and isinstance(line.get(name), int | float)
    ]
    width = max(1, math.ceil(len(points) / MOST_POINTS))
    groups = [points[begin : begin + width] for begin in range(0, len(points), width)]
    games = [group[-1][0] for group in groups]
    return games, [math.fsum(loss for _, loss in group) / len(group) for group in groups]


def rating_curve(folder: Path) -> tuple[list[float], list[float]]:
    """Return games and ratings of the checkpoints that are rated, pruned ones too."""
    rated = rated_checkpoints(folder)
    return [float(entry["step"]) for entry in rated], [float(entry["elo"]) for entry in rated]


def draw_curves(folders: Sequence[Path], output: Path) -> None:
    """Draw the losses of several runs, and their ratings if there are any, into a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from rookery.learn.files import save_whole

    curves = [("value loss", "value_loss"), ("policy loss", "policy_loss")]
    distinct = len({folder.name for folder in folders}) == len(folders)
    labels = {folder: folder.name if distinct else str(folder) for folder in folders}
    ratings = {folder: rating_curve(folder) for folder in folders}
    panels = len(curves) + any(games for games, _ in ratings.values())
    figure = Figure(figsize=(6 * panels, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for axis, (title, name) in zip(axes, curves, strict=False):
        for folder in folders:
            axis.plot(*loss_curve(folder, name), label=labels[folder], linewidth=1.2)
        axis.set(title=title, xlabel="games", ylim=(0, None))
    if panels > len(curves):
        for folder, (games, elos) in ratings.items():
            axes[-1].plot(games, elos, label=labels[folder], marker="o", markersize=3, linewidth=1.2)
        axes[-1].set(title="rating (Elo)", xlabel="games")
    for axis in axes:
        axis.grid(alpha=0.3)
    axes[0].legend()
    save_whole(output, lambda part: figure.savefig(part, dpi=130, format="png"))


def duration(seconds: Any) -> str:
    """Write a time span in its two largest units; a dash where there is none."""
    if not isinstance(seconds, int | float) or not math.isfinite(seconds):
        return "-"
    left, parts = int(max(seconds, 0)), []
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if left >= length or unit == "s":
            parts.append(f"{left // length}{unit}")
            left %= length
    return " ".join(parts[:2])
