"""The report of the Texas 42 study: Markdown and one HTML page, written from what lies in its folder.

What is missing is named, and the rest is shown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.learn.files import LineLog
from rookery.nets.files import load_network
from rookery.studies.html import write_pages
from rookery.studies.markdown import heading, remarks, table
from rookery.studies.stages import read_notes
from rookery.studies.texas42_checks import LOGITS, NO_LOGITS, TOKENS, Check, all_checks
from rookery.studies.texas42_estimates import half_width
from rookery.studies.texas42_evaluate import complete_runs, settings_of_runs
from rookery.studies.texas42_figures import draw_all
from rookery.studies.texas42_files import data_sets
from rookery.studies.texas42_losses import WITH_ERROR
from rookery.studies.texas42_measured import MEASURED, read_measured
from rookery.studies.texas42_sections import claim_section, duel_section, evaluation_section, pairs_section, percent
from rookery.studies.texas42_trial import TRICKS
from rookery.studies.texas42_verdicts import all_verdicts, best_stage2, sources_of

TITLE = "The Texas 42 study: from an exact solver to a player that sees only its own hand"


GAPS = {
    1: "Gap: points that the choice loses against the best, by exact Q; gap of Q: the same of the slot with the "
    "largest Q, where a policy beside it chooses. Blunder: a gap above 10 points. Sets are of played hands, or evenly "
    "drawn from all positions that a deal can reach.",
    2: "Gap: points that the choice loses against the best of the labels it is compared with; these are means over "
    "some worlds, so that exact E[Q] over other worlds would have a gap, too. All of these decisions are unforced.",
}
"""what is shown of each stage"""
BY_TRICK = (
    ("gap", "gap"), ("gap of Q", "q_gap"), ("blunders", "blunder"), ("no gap", "zero_regret"), ("error of Q", "q_mae"),
)  # fmt: skip
"""figures of Stage 1 that are shown of each trick"""


def last_lines(study: Path) -> dict[str, dict[str, Any]]:
    """Return the last line of every run, by its name."""
    found = {}
    for path in sorted((study / "runs").glob("*/progress.jsonl")):
        lines = LineLog(path).tail(1)
        if lines:
            found[path.parent.name] = lines[0]
    return found


def data_section(study: Path) -> Iterator[str]:
    """Show what was learned from."""
    yield "## Data"
    yield ""
    rows = []
    for kind in ("positions", "decisions"):
        for data in data_sets(study, kind):
            plan, files = data.planned(), len(data.numbers())
            settings = ", ".join(f"{key} {value}" for key, value in plan["settings"].items() if value not in ("", 0))
            count = f"{data.total('rows'):,}"
            rows.append((data.folder.name, kind, count, f"{files} of {plan['shards']}", settings))
    there = {row[0] for row in rows}
    for name, facts in read_measured(study).get("data", {}).items():
        if name not in there:
            settings = ", ".join(f"{key} {value}" for key, value in facts["settings"].items() if value not in ("", 0))
            rows.append((name, "decisions", f"{facts['games']:,}", "elsewhere", settings))
    yield from table(("set", "kind", "rows", "files", "settings"), rows)


def stage_section(study: Path, stage: int, lines: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Show the runs of a stage by their figures on each set that validates."""
    yield f"## Stage {stage}"
    yield ""
    known = {name: json.loads((study / "runs" / name / "settings.json").read_bytes()) for name in lines}
    runs = {name: facts for name, facts in known.items() if facts["stage"] == stage}
    if not runs:
        yield "None was trained."
        yield ""
        return
    yield f"{GAPS[stage]} Nobody learns from these deals; +- is half an interval over deals, in brackets the sample."
    yield ""
    rows, by_trick, sources = [], [], sources_of(study)
    for name, facts in runs.items():
        line = lines[name]
        for data, figures in line["valid"].items():
            shown = data if stage == 2 else f"{data} ({sources.get(data, 'unknown')})"
            steps = f"{line['step']:,} of {facts['steps']:,}"
            rows.append((name, f"{facts['parameters']:,}", steps, shown, *run_figures(facts, figures)))
            tricks = figures["by_trick"][: TRICKS - 1]  # the last trick leaves no choice
            opening = [figures["opening"]] if stage == 1 else []
            by_trick.append((name, shown, *(tally(each, "gap") for each in (*opening, *tricks))))
    kinds: tuple[str, ...] = (
        "gap, all",
        "gap of Q, all",
        "gap, unforced",
        "blunders, all",
        "no gap, unforced",
        "mean error of Q",
        "mean error of value",
    )
    if stage == 2:
        kinds = ("gap", "blunders", "no gap", "mean error of mean", "mean error of P(make)")
    yield from table(("run", "parameters", "steps", "set", *kinds), rows)
    apart, words = (("opening leads",), "; trick 1 has the opening leads, too") if stage == 1 else ((), "")
    yield f"Gap of unforced decisions by trick, points{words}:"
    yield ""
    yield from table(("run", "set", *apart, *(f"trick {trick}" for trick in range(1, TRICKS))), by_trick)
    if stage == 1:
        yield from best_by_trick(runs, lines, sources)


