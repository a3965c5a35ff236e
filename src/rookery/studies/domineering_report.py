"""The report of the Domineering study: Markdown, figures and one HTML page, written from what lies in its folder.

What is missing is named, and the rest is shown: any number of seeds, runs of any length, one protocol or both.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, Context
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.studies.domineering_answers import all_answers
from rookery.studies.domineering_findings import FAR_BELOW, Findings, control_lines, run_facts
from rookery.studies.domineering_records import is_number, read_values
from rookery.studies.domineering_sections import SECTIONS, meanings_section
from rookery.studies.html import write_pages
from rookery.studies.markdown import remarks, table
from rookery.studies.verdicts import answers_table

TITLE = "The Domineering study: does an embedded small network help a large one?"


def summary_section(found: Findings, drawn: bool) -> Iterator[str]:
    """Give the answers first."""
    yield f"# {TITLE}"
    yield ""
    lacking = [*found.missing, *([] if drawn else ["There are no figures: Matplotlib is not installed here."])]
    if lacking:
        yield "**This study is not complete.** What is missing:"
        yield ""
        yield from (f"- {line}" for line in lacking)
        yield ""
    seeds = len(found.records.seeds)
    yield (
        f"Intervals are for 95 %, by Student's distribution over seeds (up to {seeds}), from differences within each "
        "seed. A verdict is open where an interval lies on both sides of 0, or where there is none. Runs are the "
        "samples: steps of one run are never counted as if they were independent. Many numbers are looked at here, and "
        "intervals are not widened for that."
    )
    yield ""
    if drawn:
        yield (
            "Thin lines of figures are seeds, thick ones their mean; bands are 95 % by drawing whole seeds, which is "
            "too narrow where there are few. The end is the last tenth of the steps, the mean of what was measured."
        )
        yield ""
    if not found.records.runs:
        return
    yield "## Answers"
    yield ""
    for protocol in found.protocols:
        yield f"### Large networks {protocol}"
        yield ""
        yield from answers_table(all_answers(found, protocol))


def runs_section(found: Findings) -> Iterator[str]:
    """Show all runs."""
    yield "## All runs"
    yield ""
    yield f"Validation over the last tenth of the steps; R2 behind layer {found.layer}, from the board's token."
    yield ""
    rows = []
    for run in found.records.runs.values():
        facts = run_facts(run, found.layer)
        figures = facts["figures"]
        steps = f"{facts['steps']:,}" + ("" if facts["finished"] else f" of {facts['planned'] or '?'}, stopped")
        rows.append((
            run.name, steps, number(facts["parameters"], 0), number(facts["seconds"], 0),
            number(figures["value"]), number(figures["policy"]), number(figures["policy_accuracy"]),
            number(figures["sectors"], 2), number(facts["r2_at_start"]), number(facts["r2_at_end"]),
            frozen_number(facts["frozen_r2_at_end"]), number(facts["cka_small_at_end"]),
            verification(facts["verification"]),
        ))  # fmt: skip
    head = (
        "run", "steps", "parameters", "seconds", "value loss", "policy loss", "policy accuracy", "sector error",
        "R2 at step 0", "R2", "R2 of the frozen probe", "CKA with the small network", "embedding verified",
    )  # fmt: skip
    yield from table(head, rows)


def number(value: Any, digits: int = 3) -> str:
    """Write a number, if there is one."""
    return f"{value:,.{digits}f}" if isinstance(value, (int, float)) else "-"


def frozen_number(value: Any) -> str:
    """Write the R2 of an outdated probe, if there is one; far below 0 digits behind the point say nothing."""
    if not isinstance(value, (int, float)) or value >= FAR_BELOW:
        return number(value)
    return number(value, 1 if value > -10 else 0)


def verification(value: Any) -> str:
    """Write the greatest difference at the cut between an embedded network and the small one."""
    if not isinstance(value, dict):
        return "-"
    if value.get("verified") is False:
        return "no"
    differences = value.get("differences")
    known = differences.values() if isinstance(differences, dict) else value.values()
    numbers = [each for each in known if isinstance(each, float)]
    return f"yes, within {rounded_up(max(numbers))}" if numbers else "yes" if value.get("verified") else "-"


def rounded_up(value: float) -> str:
    """Write a number with one digit, never less than it is."""
    return f"{float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(value)):g}"


def games_section(found: Findings) -> Iterator[str]:
    """Show which games the networks learned from, and how their players met."""
    data = found.folder / "data"
    files = [(path.stem, read_values(path)) for path in sorted(data.glob("phase*_games.json"))]
    rows = []
    for name, about in files:
        player = (about.get("settings") or {}).get("player", "-")
        rows.append((name, number(about.get("games"), 0), player, about.get("seed", "-")))
    met = [each for each in read_values(data / "players.json").get("results", []) if is_number(each["score"]["mean"])]
    if not rows and not met:
        return
    yield "## The games"
    yield ""
    yield from table(("file", "games", "played by", "seed"), rows) if rows else ()
    if not met:
        yield "Their players have not met (`rookery study domineering compare-data`)."
        yield ""
        return
    yield "Their players against each other, from random openings, each played twice with colours swapped:"
    yield ""
    scores = []
    for each in met:
        mean, low, high = (each["score"][key] for key in ("mean", "low", "high"))
        ends = f"{100 * low:.1f} .. {100 * high:.1f}" if is_number(low) and is_number(high) else "no interval"
        split = f"{each['both']} / {each['split']} / {each['neither']}"
        scores.append((each["first"], each["second"], 2 * each["openings"], f"{100 * mean:.1f} % ({ends})", split))
    yield from table(("first", "second", "games", "score of the first", "openings won / split / lost"), scores)


def controls_section(found: Findings) -> Iterator[str]:
    """Show the controls of the probes, and other reads."""
    yield "## Controls of the probes"
    yield ""
    lines = control_lines(found.compared, found.layer)
    if not lines:
        yield "There are none (`rookery study domineering compare`)."
        yield ""
        return
    positions = found.compared["controls"]["positions"]
    yield f"R2 of the sectors on {positions:,} positions of validation, cross-validated by whole games."
    yield ""
    yield from table(("control", "read from", "R2"), [(what, where, f"{value:.3f}") for what, where, value in lines])
    chances = [f"{row['run']} {row['p']:.3f}" for row in found.compared["controls"].get("shuffled", [])]
    if chances:
        yield f"Chance that shuffled sectors are read as well as the true ones, at most: {', '.join(chances)}."
        yield ""
    yield from reads_lines(found)


def reads_lines(found: Findings) -> Iterator[str]:
    """Show what is read from more than the board's token."""
    rows = []
    for entry in found.compared.get("reads", []):
        here = {line["read"]: line["r2"] for line in entry["layers"] if line["layer"] == found.layer}
        if here:
            rows.append((entry["run"], *(number(here.get(read)) for read in ("cls", "mean", "all"))))
    if rows:
        yield (
            f"The same behind layer {found.layer} of every network at its last step, from the board's token, the mean "
            "of all tokens, and all squares (a sector from the board's token and the mean of its own squares):"
        )
        yield ""
        yield from table(("network", "board's token", "mean of tokens", "all squares"), rows)


