"""What the runs of the Domineering study have left in its folder: figures, probes, networks.

    FOLDER/runs/CONDITION-sSEED/         settings.json, progress.jsonl, probes.jsonl, network.safetensors, ...

Large networks are taught the sectors (protocol `taught`), or only probed for them (`probed`; their names have `-probe`
before the seed). Small networks belong to both protocols. A run that was stopped is read as far as it went; lines that
were cut off or written twice, as a killed run leaves them, are dropped.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SMALL = {"small-aux": "small, taught the sectors", "small-plain": "small, not taught the sectors"}
LARGE = {
    "large": "large, from random weights",
    "large-aux": "large, small-aux embedded",
    "large-plain": "large, small-plain embedded",
}
CONTROLS = {
    "large-noheads": "as large-aux, but heads begin at random",
    "large-identity": "as large-aux, but upper layers begin by adding nothing",
    "large-random": "large, a random small network embedded",
}
MEANINGS = SMALL | LARGE | CONTROLS
SEEDS = (42, 123, 456, 789)
PROTOCOLS = ("taught", "probed")
NAME = re.compile(rf"({'|'.join(sorted(MEANINGS, key=len, reverse=True))})(-probe)?-s(\d+)")
PLANNED_DEPTH = 2
COMPARISON = "rookery domineering comparison"
"""the format of compare.json"""
COMPARED = (("large-aux", "large"), ("large-aux", "large-plain"), ("large-plain", "large"))
"""the three key comparisons: embedding with the side task, the side task, embedding alone"""

Series = dict[int, float]
"""a figure by step"""


@dataclass(frozen=True)
class RunRecord:
    """One run, as far as it went."""

    name: str
    condition: str
    protocol: str
    """`taught` or `probed`; of a small network empty"""
    seed: int
    folder: Path
    settings: dict[str, Any]
    progress: list[dict[str, Any]]
    probes: list[dict[str, Any]]

    @property
    def last_step(self) -> int:
        """The last step there are figures of."""
        return max((int(row["step"]) for row in (*self.progress, *self.probes)), default=0)

    @property
    def steps(self) -> int | None:
        """Steps that were planned, if the settings say so."""
        planned = self.settings.get("steps")
        return planned if isinstance(planned, int) else None

    @property
    def finished(self) -> bool:
        """Whether the run got to its last step; without settings, whether it left a network."""
        return self.last_step >= self.steps if self.steps is not None else self.network is not None

    @property
    def network(self) -> Path | None:
        """The network at the end."""
        place = self.folder / "network.safetensors"
        return place if place.is_file() else None

    @property
    def layers(self) -> int:
        """Layers that were probed."""
        return 1 + max((line["layer"] for row in self.probes for line in row["layers"]), default=-1)

    def figure(self, key: str) -> Series:
        """Return a figure of validation by step."""
        found = {int(row["step"]): row["valid"].get(key) for row in self.progress if isinstance(row.get("valid"), dict)}
        return {step: float(value) for step, value in found.items() if is_number(value)}

    def probe(self, layer: int, key: str = "r2", read: str = "cls") -> Series:
        """Return a figure of the probes of a layer by step."""
        found = {}
        for row in self.probes:
            for line in row["layers"]:
                if line["layer"] == layer and line.get("read", "cls") == read and is_number(line.get(key)):
                    found[int(row["step"])] = float(line[key])
        return found

    def sectors(self, layer: int, step: int) -> list[float]:
        """Return the R2 of each sector at a step; empty if there are none."""
        for row in self.probes:
            for line in row["layers"]:
                if (int(row["step"]), line["layer"], line.get("read", "cls")) == (step, layer, "cls"):
                    values = line.get("sectors") or []
                    return [float(value) if is_number(value) else math.nan for value in values]
        return []

    def concentration(self, layer: int) -> Series:
        """Return by how much a layer shows more than the mean of the others, by step."""
        own, others = self.probe(layer), [self.probe(other) for other in range(self.layers) if other != layer]
        shared = [step for step in own if others and all(step in other for other in others)]
        return {step: own[step] - math.fsum(other[step] for other in others) / len(others) for step in shared}

    def early(self, layer: int) -> Series:
        """Return the mean R2 of the layers up to one, by step."""
        series = [self.probe(number) for number in range(layer + 1)]
        shared = [step for step in series[0] if all(step in each for each in series)]
        return {step: math.fsum(each[step] for each in series) / len(series) for step in shared}

    @property
    def verification(self) -> Any:
        """What the settings say of the embedding and its verification; None if nothing."""
        return self.settings.get("embedding")


def is_number(value: Any) -> bool:
    """Tell whether a value is a number that can be shown."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


# ---- reading -------------------------------------------------------------------------------------


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read lines that say of which step they are, the last of each step, by step; what is no such line is dropped."""
    rows: dict[int, dict[str, Any]] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and isinstance(row.get("step"), int):
                rows[row["step"]] = row
    return [rows[step] for step in sorted(rows)]


def read_values(path: Path) -> dict[str, Any]:
    """Read a JSON file of values; empty if it is missing or damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_run(folder: Path) -> RunRecord | None:
    """Read a run by the name of its folder; None if it is no run of the study."""
    match = NAME.fullmatch(folder.name)
    if match is None or not folder.is_dir():
        return None
    condition, suffix, seed = match.groups()
    protocol = "" if condition in SMALL else PROTOCOLS[bool(suffix)]
    probes = [row for row in read_lines(folder / "probes.jsonl") if is_probe(row)]
    progress, settings = read_lines(folder / "progress.jsonl"), read_values(folder / "settings.json")
    return RunRecord(folder.name, condition, protocol, int(seed), folder, settings, progress, probes)


