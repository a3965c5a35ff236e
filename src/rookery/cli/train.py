"""Commands that train."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from rookery.cli.cluster import RayOption, WorkersOption, check_cluster, help_from
from rookery.cli.runs import RunArgument
from rookery.cli.shared import app, failures_told
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.learn.curriculum import Curriculum
    from rookery.learn.runs import Run
    from rookery.learn.stage_work import Help
    from rookery.learn.sweeps import Variant

LAST_BITS = "going on where it was; on a card sums may differ in their last bits from those of a run never stopped"
FIRST_ROUND = "in the first round, what is not in the cache is compiled"
DevicesOption = Annotated[
    int, Option("--devices", min=1, help="cards, or processes without one, that learn together on shares of each batch")
]
ConfigArgument = Annotated[str, Argument(metavar="CONFIG", help="a YAML file, or packaged settings such as pylos_v5")]


@app.command()
def train(
    config: ConfigArgument,
    changes: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="change a setting: training.batch=512")
    ] = None,
    folder: Annotated[Path | None, Option(metavar="FOLDER", help="where the run is kept; under ./runs by name")] = None,
    seeds: Annotated[
        int | None,
        Option(min=1, help="train so many runs one after another, each with its own seed, and compare them"),
    ] = None,
    ray: RayOption = None,
    workers: WorkersOption = None,
    devices: DevicesOption = 1,
) -> None:
    """Train a network by self-play from its first random game, or in stages where the settings have some.

    With --seeds the runs lie side by side, named by their seeds; given again, the command goes on where it was.

    rookery train pylos_quick

    rookery train my_settings.yaml --set seed=2 --set selfplay.games=5000 --folder runs/second

    rookery train pylos_quick --seeds 4

    rookery train gomoku_curriculum --set stages.1a.training.passes=40

    rookery train pylos_v5 --ray 10.0.0.1:6379
    """
    from rookery.learn.curriculum_settings import is_curriculum
    from rookery.learn.loop import new_run
    from rookery.learn.others import check_shares
    from rookery.learn.runs import free_folder
    from rookery.learn.settings import read_settings
    from rookery.terminal import err

    check_cluster(ray, workers)
    if is_curriculum(config):
        refuse_devices(devices)
        begin_curriculum(config, changes or [], folder, seeds, ray, workers)
        return
    settings = read_settings(config, changes or ())
    check_shares(settings.training.batch, devices)
    if seeds is not None:
        from rookery.learn.sweeps import base_folder, with_seeds

        base = base_folder(config, settings, folder)
        variants = with_seeds(config, changes or (), seeds, base)
        with help_from(ray, workers) as helped:
            train_variants(variants, base.with_name(f"{base.name}-seeds.png"), helped, devices)
        return
    with help_from(ray, workers) as helped:  # first of all: without its cluster a run leaves no folder behind
        path = folder or (Path(settings.folder) if settings.folder else free_folder(config))
        run = new_run(path, settings)
        err.print(f"the run is kept in {path}", markup=False)
        train_run(run, helped, devices=devices)


@app.command()
def sweep(
    config: ConfigArgument,
    keys: Annotated[
        list[str],
        Argument(metavar="KEY=A,B,...", help="a setting and its values; of several settings, all combinations"),
    ],
    changes: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="change a setting in all runs")
    ] = None,
    folder: Annotated[
        Path | None, Option(metavar="FOLDER", help="beginning of the runs' folders; under ./runs by name")
    ] = None,
    figure: Annotated[
        Path | None, Option(metavar="FILE", help="where the curves are drawn, as PNG; beside the runs")
    ] = None,
) -> None:
    """Train a run for each combination of some settings, one after another, and compare them in a table and a figure.

    All settings are checked before anything begins. Given again, the command goes on where it was.

    rookery sweep pylos_quick training.learning_rate=1e-3,2e-3 network.blocks=1,2,4

    rookery sweep pylos_quick seed=1,2,3 training.average=none,ema --set selfplay.games=1000
    """
    from rookery.learn.settings import read_settings
    from rookery.learn.sweeps import base_folder, combinations_of

    base = base_folder(config, read_settings(config, changes or ()), folder)
    variants = combinations_of(config, changes or (), keys, base)
    train_variants(variants, figure or base.with_name(f"{base.name}-sweep.png"))


def train_variants(variants: list[Variant], figure: Path, helped: Help | None = None, devices: int = 1) -> None:
    """Train runs one after another, those that are complete left out, and compare them."""
    from rookery.cli.runs import compare
    from rookery.learn.sweeps import is_complete, opened_variant
    from rookery.terminal import err, out

    opened = [opened_variant(variant) for variant in variants]
    for number, run in enumerate(opened, start=1):
        done = is_complete(run)
        told = "is complete" if done else "is trained"
        err.print(f"{number} of {len(opened)}: {run.folder} {told}", markup=False, soft_wrap=True)
        if not done:
            train_run(run, helped, named=False, devices=devices)
    out.print()
    compare([str(run.folder) for run in opened], figure)


@app.command()
def resume(
    run: RunArgument,
    ray: RayOption = None,
    workers: WorkersOption = None,
    devices: DevicesOption = 1,
    stage: Annotated[
        str | None,
        Option("--from", metavar="STAGE", help="of a curriculum: begin this stage and those behind it anew"),
    ] = None,
) -> None:
    """Go on with a run, or with stages of one, where it was stopped or killed.

    With --from what these stages had written is moved to set_aside/ in the folder of the curriculum; nothing is lost.

    rookery resume runs/pylos_quick

    rookery resume runs/gomoku_curriculum --from 2

    rookery resume runs/pylos_v5 --ray 10.0.0.1:6379
    """
    from rookery.learn.curriculum import Curriculum
    from rookery.learn.curriculum_looks import curriculum_folder
    from rookery.learn.runs import Run, run_folder
    from rookery.learn.sweeps import is_complete
    from rookery.terminal import err

    if place := curriculum_folder(run):
        refuse_devices(devices)
        with help_from(ray, workers) as helped:
            work_on_curriculum(Curriculum(place), helped, stage)
        return
    if stage is not None:
        raise BadInput(f"--from {stage}: {run} has no stages; only a curriculum has")
    opened = Run.open(run_folder(run))
    if is_complete(opened):
        err.print(f"{opened.folder} is complete: all {opened.settings.selfplay.games} games are played", markup=False)
        return
    with help_from(ray, workers) as helped:
        train_run(opened, helped, devices=devices)


def refuse_devices(devices: int) -> None:
    """Refuse several devices where there are stages."""
    if devices > 1:
        raise BadInput(f"--devices {devices}: stages are taught on one device; several are for runs")


def begin_curriculum(
    config: str, changes: list[str], folder: Path | None, seeds: int | None, ray: str | None, workers: int | None
) -> None:
    """Make a curriculum and work on it."""
    from rookery.learn.curriculum import Curriculum
    from rookery.learn.curriculum_settings import cautions, read_curriculum
    from rookery.learn.runs import free_folder
    from rookery.terminal import err

    settings = read_curriculum(config, changes)
    if seeds is not None:
        raise BadInput(f"--seeds is for runs; {config} has stages: begin it once for each seed, with --set seed=...")
    for caution in cautions(settings):
        err.print(f"warning: {caution}", markup=False, style="yellow", soft_wrap=True)
    with help_from(ray, workers) as helped:
        path = folder or (Path(settings.folder) if settings.folder else free_folder(config))
        curriculum = Curriculum.create(path, settings)
        err.print(f"the stages are kept in {path}", markup=False, soft_wrap=True)
        work_on_curriculum(curriculum, helped)


def work_on_curriculum(curriculum: Curriculum, helped: Help, anew: str | None = None) -> None:
    """Go through the stages of a curriculum, with a progress bar; print the network it ends with.

    anew  the stage that is to be begun anew, with those behind it
    """
    from rookery.learn.stage_run import MET, STOPPED
    from rookery.terminal import err, out, progress_bar

    with curriculum, failures_told(), stopped_by_signals() as stopped, progress_bar() as bar:
        for moved in curriculum.begin_anew(anew) if anew is not None else ():
            err.print(f"what stage {moved.name} had written is in {moved}", markup=False, soft_wrap=True)
        task = bar.add_task("", total=None, note=FIRST_ROUND)

        def say(stage: str, what: str, done: int, total: int, note: str) -> None:
            bar.update(task, description=f"{stage}: {what}", completed=done, total=total, note=note)

        end = partial(err.print, markup=False, soft_wrap=True)
        outcome = curriculum.work(stopped, say, end, helped)
    if outcome.verdict == MET:
        err.print(f"{curriculum.folder} is complete: {outcome.account}", markup=False, soft_wrap=True)
        if outcome.network and not outcome.network.exists():
            raise BadInput(f"the network that the last stage handed on, {outcome.network}, is not there any more")
        out.print(f"{outcome.network}", markup=False, soft_wrap=True)
        return
    goes_on = f"`rookery resume {curriculum.folder}` goes on"
    if outcome.verdict == STOPPED:
        err.print(f"stopped; {goes_on}", markup=False, soft_wrap=True)
        raise typer.Exit(130)
    err.print(
        f"rookery: {outcome.account}\nstages before it are kept: ease its condition in curriculum.yaml, and {goes_on}; "
        f"or change the stage there, and `rookery resume {curriculum.folder} --from {outcome.stage}` begins it anew",
        markup=False, style="red", soft_wrap=True,
    )  # fmt: skip
    raise typer.Exit(1)


def train_run(run: Run, helped: Help | None = None, named: bool = True, devices: int = 1) -> None:
    """Train a run to its end, with a progress bar; an interrupt stops it between two moves and loses nothing.

    helped  who plays, if not this process
    named  whether the last checkpoint is printed
    devices  processes that learn together
    """
    from rookery.learn.loop import Training, self_play
    from rookery.learn.others import accompanied
    from rookery.terminal import compiling_announced, err, out, progress_bar

    with run.training(), stopped_by_signals() as stopped:
        with compiling_announced(run.game.label):
            training = Training(run, players=helped.players if helped else self_play)
        if training.games and training.device.type != "cpu":
            err.print(LAST_BITS, style="dim", soft_wrap=True)
        with progress_bar() as bar:
            task = bar.add_task("games", total=run.settings.selfplay.games, completed=training.games, note=FIRST_ROUND)
            training.say = lambda figures: bar.update(task, completed=figures["games"], note=in_short(figures))
            with accompanied(training.trainer, devices):
                whole = training.train(stopped)
    if whole:
        if named:
            out.print(f"{run.checkpoint_path(training.games)}", markup=False, soft_wrap=True)
        return
    err.print(f"stopped after {training.games} games; `rookery resume {run.folder}` goes on", markup=False)
    raise typer.Exit(130)


def in_short(figures: dict[str, Any]) -> str:
    """Say where a run stands in a few words."""
    named = (("value loss", "loss/value"), ("policy loss", "loss/policy"), ("draws", "selfplay/draws"))
    return ", ".join(f"{name} {figures[key]:.3f}" for name, key in named if key in figures)


@contextmanager
def stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """Turn the first interrupt or request to end into a wish that can be asked about; a second one ends at once."""
    asked: list[int] = []

    def note(number: int, frame: Any) -> None:
        asked.append(number)
        signal.signal(number, before[number])

    before: dict[int, Any] = {}
    for each in (signal.SIGINT, signal.SIGTERM):
        before[each] = signal.signal(each, note)
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
