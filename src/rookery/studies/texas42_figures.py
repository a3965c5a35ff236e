"""The figures of the Texas 42 study, as PNG files.

    learning.png   gaps on validation by steps, of both stages
    games.png      regret and agreement of a Stage 2 by the hands it has learned from
    tricks.png     regret and agreement of choices by trick, with intervals and the ceiling
    gaps.png       gap of Stage 1 by trick, with intervals
    matches.png    points a hand on mirrored deals, with intervals

Only those are drawn for which there are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rookery.learn.files import LineLog
from rookery.studies.figures import finish, new_figure, save, style
from rookery.studies.texas42_apart import curves
from rookery.studies.texas42_estimates import half_width
from rookery.studies.texas42_evaluate import settings_of_runs

MOST_LINES = 8

Runs = dict[str, dict[str, Any]]
"""settings of runs by name"""


def draw_all(study: Path, measured: Mapping[str, Any]) -> set[str]:
    """Draw what can be drawn; return the names of the files."""
    runs = settings_of_runs(study)
    players: dict[str, Any] = measured.get("trial", {}).get("players", {})
    makers: dict[str, Callable[[Path], bool]] = {
        "learning.png": lambda path: draw_learning(study, runs, path),
        "games.png": lambda path: draw_games(runs, players, path),
        "tricks.png": lambda path: draw_tricks(players, runs, path),
        "gaps.png": lambda path: draw_gaps(study, runs, path),
        "matches.png": lambda path: draw_matches(measured.get("duels", []), path),
    }
    drawn = {name for name, make in makers.items() if make(study / name)}
    for name in makers.keys() - drawn:
        (study / name).unlink(missing_ok=True)  # of an earlier report
    return drawn


def draw_learning(study: Path, runs: Runs, path: Path) -> bool:
    """Draw the gap of unforced decisions by steps, a panel for each stage with runs; validation sets apart."""
    stages = sorted({int(facts["stage"]) for facts in runs.values()})
    if not stages:
        return False
    figure, axes = new_figure(1, len(stages), width=9.6, height=4.2)
    count = 0
    for axis, stage in zip(axes.flat, stages, strict=True):
        number = 0
        for name, facts in runs.items():
            lines = LineLog(study / "runs" / name / "progress.jsonl").read() if facts["stage"] == stage else []
            for data in lines[-1]["valid"] if lines else ():
                steps = [line["step"] for line in lines]
                gaps = [line["valid"][data]["unforced"]["gap"] for line in lines]
                axis.plot(steps, gaps, label=f"{name}, {data}", **style(number))
                number += 1
        finish(axis, f"Stage {stage}", "steps", "gap of unforced decisions, points", ylim=(0, None))
        if number:
            axis.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.01, 1.0))
        count += number
    figure.suptitle("What choices lose on deals that nobody learns from;\nStage 2 by its noisy labels")
    if count:
        save(figure, path)
    return count > 0


def curves_of(runs: Runs, players: Mapping[str, Any]) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Return runs of Stage 2 that differ in how much they learned from: (hands, figures of the trial), by a label."""
    return {
        label: [(hands, players[name]) for hands, name in points] for label, points in curves(runs, players).items()
    }


def draw_games(runs: Runs, players: Mapping[str, Any], path: Path) -> bool:
    """Draw learning curves over hands: regret and agreement by exact values."""
    curves = curves_of(runs, players)
    figure, axes = new_figure(2)
    for axis, key in zip(axes.flat, ("regret", "agreement"), strict=True):
        for number, (label, points) in enumerate(curves.items()):
            draw_estimates(axis, [games for games, _ in points], [each[key] for _, each in points], label, number)
        finish(axis, key, "hands learned from", f"{key}{', points' if key == 'regret' else ''}", xscale="log")
    if curves:
        ceiling = next(iter(curves.values()))[0][1]["ceiling"]
        axes[0, 1].axhline(ceiling, color="black", linewidth=1, label="ceiling")
        axes[0, 1].legend(fontsize="x-small")
        save(figure, path)
    return bool(curves)


def draw_estimates(
    axis: Any, across: list[Any], estimates: list[dict[str, Any]], label: str, number: int, shift: float = 0.0
) -> None:
    """Draw means with their intervals, where they have one."""
    means = [each["mean"] for each in estimates]
    ends = [(each["low"], each["high"]) for each in estimates]
    below = [0.0 if low is None else max(mean - low, 0.0) for mean, (low, _) in zip(means, ends, strict=True)]
    above = [0.0 if high is None else max(high - mean, 0.0) for mean, (_, high) in zip(means, ends, strict=True)]
    places = [place + shift for place in across] if shift else across
    axis.errorbar(places, means, [below, above], label=label, capsize=2, marker="o", markersize=3, **style(number))


