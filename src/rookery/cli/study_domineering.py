"""The commands of the Domineering study."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from rookery.cli.cluster import RayOption, WorkersOption, spread_over
from rookery.cli.shared import INTERRUPTED, JsonOption, print_json, refuse_before
from rookery.cli.study import studies
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.learn.spread import Spreader
    from rookery.studies.domineering_games import Recipe

PHASES = {1: 25_000, 2: 50_000, 3: 20_000}
"""of the data, with the games there shall be"""
TINY_GAMES = {2: 200, 3: 40}
"""games of phases that are made with tiny networks"""

USUAL_PLAYERS = "rave,lookahead,alphabeta"
FolderOption = Annotated[Path, Option(metavar="FOLDER", help="where the games are kept")]
ThreadsOption = Annotated[int | None, Option(help="threads that play; all cores unless given")]
DeviceOption = Annotated[str, Option(help="auto, cpu or cuda: where networks judge and learn")]

domineering = typer.Typer()
studies.add_typer(domineering, name="domineering")


@domineering.callback(invoke_without_command=True)
def all_of_it(
    context: typer.Context,
    preset: Annotated[
        str | None, Option(help="do all of it: full and final for a card, quick for two cores in minutes")
    ] = None,
    folder: Annotated[Path, Option(metavar="FOLDER", help="where all of the study is kept")] = Path(
        "studies/domineering"
    ),
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
) -> None:
    """Does a small network, embedded in a large one, help it to learn? On 16 x 16 Domineering.

    With --preset everything is done that is not done yet: games of three phases, networks, comparisons, report.
    Interrupted or killed, the same command goes on. The parts are commands of their own.

    rookery study domineering --preset quick --folder studies/quick

    rookery study domineering --preset full --device cuda
    """
    if context.invoked_subcommand is not None:
        refuse_before(context)
        return
    if preset is None:
        refuse_before(context)
        typer.echo(context.get_help())
        raise typer.Exit
    from rookery.cli.study_domineering_whole import whole_study

    whole_study(preset, folder, device, threads)


@domineering.command()
def data(
    folder: FolderOption = Path("studies/domineering/data"),
    games: Annotated[
        int | None, Option(help="games there shall be; 25,000, 50,000 and 20,000 in phases 1, 2, 3 unless given")
    ] = None,
    phase: Annotated[
        int, Option(help="1: by alpha-beta; 2: by a network that looks one move ahead; 3: by RAVE with a network")
    ] = 1,
    seed: Annotated[int, Option(help="same seed, same games")] = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    tiny: Annotated[bool, Option("--tiny", help="phases 2 and 3 with a tiny network: a look at it on a CPU")] = False,
    width: Annotated[int | None, Option(help="phase 2: width of the network; 64 unless given")] = None,
    blocks: Annotated[int | None, Option(help="phase 2: blocks of the network; 2 unless given")] = None,
    rounds: Annotated[
        int | None, Option("--round", help="phase 2: games between two challenges; 2,500 unless given")
    ] = None,
    openings: Annotated[int | None, Option(help="phase 2: openings of a challenge; 200 unless given")] = None,
    simulations: Annotated[int | None, Option(help="phase 3: simulations a move; 100 unless given")] = None,
    at_once: Annotated[int | None, Option(help="phase 3: games side by side; 5,000 unless given")] = None,
    ray: RayOption = None,
    workers: WorkersOption = None,
) -> None:
    """Make the games of a phase of the Domineering study.

    They go to FOLDER/phaseN_games.npz, with their settings beside them in phaseN_games.json, and with the networks that
    played. Interrupted or killed, the same command goes on and ends with the same files; with more --games it adds to
    those that are there. Phase 2 needs phase 1, and phase 3 needs phase 2.

    rookery study domineering data

    rookery study domineering data --games 2000 --folder studies/small --seed 1

    rookery study domineering data --phase 2 --device cuda

    rookery study domineering data --phase 3 --device cuda --simulations 200 --threads 16

    rookery study domineering data --phase 1 --ray 10.0.0.1:6379
    """
    from rookery.terminal import out

    if phase not in PHASES:
        raise BadInput(f"--phase {phase}: the phases there are: {', '.join(str(known) for known in PHASES)}")
    given = {
        2: {"width": width, "blocks": blocks, "round": rounds, "openings": openings},
        3: {"simulations": simulations, "at_once": at_once},
    }  # fmt: skip
    refuse_options_of_others(phase, given)
    if tiny and phase not in TINY_GAMES:
        raise BadInput(f"--tiny: that is an option of phases 2 and 3, not of {phase}")
    wanted = (TINY_GAMES if tiny else PHASES)[phase] if games is None else games
    named = {name: value for name, value in given.get(phase, {}).items() if value is not None}
    recipe = recipe_of(phase, folder, seed, threads, device, tiny, named)
    with spread_over(ray, workers, on_cards=phase == 3 and device != "cpu") as spread:
        out.print(f"{made(folder, wanted, recipe, spread)}", markup=False, soft_wrap=True)


def refuse_options_of_others(phase: int, given: dict[int, dict[str, int | None]]) -> None:
    """Refuse options that mean something in another phase only."""
    for other, options in given.items():
        for name, value in options.items():
            if other != phase and value is not None:
                raise BadInput(
                    f"--{name.replace('_', '-')} {value}: that is an option of phase {other}, not of {phase}"
                )


def recipe_of(
    phase: int, folder: Path, seed: int, threads: int | None, device: str, tiny: bool, named: dict[str, Any]
) -> Recipe:
    """Return what the games of a phase are made by."""
    from rookery.studies.domineering_games import alphabeta_recipe

    count = thread_count(threads)
    if phase == 1:
        return alphabeta_recipe(seed, count)
    from rookery.studies.domineering_bootstrap import TINY, BootstrapSettings, bootstrap_recipe
    from rookery.studies.domineering_judge import study_device
    from rookery.studies.domineering_rave import TINY as TINY_RAVE
    from rookery.studies.domineering_rave import RaveSettings, rave_recipe

    found = study_device(device)
    if phase == 2:
        return bootstrap_recipe(folder, seed, replace(TINY if tiny else BootstrapSettings(), **named), found)
    return rave_recipe(folder, seed, replace(TINY_RAVE if tiny else RaveSettings(), **named), found, count)


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: all cores unless it is said."""
    from rookery.games.options import whole_number
    from rookery.search.threads import MOST_THREADS, cores

    return whole_number("--threads", cores() if threads is None else threads, 1, MOST_THREADS)


