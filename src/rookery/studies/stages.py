"""What studies in stages share: which stages are wanted, by which command each was done, what one has found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.learn.curriculum import STAGES, read_outcome
from rookery.learn.files import LineLog, write_json, write_whole
from rookery.learn.locks import waiting_lock
from rookery.learn.stage_run import JUDGED, read_judged

NOTES = "notes.json"

Notes = dict[str, list[dict[str, Any]]]
"""of each stage: command, date and machine"""
Lines = list[dict[str, Any]]
"""of a log"""


def chosen_stages(text: str | None, names: Sequence[str]) -> list[str]:
    """Read which stages are wanted, in their order."""
    words = [word.strip() for word in (text or ",".join(names)).split(",") if word.strip()]
    for word in words:
        if word not in names:
            raise BadInput(f"--only {word!r} is none of {', '.join(names)}")
    return [name for name in names if name in words]


def slug(text: str) -> str:
    """Turn a player's text into part of a file's name."""
    return re.sub(r"[^\w.]+", "-", text)


@contextmanager
def alone(study: Path) -> Iterator[None]:
    """Change files of a study that several processes write, one at a time."""
    study.mkdir(parents=True, exist_ok=True)
    with waiting_lock(study / ".measured.lock"):
        yield


def add_note(folder: Path, stage: str, facts: dict[str, Any]) -> None:
    """Keep by which command a stage was done, and where; the newest of each command stays."""
    with alone(folder):
        notes = read_notes(folder)
        others = [note for note in notes.get(stage, []) if note.get("command") != facts.get("command")]
        write_json(folder / NOTES, notes | {stage: [*others, facts]})


def read_notes(folder: Path) -> Notes:
    """Return all notes."""
    try:
        found: Notes = json.loads((folder / NOTES).read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise BadInput(f"{folder / NOTES} is damaged: {error}; remove it") from None
    return found


def stage_network(folder: Path) -> Path | None:
    """Return the network that a stage of a curriculum has come to; None if there is none, or it is elsewhere."""
    outcome = read_outcome(folder)
    if outcome is not None:
        name: str | None = outcome["network"]
    else:
        lines = read_judged(LineLog(folder / JUDGED))
        name = lines[-1]["file"] if lines else None
    return folder / name if name and (folder / name).exists() else None


def hand_out(curriculum: Path, networks: Mapping[str, Path]) -> None:
    """Put the network of each stage where it is measured: of a stage that is not done yet, its newest."""
    with alone(curriculum.parent):
        for stage, place in networks.items():
            file = stage_network(curriculum / STAGES / stage)
            if file is not None:
                content = file.read_bytes()
                if not place.exists() or place.read_bytes() != content:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    write_whole(place, content)


def read_generations(curriculum: Path, names: Sequence[str]) -> dict[str, Lines]:
    """Return the lines of each stage of a curriculum that has any, a line for each generation."""
    lines = {name: read_judged(LineLog(curriculum / STAGES / name / JUDGED)) for name in names}
    return {name: found for name, found in lines.items() if found}


# ---- what a stage has found ----------------------------------------------------------------------


def read_result(path: Path, inputs: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Read what a stage has found; None if there is nothing, or it was found from other inputs than those given."""
    try:
        content = json.loads(path.read_bytes())
        found: dict[str, Any] = content["found"]
        same = inputs is None or content["inputs"] == json.loads(json.dumps(inputs))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is damaged ({error!r}); remove it, and its stage is done again") from None
    return found if same else None


def keep_result(path: Path, inputs: dict[str, Any], found: dict[str, Any]) -> None:
    """Write what a stage has found, and from what."""
    write_json(path, {"inputs": inputs, "found": found})
