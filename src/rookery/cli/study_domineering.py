"""The commands of the Domineering study."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from rookery.cli.study import INTERRUPTED, studies
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.studies.domineering_games import Recipe

PHASES = (1,)
QUESTION = "Does a small network, embedded in a large one, help it to learn? On 16 x 16 Domineering."

domineering = typer.Typer(help=QUESTION, no_args_is_help=True)
studies.add_typer(domineering, name="domineering")


@domineering.callback(help=QUESTION)
def all_of_it() -> None:
    """Hold the commands together, also while there is but one."""


@domineering.command()
def data(
    folder: Annotated[Path, Option(metavar="FOLDER", help="where the games are kept")] = Path(
        "studies/domineering/data"
    ),
    games: Annotated[int, Option(help="games there shall be")] = 25_000,
    phase: Annotated[int, Option(help="1: by alpha-beta of 1 to 3 plies, with random openings and moves")] = 1,
    seed: Annotated[int, Option(help="same seed, same games")] = 0,
    threads: Annotated[int | None, Option(help="threads that play; all cores unless given")] = None,
) -> None:
    """Make the games of a phase of the Domineering study.

    They go to FOLDER/phase1_games.npz, with their settings beside them in phase1_games.json. Interrupted or killed,
    the same command goes on and ends with the same files; with more --games it adds to those that are there.

    rookery study domineering data

    rookery study domineering data --games 2000 --folder studies/small --seed 1

    rookery study domineering data --phase 1 --games 50000 --threads 8
    """
    from rookery.benchmarks.machine import cores
    from rookery.terminal import out

    recipe = recipe_of(phase, seed, cores() if threads is None else threads)
    out.print(f"{made(folder, games, recipe)}", markup=False, soft_wrap=True)


def recipe_of(phase: int, seed: int, threads: int) -> Recipe:
    """Return what the games of a phase are made by."""
    from rookery.games.options import whole_number
    from rookery.search.threads import MOST_THREADS
    from rookery.studies.domineering_games import alphabeta_recipe

    if phase not in PHASES:
        raise BadInput(f"--phase {phase}: the phases there are: {', '.join(str(known) for known in PHASES)}")
    return alphabeta_recipe(seed, whole_number("--threads", threads, 1, MOST_THREADS))


def made(folder: Path, games: int, recipe: Recipe) -> Path:
    """Make games, with a progress bar, and return their file."""
    from rookery.studies.domineering_games import make_games
    from rookery.terminal import compiling_announced, err, progress_bar

    try:
        with compiling_announced(f"the players of phase {recipe.phase}"):
            recipe.make(0, 1)
        with progress_bar() as bar:
            task = bar.add_task(f"games of phase {recipe.phase}", total=games, note="")
            began = time.monotonic()

            def say(done: int, total: int, note: str) -> None:
                rate = done / max(time.monotonic() - began, 1e-3)
                bar.update(task, completed=done, total=total, note=f"{rate:,.0f} games/s")

            return make_games(folder, games, recipe, say)
    except KeyboardInterrupt:
        err.print(f"interrupted in phase {recipe.phase}; the same command goes on", markup=False)
        raise typer.Exit(INTERRUPTED) from None