def best_by_trick(
    runs: Mapping[str, Any], lines: Mapping[str, dict[str, Any]], sources: Mapping[str, str]
) -> Iterator[str]:
    """Show all figures of the best Stage 1 by trick, on each set: one that tells Q before one that tells a policy."""
    yield "All figures of unforced decisions by trick, of the run with the smallest gap on each set:"
    yield ""
    rows = []
    for data in dict.fromkeys(data for name in runs for data in lines[name]["valid"]):
        known = {name: lines[name]["valid"][data] for name in runs if data in lines[name]["valid"]}
        of_policy = {name: runs[name]["network"]["answers"] in ("policy", "logits") for name in known}
        name, figures = min(known.items(), key=lambda item: (of_policy[item[0]], item[1]["unforced"]["gap"]))
        groups = [figures["opening"], *figures["by_trick"][: TRICKS - 1]]
        shown = f"{data} ({sources.get(data, 'unknown')})"
        for what, key in BY_TRICK:
            rows.append((name, shown, what, *(figure(group, key) for group in groups)))
    yield from table(("run", "set", "", "opening leads", *(f"trick {trick}" for trick in range(1, TRICKS))), rows)


def figure(group: Mapping[str, Any], key: str) -> str:
    """Write a figure of some positions without their number; a policy has none of Q."""
    if not group["count"] or group.get(key) is None:
        return "-"
    if key in WITH_ERROR:
        return tally(group, key).rpartition(" (")[0]
    return f"{group[key]:.1%}" if key == "zero_regret" else f"{group[key]:.2f}"


def run_figures(facts: dict[str, Any], figures: dict[str, Any]) -> Iterator[str]:
    """Write the figures of a run on a set; logits have no error in points."""
    free = figures["unforced"]
    stage, in_points = facts["stage"], facts["network"]["answers"] in ("q", "both")
    if stage == 1:
        yield tally(figures["all"], "gap")
        yield tally(figures["all"], "q_gap")
    yield tally(free, "gap")
    yield tally(figures["all"], "blunder")
    yield f"{free['zero_regret' if stage == 1 else 'agreement']:.1%} ({free['count']:,})"
    for key in ("q_mae", "value_mae") if stage == 1 else ("mean_mae", "make_mae"):
        yield f"{free[key]:.2f}" if in_points or key == "value_mae" else "-"


def tally(group: Mapping[str, Any], key: str) -> str:
    """Write a figure of a group of positions with its interval and how many there are; `-` if there is none."""
    if not group["count"] or group.get(key) is None:
        return "-"
    value, half = group[key], half_width(group, key)
    if half == math.inf:
        return f"{value:.2%} ({group['count']:,})" if key == "blunder" else f"{value:.3f} ({group['count']:,})"
    text = f"{value:.3f} +- {half:.3f}" if key != "blunder" else f"{value:.2%} +- {half:.2%}"
    return f"{text} ({group['count']:,})"


def checks_section(checks: list[Check]) -> Iterator[str]:
    """Show the checks that run with the data."""
    yield "## Checks"
    yield ""
    rows = [(check.name, "yes" if check.holds else "**no**", check.note) for check in checks]
    yield from table(("check", "holds", "found"), rows)


RISKS = (
    ("logits are of a reasonable size", (LOGITS,)),
    ("drawing worlds ends, and gives as many as were asked for", ("worlds share out all tiles and keep the own hand",)),
    ("tokens are those that Stage 1 was taught", (TOKENS,)),
    ("only legal slots count, and each team plays for itself",
     ("both teams take the largest mean", "labels are points from -42 to 42")),
    ("Stage 2 sees nothing that is hidden, and no deal is in two parts",
     ("hidden hands change nothing that Stage 2 sees", "deals are of one part")),
    ("the loss falls in training", ("the loss falls",)),
    ("validation follows", ("does not grow",)),
)  # fmt: skip
"""what the seed of the study feared or asked for, and the ends of the names of the checks that look for it"""


def risk_section(checks: list[Check], trial: Mapping[str, Any], runs: Mapping[str, Any]) -> Iterator[str]:
    """Show the list of risks that the study began with, and what came of each."""
    yield "## The seed's risks"
    yield ""
    rows = []
    for risk, names in RISKS:
        some = [check for check in checks if check.name.endswith(names) and check.note != NO_LOGITS]
        failed = [check.name for check in some if not check.holds]
        found = f"{len(some) - len(failed)} of {len(some)} checks" + (f"; not: {', '.join(failed)}" if failed else "")
        rows.append((risk, "open" if not some else "**no**" if failed else "yes", found if some else "not looked at"))
    yield from table(("risk", "holds", "found"), [*rows, agreement_row(trial, runs)])


