"""The command that trains the networks of the Domineering study."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from rookery.cli.shared import SecondsOption, chosen_device, deadline
from rookery.cli.study import bar_until_interrupt, listed, told
from rookery.cli.study_domineering import domineering
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.studies.domineering_runs import Run, StudyData
    from rookery.studies.domineering_training import Speed


@domineering.command("train")
def train_runs(
    folder: Annotated[Path, Option(metavar="FOLDER", help="where all of the study is kept")] = Path(
        "studies/domineering"
    ),
    preset: Annotated[str, Option(help="full, final (as the original ended) or quick (for two cores)")] = "full",
    runs: Annotated[
        str | None,
        Option(
            metavar="PATTERN,...", help="some runs: large-aux, 'small-*', 'large*-probe-s42', ...; controls by name"
        ),
    ] = None,
    steps_small: Annotated[int | None, Option(help="steps of small networks; the preset's unless given")] = None,
    steps_large: Annotated[int | None, Option(help="steps of large networks")] = None,
    seeds: Annotated[str | None, Option(metavar="SEED,...", help="other seeds than the preset's, or more")] = None,
    drop_explored: Annotated[
        bool, Option("--drop-explored", help="do not teach moves that were drawn at random")
    ] = False,
    side_token: Annotated[bool, Option("--side-token", help="let the board's token tell who is to move")] = False,
    reads: Annotated[
        str, Option(metavar="READ,...", help="what probes read of a layer: cls (the board's token), mean, all")
    ] = "cls",
    seconds: SecondsOption = None,
    device: Annotated[str, Option(help="auto, cpu or cuda: where networks are trained")] = "auto",
    precision: Annotated[
        str | None, Option(help="fp32, bf16, fp16, bf16-all, fp16-all; on a card bf16 unless given, else fp32")
    ] = None,
    phases: Annotated[str | None, Option(metavar="PHASE,...", help="games to learn from; all that are there")] = None,
    attention: Annotated[str | None, Option(help="kernels on a card: own, flash, cudnn, efficient or auto")] = None,
    compiled: Annotated[
        bool | None, Option("--compile/--no-compile", help="compile networks; on a card done unless told otherwise")
    ] = None,
    tune: Annotated[
        bool, Option("--tune", help="let the compiler also try kernels for products, which takes minutes")
    ] = False,
) -> None:
    """Train the networks of the study, small ones before the large ones that embed them.

    Each run has a folder in FOLDER/runs. Runs that are complete are left alone. Interrupted, killed or stopped, the
    same command goes on. Several processes may train different runs.

    rookery study domineering train --device cuda

    rookery study domineering train --preset quick --folder studies/quick

    rookery study domineering train --runs 'large-identity-*,large-aux-probe-s42' --seconds 600 --device cuda

    rookery study domineering train --seeds 42,123,456,789,1000 --device cuda
    """
    from rookery.studies.domineering_plan import chosen_runs, runs_of
    from rookery.studies.domineering_runs import Run, load_data

    place = chosen_device(device)
    chosen = precision or ("bf16" if place == "cuda" else "fp32")
    planned = runs_of(
        preset, steps_small, steps_large, chosen, seed_numbers(seeds), side_token,
        drop_explored=drop_explored, probe_reads=tuple(listed(reads)),
    )  # fmt: skip
    wanted = [Run(folder, settings) for settings in chosen_runs(preset, planned, listed(runs))]
    until = deadline(seconds)
    data = load_data(folder, phase_numbers(phases), place)
    speed = chosen_speed(place, attention, compiled, tune)
    worked = False
    for number, run in enumerate(wanted, start=1):
        due = not run.complete
        if due and worked and time.monotonic() >= until:
            told(f"stopped after {seconds:g} s before {run.settings.name}; the same command goes on")
            return
        if not trained(run, f"{number} of {len(wanted)}", data, speed, until):
            told(f"stopped after {seconds:g} s in {run.settings.name}; the same command goes on")
            return
        worked = worked or due


def seed_numbers(text: str | None) -> list[int] | None:
    """Read seeds; None if none are given."""
    for word in listed(text):
        if not word.isdecimal():
            raise BadInput(f"--seeds {word!r}: a seed is a whole number from 0 on, like 42")
    return [int(word) for word in dict.fromkeys(listed(text))] or None


def phase_numbers(text: str | None) -> list[int]:
    """Read the numbers of phases."""
    for word in listed(text):
        if not word.isdecimal():
            raise BadInput(f"--phases {word!r}: a phase is a number, like 1")
    return [int(word) for word in listed(text)]


def chosen_speed(device: str, attention: str | None, compiled: bool | None, tune: bool) -> Speed:
    """Return how steps are made on a device, with what a person wants otherwise."""
    from dataclasses import replace

    from rookery.studies.domineering_training import Speed

    best = Speed.best(device)
    return replace(
        best,
        attention=best.attention if attention is None else attention,
        compile=best.compile if compiled is None else compiled,
        tune=tune,
    )


def trained(run: Run, which: str, data: StudyData, speed: Speed, until: float) -> bool:
    """Train a run, with a progress bar; tell whether it is complete."""
    if run.complete:
        run.clear_up()
        told(f"{which}: {summary(run)}")
        others = run.differences()
        if others:
            told(f"       it differs from the plan: {'; '.join(others)}")
        return True
    with bar_until_interrupt(f"{which}: {run.settings.name}") as say:
        done = run.train(data, speed, say, until)
    if done:
        told(f"{which}: {summary(run)}")
    return done


def summary(run: Run) -> str:
    """Say in a line how a complete run ended."""
    lines = run.progress.tail(1)
    if not lines:
        return f"{run.settings.name} is complete"
    last = lines[-1]
    speed = last["step"] / max(last["seconds"], 1e-9)
    loss, accuracy = last["valid"]["loss"], last["valid"]["policy_accuracy"]
    return (
        f"{run.settings.name} is complete: {last['step']:,} steps in {last['seconds']:,.1f} s ({speed:,.1f} steps/s), "
        f"validation loss {loss:.4f}, {accuracy:.1%} of moves"
    )