def is_probe(row: Mapping[str, Any]) -> bool:
    """Tell whether a line holds layers."""
    layers = row.get("layers")
    return isinstance(layers, list) and all(isinstance(line, dict) and "layer" in line for line in layers)


@dataclass
class Records:
    """All runs of a study."""

    folder: Path
    runs: dict[str, RunRecord] = field(init=False)

    def __post_init__(self) -> None:
        places = sorted((self.folder / "runs").iterdir()) if (self.folder / "runs").is_dir() else []
        found = [run for place in places if (run := read_run(place)) is not None]
        order = {name: number for number, name in enumerate(MEANINGS)}
        found.sort(key=lambda run: (run.protocol, order[run.condition], run.seed))
        self.runs = {run.name: run for run in found}

    @property
    def protocols(self) -> list[str]:
        """Protocols that any large network was trained by; `taught` if there is none."""
        there = {run.protocol for run in self.runs.values() if run.protocol}
        return [name for name in PROTOCOLS if name in there] or [PROTOCOLS[0]]

    def of(self, condition: str, protocol: str = "") -> dict[int, RunRecord]:
        """Return the runs of a condition by seed; a small network has no protocol."""
        wanted = "" if condition in SMALL else protocol
        return {
            run.seed: run for run in self.runs.values() if (run.condition, run.protocol) == (condition, wanted)
        }  # fmt: skip

    def conditions(self, protocol: str) -> list[str]:
        """List the conditions that have runs, small ones first."""
        return [name for name in MEANINGS if self.of(name, protocol)]

    @property
    def seeds(self) -> list[int]:
        """All seeds, in the order of the plan."""
        there = {run.seed for run in self.runs.values()}
        return [seed for seed in SEEDS if seed in there] + sorted(there - set(SEEDS))

    @property
    def embedded_layer(self) -> int:
        """The last layer of the small networks, counted from 0; the planned one if none was probed."""
        known = [run.layers for name in SMALL for run in self.of(name).values() if run.layers]
        lines = (line for run in self.runs.values() for row in run.probes[:1] for line in row["layers"])
        known += [line["layer"] + 1 for line in lines if line.get("cka_small") is not None]
        return max(known, default=PLANNED_DEPTH) - 1

    def layers(self, protocol: str) -> int:
        """Layers of the large networks that were probed."""
        return max((run.layers for run in self.runs.values() if run.protocol == protocol), default=0)


# ---- curves of several seeds ---------------------------------------------------------------------


@dataclass(frozen=True)
class Curves:
    """A figure of several seeds at the steps that all of them have."""

    steps: np.ndarray
    """[n]"""
    seeds: list[int]
    values: np.ndarray
    """[S, n]"""
    left_out: list[int]
    """seeds whose runs are shorter than the longest"""

    def by_seed(self, low: float, high: float) -> dict[int, float]:
        """Return the mean of each seed over a part of training, given as shares of its steps, both ends included."""
        if not len(self.steps) or not self.seeds:
            return {}
        last = self.steps[-1]
        inside = (self.steps >= low * last) & (self.steps <= high * last)
        if not inside.any():
            return {}
        return {seed: float(row[inside].mean()) for seed, row in zip(self.seeds, self.values, strict=True)}


def difference_of(first: Series, second: Series) -> Series:
    """Return by how much a figure is above another, at the steps that both have."""
    return {step: first[step] - second[step] for step in sorted(first) if step in second}


def part_of(series: Mapping[int, Series], low: float, high: float) -> dict[int, float]:
    """Return the mean of each seed over a part of training, given as shares of the longest, both ends included.

    A seed that stopped early has the parts that it went through to their end.
    """
    known = {seed: found for seed, found in series.items() if found}
    last = max((max(found) for found in known.values()), default=0)
    if not last:
        return {}  # nothing was trained
    inside = {seed: {step for step in found if low * last <= step <= high * last} for seed, found in known.items()}
    end = max((max(steps) for steps in inside.values() if steps), default=last)
    through = [seed for seed, found in known.items() if max(found) >= end]
    shared = set.intersection(*(inside[seed] for seed in through)) if through else set()
    return {seed: math.fsum(known[seed][step] for step in shared) / len(shared) for seed in through if shared}


def curves_of(series: Mapping[int, Series]) -> Curves:
    """Bring the figures of several seeds to the same steps; seeds that stopped early are left out."""
    known = {seed: found for seed, found in series.items() if found}
    last = max((max(found) for found in known.values()), default=0)
    kept = {seed: found for seed, found in known.items() if max(found) == last}
    steps = sorted(set.intersection(*(set(found) for found in kept.values()))) if kept else []
    values = np.array([[found[step] for step in steps] for found in kept.values()]).reshape(len(kept), len(steps))
    return Curves(np.array(steps, int), list(kept), values, sorted(set(known) - set(kept)))


def pairs_of(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the key comparisons among some conditions, then each control against large-aux and large."""
    yield from (pair for pair in COMPARED if set(pair) <= set(names))
    for control in CONTROLS:
        yield from ((control, other) for other in ("large-aux", "large") if {control, other} <= set(names))