def shown_players(players: Mapping[str, Any], runs: Runs) -> Iterator[str]:
    """Choose whom to show by trick: those by exact search, then of each stage the best."""
    yield from (name for name in players if name.startswith("exact") and not name.startswith("exact E[Q], 1 "))

    def regret(name: str) -> float:
        return float(players[name]["regret"]["mean"])

    first = sorted((name for name in players if name.startswith("E[")), key=regret)
    second = sorted((name for name in players if runs.get(name, {}).get("stage") == 2), key=regret)
    yield from (*first[:2], *second[:3])


def draw_tricks(players: Mapping[str, Any], runs: Runs, path: Path) -> bool:
    """Draw regret and agreement by trick, with intervals, and the ceiling."""
    if not players:
        return False
    figure, axes = new_figure(2, width=6.6, height=4.8)
    shown = list(dict.fromkeys(shown_players(players, runs)))[:MOST_LINES]
    for axis, key in zip(axes.flat, ("regret", "agreement"), strict=True):
        for number, name in enumerate(shown):
            tricks = [(t + 1, each) for t, each in enumerate(players[name]["by_trick"]) if each]
            shift = 0.05 * (number - len(shown) / 2)
            draw_estimates(axis, [t for t, _ in tricks], [each[key] for _, each in tricks], name, number, shift)
        finish(axis, key, "trick", f"{key}{', points' if key == 'regret' else ''}")
    tricks = [(t + 1, each["ceiling"]) for t, each in enumerate(next(iter(players.values()))["by_trick"]) if each]
    axes[0, 1].plot(*zip(*tricks, strict=True), color="black", linewidth=1, label="ceiling")
    figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    figure.suptitle("Choices by trick, scored by exact values in worlds that nobody chose by")
    save(figure, path)
    return True


def draw_gaps(study: Path, runs: Runs, path: Path) -> bool:
    """Draw the gap of Stage 1 by trick, a panel for each set that validates."""
    last = {
        name: lines[0]["valid"]
        for name, facts in runs.items()
        if facts["stage"] == 1 and (lines := LineLog(study / "runs" / name / "progress.jsonl").tail(1))
    }
    sets = list(dict.fromkeys(data for valid in last.values() for data in valid))
    if not sets:
        return False
    figure, axes = new_figure(len(sets))
    for axis, data in zip(axes.flat, sets, strict=True):
        for number, (name, valid) in enumerate(last.items()):
            rows = [(t + 1, row) for t, row in enumerate(valid.get(data, {}).get("by_trick", ())) if row["count"]]
            estimates = [with_interval(row) for _, row in rows]
            draw_estimates(axis, [t for t, _ in rows], estimates, name, number)
        finish(axis, data, "trick", "gap of unforced decisions, points", ylim=(0, None))
    axes[0, 0].legend(fontsize="x-small")
    save(figure, path)
    return True


def with_interval(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mean gap of a tally with its interval."""
    half = half_width(row, "gap")
    half = half if math.isfinite(half) else 0.0
    return {"mean": row["gap"], "low": row["gap"] - half, "high": row["gap"] + half}


def draw_matches(matches: list[dict[str, Any]], path: Path) -> bool:
    """Draw what the first player of each match wins more, in points a hand."""
    if not matches:
        return False
    figure, axes = new_figure(1, width=8.0, height=1.2 + 0.35 * len(matches))
    axis = axes[0, 0]
    for place, match in enumerate(reversed(matches)):
        found = match["points_a_hand"]
        low, high = (found["mean"] if found[end] is None else found[end] for end in ("low", "high"))
        axis.errorbar(found["mean"], place, xerr=[[found["mean"] - low], [high - found["mean"]]], capsize=3, **style(0))
        axis.plot(found["mean"], place, "o", color=style(0)["color"])
    names = [f"{match['first']} against {match['second']}" for match in reversed(matches)]
    axis.set_yticks(range(len(matches)), names, fontsize="small")
    axis.axvline(0, color="black", linewidth=1)
    finish(axis, "Mirrored deals", "points a hand that the first player takes more", "")
    save(figure, path)
    return True
