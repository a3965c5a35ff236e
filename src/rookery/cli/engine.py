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


@engines.command()
def uci(
    network: Annotated[str, Option(metavar="NET", help="a network of Lc0's kind: .pb.gz, .pb, or zoo:chess")] = "",
    player: Annotated[
        str, Option(metavar="PLAYER", help="who plays instead, see `rookery players`; alphabeta if nobody is named")
    ] = "",
    option: Annotated[
        list[str] | None,
        Option(metavar="NAME=VALUE", help="an option, as by setoption; may be given several times"),
    ] = None,
    seed: Annotated[int, Option(help="same seed, same choices, for players that draw")] = 0,
) -> None:
    """Be a chess engine that speaks UCI on standard input and output.

    Lc0's networks are searched as Lc0 does, with its names of options; `uci` lists them.

    rookery engine uci --network network.pb.gz

    rookery engine uci --network network.pb.gz --option MinibatchSize=1 --option Threads=2

    rookery engine uci --player alphabeta:depth=4

    rookery match "uci:rookery engine uci --network network.pb.gz,nodes=100" uci:stockfish,depth=1 --game chess
    """
    from rookery.engines.uci_process import run

    run(network, player, seed, option or ())
