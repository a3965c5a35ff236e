"""The command line. Commands parse, call the library and print; they hold no logic.

Everything heavy is imported inside the commands, so that `rookery --help` answers at once.
"""

from __future__ import annotations

import sys

import typer

from rookery.cli import (
    arena,
    bench,
    doctor,
    elo,
    engine,
    games,
    grow,
    lc0,
    marks,
    players,
    runs,
    solve,
    study,
    study_domineering,
    study_domineering_report,
    study_domineering_train,
    study_texas42,
    train,
    zoo,
)
from rookery.cli.shared import app
from rookery.errors import BadInput

__all__ = [
    "app", "arena", "bench", "doctor", "elo", "engine", "games", "grow", "lc0", "main", "marks", "players", "runs",
    "solve", "study", "study_domineering", "study_domineering_report", "study_domineering_train", "study_texas42",
    "train", "zoo",
]  # fmt: skip


def main() -> None:
    """Run the command line; what the person can mend is told in one line, with exit status 2."""
    try:
        app(standalone_mode=True)
    except BadInput as error:
        typer.secho(f"rookery: {error}", err=True, fg=typer.colors.RED)
        sys.exit(2)
    except OSError as error:
        typer.secho(f"rookery: {error}", err=True, fg=typer.colors.RED)
        sys.exit(1)
