"""What the stages of a curriculum came to, generation by generation: a section of a report, and its figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.arena.score import elo_of_score
from rookery.studies.figures import finish, new_figure, save, style
from rookery.studies.markdown import table
from rookery.studies.stages import Lines

LOSSES = (("policy_loss", "policy loss"), ("value_loss", "value loss"))


def curriculum_lines(generations: Mapping[str, Lines]) -> Iterator[str]:
    """Show what the stages of a curriculum came to; nothing if there is none yet."""
    if not generations:
        return
    yield "## The curriculum"
    yield ""
    rows = []
    for stage, lines in generations.items():
        first, last = lines[0], lines[-1]
        losses = [
            f"{first[key]:.3f} to {last[key]:.3f}" if first.get(key) is not None and last.get(key) is not None else "-"
            for key in ("policy_loss", "value_loss")
        ]
        met = last.get("watched", {}) | last.get("beats", {})
        results = ", ".join(f"{player} {100 * result['score']:.1f} %" for player, result in met.items())
        rows.append((stage, len(lines), last["step"], f"{last['seconds']:.0f}", *losses, gained(last), results or "-"))
    head = ("stage", "generations", "passes or games", "seconds", "policy loss", "value loss", "Elo gained", "last met")
    yield from table(head, rows)
    yield "![curriculum](main.png)"
    yield ""


def gained(line: Mapping[str, Any]) -> str:
    """Write the Elo of a generation, and by how much its last match alone makes it uncertain."""
    if "elo" not in line:
        return "-"
    ends = elo_interval(line)
    return f"{line['elo']:+.0f}" + (f" ({ends[0]:+.0f} .. {ends[1]:+.0f})" if ends else "")


def elo_interval(line: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the interval of a generation's Elo, as if its rival's were known; None for the first one.

    As long as a stage has no more generations than lie between rivals, that rival is its first one, whose Elo is 0.
    """
    score = line.get("against_earlier")
    if score is None:
        return None
    rival, points = line["elo"] - line["elo_gain"], score["games"]
    low, high = (min(max(score[end], 0.5 / points), 1 - 0.5 / points) for end in ("low", "high"))
    return rival + elo_of_score(low), rival + elo_of_score(high)


def draw_generations(generations: Mapping[str, Lines], path: Path) -> None:
    """Draw losses, Elo and the scores against players over all generations, as far as there are any."""
    lines = [line for stage in generations.values() for line in stage]
    below = [draw_elo] if any("elo" in line for line in lines) else []
    below += [draw_watched] if any(line.get("watched") for line in lines) else []
    figure, axes = new_figure(2, 2 if below else 1)
    draw_stage_losses(axes[0], generations)
    for axis, draw in zip(axes.flat[2:], below, strict=False):
        draw(axis, generations)
    for axis in axes.flat[2 + len(below) :]:
        axis.set_visible(False)
    figure.suptitle("The curriculum, stage by stage")
    save(figure, path)


def draw_stage_losses(panels: Sequence[Any], generations: Mapping[str, Lines]) -> None:
    """Draw each loss over the generations of every stage."""
    for axis, (key, title) in zip(panels, LOSSES, strict=True):
        for number, (stage, lines) in enumerate(generations.items()):
            known = [(place, line[key]) for place, line in enumerate(lines, start=1) if line.get(key) is not None]
            draw_line(axis, known, f"stage {stage}", number)
        finish(axis, f"{title} by generation", "generation: a pass, or a checkpoint", title, ylim=(0, None))
        axis.xaxis.get_major_locator().set_params(integer=True)
    panels[0].legend(fontsize="small")


def draw_line(axis: Any, points: Sequence[tuple[float, float]], label: str, number: int) -> None:
    """Draw points as a line, with marks where they are few."""
    if points:
        few = {"marker": "o", "markersize": 3} if len(points) < 60 else {}
        axis.plot(*zip(*points, strict=True), label=label, **style(number), **few)


def draw_elo(axis: Any, generations: Mapping[str, Lines]) -> None:
    """Draw the rating over the generations of each stage of self-play."""
    for number, (stage, lines) in enumerate(generations.items()):
        known = [(line["step"], line["elo"]) for line in lines if "elo" in line]
        draw_line(axis, known, f"stage {stage}", number)
        spans = [(line["step"], *ends) for line in lines if (ends := elo_interval(line))]
        if spans:
            axis.vlines(*zip(*spans, strict=True), color=style(number)["color"], linewidth=0.8, alpha=0.6)
    finish(axis, "Elo over generations", "games of self-play", "Elo, first checkpoint of its stage = 0")
    if axis.lines:
        axis.legend(fontsize="small")


def draw_watched(axis: Any, generations: Mapping[str, Lines]) -> None:
    """Draw the scores against players that every generation of a stage met."""
    number = 0
    for stage, lines in generations.items():
        players = dict.fromkeys(player for line in lines for player in line.get("watched", {}))
        for player in players:
            known = [(line["step"], line["watched"][player]["score"]) for line in lines if player in line["watched"]]
            draw_line(axis, known, f"stage {stage} against {player}", number)
            number += 1
    finish(axis, "scores of each generation", "games of self-play", "share of the points", ylim=(-0.02, 1.02))
    if axis.lines:
        axis.legend(fontsize="small")
