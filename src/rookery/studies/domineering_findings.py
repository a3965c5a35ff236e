"""All that is known of the Domineering study: its runs put together over seeds, and what is found by comparing them.

Everything is found for each protocol by itself. Comparisons are seed by seed, at the same steps of training; a seed
whose run stopped early counts in the parts of training that it went through, and is left out where others went further.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rookery.studies.decay import Decay, decay_of
from rookery.studies.domineering_records import (
    COMPARED,
    COMPARISON,
    LARGE,
    SMALL,
    Curves,
    Records,
    RunRecord,
    Series,
    curves_of,
    difference_of,
    is_number,
    pairs_of,
    part_of,
    read_values,
)
from rookery.studies.intervals import Estimate, mean_estimate, shown
from rookery.studies.seeds import Paired, paired

END = (0.9, 1.0)
"""figures of the end are means over this part of the steps"""
FIFTHS = tuple((part / 5, (part + 1) / 5) for part in range(5))
FAR_BELOW = -1.0
"""an R2 below this says only that a probe does not fit any more"""
BEGUN = 1e-9  # a part of training that leaves out step 0
LEARNED = "value and policy"
OWN = {"name", "meaning", "condition", "seed", "small", "embedding", "teaches_sectors"}
"""settings in which runs of the same size and protocol may differ"""
FIGURES = {
    LEARNED: "loss", "value": "value loss", "policy": "policy loss", "sectors": "sector error",
    "policy_accuracy": "policy accuracy", "value_accuracy": "value accuracy",
}  # fmt: skip
"""figures of validation; the first is the sum of value and policy loss, which no weights change"""


class Findings:
    """What a study's folder says."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.records = Records(folder)
        compared = read_values(folder / "compare.json")
        self.compared = compared if compared.get("format") == COMPARISON else {}
        self.layer = self.records.embedded_layer
        self.decays: dict[tuple[tuple[str, str], str], Decay | None] = {}

    @property
    def protocols(self) -> list[str]:
        """The protocols that large networks were trained by."""
        return self.records.protocols

    # ---- curves ----

    def curves(self, condition: str, protocol: str, figure: str, layer: int | None = None) -> Curves:
        """Return a figure of a condition by step, for all its seeds.

        figure  one of FIGURES, of validation; `r2`, `frozen_r2` or `cka_small` of a layer; `concentration`: what the
                embedded layer shows more than the others; `early`: the mean R2 up to the embedded layer
        """
        runs = self.records.of(condition, protocol)
        place = self.layer if layer is None else layer
        return curves_of({seed: series_of(run, figure, place) for seed, run in runs.items()})

    def gap(self, pair: tuple[str, str], protocol: str, figure: str = "r2") -> Curves:
        """Return by how much a figure of one condition is above that of another, for the seeds that go furthest."""
        found = curves_of(self.gap_by_seed(pair, protocol, figure))
        first, second = (set(self.records.of(name, protocol)) for name in pair)
        return replace(found, left_out=sorted({*found.left_out, *(first ^ second)}))

    def gap_by_seed(self, pair: tuple[str, str], protocol: str, figure: str) -> dict[int, Series]:
        """Return by how much a figure of one condition is above that of another by step, for each seed that has both.

        A seed has as many steps as its shorter run.
        """
        first, second = (self.records.of(name, protocol) for name in pair)
        return {
            seed: difference_of(series_of(run, figure, self.layer), series_of(second[seed], figure, self.layer))
            for seed, run in first.items() if seed in second
        }  # fmt: skip

    def at_start(self, pair: tuple[str, str], protocol: str) -> Paired | None:
        """Compare the R2 of two conditions at step 0."""
        runs = [self.records.of(name, protocol) for name in pair]
        starts = [
            {seed: series[0] for seed, run in each.items() if 0 in (series := series_of(run, "r2", self.layer))}
            for each in runs
        ]
        return paired(*starts)

    def part(
        self, pair: tuple[str, str], protocol: str, figure: str = "r2", span: tuple[float, float] = END
    ) -> Paired | None:
        """Compare two conditions over a part of training, step 0 left out, by all seeds that went through it."""
        return paired(part_of(self.gap_by_seed(pair, protocol, figure), max(span[0], BEGUN), span[1]))

    def level(self, condition: str, protocol: str, figure: str, layer: int | None = None) -> Estimate | None:
        """Return the mean over seeds of a figure at the end."""
        values = self.curves(condition, protocol, figure, layer).by_seed(*END)
        return mean_estimate(list(values.values())) if values else None

    def start_level(self, condition: str, protocol: str, figure: str, layer: int | None = None) -> Estimate | None:
        """Return the mean over seeds of a figure at step 0."""
        runs = self.records.of(condition, protocol).values()
        place = self.layer if layer is None else layer
        values = [series[0] for run in runs if 0 in (series := series_of(run, figure, place))]
        return mean_estimate(values) if values else None

    # ---- what is compared ----

    def pairs(self, protocol: str) -> list[tuple[str, str]]:
        """List the comparisons that can be made, the three key ones first."""
        return list(pairs_of(self.records.conditions(protocol)))

    def cut_short(self, pair: tuple[str, str], protocol: str, figure: str = "r2") -> str:
        """Say up to which step two conditions can be compared, if that is not the end that was planned."""
        steps = self.gap(pair, protocol, figure).steps
        runs = [run for name in pair for run in self.records.of(name, protocol).values()]
        planned = max((run.steps for run in runs if run.steps is not None), default=0)
        return f"up to step {steps[-1]:,} of {planned:,}" if len(steps) and steps[-1] < planned else ""

    def decay(self, pair: tuple[str, str], protocol: str) -> Decay | None:
        """Fit how the gap of two conditions at the embedded layer shrinks, from the first probe after step 0 on."""
        if (pair, protocol) not in self.decays:
            gap = self.gap(pair, protocol)
            trained = gap.steps > 0
            found = decay_of(gap.steps[trained], dict(zip(gap.seeds, gap.values[:, trained], strict=True)))
            self.decays[pair, protocol] = found
        return self.decays[pair, protocol]

    def matches(self, pair: tuple[str, str], protocol: str) -> dict[int, dict[str, Any]]:
        """Return the matches of two conditions by seed."""
        names = [{run.name for run in self.records.of(name, protocol).values()} for name in pair]
        played = self.compared.get("strength", [])
        return {match["seed"]: match for match in played if match["first"] in names[0] and match["second"] in names[1]}

    def strength(self, pair: tuple[str, str], protocol: str) -> Paired | None:
        """Return by how much the first scores above one half, seed by seed.

        Seeds may agree by chance, as scores are few different numbers: so the interval is never narrower than the
        openings alone would make it.
        """
        matches = self.matches(pair, protocol)
        found = paired({seed: match["score"] - 0.5 for seed, match in matches.items()})
        if found is None or not found.estimate.known:
            return found
        openings = math.hypot(*((match["high"] - match["low"]) / 2 for match in matches.values())) / len(matches)
        mean, half = found.estimate.mean, max(found.estimate.high - found.estimate.mean, openings)
        return replace(found, estimate=replace(found.estimate, low=max(-0.5, mean - half), high=min(0.5, mean + half)))

    def similarity(self, kind: str, protocol: str) -> dict[str, np.ndarray]:
        """Return the mean CKA by layer of pairs of conditions, or of seeds of one condition, by name."""
        found: dict[str, list[list[float]]] = {}
        for row in self.compared.get("similarity", []):
            ends = [self.records.runs.get(row[end]) for end in ("first", "second")]
            if (row["kind"], row["protocol"]) == (kind, protocol) and ends[0] and ends[1]:
                name = " / ".join(run.condition for run in ends if run) if kind == "conditions" else ends[0].condition
                found.setdefault(name, []).append([math.nan if value is None else value for value in row["cka"]])
        return {name: np.mean([row[: min(map(len, rows))] for row in rows], 0) for name, rows in found.items()}

    def kept(self, condition: str, protocol: str, layer: int) -> dict[str, Estimate]:
        """Return how what probes read of a layer goes with the sectors: at step 0, by those probes now, by fresh ones.

        The keys are `at_start`, `old` and `fresh`; empty if that was not compared.
        """
        found: dict[str, list[float]] = {}
        names = {run.name for run in self.records.of(condition, protocol).values()}
        for entry in self.compared.get("reads", []):
            lines = entry.get("kept") or [] if entry["run"] in names else []
            for line in (line for line in lines if line["layer"] == layer):
                for key in ("at_start", "old", "fresh"):
                    found.setdefault(key, []).extend([line[key]] if is_number(line[key]) else [])
        return {key: mean_estimate(values) for key, values in found.items() if values}

    # ---- what is missing ----

    @cached_property
    def missing(self) -> list[str]:
        """Say what the study lacks, in sentences."""
        if not self.records.runs:
            return [f"There are no runs in {self.folder.name}/runs."]
        return [*self.missing_runs(), *self.unfinished(), *self.unequal(), *self.missing_measures()]

    def missing_runs(self) -> list[str]:
        """Name conditions and seeds that were not trained, among those that others were."""
        lines = []
        for protocol in self.protocols:
            for name in (*SMALL, *LARGE):
                there = set(self.records.of(name, protocol))
                absent = [seed for seed in self.records.seeds if seed not in there]
                told = f"{name} ({protocol})" if name in LARGE else name
                if absent and (name in LARGE or protocol == self.protocols[0]):
                    seeds = "at all" if not there else f"with seed {', '.join(map(str, absent))}"
                    lines.append(f"{told} was not trained {seeds}.")
        if len(self.records.seeds) < 2:
            lines.append("There is one seed alone, so there are no intervals over seeds.")
        return lines

    def unfinished(self) -> list[str]:
        """Name runs that stopped early, or whose figures are missing."""
        lines = []
        for run in self.records.runs.values():
            if not run.finished:
                of = f" of {run.steps:,}" if run.steps is not None else ""
                lines.append(f"{run.name} was stopped after {run.last_step:,}{of} steps.")
            if not run.probes:
                lines.append(f"{run.name} was not probed.")
        return lines

    def unequal(self) -> list[str]:
        """Name settings in which runs of the same size and protocol differ, so that they can hardly be compared."""
        lines = []
        for protocol in ("", *self.protocols):
            told = f"large networks ({protocol})" if protocol else "small networks"
            runs = [run for run in self.records.runs.values() if run.protocol == protocol and run.settings]
            for key in sorted({key for run in runs for key in run.settings} - OWN):
                values: dict[str, list[str]] = {}
                for run in runs:
                    values.setdefault(json.dumps(run.settings.get(key), sort_keys=True), []).append(run.name)
                if len(values) > 1:
                    said = "; ".join(f"{brief(value)} in {', '.join(names)}" for value, names in values.items())
                    lines.append(f"The {told} differ in {key}: {said}.")
        return lines

    def missing_measures(self) -> list[str]:
        """Name what was not compared."""
        if not self.compared:
            return ["Networks were not compared (`rookery study domineering compare`)."]
        return [str(line) for line in self.compared.get("missing", [])]

    # ---- for programs ----

    def facts(self) -> dict[str, Any]:
        """Return all findings for JSON."""
        return {
            "embedded_layer": self.layer, "seeds": self.records.seeds, "missing": self.missing,
            "runs": [run_facts(run, self.layer) for run in self.records.runs.values()],
            "protocols": {protocol: self.protocol_facts(protocol) for protocol in self.protocols},
        }  # fmt: skip

    def protocol_facts(self, protocol: str) -> dict[str, Any]:
        """Return the findings of one protocol for JSON."""
        conditions = {}
        for name in self.records.conditions(protocol):
            figures = {key: self.level(name, protocol, key) for key in (*FIGURES, "concentration", "early")}
            layers = range(self.records.layers(protocol) if name not in SMALL else self.layer + 1)
            conditions[name] = {
                "seeds": sorted(self.records.of(name, protocol)),
                "figures": {key: told(value) for key, value in figures.items()},
                "r2": [told(self.level(name, protocol, "r2", layer)) for layer in layers],
                "r2_at_start": [told(self.start_level(name, protocol, "r2", layer)) for layer in layers],
            }
        return {
            "conditions": conditions,
            "comparisons": [self.pair_facts(pair, protocol) for pair in self.pairs(protocol)],
        }  # fmt: skip

    def pair_facts(self, pair: tuple[str, str], protocol: str) -> dict[str, Any]:
        """Return a comparison for JSON."""
        decay = self.decay(pair, protocol) if pair in COMPARED else None
        spans = {f"{100 * low:.0f}-{100 * high:.0f} %": (low, high) for low, high in FIFTHS}
        return {
            "first": pair[0], "second": pair[1], "left_out": self.gap(pair, protocol).left_out,
            "r2_at_start": told(self.at_start(pair, protocol)), "r2_at_end": told(self.part(pair, protocol)),
            "r2_by_part": {name: told(self.part(pair, protocol, "r2", span)) for name, span in spans.items()},
            "figures_at_end": {key: told(self.part(pair, protocol, key)) for key in FIGURES},
            "strength": told(self.strength(pair, protocol)),
            "decay": decay.facts() if decay else None,
        }  # fmt: skip


