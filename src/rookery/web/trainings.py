"""What the page tells of runs: cards, curves with bands, checkpoints and settings. Plain Python.

Everything is read from the folders of the runs. Reading takes a while, so never in the thread of the pages; all pages
share what was read, and nothing is read twice that has not changed.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.learn.files import LineLog
from rookery.learn.manifest import FILE, interval_of, read_manifest
from rookery.learn.runs import CONFIG, LOSSES, METRICS, find_runs
from rookery.learn.summaries import last_change, read_progress, settings_of, status_of, whole
from rookery.web.curves import Curve, Span, averaged
from rookery.web.joining import alike, group_names, joined, joined_ratings
from rookery.web.processes import Started, Trainer

FRESH = 0.5  # seconds for which what was read holds for all pages
FIGURES = {
    "Value loss": (LOSSES, "value_loss"),
    "Policy loss": (LOSSES, "policy_loss"),
    "Draws": (METRICS, "selfplay/draws"),
    "Plies a game": (METRICS, "selfplay/plies"),
    "First player wins": (METRICS, "selfplay/first_wins"),
}
"""figures that can be drawn: the file and the name in it"""


@dataclass(frozen=True)
class Card:
    """A run at a glance."""

    name: str
    status: str
    """not begun, starting, training, complete, stopped, killed, interrupted, failed, damaged or failed to begin"""
    game: str = ""
    games: int = 0
    planned: int = 0
    speed: float | None = None
    """games a second, while it is trained"""
    left: float | None = None
    """seconds, while it is trained"""
    elo: float | None = None
    """rating of the newest rated checkpoint"""
    interval: tuple[float, float] | None = None
    """95 % interval of that rating"""
    changed: float = 0.0
    """when something was last written about it"""
    note: str = ""
    """what there is to say of its status"""

    @property
    def share(self) -> float:
        """How much of the run is done, from 0 to 1."""
        return min(1.0, self.games / self.planned) if self.planned else 0.0

    @property
    def alive(self) -> bool:
        """Whether somebody trains it."""
        return self.status in ("starting", "training")

    @property
    def can_resume(self) -> bool:
        """Whether somebody could go on with it."""
        return self.status in ("not begun", "stopped", "killed", "interrupted", "failed")


class Trainings:
    """The runs of a folder."""

    def __init__(self, trainer: Trainer):
        self.trainer = trainer
        self.lock = threading.Lock()
        self.cards: list[Card] = []
        self.looked = -math.inf
        self.manifests: dict[Path, tuple[tuple[int, int], dict[str, Any]]] = {}
        self.lines: dict[Path, tuple[tuple[int, int], list[dict[str, Any]]]] = {}
        self.configs: dict[Path, tuple[tuple[int, int], dict[str, Any]]] = {}

    # -- cards --

    def look(self) -> list[Card]:
        """Return the cards of all runs, those that changed last first."""
        with self.lock:
            if time.monotonic() - self.looked > FRESH:
                folders = find_runs([self.trainer.runs])
                cards = [self.card(folder) for folder in folders]
                named = {card.name for card in cards}
                cards += [
                    before_folder(started)
                    for name, started in sorted(self.trainer.started.items())
                    if name not in named
                ]
                self.cards = sorted(cards, key=lambda card: (not card.alive, -card.changed, card.name))
                self.looked = time.monotonic()
            return self.cards

    def card(self, folder: Path) -> Card:
        """Look at a run; one that cannot be understood says so and does not hide the others."""
        changed = last_change(folder)
        try:
            manifest = self.manifest(folder)
            progress = read_progress(folder) or {}
            status, note = told_status(folder, progress, self.trainer.started.get(folder.name))
        except (BadInput, OSError) as error:
            return Card(folder.name, "damaged", changed=changed, note=str(error))
        rated = [entry for entry in manifest["checkpoints"] if number(entry.get("elo")) is not None]
        training = status == "training"
        return Card(
            folder.name, status, str(manifest.get("game", "")), whole(progress.get("current_game")),
            whole(progress.get("total_games")), number(progress.get("games_per_second")) if training else None,
            number(progress.get("eta_seconds")) if training else None,
            number(rated[-1]["elo"]) if rated else None, interval_of(rated[-1]) if rated else None,
            changed, note,
        )  # fmt: skip

    def manifest(self, folder: Path) -> dict[str, Any]:
        """Return the manifest of a run, read again only if it has changed."""
        mark = mark_of(folder / FILE)
        if folder not in self.manifests or self.manifests[folder][0] != mark:
            self.manifests[folder] = mark, read_manifest(folder)
        return self.manifests[folder][1]

    # -- what belongs to chosen runs --

    def log_lines(self, path: Path) -> list[dict[str, Any]]:
        """Return the lines of a file, read again only if it has changed."""
        mark = mark_of(path)
        if path not in self.lines or self.lines[path][0] != mark:
            self.lines[path] = mark, LineLog(path).read()
        return self.lines[path][1]

    def curve(self, name: str, figure: str, smoothing: int, looked: Span | None = None) -> Curve:
        """Return the curve of a figure: means of so many neighbouring lines, with the least and the greatest.

        The part between the steps `looked` has as many points as a page shows, the rest few.
        """
        file, key = FIGURES[figure]
        lines = self.log_lines(self.trainer.folder(name) / file)
        points = [
            (step, value)
            for line in lines
            if (step := number(line.get("step"))) is not None and (value := number(line.get(key))) is not None
        ]
        return averaged(name, points, smoothing, looked)

    def ratings(self, name: str) -> Curve:
        """Return the ratings of a run's checkpoints, pruned ones too, with their 95 % intervals."""
        manifest = self.manifest(self.trainer.folder(name))
        entries = sorted([*manifest["checkpoints"], *manifest["pruned"]], key=lambda entry: int(entry["step"]))
        rated = [(entry, elo) for entry in entries if (elo := number(entry.get("elo"))) is not None]
        bands = [interval_of(entry) or (elo, elo) for entry, elo in rated]
        return Curve(
            name, tuple(float(entry["step"]) for entry, _ in rated), tuple(elo for _, elo in rated),
            tuple(low for low, _ in bands), tuple(high for _, high in bands),
        )  # fmt: skip

    def checkpoints(self, name: str) -> list[dict[str, Any]]:
        """Return the checkpoints of a run, the newest first."""
        manifest = self.manifest(self.trainer.folder(name))
        rows = [
            {
                "step": entry["step"], "file": entry["file"], "best": entry["file"] == manifest.get("best"),
                "elo": number(entry.get("elo")), "interval": interval_of(entry),
                "saved": str(entry.get("timestamp", "")),
            }
            for entry in manifest["checkpoints"]
        ]  # fmt: skip
        return sorted(rows, key=lambda row: -int(row["step"]))

    def settings(self, name: str) -> dict[str, Any]:
        """Return the settings of a run by their paths, read again only if they have changed."""
        folder = self.trainer.folder(name)
        mark = mark_of(folder / CONFIG)
        if folder not in self.configs or self.configs[folder][0] != mark:
            self.configs[folder] = mark, settings_of(folder)
        return self.configs[folder][1]

    def compared(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return all settings of runs side by side: by path, the value in each, "-" where it is not set."""
        found = [self.settings(name) for name in names]
        keys = dict.fromkeys(key for values in found for key in values)
        return {key: [str(values.get(key, "-")) for values in found] for key in keys}

    def drawn(
        self, names: Sequence[str], figure: str, smoothing: int, band: str = "", looked: Span | None = None
    ) -> tuple[list[Curve], list[Curve]]:
        """Return the curves of a figure and of ratings; with a band of BANDS, seeds of one experiment are joined.

        A run that is gone, or cannot be read, has none.
        """
        settings: dict[str, dict[str, Any]] = {}
        curves: dict[str, Curve] = {}
        ratings: dict[str, Curve] = {}
        for name in names:
            try:
                curves[name], ratings[name] = self.curve(name, figure, smoothing, looked), self.ratings(name)
                settings[name] = self.settings(name) if band else {}
            except (BadInput, OSError):
                curves.pop(name, None)
        groups = alike({name: settings.get(name, {}) for name in curves})
        found: tuple[list[Curve], list[Curve]] = [], []
        for group, told in zip(groups, group_names(groups), strict=True):
            own = [curves[name] for name in group]
            rated = [ratings[name] for name in group if ratings[name].steps]
            found[0].append(own[0] if len(group) == 1 else joined(told, own, band))
            found[1].append(ratings[group[0]] if len(group) == 1 else joined_ratings(told, rated))
        return found


def told_status(folder: Path, progress: dict[str, Any], started: Started | None) -> tuple[str, str]:
    """Say what a run is doing, and why nobody trains it."""
    status = status_of(folder, progress)
    if status not in ("interrupted", "not begun"):
        return status, ""
    if started is not None and started.code is None:
        return "starting", "Its process loads and compiles what it needs."
    if started is not None and last_change(folder) <= started.ended + 1:
        return ended_status(started)
    if status == "not begun":
        return status, "Nobody has trained it yet."
    return status, "Nobody trains it: its process was stopped or killed."


def ended_status(started: Started) -> tuple[str, str]:
    """Say how a process ended."""
    code = started.code or 0
    if code < 0:
        return "killed", f"Signal {-code} ended its process. Resume goes on from what was saved last."
    if code in (0, 130):
        return "stopped", "It was asked to stop. Resume goes on where it was."
    return "failed", (started.last_words().splitlines() or ["It said nothing."])[-1][:300]


def before_folder(started: Started) -> Card:
    """Return the card of a process that has not made its folder yet, or never will."""
    if started.code is None:
        return Card(started.name, "starting", changed=time.time(), note="Its process has begun.")
    return Card(started.name, "failed to begin", changed=started.ended, note=ended_status(started)[1])


def number(value: Any) -> float | None:
    """Take a finite number as it is and anything else for none."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def mark_of(path: Path) -> tuple[int, int]:
    """Return what changes when a file does."""
    try:
        about = path.stat()
    except OSError:
        return (0, 0)
    return about.st_mtime_ns, about.st_size
