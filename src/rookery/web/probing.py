"""What was probed in the networks of the Domineering study while they learned, ready to be drawn.

All steps of all networks are sent at once: a slider over them asks the server nothing.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

MOST_RUNS = 200
MOST_STEPS = 1000  # of one run


def probed(runs: Path) -> list[dict[str, Any]]:
    """Return each network with its condition and, for each kind of reading, R2 by step and layer.

    A network is {"name", "meaning", "condition", "seed", "reads": {read: {"steps": [...], "r2": [[by layer], ...]}}}.
    """
    folders = sorted(path.parent for path in runs.glob("*/probes.jsonl"))[:MOST_RUNS]
    found = [network(folder) for folder in folders]
    return [each for each in found if each["reads"]]


def network(folder: Path) -> dict[str, Any]:
    """Read one run; what is not of the right form is left out, for a run may be writing just now."""
    try:
        told = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = {}
    told = told if isinstance(told, dict) else {}
    reads: dict[str, dict[str, list[Any]]] = {}
    for line in lines_of(folder / "probes.jsonl"):
        step, layers = line
        for read in dict.fromkeys(layer["read"] for layer in layers):
            kept = reads.setdefault(read, {"steps": [], "r2": []})
            kept["steps"].append(step)
            kept["r2"].append([round(layer["r2"], 4) for layer in layers if layer["read"] == read])
    name = folder.name
    condition = str(told.get("condition", name))
    meaning = str(told.get("meaning", condition))
    return {"name": name, "condition": condition, "meaning": meaning, "seed": told.get("seed"), "reads": reads}


def lines_of(path: Path) -> list[tuple[int, list[dict[str, Any]]]]:
    """Read steps with their layers, in order; of a step that comes twice the later one counts."""
    found: dict[int, list[dict[str, Any]]] = {}
    try:
        texts = path.read_bytes().decode().split("\n")  # what else ends lines may stand inside a JSON text
    except (OSError, UnicodeDecodeError):
        return []
    for text in texts:
        try:
            line = json.loads(text)
            layers: list[dict[str, Any]] = [
                {"read": str(layer["read"]), "r2": float(layer["r2"])} for layer in line["layers"]
            ]
            if all(math.isfinite(layer["r2"]) for layer in layers):
                found[int(line["step"])] = layers
        except (ValueError, KeyError, TypeError):
            continue
    return sorted(found.items())[:MOST_STEPS]
