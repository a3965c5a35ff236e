"""The report of the Texas 42 study: Markdown and one HTML page, written from what lies in its folder.

What is missing is named, and the rest is shown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rookery.learn.files import LineLog
from rookery.nets.files import load_network
from rookery.studies.html import write_pages
from rookery.studies.intervals import Estimate, shown
from rookery.studies.markdown import table
from rookery.studies.texas42_checks import all_checks
from rookery.studies.texas42_evaluate import complete_runs, settings_of_runs
from rookery.studies.texas42_figures import draw_all
from rookery.studies.texas42_files import data_sets, read_facts
from rookery.studies.texas42_measured import read_measured
from rookery.studies.texas42_verdicts import all_verdicts

TITLE = "The Texas 42 study: from an exact solver to a player that sees only its own hand"


def number(estimate: dict[str, Any] | None, digits: int = 3, unit: float = 1.0) -> str:
    """Write an estimate that comes from JSON."""
    if estimate is None:
        return "-"
    low, high = (
        infinite if estimate[end] is None else estimate[end]
        for end, infinite in (("low", -math.inf), ("high", math.inf))
    )
    mean = math.nan if estimate["mean"] is None else estimate["mean"]
    return shown(Estimate(mean, low, high, estimate["count"]), digits, unit)


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
            plan = read_facts(data.plan)
            facts = [read_facts(data.shard(number).with_suffix(".json")) for number in data.numbers()]
            settings = ", ".join(f"{key} {value}" for key, value in plan["settings"].items() if value not in ("", 0))
            count = sum(each["rows"] for each in facts)
            rows.append((data.folder.name, kind, f"{count:,}", f"{len(facts)} of {plan['shards']}", settings))
    yield from table(("set", "kind", "rows", "files", "settings"), rows)


def stage_section(study: Path, stage: int, lines: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Show the runs of a stage by their figures on each set that validates."""
    yield f"## Stage {stage}"
    yield ""
    yield (
        "Gap: points that the choice loses against the best, by exact Q. Blunder: a gap above 10."
        if stage == 1
        else "Gap: points that the choice loses against the best of the labels it is compared with, which are noisy."
    )
    yield ""
    rows, by_trick = [], []
    for name, line in lines.items():
        facts = json.loads((study / "runs" / name / "settings.json").read_bytes())
        if facts["stage"] != stage:
            continue
        for data, figures in line["valid"].items():
            free, whole = figures["unforced"], figures["all"]
            good = free["zero_regret" if stage == 1 else "agreement"]
            keys = ("q_mae", "value_mae") if stage == 1 else ("mean_mae", "make_mae")
            in_points = facts["network"]["answers"] == "q"  # logits have no error in points
            errors = [f"{free[key]:.2f}" if in_points or key == "value_mae" else "-" for key in keys]
            rows.append((
                name, f"{facts['parameters']:,}", f"{line['step']:,} of {facts['steps']:,}", data,
                f"{whole['gap']:.3f}", f"{free['gap']:.3f}", f"{free['blunder']:.2%}", f"{good:.1%}",
                *errors,
            ))  # fmt: skip
            tricks = [f"{each['gap']:.3f}" if each["count"] else "-" for each in figures["by_trick"]]
            by_trick.append((name, data, *tricks))
    kinds = ("Q", "value") if stage == 1 else ("mean", "make")
    errors_head = [f"error of {kind}" for kind in kinds]
    head = ("run", "parameters", "steps", "set", "gap, all", "gap, unforced", "blunders", "no gap", *errors_head)
    yield from table(head, rows)
    yield "Gap of unforced decisions by trick:"
    yield ""
    yield from table(("run", "set", *(f"trick {trick}" for trick in range(1, 8))), by_trick)


def evaluation_section(found: dict[str, Any]) -> Iterator[str]:
    """Show who chooses how well, by exact search in worlds that nobody chose by."""
    yield "## Choices, by exact values"
    yield ""
    yield (
        f"{found['decisions']:,} unforced decisions of deals that nobody has learned from, spread evenly over tricks; "
        f"choices are scored on {found['worlds']:,} other worlds than the reference chose by. Agreement counts slots "
        "that are not worse than the best by more than two standard errors."
    )
    yield ""
    rows = [
        (
            name,
            number(each["regret"]),
            number(each["agreement"], 1, 0.01),
            f"{each['of_ceiling']:.1%}",
            *(f"{trick['regret']['mean']:.2f}" if trick else "-" for trick in each["by_trick"]),
        )
        for name, each in found["players"].items()
    ]
    head = ("who chooses", "regret, points", "agreement, %", "of the ceiling")
    yield from table((*head, *(f"regret in trick {trick}" for trick in range(1, 8))), rows)
    yield "Agreement by trick, in %; the ceiling is that of the reference:"
    yield ""
    rows = [
        (name, *(f"{100 * trick['agreement']['mean']:.1f}" if trick else "-" for trick in each["by_trick"]))
        for name, each in found["players"].items()
    ]
    ceiling = next(iter(found["players"].values()))["by_trick"]
    rows.append(("**ceiling**", *(f"{100 * trick['ceiling']:.1f}" if trick else "-" for trick in ceiling)))
    yield from table(("who chooses", *(f"trick {trick}" for trick in range(1, 8))), rows)
    yield from pair_lines(found.get("pairs", []))


