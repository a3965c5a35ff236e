"""The command of the Pylos study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from rookery.cli.study import bar_until_interrupt, circumstances, listed, studies, told

if TYPE_CHECKING:
    from rookery.studies.pylos import Study


@studies.command()
def pylos(
    folder: Annotated[Path, Option(metavar="FOLDER", help="where all of the study is kept")] = Path("studies/pylos"),
    only: Annotated[
        str | None, Option(metavar="STAGE,...", help="some of train, rate, judge, empty, floor, probe, report")
    ] = None,
    runs: Annotated[
        str | None, Option(metavar="RUN,...", help="some runs: v3, v4, v5, best, v5-basic, v5-s1, 'v5-*', ...")
    ] = None,
    games: Annotated[int, Option(help="games of each run of the ladder; an ablation has a fifth of them")] = 500_000,
    seeds: Annotated[int, Option(help="seeds of each ablation")] = 3,
    rating_games: Annotated[
        int | None, Option(help="rating games of a checkpoint against each opponent, in pairs; 40, in small 8")
    ] = None,
    positions: Annotated[
        int | None, Option(help="exact positions for each number of spheres left; 200, in small 40")
    ] = None,
    replays: Annotated[
        int | None, Option(help="replays of each position for the least possible value loss; 32, in small 8")
    ] = None,
    changes: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="change a setting in every run that is trained")
    ] = None,
) -> None:
    """Train V3, V4, V5, a best-practice run and ablations on Pylos, measure them, and report.

    In full it is meant for a card; in small, below 50,000 games, it measures less. What is done is not done again:
    interrupted, the same command goes on. Runs trained elsewhere take part once their folders lie in FOLDER/runs.

    rookery study pylos

    rookery study pylos --games 2000 --seeds 1 --folder studies/small

    rookery study pylos --only rate,report --runs v5,best --rating-games 100
    """
    from rookery.search.threads import cores
    from rookery.studies.pylos import Lacking, Sizes, Study, chosen_stages
    from rookery.studies.pylos_plan import chosen_plan, full_plan

    stages = chosen_stages(only)
    plan = chosen_plan(full_plan(games, seeds, changes or ()), listed(runs))
    study = Study(folder, plan, Sizes.for_games(games, rating_games, positions, cores(), replays))
    for stage in stages:
        try:
            do_stage(study, stage)
        except Lacking as error:
            if only:
                raise
            told(f"{stage}: left out; {error}")


def do_stage(study: Study, stage: str) -> None:
    """Do one stage, unless it is done."""
    from rookery.studies.pylos import FILES, INPUTS, MEASURES

    if stage == "train":
        train(study)
        return
    if stage == "report":
        report(study)
        return
    inputs = INPUTS[stage](study)
    place = study.folder / FILES[stage]
    if study.is_done(stage, inputs):
        told(f"{stage}: {place} is there, found from the same networks")
        return
    told(f"{stage}:")
    content = rated(study) if stage == "rate" else measured(study, stage, MEASURES[stage])
    study.keep(stage, inputs, content)
    study.note(stage, circumstances())
    told(f"{stage}: {place}")


def train(study: Study) -> None:
    """Train the runs of the plan, those that are complete left alone."""
    from rookery.cli.train import train_run
    from rookery.learn.sweeps import is_complete

    for planned in study.plan:
        planned.settings()  # all are checked before the first begins
    trained = False
    for number, planned in enumerate(study.plan, start=1):
        run, others = study.opened(planned)
        done = is_complete(run)
        told(f"train: {number} of {len(study.plan)}, {run.folder} {'is complete' if done else 'is trained'}")
        if others:
            told(f"       it differs from the plan: {'; '.join(others)}")
        if not done:
            train_run(run, named=False)
            trained = True
    if trained:
        study.note("train", circumstances())


def rated(study: Study) -> dict[str, Any]:
    """Play both contests and return the ratings."""
    from rookery.cli.elo import play_contest
    from rookery.studies.pylos_ratings import contest_facts, contests

    ladder, ablations = list(study.of_ladder().values()), list(study.of_ablations().values())
    found = {}
    for name, contest in contests(ladder, ablations, study.sizes.rating_games, study.sizes.threads).items():
        told(f"rate: {contest.game.label}, {len(contest.entries)} networks, {len(contest.pairings)} matches")
        play_contest(contest)
        found[name] = contest_facts(contest)
    return {"contests": found}


def measured(study: Study, stage: str, measure: Any) -> dict[str, Any]:
    """Do a stage that tells how far it is, with a progress bar."""
    with bar_until_interrupt(stage) as say:
        found: dict[str, Any] = measure(study, say)
        return found


def report(study: Study) -> None:
    """Write the report, and say where it is."""
    from rookery.studies.pylos_report import write_report
    from rookery.terminal import out, waiting

    with waiting(lambda: "writing the report"):
        place = write_report(study)
    out.print(f"{place}", markup=False, soft_wrap=True)
