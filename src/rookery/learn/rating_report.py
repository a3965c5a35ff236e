"""Ratings of runs as values for programs, and as a figure: rating by games, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.arena.ratings import Ratings
from rookery.learn.files import save_whole
from rookery.learn.manifest import interval_of, rated_checkpoints
from rookery.learn.rating import Contest


def reference_ratings(contest: Contest, ratings: Ratings | None) -> dict[str, dict[str, float]]:
    """Return the ratings of the players that belong to no run."""
    found = [rating for rating in ratings.ratings if rating.player in contest.references] if ratings else []
    return {
        rating.player: {
            "elo": round(rating.elo, 1), "low": round(rating.interval[0], 1), "high": round(rating.interval[1], 1),
            "games": rating.games,
        }
        for rating in found
    }  # fmt: skip


def rating_json(contest: Contest, ratings: Ratings | None) -> dict[str, Any]:
    """Return all ratings for a program."""
    settings, fresh = contest.settings, {(entry.run.folder, entry.step) for entry in contest.due}
    rows = [
        {
            "run": run.folder.name, "folder": str(run.folder), "step": entry["step"], "elo": entry["elo"],
            "interval": interval_of(entry), "label": entry.get("label", ""), "games": entry.get("rating_games"),
            "new": (run.folder, entry["step"]) in fresh,
        }
        for run in contest.runs
        for entry in rated_checkpoints(run.folder)
    ]  # fmt: skip
    fitted = {} if ratings is None else {
        "games": ratings.games, "advantage": ratings.advantage, "advantage_error": ratings.advantage_error,
        "draws": ratings.draws, "draws_error": ratings.draws_error,
    }  # fmt: skip
    return {
        "game": contest.game.spec, "version": contest.game.version, "simulations": settings.simulations,
        "openings": contest.opening, "seed": settings.seed, "references": reference_ratings(contest, ratings),
        "checkpoints": rows, "fit": fitted or None,
    }  # fmt: skip


def draw_ratings(folders: Sequence[Path], references: Mapping[str, Mapping[str, float]], output: Path) -> None:
    """Draw rating by games of each run with its 95 % band, and reference players as lines, into a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    distinct = len({folder.name for folder in folders}) == len(folders)
    for folder in folders:
        draw_run(axis, rated_checkpoints(folder), folder.name if distinct else str(folder))
    for name, rating in references.items():
        axis.axhline(rating["elo"], color="grey", linewidth=0.8, linestyle=":")
        axis.annotate(name, (1, rating["elo"]), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8)
    axis.set(xlabel="games of self-play", ylabel="rating (Elo, random player = 0)", title="rating with 95 % intervals")
    axis.grid(alpha=0.3)
    axis.legend()
    save_whole(output, lambda part: figure.savefig(part, dpi=130, format="png"))


def draw_run(axis: Any, entries: Sequence[Mapping[str, Any]], label: str) -> None:
    """Draw the ratings of one run."""
    steps, elos = [entry["step"] for entry in entries], [entry["elo"] for entry in entries]
    (line,) = axis.plot(steps, elos, label=label, marker="o", markersize=3, linewidth=1.2)
    ends = [interval_of(entry) or (entry["elo"], entry["elo"]) for entry in entries]
    axis.fill_between(steps, [low for low, _ in ends], [high for _, high in ends], color=line.get_color(), alpha=0.2)
