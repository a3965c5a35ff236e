"""The manifest of a run: which versions made it, its checkpoints, their ratings, and which of them is best.

Training and rating may change it at the same time, in two processes: each change reads the file, changes it and writes
it whole, under a lock held for that moment.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rookery import __version__
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.learn.files import write_json
from rookery.learn.locks import waiting_lock
from rookery.learn.sections import KeepSettings

FORMAT = 1
"""number of the run folder's format: raised when older programs could not go on with a run"""
FILE = "manifest.json"
UNRATED = "Evaluating..."
CHECKPOINT = re.compile(r"checkpoint_([0-9]{5,})\.pth")


def checkpoint_name(step: int) -> str:
    """Name the file of a checkpoint by the games played."""
    return f"checkpoint_{step:05d}.pth"


def timestamp() -> str:
    """Write this moment in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def new_manifest(game: Game, threads: int) -> dict[str, Any]:
    """Return the manifest of a run that has not begun."""
    return {
        "format": FORMAT,
        "rookery": __version__,
        "game": game.spec,
        "rules": game.version,
        "created": timestamp(),
        "threads": threads,
        "best": None,
        "checkpoints": [],
        "pruned": [],
    }


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a manifest and refuse one that is damaged or of another format."""
    path = folder / FILE
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadInput(f"{folder} is no run: there is no {FILE} in it") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise BadInput(f"{folder} is no run of ours: its {FILE} does not say its format")
    if manifest["format"] != FORMAT:
        raise BadInput(f"{folder} has the format {manifest['format']!r}; this version of Rookery goes on with {FORMAT}")
    for name in ("checkpoints", "pruned"):
        entries = manifest.setdefault(name, [])
        if not isinstance(entries, list) or not all(is_entry(entry) for entry in entries):
            raise BadInput(f"{path} is damaged: {name} must list checkpoints, each with its file and step")
    return manifest


def is_entry(entry: Any) -> bool:
    """Tell whether something is an entry of a checkpoint; its file must lie in the folder itself."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("file"), str)
        and CHECKPOINT.fullmatch(entry["file"]) is not None
        and type(entry.get("step")) is int
    )


def check_rules(manifest: dict[str, Any], game: Game, folder: Path) -> None:
    """Refuse a run that was played by other rules."""
    if manifest.get("game") != game.spec or manifest.get("rules") != game.version:
        raise BadInput(
            f"{folder} was played by {manifest.get('game')}, rules version {manifest.get('rules')}; "
            f"here it would go on with {game.spec}, rules version {game.version}"
        )


@contextmanager
def changed(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the manifest for a change, and write it if the body ends well."""
    with waiting_lock(folder / ".manifest.lock"):
        manifest = read_manifest(folder)
        before = json.dumps(manifest)
        yield manifest
        if json.dumps(manifest) != before:
            write_json(folder / FILE, manifest)


def enter(manifest: dict[str, Any], entry: dict[str, Any]) -> None:
    """Put a checkpoint in, in the order of steps; there is one entry for a step."""
    for name in ("checkpoints", "pruned"):
        manifest[name] = [other for other in manifest[name] if other["step"] != entry["step"]]
    manifest["checkpoints"] = sorted([*manifest["checkpoints"], entry], key=lambda other: int(other["step"]))


def entry_of(manifest: dict[str, Any], step: int, folder: Path) -> dict[str, Any]:
    """Find the checkpoint of a step, also one whose file was pruned."""
    for name in ("checkpoints", "pruned"):
        for entry in manifest[name]:
            if entry["step"] == step:
                found: dict[str, Any] = entry
                return found
    steps = ", ".join(str(entry["step"]) for entry in manifest["checkpoints"]) or "none"
    raise BadInput(f"{folder} has no checkpoint at step {step}; there are {steps}")


def rated_checkpoints(folder: Path) -> list[dict[str, Any]]:
    """List the rated checkpoints of a run in the order of steps, pruned ones too."""
    manifest = read_manifest(folder)
    entries = sorted([*manifest["checkpoints"], *manifest["pruned"]], key=lambda entry: int(entry["step"]))
    return [entry for entry in entries if isinstance(entry.get("elo"), int | float)]


def interval_of(entry: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the interval of a checkpoint's rating; None if there is none that can be understood."""
    ends = entry.get("interval")
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    if not all(isinstance(end, int | float) and math.isfinite(end) for end in ends):
        return None
    return float(ends[0]), float(ends[1])


# ---- which are kept ------------------------------------------------------------------------------


def superfluous(manifest: dict[str, Any], keep: KeepSettings) -> list[dict[str, Any]]:
    """List the checkpoints that need not be kept.

    Kept are the first, the newest `last`, the best, and the first of every `every` games: on a fast card none may
    lie exactly at a multiple.
    """
    entries = manifest["checkpoints"]
    kept = {entry["step"] for entry in [*entries[:1], *entries[-keep.last :]]}
    kept |= {entry["step"] for entry in entries if entry["file"] == manifest.get("best")}
    spans: set[int] = set()
    for entry in entries if keep.every else ():
        span = entry["step"] // keep.every
        if span not in spans:
            spans.add(span)
            kept.add(entry["step"])
    return [entry for entry in entries if entry["step"] not in kept]
