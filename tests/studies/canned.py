"""Runs and results of a Pylos study that nobody has trained or measured: just what a report is written from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rookery.learn.runs import METRICS, Run
from rookery.studies.pylos import Study
from rookery.studies.pylos_plan import full_plan

GAMES = 1000


def canned_run(folder: Path, settings: Any, loss: float, draws: float, status: str = "complete") -> Run:
    """Make a run that says it is complete, whose loss falls from 0.8 to `loss`."""
    run = Run.create(folder, settings)
    total = settings.selfplay.games
    with run.training():
        steps = [total * part // 50 for part in range(1, 51)]
        lines = [
            {
                "step": step, "loss/value": max(loss, 0.8 - step / total), "loss/policy": 0.2,
                "loss/decisive": 2 * loss, "selfplay/draws": draws, "selfplay/plies": 50.0, "seconds/all": step / 10,
            }
            for step in steps
        ]  # fmt: skip
        (folder / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines))
        for step in (total // 2, total):
            run.save_checkpoint(step, lambda path: path.write_text("a network"))
        run.write_progress(status, total)
    return run


def rating(run: str, step: int, elo: float) -> dict[str, Any]:
    return {"run": run, "step": step, "elo": elo, "interval": [elo - 30, elo + 30], "games": 80, "score": 0.5}


def match(first: str, second: str, elo: float) -> dict[str, Any]:
    return {
        "first": first, "second": second, "games": 160, "pairs": 80, "pair_counts": [1, 2, 3, 4, 5], "wins": 100,
        "draws": 10, "losses": 50, "score": 0.65, "elo": elo, "elo_low": elo - 40, "elo_high": None,
        "likelihood_of_superiority": 0.9,
    }  # fmt: skip


def contest(game: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "game": game, "version": 1, "simulations": 32, "openings": "random:6", "seed": 1, "checkpoints": rows,
        "references": {
            "random": {"elo": 0.0, "low": 0.0, "high": 0.0, "games": 100},
            "alphabeta:depth=1": {"elo": 400.0, "low": 350.0, "high": 450.0, "games": 100},
        },
        "pivot": {"player": "alphabeta:depth=1", "elo": 400.0, "error": 50.0},
        "head_to_head": [match("v5", "v4", 100.0), match("v4", "v3", 120.0), match("best", "v5", 200.0)],
        "fit": {"games": 5000, "advantage": 10.0, "advantage_error": 3.0, "draws": 0.1, "draws_error": 0.01},
    }  # fmt: skip


def share(mean: float) -> dict[str, Any]:
    return {"mean": mean, "low": mean - 0.1, "high": mean + 0.05, "count": 100}


def judged(left: Any) -> dict[str, Any]:
    found = {"left": left, "positions": 100, "draws": 0}
    for prefix in ("", "search_"):
        found |= {f"{prefix}signs": share(0.9), f"{prefix}error": 0.1, f"{prefix}moves": share(0.8)}
    return found


def results(ladder: dict[str, int], others: dict[str, int]) -> dict[str, dict[str, Any]]:
    """Return what every stage would have found."""
    elos = {"v3": 800, "v4": 900, "v5": 1000, "best": 1200}
    rows = [rating(name, step, elos[name] * part) for name, games in ladder.items() for step, part in (
        (games // 2, 0.8), (games, 1.0),
    )]  # fmt: skip
    rows += [rating(name, games, 850 + 10 * number) for number, (name, games) in enumerate(others.items())]
    sample = {
        "game": "pylos", "positions": 200, "draws": 3, "unsolved": 1, "unsolved_by_left": [0, 1], "seed": 1,
        "most_positions": 1000,
    }  # fmt: skip
    exact = {"by_left": [judged(1), judged(2)], "all": judged("all")}
    searches = [{"simulations": 100, "value": -0.2, "line": ["a1", "b2"]}]
    floor = {
        "positions": 64, "replays": 32, "floor": 0.31, "interval": [0.28, 0.34], "value_loss": 0.35,
        "value_loss_interval": [0.3, 0.4], "draws": 0.3,
    }  # fmt: skip
    probes = {
        "layers": ["observation", "stem", "block 1"], "concepts": ["support", "freedom"],
        "scores": [[0.6, 0.7], [0.9, 0.95], [0.99, None]], "untrained": [[0.6, 0.7], [0.8, 0.8], [0.8, 0.8]],
    }  # fmt: skip
    said = {
        "network": "v4", "blocks": "1-2", "concept": "neighbours", "said": "adjacency", "measured": "0.9",
        "verdict": "yes",
    }  # fmt: skip
    return {
        "rate": {
            "contests": {"greedy": contest("pylos:removal=greedy", rows), "official": contest("pylos", rows)},
        },
        "judge": {
            "networks": {name: {"greedy": exact, "official": exact} for name in ladder},
            "samples": {"greedy": sample, "official": sample}, "simulations": 64,
        },
        "empty": {"networks": {"best": {"game": "pylos", "network": -0.1, "searches": searches}}},
        "floor": {"networks": {"v5": floor, "best": floor}, "settings": {"positions": 64}},
        "probe": {"networks": {"v5": probes}, "predictions": [said], "settings": {"positions": 100}},
    }  # fmt: skip


def canned_study(folder: Path, seeds: int = 2) -> Study:
    """Make a study all of whose runs and stages are there."""
    study = Study(folder, full_plan(GAMES, seeds))
    losses = {"v3": 0.5, "v4": 0.4, "v5": 0.3, "v5-basic": 0.41, "v4-rich": 0.31}
    draws = {"v5-discount": 0.05}
    for number, planned in enumerate(study.plan):
        kind = planned.ablation or planned.name
        noise = 0.001 * (number % 3)
        canned_run(
            study.run_folder(planned), planned.settings(), losses.get(kind, 0.3) + noise, draws.get(kind, 0.3) + noise
        )
    ladder = {run.name: GAMES for run in study.plan if not run.ablation}
    others = {run.name: GAMES // 5 for run in study.plan if run.ablation}
    for stage, content in results(ladder, others).items():
        study.keep(stage, {}, content)
    return study
