"""Commands by which our players are engines of other programs."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from rookery.cli.shared import app

engines = typer.Typer(help="Engines: our players for other programs, by their protocols.", no_args_is_help=True)
app.add_typer(engines, name="engine")


@engines.callback()
def all_engines() -> None:
    """Engines: our players for other programs, by their protocols."""


@engines.command()
def gomocup(
    player: Annotated[
        str, Option(metavar="PLAYER", help="who plays, see `rookery players`; else one that suits the rule")
    ] = "",
    seed: Annotated[int, Option(help="same seed, same choices")] = 0,
) -> None:
    """Be a Gomoku engine that speaks the Gomocup (Piskvork) protocol on standard input and output.

    Managers want a program whose name begins with pbrain-: that is `pbrain-rookery`, which is this command without
    options.

    rookery engine gomocup

    rookery engine gomocup --player net:runs/gomoku,sims=800

    rookery match "gomocup:pbrain-rookery,time=1" baseline:depth=4 --game gomoku
    """
    from rookery.engines.gomocup import run

    run(player, seed)
