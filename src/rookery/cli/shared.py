"""What several commands share: the app, arguments, and how results are printed."""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.games.game import Game
    from rookery.games.position import Position


def given(context: typer.Context, name: str) -> bool:
    """Tell whether an option was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_before(context: typer.Context, but: tuple[str, ...] = ()) -> None:
    """Refuse options in front of a command, or of nothing, where they would be ignored."""
    for option in context.command.params:
        if option.name and option.name not in but and given(context, option.name):
            where = f"before {context.invoked_subcommand}" if context.invoked_subcommand else "without --preset"
            raise BadInput(f"{option.opts[0]}: {where} it means nothing")


class Commands(TyperGroup):
    """Commands whose complaints about a number name the number and what it may be."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = about_number(error) or error.message
            raise


def about_number(error: typer.BadParameter) -> str:
    """Say what is wrong with a number that Typer refuses without naming it; nothing where it is something else."""
    found: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()  # of Pydantic, which Typer asks
    if not found or found[0]["type"] == "value_error":
        return ""
    least, most = (getattr(error.param, end, None) for end in ("min", "max"))
    whole = "int" in found[0]["type"] or any(isinstance(end, int) for end in found[0].get("ctx", {}).values())
    kind = "a whole number" if whole else "a number"
    ends = f" in {least}..{most}" if most is not None else f" of at least {least}" if least is not None else ""
    return f"it must be {kind}{ends}, not {found[0]['input']!r}"


app = typer.Typer(
    cls=Commands,
    help="Rookery: a laboratory in which neural networks learn to play.",
    epilog="A game is given by its name, by name:option=value,... or by the path of a game file that ends in .py.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def tell_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from rookery import __version__

        typer.echo(f"rookery {__version__}")
        raise typer.Exit


@app.callback()
def options_of_all(
    version: Annotated[
        bool, Option("--version", callback=tell_version, is_eager=True, help="print the version and end")
    ] = False,
) -> None:
    """Take the options that belong to no command."""


class Device(StrEnum):
    """Where kernels run."""

    cpu = "cpu"
    cuda = "cuda"


INTERRUPTED = 130
"""exit status of a command that was interrupted"""
DEVICES = ("auto", "cpu", "cuda")
"""where networks may be: auto takes a card that is there"""

GameArgument = Annotated[str, Argument(metavar="GAME", help="name, name:option=value,... or path/to/game.py")]
PositionOption = Annotated[str | None, Option(metavar="TEXT", help="start from this position, as `show` prints it")]
SecondsOption = Annotated[float | None, Option(min=0, help="stop after so long; the same command goes on")]
JsonOption = Annotated[bool, Option("--json", help="print JSON for programs")]


def opened(spec: str, text: str | None, seed: int = 0, uses: tuple[str, ...] = ("rules",)) -> tuple[Game, Position]:
    """Load a game and its first or a given position."""
    from rookery.terminal import prepared

    game = prepared(spec, *uses)
    return game, game.start(seed) if text is None else game.position(text)


def chosen_device(text: str) -> str:
    """Return where networks are trained; refuse a card that is not there."""
    import torch

    from rookery.games.options import one_of

    there = torch.cuda.is_available()
    if one_of("--device", text, DEVICES) == "cuda" and not there:
        raise BadInput("--device cuda: PyTorch finds no card; use --device cpu")
    return text if text != "auto" else "cuda" if there else "cpu"


def deadline(seconds: float | None) -> float:
    """Return when to stop, on the clock of `time.monotonic`."""
    return time.monotonic() + seconds if seconds is not None else math.inf


@contextmanager
def failures_told() -> Iterator[None]:
    """End the command with exit status 1 and the reason when a player gives up."""
    from rookery.arena.player import PlayerFailed
    from rookery.terminal import err

    try:
        yield
    except PlayerFailed as failure:
        err.print(f"rookery: {failure}", markup=False, style="red", soft_wrap=True)
        raise typer.Exit(1) from None


@contextmanager
def ends_are_interrupts() -> Iterator[None]:
    """Let a command that is told to end, or whose terminal goes, end as by an interrupt: engines go with their players.

    They lead process groups of their own, so nobody else would tell them.
    """
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in ends}
    kept = [number for number in ends if before[number] is signal.SIG_DFL]  # what nohup has silenced stays silent
    for number in kept:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in kept:
            signal.signal(number, before[number])


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