def brief(value: str) -> str:
    """Return a value, of a long one its end, in which checksums differ."""
    return value if len(value) <= 40 else f"...{value[-40:]}"


def frozen_text(values: Collection[float]) -> str:
    """Write the R2 of outdated probes, one of each seed.

    It has no bottom, and is worth nothing more where it is far below 0: there a mean with an interval would say little,
    and the ends of the seeds are shown.
    """
    if not values:
        return "-"
    if min(values) >= FAR_BELOW:
        return shown(mean_estimate(list(values)))
    ends = dict.fromkeys(f"{end:,.{1 if end > -10 else 0}f}" for end in (min(values), max(values)))
    return f"{'far below' if max(values) < FAR_BELOW else 'partly far below'} 0 ({' .. '.join(ends)})"


def told(value: Estimate | Paired | None) -> dict[str, Any] | None:
    """Return a number with its interval for JSON."""
    return None if value is None else value.facts()


def series_of(run: RunRecord, figure: str, layer: int) -> Series:
    """Return a figure of a run by step (`Findings.curves` says which there are)."""
    if figure == "concentration":
        return run.concentration(layer)
    if figure == "early":
        return run.early(layer)
    if figure == LEARNED:
        value, policy = run.figure("value"), run.figure("policy")
        return {step: value[step] + policy[step] for step in value if step in policy}
    return run.figure(figure) if figure in FIGURES else run.probe(layer, figure)


