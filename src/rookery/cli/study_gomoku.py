"""The command of the Gomoku study."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from rookery.cli.cluster import Helped, LessonsRayOption, WorkersOption, check_lessons, spread_over
from rookery.cli.shared import INTERRUPTED, SecondsOption, chosen_device, deadline, failures_told
from rookery.cli.study import bar_for, listed, noted, studies, told
from rookery.cli.train import stopped_by_signals
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.learn.spread import Over, Spreader
    from rookery.studies.gomoku import Study
    from rookery.studies.matches import Meeting, Table


@studies.command()
def gomoku(
    preset: Annotated[str, Option(help="full for a card, home for two cores and hours, quick for minutes")] = "full",
    folder: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="where all of it is kept; studies/gomoku, with -home or -quick behind it"),
    ] = None,
    only: Annotated[
        str | None, Option(metavar="STAGE,...", help="some of lessons, train, milestones, compare, report")
    ] = None,
    runs: Annotated[
        str | None,
        Option(
            metavar="PATTERN,...",
            help="of lessons, train and compare: main, scratch, curriculum-s1, '*-s2'; of milestones: m1, 'goal-*'",
        ),
    ] = None,
    seconds: SecondsOption = None,
    arm_seconds: Annotated[
        float | None,
        Option(help="time of each run of an arm; 600, in quick 16; the same in all of a folder"),
    ] = None,
    seeds: Annotated[int | None, Option(help="runs of each arm; 3, in quick 2")] = None,
    changes: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="change a setting in every run: stages.4.selfplay.simulations=100"),
    ] = None,
    device: Annotated[str, Option(help="auto, cpu or cuda: where networks are")] = "auto",
    threads: Annotated[
        int | None, Option(min=1, help="games of players that think by time; all cores unless given")
    ] = None,
    ray: LessonsRayOption = None,
    workers: WorkersOption = None,
) -> None:
    """Train Gomoku networks from imitation to self-play, let them meet their milestones, and report.

    Stages: lessons (games to be imitated, made by processors), train (the curriculum, main, and arms: runs of a fixed
    time that are compared), milestones (matches of main's networks), compare (matches of arms with players and with
    each other), report. What is done is not done again: stopped, interrupted or killed, the same command goes on.

    rookery study gomoku --preset quick

    rookery study gomoku --preset home

    rookery study gomoku --only lessons

    rookery study gomoku --only lessons --ray 10.0.0.1:6379

    rookery study gomoku --only train --runs main --seconds 540

    rookery study gomoku --only train --runs 'curriculum-s1,scratch-s1' --seconds 540

    rookery study gomoku --only milestones,report --runs 'm*' --seconds 500
    """
    from rookery.studies.gomoku import STAGE_NAMES, Study
    from rookery.studies.gomoku_plan import patterns_of, preset_of
    from rookery.studies.stages import chosen_stages

    place = folder or Path("studies") / ("gomoku" if preset == "full" else f"gomoku-{preset}")
    stages, until = chosen_stages(only, STAGE_NAMES), deadline(seconds)
    plan = preset_of(preset, arm_seconds, seeds, changes or ())
    study, patterns = Study(place, plan, chosen_device(device)), listed(runs)
    check_lessons(ray, workers, stages)
    study.main_settings()  # settings and patterns that cannot be are told before anything begins
    known = [stage for stage in stages if patterns_of(plan, stage, patterns) is not None]
    if patterns and not [stage for stage in known if stage != "report"]:
        raise BadInput(f"--runs {runs}: {', '.join(stages)} has nothing of that name")
    if threads is not None and "milestones" not in stages:
        raise BadInput(f"--threads {threads}: it is for players that think by time, and only milestones have any")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"the folder {str(place)!r} cannot be made: {error.strerror}") from None
    if preset == "full" and "train" in stages and study.device == "cpu":
        told("warning: the full preset is meant for a card; --preset home is for processors")
    helped = partial(spread_over, ray, workers)
    with failures_told(), stopped_by_signals() as asked:
        for stage in stages:
            do_stage(study, stage, patterns, lambda: asked() or time.monotonic() >= until, threads, helped)
            if asked():
                raise typer.Exit(INTERRUPTED)


def do_stage(study: Study, stage: str, patterns: list[str], over: Over, threads: int | None, helped: Helped) -> None:
    """Do as much of a stage as time allows; the report is always written."""
    from rookery.studies.gomoku_plan import patterns_of

    if stage == "report":
        report(study)
        return
    meant = patterns_of(study.preset, stage, patterns)
    if meant is None:
        return  # --runs names others
    if stage == "lessons":
        with helped() as spread:
            done = lessons(study, meant, over, spread)
    else:
        done = train(study, meant, over) if stage == "train" else judge(study, stage, meant, over, threads)
    if not done:
        told(f"stopped in {stage}; the same command goes on")


# ---- training ------------------------------------------------------------------------------------


def lessons(study: Study, patterns: list[str], over: Over, spread: Spreader | None = None) -> bool:
    """Make the games that runs are to imitate; tell whether all of them are there."""
    for name, ahead in study.lessons(patterns).items():
        if ahead.complete:
            continue
        with bar_for(f"lessons of {name}") as say:
            if not ahead.make(over, say, spread):
                return False
        told(f"lessons: {ahead.positions:,} positions for {name}")
        noted(study.folder, "lessons")
    return True


def train(study: Study, patterns: list[str], over: Over) -> bool:
    """Train the main run and the arms; tell whether all that was asked for is complete."""
    runs = study.arm_runs(patterns)
    for arm in study.preset.arms:
        if not arm.available and not arm.extra:
            told(f"train: arm {arm.name} is left out: there is no setting {arm.needs} in this version")
    if not lessons(study, patterns, over):
        return False
    done = train_main(study, over) if study.wants_main(patterns) else True
    for run in runs:
        if run.complete:
            run.clear_up()
            told(f"train: {run.name} is complete")
            continue
        if over():
            return False
        with bar_for(run.name) as say:
            whole = run.train(over, say)
        noted(study.folder, "train")
        if not whole:
            return False
        told(f"train: {run.name} is complete")
    return done


def train_main(study: Study, over: Over) -> bool:
    """Go on with the curriculum; tell whether it has ended, one way or the other."""
    from rookery.learn.stage_run import STOPPED
    from rookery.terminal import progress_bar

    if over():
        return False
    if study.main_differs():
        told(f"train: main has other settings than planned; those in {study.folder / 'main' / 'curriculum.yaml'} count")
    with progress_bar() as bar:
        task = bar.add_task("main", total=None, note="")

        def say(stage: str, what: str, done: int, total: int, note: str) -> None:
            bar.update(task, description=f"main, {stage}: {what}", completed=done, total=total, note=note)

        verdict, account = study.train_main(over, say)
    noted(study.folder, "train")
    if verdict != STOPPED:
        told(f"train: main: {account}")
    return verdict != STOPPED


# ---- matches -------------------------------------------------------------------------------------


def judge(study: Study, stage: str, patterns: list[str], over: Over, threads: int | None) -> bool:
    """Play the matches of a stage; tell whether all of them are played."""
    return milestones(study, patterns, over, threads) if stage == "milestones" else compare(study, patterns, over)


def milestones(study: Study, patterns: list[str], over: Over, threads: int | None) -> bool:
    """Play the matches of the milestones whose networks are there; tell whether all of them are played."""
    study.hand_out_finished()
    found = [(milestone, study.milestone_match(milestone)) for milestone in study.milestones(patterns)]
    for milestone, match in found:
        if match is None:
            told(f"milestones: {milestone.name} waits for the network of stage {milestone.stage}")
    return play_all(study, "milestones", [match for _, match in found if match is not None], over, threads)


def compare(study: Study, patterns: list[str], over: Over) -> bool:
    """Play the matches of the arms whose networks are there; tell whether all of them are played."""
    return play_all(study, "compare", study.compare_matches(patterns), over)


def play_all(
    study: Study, stage: str, matches: Sequence[Meeting], over: Over, threads: int | None = None
) -> bool:  # fmt: skip
    """Play matches one after another."""
    from rookery.studies.matches import Table

    table = Table(study.folder, study.device, over, threads)
    missing = [match for match in matches if not study.found(match).complete]
    if len(missing) < len(matches):
        told(f"{stage}: {len(matches) - len(missing)} of {len(matches)} matches are there")
    for number, match in enumerate(missing, start=1):
        if not play_one(table, match, f"{stage} {number}/{len(missing)}"):
            return False
        told(f"{match.name}: {result(study, match)}")
        noted(study.folder, stage)
    return True


def play_one(table: Table, match: Meeting, title: str) -> bool:
    """Play a match, with a progress bar."""
    with bar_for(f"{title}: {match.name}") as say:
        return table.play(match, say)


def result(study: Study, match: Meeting) -> str:
    """Say how a match ended, in a line."""
    found = study.found(match)
    facts = found.facts()
    return (
        f"{100 * facts['score']:.1f} % ({100 * facts['low']:.1f} - {100 * facts['high']:.1f}) of {facts['games']} "
        f"games, +{facts['wins']} ={facts['draws']} -{facts['losses']}, {found.seconds:.0f} s"
    )


def report(study: Study) -> None:
    """Write the report, and say where it is."""
    from rookery.studies.gomoku_report import write_report
    from rookery.terminal import out

    out.print(f"{write_report(study)}", markup=False, soft_wrap=True)