def all_lines(found: Findings, figures: set[str], drawn: bool) -> Iterator[str]:
    """Write the whole report."""
    yield from summary_section(found, drawn)
    if found.records.runs:
        yield from meanings_section(found)
        yield from games_section(found)
        for protocol in found.protocols:
            yield f"## Large networks {protocol}"
            yield ""
            for section in SECTIONS:
                yield from section(found, protocol, figures)
        yield from controls_section(found)
        yield from runs_section(found)
    yield from remarks(found.folder)


def write_report(folder: Path) -> Path:
    """Write the report, its figures and its page; return where it is."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder of a study")
    found = Findings(folder)
    figures, drawn = drawn_figures(found)
    return write_pages(folder, TITLE, all_lines(found, figures, drawn))


def drawn_figures(found: Findings) -> tuple[set[str], bool]:
    """Draw the figures; without Matplotlib there are none."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return set(), False
    from rookery.studies.domineering_figures import draw_all

    return draw_all(found), True


def report_facts(folder: Path) -> dict[str, Any]:
    """Return all findings and answers for JSON."""
    found = Findings(folder)
    answers = {
        protocol: [each.facts() for each in all_answers(found, protocol)]
        for protocol in (found.protocols if found.records.runs else [])
    }
    return found.facts() | {"answers": answers}
