"""The command of the chess study."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from rookery.cli.cluster import Helped, LessonsRayOption, WorkersOption, check_lessons, own_help, spread_over
from rookery.cli.shared import INTERRUPTED, SecondsOption, chosen_device, deadline, failures_told
from rookery.cli.study import bar_for, noted, studies, told
from rookery.cli.train import stopped_by_signals

if TYPE_CHECKING:
    from rookery.learn.spread import Over, Spreader
    from rookery.studies.chess import Study


@studies.command()
def chess(
    preset: Annotated[str, Option(help="full for a card, quick for two cores in minutes")] = "full",
    folder: Annotated[
        Path | None, Option(metavar="FOLDER", help="where all of it is kept; studies/chess, in quick -quick behind it")
    ] = None,
    only: Annotated[
        str | None, Option(metavar="STAGE,...", help="some of lessons, train, export, matches, probes, report")
    ] = None,
    seconds: SecondsOption = None,
    games: Annotated[int | None, Option(help="games of each match; 200, in quick 12")] = None,
    changes: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="change a setting of training: stages.selfplay.selfplay.games=8000"),
    ] = None,
    device: Annotated[str, Option(help="auto, cpu or cuda: where the network plays and is probed")] = "auto",
    threads: Annotated[int | None, Option(help="games against an engine; all cores unless given")] = None,
    ray: LessonsRayOption = None,
    workers: WorkersOption = None,
) -> None:
    """Teach a small network of Lc0's kind by imitation and self-play, measure it, look into it, and report.

    Stages: lessons (alpha-beta plays what is to be imitated; processors alone), train (the curriculum), export (weight
    files in each encoding, and how far each is off), matches (by its policy alone and with a search, against random
    moves, alpha-beta, and Stockfish at its lowest skill where that is installed), probes (what each layer shows of
    concepts of chess, with controls), report. What is done is not done again: stopped, interrupted or killed, the same
    command goes on. Where the network learns is a setting: --set device=cpu.

    rookery study chess --preset quick

    rookery study chess --only lessons --seconds 1500

    rookery study chess --only lessons --ray 10.0.0.1:6379

    rookery study chess --only train,export --seconds 540

    rookery study chess --only matches,probes,report --games 100
    """
    from rookery.studies.chess import STAGE_NAMES, Study
    from rookery.studies.chess_plan import preset_of
    from rookery.studies.stages import chosen_stages

    place = folder or Path("studies") / ("chess" if preset == "full" else f"chess-{preset}")
    stages, plan, until = chosen_stages(only, STAGE_NAMES), preset_of(preset, games, changes or ()), deadline(seconds)
    study = Study(place, plan, chosen_device(device))
    check_lessons(ray, workers, stages)
    plan.settings()  # settings that cannot be are told before anything begins
    place.mkdir(parents=True, exist_ok=True)
    if preset == "full" and "train" in stages and study.device == "cpu":
        told("warning: the full preset is meant for a card; on processors its training takes days")
    helped = partial(spread_over, ray, workers)
    with failures_told(), stopped_by_signals() as asked:
        for stage in stages:
            done = do_stage(study, stage, lambda: asked() or time.monotonic() >= until, threads, helped)
            if not done:
                told(f"stopped in {stage}; the same command goes on")
            if asked():
                raise typer.Exit(INTERRUPTED)


def do_stage(study: Study, stage: str, over: Over, threads: int | None, helped: Helped) -> bool:
    """Do as much of a stage as time allows; tell whether it is complete."""
    if stage == "report":
        report(study)
        return True
    if stage == "matches":
        return matches(study, over, threads)
    if stage == "lessons":
        with helped() as spread:
            return lessons(study, over, spread)
    return {"train": train, "export": export, "probes": probes}[stage](study, over)


def lessons(study: Study, over: Over, spread: Spreader | None) -> bool:
    """Make what is to be imitated."""
    from rookery.learn.stage_work import Help

    warn_of_other_settings(study)
    with bar_for("lessons") as say:
        done = study.make_lessons(over, say, own_help() if spread is None else Help(spread=spread))
    noted(study.folder, "lessons")
    return done


def warn_of_other_settings(study: Study) -> None:
    """Say that a folder has settings of its own."""
    if study.differs():
        told(f"other settings than planned: those in {study.curriculum().folder / 'curriculum.yaml'} count")


def train(study: Study, over: Over) -> bool:
    """Go on with the curriculum; tell whether it has ended, one way or the other."""
    from rookery.learn.stage_run import STOPPED
    from rookery.terminal import progress_bar

    if over():
        return False
    warn_of_other_settings(study)
    with progress_bar() as bar:
        task = bar.add_task("train", total=None, note="")

        def say(stage: str, what: str, done: int, total: int, note: str) -> None:
            bar.update(task, description=f"{stage}: {what}", completed=done, total=total, note=note)

        verdict, account = study.train(over, say, own_help())
    noted(study.folder, "train")
    if verdict != STOPPED:
        told(f"train: {account}")
    return verdict != STOPPED


def export(study: Study, over: Over) -> bool:
    """Write weight files, and say how far each is off."""
    from rookery.studies import chess_measures as measures

    if measures.files_found(study) is None and over():
        return False
    with bar_for("export") as say:
        found = measures.export(study, say)
    for name, each in found["encodings"].items():
        told(f"export: {name}: logits differ by at most {each['logit']:.2g}, values by {each['value']:.2g}")
    noted(study.folder, "export")
    return True


def matches(study: Study, over: Over, threads: int | None) -> bool:
    """Play the matches that can be played here; tell whether all of them are."""
    from rookery.studies.chess_plan import player_text
    from rookery.studies.matches import Table

    for rival in study.preset.rivals:
        if player_text(rival) is None:
            told(f"matches: {rival} is not installed here, and left out")
    table, wanted = Table(study.folder, study.device, over, threads), study.matches()
    for number, match in enumerate(wanted, start=1):
        if study.found(match).complete:
            continue
        with bar_for(f"matches {number}/{len(wanted)}: {match.name}") as say:
            if not table.play(match, say):
                return False
        facts = study.found(match).facts()
        told(
            f"{match.name}: {100 * facts['score']:.1f} % ({100 * facts['low']:.1f} - {100 * facts['high']:.1f}) of "
            f"{facts['games']} games, +{facts['wins']} ={facts['draws']} -{facts['losses']}"
        )
        noted(study.folder, "matches")
    told(f"matches: all {len(wanted)} are there")
    return True


def probes(study: Study, over: Over) -> bool:
    """Probe the network; tell whether all concepts are."""
    from rookery.studies.chess_measures import probe

    with bar_for("probes") as say:
        done = probe(study, over, say)
    noted(study.folder, "probes")
    return done


def report(study: Study) -> None:
    """Write the report, and say where it is."""
    from rookery.studies.chess_report import write_report
    from rookery.terminal import out

    out.print(f"{write_report(study)}", markup=False, soft_wrap=True)
