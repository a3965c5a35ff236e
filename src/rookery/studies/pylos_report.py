"""The report of the Pylos study: Markdown and figures, written from what the stages have left in its folder.

What is missing is named, and the rest is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rookery.learn.files import write_whole
from rookery.learn.summaries import read_progress
from rookery.studies import pylos_answers as answers
from rookery.studies import pylos_figures as figures
from rookery.studies.curves import DECISIVE, DRAWS, PLIES, POLICY, SECONDS, VALUE
from rookery.studies.intervals import difference, mean_estimate, shown
from rookery.studies.markdown import done_by, remarks, table
from rookery.studies.pylos import STAGES, Study, differences
from rookery.studies.pylos_answers import Groups
from rookery.studies.pylos_findings import KEYS, Findings, all_answers
from rookery.studies.pylos_measured import empty_section, exact_section, floor_section, probes_section
from rookery.studies.pylos_plan import ABLATIONS, CURES, LADDER
from rookery.studies.verdicts import answers_table

REPORT = "report.md"


# ---- sections ------------------------------------------------------------------------------------


def missing(found: Findings) -> list[str]:
    """Say what the study lacks."""
    absent = [planned.name for planned in found.study.plan if planned.name not in found.runs]
    lines = [f"Not trained: {', '.join(absent)}."] if absent else []
    for name, run in found.runs.items():
        progress = read_progress(run.folder) or {}
        if progress.get("status") != "complete":
            lines.append(f"{name} was stopped after {progress.get('current_game', 0):,} games.")
    results = {"rate": found.ratings, "judge": found.exact, "empty": found.empty} | {
        "floor": found.floor, "probe": found.probes,
    }  # fmt: skip
    lacking = [stage for stage, result in results.items() if result is None]
    return lines + ([f"Stages not done: {', '.join(lacking)}."] if lacking else [])


def summary_section(found: Findings) -> Iterator[str]:
    """Give the answers first."""
    yield "# The Pylos study"
    yield ""
    lacking = missing(found)
    if lacking:
        yield "**This study is not complete.** " + " ".join(lacking)
        yield ""
    yield "Intervals are for 95 %. A verdict is open where an interval lies on both sides of what was said."
    yield ""
    yield "## Answers"
    yield ""
    yield from answers_table(all_answers(found))


def ladder_section(found: Findings) -> Iterator[str]:
    """Show the curves of the ladder."""
    yield "## Losses of the ladder"
    yield ""
    yield (
        "Means over the last tenth of each run's games, one run each; intervals from up to ten blocks of that part, so "
        "they say how much a figure wavers within the run. The value loss of `best` is that of discounted, mixed "
        "targets, which cannot be compared with the others."
    )
    yield ""
    rows = []
    for name, curves in found.ladder.items():
        ends = {key: curves[key].at_end() for key in KEYS}
        rows.append(
            (
                name, f"{curves[VALUE].last:,}", shown(ends[VALUE]), shown(ends[DECISIVE]), shown(ends[POLICY]),
                shown(ends[DRAWS], 1, 0.01), shown(ends[PLIES], 1),
                f"{curves[SECONDS].points[-1].value:,.0f}" if curves[SECONDS].points else "-",
            )
        )  # fmt: skip
    head = ("run", "games", "value loss", "of decisive games", "policy loss", "draws, %", "plies", "seconds")
    yield from table(head, rows)
    yield "![losses of the ladder](losses.png)"
    yield ""


def ratings_section(found: Findings) -> Iterator[str]:
    """Show strength."""
    yield "## Strength"
    yield ""
    for name, title in (("greedy", "The game that V3 to V5 were taught"), ("official", "The official game")):
        contest = found.contest(name)
        if contest:
            yield from contest_lines(found, name, title, contest)
    if not found.ratings:
        yield "Nothing was rated."
        yield ""


def contest_lines(found: Findings, name: str, title: str, contest: Mapping[str, Any]) -> Iterator[str]:
    """Show one contest."""
    fitted, pivot = contest["fit"], contest["pivot"]
    yield f"### {title} (`{contest['game']}`)"
    yield ""
    yield (
        f"{fitted['games']:,} games, {contest['simulations']} simulations a move, openings {contest['openings']} "
        f"in pairs with the seats swapped, seed {contest['seed']}. Beginning is worth {fitted['advantage']:+.0f} Elo "
        f"(error {fitted['advantage_error']:.0f}); equal players draw {100 * fitted['draws']:.1f} %. "
        f"The random player is 0, and `{pivot['player']}` is {pivot['elo']:.0f} above it (error {pivot['error']:.0f}). "
        "Intervals of all others are for the distance from the latter."
    )
    yield ""
    last = [(run, found.last_elo(run, name)) for run in LADDER]
    rows = [(f"{run}, {row['step']:,} games", *elo_cells(row)) for run, row in last if row]
    for reference, row in contest["references"].items():
        rows.append((reference, *elo_cells({"interval": [row["low"], row["high"]]} | row)))
    yield from table(("player", "Elo", "interval", "rating games"), rows)
    if name == "greedy":
        yield "![rating by games and by seconds](ratings.png)"
        yield ""
    matches = [
        (
            match["first"], match["second"], match["games"], f"{100 * match['score']:.1f} %",
            f"{match['wins']} / {match['draws']} / {match['losses']}", answers.elo_text(match),
        )
        for match in contest["head_to_head"]
    ]  # fmt: skip
    yield from table(("first", "second", "games", "score", "won / drawn / lost", "Elo difference"), matches)


def elo_cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the cells of a rating."""
    low, high = row["interval"]
    return f"{row['elo']:.0f}", f"{low:.0f} .. {high:.0f}" if low < high else "pinned", f"{row['games']:,}"