def pair_lines(pairs: list[dict[str, Any]]) -> Iterator[str]:
    """Show what choosers by logits lose against their peers by Q."""
    if not pairs:
        return
    yield "Choosers by logits against peers by Q, alike in size, data and settings, decision by decision:"
    yield ""
    rows = [
        (each["first"], each["second"], number(each["behind"]), number(each["same"], 1, 0.01)) for each in pairs
    ]  # fmt: skip
    yield from table(("by logits", "by Q", "loses, points", "same choice, %"), rows)


def claim_section(found: dict[str, Any]) -> Iterator[str]:
    """Show whether mean logits choose as mean Q does."""
    yield "## Do logits work like Q?"
    yield ""
    yield (
        "The same decisions and worlds, labelled by the mean of Q and by mean logits of another network. Regret is "
        "what the choice by logits loses by the mean of Q."
    )
    yield ""
    rows = [
        (
            name,
            f"{each['decisions']:,}",
            number(each["same_choice"], 1, 0.01),
            number(each["regret"]),
            f"{each['largest_logit']:.1f}",
        )
        for name, each in found.items()
    ]
    yield from table(("set", "unforced decisions", "same choice, %", "regret, points", "largest logit"), rows)


def duel_section(found: list[dict[str, Any]]) -> Iterator[str]:
    """Show matches on mirrored deals."""
    yield "## Matches on mirrored deals"
    yield ""
    yield "Each deal is played twice, with sides changed; the leader calls its longest suit and has bid 30."
    yield ""
    rows = [
        (
            f"{each['first']} against {each['second']}",
            f"{each['deals']:,}",
            number(each["points_a_hand"], 2),
            number(each["wins"], 1, 0.01),
            f"{each['made'][0]:.1%}, {each['made'][1]:.1%}",
            number(each["made_more"], 1, 0.01),
        )
        for each in found
    ]
    head = ("match", "deals", "points more a hand", "deals won, %", "bids made", "bids made more, %")
    yield from table(head, rows)


def checks_section(study: Path) -> Iterator[str]:
    """Show the checks that run with the data."""
    yield "## Checks"
    yield ""
    rows = [(check.name, "yes" if check.holds else "**no**", check.note) for check in all_checks(study)]
    yield from table(("check", "holds", "found"), rows)


def verdict_section(study: Path, measured: dict[str, Any]) -> Iterator[str]:
    """Show what was to be shown, and whether it is."""
    yield "## What was to be shown"
    yield ""
    rows = [(each.claim, f"**{each.verdict}**", each.found) for each in all_verdicts(study, measured)]
    yield from table(("claim", "verdict", "found"), rows)


def picture(name: str, figures: set[str]) -> Iterator[str]:
    """Show a figure, if it was drawn."""
    if name in figures:
        yield f"![{name.partition('.')[0]}]({name})"
        yield ""


def lines_of(study: Path, measured: dict[str, Any], figures: set[str]) -> Iterator[str]:
    """Write the whole report."""
    yield f"# {TITLE}"
    yield ""
    lines, complete = last_lines(study), complete_runs(study)
    steps = {name: facts["steps"] for name, facts in settings_of_runs(study).items()}
    lacking = [
        f"run {name} is not complete" for name, line in lines.items()
        if name not in complete and line["step"] < steps[name]
    ]  # fmt: skip
    lacking += [] if measured else ["nothing is measured by exact values: `rookery study texas42 evaluate` does that"]
    if lacking:
        yield "**This study is not complete.** What is missing:"
        yield ""
        yield from (f"- {line}" for line in lacking)
        yield ""
    yield "Intervals are for 95 %. Labels and answers are from the mover's side, in points."
    yield ""
    yield from verdict_section(study, measured)
    for stage, name in ((1, "gaps.png"), (2, "learning.png")):
        yield from stage_section(study, stage, lines)
        yield from picture(name, figures)
    sections = (
        ("trial", evaluation_section, ("tricks.png", "games.png")), ("claim", claim_section, ()),
        ("duels", duel_section, ("matches.png",)),
    )  # fmt: skip
    for key, section, names in sections:
        if measured.get(key):
            yield from section(measured[key])
            for name in names:
                yield from picture(name, figures)
    yield from checks_section(study)
    yield from data_section(study)
    yield "## Networks"
    yield ""
    sizes = [(name, str(path.relative_to(study)), load_network(path).config) for name, path in complete.items()]
    yield from table(("run", "file", "configuration"), [(name, path, f"`{config!r}`") for name, path, config in sizes])


def write_report(study: Path) -> Path:
    """Write the report, its figures and its page; return where it is. Without Matplotlib there are no figures."""
    measured = read_measured(study)
    figures = draw_all(study, measured) if find_spec("matplotlib") else set[str]()
    return write_pages(study, TITLE, lines_of(study, measured, figures))
