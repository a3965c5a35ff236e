"""What several commands share: the app, arguments, and how results are printed."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from rookery.games.game import Game
    from rookery.games.position import Position

app = typer.Typer(
    help="Rookery: a laboratory in which neural networks learn to play.",
    epilog="A game is given by its name, by name:option=value,... or by the path of a game file that ends in .py.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


class Device(StrEnum):
    """Where kernels run."""

    cpu = "cpu"
    cuda = "cuda"


GameArgument = Annotated[str, Argument(metavar="GAME", help="name, name:option=value,... or path/to/game.py")]
PositionOption = Annotated[str | None, Option(metavar="TEXT", help="start from this position, as `show` prints it")]
JsonOption = Annotated[bool, Option("--json", help="print JSON for programs")]


def opened(spec: str, text: str | None, seed: int = 0, uses: tuple[str, ...] = ("rules",)) -> tuple[Game, Position]:
    """Load a game and its first or a given position."""
    from rookery.terminal import prepared

    game = prepared(spec, *uses)
    return game, game.start(seed) if text is None else game.position(text)


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
