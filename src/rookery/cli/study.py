"""What the commands of all studies share."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rookery.cli.shared import INTERRUPTED, app

if TYPE_CHECKING:
    from rookery.learn.spread import Say

studies = typer.Typer(help="Studies: recipes that train, measure and report.", no_args_is_help=True)
app.add_typer(studies, name="study")


@studies.callback()
def all_studies() -> None:
    """Studies: recipes that train, measure and report."""


def listed(text: str | None) -> list[str]:
    """Split a list at its commas."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def told(text: str) -> None:
    """Tell the person how far the study is."""
    from rookery.terminal import err

    err.print(text, markup=False, soft_wrap=True)


@contextmanager
def bar_for(what: str) -> Iterator[Say]:
    """Show a progress bar, which is told how much is done, of how much, and a note."""
    from rookery.terminal import progress_bar

    with progress_bar() as bar:
        task = bar.add_task(what, total=None, note="")

        def say(done: int, total: int, note: str) -> None:
            bar.update(task, completed=done, total=total, note=note)

        yield say


@contextmanager
def bar_until_interrupt(what: str) -> Iterator[Say]:
    """Show a progress bar while something is made; an interrupt ends the command."""
    try:
        with bar_for(what) as say:
            yield say
    except KeyboardInterrupt:
        told(f"interrupted in {what}; the same command goes on")
        raise typer.Exit(INTERRUPTED) from None


def circumstances() -> dict[str, Any]:
    """Say when, where and by which command something was done."""
    from rookery.benchmarks.machine import describe

    return {"command": command_line(), "date": datetime.now(UTC).strftime("%Y-%m-%d"), "machine": describe() | card()}


def noted(folder: Path, stage: str) -> None:
    """Keep by which command a stage of a study was done."""
    from rookery.studies.stages import add_note

    add_note(folder, stage, circumstances())


def command_line() -> str:
    """Return the command as it was typed, without the path of the program."""
    return shlex.join(["rookery", *sys.argv[1:]])


def card() -> dict[str, str]:
    """Name the card that networks run on, if there is one."""
    import torch

    return {"card": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}
