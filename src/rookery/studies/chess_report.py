"""The report of the chess study: Markdown with figures, and the same as one HTML page.

It is written from what lies in the folder; what is missing is named, and the rest is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from rookery.nets.lc0.numbers import ENCODINGS
from rookery.probes.chess_concepts import CONCEPTS
from rookery.studies import chess_figures as figures
from rookery.studies.chess import MAIN, STAGE_NAMES, Study
from rookery.studies.chess_measures import files_found, probes_found
from rookery.studies.chess_plan import POLICY_ALONE, WEAKEST
from rookery.studies.generations import curriculum_lines, draw_generations
from rookery.studies.html import write_pages
from rookery.studies.intervals import Z95
from rookery.studies.markdown import done_how, heading, remarks, table
from rookery.studies.matches import Found
from rookery.studies.stages import Lines, read_generations, read_notes
from rookery.studies.verdicts import MISSING, NO, OPEN, YES, Verdict

TITLE = "The chess study: a small network of Lc0's kind, from imitation to self-play"
HALF = 0.5


class Findings:
    """What lies in the folder of a study."""

    def __init__(self, study: Study):
        self.study, self.preset = study, study.preset

    @cached_property
    def generations(self) -> dict[str, Lines]:
        """The lines of each stage of the curriculum that has any."""
        return read_generations(self.study.folder / MAIN, self.study.stage_names())

    @cached_property
    def matches(self) -> list[tuple[str, int, Found | None]]:
        """Every match that belongs to the study: rival, simulations, and what is known of it."""
        wanted = [(rival, number) for number in self.preset.simulations for rival in self.preset.rivals]
        wanted += [(name, self.preset.simulations[1]) for name in self.study.stage_names()[-2:-1]]
        return [(rival, number, self.study.kept(rival, number)) for rival, number in wanted]

    @cached_property
    def files(self) -> dict[str, Any] | None:
        """How far each encoding is off."""
        return files_found(self.study)

    @cached_property
    def probes(self) -> dict[str, Any]:
        """What layers show of concepts."""
        return {name: found for name, found in (probes_found(self.study) or {}).items() if found["layers"]}

    def lacking(self) -> list[str]:
        """Name everything that is not there."""
        stages = [name for name in self.study.stage_names() if name not in self.generations]
        found = [f"stage {name} of the curriculum has no generation yet" for name in stages]
        unplayed = [match_words(*match[:2]) for match in self.matches if not match[2] or not match[2].complete]
        found += [f"matches that are not played to their end: {', '.join(unplayed)}"] if unplayed else []
        found += [] if self.files else ["weight files are not compared with the network"]
        concepts = [name for name in CONCEPTS if name not in self.probes]
        return found + ([f"concepts that are not probed: {', '.join(concepts)}"] if concepts else [])


def match_words(rival: str, simulations: int) -> str:
    """Name a match for people."""
    how = "policy alone" if simulations == POLICY_ALONE else f"{simulations} simulations"
    return f"{how} against {rival}"


# ---- answers -------------------------------------------------------------------------------------


def match_verdict(found: Found | None) -> Verdict:
    """Say whether the network is better than its rival."""
    if found is None or not found.complete:
        return Verdict(MISSING, "not played to its end")
    facts = found.facts()
    measured = f"{100 * facts['score']:.1f} % ({100 * facts['low']:.1f} - {100 * facts['high']:.1f}) of the points"
    if facts["low"] > HALF:
        return Verdict(YES, measured)
    return Verdict(NO if facts["high"] < HALF else OPEN, measured)


def files_verdict(found: Mapping[str, Any] | None) -> Verdict:
    """Say whether the weight file that every engine reads plays what the network plays."""
    if not found:
        return Verdict(MISSING, "not compared")
    usual = found["encodings"]["linear16"]
    return Verdict(
        YES if usual["same_move"] == 1 else NO,
        f"linear16: the same best move in {100 * usual['same_move']:.2f} % of {found['positions']} positions, logits "
        f"differ by at most {usual['logit']:.2g}, values by {usual['value']:.2g}",
    )


def probe_verdict(found: Mapping[str, Any] | None) -> Verdict:
    """Say whether the last layer shows more of a concept than the planes and an untrained network do."""
    if not found:
        return Verdict(MISSING, "not probed")
    planes, last = found["layers"][0]["score"], found["layers"][-1]
    mine, others = last["score"], (planes, last["untrained"])
    measured = f"last layer {shown(mine)}, untrained {shown(last['untrained'])}, planes {shown(planes)}"
    gaps = [(mine["value"] - each["value"], Z95 * math.hypot(mine["error"], each["error"])) for each in others]
    if all(gap > width for gap, width in gaps):
        return Verdict(YES, measured)
    return Verdict(NO if any(gap < -width for gap, width in gaps) else OPEN, measured)


def shown(score: Mapping[str, float] | None) -> str:
    """Write a score with its standard error."""
    return "-" if score is None else f"{score['value']:.3f} ± {score['error']:.3f}"


def answers(found: Findings) -> list[tuple[str, Verdict]]:
    """Answer every question of the study."""
    known = {(rival, number): match for rival, number, match in found.matches}
    most, stages = found.preset.simulations[-1], found.study.stage_names()
    asked = [(f"Does it beat {rival} with {most} simulations?", known[rival, most]) for rival in found.preset.rivals]
    if len(stages) > 1:
        asked.append((f"Is it better than after {stages[-2]}?", known[stages[-2], found.preset.simulations[1]]))
    told = [(question, match_verdict(match)) for question, match in asked]
    told.append(("Does its weight file play what it plays?", files_verdict(found.files)))
    for name in CONCEPTS:
        question = f"Does its last layer show more of {name} than the planes and an untrained network?"
        told.append((question, probe_verdict(found.probes.get(name))))
    return told


# ---- sections ------------------------------------------------------------------------------------


def summary_section(found: Findings) -> Iterator[str]:
    """Say what came out, and what is missing."""
    yield from heading(TITLE, found.lacking())
    rows = [(question, f"**{verdict.word}**", verdict.reason) for question, verdict in answers(found)]
    yield from table(("question", "verdict", "what was measured"), rows)
    yield (
        "One run of one seed. Intervals of matches are for 95 %, over their openings; draws count half. A question "
        "stays open where the interval includes both answers."
    )
    yield ""


def match_section(found: Findings) -> Iterator[str]:
    """Show the matches."""
    yield "## Matches"
    yield ""
    yield (
        f"{found.preset.games} games each, from four random moves, every opening twice with the colours swapped. With "
        f"the policy alone the network plays its likeliest move. Stockfish plays with `{WEAKEST}`."
    )
    yield ""
    rows = []
    for rival, simulations, match in found.matches:
        if match is not None:
            facts = match.facts()
            score = f"{100 * facts['score']:.1f} ({100 * facts['low']:.1f} - {100 * facts['high']:.1f})"
            games = f"{facts['games']}: +{facts['wins']} ={facts['draws']} -{facts['losses']}"
            rows.append((match_words(rival, simulations), score, games, f"{match.seconds:.0f}"))
    yield from table(("network with", "score, %", "games", "seconds"), rows)
    if rows:
        yield "![scores](matches.png)"
        yield ""


def files_section(found: Findings) -> Iterator[str]:
    """Show the weight files."""
    if not found.files:
        return
    yield "## Weight files"
    yield ""
    yield (
        f"The network has {found.files['parameters']:,} parameters. Each file was read back and compared with it on "
        f"{found.files['positions']} positions, on a processor in single precision, over legal moves."
    )
    yield ""
    rows = [
        (name, f"{each['bytes'] / 1e6:.2f}", f"{each['logit']:.2g}", f"{each['value']:.2g}",
         f"{100 * each['same_move']:.2f}")
        for name, each in found.files["encodings"].items()
        if name in ENCODINGS
    ]  # fmt: skip
    head = ("encoding", "MB", "logits differ at most by", "values differ at most by", "same best move, %")
    yield from table(head, rows)


def probe_section(found: Findings) -> Iterator[str]:
    """Show what layers show."""
    if not found.probes:
        return
    yield "## What layers show"
    yield ""
    yield (
        "Each concept is read from each layer by a weighted sum, in five folds of whole games: R2 of a number, of what "
        "is true or not the share of right answers with both counted alike, with standard errors over folds. Beside it "
        "the same layer of an untrained network, and the layer with shuffled targets."
    )
    yield ""
    for name, concept in found.probes.items():
        truth = f"true of {100 * concept['mean']:.1f} %" if concept["truth"] else f"mean {concept['mean']:+.2f}"
        yield f"**{name}**: {concept['says']}; {concept['samples']} samples, {truth}."
        yield ""
        rows = [
            (layer["layer"], layer["width"], *(shown(layer[key]) for key, _ in figures.CONTROLS))
            for layer in concept["layers"]
        ]
        yield from table(("layer", "width", *(label for _, label in figures.CONTROLS)), rows)
    yield "![probes](probes.png)"
    yield ""


def circumstances_section(found: Findings) -> Iterator[str]:
    """Say how all of it came about."""
    yield from done_how(read_notes(found.study.folder), STAGE_NAMES[:-1])
    changes = ", ".join(f"`{change}`" for change in found.preset.changes) or "none"
    yield f"Curriculum: `{found.preset.curriculum}`; changes: {changes}."
    yield ""
    yield from remarks(found.study.folder)


def draw_all(found: Findings) -> None:
    """Draw all figures for which there is something to draw."""
    folder = found.study.folder
    if found.generations:
        draw_generations(found.generations, folder / "main.png")
    played = [(match_words(rival, number), match.facts()) for rival, number, match in found.matches if match]
    if played:
        figures.draw_matches(played, folder / "matches.png")
    if found.probes:
        figures.draw_probes(found.probes, folder / "probes.png")


def write_report(study: Study) -> Path:
    """Write the report, its figures and the page; return where the report is."""
    found = Findings(study)
    study.folder.mkdir(parents=True, exist_ok=True)
    draw_all(found)
    sections = (
        summary_section(found), curriculum_lines(found.generations), match_section(found), files_section(found),
        probe_section(found), circumstances_section(found),
    )  # fmt: skip
    return write_pages(study.folder, TITLE, (line for section in sections for line in section))
