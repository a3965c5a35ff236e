"""The command line. Commands parse, call the library and print; they hold no logic.

Everything heavy is imported inside the commands, so that `rookery --help` answers at once.
"""

from __future__ import annotations

import errno
import sys

import typer

from rookery.cli import (
    arena,
    bench,
    check,
    doctor,
    elo,
    engine,
    games,
    grow,
    lc0,
    lc0_bench,
    lc0_export,
    marks,
    players,
    probe,
    runs,
    scale,
    serve,
    solve,
    study,
    study_chess,
    study_domineering,
    study_domineering_report,
    study_domineering_train,
    study_gomoku,
    study_pylos,
    study_texas42,
    train,
    zoo,
)
from rookery.cli.shared import app
from rookery.errors import BadInput

__all__ = [
    "app", "arena", "bench", "check", "doctor", "elo", "engine", "games", "grow", "lc0", "lc0_bench", "lc0_export",
    "main", "marks", "players", "probe", "runs", "scale", "serve", "solve", "study", "study_chess", "study_domineering",
    "study_domineering_report", "study_domineering_train", "study_gomoku", "study_pylos", "study_texas42", "train",
    "zoo",
]  # fmt: skip

ADVICE = {
    errno.ENOSPC: "make room on that disk; then the same command goes on",
    errno.EDQUOT: "make room, or have your quota raised; then the same command goes on",
    errno.EFBIG: "the system limits how large a file may be (ulimit -f); without that the same command goes on",
    errno.EROFS: "that disk is mounted read-only; when it can be written, the same command goes on",
    errno.EACCES: "you have no right to write there; with it, or in another folder, the same command goes on",
}
"""what to do about a file that cannot be written"""


def main() -> None:
    """Run the command line; what the person can mend is told in one line, with exit status 2."""
    words = [f" {word}" if word.startswith("- ") else word for word in sys.argv[1:]]  # a position's text, no option
    try:
        app(words, standalone_mode=True)
    except BadInput as error:
        typer.secho(f"rookery: {error}", err=True, fg=typer.colors.RED)
        sys.exit(2)
    except OSError as error:
        advice = ADVICE.get(error.errno or 0)
        typer.secho(f"rookery: {error}" + (f"; {advice}" if advice else ""), err=True, fg=typer.colors.RED)
        sys.exit(1)
