"""Commands on networks: those that come with the package, and writing one for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from rookery.cli.runs import ListedByDefault
from rookery.cli.shared import JsonOption, app, print_json
from rookery.errors import BadInput

NameArgument = Annotated[str, Argument(metavar="NAME", help="a network of the zoo, as `rookery zoo` lists it")]
WEIGHT_ENDINGS = (".pth", ".pt", ".safetensors")
LAST_OF_STUDY = "network.safetensors"
"""the network in the folder of a study's run, at its end"""

zoo = typer.Typer(
    cls=ListedByDefault,
    help="Networks that come with the package: list them, read a card, play one. Without a command: list.",
    no_args_is_help=False,
)
app.add_typer(zoo, name="zoo")


@zoo.command("list")
def list_zoo(as_json: JsonOption = False) -> None:
    """List the networks that come with the package.

    rookery zoo

    rookery zoo list --json
    """
    from rich.table import Table

    from rookery.arena.networks import zoo_facts
    from rookery.nets.zoo import zoo_names
    from rookery.terminal import err, out

    found = [zoo_facts(name) for name in zoo_names()]
    if as_json:
        print_json(found)
        return
    if not found:
        err.print("the zoo is empty: no networks come with this package", markup=False)
        return
    table = Table("name", "game", "sees", "network", box=None, pad_edge=False)
    for name in ("parameters", "games or steps", "MB"):
        table.add_column(name, justify="right")
    for facts in found:
        sizes = (f"{facts['parameters']:,}", f"{facts['step']:,}", f"{facts['megabytes']:.1f}")
        table.add_row(facts["name"], facts["game"], facts["observation"], facts["kind"], *sizes)
    out.print(table)


@zoo.command()
def card(name: NameArgument) -> None:
    """Print the card of a network: how it was made, how strong it is, what it is not good for.

    rookery zoo card pylos
    """
    from rookery.nets.zoo import zoo_card
    from rookery.terminal import out

    out.print(zoo_card(name).rstrip("\n"), markup=False, soft_wrap=True)


@zoo.command("play")
def play_zoo(
    name: NameArgument,
    sims: Annotated[int, Option(min=1, help="simulations a move, where it plays by a search")] = 400,
    seat: Annotated[str, Option(help="your seat, by number or name; none to watch it play itself")] = "0",
    game: Annotated[str | None, Option(metavar="GAME", help="else the game it was taught")] = None,
    hint: Annotated[
        str | None, Option(metavar="PLAYER", help="whom the command `hint` asks; else the network, in texas42 eq")
    ] = None,
    seed: Annotated[int, Option(help="same seed, same opponent")] = 0,
) -> None:
    """Play against a network in the terminal.

    rookery zoo play pylos

    rookery zoo play pylos --sims 50 --seat 1
    """
    from rookery.arena.networks import zoo_facts, zoo_player
    from rookery.cli.games import play

    wanted, player = game or zoo_facts(name)["game"], zoo_player(name, sims, game)
    if hint is None and seat != "none" and not wanted.startswith("texas42"):  # which has an adviser of its own
        hint = player
    play(wanted, seat=seat, against=player, hint=hint, seed=seed)


# ---- export --------------------------------------------------------------------------------------


def names_network(text: str) -> bool:
    """Tell whether a text names a network and not a game: a run, a file of weights, or one of the zoo."""
    from rookery.games.library import names
    from rookery.games.options import given_path
    from rookery.learn.runs import is_run
    from rookery.nets.zoo import ZOO_SIGN

    path = given_path(text)
    if text.startswith(ZOO_SIGN) or path.suffix in WEIGHT_ENDINGS:
        return True
    return text not in names() and (is_run(path) or is_run(Path("runs") / text))


def weights_file(text: str) -> tuple[Path, str]:
    """Return the file of a network that a text names, and what to call a copy of it."""
    from rookery.games.options import given_path
    from rookery.learn.runs import Run, run_folder
    from rookery.nets.zoo import ZOO_SIGN, zoo_file

    if text.startswith(ZOO_SIGN):
        return zoo_file(text.removeprefix(ZOO_SIGN)), text.removeprefix(ZOO_SIGN)
    path = given_path(text)
    if path.suffix in WEIGHT_ENDINGS:
        return path, path.stem
    if (path / LAST_OF_STUDY).is_file():
        return path / LAST_OF_STUDY, path.resolve().name
    run = Run.open(run_folder(text))
    if run.best is None:
        raise BadInput(f"{run.folder} has no checkpoints yet")
    return run.best, run.folder.resolve().name


def export_weights(text: str, form: str | None, output: Path | None, half: bool) -> None:
    """Write a network for other programs."""
    from rookery.nets.export import ENDINGS, export_network
    from rookery.nets.files import load_network
    from rookery.terminal import err, out

    source, stem = weights_file(text)
    if form is None:
        form = output.suffix[1:] if output else "safetensors"
    target = output or Path(f"{stem}.{form}")
    if target.is_dir() or target.suffix not in ENDINGS:
        raise BadInput(f"--out {str(target)!r} must name a file that ends in {' or '.join(ENDINGS)}")
    if target.suffix != f".{form}":
        raise BadInput(f"--out {str(target)!r} should end in .{form}, as --format says")
    if target.exists() and target.samefile(source):
        raise BadInput(f"--out {str(target)!r} is the network itself")
    loaded = load_network(source)
    export_network(target, loaded.network, loaded.about, half)
    err.print(
        f"{source} written, after {loaded.about.step:,} games or steps", style="dim", markup=False, soft_wrap=True
    )
    out.print(str(target), markup=False, soft_wrap=True)