def agreement_row(trial: Mapping[str, Any], runs: Mapping[str, Any]) -> tuple[str, str, str]:
    """Compare the agreement of the best Stage 2 with that of chance."""
    risk, players = "Stage 2 agrees more than chance among legal slots", trial.get("players", {})
    best = best_stage2(runs, players)
    if best is None or "random" not in players:
        return risk, "open", "not measured"
    name, chance = best[0], players["random"]["agreement"]
    mine = best[1]["agreement"]
    holds = "yes" if mine["low"] > chance["high"] else "**no**" if mine["high"] < chance["low"] else "open"
    return risk, holds, f"{name}: {percent(mine)} %; chance: {percent(chance)} %; {mine['count']:,} unforced decisions"


def how_section(study: Path, runs: Mapping[str, Any], lines: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Show by which commands everything was done, where, from which seeds, and how long it took."""
    yield "## How it was done"
    yield ""
    notes = read_notes(study)
    machines = list(dict.fromkeys(machine_text(each) for some in notes.values() for each in some))
    letters = {machine: chr(ord("A") + place % 26) for place, machine in enumerate(machines)}
    if not notes:
        yield "Nothing is noted in this folder."
        yield ""
        return
    yield from (f"- machine {letter}: {machine}" for machine, letter in letters.items())
    yield ""
    yield "Seconds are those of commands, with reading and compiling; of runs, in brackets, those of the steps alone."
    yield ""
    rows = []
    for piece, some in notes.items():
        steps = f" ({lines[piece]['seconds']:,.0f})" if piece in lines else ""
        rows += [
            (piece, f"{each['seconds']:,.0f}{steps}", letters[machine_text(each)], "-" if each["seed"] is None else
             each["seed"], f"`{each['command']}`" + (f", {each['times']} times" if each["times"] > 1 else ""),
             each["date"])
            for each in some
        ]  # fmt: skip
    yield from table(("piece", "seconds", "machine", "seed", "command", "date"), rows)
    silent = [name for name in runs if name not in notes]
    if silent:
        yield f"Of {', '.join(silent)} it is not noted here how they were trained."
        yield ""


def machine_text(note: Mapping[str, Any]) -> str:
    """Write on which machine something was done."""
    return ", ".join(f"{key} {value}" for key, value in note["machine"].items())


def verdict_section(study: Path, measured: dict[str, Any]) -> Iterator[str]:
    """Show what was to be shown, and whether it is."""
    yield "## What was to be shown"
    yield ""
    rows = [(each.claim, f"**{each.verdict}**", each.found) for each in all_verdicts(study, measured)]
    yield from table(("question", "verdict", "what was measured"), rows)  # as pages look for answers


def picture(name: str, figures: set[str]) -> Iterator[str]:
    """Show a figure, if it was drawn."""
    if name in figures:
        yield f"![{name.partition('.')[0]}]({name})"
        yield ""


def lacking_of(study: Path, measured: dict[str, Any], lines: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Name what is missing."""
    complete, runs = complete_runs(study), settings_of_runs(study)
    for name, line in lines.items():
        if name not in complete and line["step"] < runs[name]["steps"]:
            yield f"run {name} is not complete"
    if not measured.get("trial"):
        yield "nothing is measured by exact values: `rookery study texas42 evaluate` does that"


def lines_of(study: Path, measured: dict[str, Any], figures: set[str]) -> Iterator[str]:
    """Write the whole report."""
    lines, runs, checks = last_lines(study), settings_of_runs(study), all_checks(study)
    trial = measured.get("trial", {})
    yield from heading(TITLE, list(lacking_of(study, measured, lines)))
    yield "Intervals are for 95 %. Labels and answers are from the mover's side, in points."
    yield ""
    yield from remarks(study)
    yield from verdict_section(study, measured)
    for stage, name in ((1, "gaps.png"), (2, "learning.png")):
        yield from stage_section(study, stage, lines)
        yield from picture(name, figures)
    if trial:
        yield from evaluation_section(trial, runs)
        yield from picture("tricks.png", figures)
        yield from pairs_section(trial, runs)
        yield from picture("games.png", figures)
    yield from claim_section(measured, runs)
    if measured.get("duels"):
        yield from duel_section(measured["duels"])
        yield from picture("matches.png", figures)
    yield from risk_section(checks, trial, runs)
    yield from checks_section(checks)
    yield from data_section(study)
    yield from how_section(study, runs, lines)
    yield "## Networks"
    yield ""
    found = complete_runs(study).items()
    sizes = [(name, str(path.relative_to(study)), load_network(path).config) for name, path in found]
    yield from table(("run", "file", "configuration"), [(name, path, f"`{config!r}`") for name, path, config in sizes])


def write_report(study: Path) -> Path:
    """Write the report, its figures and its page; return where it is. Without Matplotlib there are no figures."""
    if not any((study / part).exists() for part in ("data", "runs", MEASURED)):
        raise BadInput(f"there is no study in {study}: neither data nor runs nor {MEASURED}")
    measured = read_measured(study)
    figures = draw_all(study, measured) if find_spec("matplotlib") else set[str]()
    return write_pages(study, TITLE, lines_of(study, measured, figures))