def made(folder: Path, games: int, recipe: Recipe, spread: Spreader | None = None) -> Path:
    """Make games, here or elsewhere, with a progress bar, and return their file."""
    from rookery.studies.domineering_games import make_games
    from rookery.terminal import compiling_announced, err, progress_bar

    try:
        with compiling_announced(f"the players of phase {recipe.phase}"):
            recipe.prepare()
        with progress_bar() as bar:
            task = bar.add_task(f"games of phase {recipe.phase}", total=games, note="")
            began = time.monotonic()

            def say(done: int, total: int, note: str) -> None:
                rate = f"{done / max(time.monotonic() - began, 1e-3):,.0f} games/s"
                bar.update(task, completed=done, total=total, note=f"{rate}, {note}" if note else rate)

            return make_games(folder, games, recipe, say, spread)
    except KeyboardInterrupt:
        err.print(f"interrupted in phase {recipe.phase}; the same command goes on", markup=False)
        raise typer.Exit(INTERRUPTED) from None


@domineering.command("compare-data")
def compare_data(
    folder: FolderOption = Path("studies/domineering/data"),
    players: Annotated[str, Option(help="who plays: rave, lookahead, lookahead1, alphabeta")] = USUAL_PLAYERS,
    openings: Annotated[int, Option(help="openings for each pair of players, each played twice")] = 200,
    plies: Annotated[int, Option(help="random plies of an opening")] = 10,
    seed: Annotated[int, Option(help="same seed, same openings")] = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    simulations: Annotated[int, Option(help="of rave, a move")] = 100,
    as_json: JsonOption = False,
) -> None:
    """Let the players of the three phases meet, and print who is better, with 95 % intervals.

    The results go to FOLDER/players.json, too. lookahead1 is the network that phase 2 began with.

    rookery study domineering compare-data

    rookery study domineering compare-data --players lookahead,lookahead1 --openings 400 --device cuda
    """
    from rookery.studies.domineering_duels import checked_players, compare_players
    from rookery.studies.domineering_judge import study_device
    from rookery.studies.domineering_rave import RaveSettings
    from rookery.terminal import out, progress_bar

    names = checked_players([name.strip() for name in players.split(",")])
    with progress_bar() as bar:

        def tell(pair: str) -> Callable[[float, str], None]:
            task = bar.add_task(pair, total=1.0, note="")
            return lambda share, note: bar.update(task, completed=share, note=note)

        facts = compare_players(
            folder, names, openings, plies, seed, study_device(device), thread_count(threads),
            RaveSettings(simulations=simulations), tell,
        )  # fmt: skip
    if as_json:
        print_json(facts)
        return
    for result in facts["results"]:
        mean, low, high = (result["score"][name] for name in ("mean", "low", "high"))
        interval = "no interval" if low is None else f"{100 * low:.1f} .. {100 * high:.1f}"  # one opening has none
        out.print(
            f"{result['first']:>10} - {result['second']:<10}  {100 * mean:5.1f} % "
            f"({interval}) of {2 * result['openings']} games, "
            f"pairs {result['both']} + {result['split']} + {result['neither']}, p {result['p']:.2g}",
            markup=False,
        )
