"""Folders of the Domineering study with made-up figures, for tests of its findings and its report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

LARGE = ("large", "large-aux", "large-plain")
SMALL = ("small-aux", "small-plain")
LEVELS = {"large": 0.20, "large-aux": 0.25, "large-plain": 0.18}
SCORES = (("large-aux", "large", 0.6), ("large-plain", "large", 0.5), ("large-aux", "large-plain", 0.58))
STARTS = {"large": 0.02, "large-aux": 0.40, "large-plain": 0.15}


def made_up_run(
    folder: Path, name: str, steps: int = 30_000, every: int = 1000, planned: int | None = None,
    probes: bool = True, layers: int | None = None, seed_effect: float = 0.01, depth: int = 2,
) -> Path:  # fmt: skip
    """Write a run whose R2 at the embedded layer decays from STARTS to LEVELS with tau 6,000 steps."""
    condition, _, seed = name.replace("-probe", "").rpartition("-s")
    rng = np.random.default_rng(sum(map(ord, condition)) * 1000 + int(seed))
    place = folder / "runs" / name
    place.mkdir(parents=True)
    large = condition.startswith("large")
    settings = {"condition": condition, "seed": int(seed), "steps": planned or steps, "parameters": 1000}
    if condition in ("large-aux", "large-plain"):
        differences = {"stream": 0.0, "value": 1e-16, "policy": 0.0, "sectors": None}
        settings["embedding"] = {"verified": True, "positions": 64, "differences": differences}
    (place / "settings.json").write_text(json.dumps(settings))
    shift = seed_effect * np.random.default_rng(int(seed)).normal()  # what a seed does to all conditions
    progress, lines = [], []
    for step in range(0, steps + 1, every):
        policy = 2.5 + 2 * np.exp(-step / 8000) + shift - 0.05 * (condition == "large-aux") + 0.002 * rng.normal()
        figures = {
            "value": 0.5, "policy": policy, "loss": 0.5 + policy, "sectors": 3.0, "policy_accuracy": 0.2 + step / 1e6,
            "value_accuracy": 0.7,
        }  # fmt: skip
        progress.append({"step": step, "seconds": step / 100, "train": figures, "valid": figures})
        level, start = LEVELS.get(condition, 0.3), STARTS.get(condition, 0.1)
        embedded = level + (start - level) * np.exp(-step / 6000) + shift + 0.003 * rng.normal()
        count = (7 if large else depth) if layers is None else layers
        rows = []
        for layer in range(count):
            value = embedded if layer == depth - 1 else 0.6 * embedded
            likeness = 0.9 if large and layer < depth and condition != "large" else None
            rows.append({
                "layer": layer, "read": "cls", "r2": value, "sectors": [value] * 16, "penalty": 0.1,
                "frozen_r2": value - step / 1e5, "cka_small": likeness,
            })  # fmt: skip
        lines.append({"step": step, "layers": rows})
    (place / "progress.jsonl").write_text("".join(json.dumps(row) + "\n" for row in progress))
    if probes:
        (place / "probes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    return place


def made_up_study(folder: Path, seeds=(42, 123, 456, 789), suffix: str = "", **changes) -> Path:
    """Write all runs of a study."""
    for seed in seeds:
        for condition in SMALL:
            if not (folder / "runs" / f"{condition}-s{seed}").exists():
                made_up_run(folder, f"{condition}-s{seed}", **({"steps": 10_000} | changes))
        for condition in LARGE:
            made_up_run(folder, f"{condition}{suffix}-s{seed}", **changes)
    return folder


def made_up_comparison(folder: Path, seeds=(42, 123, 456, 789), suffix: str = "") -> None:
    """Write a comparison of the large networks."""
    protocol = "probed" if suffix else "taught"
    matches, similar = [], []
    for number, seed in enumerate(seeds):
        for first, second, score in SCORES:
            pair = {"first": f"{first}{suffix}-s{seed}", "second": f"{second}{suffix}-s{seed}"}
            matches.append(pair | {
                "protocol": protocol, "seed": seed,
                "step": 30_000, "openings": 50, "candidates": 1, "games": 100, "score": score + 0.01 * number,
                "low": score - 0.08, "high": score + 0.1, "as_vertical": score, "as_horizontal": score, "both": 20,
                "split": 20, "neither": 10,
            })  # fmt: skip
            cka = [0.9 - 0.1 * layer for layer in range(7)]
            similar.append(pair | {"kind": "conditions", "protocol": protocol, "cka": cka})
    line = {"layer": 1, "read": "cls", "r2": 0.05, "sectors": [0.05] * 16, "penalty": 1.0}
    controls = {
        "positions": 20_000, "raw": line | {"layer": -1, "read": "board", "r2": 0.31},
        "random": [{"seed": 42, "layers": [line, line | {"read": "mean"}]}],
        "shuffled": [{"layer": 1, "r2": 0.3, "shuffles": 20, "mean": -0.001, "highest": 0.001, "p": 1 / 21}],
    }  # fmt: skip
    controls["shuffled"][0]["run"] = f"large-aux{suffix}-s{seeds[0]}"
    reads = [{"run": f"large{suffix}-s{seeds[0]}", "step": 30_000, "layers": [line, line | {"read": "all", "r2": 0.7}]}]
    kept = [{"layer": layer, "at_start": 0.5, "old": 0.4, "fresh": 0.6} for layer in (0, 1)]
    reads += [{"run": f"large-plain{suffix}-s{seed}", "step": 30_000, "layers": [], "kept": kept} for seed in seeds]
    content = {
        "format": "rookery domineering comparison", "version": 1, "strength": matches, "similarity": similar,
        "controls": controls, "reads": reads, "missing": [],
    }  # fmt: skip
    (folder / "compare.json").write_text(json.dumps(content))
