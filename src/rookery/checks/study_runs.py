"""Checks of runs of the Domineering and the Texas 42 study: figures, embedding, probes and the network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.checks import curves
from rookery.checks.finding import Finding, Sample, about, if_above, if_below
from rookery.checks.networks import check_network
from rookery.errors import BadInput
from rookery.learn.files import LineLog

SETTINGS, PROGRESS, PROBES = "settings.json", "progress.jsonl", "probes.jsonl"
NETWORK, BEST = "network.safetensors", "best.safetensors"
EMBEDDED = 1e-5
"""largest difference between a small network and the same inside a large one"""
GUESSED = {"winner": (0.6, 0.52), "choice": (0.45, 0.34)}
"""share that is right of winners, and of choices among several tiles: worth a warning, and no better than guessed"""
READABLE = 0.05
"""R2 of the best probe"""


def is_study_run(folder: Path) -> bool:
    """Tell whether a folder is a run of one of these studies."""
    return (folder / SETTINGS).is_file() and not (folder / "manifest.json").exists()


def check_study_run(folder: Path, sample: Sample) -> list[Finding]:
    """Check a run of the Domineering or the Texas 42 study."""
    sample.say(f"figures of {folder.name}")
    settings = read_settings(folder / SETTINGS)
    lines = LineLog(folder / PROGRESS).read()
    found = curves.learning_rate(float(settings["learning_rate"]), 0.0, bool(settings.get("small")))
    if "stage" in settings:
        found += texas42_figures(lines)
    else:
        found += [*domineering_figures(lines), *embedding(settings), *probes(folder)]
    for name in (NETWORK, BEST):
        if (folder / name).is_file():
            return found + about(name, check_network(folder / name, sample))
    return found


def read_settings(path: Path) -> dict[str, Any]:
    """Read the settings of a run."""
    try:
        settings = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadInput(f"{path} is damaged: {error}") from None
    if not isinstance(settings, dict) or not curves.is_number(settings.get("learning_rate")):
        raise BadInput(f"{path} is of no run that this program knows: it tells no learning_rate")
    return settings


def figures_of(lines: Sequence[Mapping[str, Any]], part: str) -> list[Mapping[str, Any]]:
    """Return the figures of a part, of the lines that have some."""
    return [line[part] for line in lines if isinstance(line.get(part), dict)]


def domineering_figures(lines: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Check losses, what is validated, and the share of winners that are told."""
    train, valid = figures_of(lines, "train"), figures_of(lines, "valid")
    found = curves.loss_numbers([*train, *valid], ("loss", "value", "policy", "sectors"))
    found += curves.loss_course("validation loss", curves.column(valid, "loss"))
    found += curves.loss_course("training loss", curves.column(train, "loss"))
    if train and valid:
        found += curves.validation_gap(train[-1].get("loss"), valid[-1].get("loss"), "the last line of progress")
        found += accuracy("winner", valid[-1].get("value_accuracy"), "winners of games that validate")
    return found


def texas42_figures(lines: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Check the loss, and what choices lose on each set that validates."""
    train = figures_of(lines, "train")
    found = curves.loss_numbers(train, ("loss",))
    found += curves.loss_course("training loss", curves.column(train, "loss"))
    sets = figures_of(lines, "valid")
    for name in sets[-1] if sets else ():
        unforced = [figures["unforced"] for line in sets if "unforced" in (figures := line.get(name) or {})]
        if not unforced:
            continue
        found += curves.loss_course(f"points lost on {name}", curves.column(unforced, "gap"))
        told = unforced[-1].get("agreement", unforced[-1].get("zero_regret"))
        found += accuracy("choice", told, f"choices among several tiles, {name}")
    return found


def accuracy(what: str, share: Any, looked: str) -> list[Finding]:
    """Check that more is right than would be by guessing."""
    if not curves.is_number(share):
        return []
    warning, guessed = GUESSED[what]
    verdict = if_below(share, warning, guessed)
    return [Finding("accuracy", verdict, share, f"{100 * share:.1f} %", f"at least {100 * warning:g} %", looked)]


def embedding(settings: Mapping[str, Any]) -> list[Finding]:
    """Check that a small network inside a large one answers as it did alone."""
    facts = settings.get("embedding")
    if not isinstance(facts, dict):
        return []
    differences = [float(each) for each in (facts.get("differences") or {}).values() if curves.is_number(each)]
    largest = max(differences, default=0.0) if facts.get("verified") else float("nan")
    told = f"they differ by {largest:.2g}" if facts.get("verified") else "it was not verified"
    verdict, expected = if_above(largest, EMBEDDED, EMBEDDED), f"at most {EMBEDDED:g}"
    return [Finding("embedding", verdict, largest, told, expected, f"the embedding of {facts.get('small')}")]


def probes(folder: Path) -> list[Finding]:
    """Check that something can be read from some layer."""
    lines = LineLog(folder / PROBES).read()
    layers = lines[-1].get("layers", []) if lines else []
    read = [float(layer["r2"]) for layer in layers if curves.is_number(layer.get("r2"))]
    if not read:
        return []
    best = max(read)
    looked = f"{len(read)} layers at step {lines[-1].get('step')}"
    told, expected = f"R2 {best:.3f} in the best layer", f"at least {READABLE:g}"
    return [Finding("probes", if_below(best, READABLE), best, told, expected, looked)]
