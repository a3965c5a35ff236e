"""The report of the Gomoku study: Markdown with figures, and the same as one HTML page.

It is written from what lies in the folder; what is missing is named, and the rest is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rookery.games.library import load
from rookery.studies import gomoku_figures as figures
from rookery.studies.generations import curriculum_lines, draw_generations
from rookery.studies.gomoku import STAGE_NAMES, Study
from rookery.studies.gomoku_answers import (
    claim_answer,
    duel_verdict,
    gap,
    gap_verdict,
    milestone_verdict,
    milestones_answer,
    plateau_verdict,
    score_over_seeds,
    values_of,
)
from rookery.studies.gomoku_arms import run_facts
from rookery.studies.gomoku_findings import Findings
from rookery.studies.gomoku_plan import COMPARISONS, Comparison, Milestone
from rookery.studies.html import write_pages
from rookery.studies.intervals import Estimate, mean_estimate, shown
from rookery.studies.markdown import done_how, heading, remarks, table
from rookery.studies.stages import read_notes
from rookery.studies.verdicts import Answer, answers_table

TITLE = "The Gomoku study: from imitation to self-play, from the small board to the large one"


def summary_section(found: Findings) -> Iterator[str]:
    """Say what came out, and what is missing."""
    yield from heading(TITLE, found.lacking())
    judged = [(milestone, milestone_verdict(milestone, facts)) for milestone, facts in found.milestones]
    pairs = [pair for pair in COMPARISONS if {pair.first, pair.second} <= set(found.arms)]
    answers = [milestones_answer(judged, goal=False), *(answer(found, pair) for pair in pairs)]
    yield "## Answers"
    yield ""
    yield from answers_table([*answers, milestones_answer(judged, goal=True)])
    yield "Intervals are for 95 %: of a match over its openings, of an arm over its seeds. Draws count half."
    yield ""


def answer(found: Findings, pair: Comparison) -> Answer:
    """Answer a claim about two arms at the last mark."""
    seconds = found.marks[-1]
    gaps = [
        gap(found.scores(pair.first, player, seconds), found.scores(pair.second, player, seconds))
        for player in found.preset.references
    ]  # fmt: skip
    return claim_answer(pair, seconds, score_over_seeds(found.duel_scores(pair, seconds)), gaps)


# ---- milestones and the main run -----------------------------------------------------------------


def milestone_section(found: Findings) -> Iterator[str]:
    """Show the milestones and goals."""
    yield "## Milestones"
    yield ""
    yield (
        "Each is a match of a stage's network, from random stones in the middle of the board, every opening twice with "
        "the colours swapped. A milestone needs more than the share wanted, with the interval above one half; a goal "
        "the share or more, by a search with wins by fours or without: it has two tries. Whether the whole interval is "
        "above what is wanted is said besides."
    )
    yield ""
    boards = {stage.name: load(stage.game).label for stage in found.study.main_settings().stages}
    rows = []
    for milestone, facts in found.milestones:
        verdict = milestone_verdict(milestone, facts)
        cells = ("-", "-", "-") if facts is None else (
            f"{100 * facts['score']:.1f} ({100 * facts['low']:.1f} - {100 * facts['high']:.1f})",
            f"{facts['games']}: +{facts['wins']} ={facts['draws']} -{facts['losses']}",
            f"{facts['seconds']:.0f}",
        )  # fmt: skip
        name = f"{milestone.name}, {boards[milestone.stage]}, stage {milestone.stage}"
        against = f"{milestone.opponent}, {milestone.simulations} simulations{' and fours' if milestone.fours else ''}"
        rows.append((name, against, wanted(milestone), *cells, verdict))
    head = ("milestone", "against", "wanted, %", "score, %", "games", "seconds", "reached")
    yield from table(head, rows)
    if any(facts for _, facts in found.milestones):
        yield "![milestones](milestones.png)"
        yield ""


def wanted(milestone: Milestone) -> str:
    """Write what a milestone asks for."""
    share = f"{100 * milestone.share:g}"
    return f"{share} or more" if milestone.goal else f"more than {share}"


def main_section(found: Findings) -> Iterator[str]:
    """Show what the stages of the main run came to."""
    yield from curriculum_lines(found.generations)


# ---- arms ----------------------------------------------------------------------------------------


def arms_section(found: Findings) -> Iterator[str]:
    """Show what arms came to in the same time."""
    yield "## Arms: the same time, spent in different ways"
    yield ""
    preset = found.preset
    yield (
        f"Each run had {preset.arm_seconds:g} s of playing and learning. Networks were kept after "
        f"{', '.join(str(mark) for mark in found.marks)} s and judged on {load(preset.game).label} with "
        f"{preset.compare_simulations} simulations a move, {preset.compare_games} games a match."
    )
    yield ""
    yield from plan_lines(found)
    if found.curves:
        yield "![losses of the arms](arm_losses.png)"
        yield ""
    if found.references:
        yield from score_lines(found)
    yield from duel_lines(found)
    if found.ratings:
        yield from elo_lines(found)


def plan_lines(found: Findings) -> Iterator[str]:
    """Say what arms are, and how their runs went."""
    rows = []
    for arm in found.preset.arms:
        if arm.extra and arm.name not in found.arms:
            continue
        legs = ", ".join(f"stage {stage} {100 * share:.0f} %" for stage, share in arm.legs)
        changes = ", ".join(f"`{change}`" for change in arm.changes) or "-"
        facts = [run_facts(found.study.folder, name) for name, (each, _) in found.runs.items()
                 if each == arm]  # fmt: skip
        steps = [str(each["newest"]["steps"]) for each in facts if each.get("newest")]
        anew = sum(each.get("begun_without_work", 0) for each in facts)
        there = "not available in this version" if not arm.available else ", ".join(steps) or "-"
        rows.append((arm.name, legs, changes, there, anew))
    yield from table(("arm", "time", "settings", "games in the last leg, by seed", "times begun without memory"), rows)
    if found.arm_changes:
        yield f"In all runs: {', '.join(f'`{change}`' for change in found.arm_changes)}."
        yield ""


def score_lines(found: Findings) -> Iterator[str]:
    """Show scores against players, means over seeds."""
    yield "Scores against players, %, means over seeds:"
    yield ""
    rows = []
    for player in found.preset.references:
        for arm in found.arms:
            cells = [score_over_seeds(found.scores(arm, player, seconds)) for seconds in found.marks]
            if any(cells):
                rows.append((player, arm, *(shown(cell, 1, 0.01) for cell in cells)))
    yield from table(("against", "arm", *(f"{seconds} s" for seconds in found.marks)), rows)
    yield "![scores of the arms](arm_scores.png)"
    yield ""


def duel_lines(found: Findings) -> Iterator[str]:
    """Show arms against each other, and the differences of their scores against players."""
    rows, gaps = [], []
    for pair in COMPARISONS:
        for seconds in found.marks:
            scores = found.duel_scores(pair, seconds)
            if scores:
                score = score_over_seeds(scores)
                seeds = ", ".join(f"{100 * value:.1f}" for value in values_of(scores))
                rows.append((pair.first, pair.second, seconds, shown(score, 1, 0.01), seeds, duel_verdict(score)))
            for player in found.preset.references:
                each = gap(found.scores(pair.first, player, seconds), found.scores(pair.second, player, seconds))
                if each is not None:
                    gaps.append((f"{pair.first} - {pair.second}", player, seconds, shown(each, 1, 0.01),
                                 gap_verdict(each)))  # fmt: skip
    if rows:
        yield "Arms against each other at equal times, seed by seed:"
        yield ""
        yield from table(("first", "second", "seconds", "score of the first, %", "by seed", "is it better?"), rows)
    if gaps:
        yield "By how much the first scores more against the same player:"
        yield ""
        yield from table(("arms", "player", "seconds", "points of 100", "is it ahead?"), gaps)


def elo_lines(found: Findings) -> Iterator[str]:
    """Show ratings of arms, and whether they have stopped rising."""
    ratings = found.ratings
    assert ratings is not None
    yield f"Elo of the arms, one fit over {ratings.games} games, the random player 0; means over seeds:"
    yield ""
    rows = []
    for arm in found.arms:
        marks = found.elos(arm)
        by_mark: dict[int, Estimate] = {seconds: mean_estimate(list(seeds.values())) for seconds, seeds in marks}
        cells = [shown(by_mark.get(seconds), 0) for seconds in found.marks]
        rows.append((arm, *cells, plateau_verdict(marks, found.elo_errors(arm))))
    yield from table(("arm", *(f"{seconds} s" for seconds in found.marks), "has it stopped getting better?"), rows)
    yield "![Elo of the arms](arm_elo.png)"
    yield ""


# ---- how, and all of it --------------------------------------------------------------------------


def circumstances_section(found: Findings) -> Iterator[str]:
    """Say how all of it came about."""
    yield from done_how(read_notes(found.study.folder), STAGE_NAMES[:-1])
    changes = ", ".join(f"`{change}`" for change in found.main_changes) or "none"
    yield f"Main run: `{found.preset.curriculum}`, seed 1; changes: {changes}."
    yield ""
    yield from remarks(found.study.folder)


def draw_all(found: Findings) -> None:
    """Draw all figures for which there is something to draw."""
    folder, arms = found.study.folder, found.arms
    played = [(milestone, facts) for milestone, facts in found.milestones if facts]
    if played:
        figures.draw_milestones(played, folder / "milestones.png")
    if found.generations:
        draw_generations(found.generations, folder / "main.png")
    if found.curves:
        figures.draw_arm_losses(found.curves, folder / "arm_losses.png")
    if found.references:
        scores = {player: {arm: score_marks(found, arm, player) for arm in arms} for player in found.preset.references}
        figures.draw_arm_scores(scores, folder / "arm_scores.png")
    if found.ratings:
        figures.draw_arm_elo({arm: found.elos(arm) for arm in arms}, folder / "arm_elo.png")


def score_marks(found: Findings, arm: str, player: str) -> list[tuple[int, dict[int, float]]]:
    """Return the score of each seed of an arm against a player, at each mark that there is."""
    marks = [(seconds, found.scores(arm, player, seconds)) for seconds in found.marks]
    return [(seconds, {seed: each.score for seed, each in scores.items()}) for seconds, scores in marks if scores]


SECTIONS = (summary_section, milestone_section, main_section, arms_section, circumstances_section)


def write_report(study: Study) -> Path:
    """Write the report, its figures and the page; return where the report is."""
    found = Findings(study)
    study.folder.mkdir(parents=True, exist_ok=True)
    draw_all(found)
    return write_pages(study.folder, TITLE, (line for section in SECTIONS for line in section(found)))