def ablation_section(found: Findings) -> Iterator[str]:
    """Show the ablations: means over seeds."""
    yield "## Ablations"
    yield ""
    if not found.seeds:
        yield "No ablation was trained."
        yield ""
        return
    yield (
        "Means over seeds at the end of each run, with t intervals. Value losses of v5-discount and v5-root are of "
        "other targets, which cannot be compared with the rest. Ratings are those by greedy take-backs; v5-choice was "
        "taught the official ones."
    )
    yield ""
    groups = {key: found.groups(key) for key in (VALUE, DECISIVE, POLICY, DRAWS)}
    elos, meanings = found.elo_groups(), {each.name: each.meaning for each in ABLATIONS}
    rows = []
    for name, runs in found.seeds.items():
        cells = [seed_cell(groups[key], name, digits, unit) for key, digits, unit in (
            (VALUE, 3, 1.0), (DECISIVE, 3, 1.0), (POLICY, 3, 1.0), (DRAWS, 1, 0.01),
        )]  # fmt: skip
        rows.append((name, meanings.get(name, ""), len(runs), *cells, seed_cell(elos, name, 0, 1.0)))
    head = ("ablation", "what it is", "seeds", "value loss", "of decisive games", "policy loss", "draws, %", "Elo")
    yield from table(head, rows)
    yield from effect_lines(groups[VALUE], groups[DECISIVE], elos)
    yield "![ablations](ablations.png)"
    yield ""


def seed_cell(groups: Groups, name: str, digits: int, unit: float) -> str:
    """Write the mean over seeds."""
    values = groups.get(name)
    return shown(mean_estimate(values), digits, unit) if values else "-"


def effect_lines(value: Groups, decisive: Groups, elos: Groups) -> Iterator[str]:
    """Show what depth and observation do, each averaged over the other."""
    rows = []
    tables = (("value loss", value, 3), ("of decisive games", decisive, 3), ("Elo", elos, 0))
    for title, groups, digits in tables:
        found = answers.effects(groups)
        rows += [(title, name, shown(estimate, digits)) for name, estimate in found.items()]
    if rows:
        yield "Depth here is all that V5 changes but the observation: blocks, heads, learning rate, clipping, replay."
        yield ""
        yield from table(("figure", "effect of", "difference"), rows)
    rows = [
        (name, shown(difference(decisive[name], decisive["v5"])), shown(difference(elos[name], elos["v5"]), 0))
        for name in CURES
        if decisive.get(name) and decisive.get("v5") and elos.get(name) and elos.get("v5")
    ]
    if rows:
        yield from table(("against V5 as it is", "value loss of decisive games", "Elo"), rows)


def circumstances_section(found: Findings) -> Iterator[str]:
    """Say how all of it came about."""
    yield "## How it was done"
    yield ""
    notes = found.study.notes()
    yield from (done_by(stage, notes.get(stage)) for stage in STAGES[:-1])
    yield ""
    rows = []
    for planned in found.study.plan:
        if planned.name in found.runs:
            run = found.runs[planned.name]
            others = differences(run, planned.settings().model_dump(mode="json"))
            rows.append((planned.name, "; ".join(others) or "as planned"))
    if rows:
        yield from table(("run", "settings that differ from the plan"), rows)
    yield from remarks(found.study.folder)


def draw_all(found: Findings, folder: Path) -> None:
    """Draw all figures for which there is something to draw."""
    if found.ladder:
        figures.draw_losses(found.ladder, folder / "losses.png")
    if found.seeds:
        groups = {name: [found.curves[run] for run in runs] for name, runs in found.seeds.items()}
        figures.draw_ablations(groups, folder / "ablations.png")
    contest = found.contest("greedy")
    if contest:
        rows = {run: rows for run in LADDER if (rows := found.rating_rows(run))}
        figures.draw_ratings(rows, contest["references"], folder / "ratings.png")
    if found.exact:
        for game in found.exact["samples"]:
            figures.draw_exact(found.exact["networks"], game, folder / f"exact-{game}.png")
    if found.probes:
        figures.draw_probes(found.probes["networks"], folder / "probes.png")


SECTIONS = (
    summary_section, ladder_section, ratings_section, ablation_section, exact_section, empty_section, floor_section,
    probes_section, circumstances_section,
)  # fmt: skip


def write_report(study: Study) -> Path:
    """Write the report and its figures; return where it is."""
    found = Findings(study)
    study.folder.mkdir(parents=True, exist_ok=True)
    draw_all(found, study.folder)
    lines = [line for section in SECTIONS for line in section(found)]
    path = study.folder / REPORT
    write_whole(path, ("\n".join(lines).rstrip() + "\n").encode())
    return path