def at_end(series: Mapping[int, float]) -> float | None:
    """Return the mean of a figure of one run over the end of its steps."""
    last = max(series, default=0)
    values = [value for step, value in series.items() if step >= END[0] * last]
    return math.fsum(values) / len(values) if values else None


def run_facts(run: RunRecord, layer: int) -> dict[str, Any]:
    """Return the line of a run in the table of all runs."""
    place = min(layer, run.layers - 1)
    seconds = [row["seconds"] for row in run.progress if is_number(row.get("seconds"))]
    return {
        "run": run.name, "condition": run.condition, "protocol": run.protocol, "seed": run.seed,
        "steps": run.last_step, "planned": run.steps, "finished": run.finished,
        "parameters": run.settings.get("parameters"), "seconds": max(seconds, default=None),
        "figures": {key: at_end(series_of(run, key, layer)) for key in FIGURES},
        "r2_at_start": run.probe(place).get(0), "r2_at_end": at_end(run.probe(place)),
        "frozen_r2_at_end": at_end(run.probe(place, "frozen_r2")),
        "cka_small_at_end": at_end(run.probe(place, "cka_small")),
        "concentration_at_end": at_end(run.concentration(place)), "verification": run.verification,
    }  # fmt: skip


def control_lines(compared: Mapping[str, Any], layer: int) -> list[tuple[str, str, float]]:
    """List controls of the probes: what, from where, R2."""
    controls, found = compared.get("controls") or {}, []
    raw = controls.get("raw")
    if raw and is_number(raw.get("r2")):
        found.append(("raw board", "256 squares", float(raw["r2"])))
    for read, place in (("cls", "board's token"), ("mean", "mean of tokens")):
        values = [
            line["r2"] for each in controls.get("random", []) for line in each["layers"]
            if line["layer"] == layer and line["read"] == read and is_number(line["r2"])
        ]  # fmt: skip
        if values:
            where = f"{place}, layer {layer}, mean of {len(values)}"
            found.append(("random network", where, math.fsum(values) / len(values)))
    for row in controls.get("shuffled", []):
        if is_number(row.get("mean")):
            place = f"{row['run']}, layer {row['layer']}, mean of {row['shuffles']}"
            found.append(("shuffled sectors", place, float(row["mean"])))
    return found
