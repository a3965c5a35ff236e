"""A Gomoku study that nobody has run: matches, curves and generations made up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rookery.games.library import load
from rookery.nets.configs import TowerConfig
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.studies.gomoku import Study
from rookery.studies.gomoku_plan import COMPARISONS, LAST, QUICK, Arm, Preset, run_name, run_names
from rookery.studies.matches import Found, Meeting, Table

MARKS = (8, 16)
PRESET = replace(
    QUICK,
    arms=(
        *(arm for arm in QUICK.arms if arm.name != "fixed"),
        Arm("later", ((LAST, 1.0),), needs="selfplay.no_such_setting"),
    ),
    milestone_games=20,
    compare_games=20,
)
"""the quick preset, with an arm that no version has, and twenty games in all matches"""


def tiny() -> Preset:
    """Return the quick preset with next to nothing in it."""
    changes = (
        "stages.1a.lessons.positions=400", "stages.1b.lessons.positions=400", "stages.3.lessons.positions=400",
        "stages.1b.lessons.supervisor=baseline:depth=2", "stages.1a.training.passes=1", "stages.3.training.passes=1",
        "stages.1b.training.passes=1", "network.width=4", "network.blocks=1",
        *(f"stages.{stage}.selfplay.{change}" for stage in "24" for change in ("at_once=8", "simulations=4")),
        *(f"stages.{stage}.training.batch=32" for stage in "24"),
        *(f"stages.{stage}.until.{change}" for stage in ("1a", "1b", "2", "3", "4")
          for change in ("simulations=4", "watched_games=2")),
    )  # fmt: skip
    small = tuple(
        f"stages.{stage}.{change}" for stage in "24" for change in ("selfplay.games=16", "checkpoints.every=8")
    )
    return replace(
        PRESET,
        main_changes=(*changes, *small),
        arm_changes=(*changes, *QUICK.arm_changes),
        gate_changes=(*QUICK.gate_changes, "stages.4.gate.games=2", "stages.4.gate.simulations=2"),
        milestones=tuple(replace(each, simulations=4) for each in QUICK.milestones),
        milestone_games=4, seeds=2, arm_seconds=2.0, compare_games=4, compare_simulations=4,
    )  # fmt: skip


def pairs(score: float, count: int = 10) -> dict[int, tuple[float, float]]:
    """Return pairs of games of which a share is won, the rest drawn and lost."""
    won = round(score * count)
    return {number: (1.0, 1.0) if number < won else (0.5, 0.0) for number in range(count)}


def keep(study: Study, meeting: Meeting, score: float, games: int = 20, **others: Any) -> None:
    """Write a match of which so many games are played, by networks that are elsewhere; `others`: facts changed."""
    sides = {side: "x" if isinstance(who, Path) else who for side, who in meeting.sides.items()}
    found = Found(sides | meeting.how() | others, pairs(score, games // 2), 12.0)
    Table(study.folder, "cpu", lambda: False).keep(meeting.name, found)


def lines(path: Path, content: list[dict[str, Any]]) -> None:
    """Write a log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in content))


def core_runs(preset: Preset) -> dict[str, tuple[Arm, int]]:
    """Return the runs that need not be asked for."""
    return {name: (arm, seed) for name, (arm, seed) in run_names(preset).items() if not arm.extra}


def made_up(folder: Path, preset: Preset = PRESET) -> Study:
    """Make a study in which the curriculum is ahead of everything."""
    study = Study(folder, preset)
    strength = {"curriculum": 0.9, "scratch": 0.5, "window": 0.4, "discard": 0.4}
    for milestone in preset.milestones:
        keep(study, study.milestone_meeting(milestone), 0.8)
    for name, (arm, seed) in core_runs(preset).items():
        score = strength[arm.name] - 0.1 * (seed - 1)
        for seconds in MARKS:
            for player in preset.references:
                keep(study, study.arm_meeting(name, seconds, player), score)
        curve = [
            {"leg": 0, "seconds": 0.5 * each, "steps": each, "policy_loss": 2.0 - 0.1 * each, "value_loss": 0.5}
            for each in range(1, 10)
        ]
        lines(folder / "arms" / name / "curve.jsonl", curve)
        newest = {"leg": 0, "seconds": 16.0, "steps": 9, "done": True}
        plan = {
            "seconds": preset.arm_seconds, "legs": [], "seed": seed, "changes": list(preset.changes_of(arm)),
        }  # fmt: skip
        facts = {"plan": plan, "newest": newest, "begun_without_work": 1}
        (folder / "arms" / name / "run.json").write_text(json.dumps(facts))
    for pair in COMPARISONS:
        for seed in range(1, preset.seeds + 1):
            if run_name(pair.first, seed) in core_runs(preset) and run_name(pair.second, seed) in core_runs(preset):
                for seconds in MARKS:
                    meeting = study.arm_meeting(run_name(pair.first, seed), seconds, run_name(pair.second, seed))
                    keep(study, meeting, 0.9 if pair.first == "curriculum" else 0.5)
    generation = {"policy_loss": 1.2, "value_loss": 0.3, "seconds": 9.0, "beats": {}, "file": "network.pth"}
    for stage in ("1a", "2"):
        rated = {"elo": 40.0, "elo_gain": 40.0, "watched": {"random": {"score": 0.9}}} if stage == "2" else {}
        content = [{"step": step} | generation | {"watched": {}} | rated for step in (1, 2, 3)]
        lines(folder / "main" / "stages" / stage / "judged.jsonl", content)
    return study


def saved(path: Path, size: int = 5, seed: int = 0) -> Path:
    """Save a network that has learnt nothing."""
    game = load(f"gomoku:size={size}")
    network = build(TowerConfig(planes=3, rows=size, cols=size, width=4, blocks=1), seed)
    save_network(path, network, About(game=game.spec, rules_version=game.version, observation="planes"))
    return path
