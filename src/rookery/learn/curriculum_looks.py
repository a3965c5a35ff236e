"""What people want to know of a curriculum at a glance: where it is and how far, read without opening it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rookery.games.options import given_path
from rookery.learn.curriculum import LOCK, PROGRESS, STAGES, is_curriculum_folder
from rookery.learn.locks import is_locked
from rookery.learn.runs import is_run
from rookery.learn.stage_run import MET, MISSED
from rookery.learn.summaries import Summary, age_of, folder_size, read_progress, summarise


def curriculum_folder(text: str, parent: Path = Path("runs")) -> Path | None:
    """Return the folder of a curriculum given by its path, or by its name under `runs`; None if it is none."""
    return next((path for path in (given_path(text), parent / text) if is_curriculum_folder(path)), None)


def find_curricula(parents: Sequence[Path]) -> list[Path]:
    """List the curricula that folders hold, themselves included, in the order of their names."""
    found = {parent for parent in parents if is_curriculum_folder(parent)}
    for parent in parents:
        if parent.is_dir():
            found |= {path for path in parent.iterdir() if not path.name.startswith(".") and is_curriculum_folder(path)}
    return sorted(found)


def stages_of(folder: Path) -> list[dict[str, Any]]:
    """Return of each stage its name (`stage`), `status` and `account`; nothing before the first began."""
    told = (read_progress(folder, PROGRESS) or {}).get("stages")
    return [stage for stage in told or () if isinstance(stage, dict) and isinstance(stage.get("stage"), str)]


def stage_under_way(folder: Path) -> Path | None:
    """Return the folder of the first stage that is not done, or of the last; None before the first began."""
    stages = stages_of(folder)
    name = next((stage["stage"] for stage in stages if stage.get("status") != MET), None)
    return folder / STAGES / (name or stages[-1]["stage"]) if stages else None


def summarise_curriculum(folder: Path) -> Summary:
    """Look at a curriculum; its figures are those of the stage under way, if that is a run."""
    stages, at = stages_of(folder), stage_under_way(folder)
    statuses = [stage.get("status") for stage in stages]
    done = statuses.count(MET)
    if is_locked(folder / LOCK):
        status = "training"
    elif not stages:
        status = "not begun"
    else:
        status = "complete" if done == len(stages) else MISSED if MISSED in statuses else "interrupted"
    about = summarise(at) if at and is_run(at) else Summary("", "", "")
    where = f", stage {at.name}, {min(done + 1, len(stages))} of {len(stages)}" if at else ""
    return replace(
        about, name=folder.resolve().name, folder=str(folder), status=status, note=f"curriculum{where}",
        megabytes=folder_size(folder) / 1e6, age_seconds=age_of(folder),
    )  # fmt: skip
